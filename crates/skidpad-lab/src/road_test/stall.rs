//! Stall test of a torque converter: full throttle against the foot brake.

use skidpad_core::{Controls, Model};

use crate::driver::{DriverInput, DriverModel, OpenLoop};
use crate::manoeuvre::{Manoeuvre, Setup, StartRequirements};
use crate::metrics::{Metric, metrics};
use crate::trajectory::Trajectory;

/// Full throttle in first gear against the fully pressed foot brake.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stall {
    /// Duration (s). The engine speed at the end counts.
    pub duration_s: f64,
}

impl Default for Stall {
    fn default() -> Self {
        Self { duration_s: 4.0 }
    }
}

metrics! {
    /// Result of the stall test.
    StallMetrics {
        stall_speed_radps, "rad/s", 1, "Stall speed", "Engine speed at the end, while the car stands.";
    }
}

/// Speed above which the brake did not hold the car (m/s).
const MAX_HELD_SPEED_MPS: f64 = 0.01;

impl Stall {
    /// Returns the engine speed at the end of a run; `None` if the car then moves at 0.01 m/s or faster.
    pub fn measure(&self, trajectory: &Trajectory) -> StallMetrics {
        let last = trajectory.last();
        let is_held = last.vx_mps.abs() < MAX_HELD_SPEED_MPS;
        StallMetrics { stall_speed_radps: is_held.then_some(last.engine_radps) }
    }
}

impl Manoeuvre for Stall {
    fn name(&self) -> &'static str {
        "road-test-stall"
    }
    fn about(&self) -> String {
        format!("full throttle against the foot brake in first gear for {:.0} s", self.duration_s)
    }
    fn setup(&self, _model: &Model) -> Setup {
        let mut setup = Setup { duration_s: self.duration_s, ..Setup::flat(0.0) };
        setup.placement.gear = Some(1);
        setup
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::FIXED_SPEED
    }
    fn driver(&self, _model: &Model) -> Box<dyn DriverModel> {
        let controls = Controls { throttle: 1.0, brake: 1.0, gear: Some(1), ..Controls::default() };
        Box::new(OpenLoop(move |_: &DriverInput<'_>| controls.clone()))
    }
    fn metrics(&self, _model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.measure(trajectory).list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sampled;

    /// The engine speed of a held car counts, that of a car that creeps does not.
    #[test]
    fn only_a_held_car_has_a_stall_speed() {
        let run = |speed: f64| sampled(0.1, 4.0, move |_, frame| (frame.engine_radps, frame.vx_mps) = (250.0, speed));
        assert_eq!(Stall::default().measure(&run(0.0)).stall_speed_radps, Some(250.0));
        assert_eq!(Stall::default().measure(&run(0.5)).stall_speed_radps, None);
    }
}
