//! Collisions between cars: impacts, passing, resting on each other, pile-ups.

use std::sync::Arc;

use skidpad::core::model::Hull;
use skidpad::core::{CarStart, Controls, Model, Quat, Scene, Simulation, SolverInfo, Vec3, state::Placement};
#[cfg(feature = "rapier")]
use skidpad::core::{DVec3, FixedBox, State};

use crate::common::{Simplify, c5, on_rows, shipped};
#[cfg(feature = "rapier")]
use crate::step::{energy::Audit, random::Random};

/// Returns the solvers and modes in the own world.
pub fn own_worlds() -> Vec<SolverInfo> {
    on_rows().into_iter().filter(|solver| solver.name != "rapier").collect()
}

fn build(solver: &SolverInfo, scene: &Scene, model: &Arc<Model>, places: &[Placement], hz: f32) -> Box<dyn Simulation> {
    let starts: Vec<_> =
        places.iter().map(|placement| CarStart { model: model.clone(), placement: *placement }).collect();
    (solver.build_world)(scene, &starts, 1.0 / hz)
}

/// Returns a placement at (`x`, `y`), m, turned by `heading` rad, rolling in neutral at `speed` m/s.
pub fn at(x: f64, y: f64, heading: f32, speed: f32) -> Placement {
    Placement { x, y, heading, speed, gear: Some(0), ..Placement::default() }
}

fn coast(world: &mut dyn Simulation, seconds: f32) {
    let controls = vec![Controls::coasting(); world.slot_count()];
    (0..(seconds / world.dt()).round() as usize).for_each(|_| _ = world.step(&controls));
}

/// Returns a C5 without air and almost without grip, which only impacts accelerate.
fn gliding() -> Arc<Model> {
    c5().on_coulomb_tyres(1e-3).without_air().without_rolling_resistance().model()
}

/// Returns the distance from the centre of mass to the nose, m.
fn nose(model: &Model) -> f64 {
    let Hull { centre, half_extents } = model.parts().hull;
    f64::from(centre.x + half_extents.x)
}

const PI: f32 = std::f32::consts::PI;

/// Equal cars stop each other in a head-on impact. A car and the standing car that it hits move on with half the speed. `m
/// v` is conserved.
#[test]
fn cars_head_on_and_into_a_standing_one() {
    let model = gliding();
    for solver in own_worlds() {
        for (hz, speed) in [20.0, 60.0, 240.0, 1000.0].into_iter().flat_map(|hz| [5.0, 30.0].map(|v| (hz, v))) {
            for (heading, other) in [(PI, speed), (PI, 0.0), (0.0, 0.0)] {
                let second = at(2.0 * nose(&model) + 1.3, 0.0, heading, other);
                let mut world = build(&solver, &Scene::flat(), &model, &[at(0.0, 0.0, 0.0, speed), second], hz);
                let before = speed - other;
                let mut momentum = before;
                for _ in 0..(2.0 * hz / speed.min(10.0)) as usize {
                    world.step(&[Controls::coasting(), Controls::coasting()]);
                    let [first, second] = [0, 1].map(|car| world.state(car).velocity.x);
                    // The remaining grip decelerates each car by 0.01 m/s².
                    let lost = (first + second - momentum).abs();
                    let what = format!("{} {hz} Hz, {speed} into {other} m/s", solver.name);
                    assert!(lost < 1e-5 * speed + 0.025 / hz, "{what}: {lost} m/s of momentum lost");
                    momentum = first + second;
                }
                for state in [world.state(0), world.state(1)] {
                    let off = state.velocity - Vec3::X * (0.5 * before);
                    let what = format!("{} {hz} Hz, {speed} into {other} m/s: {}", solver.name, state.velocity);
                    // Springs pressed by the impact turn the cars a little.
                    assert!(off.length() < 0.02 * speed, "{what}");
                }
            }
        }
    }
}

/// A car that passes another car at a distance of 10 cm, both at 30 m/s, keeps every bit.
#[test]
fn a_car_passes_another_one_untouched() {
    let model = c5().model();
    let beside = 2.0 * f64::from(model.parts().hull.half_extents.y) + 0.1;
    for solver in own_worlds() {
        for hz in [20.0, 30.0, 60.0, 120.0, 240.0, 1000.0] {
            let places = [at(0.0, 0.0, 0.0, 30.0), at(30.0, beside, PI, 30.0)];
            let mut both = build(&solver, &Scene::flat(), &model, &places, hz);
            let mut alone = places.map(|place| build(&solver, &Scene::flat(), &model, &[place], hz));
            coast(&mut *both, 1.5);
            for (car, alone) in alone.iter_mut().enumerate() {
                coast(&mut **alone, 1.5);
                assert_eq!(both.state(car).to_bytes(), alone.state(0).to_bytes(), "{} {hz} Hz, {car}", solver.name);
            }
            assert!(both.state(0).position.x > both.state(1).position.x + 5.0);
        }
    }
}

/// Cars head-on at 60 m/s each, which close six metres in a step, do not pass through each other, wherever the steps end.
#[test]
fn nothing_tunnels() {
    let model = c5().model();
    for solver in own_worlds() {
        for (hz, shift) in [20.0, 30.0, 60.0].into_iter().flat_map(|hz| [0.0, 0.7, 1.9, 3.1, 4.4].map(|x| (hz, x))) {
            for aside in [0.0, 0.9, -1.6] {
                let places = [at(0.0, 0.0, 0.0, 60.0), at(30.0 + shift, aside, PI, 60.0)];
                let mut world = build(&solver, &Scene::flat(), &model, &places, hz);
                coast(&mut *world, 1.0);
                let what = format!("{} {hz} Hz, {shift} m further, {aside} m aside", solver.name);
                // Cars with a lateral offset turn around each other.
                let left = world.state(0).velocity.x;
                assert!(left < 45.0, "{what}: it goes on at {left} m/s");
                let apart = world.state(1).position.x - world.state(0).position.x;
                assert!(aside != 0.0 || apart > 2.0 * nose(&model) - 0.02, "{what}: {apart} m apart");
            }
        }
    }
}

/// A car set down on its back on the roof of another car stays there, and both come to rest.
#[test]
fn a_car_on_its_back_rests_on_the_roof_of_another() {
    let model = c5().model();
    let Hull { centre, half_extents } = model.parts().hull;
    let higher = 2.0 * f64::from(centre.z + half_extents.z);
    for solver in own_worlds() {
        for hz in [30.0, 60.0, 240.0] {
            let places = [at(0.0, 0.0, 0.0, 0.0), at(0.3, 0.0, 0.0, 0.0)];
            let mut world = build(&solver, &Scene::flat(), &model, &places, hz);
            let mut turned = world.state(1).clone();
            turned.rotation = Quat::from_rotation_x(PI);
            turned.position.z = world.state(0).position.z + higher + 0.05;
            world.set_state(1, &turned).expect("it fits");
            let parked = [Controls::parked(), Controls::parked()];
            (0..(8.0 * hz) as usize).for_each(|_| _ = world.step(&parked));
            let start = world.state(1).position;
            (0..(2.0 * hz) as usize).for_each(|_| _ = world.step(&parked));
            let what = format!("{} {hz} Hz", solver.name);
            let moved = (world.state(1).position - start).length();
            let speed = [0, 1].map(|car| world.state(car).velocity.length());
            let height = world.state(1).position.z - world.state(0).position.z - higher;
            assert!(moved < 2e-3 && speed.iter().all(|v| *v < 0.01), "{what}: {moved} m in 2 s, {speed:?} m/s");
            // The upper car leans with the lower one, which it loads behind the middle.
            assert!(height.abs() < 0.005, "{what}: {height} m above the roof");
        }
    }
}

/// Returns the depth of overlap of two hulls, m.
#[cfg(feature = "rapier")]
fn overlap(model: &Model, [first, second]: [&State; 2]) -> f32 {
    use skidpad::rapier::rapier3d::parry::{math::Pose, query::contact, shape::Cuboid};
    let Hull { centre, half_extents } = model.parts().hull;
    let shape = Cuboid::new(half_extents);
    let pose = |state: &State| {
        let place = (state.position - first.position).as_vec3() + state.rotation * centre;
        Pose::from_parts(place, state.rotation)
    };
    let found = contact(&pose(first), &shape, &pose(second), &shape, 0.0).expect("boxes");
    found.map_or(0.0, |contact| -contact.dist)
}

/// Twenty cars at 20 m/s, close behind and beside each other, run into a wall. The depth of overlaps is random: the largest
/// of three pile-ups may be an outlier.
#[cfg(feature = "rapier")]
#[test]
fn twenty_cars_pile_up_and_come_to_rest() {
    let model = c5().model();
    let wall = FixedBox::axis_aligned(DVec3::new(60.0, 0.0, 1.5), Vec3::new(1.0, 40.0, 3.0));
    let scene = Scene { boxes: vec![wall], ..Scene::flat() };
    for solver in own_worlds() {
        for (hz, most, seeds) in [(30.0, 0.2, &[77][..]), (60.0, 0.05, &[77, 1, 2]), (240.0, 6e-3, &[77])] {
            let mut deepest: Vec<f32> = seeds.iter().map(|seed| pile_up(&solver, &model, &scene, *seed, hz)).collect();
            deepest.sort_by(f32::total_cmp);
            let median = deepest[seeds.len() / 2];
            // The depth is of second order in the step: side swipes at 19 m/s turn cars by 3.5 rad/s while they slide along
            // each other.
            assert!(median < most, "{} {hz} Hz: {deepest:?} m inside each other", solver.name);
        }
    }
}

/// Lets twenty cars pile up. Asserts that they come to rest and gain no energy. Returns the largest overlap of two of them,
/// m.
#[cfg(feature = "rapier")]
fn pile_up(solver: &SolverInfo, model: &Arc<Model>, scene: &Scene, seed: u64, hz: f32) -> f32 {
    let mut random = Random(seed);
    let places: Vec<_> = (0..20)
        .map(|car: i32| {
            let (row, lane) = (f64::from(car / 2), f64::from(car % 2));
            let aside = f64::from(random.between(-0.5, 0.5));
            at(40.0 - 8.0 * row, 3.2 * lane + aside, random.between(-0.1, 0.1), 20.0)
        })
        .collect();
    let mut world = build(solver, scene, model, &places, hz);
    let audit = Audit::of_car(model, solver, scene);
    let energy = |world: &dyn Simulation| (0..20).map(|car| audit.given_back(world.state(car))).sum::<f64>();
    let kept = |world: &dyn Simulation| (0..20).map(|car| audit.energy(world.state(car))).sum::<f64>();
    let begun = kept(&*world);
    let (mut least, mut rise, mut deepest) = (begun, 0.0f64, 0.0f32);
    for step in 0..(16.0 * hz) as usize {
        // The cars brake too late.
        let controls = if step as f32 > 1.5 * hz { Controls::parked() } else { Controls::coasting() };
        let report = world.step(&vec![controls; 20]);
        assert!(!report.not_finite, "{} {hz} Hz, step {step}", solver.name);
        rise = rise.max(energy(&*world) - least);
        least = least.min(kept(&*world));
        for (first, second) in (0..20).flat_map(|first| (0..first).map(move |second| (first, second))) {
            let states = [world.state(first), world.state(second)];
            let moves = states.iter().any(|state| state.velocity.length() > 0.01);
            if moves && states[0].position.distance_squared(states[1].position) < 36.0 {
                deepest = deepest.max(overlap(model, states));
            }
        }
    }
    let fastest = (0..20).map(|car| world.state(car).velocity.length()).fold(0.0, f32::max);
    let what = format!("{} {hz} Hz", solver.name);
    assert!(fastest < 0.01, "{what}: {fastest} m/s");
    assert!(rise < 1e-3 * begun, "{what}: {} of the energy out of nothing", rise / begun);
    deepest
}

/// Impacts end as in Rapier's world with fine steps.
#[cfg(feature = "rapier")]
#[test]
fn cars_that_meet_end_as_in_rapier() {
    let model = gliding();
    let rapier = skidpad::Solver::Rapier.info();
    for (heading, other, aside) in [(PI, 1.0, 0.0), (PI, 0.0, 0.0), (0.0, 0.0, 0.0), (PI, 1.0, 0.6), (0.0, 0.0, 0.9)] {
        for speed in [5.0, 12.0, 30.0] {
            let end = |solver: &SolverInfo, hz: f32| {
                let second = at(2.0 * nose(&model) + 0.5, aside, heading, other * speed);
                let mut world = build(solver, &Scene::flat(), &model, &[at(0.0, 0.0, 0.0, speed), second], hz);
                coast(&mut *world, 0.5 / (speed * (1.0 + other)) + 0.1);
                [0, 1].map(|car| world.state(car).velocity / speed)
            };
            let expected = end(&rapier, 4000.0);
            for solver in own_worlds() {
                for hz in [30.0, 60.0, 240.0] {
                    let found = end(&solver, hz);
                    let apart = [0, 1].map(|car| (found[car] - expected[car]).truncate().length());
                    let what = format!("{} {hz} Hz, {speed} m/s into {other}, {aside} m aside", solver.name);
                    // Tolerance as for hulls and obstacles in `passing.rs`.
                    assert!(apart.iter().all(|x| *x < 0.1), "{what}: {found:?}, in Rapier {expected:?}");
                }
            }
        }
    }
}

/// If cars do not collide, each car of a fleet in one place drives as alone.
#[test]
fn ghosts_pass_through_each_other() {
    let model = c5().model();
    let scene = Scene { cars_collide: false, ..Scene::flat() };
    for solver in on_rows() {
        let place = at(0.0, 0.0, 0.0, 10.0);
        let [mut fleet, mut alone] = [3, 1].map(|cars| build(&solver, &scene, &model, &vec![place; cars], 60.0));
        coast(&mut *fleet, 2.0);
        coast(&mut *alone, 2.0);
        for car in 0..3 {
            let apart = fleet.state(car).position.distance(alone.state(0).position);
            assert!(apart < 1e-6, "{}: {apart} m elsewhere", solver.name);
        }
    }
}

/// A suspended car has no collisions, and a resumed car has.
#[test]
fn cars_that_left_are_not_met() {
    let model = gliding();
    for solver in own_worlds() {
        let places = [at(0.0, 0.0, 0.0, 20.0), at(10.0, 0.0, 0.0, 0.0)];
        let mut world = build(&solver, &Scene::flat(), &model, &places, 60.0);
        world.suspend(1).expect("it is there");
        coast(&mut *world, 1.0);
        assert!(world.state(0).velocity.x > 19.9, "{}: {}", solver.name, world.state(0).velocity);
        let mut ahead = world.state(1).clone();
        ahead.position.x = world.state(0).position.x + 8.0;
        world.resume(1, &ahead).expect("it fits");
        coast(&mut *world, 1.0);
        assert!((world.state(0).velocity.x - 10.0).abs() < 0.5, "{}: {}", solver.name, world.state(0).velocity);
    }
}

/// A loaded world repeats its bits, whatever happened in between, and no step of a pile-up allocates.
#[test]
fn a_pile_up_rewinds_and_asks_for_no_memory() {
    let model = shipped("bmw_320i_commonroad").model();
    for solver in own_worlds() {
        let places: Vec<_> = (0..8).map(|car| at(5.0 * f64::from(car), 0.3 * f64::from(car % 3), 0.0, 0.0)).collect();
        let mut world = build(&solver, &Scene::flat(), &model, &places, 60.0);
        let mut fast = world.state(0).clone();
        (fast.velocity, fast.previous_velocity) = (Vec3::X * 30.0, Vec3::X * 30.0);
        world.set_state(0, &fast).expect("it fits");
        coast(&mut *world, 0.2);
        let saved = world.save().expect("own worlds save");
        let controls = vec![Controls::coasting(); 8];
        let asked = allocation_counter::measure(|| (0..60).for_each(|_| _ = world.step(&controls)));
        assert_eq!(asked.count_total, 0, "{}", solver.name);
        let went: Vec<_> = (0..8).map(|car| world.state(car).to_bytes()).collect();
        assert!(world.state(4).velocity.length() > 0.1, "{}: the blow went through the row", solver.name);
        world.load(&saved).expect("the same cars");
        coast(&mut *world, 1.0);
        (0..8).for_each(|car| assert_eq!(world.state(car).to_bytes(), went[car], "{} car {car}", solver.name));
    }
}

/// A car with an extreme velocity does not disturb another one.
#[test]
fn a_lost_car_meets_none() {
    let model = c5().model();
    for solver in own_worlds() {
        let places = [at(0.0, 0.0, 0.0, 10.0), at(20.0, 0.0, 0.0, 10.0)];
        let mut world = build(&solver, &Scene::flat(), &model, &places, 60.0);
        let mut alone = build(&solver, &Scene::flat(), &model, &places[..1], 60.0);
        let mut lost = world.state(1).clone();
        lost.velocity = Quat::IDENTITY * Vec3::splat(1e12);
        world.set_state(1, &lost).expect("it fits");
        coast(&mut *world, 0.2);
        coast(&mut *alone, 0.2);
        assert_eq!(world.state(0).to_bytes(), alone.state(0).to_bytes(), "{}", solver.name);
    }
}
