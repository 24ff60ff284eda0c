//! State of the drivetrain of a car that starts.

use crate::drivetrain::state::DriveState;
use crate::model::Model;
use crate::state::placement::Placement;

impl DriveState {
    /// Builds the state of a drivetrain that starts with the speed and gear of `placement`. In a car without an engine
    /// the gear is that of the placement or 1, and all other values are 0.
    ///
    /// The gear of a car with an engine follows from the speed if the placement has no gear: first gear below 0.1 m/s,
    /// reverse backwards, otherwise the lowest gear without an upshift. The gear is clamped to those that exist. The
    /// engine turns with the wheels, clamped between idle and limiter speed; a continuous ratio is that for a closed
    /// throttle. Torques are 0, and an automatic shift is possible at once.
    pub(crate) fn at_speed(model: &Model, placement: &Placement) -> Self {
        let Some(drive) = model.parts().powertrain.engine() else {
            let gear = placement.gear.unwrap_or(1);
            return Self { gear, next_gear: gear, ..Self::default() };
        };
        // Mean wheel speed weighted by the torque shares, rad/s.
        let shaft_speed = model
            .wheels()
            .iter()
            .zip(&drive.torque_shares)
            .map(|(wheel, share)| share * placement.speed / wheel.radius)
            .sum::<f32>();
        let gearbox = &drive.gearbox;
        let automatic_gear = || match placement.speed {
            // At most the top gear, 0 without forward gears.
            speed if speed.abs() < 0.1 => 1.min(gearbox.clamp_gear(i8::MAX)),
            speed if speed < 0.0 => -1,
            _ => gearbox.rolling_gear(shaft_speed),
        };
        let gear = gearbox.clamp_gear(placement.gear.unwrap_or_else(automatic_gear));
        // 0.0: closed throttle.
        let ratio = gearbox.cvt.map_or(0.0, |continuous| gearbox.target_ratio(&continuous, shaft_speed, 0.0));
        let rolling_engine_speed = shaft_speed * gearbox.ratio_at(gear, ratio);
        Self {
            ratio,
            engine_speed: rolling_engine_speed.clamp(drive.engine.idle_speed, drive.engine.limiter_speed),
            gear,
            next_gear: gear,
            // Long ago, so that an automatic shift is possible at once.
            since_shift: 1000.0,
            ..Self::default()
        }
    }
}
