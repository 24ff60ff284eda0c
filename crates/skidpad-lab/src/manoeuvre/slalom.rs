//! Slalom around a row of cones.

use skidpad_core::{Controls, Frame, Model};

use super::{IncompleteCourse, Manoeuvre, RUN_START_S, Setup, StartRequirements};
use crate::closed_form::Characteristics;
use crate::driver::{DriverInput, DriverModel, PathFollower, ReferencePath, TorqueSpeedController};
use crate::metrics::{Metric, metrics};
use crate::trajectory::Trajectory;

/// Sinusoidal path around equally spaced cones, at a constant speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slalom {
    /// Speed (m/s), > 0.
    pub speed_mps: f64,
    /// Distance between cones (m), > 0; 100 ft in the 700-ft slalom of American magazines.
    pub spacing_m: f64,
    /// Lateral distance between the extremes of the path (m).
    pub amplitude_m: f64,
    /// Length of the straight before the first swing (m).
    pub lead_in_m: f64,
    /// Number of cones, ≥ 1.
    pub cones: u32,
}

impl Default for Slalom {
    fn default() -> Self {
        Self { speed_mps: 20.0, spacing_m: 30.48, amplitude_m: 2.0, lead_in_m: 20.0, cones: 7 }
    }
}

metrics! {
    /// Peak magnitudes over the whole run. All are `None` if the run was cut short.
    SlalomMetrics {
        peak_steer_deg, "deg", 3, "Peak road-wheel angle", "Largest absolute mean road-wheel angle.";
        peak_yaw_rate_degps, "deg/s", 3, "Peak yaw rate", "Largest absolute value.";
        peak_lateral_acceleration_mps2, "m/s²", 3, "Peak lateral acceleration", "Largest absolute value.";
        peak_sideslip_deg, "deg", 3, "Peak sideslip angle", "Largest absolute value.";
        peak_roll_deg, "deg", 3, "Peak roll angle", "Largest absolute value.";
        peak_roll_rate_degps, "deg/s", 2, "Peak roll rate", "Largest absolute value.";
        least_load_percent, "%", 1, "Minimum wheel load", "Smallest load of any wheel, relative to its static load.";
        path_error_m, "m", 3, "Maximum distance from the reference line", "Largest distance of the centre of mass from the reference line.";
        time_s, "s", 3, "Time over the course", "From the start to the end of the last half wave.";
    }
}

impl Slalom {
    /// Returns the path: a straight, then a wave whose period is two cone distances.
    fn path(&self) -> ReferencePath {
        ReferencePath::Wave { amplitude: self.amplitude_m, wavelength: 2.0 * self.spacing_m, start: self.lead_in_m }
    }

    /// Returns the length of the course along x (m).
    fn length_m(&self) -> f64 {
        self.lead_in_m + self.spacing_m * f64::from(self.cones)
    }

    /// Computes the metrics of a run. All are `None` for a run that was cut short, that is, ended before its planned
    /// duration and before the end of the course. Peaks are largest magnitudes over the whole run, including the
    /// straight. The path error is the largest lateral offset from the reference line. The time is that at which x
    /// reaches the end of the course, `None` if it does not.
    pub fn measure(&self, model: &Model, trajectory: &Trajectory) -> SlalomMetrics {
        if self.incomplete_reason(model, trajectory).is_some_and(|run| run.cut_short) {
            return SlalomMetrics::default();
        }
        let peak = |channel: &dyn Fn(&Frame) -> f64| Some(trajectory.peak_magnitude(channel));
        let peak_degrees = |channel: fn(&Frame) -> f64| Some(trajectory.peak_magnitude(channel).to_degrees());
        let path = self.path();
        SlalomMetrics {
            peak_steer_deg: peak_degrees(|f| f.steer_rad),
            peak_yaw_rate_degps: peak_degrees(|f| f.yaw_rate_radps),
            peak_lateral_acceleration_mps2: peak(&|f| f.ay_mps2),
            peak_sideslip_deg: peak_degrees(|f| f.vy_mps.atan2(f.vx_mps)),
            peak_roll_deg: peak_degrees(|f| f.roll_rad),
            peak_roll_rate_degps: peak_degrees(|f| f.roll_rate_radps),
            least_load_percent: trajectory.min_load_percent(model),
            // 0.0: no preview.
            path_error_m: peak(&|f| path.locate(f.x_m, f.y_m, 0.0).offset_m),
            time_s: trajectory.first_crossing_up(self.length_m(), RUN_START_S, |f| f.x_m),
        }
    }
}

/// Driver that follows the wave at constant speed and ends the run behind the last cone.
struct SlalomDriver {
    slalom: Slalom,
    characteristics: Characteristics,
    speed_controller: TorqueSpeedController,
    path_follower: PathFollower,
}

impl DriverModel for SlalomDriver {
    /// Steers along the wave and holds the speed by torques at the driven wheels.
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        let steer = self.path_follower.steer(input, &self.characteristics) as f32;
        Controls { steer, ..self.speed_controller.controls(input, self.slalom.speed_mps) }
    }
    fn finished(&self, input: &DriverInput<'_>) -> bool {
        input.frame.x_m > self.slalom.length_m()
    }
}

impl Manoeuvre for Slalom {
    fn name(&self) -> &'static str {
        "slalom"
    }
    fn about(&self) -> String {
        format!(
            "{} cones {:.2} m apart at {:.1} m/s; the driver follows a sine line of {:.1} m width",
            self.cones, self.spacing_m, self.speed_mps, self.amplitude_m
        )
    }
    fn setup(&self, _model: &Model) -> Setup {
        // The path is longer than its extent along x. Twice the time for that extent is enough for a car that follows
        // it.
        Setup { duration_s: 2.0 * self.length_m() / self.speed_mps.max(0.1), ..Setup::flat(self.speed_mps) }
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::PATH_FOLLOWING.from_origin()
    }
    fn incomplete_reason(&self, model: &Model, trajectory: &Trajectory) -> Option<IncompleteCourse> {
        IncompleteCourse::check(self, model, trajectory, self.length_m())
    }
    /// Creates a driver that follows the wave at constant speed, without integral gain.
    fn driver(&self, model: &Model) -> Box<dyn DriverModel> {
        Box::new(SlalomDriver {
            slalom: *self,
            characteristics: Characteristics::new(model),
            speed_controller: TorqueSpeedController::default(),
            // Natural frequency (rad/s) and relative integral gain (1/s).
            path_follower: PathFollower::new(self.path(), 2.0, 0.0),
        })
    }
    fn metrics(&self, model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.measure(model, trajectory).list()
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Arc;

    use super::*;
    use crate::run::{TimeStep, simulate};
    use crate::testing::{POINT_MASS, model, sampled};

    /// Peak yaw rate and smallest load are those of the sine; a course that is not finished has no time. A run that was
    /// cut short has no metrics, and its text names the reached distance.
    #[test]
    fn peaks_of_a_sine() {
        let run = sampled(0.001, 24.0, |t, frame| {
            frame.yaw_rate_radps = 0.3 * (2.0 * t).sin();
            frame.wheels.iter_mut().for_each(|w| w.load_n = 2000.0 - 500.0 * (2.0 * t).sin());
        });
        let found = Slalom::default().measure(&model(), &run);
        assert!((found.peak_yaw_rate_degps.expect("known") - 0.3f64.to_degrees()).abs() < 1e-3);
        let least = 100.0 * 1500.0 / (250.0 * 9.81);
        assert!((found.least_load_percent.expect("known") - least).abs() < 1e-3);
        assert_eq!(found.time_s, None);
        let cut = sampled(0.1, 6.0, |t, frame| frame.x_m = 20.0 * t);
        assert_eq!(Slalom::default().measure(&model(), &cut), SlalomMetrics::default());
        let left = Slalom::default().incomplete_reason(&model(), &cut).expect("120 of 233 m").text();
        assert!(left.contains("(120.0 m of 233.4 m)"), "{left}");
    }

    /// The driver follows the course in a plausible time, and the run ends within 0.1 s after its end.
    #[test]
    fn the_course_ends_behind_the_last_cone() {
        let (model, slalom) = (Arc::new(model()), Slalom::default());
        let dt = TimeStep::from_rate_hz(120.0).expect("valid");
        let mut driver = slalom.driver(&model);
        let run = simulate(&POINT_MASS, &model, &slalom.setup(&model), driver.as_mut(), dt, &mut |_, _| {
            ControlFlow::Continue(())
        });
        let time = slalom.measure(&model, &run).time_s.expect("arrives");
        assert!((11.5..13.0).contains(&time), "{time}");
        assert!(run.last().t_s - time < 0.1);
    }
}
