//! Straight-line driving: resistance, drive force, top speed and stopping distance.

use skidpad_core::Model;
use skidpad_core::model::{Engine, EngineDrive, LaunchDevice, Motor, Powertrain, Wheel};
use skidpad_core::tyre::Conditions;

use super::steady_state::{LoadDemand, solve_at_roll};
use super::{CruiseState, GRAVITY_MPS2};

/// Computes drag and rolling resistance of the whole car on level ground at `v` m/s (N). Ride heights and loads are
/// those at this speed, or those at rest if there is no steady pose.
pub fn resistance(model: &Model, v: f64) -> f64 {
    Resistance::at_speed(model, v).force(model, v)
}

/// Drag and wheel loads of a car in the steady pose of one speed, which determine its resistance.
pub(super) struct Resistance {
    /// Drag coefficient (N s²/m²).
    drag: f64,
    /// Load of each wheel (N).
    loads: Vec<f64>,
}

impl Resistance {
    /// Returns the static loads and the drag coefficient without aerodynamic maps.
    pub(super) fn at_rest(model: &Model) -> Self {
        let loads = (0..model.wheels().len()).map(|i| model.static_load(i).into()).collect();
        Self { drag: model.parts().aero.drag.into(), loads }
    }

    /// Computes the loads and the drag coefficient in the steady pose at `v` m/s. They equal those at rest if the car
    /// has neither downforce nor aerodynamic maps, or if there is no steady pose.
    fn at_speed(model: &Model, v: f64) -> Self {
        let cruise_state = if has_speed_dependent_loads(model) { CruiseState::at_speed(model, v) } else { None };
        // The coefficient follows from the drag force; 1e-12 avoids a division by zero at standstill.
        let from_cruise =
            |cruise: CruiseState| Self { drag: cruise.drag_n / (v * v).max(1e-12), loads: cruise.steady.loads };
        cruise_state.map_or_else(|| Self::at_rest(model), from_cruise)
    }

    /// Computes drag `k v²` plus the rolling resistance of all wheels at `v` m/s (N). Drag coefficient and loads stay
    /// those of the pose; only `v²` and the rolling coefficients follow `v`.
    pub(super) fn force(&self, model: &Model, v: f64) -> f64 {
        let loaded_wheels = model.wheels().iter().zip(&self.loads);
        let rolling_resistances =
            loaded_wheels.map(|(wheel, load)| f64::from(wheel.rolling.coefficient(v as f32)) * load);
        self.drag * v * v + rolling_resistances.sum::<f64>()
    }
}

/// Returns true if wheel loads or drag coefficient depend on the speed: a car with aerodynamic maps, downforce or lift.
fn has_speed_dependent_loads(model: &Model) -> bool {
    let aero = &model.parts().aero;
    aero.maps.is_some() || aero.downforce.iter().any(|surface| surface.coefficient != 0.0)
}

/// Returns the share of each wheel in the drive force (–), in wheel order, with a sum of 1. Shares are proportional to
/// wheel torques, which are sums of:
///
/// - wheel motors: full torque
/// - electric motors: torque at standstill, divided equally among the wheels of a motor
/// - engine: maximum torque in first gear; without electric motors only the shares by which its differentials divide
///   the torque
///
/// All wheels have equal shares for a car without a drive.
pub fn drive_shares(model: &Model) -> Vec<f64> {
    // Torque of the additional electric motors at wheel `i` (N m); a motor divides its torque equally.
    let motor_torque_sum = |i: usize| -> f64 {
        // 0.0: motor at standstill.
        let wheel_motors = model.parts().motors.iter().filter(|motor| motor.wheels.contains(&i));
        wheel_motors.map(|motor| motor_torque(motor, 0.0) / motor.wheels.len() as f64).sum()
    };
    // Maximum engine torque at wheel `i` in first gear (N m).
    let engine_torque = |drive: &EngineDrive, i: usize| {
        let ratio = drive.gearbox.ratio(1) * drive.gearbox.efficiency;
        f64::from(drive.torque_shares[i] * ratio * drive.engine.torque.max_value())
    };
    // Torque, or share of the torque if an engine drives alone: only the ratio of the wheels counts.
    let powertrain_torque = |i: usize| match &model.parts().powertrain {
        Powertrain::None => 0.0,
        Powertrain::Direct(torques) => f64::from(torques[i]),
        Powertrain::Engine(drive) if model.parts().motors.is_empty() => f64::from(drive.torque_shares[i]),
        Powertrain::Engine(drive) => engine_torque(drive, i),
    };
    let wheel_torques: Vec<f64> =
        (0..model.wheels().len()).map(|i| powertrain_torque(i) + motor_torque_sum(i)).collect();
    let (sum, wheel_count) = (wheel_torques.iter().sum::<f64>(), model.wheels().len());
    if sum > 0.0 {
        wheel_torques.iter().map(|torque| torque / sum).collect()
    } else {
        vec![1.0 / wheel_count as f64; wheel_count]
    }
}

/// Computes the full-throttle force at the road at `v` m/s in the forward gear `gear` with closed clutch (N). The gear
/// is ignored without a gearbox.
pub fn drive_force(model: &Model, v: f64, gear: i8) -> f64 {
    let motor_forces = model.parts().motors.iter().map(|motor| motor_force(model, motor, v));
    powertrain_force(model, v, gear) + motor_forces.sum::<f64>()
}

/// Computes the largest force at the road with which a standing car can start before its first driven wheel spins (N):
/// `F = min μ N / s` over the driven wheels with their shares s of the drive. The loads N include the load transfer of
/// the resulting acceleration, so the force is iterated 40 times from 0. An iteration for whose loads there is no pose
/// keeps the force of the iteration before.
pub fn launch_force(model: &Model) -> f64 {
    // Each iteration gains about one digit, as in `stopping_distance`.
    (0..40).fold(0.0, |force, _| spinning_force(model, force).unwrap_or(force))
}

/// Computes the largest driving force before the first driven wheel spins under the loads at rest, without load
/// transfer (N); 0 if no pose carries the car.
pub fn standing_force(model: &Model) -> f64 {
    spinning_force(model, 0.0).unwrap_or(0.0)
}

/// Computes the force at which the first driven wheel spins (N), under the load transfer of a driving force `force`
/// (N); `None` if no pose provides these loads.
fn spinning_force(model: &Model, force: f64) -> Option<f64> {
    let (shares, mass) = (drive_shares(model), f64::from(model.mass()));
    // Load transfer. 0.0: no roll. Acceleration is negative braking.
    let steady = solve_at_roll(model, 0.0, LoadDemand::braking(model, -force / mass))?;
    // Force at which wheel `i` spins; [0]: longitudinal friction coefficient.
    let force_limit =
        |i: usize| f64::from(model.tyre(i).friction_at(steady.loads[i] as f32)[0]) * steady.loads[i] / shares[i];
    Some((0..shares.len()).filter(|&i| shares[i] > 0.0).map(force_limit).fold(f64::INFINITY, f64::min))
}

/// Returns the total torque of a motor at its wheels at full throttle (N m). `wheel_speed` is the mean speed of the
/// wheels (rad/s).
fn motor_torque(motor: &Motor, wheel_speed: f64) -> f64 {
    // 1.0: full throttle.
    let (torque, _) = motor.torque(wheel_speed as f32 * motor.reduction, 1.0);
    f64::from(torque * motor.reduction * motor.efficiency)
}

/// Computes the full-throttle force of an electric motor at the road at `v` m/s (N), over the mean of the inverse
/// wheel radii.
fn motor_force(model: &Model, motor: &Motor, v: f64) -> f64 {
    // Angular speed of the wheels per road speed (rad/m).
    let inverse_radius = f64::from(motor.angle_per_metre(model.wheels()) / motor.reduction);
    motor_torque(motor, v * inverse_radius) * inverse_radius
}

/// Computes the full-throttle force of the powertrain at the road at `v` m/s (N), without additional electric motors.
/// Wheel motors have a constant torque; their force is the sum of torque over wheel radius and does not depend on `v`
/// and `gear`. An engine acts through clutch or torque converter and the forward gear `gear` (a continuous gearbox has
/// the ratio of full throttle at `v`), with the efficiency of the gearbox and the mean inverse radius of the driven
/// wheels. The force is 0 without a powertrain.
fn powertrain_force(model: &Model, v: f64, gear: i8) -> f64 {
    let wheels = model.wheels();
    match &model.parts().powertrain {
        Powertrain::None => 0.0,
        Powertrain::Direct(torques) => {
            torques.iter().zip(wheels).map(|(&torque, wheel)| f64::from(torque) / f64::from(wheel.radius)).sum()
        }
        Powertrain::Engine(drive) => {
            // Angular speed of the driven wheels per road speed (rad/m).
            let inverse_radius = mean_inverse_radius(drive, wheels);
            // 1.0: full throttle, which sets the ratio of a continuous gearbox.
            let ratio = f64::from(drive.gearbox.ratio_for(gear, (v * inverse_radius) as f32, 1.0));
            // Torque into the gearbox at the speed of its input shaft (N m).
            let input_torque = gearbox_torque(drive, gear, v * inverse_radius * ratio);
            input_torque * ratio * f64::from(drive.gearbox.efficiency) * inverse_radius
        }
    }
}

/// Returns the full-throttle torque of an engine at `speed` rad/s (N m). Below idle speed, where the clutch slips, it
/// is the torque at idle.
fn full_load_torque(engine: &Engine, speed: f32) -> f32 {
    engine.torque_at(speed.max(engine.idle_speed), 1.0)
}

/// Computes the stall speed of the torque converter (rad/s): the engine speed at full throttle with a standing car. At
/// this speed engine and impeller torque balance; it is at most the limiter speed. Below idle speed the engine has its
/// torque at idle. `None` without an engine or a converter.
pub fn stall_speed(model: &Model) -> Option<f64> {
    let EngineDrive { engine, launch_device: LaunchDevice::Converter(converter), .. } =
        model.parts().powertrain.engine()?
    else {
        return None;
    };
    // 0.0: the turbine stands.
    Some(converter.balance_speed(|speed| full_load_torque(engine, speed), 0.0, engine.limiter_speed).into())
}

/// Returns the sum of the maximum powers of all motors (W); `None` without motors. The power of a motor is limited to
/// its peak torque times its maximum speed.
pub fn motor_power(model: &Model) -> Option<f64> {
    let max_power = |motor: &Motor| f64::from(motor.power.min(motor.peak_torque * motor.max_speed));
    let motors = &model.parts().motors;
    (!motors.is_empty()).then(|| motors.iter().map(max_power).sum())
}

/// Computes the full-throttle torque into the gearbox (N m) when its input shaft turns at `input_speed` rad/s in
/// `gear`. With a clutch or a locked torque converter it is the full-throttle torque of the engine at this speed. With
/// an open converter it is the turbine torque at the engine speed at which engine and impeller torque balance.
fn gearbox_torque(drive: &EngineDrive, gear: i8, input_speed: f64) -> f64 {
    let engine = &drive.engine;
    match &drive.launch_device {
        LaunchDevice::Converter(converter)
            if !converter.lock_up.is_some_and(|clutch| clutch.is_closed(gear, input_speed as f32)) =>
        {
            // Engine speed at which engine and impeller torque balance (rad/s).
            let impeller_speed = converter.balance_speed(
                |speed| full_load_torque(engine, speed),
                input_speed as f32,
                engine.limiter_speed,
            );
            // [1]: turbine torque.
            f64::from(converter.torques(impeller_speed, input_speed as f32)[1])
        }
        _ => f64::from(full_load_torque(engine, input_speed as f32)),
    }
}

/// Returns the mean angular speed of the driven wheels per road speed (rad/m): the mean of 1 / radius, weighted by the
/// shares of the drive.
pub(crate) fn mean_inverse_radius(drive: &EngineDrive, wheels: &[Wheel]) -> f64 {
    drive.torque_shares.iter().zip(wheels).map(|(&share, wheel)| f64::from(share) / f64::from(wheel.radius)).sum()
}

/// Searches the highest speed at which the drive force of some gear still overcomes the resistance (m/s), in steps of
/// 0.01 m/s up to 150 m/s.
///
/// The resistance of a car with downforce, lift or aerodynamic maps depends on its pose at that speed. The first result
/// is therefore that of the pose at rest. Each of at most 100 iterations searches the speed for the pose at the last
/// result. The iteration ends once this speed differs from the last result by less than 0.01 m/s; otherwise the mean of
/// both is the next result.
///
/// `None` if no gear overcomes the resistance at the first step, as without a motor, or if the search exceeds 149.9
/// m/s; in each case for any pose of the iteration.
pub fn top_speed(model: &Model) -> Option<f64> {
    let max_speed_against = |resistance: Resistance| max_overcome_speed(model, |v| resistance.force(model, v));
    let mut speed = max_speed_against(Resistance::at_rest(model))?;
    if has_speed_dependent_loads(model) {
        for _ in 0..100 {
            let next_speed = max_speed_against(Resistance::at_speed(model, speed))?;
            if (next_speed - speed).abs() < SEARCH_STEP_MPS {
                break;
            }
            speed = 0.5 * (speed + next_speed);
        }
    }
    Some(speed)
}

/// Step of the search for the top speed (m/s).
const SEARCH_STEP_MPS: f64 = 0.01;

/// Returns the highest speed up to which, at every step of the search from 0.01 m/s, some gear overcomes the resistance
/// (m/s). `resistance_at` returns the resistance (N) at a speed (m/s). `None` if no gear overcomes it at the first
/// step, or if the speed reaches 149.9 m/s.
pub(super) fn max_overcome_speed(model: &Model, resistance_at: impl Fn(f64) -> f64) -> Option<f64> {
    // Number of forward gears.
    let gear_count = model.parts().powertrain.engine().map_or(1, |drive| drive.gearbox.clamp_gear(i8::MAX));
    // Whether some gear overcomes the resistance.
    let can_overcome = |v: f64| (1..=gear_count).any(|gear| drive_force(model, v, gear) >= resistance_at(v));
    // 15 000 steps: up to 150 m/s.
    let max_speed = (1..=15_000).map(|i| f64::from(i) * SEARCH_STEP_MPS).take_while(|&v| can_overcome(v)).last();
    // A search that reaches its end has found no balance.
    max_speed.filter(|max_speed| *max_speed < 149.9)
}

/// Returns the maximum full-throttle power of the engine and the engine speed at this power, in W and rad/s. Searches
/// the points of the torque curve and a thousand equal steps from 0 to the limiter speed. Below idle speed the torque
/// is that at idle. `None` without an engine.
pub fn peak_power(model: &Model) -> Option<[f64; 2]> {
    const SPEED_LIMIT_STEPS: u16 = 1000;
    let engine = &model.parts().powertrain.engine()?.engine;
    // Evenly spaced speeds from 0 to the limiter speed (rad/s).
    let even_speeds =
        (0..=SPEED_LIMIT_STEPS).map(|i| engine.limiter_speed * f32::from(i) / f32::from(SPEED_LIMIT_STEPS));
    let speeds = engine.torque.points().iter().map(|point| point[0]).chain(even_speeds);
    let power_and_speed = |speed: f32| [f64::from(full_load_torque(engine, speed)) * f64::from(speed), speed.into()];
    speeds.map(power_and_speed).max_by(|a, b| a[0].total_cmp(&b[0]))
}

/// Brake pedal strategy of the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pedal {
    /// Fully pressed pedal. A wheel whose brake overcomes its tyre locks, or stays at the slip of the anti-lock brakes.
    FullPedal,
    /// Ideal braking: every wheel at the peak of its tyre, as far as its brake torque allows.
    IdealBraking,
}

/// Computes the stopping distance from `v` m/s (> 0) on level ground with load transfer (m):
/// `s = (m / 2 k) ln(1 + k v² / F)`. `k` is the drag force over the square of the speed (N s²/m²), without aerodynamic
/// maps. `F` is the braking force of all wheels with the brake fully applied, by the strategy `pedal`. The loads and
/// the spin of the wheels at the mean deceleration count for the whole stop. The deceleration `v² / 2 s` is iterated 40
/// times from 0.5 g. `None` if the braking force is not positive, as usually without brakes, or if the rear axle would
/// lift.
pub fn stopping_distance(model: &Model, v: f64, pedal: Pedal) -> Option<f64> {
    let (mass, drag) = (f64::from(model.mass()), f64::from(model.parts().aero.drag));
    // First estimate: 0.5 g.
    let mut deceleration = 0.5 * GRAVITY_MPS2;
    let mut distance = None;
    // Each iteration gains about one digit: the load transfer reacts to an error of the deceleration by the factor h /
    // L.
    for _ in 0..40 {
        // 0.0: no roll; 1.0: pedal fully pressed. The sum is the braking force of all wheels.
        let loads = solve_at_roll(model, 0.0, LoadDemand::braking(model, deceleration))?.loads;
        let force: f64 = (0..loads.len()).map(|i| braking_force(model, i, loads[i], deceleration, pedal, 1.0)).sum();
        if force <= 0.0 {
            return None;
        }
        let next_distance = braking_distance(v, mass, drag, force);
        deceleration = v * v / (2.0 * next_distance);
        distance = Some(next_distance);
    }
    distance
}

/// Computes the pedal position (–, 0 to 1) at which the first wheel reaches the peak of its tyre force, with the load
/// transfer of the resulting deceleration. The tyre force includes rolling resistance, less the part of the brake
/// torque that slows the spin of the wheel. The deceleration is iterated 40 times from 0. Returns 1 if no wheel reaches
/// its peak. `None` without brakes, or if the rear axle would lift.
pub fn threshold_pedal(model: &Model) -> Option<f64> {
    let mass = f64::from(model.mass());
    let mut deceleration = 0.0;
    let mut pedal_position = None;
    // Each iteration gains about one digit, as in `stopping_distance`.
    for _ in 0..40 {
        // 0.0: no roll.
        let loads = solve_at_roll(model, 0.0, LoadDemand::braking(model, deceleration))?.loads;
        // Pedal position at which wheel `i` reaches its peak force.
        let peak_position = |i: usize| {
            let (wheel, load) = (&model.wheels()[i], loads[i]);
            let radius = f64::from(wheel.radius);
            let peak = f64::from(model.tyre(i).friction_at(load as f32)[0]) * load;
            let spin_torque = f64::from(wheel.spin_inertia) * deceleration / radius;
            let brake_torque = (peak - f64::from(wheel.rolling.constant) * load) * radius + spin_torque;
            brake_torque / f64::from(wheel.brake_torque)
        };
        let braked_wheels = (0..loads.len()).filter(|&i| model.wheels()[i].brake_torque > 0.0);
        let position = braked_wheels.map(peak_position).min_by(f64::total_cmp)?.clamp(0.0, 1.0);
        // Largest forces up to which no wheel is beyond its peak.
        let forces =
            (0..loads.len()).map(|i| braking_force(model, i, loads[i], deceleration, Pedal::IdealBraking, position));
        deceleration = forces.sum::<f64>() / mass;
        pedal_position = Some(position);
    }
    pedal_position
}

/// Computes the distance in which a constant braking `force` (N) and the drag coefficient `drag` (N s²/m²) stop a
/// `mass` (kg) from `v` m/s (m): `(m / 2 k) ln(1 + k v² / F)`.
pub(super) fn braking_distance(v: f64, mass: f64, drag: f64, force: f64) -> f64 {
    let drag_ratio = drag * v * v / force;
    // ln(1 + x) / x, with its limit for small x.
    let distance_factor = if drag_ratio > 1e-9 { drag_ratio.ln_1p() / drag_ratio } else { 1.0 };
    mass * v * v / (2.0 * force) * distance_factor
}

/// Computes the braking force of wheel `i` under `load` (N) while the car slows by `deceleration` (m/s²) (N, positive
/// against the motion). `pedal_position` is the brake pedal position (–, 0 to 1).
///
/// The force is brake torque over radius, less the part that slows the spin of the wheel, plus rolling resistance, if
/// this is at most the peak force of the tyre. It can be negative for a wheel without a brake. Above the peak the force
/// depends on `pedal`. Ideal braking has the peak force, as has a tyre without creep (dry friction). A full pedal has
/// the force of the locked wheel, or that at the slip of the anti-lock brakes.
pub(super) fn braking_force(
    model: &Model,
    i: usize,
    load: f64,
    deceleration: f64,
    pedal: Pedal,
    pedal_position: f64,
) -> f64 {
    let wheel: &Wheel = &model.wheels()[i];
    let tyre = model.tyre(i);
    let radius = f64::from(wheel.radius);
    // Largest longitudinal force of the tyre (N).
    let peak = f64::from(tyre.friction_at(load as f32)[0]) * load;
    // The brake also decelerates the spin of the wheel by deceleration / radius.
    let brake_force = pedal_position * f64::from(wheel.brake_torque) / radius
        - f64::from(wheel.spin_inertia) * deceleration / (radius * radius);
    let rolling_resistance = f64::from(wheel.rolling.constant) * load;
    if brake_force + rolling_resistance <= peak {
        return brake_force + rolling_resistance;
    }
    match pedal {
        Pedal::IdealBraking => peak,
        // Dry friction has the same force at every slip.
        Pedal::FullPedal if !tyre.has_deflection_dynamics() => peak,
        Pedal::FullPedal => {
            // Slip 1 is a locked wheel.
            let slip = model.parts().assists.abs.map_or(1.0, |abs| abs.slip);
            // Negative slip brakes; load in N, speed 0.
            -f64::from(tyre.force([-slip, 0.0], &Conditions::upright(load as f32, 0.0)).force[0])
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use skidpad_core::model::{AntiLock, Clutch, Curve, Gearbox, Tyre};
    use skidpad_core::tyre::CurveLaw;

    #[test]
    fn top_speed_balances_drive_and_drag() {
        let model = testing::model();
        // Drive 800 N m on 0.3 m against 0.4 v² + 0.01 m g.
        let expected = ((800.0 / 0.3 - 98.1) / 0.4f64).sqrt();
        let found = top_speed(&model).expect("a motor and drag");
        assert!((found - expected).abs() < 0.02, "{found} {expected}");
    }

    /// Strong brakes stop a car without drag within `v² / 2 μ g` with both pedal strategies. Weak brakes stop it by
    /// their force and the rolling resistance, against a mass that includes the spin of the wheels.
    #[test]
    fn a_stop_of_locked_wheels_is_v_squared_over_two_mu_g() {
        let mut parts = testing::model().parts().clone();
        parts.aero.drag = 0.0;
        let model = Model::new(parts).expect("valid");
        // The brakes have 4 · 1500 N m / 0.3 m = 20 kN for a weight of 9.81 kN: all wheels lock at 1 g.
        for pedal in [Pedal::FullPedal, Pedal::IdealBraking] {
            let found = stopping_distance(&model, 20.0, pedal).expect("brakes");
            assert!((found - 400.0 / (2.0 * GRAVITY_MPS2)).abs() < 1e-5, "{found}");
        }
        let weak = |torque: f32| {
            let mut parts = model.parts().clone();
            for wheel in &mut parts.wheels {
                wheel.brake_torque = torque;
            }
            stopping_distance(&Model::new(parts).expect("valid"), 20.0, Pedal::FullPedal)
        };
        // Below the limit the spin of the wheels adds to the mass: 1000 + 4 / 0.09 kg. The rolling resistance is 0.01 m
        // g.
        let expected = (1000.0 + 4.0 / 0.09) * 400.0 / (2.0 * (4.0 * 300.0 / 0.3 + 98.1));
        let found = weak(300.0).expect("brakes");
        assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
    }

    /// Builds the test car with an engine of 200 N m up to its limit of 600 rad/s, drag of 10 N m and 0.1 N m s, and
    /// one gear. The engine has `throttle_map` and drives the rear wheels; `gear` is the ratio of the gear.
    fn with_engine(throttle_map: Option<Curve>, gear: f32) -> Model {
        let mut parts = testing::model().parts().clone();
        parts.powertrain = Powertrain::Engine(Box::new(EngineDrive {
            engine: Engine {
                torque: Curve::new(vec![[100.0, 200.0], [700.0, 200.0]]).expect("valid"),
                drag: [10.0, 0.1],
                idle_speed: 80.0,
                limiter_speed: 600.0,
                inertia: 0.2,
                throttle_map,
                stall_speed: 0.0,
            },
            gearbox: Gearbox {
                forward: [gear].into(),
                reverse: 3.0,
                final_drive: 1.0,
                efficiency: 1.0,
                shift_time: 0.2,
                up_speed: 550.0,
                easy_up_speed: 300.0,
                down_speed: 120.0,
                kick_down_speed: 120.0,
                cvt: None,
            },
            launch_device: LaunchDevice::Clutch(Clutch { capacity: 500.0, engaged_speed: 200.0 }),
            torque_shares: [0.0, 0.0, 0.5, 0.5].into(),
        }));
        Model::new(parts).expect("valid")
    }

    /// In its band, the last 2 %, the limiter leaves `(ω_l − ω) / (0.02 ω_l)` of the torque, and the engine drag has
    /// the remaining share. The top speed is the balance with the resistance. The peak power is at the lower end of the
    /// band, 588 rad/s.
    #[test]
    fn a_limiter_holds_a_car_within_its_band() {
        let model = with_engine(None, 4.0);
        let top = top_speed(&model).expect("driven");
        let turning = top / 0.3 * 4.0;
        let share = (600.0 - turning) / 12.0;
        let torque = 200.0 * share - (10.0 + 0.1 * turning) * (1.0 - share);
        // The step of the search is 0.133 rad/s of the engine or 0.0111 of the band: 3 N m.
        assert!((torque * 4.0 / 0.3 - resistance(&model, top)).abs() < 3.1 * 4.0 / 0.3, "{top} m/s, {torque} N m");
        let [power, speed] = peak_power(&model).expect("an engine");
        assert!((speed / 588.0 - 1.0).abs() < 1e-6 && (power / (200.0 * 588.0) - 1.0).abs() < 1e-6, "{power} {speed}");
    }

    /// A throttle map that opens the throttle to 0.6 leaves 0.4 of the engine drag. Drive force and peak power include
    /// both.
    #[test]
    fn a_throttle_map_that_ends_below_1_takes_drag_from_the_torque() {
        let map = Curve::new(vec![[0.0, 0.0], [1.0, 0.6]]).expect("valid");
        let model = with_engine(Some(map), 4.0);
        let torque = 0.6 * 200.0 - 0.4 * (10.0 + 0.1 * 400.0);
        let found = drive_force(&model, 400.0 * 0.3 / 4.0, 1) * 0.3 / 4.0;
        assert!((found / torque - 1.0).abs() < 1e-5, "{found} {torque}");
        let [power, speed] = peak_power(&model).expect("an engine");
        assert!((power / (speed * (120.0 - 0.4 * (10.0 + 0.1 * speed))) - 1.0).abs() < 1e-5, "{power} {speed}");
    }

    /// Dry friction has no slip with a lower force: the stopping distance is `v² / 2 μ g`.
    #[test]
    fn anti_lock_brakes_stop_a_car_on_dry_friction_as_locked_wheels_do() {
        let mut parts = testing::model().parts().clone();
        parts.aero.drag = 0.0;
        let Tyre::Curve(tyre) = &mut parts.tyres[0] else { unreachable!("the test car has a simple curve") };
        (tyre.law, tyre.friction) = (CurveLaw::Coulomb { deflection: 0.01 }, [0.9; 2]);
        parts.assists.abs = Some(AntiLock { slip: 0.1, time_constant: 0.0, min_speed: 1.0, select_low_axles: 0 });
        let found = stopping_distance(&Model::new(parts).expect("valid"), 20.0, Pedal::FullPedal).expect("brakes");
        assert!((found / (400.0 / (2.0 * 0.9 * GRAVITY_MPS2)) - 1.0).abs() < 1e-6, "{found}");
    }
}
