//! Manoeuvres. Each one is a struct of typed parameters with a standard default.
//!
//! A manoeuvre defines ground, start and duration ([`Setup`]), creates its driver and measures the trajectory. Each
//! struct has a method `measure` that returns typed metrics; [`Manoeuvre::metrics`] is the generic view of them.

mod acceleration;
mod braking;
mod circle;
mod coast_down;
mod course;
mod elk_test;
mod free_rolling;
mod frequency_response;
mod gradeability;
mod handling_diagram;
mod handling_tests;
mod hill_start;
mod lane_change;
mod limit_search;
mod parameters;
mod parked;
mod procedure;
mod ride;
mod road_load_test;
mod rollover_steer;
mod rollover_test;
mod settle;
mod sine_steer;
mod sine_with_dwell;
mod skid_pad;
mod slalom;
mod slow_turn;
mod split_mu;
mod stability_test;
mod standards;
mod start_options;
mod start_requirements;
mod step_steer;
mod straight_tests;
mod tilt_table;
mod top_speed;
mod turn_disturbance;
mod turn_series;
mod weave;
mod wheel_lift;

pub use crate::steering_wheel::{SteeringWheel, TYPICAL_STEERING_RATIO};
pub use acceleration::{Acceleration, AccelerationMetrics, Launch, StandingStart};
pub use braking::{Braking, BrakingMetrics, PedalTechnique};
pub use circle::{Circle, CircleMetrics};
pub use coast_down::{CoastDown, CoastDownMetrics};
pub use course::IncompleteCourse;
pub use elk_test::{ElkTest, ElkTestMetrics};
pub use free_rolling::{FreeRolling, RollMetrics};
pub use frequency_response::{FrequencyResponseMetrics, FrequencyResponseTest, SteerInput, SteerResponses};
pub use gradeability::{Gradeability, GradeabilityMetrics};
pub use handling_diagram::HandlingMetrics;
pub use handling_tests::HANDLING_TESTS;
pub use hill_start::{HillStart, HillStartMetrics};
pub use lane_change::{LaneChange, LaneChangeCourse, LaneChangeMetrics};
pub use limit_search::{LimitSearch, SearchResult};
pub use parameters::{Parameter, ParameterFault, ParameterKind, ParameterValues};
pub use parked::{Parked, ParkedMetrics};
pub use procedure::{Evaluation, Procedure, Runner};
pub use ride::{Ride, RideMetrics};
pub use road_load_test::{RoadLoadMetrics, RoadLoadTest};
pub use rollover_steer::{RolloverInput, RolloverSteer, RolloverSteerMetrics};
pub use rollover_test::{RolloverMetrics, RolloverTest};
pub use settle::{Settle, SettleMetrics};
pub use sine_steer::{SineSteer, SineSteerMetrics};
pub use sine_with_dwell::{SineWithDwell, SineWithDwellMetrics};
pub use skid_pad::{SkidPad, SkidPadMetrics};
pub use slalom::{Slalom, SlalomMetrics};
pub use slow_turn::{ConstantSteer, RampSteer};
pub use split_mu::{SplitMu, SplitMuMetrics};
pub use stability_test::{StabilityMetrics, StabilityTest};
pub use standards::standard_of;
pub use start_options::{START_OPTIONS, StartOption};
pub use start_requirements::{GroundRule, PositionRule, SpeedRule, StartProperty, StartRejected, StartRequirements};
pub use step_steer::{StepSteer, StepSteerMetrics};
pub use straight_tests::STRAIGHT_TESTS;
pub use tilt_table::{TiltTable, TiltTableMetrics};
pub use top_speed::{TopSpeed, TopSpeedMetrics};
pub use turn_disturbance::{Disturbance, TurnDisturbance, TurnDisturbanceMetrics};
pub use turn_series::{CONDITION_STEP_MPS2, TurnSeries, TurnSeriesMetrics};
pub use weave::{Weave, WeaveMetrics};

use skidpad_core::state::Placement;
use skidpad_core::{Model, Scene};

use self::parameters::entry;
use crate::driver::DriverModel;
use crate::metrics::Metric;
use crate::quantity::{ComputedCurve, Diagram};
use crate::towing;
use crate::trajectory::Trajectory;
use crate::units::TowedUnit;

/// Speed of 100 km/h (m/s).
pub const KMH_100: f64 = 100.0 / 3.6;

/// Time at which every run starts (s).
const RUN_START_S: f64 = 0.0;

/// Returns the steady turn whose angle [`crate::closed_form::cornering::steer_to_hold`] computes for
/// `lateral_acceleration_mps2` (m/s²), for descriptions of manoeuvres.
fn steady_turn_text(lateral_acceleration_mps2: f64) -> String {
    format!("a steady turn at {lateral_acceleration_mps2:.1} m/s², or of the tightest one that the car holds")
}

/// Ground, start and duration of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Setup {
    /// Ground and gravity.
    pub scene: Scene,
    /// Position, heading, speed and gear of the car at the start.
    pub placement: Placement,
    /// Maximum duration (s). A driver may finish earlier.
    pub duration_s: f64,
    /// Towed units, from the front; empty in most runs.
    pub trailers: Vec<TowedUnit>,
}

impl Setup {
    /// Returns a setup on level dry ground: at the origin, heading along +x, in neutral at `speed_mps` (m/s), for 10 s.
    pub fn flat(speed_mps: f64) -> Self {
        let placement = Placement { speed: speed_mps as f32, gear: Some(0), ..Placement::default() };
        Self { scene: Scene::flat(), placement, duration_s: 10.0, trailers: Vec::new() }
    }
}

/// Changes to the start and ground of a manoeuvre. [`Overrides::setup`] checks whether the manoeuvre accepts them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Overrides {
    /// Scene that replaces the manoeuvre's scene.
    pub scene: Option<Scene>,
    /// Start: x and y in the plane, and a height that is added to the manoeuvre's height of the wheels above the plane
    /// (m).
    pub start_m: Option<[f64; 3]>,
    /// Forward speed at the start (m/s).
    pub initial_speed_mps: Option<f64>,
    /// Slope of the ground (rad), positive if it rises along +x.
    pub slope_rad: Option<f64>,
    /// Heading at the start (rad), positive to the left.
    pub heading_rad: Option<f64>,
    /// Maximum duration (s).
    pub duration_s: Option<f64>,
    /// Towed units, from the front.
    pub trailers: Vec<TowedUnit>,
    /// Parameters of the manoeuvre, such as the radius of a circle.
    pub parameters: ParameterValues,
}

impl Overrides {
    /// Describes the changes as a comma-separated list; empty if there are none. The order is: ground of the scene with
    /// its slope (°) and number of boxes, start (m), speed (m/s), slope (°), heading (°), duration (s), trailers,
    /// parameters. Platforms and free bodies count as boxes. A single trailer is described by its mass, which includes
    /// that of its dolly. Several trailers are described by their number, without dollies.
    pub fn describe_changes(&self) -> String {
        let degrees = |rad: f64| rad.to_degrees();
        let box_text = |scene: &Scene| match scene.boxes.len() + scene.platforms.len() + scene.free_bodies.len() {
            0 => String::new(),
            1 => " with a box".into(),
            count => format!(" with {count} boxes"),
        };
        // A change that is not set has no description.
        let descriptions = [
            self.scene.as_ref().map(|scene| {
                format!("ground of the scene, slope {:.1}°{}", degrees(scene.slope.into()), box_text(scene))
            }),
            self.start_m.map(|[x, y, height]| format!("start at ({x}, {y}) m, raised by {height} m")),
            self.initial_speed_mps.map(|value| format!("initial speed {value:.2} m/s")),
            self.slope_rad.map(|value| format!("slope {:.1}°", degrees(value))),
            self.heading_rad.map(|value| format!("heading {:.1}°", degrees(value))),
            self.duration_s.map(|value| format!("duration at most {value} s")),
            match self.trailers.iter().filter(|unit| !unit.is_dolly).count() {
                0 => None,
                1 => {
                    let mass: f32 = self.trailers.iter().map(|unit| unit.model.mass()).sum();
                    Some(format!("with a trailer of {mass:.0} kg"))
                }
                count => Some(format!("with {count} trailers")),
            },
        ];
        let parameters = self.parameters.iter().map(|(name, value)| format!("{name} = {value}"));
        descriptions.into_iter().flatten().chain(parameters).collect::<Vec<_>>().join(", ")
    }

    /// Describes `manoeuvre` in one sentence, with the changes to it.
    pub fn about_changed(&self, manoeuvre: &dyn Procedure) -> String {
        let (about, changes) = (manoeuvre.about(), self.describe_changes());
        if changes.is_empty() { about } else { format!("{about} ({changes})") }
    }

    /// Applies the changes that are set to `setup`, without checking them, and returns it. A change that is not set
    /// leaves the value of `setup`, except the trailers, which are always replaced, also by none. The start height is
    /// added to that of `setup`. `slope_rad` replaces the slope of `scene`.
    pub fn apply(&self, mut setup: Setup) -> Setup {
        if let Some(scene) = &self.scene {
            setup.scene = scene.clone();
        }
        if let Some([x, y, height]) = self.start_m {
            (setup.placement.x, setup.placement.y) = (x, y);
            setup.placement.height += height;
        }
        if let Some(speed) = self.initial_speed_mps {
            setup.placement.speed = speed as f32;
        }
        if let Some(slope) = self.slope_rad {
            setup.scene.slope = slope as f32;
        }
        if let Some(heading) = self.heading_rad {
            setup.placement.heading = heading as f32;
        }
        if let Some(duration) = self.duration_s {
            setup.duration_s = duration;
        }
        setup.trailers.clone_from(&self.trailers);
        setup
    }
}

/// Kinds of ground that a scene can combine, and the file keys that define them. Every manoeuvre can be driven on each
/// of them with every solver. A scene replaces the manoeuvre's own ground, including its slope.
pub const GROUND_KINDS: [(&str, &str); 4] = [
    ("plane", "with any slope"),
    ("boxes", "[[box]]: ramps, steps, patches with different grip; boxes with `kinematic` exclude reference vehicles"),
    (
        "height fields",
        "[[height_field]]: numbers or a PNG file; [[road]]: ISO 8608 classes A to H; [[crg]]: OpenCRG file",
    ),
    ("meshes", "[[mesh]]: numbers, or an OBJ or glTF file"),
];

/// Manoeuvre: a course or input to drive, with its evaluation.
pub trait Manoeuvre: Send + Sync + core::fmt::Debug {
    /// Returns the name by which users select the manoeuvre.
    fn name(&self) -> &'static str;
    /// Returns a description in one sentence, with the parameters.
    fn about(&self) -> String;
    /// Returns ground, start and duration.
    fn setup(&self, model: &Model) -> Setup;
    /// Returns the changes of the start that the manoeuvre accepts. Any other change would alter the meaning of its
    /// metrics.
    fn start_requirements(&self) -> StartRequirements;
    /// Returns the positions of the cones beside the course, (x, y) in m, for pictures.
    fn cones(&self, _model: &Model) -> Vec<(f64, f64)> {
        Vec::new()
    }
    /// Returns the diagrams that the report shows beside the standard plots, each one quantity over another. Use the
    /// diagrams and quantities of [`crate::quantity`], or define a [`crate::quantity::Quantity`].
    fn diagrams(&self) -> Vec<Diagram> {
        Vec::new()
    }
    /// Returns the closed-form curves of a car of `model` that the report draws with the computed curves of the same
    /// title; none for a car without closed form.
    fn closed_form_curves(&self, _model: &Model) -> Vec<ComputedCurve> {
        Vec::new()
    }
    /// Returns this manoeuvre with the parameters that it computes from `model`; see [`Procedure::resolve_parameters`].
    fn resolve_parameters(&self, _model: &Model) -> Option<Box<dyn Procedure>> {
        None
    }
    /// Creates a driver in its initial state.
    fn driver(&self, model: &Model) -> Box<dyn DriverModel>;
    /// Computes the metrics of a run, in the generic view.
    fn metrics(&self, model: &Model, trajectory: &Trajectory) -> Vec<Metric>;
    /// Returns why a run did not complete its course; `None` if it did, or if the manoeuvre has no course.
    fn incomplete_reason(&self, _model: &Model, _trajectory: &Trajectory) -> Option<IncompleteCourse> {
        None
    }
    /// Computes the metrics of a run, and the curves that the report shows beside the diagrams, such as a gain over
    /// frequency. A manoeuvre with curves computes here what both have in common once; it has no curves for a run that
    /// ended before its planned duration.
    fn metrics_and_curves(&self, model: &Model, trajectory: &Trajectory) -> (Vec<Metric>, Vec<ComputedCurve>) {
        (self.metrics(model, trajectory), Vec::new())
    }
    /// Computes [`Manoeuvre::metrics_and_curves`], with the metrics of every hitch behind those of the manoeuvre.
    fn results_of_train(&self, model: &Model, trajectory: &Trajectory) -> (Vec<Metric>, Vec<ComputedCurve>) {
        let (mut metrics, curves) = self.metrics_and_curves(model, trajectory);
        metrics.extend(towing::hitches(trajectory));
        (metrics, curves)
    }
}

/// Entry of the list of standard manoeuvres.
#[derive(Clone, Copy)]
pub struct ManoeuvreEntry {
    /// Name by which users select the manoeuvre.
    pub name: &'static str,
    /// Description in one line, for lists.
    pub about: &'static str,
    /// Parameters that users can set; see [`Overrides::parameters`].
    pub parameters: &'static [Parameter],
    /// Constructor with the overrides that change parameters of the manoeuvre.
    build: fn(&Overrides) -> Box<dyn Procedure>,
}

impl ManoeuvreEntry {
    /// Builds the manoeuvre with its standard parameters, except those that `overrides` changes.
    ///
    /// The caller still has to apply `overrides` to the [`Setup`] of the manoeuvre.
    pub fn build_standard(&self, overrides: &Overrides) -> Box<dyn Procedure> {
        (self.build)(overrides)
    }
}

/// Standard manoeuvres of one run, which the page of agreement contains. The open-loop manoeuvre from a file is
/// [`crate::script::Script`].
pub const MANOEUVRES: &[ManoeuvreEntry] = &[
    entry!(
        "drop-settle",
        Settle {},
        "dropped from a small height, then left at rest: wheel loads, ride height, settling time"
    ),
    entry!("acceleration", Acceleration { duration_s <- duration_s }, "full throttle from rest: 0-60 mph, 0-100 km/h, quarter mile, top speed"),
    ManoeuvreEntry {
        name: "launch",
        about: "acceleration at optimum slip of the driven wheels: 0-60 mph, 0-100 km/h, quarter mile, top speed",
        parameters: &[],
        build: |overrides| {
            let standard = Acceleration { launch: Launch::Skilled, ..Acceleration::default() };
            Box::new(Acceleration { duration_s: overrides.duration_s.unwrap_or(standard.duration_s), ..standard })
        },
    },
    entry!("braking", Braking { initial_speed_mps <- initial_speed_mps }, [pedal: "brake pedal", 0.01, 1.0], "full braking in neutral from 100 km/h: distance, deceleration"),
    entry!("coast-down", CoastDown { initial_speed_mps <- initial_speed_mps }, [final_speed_mps: "speed at the end, m/s", 0.5, 30.0], "coasting in neutral from 115 to 15 km/h: time, distance"),
    entry!("step-steer", StepSteer { speed_mps <- initial_speed_mps }, [
        lateral_acceleration_mps2: "lateral acceleration of a steady turn with the final angle, m/s², positive to the left", -15.0, 15.0;
        ramp_s: "duration of the ramp, s", 0.01, 2.0
    ], "ISO 7401 step steer at 100 km/h to 4 m/s²: response times, gains, overshoot"),
    entry!(
        "circle",
        Circle {},
        [radius_m: "radius of the circle, m", 10.0, 1000.0],
        "ISO 4138 constant radius of 100 m at increasing speed: understeer gradient, gains, load transfer"
    ),
    entry!("slalom", Slalom { speed_mps <- initial_speed_mps }, [
        spacing_m: "distance of the cones, m", 5.0, 100.0;
        amplitude_m: "lateral amplitude of the path, m", 0.5, 5.0;
        cones: "number of cones", 2.0, 50.0
    ], "slalom around cones 30.5 m apart: peak yaw rate, lateral acceleration, roll angle"),
    ManoeuvreEntry {
        name: "lane-change",
        about: "ISO 3888-1 double lane change at up to 80 km/h: clearance, cones hit, peak values",
        parameters: &[],
        build: |overrides| {
            Box::new(LaneChange { course: LaneChangeCourse::Double, speed_mps: overrides.initial_speed_mps })
        },
    },
    ManoeuvreEntry {
        name: "moose",
        about: "ISO 3888-2 obstacle avoidance, throttle released at the entry: clearance, cones hit, lifted wheels, peak values",
        parameters: &[],
        build: |overrides| {
            Box::new(LaneChange { course: LaneChangeCourse::Obstacle, speed_mps: overrides.initial_speed_mps })
        },
    },
    entry!("coast-scene", FreeRolling { speed_mps <- initial_speed_mps }, "coasting in neutral over the ground of a scene, without driver input: wheel loads, time in the air"),
    ManoeuvreEntry {
        name: "park-hold",
        about: "brakes applied for 65 s on a slope of 20°, then released: drift, speed after release",
        parameters: &[],
        build: |overrides| {
            let (standard, scene_slope) = (Parked::default(), overrides.scene.as_ref().map(|scene| scene.slope.into()));
            let slope_rad = overrides.slope_rad.or(scene_slope).unwrap_or(standard.slope_rad);
            let heading_rad = overrides.heading_rad.unwrap_or(standard.heading_rad);
            Box::new(Parked { slope_rad, heading_rad, ..standard })
        },
    },
];

/// Former names of standard manoeuvres, each with the current name.
const FORMER_NAMES: [(&str, &str); 3] = [("settle", "drop-settle"), ("roll", "coast-scene"), ("parked", "park-hold")];

/// Returns the standard manoeuvre with the name `name`; `None` if there is none. Former names are accepted.
pub fn by_name(name: &str) -> Option<&'static ManoeuvreEntry> {
    let current_name = FORMER_NAMES.iter().find(|(former, _)| *former == name).map_or(name, |(_, current)| current);
    catalogue().find(|entry| entry.name == current_name)
}

/// Iterates over all entries: [`MANOEUVRES`], then [`HANDLING_TESTS`], then [`STRAIGHT_TESTS`].
pub fn catalogue() -> impl Iterator<Item = &'static ManoeuvreEntry> {
    MANOEUVRES.iter().chain(HANDLING_TESTS).chain(STRAIGHT_TESTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::model;
    use skidpad_core::{DVec3, FixedBox, Vec3};

    /// Every standard manoeuvre has the name of its entry and a duration above 0. Current and former names are found,
    /// others are not.
    #[test]
    fn the_list_tells_the_names_the_manoeuvres_have() {
        for entry in catalogue() {
            let manoeuvre = entry.build_standard(&Overrides { initial_speed_mps: Some(20.0), ..Overrides::default() });
            assert_eq!(manoeuvre.name(), entry.name);
            assert!(manoeuvre.setup(&model()).duration_s > 0.0);
        }
        assert!(by_name("step-steer").is_some() && by_name("nonsense").is_none());
        for (former, current) in FORMER_NAMES {
            assert_eq!(by_name(former).map(|entry| entry.name), Some(current));
        }
    }

    /// The position is that of the overrides, the start height is added to that of the manoeuvre, and the slope of the
    /// overrides replaces that of the scene. The description mentions the box.
    #[test]
    fn a_scene_replaces_the_ground_and_its_start_lifts_the_car() {
        let scene = Scene { boxes: vec![FixedBox::axis_aligned(DVec3::ZERO, Vec3::ONE)], ..Scene::sloping(0.2) };
        let overrides = Overrides {
            scene: Some(scene.clone()),
            start_m: Some([1.0, 2.0, 0.5]),
            slope_rad: Some(0.1),
            ..Overrides::default()
        };
        let setup = overrides.apply(Manoeuvre::setup(&Settle::default(), &model()));
        assert_eq!((setup.placement.x, setup.placement.y, setup.placement.height), (1.0, 2.0, 0.52));
        // The slope of the overrides has priority over the slope of the scene.
        assert_eq!(setup.scene, Scene { slope: 0.1, ..scene });
        assert!(overrides.describe_changes().contains("with a box"), "{}", overrides.describe_changes());
    }

    /// Initial speed and slope replace those of a setup; the duration stays.
    #[test]
    fn changes_apply_to_start_and_ground() {
        let overrides = Overrides { initial_speed_mps: Some(5.0), slope_rad: Some(0.1), ..Overrides::default() };
        let setup = overrides.apply(Setup::flat(20.0));
        assert_eq!((setup.placement.speed, setup.scene.slope, setup.duration_s), (5.0, 0.1, 10.0));
    }
}
