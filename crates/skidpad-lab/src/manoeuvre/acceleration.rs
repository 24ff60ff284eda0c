//! Straight-line acceleration at full throttle.

use skidpad_core::model::LaunchDevice;
use skidpad_core::{Controls, Model};

use super::{KMH_100, Manoeuvre, Setup, Takes};
use crate::driver::{Driver, DriverInput, STANDSTILL_MPS, StraightKeeper};
use crate::figures::{Figures, drive_force, drive_shares, launch_force, peak_slip, per_radius, standing_force};
use crate::metrics::{Metric, metrics};
use crate::over_ground;
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
const FASTEST_MPS: f64 = 150.0;
/// Speed of 60 mph (m/s).
const MPH_60: f64 = 26.8224;

impl Acceleration {
    /// Computes the metrics of a run.
    pub fn measure(&self, trajectory: &Trajectory) -> AccelerationMetrics {
        let gone = over_ground::distance_from(trajectory.first());
        let start = starts_at(trajectory);
        let since = |time: Option<f64>| Some(time? - start);
        let reached = |level: f64| since(trajectory.rises_to(level, 0.0, over_ground::speed));
        let roll_out = since(trajectory.rises_to(ROLL_OUT_M, 0.0, gone));
        let after = |time: Option<f64>| Some(time? - roll_out?);
        let quarter = since(trajectory.rises_to(QUARTER_MILE_M, 0.0, gone));
        AccelerationMetrics {
            zero_to_60_mph_s: reached(MPH_60),
            zero_to_60_mph_rollout_s: after(reached(MPH_60)),
            zero_to_100_kmh_s: reached(KMH_100),
            zero_to_100_kmh_rollout_s: after(reached(KMH_100)),
            quarter_mile_s: quarter,
            quarter_mile_rollout_s: after(quarter),
            quarter_mile_mps: quarter.map(|t| trajectory.at(start + t, over_ground::speed)),
            top_speed_mps: top_speed(trajectory),
            largest_acceleration_mps2: largest_acceleration(trajectory),
        }
    }
}

/// Returns the time of the last standstill before the car drives off (s); 0 for a car that rolls at the start.
fn starts_at(trajectory: &Trajectory) -> f64 {
    let standing = trajectory.rows().take_while(|row| over_ground::speed(row) <= STANDSTILL_MPS);
    standing.last().map_or(0.0, |row| row.t_s)
}

fn top_speed(trajectory: &Trajectory) -> Option<f64> {
    let end = trajectory.last().t_s;
    let top = over_ground::speed(&trajectory.peak(0.0, over_ground::speed));
    let before = trajectory.at(end - 10.0, over_ground::speed);
    (end > 10.0 && top - before < 0.1).then_some(top)
}

/// Computes the largest rate of change of the speed over the ground (m/s²), averaged over 0.25 s. The forward speed is
/// unsuitable: in a spin at 20 m/s and 6 rad/s it changes by up to 120 m/s².
fn largest_acceleration(trajectory: &Trajectory) -> Option<f64> {
    let span = ((0.25 / trajectory.dt_s()).round() as usize).max(1);
    let pairs = trajectory.rows().zip(trajectory.rows_from(span));
    let rates = pairs.map(|(a, b)| (over_ground::speed(&b) - over_ground::speed(&a)) / (b.t_s - a.t_s));
    rates.max_by(f64::total_cmp)
}

/// Driver that keeps straight. If skilled, it controls the throttle by the slip of the driven wheels.
struct AccelerationDriver {
    /// Driven wheels with their slip of largest force (–); empty for full throttle at any slip.
    driven: Vec<(usize, f64)>,
    /// Throttle controller of the skilled driver.
    foot: Foot,
    /// Preparation of the start; `None` if there is none.
    hold: Option<Hold>,
    keeper: StraightKeeper,
}

/// Preparation of a start, in which the driver holds the engine speed.
#[derive(Clone, Copy, Debug)]
struct Hold {
    /// End of the preparation (s).
    until_s: f64,
    /// Method of holding the engine speed.
    by: Held,
}

/// Method of holding the engine speed before the start.
#[derive(Clone, Copy, Debug)]
enum Held {
    /// Pressed clutch, with this engine speed (rad/s).
    Clutch(f64),
    /// Foot brake against a torque converter, with the throttle position of the start.
    Brake,
}

/// Relative range of engine speed over which the throttle goes from open to closed while the speed is held (–).
const REVS_BAND: f64 = 0.1;

impl Hold {
    /// Returns the preparation for a start with the force `force` (N) at the road, until `until_s` (s); `None` for a
    /// car without an engine. The clutch engine speed is the one at which the clutch transmits that force.
    fn of(model: &Model, force: f64, until_s: f64) -> Option<Self> {
        let drive = model.parts().powertrain.engine()?;
        let by = match &drive.launch_device {
            LaunchDevice::Converter(_) => Held::Brake,
            LaunchDevice::Clutch(clutch) => {
                let ratio = f64::from(drive.gearbox.ratio(1) * drive.gearbox.efficiency);
                let torque = force / (ratio * per_radius(drive, model.wheels()));
                let [idle, engaged] = [drive.engine.idle, clutch.engaged_speed].map(f64::from);
                Held::Clutch(idle + (engaged - idle) * (torque / f64::from(clutch.capacity)).clamp(0.0, 1.0))
            }
        };
        Some(Self { until_s, by })
    }

    /// Returns the pedals for the next step. `speed` is the engine speed (rad/s), `throttle` the position of the start
    /// (–).
    fn controls(self, speed: f64, throttle: f64) -> Controls {
        let pedals = match self.by {
            Held::Clutch(revs) => Controls {
                throttle: ((revs - speed) / (REVS_BAND * revs) + 0.5).clamp(0.0, 1.0) as f32,
                clutch: Some(1.0),
                ..Controls::default()
            },
            Held::Brake => Controls { throttle: throttle as f32, brake: 1.0, ..Controls::default() },
        };
        Controls { gear: Some(1), ..pedals }
    }
}

/// Slip controller of a skilled driver: PI control of the throttle by the slip that is missing to the best one.
#[derive(Clone, Copy, Debug, Default)]
struct Foot {
    throttle: f64,
    rest: f64,
}

/// Proportional gain: throttle per missing slip relative to the best slip (–). Together with [`REST_BY_SLIP`] it is
/// slower than the wheel dynamics of cars, so that a launch does not depend on the step length.
const BY_SLIP: f64 = 0.2;
/// Integral gain (1/s).
const REST_BY_SLIP: f64 = 2.0;
/// Share of the tyre force limit of the standing car that defines the held engine speed (–). The driven wheels get the
/// rest of the torque once the acceleration has increased their load.
const HELD_SHARE: f64 = 0.7;
/// Upper limit of the slip in the controller, as a multiple of the best slip (–).
const MOST_SLIP: f64 = 4.0;
/// Maximum rate of the throttle (strokes per second).
const STROKES: f64 = 10.0;

impl Foot {
    /// Advances the controller by `dt_s` (s) and returns the throttle (–). `share` is the slip relative to the best
    /// slip (–).
    fn press(&mut self, share: f64, dt_s: f64) -> f64 {
        let missing = 1.0 - share.min(MOST_SLIP);
        self.rest = (self.rest + REST_BY_SLIP * missing * dt_s).clamp(0.0, 1.0);
        let (wanted, reach) = ((self.rest + BY_SLIP * missing).clamp(0.0, 1.0), STROKES * dt_s);
        self.throttle += (wanted - self.throttle).clamp(-reach, reach);
        self.throttle
    }
}

impl AccelerationDriver {
    fn new(model: &Model, of: &Acceleration) -> Self {
        let shares = drive_shares(model);
        let driven = (0..shares.len()).filter(|&i| of.launch == Launch::Skilled && shares[i] > 0.0);
        let driven: Vec<_> = driven.filter_map(|i| Some((i, peak_slip(model, i)?))).collect();
        let (mut foot, mut hold) = (Foot::default(), None);
        if !driven.is_empty() {
            let (full, limit) = (drive_force(model, 0.0, 1).max(f64::MIN_POSITIVE), launch_force(model));
            let start = (limit / full).min(1.0);
            foot = Foot { throttle: start, rest: start };
            hold = Hold::of(model, (HELD_SHARE * standing_force(model)).min(full), of.hold_s);
        }
        Self { driven, foot, hold, keeper: StraightKeeper::new(Figures::of(model)) }
    }
}

impl Driver for AccelerationDriver {
    fn drive(&mut self, now: &DriverInput<'_>) -> Controls {
        let steer = self.keeper.steer(now) as f32;
        if let Some(hold) = self.hold.filter(|hold| !now.is_from(hold.until_s)) {
            return Controls { steer, ..hold.controls(now.frame.engine_radps, self.foot.throttle) };
        }
        let share = |&(i, best): &(usize, f64)| now.frame.wheels[i].slip_ratio / best;
        let worst = self.driven.iter().map(share).fold(0.0, f64::max);
        let throttle = if self.driven.is_empty() { 1.0 } else { self.foot.press(worst, now.dt_s) };
        Controls { throttle: throttle as f32, steer, ..Controls::default() }
    }
    fn finished(&self, now: &DriverInput<'_>) -> bool {
        now.frame.vx_mps > FASTEST_MPS
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
    fn setup(&self, _model: &Model) -> Setup {
        let mut setup = Setup { duration_s: self.duration_s, ..Setup::flat(0.0) };
        setup.placement.gear = Some(1);
        setup
    }
    fn takes(&self) -> Takes {
        Takes::OWN_SPEED
    }
    fn driver(&self, model: &Model) -> Box<dyn Driver> {
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
