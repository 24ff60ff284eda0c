//! Steering of NHTSA's dynamic rollover tests: J-turn and fishhook, one run.

use skidpad_core::{Controls, Frame, Model};

use super::wheel_lift::max_side_lift_m;
use super::{Manoeuvre, Setup, StartRequirements};
use crate::driver::{CoastDriver, DriverInput, DriverModel, TorqueSpeedController};
use crate::metrics::{Metric, metrics};
use crate::steering_wheel::SteeringWheel;
use crate::trajectory::Trajectory;

/// Steering input of a rollover test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RolloverInput {
    /// J-turn: a ramp of 1000 °/s of the steering wheel, held for 4 s.
    JTurn,
    /// Fishhook 1a: a ramp of 720 °/s, reversed after 250 ms to the opposite angle, held for 3 s.
    FixedTiming,
    /// Fishhook 1b: as fishhook 1a, but reversed once the roll rate has fallen to 1.5 °/s.
    RollRateFeedback,
}

/// Run of a rollover test. The car coasts in neutral from the beginning of the steering.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RolloverSteer {
    /// Steering input.
    pub input: RolloverInput,
    /// Speed at the beginning of the steering (m/s), > 1.
    pub speed_mps: f64,
    /// Amplitude of the steering wheel (°), negative for a first turn to the right.
    pub amplitude_deg: f64,
    /// Steering wheel.
    pub wheel: SteeringWheel,
}

metrics! {
    /// Response to one rollover run.
    RolloverSteerMetrics {
        side_lift_mm, "mm", 0, "Lift of all wheels of one side", "Largest height above the ground that all wheels of one side have at the same time.";
        peak_roll_deg, "deg", 2, "Peak roll angle", "Largest absolute value.";
        peak_lateral_acceleration_mps2, "m/s²", 3, "Peak lateral acceleration", "Largest absolute value.";
        least_load_percent, "%", 1, "Minimum wheel load", "Smallest load of any wheel, relative to its static load.";
        reversal_s, "s", 3, "Time of the reversal", "Time from the beginning of the steering to the beginning of the reversal; no value for a J-turn.";
    }
}

/// Time at which the steering begins (s).
const STEER_START_S: f64 = 1.0;
/// Time to return the steering to 0 (s).
const RETURN_TIME_S: f64 = 2.0;
/// Pause of fishhook 1a between the ramps (s).
const FIXED_PAUSE_S: f64 = 0.25;
/// Roll rate at which fishhook 1b reverses the steering (°/s).
const REVERSAL_ROLL_RATE_DEGPS: f64 = 1.5;
/// Longest time from the beginning of the steering to the reversal of fishhook 1b (s). A car that oscillates in roll
/// reverses at this time.
const MAX_REVERSAL_TIME_S: f64 = 3.0;
/// Roll angle at which a run ends because the car has rolled over (rad).
const ROLLED_OVER_RAD: f64 = 1.2;

impl RolloverInput {
    /// Returns the rate of the steering wheel (°/s).
    fn rate_degps(self) -> f64 {
        match self {
            RolloverInput::JTurn => 1000.0,
            RolloverInput::FixedTiming | RolloverInput::RollRateFeedback => 720.0,
        }
    }

    /// Returns the time for which the last angle is held (s).
    fn hold_s(self) -> f64 {
        match self {
            RolloverInput::JTurn => 4.0,
            RolloverInput::FixedTiming | RolloverInput::RollRateFeedback => 3.0,
        }
    }
}

impl RolloverSteer {
    /// Returns the planned duration of a run (s): the latest reversal, three ramps of the full amplitude, hold and
    /// return of the steering.
    fn duration_s(&self) -> f64 {
        let ramp_s = self.amplitude_deg.abs() / self.input.rate_degps();
        STEER_START_S + MAX_REVERSAL_TIME_S + 3.0 * ramp_s + self.input.hold_s() + RETURN_TIME_S
    }

    /// Computes the metrics of a run: lift of the wheels of one side, peak roll angle, peak lateral acceleration,
    /// minimum wheel load, and time of the reversal. A run that ended early because the car rolled over has them, too.
    ///
    /// The reversal begins after the last telemetry row with the largest steering angle in the direction of the first
    /// turn. Its time counts from the beginning of the steering, 1 s after the start of the run. It is `None` for a
    /// J-turn, or if the car was not steered.
    pub fn measure(&self, model: &Model, trajectory: &Trajectory) -> RolloverSteerMetrics {
        let sign = self.amplitude_deg.signum();
        // The steering leaves its first angle when the reversal begins.
        let peak_steer = trajectory.peak_magnitude(|frame| (sign * frame.steer_rad).max(0.0));
        let is_at_peak = |frame: &Frame| sign * frame.steer_rad > peak_steer * (1.0 - 1e-6);
        let last_at_peak = trajectory.last_row_where(is_at_peak).and_then(|k| trajectory.row(k));
        let reversal = last_at_peak.filter(|_| self.input != RolloverInput::JTurn && peak_steer > 0.0);
        RolloverSteerMetrics {
            side_lift_mm: Some(1e3 * max_side_lift_m(model, trajectory)),
            peak_roll_deg: Some(trajectory.peak_magnitude(|frame| frame.roll_rad).to_degrees()),
            peak_lateral_acceleration_mps2: Some(trajectory.peak_magnitude(|frame| frame.ay_mps2)),
            least_load_percent: trajectory.min_load_percent(model),
            reversal_s: reversal.map(|frame| frame.t_s - STEER_START_S),
        }
    }
}

/// Phase of the steering program.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    /// First ramp and the pause after it.
    First,
    /// Ramp to the last angle and the time for which it is held. A J-turn has only this phase.
    Last,
    /// Return to 0.
    Return,
}

/// Driver of [`RolloverSteer`]: state machine over the phases, with a limited rate of the steering wheel.
struct RolloverDriver {
    test: RolloverSteer,
    speed_controller: TorqueSpeedController,
    phase: Phase,
    /// Steering-wheel angle in the direction of the first turn (°).
    angle_deg: f64,
    /// Time at which the angle of the phase was reached (s); `None` before.
    reached_s: Option<f64>,
    /// Whether the roll rate has exceeded the threshold of the reversal in this run.
    has_rolled: bool,
    has_rolled_over: bool,
}

impl RolloverDriver {
    /// Returns the angle at which the steering wheel is held in the current phase (°), positive in the direction of the
    /// first turn.
    fn target_deg(&self) -> f64 {
        let amplitude = self.test.amplitude_deg.abs();
        match (self.phase, self.test.input) {
            (Phase::First, _) | (Phase::Last, RolloverInput::JTurn) => amplitude,
            (Phase::Last, _) => -amplitude,
            (Phase::Return, _) => 0.0,
        }
    }

    /// Returns the rate of the steering wheel (°/s) in the current phase.
    fn rate_degps(&self) -> f64 {
        match self.phase {
            Phase::First | Phase::Last => self.test.input.rate_degps(),
            Phase::Return => self.test.amplitude_deg.abs() / RETURN_TIME_S,
        }
    }

    /// Starts the next phase if the current one is finished: sets `phase` and clears `reached_s`. A phase can only
    /// finish after its angle was reached. The first ramp of fishhook 1a (`FixedTiming`) ends after a pause. That of
    /// fishhook 1b ends once the roll rate, after it was higher, is at most [`REVERSAL_ROLL_RATE_DEGPS`], or at the
    /// latest time of a reversal. The last phase ends after the hold time.
    fn advance_phase(&mut self, input: &DriverInput<'_>) {
        let Some(reached_s) = self.reached_s else { return };
        let has_waited = |time_s: f64| input.has_reached(reached_s + time_s);
        let rolls_slowly = input.frame.roll_rate_radps.to_degrees().abs() <= REVERSAL_ROLL_RATE_DEGPS;
        let next_phase = match (self.phase, self.test.input) {
            (Phase::First, RolloverInput::FixedTiming) => has_waited(FIXED_PAUSE_S).then_some(Phase::Last),
            (Phase::First, _) => {
                let is_late = input.has_reached(STEER_START_S + MAX_REVERSAL_TIME_S);
                (self.has_rolled && rolls_slowly || is_late).then_some(Phase::Last)
            }
            (Phase::Last, kind) => has_waited(kind.hold_s()).then_some(Phase::Return),
            (Phase::Return, _) => None,
        };
        if let Some(phase) = next_phase {
            (self.phase, self.reached_s) = (phase, None);
        }
    }
}

impl DriverModel for RolloverDriver {
    /// Holds the speed until the steering begins, then coasts. Records whether the car has rolled over and whether it
    /// has started to roll. Then advances the phase and moves the steering wheel towards the angle of the phase, to the
    /// value at the end of the step.
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        self.has_rolled_over |= input.frame.roll_rad.abs() > ROLLED_OVER_RAD;
        if !input.has_reached(STEER_START_S) {
            return self.speed_controller.controls(input, self.test.speed_mps);
        }
        self.has_rolled |= input.frame.roll_rate_radps.to_degrees().abs() > REVERSAL_ROLL_RATE_DEGPS;
        self.advance_phase(input);
        let target = self.target_deg();
        let change = self.rate_degps() * input.dt_s;
        self.angle_deg += (target - self.angle_deg).clamp(-change, change);
        if self.angle_deg == target && self.reached_s.is_none() {
            self.reached_s = Some(input.end_s());
        }
        let angle = self.test.wheel.road_wheel_rad(self.angle_deg * self.test.amplitude_deg.signum());
        Controls { steer: angle as f32, ..CoastDriver.drive(input) }
    }

    /// Returns true once the car has rolled over, or the steering wheel has returned to 0.
    fn finished(&self, _input: &DriverInput<'_>) -> bool {
        self.has_rolled_over || self.phase == Phase::Return && self.reached_s.is_some()
    }
}

impl Manoeuvre for RolloverSteer {
    fn name(&self) -> &'static str {
        match self.input {
            RolloverInput::JTurn => "j-turn",
            RolloverInput::FixedTiming => "fishhook-fixed",
            RolloverInput::RollRateFeedback => "fishhook",
        }
    }
    fn about(&self) -> String {
        format!(
            "rollover steering of {:.0}° at {:.0} °/s of the steering wheel at {:.1} m/s",
            self.amplitude_deg,
            self.input.rate_degps(),
            self.speed_mps
        )
    }
    fn setup(&self, _model: &Model) -> Setup {
        Setup { duration_s: self.duration_s(), ..Setup::flat(self.speed_mps) }
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::FIXED_SPEED
    }
    /// Creates a driver with straight steering. A J-turn begins with the last phase, because it has only one ramp.
    fn driver(&self, _model: &Model) -> Box<dyn DriverModel> {
        Box::new(RolloverDriver {
            test: *self,
            speed_controller: TorqueSpeedController::default(),
            phase: if self.input == RolloverInput::JTurn { Phase::Last } else { Phase::First },
            angle_deg: 0.0,
            reached_s: None,
            has_rolled: false,
            has_rolled_over: false,
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
    use crate::testing::{POINT_MASS, model};

    /// Drives the point mass, which does not roll, with 100° of steering wheel.
    fn drive(input: RolloverInput) -> Trajectory {
        let model = Arc::new(model());
        let test =
            RolloverSteer { input, speed_mps: 15.0, amplitude_deg: -100.0, wheel: SteeringWheel { ratio: 20.0 } };
        let dt = TimeStep::from_rate_hz(1000.0).expect("valid");
        simulate(&POINT_MASS, &model, &test.setup(&model), test.driver(&model).as_mut(), dt, &mut |_, _| {
            ControlFlow::Continue(())
        })
    }

    /// Asserts that the steering-wheel angle at `time_s` after the beginning of the steering is `expected_deg`, within the
    /// change of a step.
    #[track_caller]
    fn has_angle(run: &Trajectory, time_s: f64, expected_deg: f64) {
        let found =
            SteeringWheel { ratio: 20.0 }.wheel_deg(run.interpolate_at(STEER_START_S + time_s, |f| f.steer_rad));
        assert!((found - expected_deg).abs() < 1.1, "{found}° instead of {expected_deg}° after {time_s} s");
    }

    /// J-turn: 100° to the right in 0.1 s, held for 4 s, back in 2 s.
    #[test]
    fn the_j_turn_is_a_ramp_a_hold_and_a_return() {
        let run = drive(RolloverInput::JTurn);
        for (time, angle) in [(0.05, -50.0), (0.1, -100.0), (4.05, -100.0), (5.1, -50.0)] {
            has_angle(&run, time, angle);
        }
        assert!((run.last().t_s - STEER_START_S - 6.1).abs() < 0.01, "{}", run.last().t_s);
    }

    /// Fishhook 1a: 100° in 0.139 s, pause of 0.25 s, reversal to −100° in 0.278 s, hold of 3 s. Without a roll rate, 1b
    /// reverses after 3 s.
    #[test]
    fn the_fishhook_reverses_after_its_pause() {
        let run = drive(RolloverInput::FixedTiming);
        for (time, angle) in [(0.14, -100.0), (0.38, -100.0), (0.528, 0.0), (0.68, 100.0), (3.6, 100.0)] {
            has_angle(&run, time, angle);
        }
        let test = RolloverSteer {
            input: RolloverInput::FixedTiming,
            speed_mps: 15.0,
            amplitude_deg: -100.0,
            wheel: SteeringWheel { ratio: 20.0 },
        };
        let found = test.measure(&model(), &run);
        assert!(found.reversal_s.is_some_and(|time| (time - 0.389).abs() < 0.003), "{found:?}");
        let run = drive(RolloverInput::RollRateFeedback);
        has_angle(&run, 2.9, -100.0);
        has_angle(&run, 3.4, 100.0);
    }
}
