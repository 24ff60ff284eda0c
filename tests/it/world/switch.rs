//! Change of solver, of rate or of both while a car corners, without a visible jump.

use std::sync::Arc;

use skidpad::core::{
    CarError, CarId, CarStart, Controls, DVec3, LevelError, LevelOfDetail, LodDistances, Model, Scene, Simulation,
    SolverInfo, State, Vec3,
    state::{Placement, Tow},
};

use crate::common::{Drive, Simplify, c5, shipped, solvers};

/// Rates of fine and coarse levels, Hz.
const RATES: [f32; 2] = [240.0, 60.0];

/// Ticks at which cars change: while steering angle, yaw rate and roll build up, and long after.
const SWITCHES: [usize; 6] = [240, 252, 264, 288, 360, 720];

/// Name of a corner, and its steering at a tick.
type Corner = (&'static str, fn(usize) -> f32);

/// Corner held from the start, and corner that begins after a second, with 4 and 8 m/s² in the end.
const CORNERS: [Corner; 2] = [("steady corner", |_| 0.03), ("step steer", |tick| if tick < 240 { 0.0 } else { 0.06 })];

fn at_20_mps(solver: &SolverInfo, hz: f32) -> Box<dyn Simulation> {
    let placement = Placement { speed: 20.0, ..Placement::default() };
    Drive::new(solver, &c5().model(), &Scene::flat(), placement, hz).world
}

/// Level with a solver and a rate.
#[derive(Clone, Copy)]
struct Level<'a> {
    solver: &'a SolverInfo,
    hz: f32,
}

/// Builds two levels, the finer one first, with a car in that of `levels[0]`. Returns them with the place of each of
/// `levels`.
fn start(levels: [Level; 2]) -> (LevelOfDetail, [usize; 2]) {
    let at = if levels[0].hz < levels[1].hz { [1, 0] } else { [0, 1] };
    let world = |i: usize| at_20_mps(levels[at[i]].solver, levels[at[i]].hz);
    let mut car = LevelOfDetail::new(vec![world(0), world(1)]).expect("60 divides 240");
    car.set_level(0, at[0]);
    (car, at)
}

/// Steps the ticks from `first` on. Returns the mean load of each wheel over the steps of its level, N: a state has the mean
/// over its own step only. Both levels have stepped after four ticks.
fn loads_of_a_step(car: &mut LevelOfDetail, first: usize, ticks: usize, steer: fn(usize) -> f32) -> Vec<f64> {
    let (mut sums, mut steps) = (vec![0.0; 4], 0.0);
    for tick in first..first + ticks {
        car.step(&[Controls { throttle: 0.2, steer: steer(tick), ..Controls::default() }]);
        if car.lag(0) == 0.0 {
            steps += 1.0;
            sums.iter_mut().zip(&car.state(0).wheels).for_each(|(sum, wheel)| *sum += f64::from(wheel.load));
        }
    }
    sums.iter().map(|sum| sum / steps).collect()
}

/// Returns the differences of two cars: position in m, velocity and largest load as shares.
fn apart(a: &State, b: &State, loads: [&[f64]; 2]) -> [f64; 3] {
    let load = loads[0].iter().zip(loads[1]).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max);
    let velocity = (a.velocity - b.velocity).length() / b.velocity.length();
    [a.position.distance(b.position), velocity.into(), load]
}

/// Moves a car from the first level to the second after `switch` ticks. Returns its difference from a car that stays, one
/// step of the coarser level later.
fn change(levels: [Level; 2], switch: usize, steer: fn(usize) -> f32) -> [f64; 3] {
    let ((mut changed, at), (mut kept, _)) = (start(levels), start(levels));
    for car in [&mut changed, &mut kept] {
        loads_of_a_step(car, 0, switch, steer);
    }
    let before = State { previous_velocity: Default::default(), ..changed.state(0).clone() };
    changed.set_level(0, at[1]);
    assert_eq!(changed.level(0), at[1], "both levels are at the same time");
    let after = State { previous_velocity: Default::default(), ..changed.state(0).clone() };
    assert_eq!(after.to_bytes(), before.to_bytes(), "at the switch itself nothing jumps");
    let ticks = if levels[0].hz == levels[1].hz { 1 } else { 4 };
    let loads = [&mut changed, &mut kept].map(|car| loads_of_a_step(car, switch, ticks, steer));
    apart(changed.state(0), kept.state(0), [&loads[0], &loads[1]])
}

/// A change in a corner moves the pose by less than 1 mm, velocity by 1 % and loads by 5 %, for every pair of solvers.
#[test]
fn a_change_in_mid_corner_is_not_seen() {
    let solvers = solvers();
    for rates in [[RATES[0]; 2], RATES, [RATES[1], RATES[0]]] {
        let mut worst = [0.0f64; 3];
        for (from, to) in solvers.iter().flat_map(|from| solvers.iter().map(move |to| (from, to))) {
            let levels = [Level { solver: from, hz: rates[0] }, Level { solver: to, hz: rates[1] }];
            for (corner, steer) in CORNERS {
                for switch in SWITCHES {
                    let jump = change(levels, switch, steer);
                    let what = format!("{} {rates:?} {}, {corner}, tick {switch}: {jump:?}", from.name, to.name);
                    assert!(jump[0] < 1e-3 && jump[1] < 0.01 && jump[2] < 0.05, "{what}");
                    worst = [0, 1, 2].map(|i| worst[i].max(jump[i]));
                }
            }
        }
        let [pose, velocity, load] = worst;
        println!("{rates:?} Hz: {:.3} mm, {:.4} %, {:.2} %", 1e3 * pose, 100.0 * velocity, 100.0 * load);
    }
}

/// A change to another solver and back without a step keeps every bit.
#[test]
fn there_and_back_changes_no_bit() {
    for from in solvers() {
        for to in solvers() {
            let [mut moved, mut kept] =
                [(); 2].map(|()| start([&from, &to].map(|solver| Level { solver, hz: 60.0 })).0);
            for round in 0..8 {
                for car in [&mut moved, &mut kept] {
                    loads_of_a_step(car, 20 * round, 20, |tick| 0.001 * tick as f32);
                }
                moved.set_level(0, 1);
                moved.set_level(0, 0);
            }
            assert_eq!(moved.state(0).to_bytes(), kept.state(0).to_bytes(), "{} and {}", from.name, to.name);
        }
    }
}

/// The previous velocity is computed anew for the new step length. Otherwise accelerations would jump fourfold.
#[test]
fn accelerations_do_not_jump_with_the_tick() {
    for solver in solvers() {
        let (mut car, _) = start(RATES.map(|hz| Level { solver: &solver, hz }));
        loads_of_a_step(&mut car, 0, 720, |_| 0.03);
        let before = car.frame(0);
        car.set_level(0, 1);
        let after = car.frame(0);
        assert!(before.ay_mps2 > 3.0, "a corner: {}", before.ay_mps2);
        // Differences of f32 velocities: 2 µm/s over 4 ms.
        assert!((after.ay_mps2 - before.ay_mps2).abs() < 2e-3, "{}: {after:?}", solver.name);
    }
}

/// A suspended car keeps its state while the other car drives as if alone. It is saved as suspended, and can be resumed.
#[test]
fn a_car_leaves_its_world_and_comes_back() {
    for solver in skidpad::solvers() {
        let model = c5().model();
        let start =
            |y: f64| CarStart { model: model.clone(), placement: Placement { y, speed: 20.0, ..Placement::default() } };
        let build = || (solver.build_world)(&Scene::flat(), &[start(0.0), start(10.0)], 1.0 / 60.0);
        let asked = Controls { throttle: 0.3, steer: 0.02, ..Controls::default() };
        let steps = |world: &mut dyn Simulation| (0..100).for_each(|_| _ = world.step(&[asked.clone(), asked.clone()]));
        let (mut world, mut both) = (build(), build());
        steps(both.as_mut());
        world.suspend(0).expect("it is there");
        let away = world.state(0).clone();
        steps(world.as_mut());
        assert!(!world.slots().is_active(0) && world.state(0) == &away, "{}", solver.name);
        assert_eq!(world.state(1), both.state(1), "{}: the other one", solver.name);

        let mut loaded = build();
        loaded.load(&world.save().expect("no hull touches anything")).expect("saved");
        assert!(!loaded.slots().is_active(0) && loaded.slots().is_active(1), "{}", solver.name);
        for world in [&mut world, &mut loaded] {
            world.resume(0, &away).expect("it fits");
            steps(world.as_mut());
            assert!(
                world.slots().is_active(0) && world.state(0) == both.state(0),
                "{}: as if it had started now",
                solver.name
            );
        }
        assert_eq!(world.state(1), loaded.state(1), "{}", solver.name);
    }
}

/// A car that drives past a viewer is in the fine level within 40 m and in the coarse one beyond, without repeated changes
/// on the way.
#[test]
fn distance_chooses_the_level() {
    for solver in solvers() {
        let (mut car, _) = start(RATES.map(|hz| Level { solver: &solver, hz }));
        let distances = LodDistances { limits: vec![40.0], margin: 0.1 };
        let mut changes = Vec::new();
        for _ in 0..1440 {
            let before = car.level(0);
            car.update_levels(&[DVec3::new(60.0, 0.0, 0.0)], &distances);
            if car.level(0) != before {
                changes.push((car.level(0), (car.state(0).position.x - 60.0).abs()));
            }
            car.step(&[Controls { throttle: 0.2, ..Controls::default() }]);
        }
        let levels: Vec<usize> = changes.iter().map(|change| change.0).collect();
        assert_eq!(levels, [1, 0, 1], "{}: {changes:?}", solver.name);
        // The change waits until both levels are at the same time, within 0.4 m.
        assert!((changes[1].1 - 36.0).abs() < 0.4 && (changes[2].1 - 40.0).abs() < 0.4, "{changes:?}");
        assert!((car.time() - 6.0).abs() < 1e-6 && car.lag(0) == 0.0);
    }
}

/// A removed car is removed from all levels. The next inserted car reuses its slot and starts in the finest level.
#[test]
fn a_removed_car_is_gone_from_every_level() {
    for solver in solvers() {
        let (mut cars, _) = start(RATES.map(|hz| Level { solver: &solver, hz }));
        let first = CarId::first(0);
        cars.set_level(0, 1);
        (0..8).for_each(|_| _ = cars.step(&[Controls::coasting()]));
        cars.remove(first).expect("it is there");
        assert_eq!(cars.remove(first), Err(CarError::Removed { car: first }), "{}", solver.name);
        cars.update_levels(&[DVec3::ZERO], &LodDistances { limits: vec![40.0], margin: 0.1 });
        (0..8).for_each(|_| _ = cars.step(&[]));
        let next = cars.insert(&CarStart { model: shipped("truck_6x4").model(), placement: Placement::default() });
        assert_eq!((next.slot(), next.generation(), cars.level(0)), (0, 1, 0), "{}", solver.name);
        for level in [1, 0, 1] {
            cars.set_level(0, level);
            (0..8).for_each(|_| _ = cars.step(&[Controls { throttle: 1.0, ..Controls::default() }]));
            assert_eq!(cars.level(0), level, "{}", solver.name);
        }
        assert_eq!((cars.slots().len(), cars.state(0).wheels.len()), (1, 6), "{}", solver.name);
        assert!(cars.state(0).velocity.x > 0.0, "{}: it drives", solver.name);
    }
}

/// Builds levels that contain a car and its trailer at 20 m/s.
fn rig(models: &[Arc<Model>; 2], levels: [Level; 2]) -> LevelOfDetail {
    let place = Placement { speed: 20.0, ..Placement::default() };
    let world = |level: Level| {
        let starts = models.clone().map(|model| CarStart { model, placement: place });
        let mut world = (level.solver.build_world)(&Scene::flat(), &starts, 1.0 / level.hz);
        let train = State::train_at_rest(&[&models[0], &models[1]], 0, &Scene::flat(), &place);
        train.iter().enumerate().for_each(|(car, state)| world.set_state(car, state).expect("it fits"));
        world
    };
    LevelOfDetail::new(levels.map(world).into()).expect("60 divides 120")
}

/// Returns the distance of coupler and hitch of a [`rig`], m.
fn gap(rig: &LevelOfDetail, [car, trailer]: &[Arc<Model>; 2]) -> f64 {
    let hitch = car.parts().hitch.expect("a hitch").point;
    let coupler = trailer.parts().coupler.expect("a coupler").point;
    let [ahead, behind] = [(0, hitch), (1, coupler)].map(|(number, point)| {
        let state = rig.state(number);
        state.position + (state.rotation * point).as_dvec3()
    });
    ahead.distance(behind)
}

/// A 4Runner with its caravan drives away from a viewer, brakes, or turns. Both change level together, and the hitch opens
/// by no more than in a rig that stays in one level. At 60 Hz, `rapier` has gaps of 0.44 mm in that turn.
#[test]
fn a_train_changes_level_as_one() {
    let models = [shipped("toyota_4runner").model(), shipped("caravan").model()];
    let widest = |mut rig: LevelOfDetail, controls: &[Controls], change: &mut dyn FnMut(&mut LevelOfDetail)| {
        let gaps = (0..480).map(|_| {
            change(&mut rig);
            rig.step(controls);
            assert_eq!(rig.level(0), rig.level(1), "torn apart");
            gap(&rig, &models)
        });
        gaps.fold(0.0, f64::max)
    };
    let distances = LodDistances { limits: vec![30.0], margin: 0.1 };
    for (from, to) in solvers().iter().flat_map(|from| solvers().into_iter().map(move |to| (*from, to))) {
        let levels = [Level { solver: &from, hz: 120.0 }, Level { solver: &to, hz: 60.0 }];
        for (brake, steer) in [(0.0, 0.0), (0.3, 0.0), (0.0, 0.06)] {
            let towing = Controls { brake, steer, gear: Some(0), ..Controls::default() };
            let controls = [towing, Controls { gear: Some(0), ..Controls::default() }];
            let stays = [0, 1].map(|level| widest(rig(&models, levels), &controls, &mut |rig| rig.set_level(1, level)));
            let mut coarse = 0;
            let changes = widest(rig(&models, levels), &controls, &mut |rig| {
                rig.update_levels(&[DVec3::ZERO], &distances);
                coarse += rig.level(0);
            });
            let what = format!("{} to {}, brake {brake}, steer {steer}", from.name, to.name);
            assert!((1..480).contains(&coarse), "{what}: in the coarse level for {coarse} ticks");
            // A tenth of the jump in `docs/book/src/features.md`. The parts of a separated train would be metres apart.
            assert!(changes < stays[0].max(stays[1]) + 3e-5, "{what}: {changes} m, {stays:?} m of those that stay");
        }
    }
}

/// Vehicles whose states tow each other in a circle change level together, whichever of them is told to.
#[test]
fn a_circle_of_vehicles_changes_level_as_one() {
    let Some(solver) = solvers().into_iter().next() else { return };
    let model = shipped("toyota_4runner").model();
    for (circle, asked) in [([1, 0], 0), ([1, 0], 1), ([0, 0], 1), ([1, 1], 0)] {
        let world = |hz: f32| {
            let start = |x: f64| CarStart { model: model.clone(), placement: Placement { x, ..Placement::default() } };
            let mut world = (solver.build_world)(&Scene::flat(), &[start(0.0), start(9.0)], 1.0 / hz);
            for (car, towing_slot) in circle.into_iter().enumerate() {
                let mut state = world.state(car).clone();
                state.tow = Some(Tow { towing_slot, force: Vec3::ZERO, overrun: 0.0 });
                world.set_state(car, &state).expect("it fits");
            }
            world
        };
        let mut levels = LevelOfDetail::new(RATES.map(world).into()).expect("one rate divides the other");
        levels.set_level(asked, 1);
        assert_eq!([levels.level(0), levels.level(1)], [1, 1], "towed by {circle:?}, asked of {asked}");
    }
}

#[test]
fn worlds_that_make_no_levels_say_why() {
    let Some(solver) = solvers().into_iter().next() else { return };
    let says = |worlds: Vec<Box<dyn Simulation>>, expected: LevelError, text: &str| {
        assert_eq!(expected.to_string(), text);
        assert_eq!(LevelOfDetail::new(worlds).err(), Some(expected));
    };
    says(vec![], LevelError::NoWorld, "the list of worlds is empty, but one world per level is required");
    let truck = Drive::rolling(&solver, &shipped("truck_6x4").model(), 0.0, 60.0).world;
    let text =
        "the cars of level 1 differ from those of level 0; both worlds must have the same models in the same slots";
    says(vec![at_20_mps(&solver, 60.0), truck], LevelError::CarsMismatch { level: 1 }, text);
    let text = "level 1 has a step of 0.01 s, which must be an integer multiple of 0.016666668 s, the step of the previous level";
    let expected = LevelError::StepMismatch { level: 1, found: 0.01, finer_step: 1.0 / 60.0 };
    says(vec![at_20_mps(&solver, 60.0), at_20_mps(&solver, 100.0)], expected, text);
}
