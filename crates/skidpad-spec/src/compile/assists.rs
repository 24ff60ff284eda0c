//! Conversion of driver assists to SI units.

use std::borrow::Cow;

use super::powertrain::RAD_PER_S_PER_RPM;
use crate::spec::{NonPhysical, VehicleSpec};
use skidpad_core::model::{
    AntiLock, Assists, CounterSteer, CruiseControl, LaunchControl, SpeedSteering, StabilityControl, TractionControl,
};

/// Returns the non-physical aid that `select` chooses, `None` if the file does not have it.
fn non_physical<T>(spec: &VehicleSpec, select: fn(&NonPhysical) -> &Option<T>) -> Option<&T> {
    spec.non_physical.as_ref().and_then(|aids| select(aids).as_ref())
}

/// Returns the distance by which the centre of mass of the chassis is lowered, m; 0 without this aid.
fn lowering_m(spec: &VehicleSpec) -> f64 {
    non_physical(spec, |aids| &aids.lowered_centre).map_or(0.0, |lowered_centre| lowered_centre.by_m)
}

/// Returns a copy of `spec` with its centre of mass lowered by the distance that the file states (m); `spec` itself,
/// borrowed, if the distance is 0. No other value changes.
pub(super) fn with_lowered_centre(spec: &VehicleSpec) -> Cow<'_, VehicleSpec> {
    let lowering_distance = lowering_m(spec);
    if lowering_distance == 0.0 {
        return Cow::Borrowed(spec);
    }
    let mut lowered_spec = spec.clone();
    lowered_spec.chassis.centre_above_ground_m -= lowering_distance;
    Cow::Owned(lowered_spec)
}

/// Builds the driver assists of the model: ABS, stability, traction, launch and cruise control, counter-steer,
/// speed-dependent steering, and the non-physical aids: lowered centre of mass (m) and angular drag (1/s). An assist
/// without a table is off (`None`), an aid without one is 0. Values are copied in single precision. Angles become rad,
/// yaw rates and engine speeds rad/s; slips, times and speeds are in SI units already. The axles with select-low
/// control become a bit mask: bit `i` for axle number `i + 1`.
pub(super) fn assists(spec: &VehicleSpec) -> Assists {
    let no_assists = crate::spec::Assists::default();
    let assists_spec = spec.assists.as_ref().unwrap_or(&no_assists);
    let to_speed_range = |mps: [f64; 2]| mps.map(|speed| speed as f32);
    Assists {
        abs: assists_spec.abs.as_ref().map(|abs| AntiLock {
            slip: abs.slip as f32,
            time_constant: abs.time_constant_s as f32,
            min_speed: abs.min_speed_mps as f32,
            // The reader has checked the numbers of the axles; others select no axle.
            select_low_axles: abs
                .select_low_axles
                .iter()
                .filter_map(|number| 1u32.checked_shl(number.checked_sub(1)?))
                .fold(0, |bits, bit| bits | bit),
        }),
        stability: assists_spec.stability.as_ref().map(|stability| StabilityControl {
            understeer_gradient: stability.understeer_rad_per_mps2 as f32,
            max_acceleration: stability.max_lateral_mps2 as f32,
            max_sideslip: stability.max_sideslip_deg.to_radians() as f32,
            tolerance: stability.tolerance_deg_per_s.to_radians() as f32,
            time_constant: stability.time_constant_s as f32,
            slip: stability.slip as f32,
            speed_range: to_speed_range(stability.speed_range_mps),
        }),
        traction: assists_spec.traction.as_ref().map(|traction| TractionControl {
            slip: traction.slip as f32,
            min_slip_speed: traction.min_slip_mps as f32,
            time_constant: traction.time_constant_s as f32,
            brake_share: traction.brake_authority as f32,
        }),
        launch: assists_spec.launch.as_ref().map(|launch| LaunchControl {
            engine_speed: (launch.engine_rpm * RAD_PER_S_PER_RPM) as f32,
            slip: launch.slip as f32,
            min_slip_speed: launch.min_slip_mps as f32,
            time_constant: launch.time_constant_s as f32,
            max_speed: launch.max_speed_mps as f32,
        }),
        cruise: assists_spec.cruise.as_ref().map(|cruise| CruiseControl {
            time_constant: cruise.time_constant_s as f32,
            max_acceleration: cruise.max_acceleration_mps2 as f32,
            may_brake: cruise.may_brake,
        }),
        counter_steer: assists_spec.counter_steer.as_ref().map(|counter_steer| CounterSteer {
            gain: counter_steer.gain as f32,
            max_angle: counter_steer.max_angle_deg.to_radians() as f32,
            speed_range: to_speed_range(counter_steer.speed_range_mps),
        }),
        speed_steering: assists_spec.speed_steering.as_ref().map(|speed_steering| SpeedSteering {
            speed_range: to_speed_range(speed_steering.speed_range_mps),
            factors: [speed_steering.lock_factor, speed_steering.rate_factor].map(|factor| factor as f32),
        }),
        lowered_centre: lowering_m(spec) as f32,
        angular_drag: non_physical(spec, |aids| &aids.angular_drag)
            .map_or(0.0, |angular_drag| angular_drag.rate_per_s as f32),
    }
}
