//! Assists with the parameters of the tests, singly and all together.

use skidpad::core::model::{
    AntiLock, Assists, CounterSteer, CruiseControl, LaunchControl, SpeedSteering, StabilityControl, TractionControl,
};

pub const COUNTER_STEER: CounterSteer = CounterSteer { gain: 1.0, authority: 0.4, fades_in: [3.0, 6.0] };

pub const ABS: AntiLock = AntiLock { slip: 0.1, response: 0.01, off_below: 1.5 };
pub const TRACTION: TractionControl = TractionControl { slip: 0.1, least: 0.5, response: 0.01, brakes: 0.0 };
pub const LAUNCH: LaunchControl =
    LaunchControl { engine_speed: 400.0, slip: 0.1, least: 0.5, response: 0.01, until: 20.0 };
pub const CRUISE: CruiseControl = CruiseControl { response: 1.0, largest_acceleration: 2.0, may_brake: false };

/// Returns every assist and arcade aid together.
pub fn all() -> Assists {
    Assists {
        abs: Some(ABS),
        stability: Some(StabilityControl::default()),
        traction: Some(TractionControl { brakes: 0.5, ..TRACTION }),
        launch: Some(LAUNCH),
        cruise: Some(CruiseControl { may_brake: true, ..CRUISE }),
        counter_steer: Some(COUNTER_STEER),
        speed_steering: Some(SpeedSteering { between: [5.0, 15.0], shares: [0.3, 0.5] }),
        lowered_centre: 0.1,
        angular_drag: 0.2,
    }
}
