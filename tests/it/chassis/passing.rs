//! Obstacles next to, under and above a car's path: a cleared obstacle has no effect, and a hit obstacle stops the
//! car.

use skidpad::core::model::Hull;
use skidpad::core::{Controls, DVec3, FixedBox, Model, Scene, SolverInfo, State, Vec3, state::Placement};
use std::sync::Arc;

use crate::common::{Drive, Simplify, c5, own_code};

/// Position of the obstacle along x (m).
const AT: f64 = 6.0;

/// Returns the left side, underside and top of the hull of `model` at rest, relative to the ground below its centre
/// of mass (m).
fn outline(model: &Model) -> [f32; 3] {
    let Hull { centre, half_extents } = model.parts().hull;
    let height = model.parts().centre_height + centre.z;
    [centre.y + half_extents.y, height - half_extents.z, height + half_extents.z]
}

/// Returns obstacles by name that overlap the hull of `model` by `overlap` m. Below 0 it is a clearance.
fn obstacles(model: &Model, overlap: f32) -> Vec<(&'static str, FixedBox)> {
    let [side, under, over] = outline(model);
    let (half, far) = (0.1f32, side - overlap);
    let post = |y: f32| FixedBox::axis_aligned(DVec3::new(AT, f64::from(y), 1.0), Vec3::new(0.2, 0.2, 2.0));
    let skew = |y: f32, yaw: f32, reach: f32| post(y.signum() * (y.abs() + reach - half)).rotated(yaw, 0.0, 0.0);
    let bar = |z: f32, size: Vec3| FixedBox::axis_aligned(DVec3::new(AT, 0.0, f64::from(z)), size);
    vec![
        ("post on the left", post(far + half)),
        ("post on the right", post(-far - half)),
        ("skew post on the left", skew(far + half, 0.6, half * (0.6f32.sin() + 0.6f32.cos()))),
        ("skew post on the right", skew(-far - half, 0.785, half * 2f32.sqrt())),
        ("bump", bar(0.5 * (under + overlap), Vec3::new(0.3, 0.8, under + overlap))),
        ("ridge", bar(under + overlap - 0.1, Vec3::new(0.05, 0.8, 0.2))),
        ("beam", bar(over - overlap + 0.1, Vec3::new(0.2, 10.0, 0.2))),
    ]
}

fn rolling(solver: &SolverInfo, model: &Arc<Model>, boxes: Vec<FixedBox>, speed: f32, hz: f32) -> Drive {
    let placement = Placement { speed, gear: Some(0), ..Placement::default() };
    Drive::new(solver, model, &Scene { boxes, ..Scene::flat() }, placement, hz)
}

/// Returns the state after `seconds` of coasting.
fn coasted(mut car: Drive, seconds: f32) -> State {
    let steps = (seconds / car.world.dt()).ceil() as usize;
    for _ in 0..steps {
        car.world.step(&[Controls::coasting()]);
    }
    car.world.state(0).clone()
}

const SPEEDS: [f32; 4] = [5.0, 12.0, 30.0, 60.0];
const RATES: [f32; 4] = [30.0, 60.0, 120.0, 240.0];

/// Obstacles 1 cm from the hull change the final speed by less than 1e-4 of it, at any speed and rate.
#[test]
fn a_car_passes_what_it_clears_by_a_centimetre() {
    let model = c5().model();
    for solver in own_code() {
        for (speed, hz) in SPEEDS.into_iter().flat_map(|speed| RATES.map(|hz| (speed, hz))) {
            let seconds = (AT as f32 + 6.0) / speed;
            let free = coasted(rolling(&solver, &model, vec![], speed, hz), seconds).velocity.length();
            for (name, obstacle) in obstacles(&model, -0.01) {
                let passed = coasted(rolling(&solver, &model, vec![obstacle], speed, hz), seconds).velocity.length();
                let what = format!("{} past a {name} at {speed} m/s, {hz} Hz", solver.name);
                assert!((passed / free - 1.0).abs() < 1e-4, "{what}: {passed} instead of {free} m/s");
            }
        }
    }
}

/// Offsets of the obstacle along x (m).
#[cfg(feature = "rapier")]
const SHIFTS: [f64; 2] = [0.001, 0.0123];

/// Returns obstacles in front of the car, by name.
#[cfg(feature = "rapier")]
fn ahead() -> [(&'static str, FixedBox); 3] {
    let upright = |y: f64, width: f32| FixedBox::axis_aligned(DVec3::new(AT, y, 1.0), Vec3::new(0.2, width, 2.0));
    [("wall", upright(0.0, 10.0)), ("post ahead", upright(0.0, 0.2)), ("post ahead on the left", upright(0.4, 0.2))]
}

/// Returns the horizontal speed `after` s after the start of the impact, over the speed of approach. For obstacles
/// centred on the path it returns the longitudinal component only: Rapier solves the contact points one after
/// another, which deflects cars with up to 0.15 of their speed.
#[cfg(feature = "rapier")]
fn left(solver: &SolverInfo, model: &Arc<Model>, obstacle: FixedBox, [speed, after]: [f32; 2], hz: f32) -> f32 {
    let nose = model.parts().hull.centre.x + model.parts().hull.half_extents.x;
    let seconds = (AT as f32 - 0.1 - nose) / speed + after;
    let velocity = coasted(rolling(solver, model, vec![obstacle], speed, hz), seconds).velocity / speed;
    if obstacle.centre.y == 0.0 { velocity.x } else { velocity.truncate().length() }
}

/// Final speeds agree with Rapier's hulls at 8000 Hz, a rate at which hulls do not step into or over the obstacle. At
/// 60 Hz and 30 m/s, a post that overlaps a car by 10 cm stops Rapier's hull or misses it, depending on the phase of
/// the steps. Tyres have no grip, so that only the impact counts and no braking of a car that slides afterwards.
#[cfg(feature = "rapier")]
#[test]
fn a_car_that_overlaps_an_obstacle_ends_as_in_rapier() {
    let model = c5().on_coulomb_tyres(1e-3).without_air().model();
    let rapier = skidpad::Solver::Rapier.info();
    let hits: Vec<_> = [0.01, 0.1].into_iter().flat_map(|by| obstacles(&model, by)).chain(ahead()).collect();
    let mut apart = Vec::new();
    for ((name, obstacle), speed) in hits.into_iter().flat_map(|hit| SPEEDS.map(|speed| (hit, speed))) {
        let shifted = |by: f64| FixedBox { centre: obstacle.centre + DVec3::X * by, ..obstacle };
        // Friction at a beam first pitches the nose down by 0.1 m, so that the impact lasts longer.
        let blow = [speed, if name == "beam" { 0.3 } else { 0.1 }];
        let expected = SHIFTS.map(|by| left(&rapier, &model, shifted(by), blow, 8000.0)).iter().sum::<f32>() / 2.0;
        for solver in own_code().into_iter().filter(|solver| solver.name != "rapier") {
            for (hz, by) in RATES.into_iter().flat_map(|hz| SHIFTS.map(|by| (hz, by))) {
                let found = left(&solver, &model, shifted(by), blow, hz);
                let what = format!("{}: {name} at {speed} m/s, {hz} Hz", solver.name);
                let off = found - expected;
                if off.abs() >= 0.1 {
                    apart.push(format!("{what}: {found:.3} of the speed left, in Rapier {expected:.3}"));
                }
            }
        }
    }
    assert!(apart.is_empty(), "{apart:#?}");
}

/// Obstacles symmetric about the path decelerate a car without deflecting it to the side.
#[cfg(feature = "rapier")]
#[test]
fn what_lies_evenly_across_throws_no_car_aside() {
    let model = c5().on_coulomb_tyres(1e-3).without_air().model();
    let across = [0.01, 0.1].into_iter().flat_map(|by| obstacles(&model, by)).chain(ahead());
    let even: Vec<_> = across.filter(|(_, obstacle)| obstacle.centre.y == 0.0).collect();
    assert_eq!(even.len(), 8);
    let mut thrown = Vec::new();
    for solver in own_code().into_iter().filter(|solver| solver.name != "rapier") {
        for ((name, obstacle), speed) in even.iter().flat_map(|hit| SPEEDS.map(|speed| (hit, speed))) {
            for (hz, by) in RATES.into_iter().flat_map(|hz| SHIFTS.map(|by| (hz, by))) {
                let shifted = FixedBox { centre: obstacle.centre + DVec3::X * by, ..*obstacle };
                let end = coasted(rolling(&solver, &model, vec![shifted], speed, hz), 4.0 / speed + 0.3);
                let aside = end.velocity.y / speed;
                let what = format!("{}: {name} at {speed} m/s, {hz} Hz", solver.name);
                // The lateral forces at the contact points cancel only in part if a corner slides past.
                if aside.abs() >= 0.02 {
                    thrown.push(format!("{what}: {aside:.4} of the speed aside"));
                }
            }
        }
    }
    assert!(thrown.is_empty(), "{thrown:#?}");
}

/// Thin obstacles stop cars that move up to 2 m in a step.
#[test]
fn nothing_tunnels() {
    let model = c5().model();
    let thin = FixedBox::axis_aligned(DVec3::new(AT, 0.0, 1.0), Vec3::new(0.01, 8.0, 3.0));
    let post = FixedBox::axis_aligned(DVec3::new(AT, 0.3, 1.0), Vec3::new(0.01, 0.01, 3.0));
    let corner = FixedBox::axis_aligned(DVec3::new(AT + 1.0, 0.1, 1.0), Vec3::splat(1.5)).rotated(0.785, 0.0, 0.0);
    let obstacles = [
        ("wall", thin),
        ("slanting wall", thin.rotated(0.4, 0.3, 0.2)),
        ("corner", corner),
        ("post", post),
        ("skew post", post.rotated(0.5, 0.1, 0.2)),
    ];
    for solver in own_code().into_iter().filter(|solver| solver.name != "rapier") {
        for (speed, hz) in [(60.0, 30.0), (60.0, 60.0), (15.0, 30.0), (40.0, 240.0)] {
            for (name, obstacle) in obstacles {
                for shift in [0.0, 0.31, 0.77, 1.4] {
                    let shifted = FixedBox { centre: obstacle.centre + DVec3::X * shift, ..obstacle };
                    let end = coasted(rolling(&solver, &model, vec![shifted], speed, hz), (AT as f32 + 3.0) / speed);
                    let what = format!("{} into a {name} at {speed} m/s, {hz} Hz, {shift} m further", solver.name);
                    let past = end.position.x - AT - shift;
                    // An obstacle off the middle turns the car around it and leaves it at most half of its speed.
                    assert!(past < 0.0 && end.velocity.x < 0.5 * speed, "{what}: {past} m past it, {}", end.velocity);
                }
            }
        }
    }
}

/// Returns the smallest distance between the hull of `model` and `post` on the path through `states` (m). Poses
/// between two states are interpolated.
#[cfg(feature = "rapier")]
fn clearance(model: &Model, states: &[State], post: &FixedBox) -> f32 {
    use skidpad::rapier::rapier3d::parry::{math::Pose, query::distance, shape::Cuboid};
    let Hull { centre, half_extents } = model.parts().hull;
    let (hull, shape) = (Cuboid::new(half_extents), Cuboid::new(post.half_extents));
    let at = Pose::from_parts(post.centre.as_vec3(), post.rotation);
    let mut least = f32::MAX;
    for pair in states.windows(2) {
        for share in (0..32).map(|i| i as f32 / 32.0) {
            let place = pair[0].position.lerp(pair[1].position, share.into()).as_vec3();
            let turn = pair[0].rotation.slerp(pair[1].rotation, share);
            let pose = Pose::from_parts(place + turn * centre, turn);
            least = least.min(distance(&pose, &hull, &at, &shape).expect("boxes").distance);
        }
    }
    least
}

/// A car that rotates in the air clears a post by 1 cm and continues as it does without the post.
#[cfg(feature = "rapier")]
#[test]
fn a_spinning_car_passes_what_it_clears() {
    let model = c5().without_air().model();
    let post =
        |y: f64| FixedBox::axis_aligned(DVec3::new(5.0, y, 20.0), Vec3::new(0.2, 0.2, 60.0)).rotated(0.3, 0.0, 0.0);
    // The cases with roll turn the rays of the wheels away from the post.
    let spins = [Vec3::new(0.0, 0.0, 3.0), Vec3::new(-2.0, 0.0, -1.5), Vec3::new(-1.0, 1.5, 2.0)];
    for (solver, spin) in own_code().into_iter().flat_map(|solver| spins.map(|spin| (solver, spin))) {
        if solver.name == "rapier" {
            continue;
        }
        for (speed, hz) in [(5.0, 30.0), (15.0, 60.0), (30.0, 30.0), (60.0, 240.0)] {
            let fly = |boxes: Vec<FixedBox>| -> Vec<State> {
                let mut car = rolling(&solver, &model, boxes, 0.0, hz);
                let mut state = car.world.state(0).clone();
                state.position.z += 30.0;
                (state.velocity, state.angular_velocity) = (Vec3::X * speed, spin);
                state.previous_velocity = state.velocity;
                car.world.set_state(0, &state).expect("it fits");
                let mut states = vec![state];
                for _ in 0..(8.0 / speed * hz) as usize {
                    car.world.step(&[Controls::coasting()]);
                    states.push(car.world.state(0).clone());
                }
                states
            };
            let free = fly(vec![]);
            // Bisection of the post's position until its distance from the hull's path is 10 mm.
            let (mut near, mut far) = (0.0, 6.0);
            for _ in 0..16 {
                let middle = 0.5 * (near + far);
                let clears = clearance(&model, &free, &post(middle)) > 0.01;
                (near, far) = if clears { (near, middle) } else { (middle, far) };
            }
            let what = format!("{} at {speed} m/s, {hz} Hz, turning by {spin}", solver.name);
            let ends =
                |states: Vec<State>| [states[states.len() - 1].velocity, states[states.len() - 1].angular_velocity];
            let (alone, passed) = (ends(free.clone()), ends(fly(vec![post(far)])));
            assert!((passed[0] - alone[0]).length() < 1e-4 * speed, "{what}: {} not {}", passed[0], alone[0]);
            // A post 3 cm nearer is hit, which shows that its position matters.
            let hit = ends(fly(vec![post(far - 0.03)]));
            assert!((hit[1] - alone[1]).length() > 1e-3, "{what}: {} and {}", hit[1], alone[1]);
        }
    }
}
