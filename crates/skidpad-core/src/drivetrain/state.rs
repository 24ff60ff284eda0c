//! State of the drivetrain between steps.

use crate::drivetrain::motor::MAX_MOTORS;
use crate::drivetrain::parameters::MAX_COUPLINGS;
use skidpad_simd::math::all_finite;

/// State of the drivetrain.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DriveState {
    /// Speed of the crankshaft, rad/s; negative if the wheels turn a dead engine backwards.
    pub engine_speed: f32,
    /// Engaged gear: −1, 0, 1…
    pub gear: i8,
    /// Gear that a running shift will engage.
    pub next_gear: i8,
    /// Present ratio of a continuous gearbox, without the final drive; 0 for other gearboxes.
    pub ratio: f32,
    /// Remaining time of a running shift, s.
    pub shift_left: f32,
    /// Time since the last shift ended, s, up to 1000.
    pub since_shift: f32,
    /// Mean torque of the clutch over the last step, N m; positive drives forward in a forward gear.
    pub clutch: f32,
    /// Mean torque of each coupling over the last step, N m; positive towards its first side.
    pub couplings: [f32; MAX_COUPLINGS],
    /// Mean torque of each motor's rotor over the last step, N m; positive drives forward.
    pub motors: [f32; MAX_MOTORS],
}

impl DriveState {
    /// Returns whether every number is finite.
    pub fn is_finite(&self) -> bool {
        let Self { engine_speed, gear: _, next_gear: _, ratio, shift_left, since_shift, clutch, couplings, motors } =
            self;
        all_finite(&[*engine_speed, *ratio, *shift_left, *since_shift, *clutch])
            && all_finite(couplings)
            && all_finite(motors)
    }
}
