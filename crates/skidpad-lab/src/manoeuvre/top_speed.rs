//! Top speed in each forward gear: the steady speed at full throttle on a level straight.

use skidpad_core::{Controls, Frame, Model};

use super::{Manoeuvre, Setup, StartRequirements};
use crate::closed_form::{Characteristics, drive_force, resistance};
use crate::driver::{DriverInput, DriverModel, StraightKeeper, TorqueSpeedController};
use crate::ground_speed;
use crate::metrics::Metric;
use crate::trajectory::Trajectory;

/// Search for the steady speed of every forward gear, from the lowest. Wheel torques bring the car close to the
/// expected speed; then it drives at full throttle in the gear until its speed is steady.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TopSpeed {
    /// Largest rate of the speed that counts as steady (m/s²), > 0: range of the speed within the averaging time, over
    /// this time.
    pub steady_rate_mps2: f64,
    /// Time over which rate and speed are averaged (s), > 0.
    pub averaging_time_s: f64,
    /// Longest time at full throttle in one gear (s).
    pub gear_time_s: f64,
}

impl Default for TopSpeed {
    fn default() -> Self {
        // A sports car near its top speed approaches the balance with a time constant of 10 to 25 s, so that a rate of
        // 0.002 m/s² leaves at most 0.05 m/s.
        Self { steady_rate_mps2: 0.002, averaging_time_s: 4.0, gear_time_s: 120.0 }
    }
}

/// Steady speed of one gear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GearTopSpeed {
    /// Gear, from 1.
    pub gear: i8,
    /// Steady speed over the ground (m/s); `None` if the speed was not steady at the end, or the gear was not driven.
    pub speed_mps: Option<f64>,
    /// Engine speed there (rad/s); `None` without a steady speed.
    pub engine_radps: Option<f64>,
}

/// Top speeds of all gears.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TopSpeedMetrics {
    /// Steady speeds, from the lowest gear.
    pub gears: Vec<GearTopSpeed>,
}

impl TopSpeedMetrics {
    /// Returns the gear with the highest steady speed; `None` if no gear has one.
    pub fn fastest(&self) -> Option<GearTopSpeed> {
        let steady = self.gears.iter().filter(|gear| gear.speed_mps.is_some());
        steady.max_by(|a, b| a.speed_mps.unwrap_or(0.0).total_cmp(&b.speed_mps.unwrap_or(0.0))).copied()
    }

    /// Returns the generic view: highest speed and its gear, then speed and engine speed of each gear.
    pub fn list(&self) -> Vec<Metric> {
        let fastest = self.fastest();
        let mut metrics = vec![
            Metric::new("top_speed_mps", "Top speed", "m/s", 2, fastest.and_then(|gear| gear.speed_mps)),
            Metric::new("top_speed_gear", "Gear of the top speed", "-", 0, fastest.map(|gear| gear.gear.into())),
        ];
        for GearTopSpeed { gear, speed_mps, engine_radps } in &self.gears {
            let name = format!("top_speed_gear_{gear}");
            metrics.push(Metric::new(
                &format!("{name}_mps"),
                &format!("Top speed in gear {gear}"),
                "m/s",
                2,
                *speed_mps,
            ));
            let label = format!("Engine speed at the top speed in gear {gear}");
            metrics.push(Metric::new(&format!("{name}_engine_radps"), &label, "rad/s", 1, *engine_radps));
        }
        metrics
    }
}

/// Highest speed that is searched for (m/s), above that of any road car.
const MAX_EXPECTED_SPEED_MPS: f64 = 150.0;

/// Returns the number of forward gears; 1 without a gearbox.
fn gear_count(model: &Model) -> i8 {
    model.parts().powertrain.engine().map_or(1, |drive| drive.gearbox.clamp_gear(i8::MAX))
}

/// Computes the highest speed up to which the full-throttle force in `gear` is at least the resistance, in closed form
/// (m/s). Searches in steps of 0.1 m/s below [`MAX_EXPECTED_SPEED_MPS`]. Returns 0.1 m/s if the force is too small at
/// the first step.
fn expected_speed(model: &Model, gear: i8) -> f64 {
    let steps = (1..(10.0 * MAX_EXPECTED_SPEED_MPS) as u32).map(|i| 0.1 * f64::from(i));
    steps.take_while(|&v| drive_force(model, v, gear) >= resistance(model, v)).last().unwrap_or(0.1)
}

impl TopSpeed {
    /// Computes the metrics of a run. The speed of a gear is the mean over the last [`TopSpeed::averaging_time_s`] of
    /// the run in this gear. It is steady if the largest and the smallest speed in this time differ by less than
    /// [`TopSpeed::steady_rate_mps2`] times this time. Comparing only both ends would accept a speed that falls and
    /// then rises.
    pub fn measure(&self, model: &Model, trajectory: &Trajectory) -> TopSpeedMetrics {
        let gears = (1..=gear_count(model)).map(|gear| self.measure_gear(model, trajectory, gear)).collect();
        TopSpeedMetrics { gears }
    }

    /// Computes the steady speed of `gear`. Speed and engine speed are `None` if the gear was not driven, was not held
    /// for the averaging time, or the speed was not steady. A car without an engine has one gear, which is driven to
    /// the end of the run.
    fn measure_gear(&self, model: &Model, trajectory: &Trajectory, gear: i8) -> GearTopSpeed {
        let has_gears = model.parts().powertrain.engine().is_some();
        let is_in_gear = |frame: &Frame| !has_gears || frame.gear == f64::from(gear);
        let not_driven = GearTopSpeed { gear, speed_mps: None, engine_radps: None };
        let Some(last_row) = trajectory.last_row_where(is_in_gear).and_then(|k| trajectory.row(k)) else {
            return not_driven;
        };
        let (start, end) = (last_row.t_s - self.averaging_time_s, last_row.t_s);
        let is_held = start >= 0.0 && trajectory.time_slice(start, end).all(|frame| is_in_gear(&frame));
        let speeds = trajectory.time_slice(start, end).map(|frame| ground_speed::speed_over_ground(&frame));
        if !is_held || range(speeds) >= self.steady_rate_mps2 * self.averaging_time_s {
            return not_driven;
        }
        GearTopSpeed {
            gear,
            speed_mps: Some(trajectory.mean(start, end, ground_speed::speed_over_ground)),
            engine_radps: Some(trajectory.mean(start, end, |frame| frame.engine_radps)),
        }
    }
}

/// Returns the difference between the largest and the smallest of `values`; −∞ for none.
fn range(values: impl Iterator<Item = f64>) -> f64 {
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    high - low
}

/// Part of a run in one gear.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// Wheel torques bring the car to the expected speed of the gear, in neutral.
    Approach,
    /// Full throttle since this time (s).
    FullThrottle { since_s: f64 },
}

/// Driver of [`TopSpeed`].
struct TopSpeedDriver {
    parameters: TopSpeed,
    /// Expected speeds of the gears, from the lowest (m/s).
    expected_speeds: Vec<f64>,
    /// Whether the car has a gearbox. Otherwise it keeps its drive position.
    has_gears: bool,
    /// Current gear, from 1.
    gear: usize,
    phase: Phase,
    /// Whether the last gear has been driven.
    is_finished: bool,
    /// Speeds since the start of the averaging time, the oldest first (m/s).
    recent_speeds: std::collections::VecDeque<f64>,
    speed_controller: TorqueSpeedController,
    steering: StraightKeeper,
}

/// Difference from the expected speed at which the approach ends (m/s).
const APPROACH_TOLERANCE_MPS: f64 = 0.5;

impl TopSpeedDriver {
    /// Creates the driver, in the first gear and with the speed of the start.
    fn new(model: &Model, parameters: TopSpeed) -> Self {
        Self {
            parameters,
            expected_speeds: (1..=gear_count(model)).map(|gear| expected_speed(model, gear)).collect(),
            has_gears: model.parts().powertrain.engine().is_some(),
            gear: 1,
            phase: Phase::Approach,
            is_finished: false,
            recent_speeds: std::collections::VecDeque::new(),
            speed_controller: TorqueSpeedController::default(),
            steering: StraightKeeper::new(Characteristics::new(model)),
        }
    }

    /// Adds `speed` (m/s) to the recent speeds and returns true if the speed of the last [`TopSpeed::averaging_time_s`]
    /// was steady. Returns false before this time has passed. `dt_s` is the length of a step (s).
    fn is_steady(&mut self, speed: f64, dt_s: f64) -> bool {
        let window = (self.parameters.averaging_time_s / dt_s).round() as usize + 1;
        self.recent_speeds.push_back(speed);
        while self.recent_speeds.len() > window {
            self.recent_speeds.pop_front();
        }
        // A margin of 10 %: the rows that are measured begin one step later.
        let allowed_range = 0.9 * self.parameters.steady_rate_mps2 * self.parameters.averaging_time_s;
        self.recent_speeds.len() == window && range(self.recent_speeds.iter().copied()) < allowed_range
    }
}

impl DriverModel for TopSpeedDriver {
    /// Keeps straight. For each gear, wheel torques in neutral bring the car to within [`APPROACH_TOLERANCE_MPS`] of
    /// the expected speed. Then it drives at full throttle in the gear, until the speed is steady or
    /// [`TopSpeed::gear_time_s`] has passed. The next gear follows, or the end of the run after the last gear.
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        let steer = self.steering.steer(input) as f32;
        let speed = ground_speed::speed_over_ground(input.frame);
        if let Phase::FullThrottle { since_s } = self.phase {
            let is_over = self.is_steady(speed, input.dt_s) || input.has_reached(since_s + self.parameters.gear_time_s);
            if is_over && self.gear < self.expected_speeds.len() {
                self.gear += 1;
                self.phase = Phase::Approach;
                self.speed_controller = TorqueSpeedController::default();
            } else if is_over {
                self.is_finished = true;
            }
        }
        let expected_speed = self.expected_speeds[self.gear - 1];
        if self.phase == Phase::Approach {
            if (speed - expected_speed).abs() > APPROACH_TOLERANCE_MPS {
                return Controls { steer, ..self.speed_controller.controls(input, expected_speed) };
            }
            self.phase = Phase::FullThrottle { since_s: input.time_s() };
            self.recent_speeds.clear();
        }
        let gear = self.has_gears.then_some(self.gear as i8);
        Controls { throttle: 1.0, steer, gear, ..Controls::default() }
    }

    fn finished(&self, _input: &DriverInput<'_>) -> bool {
        self.is_finished
    }
}

impl Manoeuvre for TopSpeed {
    fn name(&self) -> &'static str {
        "top-speed"
    }
    fn about(&self) -> String {
        let rate = self.steady_rate_mps2;
        format!("full throttle in each forward gear on a straight until the speed changes by less than {rate} m/s²")
    }
    /// Returns level ground with the car at the expected speed of the first gear, in neutral. The longest duration
    /// allows for the changes of speed between the gears.
    fn setup(&self, model: &Model) -> Setup {
        let gear_count = f64::from(gear_count(model));
        // 30 s: the speed changes by at most 4 m/s², so that each change between gears takes less.
        Setup { duration_s: gear_count * (self.gear_time_s + 30.0), ..Setup::flat(expected_speed(model, 1)) }
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::FIXED_SPEED
    }
    fn driver(&self, model: &Model) -> Box<dyn DriverModel> {
        Box::new(TopSpeedDriver::new(model, *self))
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

    /// A speed that has been constant for four seconds is the top speed. A speed that still rises by 0.01 m/s², or
    /// turns from falling to rising, is none.
    #[test]
    fn only_a_steady_speed_is_a_top_speed() {
        let run = |rate: f64| sampled(0.01, 20.0, move |t, frame| frame.vx_mps = 40.0 + rate * (t - 20.0));
        let steady = TopSpeed::default().measure(&model(), &run(0.0));
        assert!((steady.fastest().and_then(|gear| gear.speed_mps).expect("steady") - 40.0).abs() < 1e-9, "{steady:?}");
        assert_eq!(TopSpeed::default().measure(&model(), &run(0.01)).fastest(), None);
        let turning = sampled(0.01, 20.0, |t, frame| frame.vx_mps = 40.0 + 0.01 * (t - 18.0).powi(2));
        assert_eq!(TopSpeed::default().measure(&model(), &turning).fastest(), None);
    }

    /// The fastest gear is the one with the highest steady speed, whatever its number.
    #[test]
    fn the_fastest_gear_need_not_be_the_highest() {
        let gear = |gear: i8, speed_mps: Option<f64>| GearTopSpeed { gear, speed_mps, engine_radps: None };
        let metrics = TopSpeedMetrics { gears: vec![gear(1, Some(30.0)), gear(2, Some(50.0)), gear(3, Some(45.0))] };
        assert_eq!(metrics.fastest().map(|gear| gear.gear), Some(2));
        assert_eq!(metrics.list()[0].value, Some(50.0));
        assert_eq!(TopSpeedMetrics { gears: vec![gear(1, None)] }.fastest(), None);
    }

    /// The point mass has a drive of 800 N m on 0.3 m and a drag of 0.4 N s²/m²: its top speed is √(800 / 0.3 / 0.4).
    #[test]
    fn the_top_speed_of_a_point_mass_balances_its_drag() {
        let (model, manoeuvre) = (Arc::new(model()), TopSpeed::default());
        let step = TimeStep::from_rate_hz(60.0).expect("valid");
        let (setup, mut driver) = (manoeuvre.setup(&model), manoeuvre.driver(&model));
        let run = simulate(&POINT_MASS, &model, &setup, driver.as_mut(), step, &mut |_, _| ControlFlow::Continue(()));
        let found = manoeuvre.measure(&model, &run).fastest().and_then(|gear| gear.speed_mps).expect("steady");
        // 0.002 m/s² are left, at a rate of 2 · 0.4 v / m = 0.065 1/s.
        assert!((found - (800.0 / 0.3 / 0.4f64).sqrt()).abs() < 0.04, "{found}");
    }
}
