//! Landings of cars: springs return what they stored, stops release, and no energy is gained.

use std::sync::Arc;

use skidpad::core::model::{AntiRollBar, BarForcePath, Unsprung};
use skidpad::core::{Controls, Model, Quat, Scene, SolverInfo, State, Vec3, state::Placement};

use crate::common::{Drive, Simplify, c5, on_rows, shipped};
use crate::step::energy::Audit;
use crate::step::random::Random;

/// Returns shipped cars, a kart with 5 mm of travel and a formula car with stiff springs.
fn landing_cars() -> Vec<(&'static str, Arc<Model>)> {
    let shipped = ["corvette_c5", "tesla_model3_awd", "toyota_4runner", "truck_6x4", "bmw_320i_commonroad"]
        .map(|name| (name, shipped(name).model()));
    let mut kart = c5().without_air();
    kart.inertia *= 160.0 / kart.mass;
    kart.mass = 160.0;
    let mut formula = c5().without_air();
    formula.inertia *= 720.0 / formula.mass;
    formula.mass = 720.0;
    for parts in [&mut kart, &mut formula] {
        parts.bars.clear();
        let mass = parts.mass;
        for wheel in &mut parts.wheels {
            let (share, strut) = (0.25 * mass, &mut wheel.strut);
            let (rate, travel) = if mass < 200.0 { (150e3, 0.005) } else { (200e3, 0.03) };
            let damping = 2.0 * 0.2 * (rate * mass / 4.0f32).sqrt();
            (strut.rate, strut.progressive_rate) = (rate, 0.0);
            (strut.bump_damping, strut.rebound_damping) = (damping, damping);
            (strut.bump_travel, strut.droop_travel, strut.stop_travel) = (travel, travel, 0.2 * travel);
            wheel.unsprung = Some(Unsprung { mass: 0.08 * share, tyre_rate: 2.0 * rate, tyre_damping: 0.0 });
        }
    }
    shipped.into_iter().chain([("kart", kart.model()), ("formula", formula.model())]).collect()
}

/// After a fall of 0.5 m at 20 m/s a car stands at its static height, on every solver at every rate.
#[test]
fn a_car_that_landed_stands_on_its_springs() {
    for name in ["corvette_c5", "tesla_model3_awd", "toyota_4runner", "truck_6x4"] {
        let model = shipped(name).model();
        for solver in on_rows() {
            for hz in [30.0, 60.0, 240.0, 1000.0] {
                let placement = Placement { height: 0.5, speed: 20.0, gear: Some(0), ..Placement::default() };
                let mut car = Drive::new(&solver, &model, &Scene::flat(), placement, hz);
                let frames = car.run(5.0, |_| Controls { gear: Some(0), ..Controls::coasting() });
                for (i, wheel) in frames[frames.len() - 1].wheels.iter().enumerate() {
                    // Tolerance: pitch due to drag and rolling resistance.
                    let travel = wheel.compression_m.abs();
                    assert!(travel < 0.01, "{name} {} {hz} Hz wheel {i}: {travel} m", solver.name);
                }
            }
        }
    }
}

/// Returns a car in the air and its height of fall (0.3 to 5 m). Its attitude is up to 30°, its speed 0 to 30 m/s.
fn thrown(solver: &SolverInfo, model: &Arc<Model>, random: &mut Random, hz: f32) -> (Drive, f32) {
    let speed = random.between(0.0, 30.0);
    let placement = Placement { speed, gear: Some(0), ..Placement::default() };
    let mut car = Drive::new(solver, model, &Scene::flat(), placement, hz);
    let mut state = car.world.state(0).clone();
    let height = random.between(0.3, 5.0);
    let axis = Vec3::new(random.between(-1.0, 1.0), random.between(-1.0, 1.0), 0.0).normalize_or_zero();
    state.rotation = Quat::from_axis_angle(axis, random.between(0.0, 30f32.to_radians())) * state.rotation;
    // Clear of the ground by the height of fall, at any attitude.
    let parts = model.parts();
    let lowest = (0..8).map(|k| {
        let sign = |bit: usize| if k >> bit & 1 == 0 { -1.0 } else { 1.0 };
        let corner = parts.hull.half_extents * Vec3::new(sign(0), sign(1), sign(2)) + parts.hull.centre;
        let wheel = model.wheels()[k % model.wheels().len()].contact;
        (state.rotation * corner).z.min((state.rotation * wheel).z)
    });
    state.position.z = f64::from(height - lowest.fold(0.0, f32::min)) + 0.1;
    car.world.set_state(0, &state).expect("it fits");
    (car, height)
}

/// Result of a landing: largest energy gain over `m g h`, and whether a strut of a car at rest stays compressed towards its
/// stop.
struct Landing {
    rise: f64,
    glued: bool,
}

fn land(car: &mut Drive, audit: &Audit, height: f32, seconds: f64) -> Landing {
    let model = car.world.model(0).clone();
    let weight = f64::from(model.mass()) * 9.81;
    let controls = Controls { gear: Some(0), ..Controls::coasting() };
    let steps = (seconds / f64::from(car.world.dt())).round() as usize;
    let (mut least, mut rise) = (f64::INFINITY, 0f64);
    for _ in 0..steps {
        car.world.step(std::slice::from_ref(&controls));
        let energy = audit.energy(car.world.state(0));
        rise = rise.max(energy - least);
        least = least.min(energy);
    }
    let frame = car.world.frame(0);
    let upright = car.world.state(0).rotation.mul_vec3(Vec3::Z).z > 0.99;
    // At rest the wheels carry the weight and no more.
    let carried: f64 = frame.wheels.iter().map(|w| w.load_n).sum();
    let rests = (carried / weight - 1.0).abs() < 0.02;
    let deep = frame
        .wheels
        .iter()
        .zip(model.wheels())
        .any(|(w, wheel)| w.compression_m > 0.5 * f64::from(wheel.strut.bump_travel));
    Landing { rise: rise / (weight * f64::from(height)), glued: upright && rests && deep }
}

/// Largest accepted energy gain over `m g h`.
const ACCEPTED: f64 = 1e-3;

/// Asserts that landings of the car `name` on `solver` at `hz` gain no energy, for all `seeds`.
fn give_nothing(solver: &SolverInfo, name: &str, hz: f32, seeds: &[u64]) {
    let (_, model) = landing_cars().into_iter().find(|(car, _)| *car == name).expect("there");
    for &seed in seeds {
        let (mut car, height) = thrown(solver, &model, &mut Random(7919 * seed), hz);
        let audit = Audit::of(&car, solver, &Scene::flat());
        let rise = land(&mut car, &audit, height, 6.0).rise;
        assert!(rise < ACCEPTED, "{} {hz} Hz {name} seed {seed}: {rise:.5} of m g h", solver.name);
    }
}

/// Row E18: random landings gain no energy, and leave no strut on its stop.
#[test]
fn e18_landings_give_no_energy() {
    for solver in on_rows() {
        for hz in [30.0, 60.0, 120.0, 240.0] {
            for (name, model) in landing_cars() {
                for seed in 1..=12u64 {
                    let (mut car, height) = thrown(&solver, &model, &mut Random(7919 * seed), hz);
                    let audit = Audit::of(&car, &solver, &Scene::flat());
                    let found = land(&mut car, &audit, height, 6.0);
                    let what = format!("{} {hz} Hz {name} seed {seed}", solver.name);
                    assert!(!found.glued, "{what}: a strut stays on its stop");
                    assert!(found.rise < ACCEPTED, "{what}: {:.5} of m g h", found.rise);
                }
            }
        }
    }
}

/// Regression seeds of 7,000 landings, for three faults: tyres in a single sweep that turn twice too far, a patch with 5.6 m
/// of slide, and wheels that are in the ground before a contact is predicted.
#[test]
fn landings_that_gave_energy_no_longer_do() {
    let found = [
        ("kart", 30.0, [85, 22, 66]),
        ("formula", 30.0, [195, 235, 97]),
        ("formula", 60.0, [193, 216, 205]),
        ("formula", 120.0, [241, 244, 237]),
        ("toyota_4runner", 30.0, [130, 73, 88]),
    ];
    for solver in on_rows().into_iter().filter(|solver| ["impulse", "constraint"].contains(&solver.name)) {
        for (name, hz, seeds) in found {
            give_nothing(&solver, name, hz, &seeds);
        }
    }
}

/// Regression seeds of 17,500 landings. Dampers of unsprung masses that reverse within a step must not push along their
/// motion, which they do if the final speed counts more than the initial one. The dampers of the tyres of karts have the
/// same condition.
#[test]
fn wheels_on_their_own_that_turn_over_give_no_energy() {
    let found = [
        ("formula", &[76, 410, 314, 258, 368, 66, 193, 164, 86, 9, 20, 238, 88, 438, 67, 262][..]),
        ("formula", &[863, 734, 1435, 1791, 2341, 1553]),
        ("kart", &[1756, 599, 2305, 2061, 1899, 1472]),
    ];
    for solver in on_rows().into_iter().filter(|solver| solver.name == "constraint-unsprung") {
        for (name, seeds) in found {
            give_nothing(&solver, name, 30.0, seeds);
        }
    }
}

/// Regression seeds of hulls that land in Rapier's world. Rapier lifts a hull that ends a step inside the ground, or whose
/// corner was at the plane before. A hull that stops at the ground must not begin the next step with the impulses of the
/// impact.
#[test]
fn hulls_that_land_in_rapiers_world_are_not_lifted() {
    let found = [
        ("corvette_c5", 60.0, &[76, 129, 105, 99][..]),
        ("tesla_model3_awd", 60.0, &[76, 238, 99]),
        ("kart", 60.0, &[184, 76, 129, 105, 99, 299]),
        ("formula", 60.0, &[184, 76, 129, 105, 99, 299]),
        ("bmw_320i_commonroad", 60.0, &[99, 105]),
        ("corvette_c5", 120.0, &[58]),
        ("bmw_320i_commonroad", 120.0, &[5, 170]),
        ("bmw_320i_commonroad", 240.0, &[5]),
    ];
    for solver in on_rows().into_iter().filter(|solver| solver.name == "rapier") {
        for (name, hz, seeds) in found {
            give_nothing(&solver, name, hz, seeds);
        }
    }
}

/// Regression seeds for these faults: a car that turns over a wheel and lands on another one without a predicted contact, a
/// kart on its side that Rapier lifts, and tyres that keep a friction limit of zero because their wheels carried nothing when the limits were computed.
#[test]
fn the_last_landings_that_gave_energy_no_longer_do() {
    let found = [
        ("rapier", "formula", 30.0, &[496, 435][..]),
        ("rapier", "kart", 30.0, &[355]),
        ("constraint-pyramid", "kart", 30.0, &[56, 29]),
    ];
    for (solver, name, hz, seeds) in found {
        let Some(solver) = on_rows().into_iter().find(|of| of.name == solver) else { continue };
        give_nothing(&solver, name, hz, seeds);
    }
}

/// Tyres of unsprung masses touch the ground before they carry load. The load rises from zero with the deflection of the
/// tyre.
#[test]
fn loads_of_wheels_on_their_own_begin_with_nothing() {
    for name in ["corvette_c5", "toyota_4runner", "tesla_model3_awd"] {
        let model = shipped(name).model();
        for solver in on_rows().into_iter().filter(|solver| solver.name == "constraint-unsprung") {
            let placement = Placement { height: 0.5, gear: Some(0), ..Placement::default() };
            let mut car = Drive::new(&solver, &model, &Scene::flat(), placement, 1000.0);
            let mut least = vec![f32::INFINITY; model.wheels().len()];
            for _ in 0..500 {
                car.step(&Controls { gear: Some(0), ..Controls::coasting() });
                let loads = car.world.state(0).wheels.iter().map(|wheel| wheel.load);
                least
                    .iter_mut()
                    .zip(loads)
                    .filter(|(_, load)| *load > 0.0)
                    .for_each(|(least, load)| *least = least.min(load));
            }
            for (i, (least, wheel)) in least.iter().zip(model.wheels()).enumerate() {
                let rate = wheel.unsprung.expect("shipped").tyre_rate;
                // Deflection in a step of 1 ms at 3 m/s.
                assert!(*least < 3.5e-3 * rate, "{name} wheel {i}: {least} N at first");
            }
        }
    }
}

/// Returns a C5 on springs of 300 N/mm with 4 mm of travel, and with bars seven times as stiff.
fn on_stiff_bars(coupling: BarForcePath) -> Arc<Model> {
    let mut parts = c5().without_air();
    parts.hull.half_extents *= 0.3;
    for wheel in &mut parts.wheels {
        let strut = &mut wheel.strut;
        (strut.rate, strut.progressive_rate) = (300e3, 0.0);
        (strut.bump_travel, strut.droop_travel, strut.stop_travel) = (0.004, 0.004, 0.004);
    }
    parts.bars.iter_mut().for_each(|bar| (bar.rate, bar.force_path) = (2e6, coupling));
    parts.model()
}

/// A bar returns to landing wheels no more energy than it took. Rays find wheels deeper than their stops allow, and a wheel
/// that the other one lifts is not pushed from its droop position.
#[test]
fn stiff_bars_give_landing_cars_no_energy() {
    for coupling in [BarForcePath::InLoadPath, BarForcePath::External] {
        let model = on_stiff_bars(coupling);
        for solver in on_rows().into_iter().filter(|solver| solver.name != "rapier") {
            for (hz, seed) in
                [20.0, 30.0, 60.0, 120.0].into_iter().flat_map(|hz| (1..=20u64).map(move |seed| (hz, seed)))
            {
                let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
                let (mut car, _) = thrown(&solver, &model, &mut random, hz);
                let audit = Audit::of(&car, &solver, &Scene::flat());
                let most = audit.energy(car.world.state(0));
                for step in 0..hz as usize * 2 {
                    car.step(&Controls::coasting());
                    let rise = (audit.given_back(car.world.state(0)) - most) / most;
                    assert!(rise < 1e-3, "{} {coupling:?} {hz} Hz seed {seed} step {step}: {rise}", solver.name);
                }
            }
        }
    }
}

/// Contact forces act along the normal of the ground. On ice, a car that lands askew keeps its horizontal velocity, with
/// bars of both couplings.
#[test]
fn on_ice_a_landing_car_slides_on_as_it_came() {
    for coupling in [BarForcePath::InLoadPath, BarForcePath::External] {
        let mut parts = c5().without_air();
        parts.hull.half_extents *= 0.3;
        parts
            .bars
            .iter_mut()
            .for_each(|bar| *bar = AntiRollBar { rate: 10.0 * bar.rate, force_path: coupling, ..*bar });
        // Unsprung masses would move the chassis while they fall.
        parts.wheels.iter_mut().for_each(|wheel| wheel.unsprung = None);
        let model = parts.model();
        let scene = Scene { grip: 0.0, ..Scene::flat() };
        for solver in on_rows() {
            let placement = Placement { height: 0.1, gear: Some(0), ..Placement::default() };
            let mut car = Drive::new(&solver, &model, &scene, placement, 240.0);
            let mut state = car.world.state(0).clone();
            state.rotation = Quat::from_rotation_x(0.4) * state.rotation;
            state.velocity = Vec3::new(0.0, 3.0, 0.0);
            car.world.set_state(0, &state).expect("it fits");
            for step in 0..120 {
                car.step(&Controls::coasting());
                let velocity = car.world.state(0).velocity;
                let off = (velocity.x.abs()).max((velocity.y - 3.0).abs());
                assert!(off < 1e-4, "{} {coupling:?} step {step}: {velocity}", solver.name);
            }
        }
    }
}

/// A car that leans by 50° and slides sideways moves its wheels towards the ground. No wheel is below the ground without
/// contact.
#[test]
fn wheels_meet_ground_that_the_car_slides_into() {
    let mut parts = c5().without_air();
    parts.hull.half_extents *= 0.3;
    let model = parts.model();
    for solver in on_rows() {
        for hz in [30.0, 60.0, 240.0] {
            let placement = Placement { height: 1.5, gear: Some(0), ..Placement::default() };
            let mut car = Drive::new(&solver, &model, &Scene::flat(), placement, hz);
            let mut state = car.world.state(0).clone();
            state.rotation = Quat::from_rotation_x(0.87) * state.rotation;
            state.velocity = Vec3::new(0.0, -8.0, 0.0);
            car.world.set_state(0, &state).expect("it fits");
            for step in 0..hz as usize {
                car.step(&Controls::coasting());
                let state = car.world.state(0);
                for (i, (now, wheel)) in state.wheels.iter().zip(model.wheels()).enumerate() {
                    let lowest = wheel.contact - Vec3::Z * wheel.strut.droop_travel;
                    let height = state.position.z as f32 + (state.rotation * lowest).z;
                    // The motion due to gravity within a step is not predicted.
                    let seen = now.contact || height > -9.81 / (hz * hz);
                    assert!(seen, "{} {hz} Hz step {step}: wheel {i} is {height} m above ground", solver.name);
                }
                if state.wheels.iter().any(|wheel| wheel.load > 0.0) {
                    break;
                }
            }
        }
    }
}

/// Unloaded tyres of unsprung masses store no energy at any attitude of the car, also on its back.
#[test]
fn tyres_in_the_air_hold_no_energy_however_the_car_lies() {
    let model = c5().model();
    let scene = Scene::flat();
    for solver in on_rows() {
        let audit = Audit::of_car(&model, &solver, &scene);
        let energy_at = |lean: f32| {
            let mut state = State::at_rest(&model, &scene, &Placement { height: 3.0, ..Placement::default() });
            state.rotation = Quat::from_rotation_x(lean);
            state.wheels.iter_mut().for_each(|wheel| (wheel.load, wheel.compression) = (0.0, 0.0));
            audit.energy(&state)
        };
        for lean in [1.5, 1.6, 2.5, 3.1] {
            let off = energy_at(lean) - energy_at(0.0);
            // Rounding of some 10 kJ in 64 bits.
            assert!(off.abs() < 1e-6, "{} leans by {lean} rad: {off} J", solver.name);
        }
    }
}
