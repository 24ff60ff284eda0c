//! Conversion of the drivetrain of a description to SI units.

use super::wheel_count;
use crate::spec::{self, VehicleSpec};
use crate::wheel_positions::WheelPosition;
use skidpad_core::ModelError;
use skidpad_core::model::{
    Clutch, Converter, Curve, Cvt, Engine, EngineDrive, Gearbox, LaunchDevice, LockUp, Motor, Powertrain,
    TorqueCoupling,
};
use std::f64::consts::TAU;

/// Angular speed of one revolution per minute, rad/s.
pub(super) const RAD_PER_S_PER_RPM: f64 = TAU / 60.0;

/// Builds the powertrain of the model. Direct drive stores the torque of each wheel (N m) that its axle states. An engine
/// has a clutch or, without one, a torque converter. The share of an axle is divided evenly by its wheels; missing list
/// entries are 0.
///
/// # Errors
/// An engine has neither clutch nor converter, or the points of a curve are not valid.
pub(super) fn powertrain(spec: &VehicleSpec, wheel_positions: &[WheelPosition]) -> Result<Powertrain, ModelError> {
    // Value of an axle in a list by axle; 0 beyond its end.
    let of_axle = |list: &[f64], axle: usize| list.get(axle).copied().unwrap_or(0.0);
    match &spec.powertrain {
        spec::Powertrain::None {} => Ok(Powertrain::None),
        spec::Powertrain::Direct { wheel_torque_nm } => {
            Ok(Powertrain::Direct(wheel_positions.iter().map(|s| of_axle(wheel_torque_nm, s.axle) as f32).collect()))
        }
        spec::Powertrain::Engine { engine, clutch, converter, gearbox, differential } => {
            let shares = wheel_positions
                .iter()
                .map(|s| (of_axle(&differential.axle_shares, s.axle) / wheel_count(&spec.axles[s.axle])) as f32);
            let launch_device = match (clutch, converter) {
                (Some(clutch), _) => LaunchDevice::Clutch(Clutch {
                    capacity: clutch.capacity_nm as f32,
                    engaged_speed: (clutch.engaged_rpm * RAD_PER_S_PER_RPM) as f32,
                }),
                (None, Some(converter)) => LaunchDevice::Converter(build_converter(converter)?),
                (None, None) => return Err(ModelError::RuleViolated("an engine needs a clutch or a torque converter")),
            };
            let (engine, gearbox, shares) = (build_engine(engine)?, build_gearbox(gearbox), shares.collect());
            Ok(Powertrain::Engine(Box::new(EngineDrive { engine, launch_device, gearbox, torque_shares: shares })))
        }
    }
}

/// Builds a piecewise linear curve from its points in single precision. Fails if the core refuses the points.
fn build_curve(points: impl Iterator<Item = [f64; 2]>) -> Result<Curve, ModelError> {
    Curve::new(points.map(|point| point.map(|value| value as f32)).collect()).map_err(ModelError::RuleViolated)
}

/// Builds the engine: torque curve over angular speed (rad/s, N m), drag torque as a constant and a rise per rad/s, idle,
/// limiter and stall speed (rad/s), inertia. Without points there is no throttle map.
fn build_engine(engine: &spec::Engine) -> Result<Engine, ModelError> {
    let map =
        (!engine.throttle_map.is_empty()).then(|| build_curve(engine.throttle_map.iter().map(|p| [p.pedal, p.share])));
    Ok(Engine {
        torque: build_curve(engine.torque_curve.iter().map(|p| [p.rpm * RAD_PER_S_PER_RPM, p.torque_nm]))?,
        drag: [engine.drag_nm as f32, (engine.drag_nm_per_1000_rpm / (1000.0 * RAD_PER_S_PER_RPM)) as f32],
        idle_speed: (engine.idle_rpm * RAD_PER_S_PER_RPM) as f32,
        limiter_speed: (engine.limit_rpm * RAD_PER_S_PER_RPM) as f32,
        inertia: engine.inertia_kg_m2 as f32,
        throttle_map: map.transpose()?,
        stall_speed: (engine.stall_rpm * RAD_PER_S_PER_RPM) as f32,
    })
}

/// Builds the torque converter: capacity and torque ratio over the speed ratio, and the lock-up clutch if there is one
/// (capacity in N m, turbine speed in rad/s, lowest gear).
fn build_converter(converter: &spec::Converter) -> Result<Converter, ModelError> {
    let points = &converter.points;
    let lock_up = converter.lock_up.as_ref().map(|own| LockUp {
        capacity: own.capacity_nm as f32,
        speed: (own.turbine_rpm * RAD_PER_S_PER_RPM) as f32,
        lowest_gear: own.lowest_gear as i8,
    });
    Ok(Converter {
        capacity: build_curve(points.iter().map(|p| [p.speed_ratio, p.capacity_nm_s2_per_rad2]))?,
        torque_ratio: build_curve(points.iter().map(|p| [p.speed_ratio, p.torque_ratio]))?,
        lock_up,
    })
}

/// Builds the gearbox with shift speeds in rad/s. Absent speeds of easy up-shifts and kick-down are those of normal
/// shifts. A continuously variable transmission has engine speeds for closed and full throttle.
fn build_gearbox(gearbox: &spec::Gearbox) -> Gearbox {
    let speed = |rpm: f64| (rpm * RAD_PER_S_PER_RPM) as f32;
    Gearbox {
        forward: gearbox.forward.iter().map(|&ratio| ratio as f32).collect(),
        reverse: gearbox.reverse as f32,
        final_drive: gearbox.final_drive as f32,
        efficiency: gearbox.efficiency as f32,
        shift_time: gearbox.shift_time_s as f32,
        up_speed: speed(gearbox.up_shift_rpm),
        easy_up_speed: speed(gearbox.easy_up_shift_rpm.unwrap_or(gearbox.up_shift_rpm)),
        down_speed: speed(gearbox.down_shift_rpm),
        kick_down_speed: speed(gearbox.kick_down_rpm.unwrap_or(gearbox.down_shift_rpm)),
        cvt: gearbox.continuous.as_ref().map(|own| Cvt {
            engine_speeds: [own.closed_rpm, own.full_rpm].map(speed),
            max_ratio_rate: own.ratio_per_s as f32,
        }),
    }
}

/// Returns the indices of the wheels of axle number `axle`, counted from 1.
fn wheels_of_axle(wheel_positions: &[WheelPosition], axle: u32) -> Box<[usize]> {
    (0..wheel_positions.len()).filter(|&i| wheel_positions[i].axle + 1 == axle as usize).collect()
}

/// Builds the electric motors. A description with `each_wheel` becomes one motor for each wheel of its axle, otherwise
/// one motor drives all wheels of the axle. Absent power is unlimited; the largest speed becomes rad/s.
pub(super) fn motors(spec: &VehicleSpec, wheel_positions: &[WheelPosition]) -> Vec<Motor> {
    let motor = |given: &spec::Motor, wheels: Box<[usize]>| Motor {
        wheels,
        peak_torque: given.peak_torque_nm as f32,
        power: given.peak_power_w.map_or(f32::INFINITY, |power| power as f32),
        max_speed: (given.limit_rpm * RAD_PER_S_PER_RPM) as f32,
        reduction: given.reduction as f32,
        efficiency: given.efficiency as f32,
        inertia: given.inertia_kg_m2 as f32,
        lift_regeneration: given.lift_regeneration as f32,
        brake_regeneration: given.brake_regeneration as f32,
    };
    let motors_of = |given: &spec::Motor| -> Vec<Motor> {
        let wheels = wheels_of_axle(wheel_positions, given.axle);
        if given.each_wheel {
            wheels.iter().map(|&wheel| motor(given, [wheel].into())).collect()
        } else {
            vec![motor(given, wheels)]
        }
    };
    spec.motors.iter().flat_map(motors_of).collect()
}

/// Builds the couplings between two axles, or between the left and the right wheels of one axle. A locked coupling has no
/// other values. Otherwise the friction torque is half the preload (N m), and the bias when coasting is that under drive
/// if it is absent.
pub(super) fn couplings(spec: &VehicleSpec, wheel_positions: &[WheelPosition]) -> Vec<TorqueCoupling> {
    let coupling = |given: &spec::Coupling| {
        let sides = match given.axles[..] {
            [first, second] => [wheels_of_axle(wheel_positions, first), wheels_of_axle(wheel_positions, second)],
            [axle] => {
                let (left, right) = wheels_of_axle(wheel_positions, axle)
                    .iter()
                    // Positive lateral positions are on the left.
                    .partition::<Vec<usize>, _>(|&&i| wheel_positions[i].point[1] > 0.0);
                [left.into(), right.into()]
            }
            _ => Default::default(),
        };
        if given.locked {
            return TorqueCoupling::locked(sides);
        }
        TorqueCoupling {
            sides,
            friction: (0.5 * given.preload_nm) as f32,
            bias: [given.drive_bias, given.coast_bias.unwrap_or(given.drive_bias)].map(|bias| bias as f32),
            viscous: given.viscous_nm_s_per_rad as f32,
        }
    };
    spec.couplings.iter().map(coupling).collect()
}
