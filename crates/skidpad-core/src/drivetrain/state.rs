//! State of the drivetrain between steps.

use crate::drivetrain::motor::MAX_MOTORS;
use crate::drivetrain::parameters::MAX_COUPLINGS;
use crate::math::all_finite;
use crate::model::Model;
use crate::state::placement::Placement;

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

    /// Builds the state of a car that starts with the speed and gear of `placement`. Without a gear, the speed determines it: first gear below 0.1
    /// m/s, reverse backwards, else the lowest gear without an upshift; in a car without an engine it is 1. The gear is limited to those that exist.
    /// The engine turns with the wheels, clamped between idle and limiter speed; a continuous ratio is that for a closed throttle. Torques are 0, and
    /// an automatic shift is possible at once.
    pub(crate) fn at_speed(model: &Model, placement: &Placement) -> Self {
        let Some(drive) = model.parts().powertrain.engine() else {
            let gear = placement.gear.unwrap_or(1);
            return Self { gear, next_gear: gear, ..Self::default() };
        };
        // Mean wheel speed weighted by the torque shares, rad/s.
        let shaft = model
            .wheels()
            .iter()
            .zip(&drive.torque_shares)
            .map(|(wheel, share)| share * placement.speed / wheel.radius)
            .sum::<f32>();
        let gearbox = &drive.gearbox;
        let automatic = || match placement.speed {
            s if s.abs() < 0.1 => 1.min(gearbox.clamp_gear(i8::MAX)),
            s if s < 0.0 => -1,
            _ => gearbox.rolling_gear(shaft),
        };
        let gear = gearbox.clamp_gear(placement.gear.unwrap_or_else(automatic));
        let ratio = gearbox.cvt.map_or(0.0, |continuous| gearbox.target_ratio(&continuous, shaft, 0.0));
        let turning = shaft * gearbox.ratio_at(gear, ratio);
        Self {
            ratio,
            engine_speed: turning.clamp(drive.engine.idle_speed, drive.engine.limiter_speed),
            gear,
            next_gear: gear,
            // Long ago, so that an automatic shift is possible at once.
            since_shift: 1000.0,
            ..Self::default()
        }
    }
}
