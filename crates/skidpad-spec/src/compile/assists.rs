//! Conversion of driver assists to SI units.

use std::borrow::Cow;

use super::powertrain::RAD_PER_S_PER_RPM;
use crate::spec::VehicleSpec;
use skidpad_core::model::{
    AntiLock, Assists, CounterSteer, CruiseControl, LaunchControl, SpeedSteering, StabilityControl, TractionControl,
};

/// Returns the distance by which the assists lower the centre of mass of the chassis, m; 0 without this assist.
fn lowering_m(spec: &VehicleSpec) -> f64 {
    spec.assists.as_ref().and_then(|given| given.lowered_centre.as_ref()).map_or(0.0, |own| own.by_m)
}

/// Returns `spec` with its centre of mass lowered as the assists state; `spec` itself if the distance is 0. Nothing else
/// changes.
pub(super) fn with_lowered_centre(spec: &VehicleSpec) -> Cow<'_, VehicleSpec> {
    let by = lowering_m(spec);
    if by == 0.0 {
        return Cow::Borrowed(spec);
    }
    let mut lower = spec.clone();
    lower.chassis.centre_above_ground_m -= by;
    Cow::Owned(lower)
}

/// Builds the driver assists of the model: ABS, stability, traction, launch and cruise control, counter-steer,
/// speed-dependent steering, lowered centre of mass (m) and angular drag (1/s). Returns no assists if the file has no
/// `assists`; an assist without a table is off. Copies the values in single precision. Angles become rad, yaw rates rad/s
/// and engine speeds rad/s; slips, times and speeds are in SI units already.
pub(super) fn assists(spec: &VehicleSpec) -> Assists {
    let Some(given) = &spec.assists else {
        return Assists::default();
    };
    let speeds = |mps: [f64; 2]| mps.map(|speed| speed as f32);
    Assists {
        abs: given.abs.as_ref().map(|own| AntiLock {
            slip: own.slip as f32,
            time_constant: own.response_s as f32,
            min_speed: own.off_below_mps as f32,
        }),
        stability: given.stability.as_ref().map(|own| StabilityControl {
            understeer_gradient: own.understeer_rad_per_mps2 as f32,
            max_acceleration: own.largest_lateral_mps2 as f32,
            max_sideslip: own.largest_sideslip_deg.to_radians() as f32,
            tolerance: own.tolerance_deg_per_s.to_radians() as f32,
            time_constant: own.response_s as f32,
            slip: own.slip as f32,
            speed_range: speeds(own.fades_in_mps),
        }),
        traction: given.traction.as_ref().map(|own| TractionControl {
            slip: own.slip as f32,
            min_slip_speed: own.least_slip_mps as f32,
            time_constant: own.response_s as f32,
            brake_share: own.brake_share as f32,
        }),
        launch: given.launch.as_ref().map(|own| LaunchControl {
            engine_speed: (own.engine_rpm * RAD_PER_S_PER_RPM) as f32,
            slip: own.slip as f32,
            min_slip_speed: own.least_slip_mps as f32,
            time_constant: own.response_s as f32,
            max_speed: own.until_mps as f32,
        }),
        cruise: given.cruise.as_ref().map(|own| CruiseControl {
            time_constant: own.response_s as f32,
            max_acceleration: own.largest_acceleration_mps2 as f32,
            may_brake: own.may_brake,
        }),
        counter_steer: given.counter_steer.as_ref().map(|own| CounterSteer {
            gain: own.gain as f32,
            max_angle: own.authority_deg.to_radians() as f32,
            speed_range: speeds(own.fades_in_mps),
        }),
        speed_steering: given.speed_steering.as_ref().map(|own| SpeedSteering {
            speed_range: speeds(own.between_mps),
            factors: [own.lock_share, own.rate_share].map(|share| share as f32),
        }),
        lowered_centre: lowering_m(spec) as f32,
        angular_drag: given.angular_drag.as_ref().map_or(0.0, |own| own.rate_per_s as f32),
    }
}
