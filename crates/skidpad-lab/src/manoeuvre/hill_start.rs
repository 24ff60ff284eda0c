//! Restart on a hill: the car is held by its brakes on a slope and drives off uphill.

use skidpad_core::{Controls, Frame, Model, Scene};

use super::acceleration::{Acceleration, AccelerationDriver, Launch};
use super::{Manoeuvre, Setup, StartRequirements};
use crate::driver::{DriverInput, DriverModel};
use crate::metrics::{Metric, metrics};
use crate::trajectory::Trajectory;

/// Restart on a slope with the throttle at the traction limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HillStart {
    /// Slope of the ground (rad), ≥ 0, up +x.
    pub slope_rad: f64,
    /// Time at which the brake is released (s), > 0. The car settles on the slope before.
    pub release_s: f64,
    /// Duration of the run (s).
    pub duration_s: f64,
}

impl Default for HillStart {
    fn default() -> Self {
        // 20 %: slope on which UN R13-H tests the parking brake.
        Self { slope_rad: 0.2f64.atan(), release_s: 3.0, duration_s: 15.0 }
    }
}

metrics! {
    /// Restart on the slope. Distances are along the slope, positive uphill, from the position at the release.
    HillStartMetrics {
        grade_percent, "%", 2, "Grade", "Tangent of the slope.";
        rollback_mm, "mm", 1, "Rollback", "Largest distance downhill after the release of the brake.";
        time_to_1m_s, "s", 3, "Time over 1 m", "From the release until the car is 1 m uphill.";
        time_to_10m_s, "s", 3, "Time over 10 m", "From the release until the car is 10 m uphill.";
        end_speed_mps, "m/s", 3, "Uphill speed at the end of the run", "Forward speed.";
    }
}

/// Distance uphill from which a car has restarted (m).
const RESTART_DISTANCE_M: f64 = 1.0;

impl HillStart {
    /// Computes the metrics of a run. Distances are along the slope of the ground that was driven on, from the position
    /// at the release of the brake. All values except the grade are `None` if the run ends before the release. Times
    /// are `None` if their distance is not reached.
    pub fn measure(&self, trajectory: &Trajectory) -> HillStartMetrics {
        let slope = trajectory.ground().slope_rad;
        let grade_percent = Some(100.0 * slope.tan());
        if !trajectory.covers(self.release_s) {
            return HillStartMetrics { grade_percent, ..HillStartMetrics::default() };
        }
        let along_slope = |frame: &Frame| frame.x_m * slope.cos() + frame.z_m * slope.sin();
        let released_at = trajectory.interpolate_at(self.release_s, along_slope);
        let uphill = |frame: &Frame| along_slope(frame) - released_at;
        let time_to = |distance_m: f64| {
            trajectory.first_crossing_up(distance_m, self.release_s, uphill).map(|time| time - self.release_s)
        };
        let lowest = trajectory.time_slice(self.release_s, f64::MAX).map(|frame| uphill(&frame)).fold(0.0, f64::min);
        HillStartMetrics {
            grade_percent,
            rollback_mm: Some(-1e3 * lowest),
            time_to_1m_s: time_to(RESTART_DISTANCE_M),
            time_to_10m_s: time_to(10.0),
            end_speed_mps: Some(trajectory.last().vx_mps),
        }
    }

    /// Returns true if the car restarted in a run: it drove 1 m uphill after the release, and its forward speed is
    /// above 0 in the last telemetry row.
    pub fn has_restarted(&self, trajectory: &Trajectory) -> bool {
        let metrics = self.measure(trajectory);
        metrics.time_to_1m_s.is_some() && metrics.end_speed_mps.is_some_and(|speed| speed > 0.0)
    }
}

/// Driver that holds the car by the foot brake, prepares the start, and releases the brake as the clutch engages.
struct HillStartDriver {
    /// Time at which the brake is released (s).
    release_s: f64,
    /// Driver of the start. It holds the engine speed until the release.
    start: AccelerationDriver,
}

impl DriverModel for HillStartDriver {
    /// Applies the controls of the start, in first gear. Until the release the foot brake is fully pressed, and the
    /// throttle is that of [`HillStartDriver::held_throttle`].
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        let controls = self.start.drive(input);
        if input.has_reached(self.release_s) {
            // First gear: an automatic choice could shift on a slope.
            Controls { gear: Some(1), ..controls }
        } else {
            Controls { brake: 1.0, gear: Some(1), throttle: self.held_throttle(&controls), ..controls }
        }
    }
}

impl HillStartDriver {
    /// Returns the throttle before the release (–). It is the throttle in `controls` if the start is prepared, with a
    /// pressed clutch or against the brake of a car with a torque converter. Otherwise it is 0, because the drive would
    /// act against the brake.
    fn held_throttle(&self, controls: &Controls) -> f32 {
        let is_prepared = controls.clutch.is_some() || controls.brake > 0.0;
        if is_prepared { controls.throttle } else { 0.0 }
    }
}

impl Manoeuvre for HillStart {
    fn name(&self) -> &'static str {
        "hill-start"
    }
    fn about(&self) -> String {
        let (grade, release_s) = (100.0 * self.slope_rad.tan(), self.release_s);
        format!(
            "held by the foot brake on a slope of {grade:.0} % for {release_s:.0} s, then uphill at the traction limit"
        )
    }
    /// Returns a slope, with the car at rest in first gear.
    fn setup(&self, _model: &Model) -> Setup {
        let mut setup = Setup { duration_s: self.duration_s, ..Setup::flat(0.0) };
        setup.scene = Scene::sloping(self.slope_rad as f32);
        setup.placement.gear = Some(1);
        setup
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::FIXED_SPEED
    }
    fn driver(&self, model: &Model) -> Box<dyn DriverModel> {
        let start = Acceleration { launch: Launch::Skilled, hold_s: self.release_s, ..Acceleration::default() };
        Box::new(HillStartDriver { release_s: self.release_s, start: AccelerationDriver::new(model, &start) })
    }
    fn metrics(&self, _model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.measure(trajectory).list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sampled;
    use crate::trajectory::GroundProperties;

    /// Builds the run of a car on a slope of 20 % that rolls back by `rollback` m within the second after the release at 3
    /// s and then drives uphill with 1 m/s².
    fn restart(rollback: f64) -> Trajectory {
        let slope = 0.2f64.atan();
        let run = sampled(0.01, 10.0, |t, frame| {
            let since = (t - 3.0).max(0.0);
            let moving = (since - 1.0).max(0.0);
            let uphill = 5.0 - rollback * since.min(1.0) + 0.5 * moving * moving;
            (frame.x_m, frame.z_m, frame.vx_mps) = (uphill * slope.cos(), uphill * slope.sin(), moving);
        });
        run.with_ground(GroundProperties { gravity_mps2: 9.81, slope_rad: slope })
    }

    /// The rollback is 80 mm, the times follow from the uniform acceleration.
    #[test]
    fn rollback_and_times_are_those_of_the_motion() {
        let hill_start = HillStart::default();
        let found = hill_start.measure(&restart(0.08));
        for (found, expected) in [
            (found.grade_percent, 20.0),
            (found.rollback_mm, 80.0),
            (found.time_to_1m_s, 1.0 + (2.0f64 * 1.08).sqrt()),
            (found.time_to_10m_s, 1.0 + (2.0f64 * 10.08).sqrt()),
            (found.end_speed_mps, 6.0),
        ] {
            assert!((found.expect("restarts") / expected - 1.0).abs() < 1e-3, "{found:?} {expected}");
        }
        assert!(hill_start.has_restarted(&restart(0.08)));
    }

    /// A car that rolls backwards has not restarted; a run that ends before the release has no metrics.
    #[test]
    fn a_car_that_rolls_backwards_has_not_restarted() {
        let run = sampled(0.01, 10.0, |t, frame| (frame.x_m, frame.vx_mps) = (-(t - 3.0).max(0.0), -1.0));
        assert!(!HillStart::default().has_restarted(&run));
        assert_eq!(HillStart::default().measure(&sampled(0.1, 1.0, |_, _| {})).rollback_mm, None);
    }
}
