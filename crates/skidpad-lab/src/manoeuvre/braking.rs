//! Straight-line braking to a standstill, based on ISO 21994 and UN R13-H.
//!
//! The initial speed is exact, so the distance needs no correction to the nominal speed.

use skidpad_core::{Controls, Frame, Model};

use super::{KMH_100, Manoeuvre, RUN_START_S, Setup, StartRequirements};
use crate::closed_form::{peak_slip, threshold_pedal};
use crate::driver::{DriverInput, DriverModel, OpenLoop, STANDSTILL_SPEED_MPS, UntilStop};
use crate::ground_speed;
use crate::metrics::{Metric, metrics};
use crate::trajectory::Trajectory;

/// Braking from t = 0 on a straight, in neutral.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Braking {
    /// Speed at which the pedal is pressed (m/s), > 0.
    pub initial_speed_mps: f64,
    /// Pedal position (–), 0 to 1; the largest position of a driver at the threshold of locking.
    pub pedal: f64,
    /// Control of the pedal.
    pub technique: PedalTechnique,
    /// Time recorded after the standstill (s), ≥ 0.
    pub dwell_s: f64,
}

/// Control of the brake pedal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PedalTechnique {
    /// Constant pedal position. Wheels may lock; anti-lock brakes act if the car has them.
    Constant,
    /// Pedal that keeps the wheel with the largest slip at the peak of its tyre force, like a test driver or anti-lock
    /// brakes that act on all wheels together.
    Threshold,
}

impl Default for Braking {
    fn default() -> Self {
        Self { initial_speed_mps: KMH_100, pedal: 1.0, technique: PedalTechnique::Constant, dwell_s: 2.0 }
    }
}

metrics! {
    /// Stopping distance, decelerations and motion after the standstill.
    BrakingMetrics {
        distance_m, "m", 2, "Stopping distance", "From pedal application to the first standstill.";
        stopping_time_s, "s", 3, "Stopping time", "From pedal application to the first standstill.";
        mean_deceleration_mps2, "m/s²", 3, "Mean deceleration over distance", "v0² / 2 s.";
        mfdd_mps2, "m/s²", 3, "Mean fully developed deceleration", "UN R13-H: from 0.8 to 0.1 of the initial speed, over distance.";
        largest_pitch_deg, "deg", 3, "Maximum pitch angle", "Positive nose down.";
        lateral_drift_mm, "mm", 1, "Maximum lateral deviation", "Largest distance from the straight line.";
        rollback_mm, "mm", 2, "Rollback", "Distance from the farthest point to the point of rest.";
        time_to_rest_s, "s", 3, "Time from standstill to rest", "From the first standstill until the speed stays below 10 mm/s.";
    }
}

/// Speed below which a stopped car counts as at rest (m/s).
const REST_SPEED_MPS: f64 = 0.01;

impl Braking {
    /// Computes the metrics of a run. Distances are along the initial direction, including the height difference of a
    /// slope. The stop is the first time at which the signed speed over the ground (negative while the car rolls back)
    /// falls to [`STANDSTILL_SPEED_MPS`]. Without a stop, distance, time, mean deceleration, rollback and time to rest
    /// are `None`. The rollback is the distance from the farthest point of the run to the last one. Pitch is signed,
    /// drift is a magnitude; both are the largest values of the whole run.
    pub fn measure(&self, trajectory: &Trajectory) -> BrakingMetrics {
        let start_pose = StartPose::new(trajectory.first());
        let distance_from_start = |f: &Frame| start_pose.longitudinal_distance(f);
        let stop_time = trajectory.first_crossing_down(
            STANDSTILL_SPEED_MPS,
            RUN_START_S,
            ground_speed::signed_speed(trajectory.first().yaw_rad),
        );
        let distance = stop_time.map(|t| trajectory.interpolate_at(t, distance_from_start));
        let initial_speed = ground_speed::speed_over_ground(trajectory.first());
        BrakingMetrics {
            distance_m: distance,
            stopping_time_s: stop_time,
            mean_deceleration_mps2: distance.map(|s| initial_speed * initial_speed / (2.0 * s)),
            mfdd_mps2: mfdd(trajectory, initial_speed, distance_from_start),
            largest_pitch_deg: Some(trajectory.peak(RUN_START_S, |f| f.pitch_rad).pitch_rad.to_degrees()),
            lateral_drift_mm: Some(trajectory.peak_magnitude(|f| start_pose.lateral_distance(f)) * 1e3),
            // Distance of the farthest row less that of the last one.
            rollback_mm: stop_time.map(|_| {
                (distance_from_start(&trajectory.peak(RUN_START_S, distance_from_start))
                    - distance_from_start(trajectory.last()))
                    * 1e3
            }),
            time_to_rest_s: stop_time.and_then(|t| time_to_rest(trajectory, t)),
        }
    }
}

/// Position and horizontal direction of the car at the start.
#[derive(Clone, Copy)]
struct StartPose {
    /// Position, world axes (m).
    position: [f64; 3],
    /// Unit vector of the heading, world axes.
    direction: [f64; 2],
}

impl StartPose {
    /// Reads position and heading from the first telemetry row.
    fn new(first: &Frame) -> Self {
        Self { position: [first.x_m, first.y_m, first.z_m], direction: [first.yaw_rad.cos(), first.yaw_rad.sin()] }
    }

    /// Computes the signed distance from the start along the initial direction (m), including the height difference of
    /// a slope.
    fn longitudinal_distance(&self, f: &Frame) -> f64 {
        let horizontal_distance =
            (f.x_m - self.position[0]) * self.direction[0] + (f.y_m - self.position[1]) * self.direction[1];
        horizontal_distance.hypot(f.z_m - self.position[2]).copysign(horizontal_distance)
    }

    /// Computes the horizontal distance from the initial straight line (m), positive to the left.
    fn lateral_distance(&self, f: &Frame) -> f64 {
        (f.y_m - self.position[1]) * self.direction[0] - (f.x_m - self.position[0]) * self.direction[1]
    }
}

/// Computes the mean fully developed deceleration `(v_b² − v_e²) / 2 (s_e − s_b)` of UN R13-H, in SI units (m/s²). The
/// speeds are `v_b = 0.8 v0` and `v_e = 0.1 v0`, with the initial speed v0 in `initial_speed` (m/s).
/// `distance_from_start` returns the distance s of a telemetry row (m). `None` if one of both speeds is not reached.
fn mfdd(trajectory: &Trajectory, initial_speed: f64, distance_from_start: impl Fn(&Frame) -> f64) -> Option<f64> {
    // 0.8 and 0.1: begin and end of the averaged range, as shares of the initial speed.
    let [begin_time, end_time] = [0.8, 0.1].map(|speed_ratio| {
        trajectory.first_crossing_down(speed_ratio * initial_speed, RUN_START_S, ground_speed::speed_over_ground)
    });
    let distance = trajectory.interpolate_at(end_time?, &distance_from_start)
        - trajectory.interpolate_at(begin_time?, &distance_from_start);
    // 0.8² − 0.1².
    Some((0.64 - 0.01) * initial_speed * initial_speed / (2.0 * distance))
}

/// Returns the time from `stop_s` (s) until the car never moves faster than [`REST_SPEED_MPS`] again (s, ≥ 0). `None`
/// if the car still moves in the last telemetry row, or never moved.
fn time_to_rest(trajectory: &Trajectory, stop_s: f64) -> Option<f64> {
    let last_moving_row = trajectory.last_row_where(|f| ground_speed::speed_over_ground(f) > REST_SPEED_MPS)?;
    trajectory.row(last_moving_row + 1).map(|f| (f.t_s - stop_s).max(0.0))
}

/// Driver that brakes in neutral, straight ahead, with the most loaded tyre at the peak of its force.
struct ThresholdDriver {
    /// Braked wheels with their slip of largest force (–, > 0).
    braked_wheels: Vec<(usize, f64)>,
    /// Integral part of the pedal position (–, 0 to `max_pedal`).
    integral: f64,
    /// Largest pedal position (–).
    max_pedal: f64,
}

/// Slip that the driver aims at, relative to the slip of largest force (–). Below 1, because a wheel beyond the peak
/// locks.
const TARGET_RELATIVE_SLIP: f64 = 0.9;
/// Proportional gain: pedal position per missing slip relative to the slip of largest force (–).
const SLIP_PROPORTIONAL_GAIN: f64 = 0.2;
/// Integral gain (1/s).
const SLIP_INTEGRAL_GAIN: f64 = 1.0;
/// Upper limit of the slip in the controller, as a multiple of the slip of largest force (–).
const MAX_RELATIVE_SLIP: f64 = 3.0;
/// Speed below which the gains fall in proportion to the speed (m/s), because slips then respond faster.
const FULL_GAIN_SPEED_MPS: f64 = 20.0;

impl ThresholdDriver {
    /// Creates the driver. The integral starts with the pedal position of [`threshold_pedal`], at most `max_pedal`.
    /// Cars without brakes and cars that would lift their rear axle start with `max_pedal`. Without a braked wheel on a
    /// tyre with a slip curve the pedal stays at its start position.
    fn new(model: &Model, max_pedal: f64) -> Self {
        let has_brake = |i: &usize| model.wheels()[*i].brake_torque > 0.0;
        let braked_wheels = (0..model.wheels().len()).filter(has_brake).filter_map(|i| Some((i, peak_slip(model, i)?)));
        let integral = threshold_pedal(model).unwrap_or(max_pedal).min(max_pedal);
        Self { braked_wheels: braked_wheels.collect(), integral, max_pedal }
    }
}

impl DriverModel for ThresholdDriver {
    /// Presses the pedal by `I + P e`, from 0 to `max_pedal`. `e` is the slip that is missing to the target slip on the
    /// wheel with the largest slip relative to its slip of largest force. `I` changes by `e` per second. Both gains
    /// fall in proportion to the speed below [`FULL_GAIN_SPEED_MPS`].
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        let relative_slip = |&(i, best_slip): &(usize, f64)| -input.frame.wheels[i].slip_ratio / best_slip;
        let largest_slip = self.braked_wheels.iter().map(relative_slip).fold(0.0, f64::max);
        let slip_error = if self.braked_wheels.is_empty() {
            0.0
        } else {
            TARGET_RELATIVE_SLIP - largest_slip.min(MAX_RELATIVE_SLIP)
        };
        let gain_share = (input.frame.vx_mps / FULL_GAIN_SPEED_MPS).clamp(0.0, 1.0);
        let integral_change = SLIP_INTEGRAL_GAIN * slip_error * gain_share * input.dt_s;
        self.integral = (self.integral + integral_change).clamp(0.0, self.max_pedal);
        let pedal = (self.integral + SLIP_PROPORTIONAL_GAIN * slip_error * gain_share).clamp(0.0, self.max_pedal);
        Controls { brake: pedal as f32, ..Controls::parked() }
    }
}

impl Manoeuvre for Braking {
    fn name(&self) -> &'static str {
        match self.technique {
            PedalTechnique::Constant => "braking",
            PedalTechnique::Threshold => "threshold-braking",
        }
    }
    fn about(&self) -> String {
        let pedal = match self.technique {
            PedalTechnique::Constant => format!("to {:.0} %", self.pedal * 100.0),
            PedalTechnique::Threshold => "at the threshold of locking".into(),
        };
        let [speed_mps, speed_kmh] = [self.initial_speed_mps, self.initial_speed_mps * 3.6];
        format!("brake pedal {pedal} at {speed_mps:.1} m/s ({speed_kmh:.0} km/h), straight ahead, in neutral")
    }
    fn setup(&self, _model: &Model) -> Setup {
        // A run that does not stop ends after 60 s.
        Setup { duration_s: 60.0, ..Setup::flat(self.initial_speed_mps) }
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::above(STANDSTILL_SPEED_MPS)
    }
    /// Creates a driver that presses the brake pedal from the first step in neutral, without steering, and ends the
    /// run [`Braking::dwell_s`] after the first standstill.
    fn driver(&self, model: &Model) -> Box<dyn DriverModel> {
        let pedal = self.pedal as f32;
        let press_pedal = OpenLoop(move |_: &DriverInput<'_>| Controls { brake: pedal, ..Controls::parked() });
        match self.technique {
            PedalTechnique::Constant => Box::new(UntilStop::new(press_pedal, self.dwell_s)),
            PedalTechnique::Threshold => {
                Box::new(UntilStop::new(ThresholdDriver::new(model, self.pedal), self.dwell_s))
            }
        }
    }
    fn metrics(&self, _model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.measure(trajectory).list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sampled;

    /// Distance, time and both decelerations are those of a constant deceleration; there is no rollback, and the car is
    /// at rest at once.
    #[test]
    fn constant_deceleration_is_the_school_formula() {
        let (speed, a) = (KMH_100, 9.81);
        let run = sampled(1.0 / 240.0, 4.0, |t, frame| {
            let t = t.min(speed / a);
            frame.vx_mps = speed - a * t;
            frame.x_m = speed * t - 0.5 * a * t * t;
        });
        let found = Braking::default().measure(&run);
        let close = |value: Option<f64>, expected: f64, within: f64| {
            assert!((value.expect("stops") - expected).abs() < within, "{value:?} {expected}");
        };
        close(found.distance_m, speed * speed / (2.0 * a), 1e-3);
        close(found.stopping_time_s, speed / a, 2e-3);
        close(found.mean_deceleration_mps2, a, 1e-3);
        close(found.mfdd_mps2, a, 1e-3);
        close(found.rollback_mm, 0.0, 1e-9);
        close(found.time_to_rest_s, 0.0, 0.005);
    }

    /// The rollback is 6 mm and the time to rest 0.2 s.
    #[test]
    fn rollback_and_rest_are_seen() {
        // The car stops at t = 1, swings back 6 mm until t = 1.2, then stands.
        let run = sampled(0.001, 3.0, |t, frame| {
            (frame.vx_mps, frame.x_m) = match t {
                t if t < 1.0 => (10.0 * (1.0 - t), 10.0 * t - 5.0 * t * t),
                t if t < 1.2 => (-0.03, 5.0 - 0.03 * (t - 1.0)),
                _ => (0.0, 4.994),
            };
        });
        let found = Braking { initial_speed_mps: 10.0, ..Braking::default() }.measure(&run);
        assert!((found.rollback_mm.expect("stops") - 6.0).abs() < 1e-6);
        assert!((found.time_to_rest_s.expect("rests") - 0.2).abs() < 2e-3);
    }

    #[test]
    fn a_car_that_does_not_stop_has_no_stopping_distance() {
        let run = sampled(0.1, 2.0, |_, frame| frame.vx_mps = 10.0);
        assert_eq!(Braking::default().measure(&run).distance_m, None);
    }

    /// The car turns sideways at 1 s and slides on. It has stopped when the sliding ends; only the distance ahead
    /// counts. The stopping time is 4 s and the mean fully developed deceleration 5 m/s².
    #[test]
    fn a_car_that_spins_has_not_stopped() {
        let run = sampled(0.001, 5.0, |t, frame| {
            let speed = (20.0 - 5.0 * t).max(0.0);
            (frame.vx_mps, frame.vy_mps) = if t < 1.0 { (speed, 0.0) } else { (0.0, speed) };
            frame.x_m = 20.0 * t.min(4.0) - 2.5 * t.min(4.0).powi(2);
        });
        let found = Braking { initial_speed_mps: 20.0, ..Braking::default() }.measure(&run);
        assert!((found.stopping_time_s.expect("stops") - 4.0).abs() < 2e-3, "{found:?}");
        assert!((found.mfdd_mps2.expect("stops") - 5.0).abs() < 1e-6, "{found:?}");
    }

    /// The deceleration is `a = v² / 2 s` with the distance along a slope of 20°. Both decelerations have the value of
    /// the motion, 10 m/s².
    #[test]
    fn ways_lead_along_slopes() {
        let run = sampled(0.001, 3.0, |t, frame| {
            let (t, (sin, cos)) = (t.min(2.0), 20f64.to_radians().sin_cos());
            let gone = 20.0 * t - 5.0 * t * t;
            (frame.vx_mps, frame.x_m, frame.z_m) = (20.0 - 10.0 * t, gone * cos, gone * sin);
        });
        let found = Braking { initial_speed_mps: 20.0, ..Braking::default() }.measure(&run);
        assert!((found.mean_deceleration_mps2.expect("stops") - 10.0).abs() < 1e-4, "{found:?}");
        assert!((found.mfdd_mps2.expect("stops") - 10.0).abs() < 1e-6, "{found:?}");
    }
}
