//! Tilt table: search for the lowest side slope at which all wheels of the upper side lift.

use skidpad_core::{Controls, Model, Scene};

use super::limit_search::LimitSearch;
use super::procedure::{Evaluation, Procedure, Runner};
use super::{Setup, StartRequirements};
use crate::driver::{DriverInput, DriverModel, OpenLoop};
use crate::metrics::{Metric, metrics};
use crate::trajectory::Trajectory;

/// Car that stands with applied brakes across a slope on a surface on which it does not slide, at rising slopes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TiltTable {
    /// Side slopes (°).
    pub slopes_deg: LimitSearch,
}

impl Default for TiltTable {
    /// Returns slopes from 5° to 65° in steps of 5°, then of 0.25°.
    fn default() -> Self {
        Self { slopes_deg: LimitSearch { lowest: 5.0, coarse_steps: 12, fine_per_coarse: 20, fine_step: 0.25 } }
    }
}

/// Run at one slope.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TiltRun {
    /// Side slope (rad). The left side of the car is the lower one.
    slope_rad: f64,
}

metrics! {
    /// Results of the search.
    TiltTableMetrics {
        tilt_angle_deg, "deg", 2, "Tilt table angle", "Mean of the highest slope on which the upper wheels carry load, and the lowest one on which they do not.";
        tilt_table_ratio, "-", 4, "Tilt table ratio", "Tangent of the tilt table angle.";
        roll_deg, "deg", 2, "Roll angle relative to the table before the lift", "At the highest slope with loaded upper wheels, positive towards the lower side.";
        runs, "-", 0, "Runs", "Number of runs of the search.";
    }
}

/// Time for which the car stands on a slope (s).
const STANDING_TIME_S: f64 = 5.0;
/// Factor on the friction of the tyres (–), so that the car tips before it slides. A real tilt table has a trip rail.
const SURFACE_GRIP: f32 = 10.0;

impl TiltRun {
    /// Returns whether a wheel of the upper side carries load at the end of a run.
    fn is_standing(model: &Model, trajectory: &Trajectory) -> bool {
        let is_upper = |i: usize| model.wheels()[i].side == skidpad_core::model::Side::Right;
        trajectory.last().wheels.iter().enumerate().any(|(i, wheel)| is_upper(i) && wheel.load_n > 0.0)
    }
}

impl super::Manoeuvre for TiltRun {
    fn name(&self) -> &'static str {
        "tilt-table"
    }
    fn about(&self) -> String {
        format!("standing across a slope of {:.2}°", self.slope_rad.to_degrees())
    }
    /// Returns the slope, which rises along +x, with the car heading along +y: its right side is the upper one.
    fn setup(&self, _model: &Model) -> Setup {
        let mut setup = Setup { duration_s: STANDING_TIME_S, ..Setup::flat(0.0) };
        setup.scene = Scene { grip: SURFACE_GRIP, ..Scene::sloping(self.slope_rad as f32) };
        setup.placement.heading = std::f32::consts::FRAC_PI_2;
        setup
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::FIXED_SPEED
    }
    fn driver(&self, _model: &Model) -> Box<dyn DriverModel> {
        Box::new(OpenLoop(|_: &DriverInput<'_>| Controls { handbrake: 1.0, ..Controls::parked() }))
    }
    fn metrics(&self, _model: &Model, _trajectory: &Trajectory) -> Vec<Metric> {
        Vec::new()
    }
}

impl Procedure for TiltTable {
    fn name(&self) -> &'static str {
        "tilt-table"
    }
    fn about(&self) -> String {
        let LimitSearch { lowest, coarse_steps, fine_per_coarse, fine_step } = self.slopes_deg;
        let highest = lowest + fine_step * f64::from(coarse_steps * fine_per_coarse);
        format!(
            "standing across slopes from {lowest:.0}° to {highest:.0}° until the upper wheels lift, without sliding"
        )
    }
    fn setup(&self, model: &Model) -> Setup {
        TiltRun { slope_rad: self.slopes_deg.lowest.to_radians() }.setup(model)
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::FIXED_SPEED.from_origin()
    }
    fn cones(&self, _model: &Model) -> Vec<(f64, f64)> {
        Vec::new()
    }
    fn max_runs(&self) -> u32 {
        self.slopes_deg.max_runs()
    }
    /// Searches the slopes. The telemetry is that of the last run on which the upper wheels carry load, or of the first run.
    fn execute(&self, model: &Model, runner: &mut dyn Runner) -> Evaluation {
        let mut shown: Option<Trajectory> = None;
        let mut roll = None;
        let found = self.slopes_deg.run(|slope_deg| {
            let trajectory = runner.drive(&TiltRun { slope_rad: slope_deg.to_radians() });
            let is_standing = TiltRun::is_standing(model, &trajectory);
            if is_standing {
                // The roll angle is positive towards the right, which is the upper side, and includes the slope.
                roll = Some(-trajectory.last().roll_rad.to_degrees() - slope_deg);
            }
            if is_standing || shown.is_none() {
                shown = Some(trajectory);
            }
            is_standing
        });
        let angle = found.highest_pass.zip(found.lowest_fail).map(|(pass, fail)| 0.5 * (pass + fail));
        let metrics = TiltTableMetrics {
            tilt_angle_deg: angle,
            tilt_table_ratio: angle.map(|degrees| degrees.to_radians().tan()),
            roll_deg: roll,
            runs: Some(f64::from(found.runs)),
        };
        // The search drives at least one run.
        let first_run = TiltRun { slope_rad: self.slopes_deg.lowest.to_radians() };
        let trajectory = shown.unwrap_or_else(|| runner.drive(&first_run));
        Evaluation { trajectory, metrics: metrics.list(), incomplete: None }
    }
}
