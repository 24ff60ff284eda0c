//! Tables of the assists: defaults, units, faults.

use skidpad_core::model::{
    AntiLock, Assists, CounterSteer, CruiseControl, SpeedSteering, StabilityControl, TractionControl,
};
use skidpad_spec::{FaultKind, LoadedVehicle, shipped};

/// Tables of all assists, to append to a vehicle file.
pub const ALL: &str = include_str!("files/assists.toml");

fn with(tables: &str) -> Result<Assists, Vec<(FaultKind, String)>> {
    let text = format!("{}\n{tables}", shipped::find("corvette_c5").expect("shipped"));
    match LoadedVehicle::read("car.toml", &text) {
        Ok(loaded) => Ok(loaded.model.parts().assists),
        Err(faults) => Err(faults.list().iter().map(|fault| (fault.kind, fault.path.clone())).collect()),
    }
}

#[test]
fn assists_are_off_without_their_table_and_have_defaults_with_it() {
    assert_eq!(with(""), Ok(Assists::default()));
    assert_eq!(with("[assists]"), Ok(Assists::default()));
    let all = with(ALL).expect("sound");
    assert_eq!(all.abs, Some(AntiLock { slip: 0.12, time_constant: 0.01, min_speed: 1.5, select_low_axles: 0 }));
    let degrees = |angle: f64| angle.to_radians() as f32;
    let stability =
        StabilityControl { max_sideslip: degrees(6.0), tolerance: degrees(3.0), slip: 0.12, ..Default::default() };
    assert_eq!(all.stability, Some(stability));
    let counter_steer = CounterSteer { gain: 1.0, max_angle: degrees(20.0), speed_range: [3.0, 6.0] };
    assert_eq!(all.counter_steer, Some(counter_steer));
    assert_eq!(all.speed_steering, Some(SpeedSteering { speed_range: [10.0, 30.0], factors: [0.3, 0.5] }));
    assert_eq!((all.angular_drag, all.lowered_centre), (0.5, 0.1));
    let traction = TractionControl { slip: 0.12, min_slip_speed: 0.5, time_constant: 0.01, brake_share: 0.5 };
    assert_eq!(all.traction, Some(traction));
    let launch = all.launch.expect("given");
    assert!((launch.engine_speed - 366.519).abs() < 1e-3, "3500 rev/min: {}", launch.engine_speed);
    let cruise = CruiseControl { time_constant: 1.0, max_acceleration: 2.0, may_brake: true };
    assert_eq!(all.cruise, Some(cruise));
    let tables = "[assists.abs]\n[assists.stability]\n[assists.counter_steer]\n[assists.traction]\n[assists.cruise]";
    let short = with(&format!("{tables}\n[assists.launch]\nengine_rpm = 3500")).expect("sound");
    assert_eq!((short.launch, short.cruise), (all.launch, Some(CruiseControl { may_brake: false, ..cruise })));
    assert_eq!(short.traction, Some(TractionControl { brake_share: 0.0, ..traction }));
    assert_eq!((short.abs, short.stability, short.counter_steer), (all.abs, all.stability, all.counter_steer));
}

#[test]
fn every_fault_of_assists_is_told_at_once() {
    let faults = with(
        "[assists.abs]\nslip = 0\nselect_low_axles = [2, 3]\n[assists.counter_steer]\nspeed_range_mps = [6, 3]\n[assists.speed_steering]\nlock_factor = 2\n\
         [assists.turbo]\n[non_physical.lowered_centre]\nby_m = 2\n",
    );
    let faults = faults.expect_err("four faults");
    let expected = [
        (FaultKind::OutOfRange, "assists.abs.slip"),
        (FaultKind::Contradiction, "assists.abs.select_low_axles[1]"),
        (FaultKind::Contradiction, "assists.counter_steer.speed_range_mps"),
        (FaultKind::MissingKey, "assists.speed_steering.speed_range_mps"),
        (FaultKind::OutOfRange, "assists.speed_steering.lock_factor"),
        (FaultKind::UnknownKey, "assists.turbo"),
        (FaultKind::Contradiction, "non_physical.lowered_centre.by_m"),
    ];
    for (kind, path) in expected {
        assert!(faults.contains(&(kind, path.into())), "{path}: {faults:?}");
    }
    assert_eq!(faults.len(), expected.len(), "{faults:?}");
}

/// Axles with select-low control become bits, the lowest one for the first axle.
#[test]
fn axles_with_select_low_control_are_counted_from_1() {
    let bits = |list: &str| {
        with(&format!("[assists.abs]\nselect_low_axles = {list}")).map(|all| all.abs.expect("on").select_low_axles)
    };
    assert_eq!([bits("[]"), bits("[2]"), bits("[1, 2, 2]")], [Ok(0), Ok(0b10), Ok(0b11)]);
}
