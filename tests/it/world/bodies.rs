//! Boxes that cars can push.

use std::sync::Arc;

use proptest::prelude::*;
use skidpad::core::{
    BodyMotion, CarStart, Controls, DVec3, FreeBody, Mat3, Model, Quat, Scene, Simulation, SolverInfo, Vec3,
    state::Placement,
};

use super::traffic::own_worlds;
use crate::common::{GRAVITY, Simplify, c5, close, on_rows};
use crate::step::{
    energy::{Audit, StepsUp},
    random::Random,
};

/// Builds a world of `bodies` without cars on a plane that rises by `slope` rad.
fn world_of(solver: &SolverInfo, slope: f32, bodies: Vec<FreeBody>, hz: f32) -> Box<dyn Simulation> {
    (solver.build_world)(&Scene { free_bodies: bodies, ..Scene::sloping(slope) }, &[], 1.0 / hz)
}

/// Returns a crate of `mass` kg, 1 by 0.8 by 0.5 m, at rest on a plane that rises by `slope` rad.
fn on_slope(mass: f32, slope: f32) -> FreeBody {
    let scene = Scene::sloping(slope);
    let solid = FreeBody::solid_box(mass, Vec3::new(1.0, 0.8, 0.5), scene.point_above_plane(0.0, 0.0, 0.25));
    FreeBody { motion: BodyMotion { rotation: scene.upright_orientation(0.3), ..solid.motion }, ..solid }
}

fn run(world: &mut dyn Simulation, seconds: f32, controls: &[Controls]) {
    (0..(seconds / world.dt()).round() as usize).for_each(|_| _ = world.step(controls));
}

fn body(world: &dyn Simulation, number: usize) -> BodyMotion {
    world.body_motion(number).expect("a body of the scene")
}

/// A crate slides down a slope with g (sin − μ cos) if the slope is steeper than friction holds, and otherwise stays.
#[test]
fn a_crate_slides_where_friction_does_not_hold_it() {
    const MU: f32 = 0.5;
    for solver in on_rows() {
        for (hz, mass) in [20.0, 60.0, 240.0].into_iter().flat_map(|hz| [1.0, 5000.0].map(|mass| (hz, mass))) {
            for steeper in [0.5, 0.97, 1.03, 1.5] {
                let slope = (MU * steeper).atan();
                let mut world = world_of(&solver, slope, vec![on_slope(mass, slope)], hz);
                run(&mut *world, 2.0, &[]);
                let speed = body(&*world, 0).velocity.length();
                let gained = (9.81 * (slope.sin() - MU * slope.cos())).max(0.0) * 2.0;
                // Rapier's contacts do not act in the whole of the first step.
                let most = if solver.name == "rapier" { 0.6 / hz } else { 3e-5 };
                let what = format!("{} at {hz} Hz, {mass} kg, tan = {steeper} mu", solver.name);
                assert!((speed - gained).abs() < most, "{what}: {speed} m/s, not {gained}");
            }
        }
    }
}

/// A crate of any mass stays in place for ten minutes on a slope of 0.4 rad; friction holds up to 0.46 rad.
#[test]
fn a_crate_rests_without_creep() {
    let mut solvers = on_rows();
    // All own worlds are identical if they contain no cars.
    solvers.retain(|solver| ["impulse", "rapier"].contains(&solver.name));
    for solver in solvers {
        for (hz, mass) in [60.0, 240.0].into_iter().flat_map(|hz| [1.0, 5000.0].map(|mass| (hz, mass))) {
            let mut world = world_of(&solver, 0.4, vec![on_slope(mass, 0.4)], hz);
            run(&mut *world, 2.0, &[]);
            let start = body(&*world, 0);
            run(&mut *world, 600.0, &[]);
            let end = body(&*world, 0);
            let what = format!("{} at {hz} Hz, {mass} kg", solver.name);
            let moved = (end.position - start.position).length();
            // A solution may leave a speed of 1e-6 m/s, here for 600 s.
            assert!(moved < 6e-4, "{what}: {moved} m");
            let turned = end.rotation.angle_between(start.rotation);
            assert!(turned < 1e-3, "{what}: {turned} rad");
        }
    }
}

/// Returns a slab of `mass` kg, 0.4 m high, with length and width `size` (m), and with this `friction` on the plane.
fn slab(mass: f32, size: [f32; 2], friction: f32) -> FreeBody {
    FreeBody { friction, ..FreeBody::solid_box(mass, Vec3::new(size[0], size[1], 0.4), DVec3::new(0.0, 0.0, 0.2)) }
}

/// Builds a world with `bodies` and a car at 5 m/s that starts 15 m behind the middle, 0.4 m up.
fn coming(solver: &SolverInfo, model: &Arc<Model>, bodies: Vec<FreeBody>, hz: f32) -> Box<dyn Simulation> {
    let placement = Placement { x: -15.0, height: 0.4, speed: 5.0, gear: Some(0), ..Placement::default() };
    let start = CarStart { model: model.clone(), placement };
    (solver.build_world)(&Scene { free_bodies: bodies, ..Scene::flat() }, &[start], 1.0 / hz)
}

/// Returns the momentum of all cars and of the bodies with these `masses` (kg), N·s.
fn momentum(world: &dyn Simulation, masses: &[f32]) -> DVec3 {
    let of_cars =
        (0..world.slot_count()).map(|car| world.state(car).velocity.as_dvec3() * f64::from(world.model(car).mass()));
    let of_bodies = masses.iter().enumerate().map(|(k, mass)| body(world, k).velocity.as_dvec3() * f64::from(*mass));
    of_cars.chain(of_bodies).sum()
}

/// A car that brakes on a sledge on ice moves it, from three times its own mass down to 1 kg. Both end with their common
/// speed, and the car does not yaw.
#[test]
fn a_sledge_of_any_mass_is_taken_along() {
    let model = c5().without_air().model();
    for solver in on_rows() {
        for (mass, hz) in
            [5000.0, 500.0, 30.0, 1.0].into_iter().flat_map(|mass| [20.0, 60.0, 240.0, 1000.0].map(|hz| (mass, hz)))
        {
            // In Rapier's contacts, a sledge of 1 kg sinks into the ice under the load of the car.
            if solver.name == "rapier" && mass == 1.0 {
                continue;
            }
            let mut world = coming(&solver, &model, vec![slab(mass, [40.0, 10.0], 0.0)], hz);
            let before = momentum(&*world, &[mass]).x;
            let together = (before / f64::from(model.mass() + mass)) as f32;
            let brake = [Controls { brake: 0.3, ..Controls::parked() }];
            let (mut yaw, mut off) = (0.0f32, 0.0f32);
            for step in 0..(5.0 * hz) as u32 {
                world.step(&brake);
                yaw = yaw.max(world.state(0).angular_velocity.z.abs());
                if step as f32 >= 4.0 * hz {
                    let speeds = [body(&*world, 0).velocity.x, world.state(0).velocity.x];
                    off = speeds.iter().map(|speed| (speed - together).abs()).fold(off, f32::max);
                }
            }
            let what = format!("{}, {mass} kg at {hz} Hz", solver.name);
            // The car is symmetric except for its centre of mass.
            assert!(yaw < 1e-3, "{what}: the car yaws at {yaw} rad/s");
            let most = match (solver.name, mass) {
                // The solver determines tyre forces at the end of a step. For light sledges f32 has too few digits.
                (name, 1.0 | 30.0) if name.starts_with("constraint") && hz < 100.0 => 0.06 / mass.sqrt(),
                // The last digit of a force of 15 kN in a step of 50 ms changes the speed of 1 kg by 0.05 mm/s.
                _ => 3e-3,
            };
            assert!(off < most, "{what}: {off} m/s off");
            let lost = before - momentum(&*world, &[mass]).x;
            // 5,000 steps, each of which rounds 7,700 N·s to f32.
            assert!(lost.abs() < 0.5, "{what}: {lost} of {before} N s are lost");
        }
    }
}

/// Left and right wheels brake on two sledges, one ten times as heavy as the other. All bodies end at one speed without loss
/// of momentum.
#[test]
fn wheels_on_two_sledges_agree_with_both() {
    let model = c5().without_air().model();
    for solver in own_worlds() {
        for hz in [20.0, 60.0, 240.0] {
            let masses = [20.0, 200.0];
            let beside = |mass: f32, y: f64| {
                let sledge = slab(mass, [40.0, 1.4], 0.0);
                FreeBody { motion: BodyMotion::at_rest(DVec3::new(0.0, y, 0.2)), ..sledge }
            };
            let mut world = coming(&solver, &model, vec![beside(20.0, 0.75), beside(200.0, -0.75)], hz);
            let before = momentum(&*world, &masses).x;
            run(&mut *world, 5.0, &[Controls { brake: 0.3, ..Controls::parked() }]);
            let lost = before - momentum(&*world, &masses).x;
            let together = (before / f64::from(model.mass() + 220.0)) as f32;
            let speeds = [body(&*world, 0).velocity.x, body(&*world, 1).velocity.x, world.state(0).velocity.x];
            let what = format!("{} at {hz} Hz", solver.name);
            assert!(lost.abs() < 0.5, "{what}: {lost} of {before} N s are lost");
            // The heavier sledge turns all three at 8 mrad/s, and their centres are 0.75 m apart.
            let off = speeds.map(|speed| (speed - together).abs());
            assert!(off.iter().all(|off| *off < 0.012), "{what}: {speeds:?} m/s, not {together}");
        }
    }
}

/// A car that brakes with locked wheels on a plank drags it over the ground, and both come to rest. Lighter planks:
/// `planks.rs`.
#[test]
fn a_plank_is_dragged_over_the_ground() {
    let model = c5().without_air().model();
    for solver in own_worlds() {
        for (mass, hz) in [500.0, 100.0].into_iter().flat_map(|mass| [60.0, 240.0, 1000.0].map(|hz| (mass, hz))) {
            let mut world = coming(&solver, &model, vec![slab(mass, [40.0, 10.0], 0.4)], hz);
            let brake = [Controls { brake: 1.0, ..Controls::parked() }];
            let speeds = |world: &dyn Simulation| [body(world, 0).velocity.x, world.state(0).velocity.x];
            let what = format!("{}, {mass} kg at {hz} Hz", solver.name);
            for _ in 0..(2.0 * hz) as u32 {
                let before = speeds(&*world)[1];
                world.step(&brake);
                let [plank, car] = speeds(&*world);
                // Patches strained to the rear while the car slides pull it forwards as both stop.
                assert!(plank - car < 0.1, "{what}: the plank goes at {plank} m/s, the car at {car} m/s");
                assert!(plank > -1e-5 && car < before + 0.015, "{what}: {plank} m/s, {car} m/s after {before}");
            }
            let [plank, car] = speeds(&*world);
            assert!(plank.abs() < 1e-5 && car.abs() < 1e-3, "{what}: {plank} m/s and {car} m/s in the end");
        }
    }
}

/// A car stands on a plank that lies on crates, which carry plank and car.
#[test]
fn a_car_parks_on_a_plank_on_crates() {
    let model = c5().model();
    let weight = f64::from(model.mass()) * GRAVITY;
    for solver in own_worlds() {
        for (mass, hz) in [300.0, 40.0].into_iter().flat_map(|mass| [60.0, 240.0].map(|hz| (mass, hz))) {
            let crate_at = |x: f64, y: f64| FreeBody::solid_box(60.0, Vec3::splat(0.5), DVec3::new(x, y, 0.25));
            let mut bodies: Vec<FreeBody> =
                [-2.0, 2.0].iter().flat_map(|x| [-0.8, 0.8].map(|y| crate_at(*x, y))).collect();
            bodies.push(FreeBody::solid_box(mass, Vec3::new(6.0, 2.4, 0.1), DVec3::new(0.0, 0.0, 0.55)));
            let placement = Placement { height: 0.62, gear: Some(0), ..Placement::default() };
            let start = CarStart { model: model.clone(), placement };
            let mut world = (solver.build_world)(&Scene { free_bodies: bodies, ..Scene::flat() }, &[start], 1.0 / hz);
            run(&mut *world, 8.0, &[Controls::parked()]);
            let at_rest = |world: &dyn Simulation| body(world, 4).position;
            let before = (world.state(0).position, at_rest(&*world));
            run(&mut *world, 2.0, &[Controls::parked()]);
            let what = format!("{}, {mass} kg at {hz} Hz", solver.name);
            let loads: f32 = world.state(0).wheels.iter().map(|wheel| wheel.load).sum();
            let height = at_rest(&*world).z;
            close(&what, f64::from(loads), weight, 1e-5, "all of its weight, nearly at rest");
            assert!((height - 0.55).abs() < 1e-6, "{what}: the plank is {height} m up");
            let moved = (world.state(0).position - before.0).length().max((at_rest(&*world) - before.1).length());
            assert!(moved < 5e-6, "{what}: {moved} m in 2 s");
        }
    }
}

/// A car rolls into a crate on ice and pushes it. Momentum with that of the wheels' spin is conserved. The final energy is
/// that of a common speed.
#[test]
fn a_car_pushes_a_crate() {
    let model = c5().without_air().without_rolling_resistance().model();
    let spinning: f32 = model.wheels().iter().map(|wheel| wheel.spin_inertia / (wheel.radius * wheel.radius)).sum();
    for solver in on_rows() {
        for (mass, hz) in
            [2000.0, 100.0, 5.0].into_iter().flat_map(|mass| [30.0, 60.0, 240.0, 1000.0].map(|hz| (mass, hz)))
        {
            let size = Vec3::new(1.0, 1.5, 1.0);
            let in_the_way = FreeBody { friction: 0.0, ..FreeBody::solid_box(mass, size, DVec3::new(5.0, 0.0, 0.5)) };
            let placement = Placement { speed: 5.0, gear: Some(0), ..Placement::default() };
            let start = CarStart { model: model.clone(), placement };
            let mut world =
                (solver.build_world)(&Scene { free_bodies: vec![in_the_way], ..Scene::flat() }, &[start], 1.0 / hz);
            // Spin adds to the effective mass of rolling wheels.
            let heavy = model.mass() + spinning;
            let sums = |world: &dyn Simulation| {
                let [car, pushed] = [world.state(0).velocity.x, body(world, 0).velocity.x];
                [heavy * car + mass * pushed, 0.5 * (heavy * car * car + mass * pushed * pushed)]
            };
            let before = sums(&*world);
            run(&mut *world, 3.0, &[Controls::coasting()]);
            let after = sums(&*world);
            let what = format!("{}, {mass} kg at {hz} Hz", solver.name);
            // 3,000 steps, each of which rounds 8,000 N·s to f32.
            assert!((after[0] - before[0]).abs() < 0.1, "{what}: {} of {} N s", after[0], before[0]);
            let together = before[0] / (heavy + mass);
            // The energy of the common speed is left, as there is no restitution. The springs separate both a little.
            let least = 0.5 * (heavy + mass) * together * together;
            assert!((least..1.001 * least).contains(&(after[1] + 1.0)), "{what}: {} J, {least} together", after[1]);
            let [car, pushed] = [world.state(0).velocity.x, body(&*world, 0).velocity.x];
            // The car dives as it is stopped, and swings back against the crate. Overlaps are pushed out.
            assert!(pushed > car - 1e-3 && pushed - car < 0.08, "{what}: {pushed} m/s and {car} m/s");
        }
    }
}

/// Returns the kinetic and potential energy of `bodies`, J.
fn energy(world: &dyn Simulation, bodies: &[FreeBody]) -> f64 {
    let of = |(number, of): (usize, &FreeBody)| {
        let now = body(world, number);
        let spin = Mat3::from_quat(now.rotation).transpose() * now.angular_velocity;
        let mass = f64::from(of.mass);
        let moving = 0.5 * (mass * now.velocity.as_dvec3().length_squared() + f64::from(spin.dot(of.inertia * spin)));
        moving + mass * GRAVITY * now.position.z
    };
    bodies.iter().enumerate().map(of).sum()
}

fn random_body(random: &mut Random, height: f64) -> FreeBody {
    let size = Vec3::new(random.scaled(0.3, 3.0), random.scaled(0.3, 2.0), random.scaled(0.2, 1.5));
    let place = [random.between(-1.5, 1.5), random.between(-1.5, 1.5)].map(f64::from);
    let solid = FreeBody::solid_box(random.scaled(1.0, 2000.0), size, DVec3::new(place[0], place[1], height));
    let turn = Vec3::new(random.between(-1.0, 1.0), random.between(-1.0, 1.0), random.between(-1.0, 1.0));
    let rotation = Quat::from_scaled_axis(turn * 3.0);
    FreeBody { friction: random.between(0.4, 1.2), motion: BodyMotion { rotation, ..solid.motion }, ..solid }
}

/// Ten boxes of 1 to 2,000 kg that fall onto each other come to rest, and never gain energy.
#[test]
fn a_heap_of_boxes_comes_to_rest_and_gains_no_energy() {
    let solvers = on_rows().into_iter().filter(|solver| ["impulse", "rapier"].contains(&solver.name));
    for (solver, hz) in solvers.flat_map(|solver| [30.0, 60.0, 120.0].map(|hz| (solver, hz))) {
        let mut resting = 0;
        for seed in 0..5 {
            let mut random = Random(seed * 7919 + 13);
            let bodies: Vec<FreeBody> = (0..10).map(|k| random_body(&mut random, 2.0 + 3.0 * f64::from(k))).collect();
            let mut world = world_of(&solver, 0.0, bodies.clone(), hz);
            let begun = energy(&*world, &bodies);
            let (mut least, mut rise) = (begun, 0.0f64);
            for _ in 0..(15.0 * hz) as usize {
                world.step(&[]);
                let now = energy(&*world, &bodies);
                rise = rise.max(now - least);
                least = least.min(now);
            }
            let what = format!("{} at {hz} Hz, seed {seed}", solver.name);
            // Overlaps are pushed out at up to 1 m/s. Rapier's contacts spring back.
            let most = if solver.name == "rapier" { 0.05 } else { 1e-3 };
            assert!(rise < most * begun, "{what}: {} of the energy out of nothing", rise / begun);
            let fastest = (0..10).map(|k| body(&*world, k).velocity.length()).fold(0.0, f32::max);
            assert!(fastest < 0.1, "{what}: {fastest} m/s");
            resting += u32::from(fastest < 0.01);
        }
        // In some heaps, light boxes under heavy ones still creep.
        assert!(resting >= 2, "{} at {hz} Hz: {resting} of 5 heaps rest", solver.name);
    }
}

/// A crate hit by a braking car slides equally far in every own world, and nearly as far in Rapier's.
#[test]
fn worlds_agree_on_a_shunted_crate() {
    let model = c5().without_air().model();
    for mass in [50.0, 400.0] {
        let ends = on_rows().into_iter().map(|solver| {
            let in_the_way = FreeBody::solid_box(mass, Vec3::new(1.0, 1.5, 0.8), DVec3::new(4.0, 0.2, 0.4));
            let placement = Placement { speed: 8.0, gear: Some(0), ..Placement::default() };
            let start = CarStart { model: model.clone(), placement };
            let mut world =
                (solver.build_world)(&Scene { free_bodies: vec![in_the_way], ..Scene::flat() }, &[start], 1.0 / 240.0);
            run(&mut *world, 6.0, &[Controls { brake: 0.5, ..Controls::parked() }]);
            let rests = body(&*world, 0);
            assert!(rests.velocity.length() < 1e-4, "{}: {rests:?}", solver.name);
            (solver.name, rests.position.x - 4.0)
        });
        let ends: Vec<_> = ends.collect();
        // Rapier's world alone has no reference.
        let Some(&(_, way)) = ends.iter().find(|(name, _)| *name != "rapier") else { continue };
        for (name, slid) in ends {
            // After an impact in Rapier's worlds the crate is slower by 0.7 of 7.4 m/s. Unsprung masses change the dive of
            // the car.
            let most = if name == "rapier" { 0.25 } else { 0.02 };
            assert!((slid / way - 1.0).abs() < most, "{name}, {mass} kg: {slid} m instead of {way} m");
        }
    }
}

/// Drives a car that slides and rolls among five bodies in any pose and motion, which fall onto it and each other. Returns
/// the largest rise of their total energy over the energy at the start. Energy that rays gain when they step up is not
/// counted.
fn rise_among_bodies(solver: &SolverInfo, seed: u64, hz: f32) -> f64 {
    let mut random = Random(seed);
    let model = c5().without_air().model();
    let mut top = 0.0;
    let bodies: [FreeBody; 5] = std::array::from_fn(|_| {
        let body = random_body(&mut random, 0.0);
        // At any attitude the bodies start apart, because overlaps would be lifted out.
        let reach = f64::from(body.hull.half_extents.length());
        let position = body.motion.position + DVec3::Z * (top + reach);
        top += 2.0 * reach;
        let velocity = Vec3::new(random.between(-6.0, 6.0), random.between(-6.0, 6.0), 0.0);
        let angular_velocity = Vec3::Z * random.between(-4.0, 4.0);
        FreeBody { motion: BodyMotion { position, velocity, angular_velocity, ..body.motion }, ..body }
    });
    let placement = Placement {
        x: f64::from(random.between(-12.0, -6.0)),
        speed: random.between(0.0, 15.0),
        gear: Some(0),
        ..Placement::default()
    };
    let start = CarStart { model: model.clone(), placement };
    let mut world = (solver.build_world)(&Scene { free_bodies: bodies.to_vec(), ..Scene::flat() }, &[start], 1.0 / hz);
    let audit = Audit::by_compressions(&model, solver);
    let mut steps = StepsUp::default();
    let mut sum = |world: &mut dyn Simulation| audit.energy_on_rays(world, 0, &mut steps) + energy(world, &bodies);
    let begun = sum(&mut *world);
    let (mut least, mut rise) = (begun, 0.0f64);
    for _ in 0..(4.0 * hz) as usize {
        let report = world.step(&[Controls { brake: 0.2, ..Controls::coasting() }]);
        assert!(!report.not_finite, "{} at {hz} Hz, seed {seed}", solver.name);
        let now = sum(&mut *world);
        rise = rise.max(now - least);
        least = least.min(now);
    }
    rise / begun
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn bodies_among_cars_gain_no_energy(seed in any::<u64>(), hz in 60f32..480.0) {
        for solver in own_worlds() {
            let rise = rise_among_bodies(&solver, seed, hz);
            // Measured in 6,000 runs at 60 Hz: one gains 1.4e-3, and eight more gain above 1e-4.
            prop_assert!(rise < 2e-3, "{} at {hz} Hz: {rise} of the energy out of nothing", solver.name);
        }
    }
}

/// Crates of 3 to 10 kg under falling bodies of 1.3 to 2 t must not be pressed into the ground and into these bodies, which
/// rise when the overlaps are pushed out. With only 64 passes over the contacts in a step, the energy of these two worlds
/// rises by 1.1 % and 1.0 %.
#[test]
fn heavy_bodies_on_light_ones_gain_no_energy() {
    for solver in own_worlds() {
        for seed in [8908471918377288623, 17403721697013721731] {
            let rise = rise_among_bodies(&solver, seed, 60.0);
            assert!(rise < 1e-4, "{}, seed {seed}: {rise} of the energy out of nothing", solver.name);
        }
    }
}

/// Worlds with bodies continue bit for bit after a load, whatever happened in between, and do not allocate.
#[test]
fn bodies_rewind_and_ask_for_no_memory() {
    let model = c5().model();
    for solver in own_worlds() {
        let mut random = Random(5);
        let mut bodies: Vec<FreeBody> = (0..6).map(|k| random_body(&mut random, 2.0 + 3.0 * f64::from(k))).collect();
        bodies.push(slab(300.0, [40.0, 10.0], 0.3));
        let mut world = coming(&solver, &model, bodies, 60.0);
        let brake = [Controls { brake: 0.3, ..Controls::parked() }];
        run(&mut *world, 2.0, &brake);
        let saved = world.save().expect("own worlds save");
        let asked = allocation_counter::measure(|| (0..60).for_each(|_| _ = world.step(&brake)));
        assert_eq!(asked.count_total, 0, "{}", solver.name);
        let went = world.save().expect("own worlds save");
        run(&mut *world, 1.0, &brake);
        world.load(&saved).expect("the same cars and bodies");
        assert_eq!(world.save().expect("own worlds save"), saved, "{}", solver.name);
        run(&mut *world, 1.0, &brake);
        assert_eq!(world.save().expect("own worlds save"), went, "{}", solver.name);
        let error = world.load(&saved[..saved.len() - 1]).expect_err("a byte is missing");
        assert!(error.to_string().contains("bytes"), "{error}");
    }
}

/// A body can be read and set to any motion; a body that does not exist cannot.
#[test]
fn bodies_are_read_and_put() {
    for solver in on_rows() {
        let mut world = world_of(&solver, 0.0, vec![on_slope(50.0, 0.0)], 60.0);
        let thrown =
            BodyMotion { velocity: Vec3::new(2.0, 0.0, 4.0), ..BodyMotion::at_rest(DVec3::new(3.0, 1.0, 2.0)) };
        assert_eq!((world.body_count(), world.body_motion(1)), (1, None), "{}", solver.name);
        assert!(world.set_body_motion(0, &thrown) && !world.set_body_motion(1, &thrown), "{}", solver.name);
        assert_eq!(world.body_motion(0), Some(thrown), "{}", solver.name);
        run(&mut *world, 0.5, &[]);
        let now = body(&*world, 0);
        // Rapier's semi-implicit steps of 1/240 s lag behind the parabola by g t dt / 2.
        let height = 2.0 + 4.0 * 0.5 - 0.5 * GRAVITY * 0.25;
        assert!((now.position - DVec3::new(4.0, 1.0, height)).length() < 0.011, "{}: {now:?}", solver.name);
    }
}

/// Cars that do not collide with each other still collide with bodies.
#[test]
fn cars_that_share_one_place_push_one_crate() {
    let model = c5().model();
    for solver in on_rows() {
        let crates = vec![FreeBody::solid_box(100.0, Vec3::new(1.0, 1.5, 1.0), DVec3::new(5.0, 0.0, 0.5))];
        let start = || CarStart { model: model.clone(), placement: Placement { speed: 5.0, ..Placement::default() } };
        let scene = Scene { free_bodies: crates, cars_collide: false, ..Scene::flat() };
        let mut world = (solver.build_world)(&scene, &[start(), start()], 1.0 / 60.0);
        run(&mut *world, 1.0, &[Controls::coasting(), Controls::coasting()]);
        let apart = (world.state(0).position - world.state(1).position).length();
        // Rapier solves the contacts of both cars with the crate one after the other.
        assert!(apart < 0.1, "{}: {apart} m", solver.name);
        assert!(body(&*world, 0).position.x > 5.5, "{}: {:?}", solver.name, body(&*world, 0));
    }
}
