//! Straight-line acceleration at full throttle.

use skidpad_core::model::LaunchDevice;
use skidpad_core::{Controls, Model};

use super::{KMH_100, Manoeuvre, RUN_START_S, Setup, StartRequirements};
use crate::closed_form::{
    Characteristics, drive_force, drive_shares, launch_force, mean_inverse_radius, peak_slip, standing_force,
};
use crate::driver::{DriverInput, DriverModel, STANDSTILL_SPEED_MPS, StraightKeeper};
use crate::ground_speed;
use crate::metrics::{Metric, metrics};
use crate::trajectory::Trajectory;

/// Full-throttle acceleration from rest. Gearbox and clutch work automatically.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Acceleration {
    /// Control of the throttle.
    pub launch: Launch,
    /// Maximum duration of the run (s).
    pub duration_s: f64,
    /// Time for which a skilled driver holds the engine speed of the standing car before the start (s).
    pub hold_s: f64,
}

/// Control of the throttle during the acceleration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launch {
    /// Full throttle for any wheel slip.
    Full,
    /// Throttle that keeps the driven wheels at the slip of largest tyre force, like a test driver. Before the start
    /// the driver holds the engine speed with the clutch or against the brake, and starts with the torque that the
    /// tyres can transmit.
    Skilled,
}

impl Default for Acceleration {
    fn default() -> Self {
        // A sports car needs about 90 s to come within 0.1 m/s of its top speed.
        Self { launch: Launch::Full, duration_s: 120.0, hold_s: 1.0 }
    }
}

metrics! {
    /// Results of a road test. Times count from the moment at which the car starts to move. American magazines start
    /// the clock after a roll-out of one foot.
    AccelerationMetrics {
        zero_to_60_mph_s, "s", 2, "0-60 mph", "From standstill to 26.82 m/s.";
        zero_to_60_mph_rollout_s, "s", 2, "0-60 mph after 1 ft of roll-out", "Timed from 0.305 m after the start.";
        zero_to_100_kmh_s, "s", 2, "0-100 km/h", "From standstill to 27.78 m/s.";
        zero_to_100_kmh_rollout_s, "s", 2, "0-100 km/h after 1 ft of roll-out", "Timed from 0.305 m after the start.";
        quarter_mile_s, "s", 2, "Quarter mile", "From standstill over 402.3 m.";
        quarter_mile_rollout_s, "s", 2, "Quarter mile after 1 ft of roll-out", "Timed from 0.305 m after the start.";
        quarter_mile_mps, "m/s", 2, "Speed at the quarter mile", "Speed over the ground at 402.3 m.";
        top_speed_mps, "m/s", 2, "Top speed", "Maximum speed over the ground; determined if it increases by less than 0.1 m/s in 10 s.";
        largest_acceleration_mps2, "m/s²", 2, "Maximum acceleration", "Largest mean over 0.25 s, along the path.";
    }
}

/// Roll-out of one foot (m).
const ROLL_OUT_M: f64 = 0.3048;
/// Quarter of a statute mile (m).
const QUARTER_MILE_M: f64 = 402.336;
/// Forward speed above which a run ends (m/s). No road car is faster, but a car without drag accelerates forever.
const MAX_RUN_SPEED_MPS: f64 = 150.0;
/// Speed of 60 mph (m/s).
const MPH_60: f64 = 26.8224;

impl Acceleration {
    /// Computes the metrics of a run, with the times of [`StandingStart`]. Top speed and largest acceleration have
    /// their own conditions (`top_speed`, `max_acceleration`).
    pub fn measure(&self, trajectory: &Trajectory) -> AccelerationMetrics {
        let start = StandingStart::new(trajectory);
        // The clock starts with the car, or after the roll-out.
        let (at_once, rolled_out) = (0.0, ROLL_OUT_M);
        AccelerationMetrics {
            zero_to_60_mph_s: start.time_to_speed(MPH_60, at_once),
            zero_to_60_mph_rollout_s: start.time_to_speed(MPH_60, rolled_out),
            zero_to_100_kmh_s: start.time_to_speed(KMH_100, at_once),
            zero_to_100_kmh_rollout_s: start.time_to_speed(KMH_100, rolled_out),
            quarter_mile_s: start.time_over(QUARTER_MILE_M, at_once),
            quarter_mile_rollout_s: start.time_over(QUARTER_MILE_M, rolled_out),
            quarter_mile_mps: start.speed_at(QUARTER_MILE_M),
            top_speed_mps: top_speed(trajectory),
            largest_acceleration_mps2: max_acceleration(trajectory),
        }
    }
}

/// Times and speeds of a run from rest. Speeds are over the ground, distances in a straight line from the start.
/// Crossings are interpolated between rows.
pub struct StandingStart<'a> {
    trajectory: &'a Trajectory,
    /// Time of the last standstill before the car drives off (s); 0 for a car that rolls at the start.
    start_s: f64,
}

impl<'a> StandingStart<'a> {
    /// Finds the start of the run: the last telemetry row of the standstill at its beginning. Rows with a speed over
    /// the ground up to [`STANDSTILL_SPEED_MPS`] count as standstill.
    pub fn new(trajectory: &'a Trajectory) -> Self {
        let rows_at_rest =
            trajectory.rows().take_while(|row| ground_speed::speed_over_ground(row) <= STANDSTILL_SPEED_MPS);
        Self { trajectory, start_s: rows_at_rest.last().map_or(0.0, |row| row.t_s) }
    }

    /// Returns the time at which the straight-line distance of the car from its first position reaches `distance_m` (m)
    /// (s); `None` if the car does not get so far. This time counts from the first telemetry row of the run.
    fn passing_time(&self, distance_m: f64) -> Option<f64> {
        let distance_from_start = ground_speed::distance_from(self.trajectory.first());
        self.trajectory.first_crossing_up(distance_m, RUN_START_S, distance_from_start)
    }

    /// Returns the time of the run at which the clock starts (s): the end of the roll-out of `roll_out_m` (m), or the
    /// last standstill without a roll-out. `None` if the car does not get so far.
    fn clock_start(&self, roll_out_m: f64) -> Option<f64> {
        if roll_out_m > 0.0 { self.passing_time(roll_out_m) } else { Some(self.start_s) }
    }

    /// Returns the time until the speed `speed_mps` (m/s), counted from the end of the roll-out of `roll_out_m` (m, 0
    /// for none) (s); `None` if the speed or the roll-out is not reached.
    pub fn time_to_speed(&self, speed_mps: f64, roll_out_m: f64) -> Option<f64> {
        let time = self.trajectory.first_crossing_up(speed_mps, RUN_START_S, ground_speed::speed_over_ground)?;
        Some(time - self.clock_start(roll_out_m)?)
    }

    /// Returns the time until the car is `distance_m` (m) from the start, counted from the end of the roll-out of
    /// `roll_out_m` (m, 0 for none) (s); `None` if it does not get so far.
    pub fn time_over(&self, distance_m: f64, roll_out_m: f64) -> Option<f64> {
        Some(self.passing_time(distance_m)? - self.clock_start(roll_out_m)?)
    }

    /// Returns the speed at `distance_m` (m) from the start (m/s); `None` if the car does not get so far.
    pub fn speed_at(&self, distance_m: f64) -> Option<f64> {
        let time = self.passing_time(distance_m)?;
        Some(self.trajectory.interpolate_at(time, ground_speed::speed_over_ground))
    }
}

/// Returns the largest speed over the ground (m/s). `None` if the run is not longer than 10 s, or if this speed exceeds
/// the speed 10 s before the end of the run by 0.1 m/s or more.
fn top_speed(trajectory: &Trajectory) -> Option<f64> {
    let end_time = trajectory.last().t_s;
    let largest_speed = ground_speed::speed_over_ground(&trajectory.peak(RUN_START_S, ground_speed::speed_over_ground));
    let earlier_speed = trajectory.interpolate_at(end_time - 10.0, ground_speed::speed_over_ground);
    (end_time > 10.0 && largest_speed - earlier_speed < 0.1).then_some(largest_speed)
}

/// Computes the largest mean rate of change of the speed over the ground within 0.25 s, or within one longer step
/// (m/s²). `None` for a shorter run. The forward speed is unsuitable: in a spin at 20 m/s and 6 rad/s it changes by up
/// to 120 m/s².
fn max_acceleration(trajectory: &Trajectory) -> Option<f64> {
    // Number of steps in 0.25 s.
    let span_steps = ((0.25 / trajectory.dt_s()).round() as usize).max(1);
    let row_pairs = trajectory.rows().zip(trajectory.rows_from(span_steps));
    let accelerations = row_pairs
        .map(|(a, b)| (ground_speed::speed_over_ground(&b) - ground_speed::speed_over_ground(&a)) / (b.t_s - a.t_s));
    accelerations.max_by(f64::total_cmp)
}

/// Driver that keeps straight. If skilled, it controls the throttle by the slip of the driven wheels.
pub(super) struct AccelerationDriver {
    /// Driven wheels with their slip of largest force (–); empty for full throttle at any slip.
    driven_wheels: Vec<(usize, f64)>,
    /// Throttle controller of the skilled driver.
    slip_controller: SlipController,
    /// Preparation of the start; `None` if there is none.
    preparation: Option<LaunchPreparation>,
    /// Steering controller.
    steering: StraightKeeper,
}

/// Preparation of a start, in which the driver holds the engine speed.
#[derive(Clone, Copy, Debug)]
struct LaunchPreparation {
    /// End of the preparation (s).
    end_s: f64,
    /// Method of holding the engine speed.
    method: LaunchHold,
}

/// Method of holding the engine speed before the start.
#[derive(Clone, Copy, Debug)]
enum LaunchHold {
    /// Pressed clutch, with this engine speed (rad/s).
    Clutch(f64),
    /// Foot brake against a torque converter, with the throttle position of the start.
    Brake,
}

/// Relative range of engine speed over which the throttle goes from open to closed while the speed is held (–).
const ENGINE_SPEED_BAND: f64 = 0.1;

impl LaunchPreparation {
    /// Returns the preparation for a start with the force `force` (N) at the road in first gear, until `end_s` (s).
    /// `None` for a car without an engine. A car with a torque converter is held by the foot brake. With a clutch, the
    /// engine is held at the speed at which the automatic clutch transmits the force. This speed rises from idle speed
    /// to the speed of full engagement in proportion to the clutch torque.
    fn new(model: &Model, force: f64, end_s: f64) -> Option<Self> {
        let engine_drive = model.parts().powertrain.engine()?;
        let method = match &engine_drive.launch_device {
            LaunchDevice::Converter(_) => LaunchHold::Brake,
            LaunchDevice::Clutch(clutch) => {
                let overall_ratio = f64::from(engine_drive.gearbox.ratio(1) * engine_drive.gearbox.efficiency);
                // Torque at the clutch for the force at the road (N m).
                let clutch_torque = force / (overall_ratio * mean_inverse_radius(engine_drive, model.wheels()));
                let [idle_speed, engaged_speed] = [engine_drive.engine.idle_speed, clutch.engaged_speed].map(f64::from);
                // Engine speed at which the automatic clutch transmits this torque (rad/s).
                LaunchHold::Clutch(
                    idle_speed
                        + (engaged_speed - idle_speed) * (clutch_torque / f64::from(clutch.capacity)).clamp(0.0, 1.0),
                )
            }
        };
        Some(Self { end_s, method })
    }

    /// Returns the pedals of the preparation for the next step, in first gear. With a pressed clutch the throttle falls
    /// from 1 to 0 over [`ENGINE_SPEED_BAND`] around the held engine speed; `engine_speed` is the current one (rad/s).
    /// A fully pressed foot brake leaves the throttle at `start_throttle`, the position at the start (–).
    fn controls(self, engine_speed: f64, start_throttle: f64) -> Controls {
        let pedals = match self.method {
            // 0.5: half throttle at the target speed.
            LaunchHold::Clutch(target_speed) => Controls {
                throttle: ((target_speed - engine_speed) / (ENGINE_SPEED_BAND * target_speed) + 0.5).clamp(0.0, 1.0)
                    as f32,
                clutch: Some(1.0),
                ..Controls::default()
            },
            LaunchHold::Brake => Controls { throttle: start_throttle as f32, brake: 1.0, ..Controls::default() },
        };
        Controls { gear: Some(1), ..pedals }
    }
}

/// Slip controller of a skilled driver: PI control of the throttle by the slip that is missing to the best one.
#[derive(Clone, Copy, Debug, Default)]
struct SlipController {
    /// Current throttle (–).
    throttle: f64,
    /// Integral part of the throttle (–, 0 to 1).
    integral: f64,
}

/// Proportional gain: throttle per missing slip relative to the best slip (–). Together with [`SLIP_INTEGRAL_GAIN`] it
/// is slower than the wheel dynamics of cars, so that a launch does not depend on the step length.
const SLIP_PROPORTIONAL_GAIN: f64 = 0.2;
/// Integral gain (1/s).
const SLIP_INTEGRAL_GAIN: f64 = 2.0;
/// Share of the tyre force limit of the standing car that defines the held engine speed (–). The driven wheels get the
/// rest of the torque once the acceleration has increased their load.
const LAUNCH_FORCE_SHARE: f64 = 0.7;
/// Upper limit of the slip in the controller, as a multiple of the best slip (–).
const MAX_RELATIVE_SLIP: f64 = 4.0;
/// Maximum rate of the throttle (strokes per second).
const MAX_THROTTLE_RATE_PER_S: f64 = 10.0;

impl SlipController {
    /// Advances the controller by `dt_s` (s) and returns the throttle (–, 0 to 1). `relative_slip` is the slip over the
    /// slip of the largest tyre force (–), limited to [`MAX_RELATIVE_SLIP`]. With the missing slip
    /// `e = 1 − relative_slip`, the throttle is `I + P e`. The integral `I` changes by 2 e per second within 0 to 1, so
    /// it falls up to three times as fast as it rises. The throttle changes by at most [`MAX_THROTTLE_RATE_PER_S`].
    fn update(&mut self, relative_slip: f64, dt_s: f64) -> f64 {
        let slip_error = 1.0 - relative_slip.min(MAX_RELATIVE_SLIP);
        self.integral = (self.integral + SLIP_INTEGRAL_GAIN * slip_error * dt_s).clamp(0.0, 1.0);
        // Demanded throttle, and the largest change in this step (–).
        let (target_throttle, max_change) =
            ((self.integral + SLIP_PROPORTIONAL_GAIN * slip_error).clamp(0.0, 1.0), MAX_THROTTLE_RATE_PER_S * dt_s);
        self.throttle += (target_throttle - self.throttle).clamp(-max_change, max_change);
        self.throttle
    }
}

impl AccelerationDriver {
    /// Creates the driver of `acceleration`. A skilled driver on driven wheels with a slip curve controls the slip and
    /// prepares the start; any other driver uses full throttle without preparation.
    ///
    /// The slip controller begins with the throttle whose force at the road is [`launch_force`], at most 1. Until
    /// `acceleration.hold_s` the driver holds the engine speed for [`LAUNCH_FORCE_SHARE`] of [`standing_force`], at
    /// most for the full-throttle force in first gear.
    pub(super) fn new(model: &Model, acceleration: &Acceleration) -> Self {
        let torque_shares = drive_shares(model);
        // Driven wheels of a skilled driver; none at full throttle.
        let driven_indices =
            (0..torque_shares.len()).filter(|&i| acceleration.launch == Launch::Skilled && torque_shares[i] > 0.0);
        let driven_wheels: Vec<_> = driven_indices.filter_map(|i| Some((i, peak_slip(model, i)?))).collect();
        let (mut slip_controller, mut preparation) = (SlipController::default(), None);
        if !driven_wheels.is_empty() {
            // Forces at standstill (0.0 m/s) in first gear (1); the minimum avoids a division by zero.
            let (full_throttle_force, traction_limit) =
                (drive_force(model, 0.0, 1).max(f64::MIN_POSITIVE), launch_force(model));
            let start_throttle = (traction_limit / full_throttle_force).min(1.0);
            // With the best slip the throttle is the integral part, so both start with the same value.
            slip_controller = SlipController { throttle: start_throttle, integral: start_throttle };
            preparation = LaunchPreparation::new(
                model,
                (LAUNCH_FORCE_SHARE * standing_force(model)).min(full_throttle_force),
                acceleration.hold_s,
            );
        }
        Self { driven_wheels, slip_controller, preparation, steering: StraightKeeper::new(Characteristics::new(model)) }
    }
}

impl DriverModel for AccelerationDriver {
    /// Keeps straight. During the preparation the driver holds the engine speed in first gear, and the slip controller
    /// does not advance. Afterwards the gearbox shifts automatically. The throttle is then fully open, or follows the
    /// slip controller with the largest slip of a driven wheel relative to its best slip.
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        let steer = self.steering.steer(input) as f32;
        if let Some(preparation) = self.preparation.filter(|preparation| !input.has_reached(preparation.end_s)) {
            return Controls { steer, ..preparation.controls(input.frame.engine_radps, self.slip_controller.throttle) };
        }
        // Slip of wheel `i` relative to its best slip (–).
        let relative_slip = |&(i, best_slip): &(usize, f64)| input.frame.wheels[i].slip_ratio / best_slip;
        // Negative slips count as 0.
        let largest_slip = self.driven_wheels.iter().map(relative_slip).fold(0.0, f64::max);
        let throttle =
            if self.driven_wheels.is_empty() { 1.0 } else { self.slip_controller.update(largest_slip, input.dt_s) };
        Controls { throttle: throttle as f32, steer, ..Controls::default() }
    }
    fn finished(&self, input: &DriverInput<'_>) -> bool {
        input.frame.vx_mps > MAX_RUN_SPEED_MPS
    }
}

impl Manoeuvre for Acceleration {
    fn name(&self) -> &'static str {
        match self.launch {
            Launch::Full => "acceleration",
            Launch::Skilled => "launch",
        }
    }
    fn about(&self) -> String {
        let throttle = match self.launch {
            Launch::Full => "full throttle",
            Launch::Skilled => "throttle at the traction limit",
        };
        format!("{throttle} from rest for {:.0} s, steered straight ahead", self.duration_s)
    }
    /// Returns level ground with the car at rest in first gear.
    fn setup(&self, _model: &Model) -> Setup {
        let mut setup = Setup { duration_s: self.duration_s, ..Setup::flat(0.0) };
        setup.placement.gear = Some(1);
        setup
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::FIXED_SPEED
    }
    fn driver(&self, model: &Model) -> Box<dyn DriverModel> {
        Box::new(AccelerationDriver::new(model, self))
    }
    fn metrics(&self, _model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.measure(trajectory).list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sampled;

    /// Times to 100 km/h, to 60 mph after the roll-out and over the quarter mile, the speed there and the largest
    /// acceleration are those of a constant acceleration of 5 m/s². The top speed is not determined.
    #[test]
    fn constant_acceleration_is_the_school_formula() {
        let a = 5.0;
        let run = sampled(0.01, 15.0, |t, frame| {
            frame.vx_mps = a * t;
            frame.x_m = 0.5 * a * t * t;
        });
        let found = Acceleration::default().measure(&run);
        let close = |value: Option<f64>, expected: f64| {
            assert!((value.expect("reached") - expected).abs() < 2e-3, "{value:?} {expected}");
        };
        let roll_out = (2.0 * ROLL_OUT_M / a).sqrt();
        close(found.zero_to_100_kmh_s, KMH_100 / a);
        close(found.zero_to_60_mph_rollout_s, MPH_60 / a - roll_out);
        close(found.quarter_mile_s, (2.0 * QUARTER_MILE_M / a).sqrt());
        close(found.quarter_mile_mps, (2.0 * QUARTER_MILE_M * a).sqrt());
        close(found.largest_acceleration_mps2, a);
        assert_eq!(found.top_speed_mps, None);
    }

    /// A car spins while it gains 3 m/s² along its path. Its forward speed rises at up to 120 m/s². Largest
    /// acceleration and time to 100 km/h are those along the path. The quarter mile is not reached.
    #[test]
    fn a_spinning_car_accelerates_as_its_path_does() {
        let run = sampled(0.01, 10.0, |t, frame| {
            let (speed, angle) = (20.0 + 3.0 * t, 6.0 * t);
            (frame.vx_mps, frame.vy_mps) = (speed * angle.cos(), -speed * angle.sin());
            frame.x_m = 20.0 * t + 1.5 * t * t;
        });
        let found = Acceleration::default().measure(&run);
        assert!((found.largest_acceleration_mps2.expect("rows") - 3.0).abs() < 1e-9, "{found:?}");
        assert!((found.zero_to_100_kmh_s.expect("reached") - (KMH_100 - 20.0) / 3.0).abs() < 1e-6, "{found:?}");
        assert!(found.quarter_mile_s.is_none() && found.quarter_mile_mps.is_none(), "{found:?}");
    }

    /// A speed that approaches 76 m/s has this top speed.
    #[test]
    fn top_speed_is_told_when_it_is_reached() {
        let run = sampled(0.1, 60.0, |t, frame| frame.vx_mps = 76.0 * (1.0 - (-t / 6.0).exp()));
        let top = Acceleration::default().measure(&run).top_speed_mps.expect("reached");
        assert!((top - 76.0).abs() < 0.01, "{top}");
    }
}
