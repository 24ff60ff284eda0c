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

/// Builds the powertrain of the model. Direct drive stores the torque of each wheel (N m) that its axle states. An
/// engine has a launch device: the clutch or, without one, the torque converter. The torque share of an axle is divided
/// evenly by its wheels. Lists by wheel are in the order of `wheel_positions`; missing entries of a list by axle are 0.
/// Engine speeds become rad/s.
///
/// # Errors
/// An engine has neither clutch nor converter, or the points of a curve are not valid.
pub(super) fn build_powertrain(
    spec: &VehicleSpec,
    wheel_positions: &[WheelPosition],
) -> Result<Powertrain, ModelError> {
    // Value of an axle in a list by axle; 0 beyond its end.
    let value_of_axle = |values: &[f64], axle: usize| values.get(axle).copied().unwrap_or(0.0);
    match &spec.powertrain {
        spec::Powertrain::None {} => Ok(Powertrain::None),
        spec::Powertrain::Direct { wheel_torque_nm } => Ok(Powertrain::Direct(
            wheel_positions.iter().map(|position| value_of_axle(wheel_torque_nm, position.axle) as f32).collect(),
        )),
        spec::Powertrain::Engine { engine, clutch, converter, gearbox, differential } => {
            let wheel_shares = wheel_positions.iter().map(|position| {
                (value_of_axle(&differential.torque_split, position.axle) / wheel_count(&spec.axles[position.axle]))
                    as f32
            });
            let launch_device = match (clutch, converter) {
                (Some(clutch), _) => LaunchDevice::Clutch(Clutch {
                    capacity: clutch.capacity_nm as f32,
                    engaged_speed: (clutch.engaged_rpm * RAD_PER_S_PER_RPM) as f32,
                }),
                (None, Some(converter)) => LaunchDevice::Converter(build_converter(converter)?),
                (None, None) => return Err(ModelError::RuleViolated("an engine needs a clutch or a torque converter")),
            };
            let (engine, gearbox, torque_shares) =
                (build_engine(engine)?, build_gearbox(gearbox), wheel_shares.collect());
            Ok(Powertrain::Engine(Box::new(EngineDrive { engine, launch_device, gearbox, torque_shares })))
        }
    }
}

/// Builds a piecewise linear curve from its points in single precision. Fails if the core refuses the points.
fn build_curve(points: impl Iterator<Item = [f64; 2]>) -> Result<Curve, ModelError> {
    Curve::new(points.map(|point| point.map(|value| value as f32)).collect()).map_err(ModelError::RuleViolated)
}

/// Builds the engine: torque curve over angular speed (rad/s, N m), drag torque as a constant (N m) and a rise per
/// speed (N m s/rad), idle, limiter and stall speed (rad/s), inertia. Without points there is no throttle map. Fails if
/// the core refuses a curve.
fn build_engine(engine: &spec::Engine) -> Result<Engine, ModelError> {
    let throttle_map = (!engine.throttle_map.is_empty())
        .then(|| build_curve(engine.throttle_map.iter().map(|point| [point.pedal, point.share])));
    Ok(Engine {
        torque: build_curve(engine.torque_curve.iter().map(|point| [point.rpm * RAD_PER_S_PER_RPM, point.torque_nm]))?,
        drag: [engine.drag_nm as f32, (engine.drag_nm_per_1000_rpm / (1000.0 * RAD_PER_S_PER_RPM)) as f32],
        idle_speed: (engine.idle_rpm * RAD_PER_S_PER_RPM) as f32,
        limiter_speed: (engine.limit_rpm * RAD_PER_S_PER_RPM) as f32,
        inertia: engine.inertia_kg_m2 as f32,
        throttle_map: throttle_map.transpose()?,
        stall_speed: (engine.stall_rpm * RAD_PER_S_PER_RPM) as f32,
    })
}

/// Builds the torque converter: curves of capacity (N m s²/rad²) and torque ratio over the speed ratio, and the lock-up
/// clutch if there is one (capacity in N m, turbine speed in rad/s, lowest gear). Fails if the core refuses a curve.
fn build_converter(converter: &spec::Converter) -> Result<Converter, ModelError> {
    let points = &converter.points;
    let lock_up = converter.lock_up.as_ref().map(|lock_up_spec| LockUp {
        capacity: lock_up_spec.capacity_nm as f32,
        speed: (lock_up_spec.turbine_rpm * RAD_PER_S_PER_RPM) as f32,
        lowest_gear: lock_up_spec.lowest_gear as i8,
    });
    Ok(Converter {
        capacity: build_curve(points.iter().map(|point| [point.speed_ratio, point.capacity_nm_s2_per_rad2]))?,
        torque_ratio: build_curve(points.iter().map(|point| [point.speed_ratio, point.torque_ratio]))?,
        lock_up,
    })
}

/// Builds the gearbox with shift speeds in rad/s. Ratios, efficiency and shift time (s) are copied. An absent speed of
/// the easy up-shift (at light throttle) is the up-shift speed, an absent kick-down speed the down-shift speed. A
/// continuously variable transmission has engine speeds for closed and full throttle (rad/s) and a largest rate of its
/// ratio (1/s).
fn build_gearbox(gearbox: &spec::Gearbox) -> Gearbox {
    let to_rad_per_s = |rpm: f64| (rpm * RAD_PER_S_PER_RPM) as f32;
    Gearbox {
        forward: gearbox.forward.iter().map(|&ratio| ratio as f32).collect(),
        reverse: gearbox.reverse as f32,
        final_drive: gearbox.final_drive as f32,
        efficiency: gearbox.efficiency as f32,
        shift_time: gearbox.shift_time_s as f32,
        up_speed: to_rad_per_s(gearbox.up_shift_rpm),
        easy_up_speed: to_rad_per_s(gearbox.light_throttle_up_shift_rpm.unwrap_or(gearbox.up_shift_rpm)),
        down_speed: to_rad_per_s(gearbox.down_shift_rpm),
        kick_down_speed: to_rad_per_s(gearbox.kick_down_rpm.unwrap_or(gearbox.down_shift_rpm)),
        cvt: gearbox.continuous.as_ref().map(|cvt_spec| Cvt {
            engine_speeds: [cvt_spec.closed_rpm, cvt_spec.full_rpm].map(to_rad_per_s),
            max_ratio_rate: cvt_spec.ratio_per_s as f32,
        }),
    }
}

/// Returns the indices of the wheels of axle number `axle`, counted from 1.
fn wheels_of_axle(wheel_positions: &[WheelPosition], axle: u32) -> Box<[usize]> {
    (0..wheel_positions.len()).filter(|&i| wheel_positions[i].axle + 1 == axle as usize).collect()
}

/// Builds the electric motors. A description with `each_wheel` becomes one motor for each wheel of its axle; any other
/// becomes one motor that drives all wheels of the axle. Values are not divided: each motor has the torque and power of
/// its description. Absent power is unlimited; the largest speed becomes rad/s. Motors are in the order of the
/// descriptions, then of the wheels.
pub(super) fn build_motors(spec: &VehicleSpec, wheel_positions: &[WheelPosition]) -> Vec<Motor> {
    let build_motor = |motor_spec: &spec::Motor, wheels: Box<[usize]>| Motor {
        wheels,
        peak_torque: motor_spec.peak_torque_nm as f32,
        power: motor_spec.peak_power_w.map_or(f32::INFINITY, |power| power as f32),
        max_speed: (motor_spec.limit_rpm * RAD_PER_S_PER_RPM) as f32,
        reduction: motor_spec.reduction as f32,
        efficiency: motor_spec.efficiency as f32,
        inertia: motor_spec.inertia_kg_m2 as f32,
        lift_regeneration: motor_spec.lift_regeneration as f32,
        brake_regeneration: motor_spec.brake_regeneration as f32,
    };
    let motors_of_spec = |motor_spec: &spec::Motor| -> Vec<Motor> {
        let wheels = wheels_of_axle(wheel_positions, motor_spec.axle);
        if motor_spec.each_wheel {
            wheels.iter().map(|&wheel| build_motor(motor_spec, [wheel].into())).collect()
        } else {
            vec![build_motor(motor_spec, wheels)]
        }
    };
    spec.motors.iter().flat_map(motors_of_spec).collect()
}

/// Builds the couplings between two axles, or between the left (lateral position above 0) and the right wheels of one
/// axle. Any other number of axles gives sides without wheels. A locked coupling has no other values. For any other
/// coupling, the friction torque is half the preload (N m), because the preload is the torque difference between both
/// sides. The bias is `[drive, coast]`; an absent coast bias is that under drive.
pub(super) fn build_couplings(spec: &VehicleSpec, wheel_positions: &[WheelPosition]) -> Vec<TorqueCoupling> {
    let build_coupling = |coupling_spec: &spec::Coupling| {
        let sides = match coupling_spec.axles[..] {
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
        if coupling_spec.locked {
            return TorqueCoupling::locked(sides);
        }
        TorqueCoupling {
            sides,
            friction: (0.5 * coupling_spec.preload_nm) as f32,
            bias: [
                coupling_spec.torque_bias_ratio_drive,
                coupling_spec.torque_bias_ratio_coast.unwrap_or(coupling_spec.torque_bias_ratio_drive),
            ]
            .map(|bias| bias as f32),
            viscous: coupling_spec.viscous_nm_s_per_rad as f32,
        }
    };
    spec.couplings.iter().map(build_coupling).collect()
}
