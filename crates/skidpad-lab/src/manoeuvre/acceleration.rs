//! Straight-line acceleration at full throttle.

use skidpad_core::model::LaunchDevice;
use skidpad_core::{Controls, Model};

use super::{KMH_100, Manoeuvre, Setup, StartRequirements};
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
        zero_to_60_mph_rollout_s, "s", 2, "0-60 mph after 1 ft of roll-out", "The same, from 0.305 m on.";
        zero_to_100_kmh_s, "s", 2, "0-100 km/h", "From standstill to 27.78 m/s.";
        zero_to_100_kmh_rollout_s, "s", 2, "0-100 km/h after 1 ft of roll-out", "The same, from 0.305 m on.";
        quarter_mile_s, "s", 2, "Quarter mile", "From standstill over 402.3 m.";
        quarter_mile_rollout_s, "s", 2, "Quarter mile after 1 ft of roll-out", "The same, from 0.305 m on.";
        quarter_mile_mps, "m/s", 2, "Speed at the quarter mile", "Speed over the ground at 402.3 m.";
        top_speed_mps, "m/s", 2, "Top speed", "Largest speed over the ground, once it grows by less than 0.1 m/s in 10 s.";
        largest_acceleration_mps2, "m/s²", 2, "Largest acceleration", "Of all means over 0.25 s, along the path.";
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
    /// Computes the metrics of a run. Speeds are over the ground, distances in a straight line from the start. Times
    /// count from the last standstill before the car drives off, those with roll-out from the moment at which it has
    /// covered one foot. A time, and the speed at the quarter mile, is `None` if its speed or distance is not
    /// reached.
    pub fn measure(&self, trajectory: &Trajectory) -> AccelerationMetrics {
        let gone = ground_speed::distance_from(trajectory.first());
        let start = start_time(trajectory);
        let since = |time: Option<f64>| Some(time? - start);
        let reached = |level: f64| since(trajectory.first_crossing_up(level, 0.0, ground_speed::speed_over_ground));
        let roll_out = since(trajectory.first_crossing_up(ROLL_OUT_M, 0.0, gone));
        // Time since the end of the roll-out.
        let after = |time: Option<f64>| Some(time? - roll_out?);
        let quarter = since(trajectory.first_crossing_up(QUARTER_MILE_M, 0.0, gone));
        AccelerationMetrics {
            zero_to_60_mph_s: reached(MPH_60),
            zero_to_60_mph_rollout_s: after(reached(MPH_60)),
            zero_to_100_kmh_s: reached(KMH_100),
            zero_to_100_kmh_rollout_s: after(reached(KMH_100)),
            quarter_mile_s: quarter,
            quarter_mile_rollout_s: after(quarter),
            quarter_mile_mps: quarter.map(|t| trajectory.interpolate_at(start + t, ground_speed::speed_over_ground)),
            top_speed_mps: top_speed(trajectory),
            largest_acceleration_mps2: max_acceleration(trajectory),
        }
    }
}

/// Returns the time of the last standstill before the car drives off (s); 0 for a car that rolls at the start.
fn start_time(trajectory: &Trajectory) -> f64 {
    let standing = trajectory.rows().take_while(|row| ground_speed::speed_over_ground(row) <= STANDSTILL_SPEED_MPS);
    standing.last().map_or(0.0, |row| row.t_s)
}

/// Returns the largest speed over the ground (m/s); `None` if the run is not longer than 10 s or if this speed
/// exceeds the one 10 s before the end by 0.1 m/s or more.
fn top_speed(trajectory: &Trajectory) -> Option<f64> {
    let end = trajectory.last().t_s;
    let top = ground_speed::speed_over_ground(&trajectory.peak(0.0, ground_speed::speed_over_ground));
    let before = trajectory.interpolate_at(end - 10.0, ground_speed::speed_over_ground);
    (end > 10.0 && top - before < 0.1).then_some(top)
}

/// Computes the largest rate of change of the speed over the ground (m/s²), averaged over 0.25 s, at least one step;
/// `None` for a shorter run. The forward speed is unsuitable: in a spin at 20 m/s and 6 rad/s it changes by up to 120
/// m/s².
fn max_acceleration(trajectory: &Trajectory) -> Option<f64> {
    let span = ((0.25 / trajectory.dt_s()).round() as usize).max(1);
    let pairs = trajectory.rows().zip(trajectory.rows_from(span));
    let rates = pairs
        .map(|(a, b)| (ground_speed::speed_over_ground(&b) - ground_speed::speed_over_ground(&a)) / (b.t_s - a.t_s));
    rates.max_by(f64::total_cmp)
}

/// Driver that keeps straight. If skilled, it controls the throttle by the slip of the driven wheels.
struct AccelerationDriver {
    /// Driven wheels with their slip of largest force (–); empty for full throttle at any slip.
    driven: Vec<(usize, f64)>,
    /// Throttle controller of the skilled driver.
    slip_controller: SlipController,
    /// Preparation of the start; `None` if there is none.
    preparation: Option<LaunchPreparation>,
    /// Steering controller.
    keeper: StraightKeeper,
}

/// Preparation of a start, in which the driver holds the engine speed.
#[derive(Clone, Copy, Debug)]
struct LaunchPreparation {
    /// End of the preparation (s).
    until_s: f64,
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
    /// Returns the preparation for a start with the force `force` (N) at the road in first gear, until `until_s` (s);
    /// `None` for a car without an engine. A car with a torque converter is held by the foot brake. With a clutch the
    /// engine speed is held at the one at which the automatic clutch transmits the force: from idle to full
    /// engagement in proportion to the torque.
    fn of(model: &Model, force: f64, until_s: f64) -> Option<Self> {
        let drive = model.parts().powertrain.engine()?;
        let by = match &drive.launch_device {
            LaunchDevice::Converter(_) => LaunchHold::Brake,
            LaunchDevice::Clutch(clutch) => {
                let ratio = f64::from(drive.gearbox.ratio(1) * drive.gearbox.efficiency);
                // Torque at the clutch (N m).
                let torque = force / (ratio * mean_inverse_radius(drive, model.wheels()));
                let [idle, engaged] = [drive.engine.idle_speed, clutch.engaged_speed].map(f64::from);
                LaunchHold::Clutch(idle + (engaged - idle) * (torque / f64::from(clutch.capacity)).clamp(0.0, 1.0))
            }
        };
        Some(Self { until_s, method: by })
    }

    /// Returns the pedals for the next step, in first gear. With a pressed clutch the throttle falls from 1 to 0 over
    /// [`ENGINE_SPEED_BAND`] around the held engine speed. With the foot brake fully pressed it is `throttle`, the
    /// position at the start (–). `speed` is the engine speed (rad/s).
    fn controls(self, speed: f64, throttle: f64) -> Controls {
        let pedals = match self.method {
            LaunchHold::Clutch(revs) => Controls {
                throttle: ((revs - speed) / (ENGINE_SPEED_BAND * revs) + 0.5).clamp(0.0, 1.0) as f32,
                clutch: Some(1.0),
                ..Controls::default()
            },
            LaunchHold::Brake => Controls { throttle: throttle as f32, brake: 1.0, ..Controls::default() },
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

/// Proportional gain: throttle per missing slip relative to the best slip (–). Together with [`SLIP_INTEGRAL_GAIN`] it is
/// slower than the wheel dynamics of cars, so that a launch does not depend on the step length.
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
    /// Advances the controller by `dt_s` (s) and returns the throttle (–, 0 to 1). `share` is the slip relative to
    /// the best slip (–). With the missing slip `e = 1 − share`, the throttle is `I + P e`, where `I` grows by 2 e
    /// per second within 0 to 1. Its change is limited to [`MAX_THROTTLE_RATE_PER_S`], and `share` to
    /// [`MAX_RELATIVE_SLIP`].
    fn update(&mut self, share: f64, dt_s: f64) -> f64 {
        let missing = 1.0 - share.min(MAX_RELATIVE_SLIP);
        self.integral = (self.integral + SLIP_INTEGRAL_GAIN * missing * dt_s).clamp(0.0, 1.0);
        let (wanted, reach) =
            ((self.integral + SLIP_PROPORTIONAL_GAIN * missing).clamp(0.0, 1.0), MAX_THROTTLE_RATE_PER_S * dt_s);
        self.throttle += (wanted - self.throttle).clamp(-reach, reach);
        self.throttle
    }
}

impl AccelerationDriver {
    /// Creates the driver of `of`. A skilled driver begins with the throttle whose force is that of [`launch_force`],
    /// as controller state. It prepares the start with [`LAUNCH_FORCE_SHARE`] of [`standing_force`] until
    /// `of.hold_s`. Without slip control (full throttle, no driven wheel, or tyres without a slip curve) there is no
    /// preparation.
    fn new(model: &Model, of: &Acceleration) -> Self {
        let shares = drive_shares(model);
        let driven = (0..shares.len()).filter(|&i| of.launch == Launch::Skilled && shares[i] > 0.0);
        let driven: Vec<_> = driven.filter_map(|i| Some((i, peak_slip(model, i)?))).collect();
        let (mut foot, mut hold) = (SlipController::default(), None);
        if !driven.is_empty() {
            let (full, limit) = (drive_force(model, 0.0, 1).max(f64::MIN_POSITIVE), launch_force(model));
            let start = (limit / full).min(1.0);
            foot = SlipController { throttle: start, integral: start };
            hold = LaunchPreparation::of(model, (LAUNCH_FORCE_SHARE * standing_force(model)).min(full), of.hold_s);
        }
        Self {
            driven,
            slip_controller: foot,
            preparation: hold,
            keeper: StraightKeeper::new(Characteristics::new(model)),
        }
    }
}

impl DriverModel for AccelerationDriver {
    /// Keeps straight. During the preparation the driver holds the engine speed. Then the throttle is fully open, or
    /// follows the slip controller with the largest slip of the driven wheels relative to their best slip. The
    /// gearbox shifts automatically.
    fn drive(&mut self, now: &DriverInput<'_>) -> Controls {
        let steer = self.keeper.steer(now) as f32;
        if let Some(hold) = self.preparation.filter(|hold| !now.has_reached(hold.until_s)) {
            return Controls { steer, ..hold.controls(now.frame.engine_radps, self.slip_controller.throttle) };
        }
        let share = |&(i, best): &(usize, f64)| now.frame.wheels[i].slip_ratio / best;
        // Negative slips count as 0.
        let worst = self.driven.iter().map(share).fold(0.0, f64::max);
        let throttle = if self.driven.is_empty() { 1.0 } else { self.slip_controller.update(worst, now.dt_s) };
        Controls { throttle: throttle as f32, steer, ..Controls::default() }
    }
    fn finished(&self, now: &DriverInput<'_>) -> bool {
        now.frame.vx_mps > MAX_RUN_SPEED_MPS
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
            Launch::Skilled => "throttle at the limit of traction",
        };
        format!("{throttle} from rest for {:.0} s, kept straight", self.duration_s)
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

    /// A car spins while it gains 3 m/s² along its path. Its forward speed rises at up to 120 m/s².
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

    #[test]
    fn top_speed_is_told_when_it_is_reached() {
        let run = sampled(0.1, 60.0, |t, frame| frame.vx_mps = 76.0 * (1.0 - (-t / 6.0).exp()));
        let top = Acceleration::default().measure(&run).top_speed_mps.expect("reached");
        assert!((top - 76.0).abs() < 0.01, "{top}");
    }
}
