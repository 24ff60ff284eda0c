//! Random valid cars: every tyre law, spring, bar, drivetrain and assist, from models of 5 kg to trucks, on 3 to 20 wheels.
//!
//! A car that [`Model::new`] refuses is drawn again.

use std::sync::Arc;

use skidpad::core::model::{
    AeroMaps, AeroSurface, AntiRollBar, Axle, BarForcePath, BilinearTable, BrakeDisc, Clutch, Converter, Curve, Cvt,
    DamperKnee, Engine, EngineDrive, Gearbox, HeaveSpring, LaunchDevice, LockUp, Motor, Powertrain, ProbeShape,
    RollingCoefficients, Side, Steering, Strut, ToeCamberCurves, TorqueCoupling, Tyre, Unsprung, Wheel, box_inertia,
    sprung_masses,
};
use skidpad::core::tyre::{Brush, CurveLaw, CurveTyre, DirectionCurve, TMeasy};
use skidpad::core::{Mat3, Model, ModelParts, Vec3};

use crate::common::shipped;
use crate::step::random::Random;

/// Returns a car whose parts are all drawn at random.
pub fn random_car(random: &mut Random) -> Arc<Model> {
    loop {
        if let Ok(model) = Model::new(draw(random)) {
            return Arc::new(model);
        }
    }
}

/// Sizes to which all parts of a car are scaled.
struct Size {
    /// Mass, kg.
    mass: f32,
    /// Length relative to a car of 1500 kg.
    length: f32,
    /// Mass that each wheel carries, kg.
    carried: Vec<f32>,
    /// Wheel radius, m.
    radius: f32,
}

fn draw(random: &mut Random) -> ModelParts {
    let mass = random.scaled(5.0, 30e3);
    let length = (mass / 1500.0).cbrt() * random.between(0.8, 1.25);
    let radius = 0.33 * length * random.between(0.7, 1.4);
    let places = places(random, length);
    let height = radius + length * random.between(0.0, 0.6);
    let points: Vec<[f64; 2]> = places.iter().map(|(_, _, x, y)| [f64::from(*x), f64::from(*y)]).collect();
    // A car that cannot stand on its wheels is refused in the end.
    let carried = sprung_masses(&points, mass.into()).unwrap_or_else(|| vec![f64::from(mass); places.len()]);
    let size = Size { mass, length, carried: carried.iter().map(|m| *m as f32).collect(), radius };
    let axles = places.last().map_or(0, |place| place.0 + 1);
    let mut parts = ModelParts {
        mass,
        inertia: inertia(random, mass, length),
        centre_height: height,
        steering: Steering {
            lock: random.between(0.2, 0.9),
            rate: random.or_infinite(0.3, 12.0),
            ..Steering::default()
        },
        ..ModelParts::default()
    };
    parts.hull.half_extents = Vec3::new(2.2, 0.9, 0.4) * length * random.between(0.7, 1.1);
    parts.hull.centre = Vec3::Z * (parts.hull.half_extents.z + random.between(0.05, 0.3) * length - height);
    let furthest = places[0].2 - places[places.len() - 1].2;
    for axle in 0..axles {
        let first = places.iter().position(|place| place.0 == axle).expect("each axle has wheels");
        let ahead = places[first].2;
        parts.axles.push(draw_axle(random, axle, axles, [ahead, furthest], length));
        parts.tyres.push(tyre(random, size.carried[first] * 9.81, length));
        let drawn = wheel(random, &size, first, height);
        for (_, side, x, y) in places.iter().filter(|place| place.0 == axle) {
            let contact = Vec3::new(*x, *y, -height);
            parts.wheels.push(Wheel {
                axle,
                tyre: axle,
                side: *side,
                contact,
                mirrored: *side == Side::Right,
                ..drawn
            });
        }
    }
    if random.chance(0.3) {
        parts.wheels.iter_mut().for_each(|wheel| wheel.unsprung = None);
    }
    bars(random, &mut parts);
    drive(random, &mut parts);
    parts.aero = aero(random, length);
    parts.assists = assists(random, mass);
    parts
}

/// Returns axle, side, x and y (m) of each wheel: two to ten axles, and in some cars an axle with a single wheel.
fn places(random: &mut Random, length: f32) -> Vec<(usize, Side, f32, f32)> {
    let axles = if random.chance(0.7) { 2 } else { 2 + random.below(9) };
    let base = length * random.between(2.0, 3.2) * (axles as f32 / 2.0).sqrt();
    let ahead = base * random.between(0.35, 0.65);
    let half_track = length * random.between(0.5, 0.95);
    let single = if random.chance(0.12) { random.below(axles) } else { axles };
    let mut places = Vec::new();
    for axle in 0..axles {
        let share = axle as f32 / (axles - 1) as f32;
        let uneven = if axle == 0 || axle + 1 == axles { 0.0 } else { random.between(-0.3, 0.3) / axles as f32 };
        let x = ahead - base * (share + uneven);
        if axle == single {
            places.push((axle, Side::Centre, x, 0.0));
        } else {
            let y = half_track * random.between(0.9, 1.1);
            places.extend([(axle, Side::Left, x, y), (axle, Side::Right, x, -y)]);
        }
    }
    places
}

fn inertia(random: &mut Random, mass: f32, length: f32) -> Mat3 {
    let size = [4.4, 1.8, 1.2].map(|side| f64::from(length * side * random.between(0.7, 1.3)));
    let [x, y, z] = box_inertia(mass.into(), size).map(|moment| moment as f32);
    let skew = if random.chance(0.3) { 0.1 * random.between(-1.0, 1.0) * x } else { 0.0 };
    Mat3::from_cols(Vec3::new(x, 0.0, skew), Vec3::new(0.0, y, 0.0), Vec3::new(skew, 0.0, z))
}

fn draw_axle(random: &mut Random, axle: usize, axles: usize, [ahead, base]: [f32; 2], length: f32) -> Axle {
    let steer_ratio = match axle {
        0 => 1.0,
        _ if axle + 1 == axles && random.chance(0.15) => random.between(-0.4, 0.2),
        1 if axles > 3 && random.chance(0.5) => random.between(0.5, 1.0),
        _ => 0.0,
    };
    let turning_distance = if steer_ratio >= 0.0 { ahead + 0.5 * base } else { ahead - 0.5 * base };
    let guidance = random.chance(0.3).then(|| ToeCamberCurves {
        toe: [random.between(-0.2, 0.2), random.between(-0.5, 0.5)].map(|value| value / length),
        camber: [random.between(-1.0, 1.0), random.between(-2.0, 2.0)].map(|value| value / length),
    });
    let force_point = if random.chance(0.1) { length * random.between(0.0, 0.4) } else { 0.0 };
    let ackermann = random.between(0.0, 1.0);
    Axle {
        steer_ratio,
        ackermann,
        turning_distance,
        toe_camber: guidance,
        force_point_height: force_point,
        ..Axle::default()
    }
}

/// Returns a wheel for the axle of wheel `first`, without its horizontal position.
fn wheel(random: &mut Random, size: &Size, first: usize, height: f32) -> Wheel {
    let carried = size.carried[first].max(1e-3 * size.mass);
    let radius = size.radius * random.between(0.9, 1.1);
    let mass = carried * random.scaled(0.01, 0.3);
    let strut = strut(random, carried, size.length);
    let rate = (2.0 * strut.rate).max(carried * 9.81 / 0.1) * random.scaled(1.0, 20.0);
    let unsprung = Unsprung { mass, tyre_rate: rate, tyre_damping: random.between(0.0, 0.2) * (rate * mass).sqrt() };
    let most = carried * 9.81 * radius;
    Wheel {
        axle: 0,
        side: Side::Left,
        contact: Vec3::NEG_Z * height,
        radius,
        spin_inertia: carried * random.scaled(0.01, 0.1) * radius * radius,
        tyre: 0,
        strut,
        mirrored: false,
        toe: if random.chance(0.3) { random.between(-0.01, 0.01) } else { 0.0 },
        camber: if random.chance(0.3) { random.between(-0.08, 0.08) } else { 0.0 },
        brake_torque: most * random.between(0.3, 3.0),
        handbrake_torque: if random.chance(0.5) { most * random.between(0.2, 2.0) } else { 0.0 },
        disc: random.chance(0.3).then(|| BrakeDisc {
            heat_capacity: size.mass * random.between(0.5, 10.0),
            cooling: [size.mass * random.between(0.0, 0.01), 0.1],
            fade_range: [400.0, 700.0],
            min_torque_factor: random.between(0.2, 1.0),
        }),
        rolling: RollingCoefficients {
            constant: random.between(0.0, 0.03),
            linear: random.between(0.0, 1e-4),
            quadratic: random.between(0.0, 1e-5),
            static_coefficient: if random.chance(0.3) { random.between(0.0, 0.1) } else { 0.0 },
            static_fade_speed: random.between(0.05, 0.5),
        },
        unsprung: Some(unsprung),
        probe: ProbeShape::Ray,
    }
}

/// Returns a strut that carries `carried` kg: springs from very soft to those of a formula car, some progressive, dampers
/// from none to stiff, stops from rubber to metal.
fn strut(random: &mut Random, carried: f32, length: f32) -> Strut {
    let omega = std::f32::consts::TAU * random.scaled(0.8, 8.0);
    let rate = carried * omega * omega;
    let damping = 2.0 * carried * omega * if random.chance(0.05) { 0.0 } else { random.scaled(0.03, 1.5) };
    let sag = 9.81 / (omega * omega);
    let droop_travel = sag * random.scaled(0.1, 1.5);
    let knee = |random: &mut Random| match random.chance(0.3) {
        true => DamperKnee { speed: random.between(0.02, 0.5), fast_ratio: random.between(0.0, 2.0) },
        false => DamperKnee::default(),
    };
    Strut {
        rate,
        progressive_rate: if random.chance(0.3) { random.between(0.0, 0.95) * rate / droop_travel } else { 0.0 },
        bump_damping: damping,
        rebound_damping: damping * random.scaled(0.5, 4.0),
        bump_travel: (sag * random.scaled(0.1, 1.5)).min(length * 0.3),
        droop_travel,
        stop_rate: if random.chance(0.2) { 0.0 } else { rate * random.scaled(0.5, 50.0) },
        stop_travel: length * random.scaled(1e-3, 0.06),
        knees: [knee(random), knee(random)],
    }
}

/// Returns a tyre with any law that carries about `load` N.
fn tyre(random: &mut Random, load: f32, length: f32) -> Tyre {
    let load = load.max(0.1) * random.scaled(0.6, 1.8);
    let friction = [0, 1].map(|_| random.scaled(0.3, 2.2));
    let load_sensitivity = random.between(0.0, 0.4);
    let relaxation = [0, 1].map(|_| length * random.scaled(0.03, 0.8));
    let stiffness = [0, 1].map(|_| random.scaled(4.0, 40.0));
    let curve = |law| Tyre::Curve(CurveTyre { law, friction, load_sensitivity, nominal_load: load, relaxation });
    match random.below(7) {
        0 => curve(CurveLaw::Coulomb { deflection: length * random.scaled(1e-3, 0.03) }),
        1 => curve(CurveLaw::Linear { stiffness: stiffness.map(|per_load| per_load * load) }),
        2 => curve(CurveLaw::LinearPerLoad { stiffness }),
        3 => {
            let extremum_slip = [0, 1].map(|_| random.scaled(0.03, 0.5));
            let asymptote_slip = extremum_slip.map(|slip| slip * random.scaled(1.2, 6.0));
            let asymptote = [0, 1].map(|_| random.between(0.4, 1.0));
            curve(CurveLaw::SlipCurve { extremum_slip, asymptote_slip, asymptote })
        }
        4 => {
            let half_length = length * random.between(0.03, 0.12);
            let bristle_stiffness = stiffness.map(|per_load| per_load * load / (2.0 * half_length * half_length));
            Tyre::Brush(Brush { bristle_stiffness, half_length, friction, load_sensitivity, nominal_load: load })
        }
        5 => {
            let directions = [0, 1].map(|i| direction(random, friction[i] * load));
            let degressive = random.between(1.5, 2.0);
            let double = directions.map(|one| DirectionCurve {
                slope: one.slope * degressive,
                largest: one.largest * degressive,
                sliding: one.sliding * degressive,
                ..one
            });
            Tyre::TMeasy(TMeasy { nominal_load: load, nominal: directions, double, relaxation })
        }
        _ => {
            let measured = shipped(["bmw_320i_mf", "corvette_c5_mf"][random.below(2)]);
            measured.tyres[random.below(measured.tyres.len())].clone()
        }
    }
}

fn direction(random: &mut Random, largest: f32) -> DirectionCurve {
    let largest_slip = random.scaled(0.04, 0.4);
    DirectionCurve {
        slope: largest / largest_slip * random.scaled(2.0, 6.0),
        largest,
        largest_slip,
        sliding: largest * random.between(0.5, 1.0),
        sliding_slip: largest_slip * random.scaled(1.5, 8.0),
    }
}

/// Adds anti-roll bars across axles or between any two wheels, in the load path or external, and heave springs.
fn bars(random: &mut Random, parts: &mut ModelParts) {
    let count = parts.wheels.len();
    for i in 1..count {
        let rate = parts.wheels[i].strut.rate;
        if parts.wheels[i].side == Side::Right && random.chance(0.5) {
            let coupling = if random.chance(0.25) { BarForcePath::External } else { BarForcePath::InLoadPath };
            let fades_in = if random.chance(0.2) { [2.0, 10.0] } else { [0.0; 2] };
            parts.bars.push(AntiRollBar {
                wheels: [i - 1, i],
                rate: rate * random.scaled(0.05, 20.0),
                speed_range: fades_in,
                force_path: coupling,
            });
        }
        if parts.wheels[i].side == Side::Right && random.chance(0.15) {
            let damping = rate * random.between(0.0, 0.1);
            let rate = rate * random.scaled(0.1, 10.0);
            parts.heave_springs.push(HeaveSpring { wheels: [i - 1, i], rate, damping });
        }
        if random.chance(0.02) {
            let wheels = [random.below(i), i];
            parts.bars.push(AntiRollBar { wheels, rate: rate * random.scaled(0.05, 2.0), ..AntiRollBar::default() });
        }
    }
}

/// Returns the share of a torque for each wheel. The torque drives one axle or all.
fn shares(random: &mut Random, parts: &ModelParts) -> Vec<f32> {
    let only = random.chance(0.5).then(|| random.below(parts.axles.len()));
    let weight = |wheel: &Wheel| if only.is_none_or(|axle| axle == wheel.axle) { 1.0 } else { 0.0 };
    let mut weights: Vec<f32> = parts.wheels.iter().map(weight).collect();
    if only.is_none() {
        for (weight, wheel) in weights.iter_mut().zip(&parts.wheels) {
            *weight = if wheel.axle % 2 == 0 { 1.0 } else { 1.5 };
        }
    }
    let sum: f32 = weights.iter().sum();
    weights.into_iter().map(|weight| weight / sum).collect()
}

fn drive(random: &mut Random, parts: &mut ModelParts) {
    // Wheel torque that accelerates the car with 10 m/s².
    let whole = parts.mass * 10.0 * parts.wheels[0].radius;
    match random.below(6) {
        0 => (),
        1 => {
            let each = shares(random, parts).into_iter().map(|share| share * whole * random.between(0.1, 1.5));
            parts.powertrain = Powertrain::Direct(each.collect());
        }
        _ => {
            let shares = shares(random, parts).into();
            parts.powertrain = Powertrain::Engine(Box::new(engine_drive(random, whole, shares)));
        }
    }
    let motors = if random.chance(0.3) { 1 + random.below(4) } else { 0 };
    for _ in 0..motors {
        let axle = random.below(parts.axles.len());
        let mut wheels: Vec<usize> = (0..parts.wheels.len()).filter(|i| parts.wheels[*i].axle == axle).collect();
        if random.chance(0.3) {
            wheels.truncate(1);
        }
        let reduction = random.scaled(1.0, 15.0);
        let peak_torque = whole / reduction * random.between(0.05, 0.6);
        let spin_inertia = parts.wheels[wheels[0]].spin_inertia;
        parts.motors.push(Motor {
            wheels: wheels.into(),
            peak_torque,
            power: random.or_infinite(peak_torque * 100.0, peak_torque * 2000.0),
            max_speed: 150.0 * reduction * random.between(0.5, 2.0),
            reduction,
            efficiency: random.between(0.7, 1.0),
            inertia: spin_inertia / (reduction * reduction) * random.between(0.0, 2.0),
            lift_regeneration: random.between(0.0, 0.3),
            brake_regeneration: random.between(0.0, 0.7),
        });
    }
    let couplings = if random.chance(0.5) { 1 + random.below(4) } else { 0 };
    for _ in 0..couplings {
        let coupling = coupling(random, parts, whole);
        parts.couplings.push(coupling);
    }
}

/// Returns a coupling between the wheels of an axle or between axles: locked, or with friction, torque bias and viscosity.
fn coupling(random: &mut Random, parts: &ModelParts, whole: f32) -> TorqueCoupling {
    let on = |axle: usize| (0..parts.wheels.len()).filter(move |i| parts.wheels[*i].axle == axle);
    let first = random.below(parts.axles.len());
    let second = random.below(parts.axles.len());
    let wheels: Vec<usize> = on(first).collect();
    let sides = match wheels[..] {
        [left, right] if first == second => [Box::from([left]), Box::from([right])],
        _ => [on(first).collect(), on(second).collect()],
    };
    if random.chance(0.3) {
        return TorqueCoupling::locked(sides);
    }
    let friction = if random.chance(0.5) { whole * random.scaled(1e-3, 0.3) } else { 0.0 };
    let viscous = if random.chance(0.5) { whole * random.scaled(1e-4, 0.1) } else { 0.0 };
    TorqueCoupling { sides, friction, viscous, bias: [random.between(1.0, 4.0), random.between(1.0, 4.0)] }
}

fn engine_drive(random: &mut Random, whole: f32, shares: Box<[f32]>) -> EngineDrive {
    let idle = random.between(60.0, 150.0);
    let limit = idle * random.between(3.0, 9.0);
    let final_drive = random.between(2.0, 6.0);
    let lowest = random.between(2.0, 5.0);
    let peak = whole / (final_drive * lowest) * random.scaled(0.15, 1.5);
    let torque = [[0.0, 0.5], [idle, 0.8], [0.6 * limit, 1.0], [limit, random.between(0.5, 0.9)]];
    let curve = |points: Vec<[f32; 2]>| Curve::new(points).expect("rises");
    // The engine reaches its limit within 0.2 to 2 s.
    let inertia = peak / limit * random.scaled(0.2, 2.0);
    let engine = Engine {
        torque: curve(torque.map(|[speed, share]| [speed, share * peak]).to_vec()),
        drag: [peak * random.between(0.0, 0.2), peak / limit * random.between(0.0, 0.3)],
        idle_speed: idle,
        limiter_speed: limit,
        inertia,
        throttle_map: random.chance(0.3).then(|| curve(vec![[0.0, 0.0], [0.3, 0.6], [1.0, 1.0]])),
        stall_speed: if random.chance(0.5) { idle * random.between(0.2, 0.7) } else { 0.0 },
    };
    let continuous = random
        .chance(0.2)
        .then(|| Cvt { engine_speeds: [idle * 1.5, limit * 0.8], max_ratio_rate: random.scaled(0.2, 5.0) });
    let gears = if continuous.is_some() { 2 } else { 1 + random.below(8) };
    let span = random.between(0.6, 0.85);
    let forward = (0..gears).map(|gear| lowest * if continuous.is_some() { 0.2f32 } else { span }.powi(gear as i32));
    let gearbox = Gearbox {
        forward: forward.collect(),
        reverse: lowest * random.between(0.8, 1.2),
        final_drive,
        efficiency: random.between(0.7, 1.0),
        shift_time: if random.chance(0.3) { 0.0 } else { random.between(0.02, 0.6) },
        up_speed: 0.9 * limit,
        easy_up_speed: 0.6 * limit,
        down_speed: 0.3 * limit,
        kick_down_speed: 0.5 * limit,
        cvt: continuous,
    };
    let launch_device = if random.chance(0.6) {
        LaunchDevice::Clutch(Clutch {
            capacity: peak * random.between(0.8, 3.0),
            engaged_speed: idle * random.between(1.2, 2.0),
        })
    } else {
        let stall_speed = limit * random.between(0.25, 0.6);
        let capacity = peak / (stall_speed * stall_speed);
        LaunchDevice::Converter(Converter {
            capacity: curve(vec![[0.0, capacity], [0.85, 0.7 * capacity], [1.0, 0.0]]),
            torque_ratio: curve(vec![[0.0, random.between(1.0, 2.5)], [0.85, 1.0]]),
            lock_up: random.chance(0.5).then_some(LockUp { capacity: 2.0 * peak, speed: 1.3 * idle, lowest_gear: 1 }),
        })
    };
    EngineDrive { engine, launch_device, gearbox, torque_shares: shares }
}

fn aero(random: &mut Random, length: f32) -> skidpad::core::model::Aero {
    if random.chance(0.3) {
        return Default::default();
    }
    let area = length * length;
    let along = |x: f32| Vec3::new(x * length, 0.0, 0.0);
    let mut surface = |x: f32| {
        let coefficient = if random.chance(0.4) { area * random.between(-0.3, 3.0) } else { 0.0 };
        AeroSurface { coefficient, point: along(x) }
    };
    let downforce = [surface(1.3), surface(-1.3)];
    let table = |values: [f32; 2]| BilinearTable::new([vec![0.0, 0.15], vec![0.0]], values.to_vec()).expect("sound");
    let maps = random.chance(0.3).then(|| {
        let heights = [table([1.0, 1.0]), table([1.4, 0.8]), table([1.2, 0.9])];
        Box::new(AeroMaps { at_rest: [0.12 * length; 2], heights, yaw: Default::default() })
    });
    skidpad::core::model::Aero {
        drag: area * random.between(0.1, 0.8),
        drag_point: along(random.between(-0.3, 0.3)),
        side: area * random.between(0.0, 1.0),
        side_point: along(random.between(-0.5, 0.5)),
        downforce,
        maps,
    }
}

/// Returns no assists, some, or all.
fn assists(random: &mut Random, mass: f32) -> skidpad::core::model::Assists {
    let all = crate::assists::fitted::all();
    let share = [0.0, 0.3, 1.0][random.below(3)];
    let mut on = || random.chance(share);
    let mut assists = skidpad::core::model::Assists {
        abs: all.abs.filter(|_| on()),
        stability: all.stability.filter(|_| on()),
        traction: all.traction.filter(|_| on()),
        launch: all.launch.filter(|_| on()),
        cruise: all.cruise.filter(|_| on()),
        counter_steer: all.counter_steer.filter(|_| on()),
        speed_steering: all.speed_steering.filter(|_| on()),
        ..Default::default()
    };
    if mass > 100.0 && on() {
        (assists.lowered_centre, assists.angular_drag) = (all.lowered_centre, all.angular_drag);
    }
    assists
}
