//! Open-loop manoeuvre from a file: a table of inputs over time.
//!
//! [`COLUMN_DESCRIPTIONS`] lists the columns of a table, [`FORMAT_DESCRIPTION`] describes how its rows are
//! interpolated. The step from t_k to t_k+1 uses the values at t_k; steering uses the value at t_k+1.

mod parse;

pub use parse::{COLUMN_DESCRIPTIONS, FORMAT_DESCRIPTION, Fault, Faults};

use std::borrow::Cow;

use skidpad_core::{Controls, Frame, Model, WheelControls};

use crate::driver::{DriverInput, DriverModel, PedalSpeedController};
use crate::manoeuvre::{Manoeuvre, Setup, StartRequirements};
use crate::metrics::{Metric, metrics};
use crate::trajectory::Trajectory;

/// Input that a column of the table controls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    /// Time of the row (s).
    Time,
    /// Accelerator (–, 0 to 1).
    Throttle,
    /// Foot brake (–, 0 to 1).
    Brake,
    /// Handbrake (–, 0 to 1).
    Handbrake,
    /// Starter, on from 0.5.
    Starter,
    /// Clutch pedal (–), 1 is pressed.
    Clutch,
    /// Share of the rate of every anti-roll bar (–).
    Bars,
    /// Target speed of cruise control (m/s).
    Cruise,
    /// Gear: −1 reverse, 0 neutral.
    Gear,
    /// Mean road-wheel angle (rad).
    Steer,
    /// Mean speed by throttle and brake (m/s).
    TargetSpeed,
    /// Motor torque of a wheel (N m).
    Motor(usize),
    /// Brake torque of a wheel (N m).
    WheelBrake(usize),
    /// Angle of a wheel (rad).
    WheelSteer(usize),
}

/// Values of one input over time: at least one knot `[time (s), value]`, with strictly increasing times.
#[derive(Clone, Debug, PartialEq)]
struct InputTrack {
    input: Input,
    knots: Vec<[f64; 2]>,
}

/// Value of a target speed or of the cruise control that is off (m/s). Speeds are 0 or more.
const OFF: f64 = -1.0;

/// Table of inputs for one model.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Inputs that the table contains, without the time.
    tracks: Vec<InputTrack>,
    /// Number of wheels of the model.
    wheel_count: usize,
    /// Time of the last row (s).
    end_s: f64,
}

impl Script {
    /// Parses the text of a controls file for `model`.
    ///
    /// # Errors
    /// Returns all faults of the file.
    pub fn parse(text: &str, model: &Model) -> Result<Self, Faults> {
        parse::parse(text, model)
    }

    /// Returns the time of the last row (s); 0 for a table with one row at 0.
    pub fn end_s(&self) -> f64 {
        self.end_s
    }

    /// Returns the gear of the first row that has one; `None` if no row has.
    pub fn first_gear(&self) -> Option<i8> {
        self.track(Input::Gear).map(|track| track.knots[0][1] as i8)
    }

    /// Returns the values of `input` over time; `None` if the table does not contain it.
    fn track(&self, input: Input) -> Option<&InputTrack> {
        self.tracks.iter().find(|track| track.input == input)
    }

    /// Returns the value of `input` at the start of the coming step: that of the last row that has one. Before the
    /// first row with a value, it is this first value. A tolerance of a millionth of a step covers the rounding of
    /// times. `None` if the table does not contain the input, or for a target speed or cruise control that is [`OFF`].
    fn held_value(&self, input: Input, driver_input: &DriverInput<'_>) -> Option<f64> {
        let value = self.track(input)?.held_value(driver_input.time_s() + 1e-6 * driver_input.dt_s);
        let is_speed = matches!(input, Input::TargetSpeed | Input::Cruise);
        Some(value).filter(|value| !is_speed || *value != OFF)
    }

    /// Returns the controls of the table for the coming step, without those of the speed controller. Steering is
    /// interpolated at the end of the step; all other inputs keep the value of the last row.
    ///
    /// Pedals without a column are 0, and steering is straight. Clutch, gear, anti-roll bars and cruise control without
    /// a column are left to the car. The starter is on from 0.5.
    fn controls(&self, driver_input: &DriverInput<'_>) -> Controls {
        let value_or_zero = |input| self.held_value(input, driver_input).unwrap_or(0.0) as f32;
        Controls {
            throttle: value_or_zero(Input::Throttle),
            brake: value_or_zero(Input::Brake),
            handbrake: value_or_zero(Input::Handbrake),
            steer: self.track(Input::Steer).map_or(0.0, |track| track.interpolate(driver_input.end_s()) as f32),
            clutch: self.held_value(Input::Clutch, driver_input).map(|value| value as f32),
            gear: self.held_value(Input::Gear, driver_input).map(|value| value as i8),
            // From 0.5 on the starter is on.
            starter: value_or_zero(Input::Starter) >= 0.5,
            bars: self.held_value(Input::Bars, driver_input).map(|value| value as f32),
            cruise: self.held_value(Input::Cruise, driver_input).map(|value| value as f32),
            wheels: self.wheel_controls(driver_input),
        }
    }

    /// Returns motor torque (N m), brake torque (N m) and steering angle (rad) of each wheel for the coming step.
    /// Torques keep the value of the last row; angles are interpolated at the end of the step. A wheel without a column
    /// has zero torques and is steered with its axle. Returns an empty list if the table has neither a column for a
    /// wheel nor a target speed.
    fn wheel_controls(&self, driver_input: &DriverInput<'_>) -> Box<[WheelControls]> {
        let is_wheel_input =
            |track: &&InputTrack| matches!(track.input, Input::Motor(_) | Input::WheelBrake(_) | Input::WheelSteer(_));
        // The speed controller adds motor torques and needs a list.
        let has_target_speed = self.track(Input::TargetSpeed).is_some();
        if !has_target_speed && !self.tracks.iter().any(|track| is_wheel_input(&track)) {
            return Box::default();
        }
        let mut wheel_controls = vec![WheelControls::default(); self.wheel_count];
        for track in &self.tracks {
            // The tolerance is that of `held_value`.
            let value = track.held_value(driver_input.time_s() + 1e-6 * driver_input.dt_s) as f32;
            match track.input {
                Input::Motor(i) => wheel_controls[i].motor_torque = value,
                Input::WheelBrake(i) => wheel_controls[i].brake_torque = value,
                Input::WheelSteer(i) => wheel_controls[i].steer = Some(track.interpolate(driver_input.end_s()) as f32),
                // All other inputs are those of the car.
                _ => {}
            }
        }
        wheel_controls.into()
    }
}

impl InputTrack {
    /// Returns the value of the last knot at or before `time` (s); the first value before the first knot.
    fn held_value(&self, time: f64) -> f64 {
        let next_index = self.knots.partition_point(|knot| knot[0] <= time);
        self.knots[next_index.saturating_sub(1)][1]
    }

    /// Interpolates linearly between the knots around `time` (s), of which there is at least one; constant outside
    /// them.
    fn interpolate(&self, time: f64) -> f64 {
        // Number of the first knot after `time`; there is none after the last knot, and no earlier one before the
        // first.
        let next_index = self.knots.partition_point(|knot| knot[0] <= time);
        let Some(next_knot) = self.knots.get(next_index) else { return self.knots[self.knots.len() - 1][1] };
        let Some(previous_knot) = next_index.checked_sub(1).map(|i| self.knots[i]) else { return next_knot[1] };
        previous_knot[1]
            + (next_knot[1] - previous_knot[1]) * (time - previous_knot[0]) / (next_knot[0] - previous_knot[0])
    }
}

/// Driver that applies the table. The speed controller acts while the table has a target speed.
struct ScriptDriver {
    script: Script,
    speed_controller: PedalSpeedController,
}

impl DriverModel for ScriptDriver {
    /// Returns the controls of the table. While the table has a target speed, the throttle is that of the speed
    /// controller and the brake is the larger one of table and controller. Motor torques of the controller are added to
    /// those of the table. Gear, clutch and steering of the controller are not used. A target speed that follows `off`
    /// starts with a new controller.
    fn drive(&mut self, input: &DriverInput<'_>) -> Controls {
        let mut controls = self.script.controls(input);
        if let Some(target_speed) = self.script.held_value(Input::TargetSpeed, input) {
            let speed_controls = self.speed_controller.controls(input, target_speed);
            controls.throttle = speed_controls.throttle;
            controls.brake = controls.brake.max(speed_controls.brake);
            for (wheel, speed_wheel) in controls.wheels.iter_mut().zip(&speed_controls.wheels) {
                wheel.motor_torque += speed_wheel.motor_torque;
            }
        } else {
            self.speed_controller = PedalSpeedController::default();
        }
        controls
    }
}

metrics! {
    /// Metrics of any drive.
    ScriptMetrics {
        duration_s, "s", 3, "Duration", "Time of the last row.";
        distance_m, "m", 2, "Distance", "Length of the path of the centre of mass.";
        final_x_m, "m", 3, "Final x", "World coordinates.";
        final_y_m, "m", 3, "Final y", "World coordinates.";
        final_yaw_deg, "deg", 3, "Final yaw", "Positive to the left, within ±180°.";
        final_speed_mps, "m/s", 3, "Final speed", "Forward speed.";
        largest_speed_mps, "m/s", 3, "Maximum speed", "Forward speed.";
        peak_lateral_acceleration_mps2, "m/s²", 3, "Peak lateral acceleration", "Largest absolute value.";
        peak_longitudinal_acceleration_mps2, "m/s²", 3, "Peak longitudinal acceleration", "Largest absolute value.";
        peak_yaw_rate_degps, "deg/s", 3, "Peak yaw rate", "Largest absolute value.";
        peak_roll_deg, "deg", 3, "Peak roll angle", "Largest absolute value.";
    }
}

impl Script {
    /// Computes the metrics of a run; all always have a value. Duration and final values are those of the last row. The
    /// distance is the horizontal path of the centre of mass, summed over the steps. The maximum speed is the largest
    /// signed forward speed. All other peaks are largest magnitudes over the whole run.
    pub fn measure(&self, trajectory: &Trajectory) -> ScriptMetrics {
        let last_frame = trajectory.last();
        let step_distance = |(previous, next): (Cow<'_, Frame>, Cow<'_, Frame>)| {
            (next.x_m - previous.x_m).hypot(next.y_m - previous.y_m)
        };
        ScriptMetrics {
            duration_s: Some(last_frame.t_s),
            distance_m: Some(trajectory.rows().zip(trajectory.rows_from(1)).map(step_distance).sum()),
            final_x_m: Some(last_frame.x_m),
            final_y_m: Some(last_frame.y_m),
            final_yaw_deg: Some(last_frame.yaw_rad.to_degrees()),
            final_speed_mps: Some(last_frame.vx_mps),
            // 0.0: from the start.
            largest_speed_mps: Some(trajectory.peak(0.0, |f| f.vx_mps).vx_mps),
            peak_lateral_acceleration_mps2: Some(trajectory.peak_magnitude(|f| f.ay_mps2)),
            peak_longitudinal_acceleration_mps2: Some(trajectory.peak_magnitude(|f| f.ax_mps2)),
            peak_yaw_rate_degps: Some(trajectory.peak_magnitude(|f| f.yaw_rate_radps).to_degrees()),
            peak_roll_deg: Some(trajectory.peak_magnitude(|f| f.roll_rad).to_degrees()),
        }
    }
}

impl Manoeuvre for Script {
    fn name(&self) -> &'static str {
        "script"
    }
    fn about(&self) -> String {
        format!("open-loop run of a table with {} inputs over {} s", self.tracks.len(), self.end_s)
    }
    /// Returns level ground with the car at rest, in the first gear that the table names, or in an automatically
    /// selected gear. The run ends at the last row.
    fn setup(&self, _model: &Model) -> Setup {
        let mut setup = Setup { duration_s: self.end_s, ..Setup::flat(0.0) };
        setup.placement.gear = self.first_gear();
        setup
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::ANY_START
    }
    fn driver(&self, _model: &Model) -> Box<dyn DriverModel> {
        Box::new(ScriptDriver { script: self.clone(), speed_controller: PedalSpeedController::default() })
    }
    fn metrics(&self, _model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.measure(trajectory).list()
    }
}

#[cfg(test)]
mod tests;
