//! Tilt table: the car stands across a table that tilts slowly until the wheels of the upper side carry no load.

use skidpad_core::model::Side;
use skidpad_core::{
    Controls, DVec3, FixedBox, Frame, Model, Platform, PlatformCourse, PlatformPath, Scene, Vec3, WayPoint,
};

use super::{Manoeuvre, Setup, StartRequirements};
use crate::closed_form::Characteristics;
use crate::driver::{DriverInput, DriverModel};
use crate::metrics::{Metric, metrics};
use crate::trajectory::Trajectory;

/// Table that tilts about the longitudinal axis of the car at a constant rate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TiltTable {
    /// Rate of the table angle (°/s), > 0.
    pub rate_degps: f64,
    /// Side that moves down, left or right.
    pub lower_side: Side,
}

impl Default for TiltTable {
    fn default() -> Self {
        Self { rate_degps: 0.5, lower_side: Side::Right }
    }
}

metrics! {
    /// Angles of the table. A car that slides by more than 0.3 m before it tips, or whose wheels carry load up to the
    /// largest angle, has no tilt angle.
    TiltTableMetrics {
        first_lift_deg, "deg", 2, "Table angle at the first wheel lift", "A wheel of the upper side carries no load from there on for 0.2 s.";
        tilt_deg, "deg", 2, "Table angle at two-wheel lift", "No wheel of the upper side carries load from there on for 0.2 s.";
        tilt_table_ratio, "-", 4, "Tilt-table ratio", "Tangent of the table angle at two-wheel lift.";
        static_stability_factor, "-", 4, "Static stability factor", "Tilt-table ratio of a rigid car: distance of the lower wheels from the centre of mass, over its height.";
        slide_mm, "mm", 1, "Sliding distance", "Largest distance of the centre of mass from its start along the table, sideways and forward, before the lift.";
        body_roll_deg, "deg", 2, "Roll angle at two-wheel lift", "Of the body relative to the table, without sign.";
    }
}

/// Grip of the table (–). It stands for the rail that keeps the tyres from sliding.
const TABLE_GRIP: f32 = 4.0;
/// Length and width of the table (m), and its thickness (m).
const TABLE_SIZE_M: [f32; 3] = [40.0, 12.0, 0.2];
/// Angle at which the table stops (°). Cars with a tilt-table ratio below 3.7 tip before.
const LARGEST_ANGLE_DEG: f64 = 75.0;
/// Time in which the car settles on the level table (s).
const SETTLING_S: f64 = 2.0;
/// Time in which the table then reaches its rate (s).
const BLEND_S: f64 = 1.0;
/// Time without load after which a wheel counts as lifted (s). A suspension that reaches its droop stop unloads its
/// wheel for a moment, although the spring still presses it on the table.
const LIFT_TIME_S: f64 = 0.2;
/// Sliding distance from which a car has left its place on the table (m).
const MAX_SLIDE_M: f64 = 0.3;

impl TiltTable {
    /// Returns the planned duration of a run (s).
    fn duration_s(&self) -> f64 {
        SETTLING_S + 0.5 * BLEND_S + LARGEST_ANGLE_DEG / self.rate_degps
    }

    /// Returns the sign of the angle of the table: rotations about +x move the right side down.
    fn angle_sign(&self) -> f64 {
        if self.lower_side == Side::Right { 1.0 } else { -1.0 }
    }

    /// Returns the side that moves up.
    fn upper_side(&self) -> Side {
        if self.lower_side == Side::Right { Side::Left } else { Side::Right }
    }

    /// Returns the table. Its top is level and at height 0 at the start. `None` if the rate gives no valid path of the
    /// platform.
    fn table(&self) -> Option<Platform> {
        let last_angle = self.angle_sign() * LARGEST_ANGLE_DEG.to_radians();
        let way_point = |time: f64, angle: f64| WayPoint { time, displacement: DVec3::ZERO, angle };
        // The blend (smooth change of the rate) begins half of its duration before the way point.
        let way_points = vec![way_point(SETTLING_S + 0.5 * BLEND_S, 0.0), way_point(self.duration_s(), last_angle)];
        let path = PlatformPath::new(way_points, false, BLEND_S).ok()?; // `false`: the table does not repeat its course
        let size = Vec3::from_array(TABLE_SIZE_M);
        let centre = DVec3::new(0.0, 0.0, -0.5 * f64::from(size.z));
        let shape = FixedBox { grip: TABLE_GRIP, ..FixedBox::axis_aligned(centre, size) };
        Some(Platform { shape, axis: Vec3::X, course: PlatformCourse::Path(path) })
    }

    /// Returns true if no wheel of the upper side carries load in `frame`; false for a car without wheels on this side.
    fn is_upper_side_free(&self, model: &Model, frame: &Frame) -> bool {
        let mut upper =
            model.wheels().iter().zip(&frame.wheels).filter(|(wheel, _)| wheel.side == self.upper_side()).peekable();
        upper.peek().is_some() && upper.all(|(_, wheel)| wheel.load_n <= 0.0)
    }

    /// Returns the static stability factor of the lowered side of `model`; `None` for a car without wheels on both
    /// sides.
    fn static_stability_factor(&self, model: &Model) -> Option<f64> {
        // A left turn tips the car over its right wheels.
        let [left_turn, right_turn] = Characteristics::new(model).rigid_rollover_g?;
        Some(if self.lower_side == Side::Right { left_turn } else { right_turn })
    }

    /// Computes the metrics of a run from the telemetry rows after the settling time, when the table moves. A lift must
    /// last 0.2 s; its angle is that of its first row. The sliding distance is the largest one up to the two-wheel
    /// lift, or of the whole run without one. If it exceeds 0.3 m, the car has no angles of a lift.
    pub fn measure(&self, model: &Model, trajectory: &Trajectory) -> TiltTableMetrics {
        let rows = || trajectory.time_slice(SETTLING_S, f64::MAX);
        let table = self.table();
        let angle = |frame: &Frame| table.as_ref().map_or(0.0, |table| table_angle(table, frame.t_s));
        let slide = |frame: &Frame| slide_m(frame, self.angle_sign() * angle(frame));
        let upper_wheels = (0..model.wheels().len()).filter(|&i| model.wheels()[i].side == self.upper_side());
        let first_lift = upper_wheels
            .filter_map(|i| first_lasting(rows(), |frame| frame.wheels[i].load_n <= 0.0))
            .min_by(|a, b| a.t_s.total_cmp(&b.t_s));
        let tipped = first_lasting(rows(), |frame| self.is_upper_side_free(model, frame));
        let lift_s = tipped.as_ref().map_or(f64::MAX, |frame| frame.t_s);
        // Largest sliding distance before the lift (m).
        let largest_slide = trajectory.time_slice(SETTLING_S, lift_s).map(|frame| slide(&frame)).fold(0.0, f64::max);
        // A lift of a car that has slid does not count.
        let if_not_slid = |frame: &Option<Frame>| frame.clone().filter(|_| largest_slide <= MAX_SLIDE_M);
        let (first_lift, tipped) = (if_not_slid(&first_lift), if_not_slid(&tipped));
        let body_roll = |frame: &Frame| (frame.roll_rad - self.angle_sign() * angle(frame)).abs();
        TiltTableMetrics {
            first_lift_deg: first_lift.as_ref().map(|frame| angle(frame).to_degrees()),
            tilt_deg: tipped.as_ref().map(|frame| angle(frame).to_degrees()),
            tilt_table_ratio: tipped.as_ref().map(|frame| angle(frame).tan()),
            static_stability_factor: self.static_stability_factor(model),
            body_roll_deg: tipped.as_ref().map(|frame| body_roll(frame).to_degrees()),
            slide_mm: Some(1e3 * largest_slide),
        }
    }
}

/// Returns the distance of the centre of mass from the middle of the table, along its surface (m), at the table angle
/// `angle_rad` (rad, rotation about +x). The car starts in the middle. A body that leans on its springs moves by less
/// than [`MAX_SLIDE_M`].
fn slide_m(frame: &Frame, angle_rad: f64) -> f64 {
    let (sin, cos) = angle_rad.sin_cos();
    // Height above the axis of the table, which is in the middle of its thickness.
    let height = frame.z_m + 0.5 * f64::from(TABLE_SIZE_M[2]);
    (cos * frame.y_m + sin * height).hypot(frame.x_m)
}

/// Returns the angle of the table at `time_s`, without sign (rad).
fn table_angle(table: &Platform, time_s: f64) -> f64 {
    let (_, rotation) = table.pose(time_s);
    f64::from(2.0 * rotation.x.atan2(rotation.w)).abs()
}

/// Returns the first telemetry row of the first interval of at least [`LIFT_TIME_S`] in which `condition` is true for
/// every row; `None` if there is none.
fn first_lasting<'a>(
    rows: impl Iterator<Item = std::borrow::Cow<'a, Frame>>,
    condition: impl Fn(&Frame) -> bool,
) -> Option<Frame> {
    let mut start: Option<Frame> = None;
    for frame in rows {
        if !condition(&frame) {
            start = None;
        } else if let Some(first) = start.as_ref() {
            if frame.t_s - first.t_s >= LIFT_TIME_S {
                return start;
            }
        } else {
            start = Some(frame.into_owned());
        }
    }
    None
}

/// Driver that holds the brakes. Ends the run once all wheels of the upper side have carried no load for twice
/// [`LIFT_TIME_S`].
struct TiltTableDriver {
    test: TiltTable,
    /// Time since which no wheel of the upper side has carried load (s); `None` while one does.
    free_since_s: Option<f64>,
}

impl DriverModel for TiltTableDriver {
    /// Holds the brakes. Updates the time since which the wheels of the upper side carry no load; it starts again after
    /// any load.
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        let is_free = input.has_reached(SETTLING_S) && self.test.is_upper_side_free(input.model, input.frame);
        self.free_since_s = is_free.then(|| self.free_since_s.unwrap_or(input.time_s()));
        Controls::parked()
    }

    fn finished(&self, input: &DriverInput<'_>) -> bool {
        // Twice the time: the last rows are then part of the lift at any step rate.
        self.free_since_s.is_some_and(|time| input.has_reached(time + 2.0 * LIFT_TIME_S))
    }
}

impl Manoeuvre for TiltTable {
    fn name(&self) -> &'static str {
        "tilt-table"
    }
    fn about(&self) -> String {
        let side = if self.lower_side == Side::Right { "right" } else { "left" };
        format!(
            "table that lowers the {side} side of the car by {:.2} °/s until the wheels of the other side carry no load",
            self.rate_degps
        )
    }
    /// Returns the table without other ground, with the car at rest in its middle.
    fn setup(&self, _model: &Model) -> Setup {
        let scene = Scene { has_plane: false, platforms: self.table().into_iter().collect(), ..Scene::flat() };
        Setup { scene, duration_s: self.duration_s(), ..Setup::flat(0.0) }
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::FIXED_SPEED.from_origin().on_own_ground()
    }
    fn driver(&self, _model: &Model) -> Box<dyn DriverModel> {
        Box::new(TiltTableDriver { test: *self, free_since_s: None })
    }
    fn metrics(&self, model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.measure(model, trajectory).list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{model, sampled};

    /// The table is level until the car has settled, then turns at its rate, and its top stays under the origin.
    #[test]
    fn the_table_turns_at_its_rate() {
        for lower_side in [Side::Left, Side::Right] {
            let test = TiltTable { lower_side, ..TiltTable::default() };
            for (time, degrees) in [(0.0, 0.0), (1.0, 0.0), (22.5, 10.0), (82.5, 40.0), (1e3, LARGEST_ANGLE_DEG)] {
                let found = table_angle(&test.table().expect("valid"), time).to_degrees();
                assert!((found - degrees).abs() < 1e-4, "{time} s: {found}°");
            }
            let (_, rotation) = test.table().expect("valid").pose(42.0);
            let right = rotation * Vec3::NEG_Y;
            assert_eq!(right.z < 0.0, lower_side == Side::Right);
        }
    }

    /// Synthetic run: the left front wheel loses its load at 20°, the left rear wheel at 30°, and the body rolls 5° more
    /// than the table. The other side, whose wheels stay loaded, has no angle. A moment without load at 10° does not count.
    #[test]
    fn angles_of_a_synthetic_run_are_found() {
        let (test, model) = (TiltTable::default(), model());
        let table = test.table().expect("valid");
        let run = sampled(0.02, 100.0, |t, frame| {
            let angle = table_angle(&table, t).to_degrees();
            frame.roll_rad = (angle + 5.0).to_radians();
            for ((wheel, part), lift_deg) in frame.wheels.iter_mut().zip(model.wheels()).zip([20.0, 90.0, 30.0, 90.0]) {
                let is_lifted = part.side == Side::Left && (angle >= lift_deg || (10.0..10.05).contains(&angle));
                wheel.load_n = if is_lifted { 0.0 } else { 2500.0 };
            }
        });
        let found = test.measure(&model, &run);
        let close = |value: Option<f64>, expected: f64| {
            // Rows are 0.01° apart.
            assert!((value.expect("measured") - expected).abs() < 0.011, "{value:?} {expected}");
        };
        close(found.first_lift_deg, 20.0);
        close(found.tilt_deg, 30.0);
        close(found.tilt_table_ratio, 30f64.to_radians().tan());
        close(found.static_stability_factor, 1.5);
        close(found.body_roll_deg, 5.0);
        // The origin is half the thickness of the table above its axis.
        assert!(found.slide_mm.expect("measured") < 60.0, "{found:?}");
        let slid = sampled(0.02, 100.0, |t, frame| {
            frame.y_m = if t > 50.0 { -0.4 } else { 0.0 };
            let load_n = if t > 60.0 { 0.0 } else { 2500.0 };
            frame.wheels.iter_mut().for_each(|wheel| wheel.load_n = load_n);
        });
        let found = test.measure(&model, &slid);
        assert!(found.tilt_deg.is_none() && found.slide_mm.expect("measured") > 300.0, "{found:?}");
        let other = TiltTable { lower_side: Side::Left, ..test }.measure(&model, &run);
        assert_eq!((other.first_lift_deg, other.tilt_deg), (None, None));
    }
}
