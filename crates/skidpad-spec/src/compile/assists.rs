//! Conversion of driver assists to SI units.

use std::borrow::Cow;

use super::powertrain::RAD_PER_S_PER_RPM;
use crate::spec::VehicleSpec;
use skidpad_core::model::{
    AntiLock, Assists, CounterSteer, CruiseControl, LaunchControl, SpeedSteering, StabilityControl, TractionControl,
};

/// Returns the distance by which the assists lower the centre of mass of the chassis, m; 0 without this assist.
fn lowering_m(spec: &VehicleSpec) -> f64 {
    spec.assists
        .as_ref()
        .and_then(|assists| assists.lowered_centre.as_ref())
        .map_or(0.0, |lowered_centre| lowered_centre.by_m)
}

/// Returns `spec` with its centre of mass lowered as the assists state; `spec` itself if the distance is 0. Nothing else
/// changes.
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
/// speed-dependent steering, lowered centre of mass (m) and angular drag (1/s). Returns no assists if the file has no
/// `assists`; an assist without a table is off. Copies the values in single precision. Angles become rad, yaw rates rad/s
/// and engine speeds rad/s; slips, times and speeds are in SI units already.
pub(super) fn assists(spec: &VehicleSpec) -> Assists {
    let Some(assists_spec) = &spec.assists else {
        return Assists::default();
    };
    let to_speed_range = |mps: [f64; 2]| mps.map(|speed| speed as f32);
    Assists {
        abs: assists_spec.abs.as_ref().map(|abs| AntiLock {
            slip: abs.slip as f32,
            time_constant: abs.response_s as f32,
            min_speed: abs.off_below_mps as f32,
        }),
        stability: assists_spec.stability.as_ref().map(|stability| StabilityControl {
            understeer_gradient: stability.understeer_rad_per_mps2 as f32,
            max_acceleration: stability.largest_lateral_mps2 as f32,
            max_sideslip: stability.largest_sideslip_deg.to_radians() as f32,
            tolerance: stability.tolerance_deg_per_s.to_radians() as f32,
            time_constant: stability.response_s as f32,
            slip: stability.slip as f32,
            speed_range: to_speed_range(stability.fades_in_mps),
        }),
        traction: assists_spec.traction.as_ref().map(|traction| TractionControl {
            slip: traction.slip as f32,
            min_slip_speed: traction.least_slip_mps as f32,
            time_constant: traction.response_s as f32,
            brake_share: traction.brake_share as f32,
        }),
        launch: assists_spec.launch.as_ref().map(|launch| LaunchControl {
            engine_speed: (launch.engine_rpm * RAD_PER_S_PER_RPM) as f32,
            slip: launch.slip as f32,
            min_slip_speed: launch.least_slip_mps as f32,
            time_constant: launch.response_s as f32,
            max_speed: launch.until_mps as f32,
        }),
        cruise: assists_spec.cruise.as_ref().map(|cruise| CruiseControl {
            time_constant: cruise.response_s as f32,
            max_acceleration: cruise.largest_acceleration_mps2 as f32,
            may_brake: cruise.may_brake,
        }),
        counter_steer: assists_spec.counter_steer.as_ref().map(|counter_steer| CounterSteer {
            gain: counter_steer.gain as f32,
            max_angle: counter_steer.authority_deg.to_radians() as f32,
            speed_range: to_speed_range(counter_steer.fades_in_mps),
        }),
        speed_steering: assists_spec.speed_steering.as_ref().map(|speed_steering| SpeedSteering {
            speed_range: to_speed_range(speed_steering.between_mps),
            factors: [speed_steering.lock_share, speed_steering.rate_share].map(|share| share as f32),
        }),
        lowered_centre: lowering_m(spec) as f32,
        angular_drag: assists_spec.angular_drag.as_ref().map_or(0.0, |angular_drag| angular_drag.rate_per_s as f32),
    }
}
