//! Assists with the parameters of the tests, singly and all together.

use skidpad::core::model::{
    AntiLock, Assists, CounterSteer, CruiseControl, LaunchControl, SpeedSteering, StabilityControl, TractionControl,
};

pub const COUNTER_STEER: CounterSteer = CounterSteer { gain: 1.0, max_angle: 0.4, speed_range: [3.0, 6.0] };

pub const ABS: AntiLock = AntiLock { slip: 0.1, time_constant: 0.01, min_speed: 1.5, select_low_axles: 0 };
pub const TRACTION: TractionControl =
    TractionControl { slip: 0.1, min_slip_speed: 0.5, time_constant: 0.01, brake_share: 0.0 };
pub const LAUNCH: LaunchControl =
    LaunchControl { engine_speed: 400.0, slip: 0.1, min_slip_speed: 0.5, time_constant: 0.01, max_speed: 20.0 };
pub const CRUISE: CruiseControl = CruiseControl { time_constant: 1.0, max_acceleration: 2.0, may_brake: false };

/// Returns every assist and arcade aid together.
pub fn all() -> Assists {
    Assists {
        abs: Some(ABS),
        stability: Some(StabilityControl::default()),
        traction: Some(TractionControl { brake_share: 0.5, ..TRACTION }),
        launch: Some(LAUNCH),
        cruise: Some(CruiseControl { may_brake: true, ..CRUISE }),
        counter_steer: Some(COUNTER_STEER),
        speed_steering: Some(SpeedSteering { speed_range: [5.0, 15.0], factors: [0.3, 0.5] }),
        lowered_centre: 0.1,
        angular_drag: 0.2,
    }
}
