//! NHTSA's dynamic rollover tests: search for the lowest entry speed with lift of all wheels of one side.

use skidpad_core::Model;

use super::procedure::{Evaluation, Procedure, Runner};
use super::rollover_steer::{RolloverInput, RolloverSteer, RolloverSteerMetrics};
use super::stability_test::{slowly_increasing_steer, steering_at_0_3g};
use super::{KMH_100, Setup, StartRequirements};
use crate::metrics::metrics;
use crate::steering_wheel::SteeringWheel;

/// Slowly increasing steer in both directions, then rollover runs in both directions at rising entry speeds until all
/// wheels of one side lift.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RolloverTest {
    /// Steering input.
    pub input: RolloverInput,
    /// Amplitude in multiples of the steering-wheel angle at 0.3 g (–).
    pub amplitude_factor: f64,
}

metrics! {
    /// Results of all runs.
    RolloverMetrics {
        steering_ratio, "-", 1, "Steering ratio", "Steering-wheel angle per mean road-wheel angle: that of the vehicle file, or 16 if it states none.";
        steering_at_0_3g_deg, "deg", 1, "Steering-wheel angle at 0.3 g", "Mean magnitude of both directions, from the slowly increasing steer.";
        amplitude_deg, "deg", 1, "Amplitude of the steering wheel", "Multiple of the steering-wheel angle at 0.3 g, at most that of the steering lock.";
        lift_speed_mps, "m/s", 2, "Lowest entry speed with two-wheel lift", "Entry speed of the first run in which all wheels of one side are at least 51 mm above the ground; no value if none lifts.";
        highest_speed_mps, "m/s", 2, "Highest entry speed driven", "Entry speed of the last run.";
        lifted, "-", 0, "Two-wheel lift (1) or none (0)", "1 if a run lifted all wheels of one side.";
        side_lift_mm, "mm", 0, "Largest lift of all wheels of one side", "Of all runs.";
        peak_roll_deg, "deg", 2, "Peak roll angle", "Of all runs.";
        peak_lateral_acceleration_mps2, "m/s²", 3, "Peak lateral acceleration", "Of all runs.";
        reversal_s, "s", 3, "Time of the reversal, last run", "Time from the beginning of the steering to the beginning of the reversal.";
    }
}

/// Height of all wheels of one side that counts as two-wheel lift (mm): 2 inches.
const LIFT_HEIGHT_MM: f64 = 50.8;
/// Speed of one mile per hour (m/s).
const MPH: f64 = 0.447_04;
/// Entry speeds of the J-turn (mph).
const J_TURN_SPEEDS_MPH: &[f64] = &[35.0, 40.0, 45.0, 50.0, 55.0, 60.0];
/// Entry speeds of both fishhooks (mph).
const FISHHOOK_SPEEDS_MPH: &[f64] = &[35.0, 40.0, 45.0, 47.5, 50.0];
/// Speed of the slowly increasing steer (m/s).
const SLOW_STEER_SPEED_MPS: f64 = 0.8 * KMH_100;

impl RolloverTest {
    /// J-turn with 8 times the steering-wheel angle at 0.3 g.
    pub const J_TURN: Self = Self { input: RolloverInput::JTurn, amplitude_factor: 8.0 };
    /// Fishhook 1a with 6.5 times the steering-wheel angle at 0.3 g.
    pub const FISHHOOK_FIXED: Self = Self { input: RolloverInput::FixedTiming, amplitude_factor: 6.5 };
    /// Fishhook 1b with 6.5 times the steering-wheel angle at 0.3 g, the rollover test of NHTSA's new car assessment.
    pub const FISHHOOK: Self = Self { input: RolloverInput::RollRateFeedback, amplitude_factor: 6.5 };

    /// Returns the entry speeds (m/s), ascending.
    pub fn speeds_mps(&self) -> impl Iterator<Item = f64> {
        let speeds = if self.input == RolloverInput::JTurn { J_TURN_SPEEDS_MPH } else { FISHHOOK_SPEEDS_MPH };
        speeds.iter().map(|mph| mph * MPH)
    }
}

impl RolloverMetrics {
    /// Adds a run at `speed_mps` (m/s): keeps the larger one of each peak and replaces entry speed and time of the
    /// reversal. A run with two-wheel lift also sets the lift speed.
    fn add_run(&mut self, speed_mps: f64, run: &RolloverSteerMetrics) {
        let larger = |a: Option<f64>, b: Option<f64>| a.into_iter().chain(b).max_by(f64::total_cmp);
        self.highest_speed_mps = Some(speed_mps);
        self.side_lift_mm = larger(self.side_lift_mm, run.side_lift_mm);
        self.peak_roll_deg = larger(self.peak_roll_deg, run.peak_roll_deg);
        self.peak_lateral_acceleration_mps2 =
            larger(self.peak_lateral_acceleration_mps2, run.peak_lateral_acceleration_mps2);
        self.reversal_s = run.reversal_s;
        if run.side_lift_mm >= Some(LIFT_HEIGHT_MM) {
            self.lift_speed_mps = Some(speed_mps);
        }
    }
}

impl Procedure for RolloverTest {
    fn name(&self) -> &'static str {
        match self.input {
            RolloverInput::JTurn => "j-turn",
            RolloverInput::FixedTiming => "fishhook-fixed",
            RolloverInput::RollRateFeedback => "fishhook",
        }
    }
    /// Describes the kind of steering, with its reversal for a fishhook, and the amplitude as multiple of the angle at
    /// 0.3 g.
    fn about(&self) -> String {
        let input = match self.input {
            RolloverInput::JTurn => "J-turn",
            RolloverInput::FixedTiming => "fishhook with a reversal after 250 ms",
            RolloverInput::RollRateFeedback => "fishhook with a reversal at a roll rate of 1.5 °/s",
        };
        format!(
            "{input} with {:.1} times the steering-wheel angle at 0.3 g in both directions, at rising entry speeds until two \
             wheels lift",
            self.amplitude_factor
        )
    }
    /// Returns the setup of the slowly increasing steer, which is the first run.
    fn setup(&self, model: &Model) -> Setup {
        slowly_increasing_steer(SLOW_STEER_SPEED_MPS, SteeringWheel::of(model), 1.0).setup(model)
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::FIXED_SPEED.on_level_ground()
    }
    fn cones(&self, _model: &Model) -> Vec<(f64, f64)> {
        Vec::new()
    }
    /// Returns two runs of slowly increasing steer, and both directions of every entry speed.
    fn max_runs(&self) -> u32 {
        2 + 2 * self.speeds_mps().count() as u32
    }
    /// Drives the slowly increasing steer in both directions, which gives the amplitude. Then drives each entry speed
    /// to the left and to the right, up to the first run with two-wheel lift. There are no such runs if the car does
    /// not reach the lateral accelerations of the regression. The telemetry is that of the last run.
    fn execute(&self, model: &Model, runner: &mut dyn Runner) -> Evaluation {
        let wheel = SteeringWheel::of(model);
        let (at_0_3g, mut shown) = steering_at_0_3g(model, runner, SLOW_STEER_SPEED_MPS, wheel);
        let amplitude = at_0_3g.map(|angle| (self.amplitude_factor * angle).min(wheel.lock_deg(model)));
        let mut result = RolloverMetrics {
            steering_ratio: Some(wheel.ratio),
            steering_at_0_3g_deg: at_0_3g,
            amplitude_deg: amplitude,
            ..RolloverMetrics::default()
        };
        let runs = self.speeds_mps().flat_map(|speed| [(speed, 1.0), (speed, -1.0)]);
        for ((speed_mps, direction), amplitude) in runs.zip(std::iter::repeat(amplitude)) {
            // Without an amplitude, and after the first two-wheel lift, no further run is driven.
            let Some(amplitude) = amplitude.filter(|_| result.lift_speed_mps.is_none()) else { break };
            let run = RolloverSteer { input: self.input, speed_mps, amplitude_deg: direction * amplitude, wheel };
            shown = runner.drive(&run);
            result.add_run(speed_mps, &run.measure(model, &shown));
        }
        result.lifted = at_0_3g.map(|_| if result.lift_speed_mps.is_some() { 1.0 } else { 0.0 });
        Evaluation {
            trajectory: shown,
            metrics: result.list(),
            incomplete: None,
            failed_test: false,
            curves: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entry speeds are those of NHTSA: 35 to 60 mph for the J-turn, 35 to 50 mph for the fishhook.
    #[test]
    fn entry_speeds_are_those_of_nhtsa() {
        let speeds: Vec<f64> = RolloverTest::FISHHOOK.speeds_mps().collect();
        assert!((speeds[0] - 15.646).abs() < 1e-3 && (speeds[4] - 22.352).abs() < 1e-3, "{speeds:?}");
        assert_eq!(RolloverTest::J_TURN.speeds_mps().count(), 6);
    }

    /// The first run with a lift of at least 2 inches sets the speed; the metrics keep the largest values.
    #[test]
    fn a_lift_of_two_inches_counts() {
        let run = |lift: f64| RolloverSteerMetrics {
            side_lift_mm: Some(lift),
            peak_roll_deg: Some(lift / 10.0),
            ..RolloverSteerMetrics::default()
        };
        let mut result = RolloverMetrics::default();
        result.add_run(15.0, &run(50.0));
        assert_eq!(result.lift_speed_mps, None);
        result.add_run(17.0, &run(51.0));
        assert_eq!((result.lift_speed_mps, result.side_lift_mm), (Some(17.0), Some(51.0)));
        result.add_run(19.0, &run(20.0));
        assert_eq!((result.lift_speed_mps, result.peak_roll_deg), (Some(17.0), Some(5.1)));
    }
}
