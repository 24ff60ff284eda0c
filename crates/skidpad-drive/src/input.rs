//! Keys and sticks to pedals and steering: dead zones, curves, rates, and a steering limit that depends on speed.

use skidpad_core::{Model, STANDARD_GRAVITY, math};

/// Inputs of a player, as shares of the full travel of the device.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Inputs {
    /// Accelerator, 0 to 1.
    pub throttle: f32,
    /// Brake, or reverse from a standstill, 0 to 1.
    pub brake: f32,
    /// Steering, −1 (full right) to 1 (full left).
    pub steer: f32,
    /// Handbrake, 0 to 1.
    pub handbrake: f32,
}

/// Keys that are pressed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Keys {
    /// Accelerator key.
    pub throttle: bool,
    /// Brake key, or reverse from a standstill.
    pub brake: bool,
    /// Steering key to the left.
    pub left: bool,
    /// Steering key to the right.
    pub right: bool,
    /// Handbrake key.
    pub handbrake: bool,
}

impl From<Keys> for Inputs {
    /// Returns 1 for each pressed key and 0 for the others; steering is left minus right, 0 for both.
    fn from(keys: Keys) -> Self {
        let key_position = |is_pressed: bool| f32::from(u8::from(is_pressed));
        Self {
            throttle: key_position(keys.throttle),
            brake: key_position(keys.brake),
            steer: key_position(keys.left) - key_position(keys.right),
            handbrake: key_position(keys.handbrake),
        }
    }
}

/// Conversion of device positions to pedals and steering. Every number is clamped to its range; a non-finite one counts
/// as 0, except where infinity is allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct InputShaping {
    /// Dead zone of the steering around its centre, as a share of its travel, 0 to 0.9. The remaining travel is
    /// stretched to the full range.
    pub steer_dead_zone: f32,
    /// Dead zone at the start of each pedal, as a share of its travel, 0 to 0.9.
    pub pedal_dead_zone: f32,
    /// Exponent of the steering over its travel, 1 to 4. Values above 1 make it finer around the centre.
    pub steer_curve: f32,
    /// Rate at which a pedal goes down, 1/s, > 0; infinite for no delay.
    pub press_rate: f32,
    /// Rate at which a pedal comes up, 1/s, > 0; infinite for no delay.
    pub release_rate: f32,
    /// Rate at which the steering moves away from the centre, shares of the steering limit per second, > 0; infinite
    /// for no delay.
    pub steer_rate: f32,
    /// Rate at which the steering returns to the centre, shares of the steering limit per second, > 0; infinite for no
    /// delay.
    pub centring_rate: f32,
    /// Lateral acceleration, as a multiple of gravity, that limits the steering at speed, > 0; infinite for the full
    /// lock at any speed. See [`max_useful_steer`].
    pub max_lateral_g: f32,
    /// Steering beyond that limit for the slip angles of the tyres, rad, ≥ 0.
    pub slip_allowance: f32,
}

impl InputShaping {
    /// Settings for keys, which are either pressed or not.
    pub const KEYBOARD: Self = Self {
        steer_dead_zone: 0.0,
        pedal_dead_zone: 0.0,
        steer_curve: 1.0,
        press_rate: 4.0,
        release_rate: 8.0,
        steer_rate: 3.0,
        centring_rate: 6.0,
        max_lateral_g: 1.2,
        slip_allowance: 0.08,
    };
    /// Settings for the sticks and triggers of a gamepad.
    pub const GAMEPAD: Self = Self {
        steer_dead_zone: 0.1,
        pedal_dead_zone: 0.05,
        steer_curve: 1.5,
        press_rate: 12.0,
        release_rate: 12.0,
        steer_rate: 5.0,
        centring_rate: 8.0,
        ..Self::KEYBOARD
    };
    /// Settings for a steering wheel and pedals, without any shaping.
    pub const WHEEL: Self = Self {
        steer_dead_zone: 0.0,
        pedal_dead_zone: 0.0,
        steer_curve: 1.0,
        press_rate: f32::INFINITY,
        release_rate: f32::INFINITY,
        steer_rate: f32::INFINITY,
        centring_rate: f32::INFINITY,
        max_lateral_g: f32::INFINITY,
        slip_allowance: 0.0,
    };
}

impl Default for InputShaping {
    fn default() -> Self {
        Self::KEYBOARD
    }
}

/// Returns the largest useful mean road-wheel angle at `speed` m/s, rad, ≥ 0: the lock of `model`, or less at speed.
/// The limit is the path angle `atan(L a / v²)` at a lateral acceleration a of `lateral_g` times gravity, plus
/// `slip_allowance` rad for the slip of the tyres. L is the longest turning distance over steering ratio of the steered
/// axles, m. The result is clamped to 0 to the lock; a limit that is not finite counts as the lock. Source: Gillespie,
/// Fundamentals of Vehicle Dynamics, eq. 6-14, with the understeer as an angle.
pub fn max_useful_steer(model: &Model, speed: f32, lateral_g: f32, slip_allowance: f32) -> f32 {
    let lock = model.parts().steering.lock;
    let steered_axles = model.parts().axles.iter().filter(|axle| axle.steer_ratio != 0.0);
    // Longest distance L of a steered axle, m.
    let turning_length = steered_axles.map(|axle| (axle.turning_distance / axle.steer_ratio).abs()).fold(0.0, f32::max);
    // Path angle, rad. The bound avoids a division by 0 at standstill.
    let path_angle = math::atan(turning_length * lateral_g * STANDARD_GRAVITY / (speed * speed).max(f32::MIN_POSITIVE));
    let angle = path_angle + slip_allowance;
    if angle.is_finite() { angle.clamp(0.0, lock) } else { lock }
}

/// Current pedals and steering, which follow the inputs at limited rates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InputFilter {
    /// Pedals and steering after the last update.
    filtered: Inputs,
}

impl InputFilter {
    /// Advances pedals (accelerator, brake, handbrake) and steering towards `inputs` by `dt` s, stores and returns
    /// them. Each input is clamped to its range (a non-finite one counts as 0) and loses its dead zone. The travel x of
    /// the steering is then bent by the curve `x^c`. The exponent c is [`InputShaping::steer_curve`], limited to 1
    /// to 4.
    ///
    /// Pedals approach their input at the press or release rate of `shaping`. Steering moves at
    /// [`InputShaping::steer_rate`] away from the centre and at [`InputShaping::centring_rate`] towards it. The
    /// returned pedals are 0 to 1. The returned steering is a share of the limit of [`max_useful_steer`], −1 (right) to
    /// 1 (left).
    pub fn update(&mut self, shaping: &InputShaping, inputs: &Inputs, dt: f32) -> Inputs {
        // Next position of a pedal.
        let filter_pedal = |position: f32, demand: f32| {
            let target = apply_dead_zone(finite_or_zero(demand).clamp(0.0, 1.0), shaping.pedal_dead_zone);
            let rate = if target > position { shaping.press_rate } else { shaping.release_rate };
            move_towards(position, target, rate, dt)
        };
        // Stick position, −1 to 1.
        let stick_position = finite_or_zero(inputs.steer).clamp(-1.0, 1.0);
        let travel = apply_dead_zone(stick_position.abs(), shaping.steer_dead_zone);
        let exponent = finite_or_zero(shaping.steer_curve).clamp(1.0, 4.0);
        // travel^exponent; 0 has no logarithm.
        let shaped_travel = if travel > 0.0 { math::exp(exponent * math::ln(travel)) } else { 0.0 };
        self.filtered = Inputs {
            throttle: filter_pedal(self.filtered.throttle, inputs.throttle),
            brake: filter_pedal(self.filtered.brake, inputs.brake),
            steer: filter_steering(self.filtered.steer, shaped_travel.copysign(stick_position), shaping, dt),
            handbrake: filter_pedal(self.filtered.handbrake, inputs.handbrake),
        };
        self.filtered
    }
}

/// Returns the steering after `dt` s, moved from `position` towards `target`; both are shares of the steering limit.
/// The steering moves away from the centre at the steering rate and towards it at the centring rate. If `target` is on
/// the other side of the centre, the steering moves at most to the centre in this call.
fn filter_steering(position: f32, target: f32, shaping: &InputShaping, dt: f32) -> f32 {
    let is_returning = position * target < 0.0 || target.abs() < position.abs();
    if !is_returning {
        return move_towards(position, target, shaping.steer_rate, dt);
    }
    let next_target = if position * target < 0.0 { 0.0 } else { target };
    move_towards(position, next_target, shaping.centring_rate, dt)
}

/// Maps `value` beyond a dead zone linearly to 0 to 1; 0 within it. The zone is clamped to 0 to 0.9; a non-finite one
/// counts as 0.
fn apply_dead_zone(value: f32, dead_zone: f32) -> f32 {
    let clamped_zone = finite_or_zero(dead_zone).clamp(0.0, 0.9);
    ((value - clamped_zone) / (1.0 - clamped_zone)).clamp(0.0, 1.0)
}

/// Returns `position` moved towards `target` at `rate` per second for `dt` s, without overshoot. A negative or NaN rate
/// or time counts as 0. Returns `target` if `rate` is infinite, even if `dt` is zero.
fn move_towards(position: f32, target: f32, rate: f32, dt: f32) -> f32 {
    let max_change = rate.max(0.0) * dt.max(0.0);
    // Infinity times zero: no delay.
    if max_change.is_nan() { target } else { position + (target - position).clamp(-max_change, max_change) }
}

/// Returns `value`, or 0 if it is not finite.
pub(crate) fn finite_or_zero(value: f32) -> f32 {
    if value.is_finite() { value } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a key presses the throttle fully at 4 a second, in the 25th step of 0.01 s, and that a device
    /// without rates releases it at once.
    #[test]
    fn pedals_take_the_time_of_their_rate() {
        let (mut filter, full) = (InputFilter::default(), Inputs { throttle: 1.0, ..Inputs::default() });
        let unfinished_steps =
            (0..100).take_while(|_| filter.update(&InputShaping::KEYBOARD, &full, 0.01).throttle < 1.0 - 1e-5).count();
        assert_eq!(unfinished_steps, 24, "4 a second reach the end in the 25th hundredth");
        assert_eq!(filter.update(&InputShaping::WHEEL, &Inputs::default(), 0.01).throttle, 0.0);
    }

    /// Checks the steering after a dead zone of 0.2 and a quadratic curve, at seven stick positions of both signs: 0
    /// within the zone, 1 at the end.
    #[test]
    fn dead_zones_keep_the_whole_range_and_curves_its_ends() {
        let shaping = InputShaping { steer_dead_zone: 0.2, steer_curve: 2.0, ..InputShaping::WHEEL };
        let at = |steer| InputFilter::default().update(&shaping, &Inputs { steer, ..Inputs::default() }, 0.01).steer;
        for (asked, shaped) in
            [(0.0, 0.0), (0.2, 0.0), (-0.2, 0.0), (0.6, 0.25), (-0.6, -0.25), (1.0, 1.0), (-1.0, -1.0)]
        {
            assert!((at(asked) - shaped).abs() < 1e-6, "{asked} became {}", at(asked));
        }
    }

    /// Checks three steps of keyboard steering from the left to the right: towards the centre at 6 a second, a stop at
    /// the centre, then away from it at 3 a second.
    #[test]
    fn steering_to_the_other_side_goes_back_to_the_middle_first() {
        let mut filter = InputFilter { filtered: Inputs { steer: 0.5, ..Inputs::default() } };
        let right = Inputs { steer: -1.0, ..Inputs::default() };
        assert!(
            (filter.update(&InputShaping::KEYBOARD, &right, 0.05).steer - 0.2).abs() < 1e-6,
            "6 a second to the middle"
        );
        assert_eq!(filter.update(&InputShaping::KEYBOARD, &right, 0.05).steer, 0.0);
        assert!(
            (filter.update(&InputShaping::KEYBOARD, &right, 0.05).steer + 0.15).abs() < 1e-6,
            "3 a second away from it"
        );
    }

    /// Checks that invalid inputs count as 0 for all devices, and that invalid settings and an invalid time keep all
    /// outputs within 0 to 1.
    #[test]
    fn what_is_not_a_number_is_nothing() {
        let bad = Inputs { throttle: f32::NAN, brake: f32::INFINITY, steer: f32::NAN, handbrake: -3.0 };
        for shaping in [InputShaping::KEYBOARD, InputShaping::GAMEPAD, InputShaping::WHEEL] {
            assert_eq!(InputFilter::default().update(&shaping, &bad, 0.1), Inputs::default());
        }
        let odd = InputShaping {
            press_rate: f32::NAN,
            steer_rate: f32::NAN,
            steer_curve: f32::NAN,
            steer_dead_zone: f32::NAN,
            ..InputShaping::KEYBOARD
        };
        let full = Inputs { throttle: 1.0, brake: 1.0, steer: 1.0, handbrake: 1.0 };
        let shaped = InputFilter::default().update(&odd, &full, f32::NAN);
        assert!(
            [shaped.throttle, shaped.brake, shaped.steer, shaped.handbrake].iter().all(|v| (0.0..=1.0).contains(v))
        );
    }
}
