//! Boxes that move by themselves and carry, weigh and push cars.

use std::sync::Arc;

use skidpad::core::model::ProbeShape;
use skidpad::core::{
    Controls, DVec3, FixedBox, Model, Platform, PlatformCourse, PlatformPath, Quat, Scene, SolverInfo, State, Vec3,
    WayPoint, state::Placement,
};

use crate::common::{Drive, GRAVITY, Simplify, c5, close, on_rows, solvers};

const RATES: [f32; 4] = [20.0, 60.0, 240.0, 1000.0];

/// Returns a scene with only a platform of 40 by 40 m on `course`. Its top is at z = 0 without displacement.
fn floor(course: PlatformCourse) -> Scene {
    let shape = FixedBox::axis_aligned(DVec3::new(0.0, 0.0, -0.5), Vec3::new(40.0, 40.0, 1.0));
    Scene { has_plane: false, platforms: vec![Platform { shape, axis: Vec3::Z, course }], ..Scene::flat() }
}

fn steady(velocity: Vec3, rate: f32) -> PlatformCourse {
    PlatformCourse::Steady { velocity, rate }
}

/// Returns a course from rest at `starts` s over `way` m (x, y, z) to rest `takes` s later, with blends of `blend` s.
fn there(starts: f64, takes: f64, way: DVec3, blend: f64) -> PlatformCourse {
    let point = |time: f64, displacement: DVec3| WayPoint { time, displacement, angle: 0.0 };
    let points = vec![point(starts, DVec3::ZERO), point(starts + takes, way)];
    PlatformCourse::Path(PlatformPath::new(points, false, blend).expect("a path"))
}

/// Returns the centre of mass of the car in the axes of `platform`, m.
fn seen_from(car: &Drive, platform: &Platform) -> DVec3 {
    let (centre, rotation) = platform.pose(car.world.time());
    rotation.as_dquat().normalize().inverse() * (car.world.state(0).position - centre)
}

/// Returns `state` with the motion of ground that moves with `velocity` and turns with `angular_velocity` about the
/// origin.
fn carried(state: &State, velocity: Vec3, angular_velocity: Vec3) -> State {
    let velocity = state.velocity + velocity + angular_velocity.cross(state.position.as_vec3());
    State { velocity, angular_velocity, previous_velocity: velocity, ..state.clone() }
}

fn on_discs() -> Arc<Model> {
    let mut parts = c5();
    parts.wheels.iter_mut().for_each(|wheel| wheel.probe = ProbeShape::Disc);
    parts.model()
}

/// A platform that accelerates to 1 m/s with 1 m/s² carries a parked car, on rays and on discs.
#[test]
fn a_platform_carries_a_parked_car() {
    let course = there(1.0, 40.0, DVec3::new(24.0, 32.0, 0.0), 1.0);
    let scene = floor(course);
    for solver in on_rows() {
        for (hz, model) in RATES.map(|hz| (hz, c5().model())).into_iter().chain([(60.0, on_discs())]) {
            let mut car = Drive::new(&solver, &model, &scene, Placement { heading: 0.3, ..Placement::default() }, hz);
            car.run(4.0, |_| Controls::parked());
            let before = seen_from(&car, &scene.platforms[0]);
            car.run(10.0, |_| Controls::parked());
            let slipped = (seen_from(&car, &scene.platforms[0]) - before).length();
            assert!(slipped < 1e-3, "{} at {hz} Hz: {} mm", solver.name, 1e3 * slipped);
            let gone = car.world.state(0).position.dot(DVec3::new(0.6, 0.8, 0.0));
            assert!((gone - 13.0).abs() < 0.05, "{} at {hz} Hz: carried {gone} m", solver.name);
        }
    }
}

/// A turntable at 0.3 rad/s turns a car parked 5 m from its centre by half a turn in 10 s.
#[test]
fn a_turntable_carries_a_parked_car_round() {
    let rate = 0.3;
    let scene = floor(steady(Vec3::ZERO, rate));
    for solver in on_rows() {
        for hz in RATES {
            let start = Placement { x: 5.0, heading: 0.7, ..Placement::default() };
            let mut car = Drive::new(&solver, &c5().model(), &scene, start, hz);
            let state = carried(car.world.state(0), Vec3::ZERO, Vec3::Z * rate);
            car.world.set_state(0, &state).expect("it fits");
            car.run(2.0, |_| Controls::parked());
            let before = seen_from(&car, &scene.platforms[0]);
            car.run(10.0, |_| Controls::parked());
            let slipped = (seen_from(&car, &scene.platforms[0]) - before).length();
            // A step moves along a chord of an arc of 0.3 / hz rad, to second order.
            assert!(slipped < 3e-3, "{} at {hz} Hz: {} mm", solver.name, 1e3 * slipped);
            let turned = car.world.frame(0).yaw_rate_radps;
            close(&format!("{} at {hz} Hz", solver.name), turned, rate.into(), 1e-3, "carcasses swing");
        }
    }
}

/// Wheels carry m (g + a) on a lift that accelerates steadily, and m g at constant speed.
#[test]
fn a_lift_weighs_a_car() {
    // The lift reaches 3 m/s upwards within 6 s.
    let scene = floor(there(4.0, 20.0, DVec3::new(0.0, 0.0, 60.0), 6.0));
    let model = c5().without_air().model();
    let weight = f64::from(model.mass()) * GRAVITY;
    for solver in on_rows() {
        for hz in RATES {
            let what = format!("{} at {hz} Hz", solver.name);
            let mut car = Drive::new(&solver, &model, &scene, Placement::default(), hz);
            let mut load = |until: f64| {
                let frames = car.run(until - car.world.time(), |_| Controls::parked());
                frames[frames.len() - 1].wheels.iter().map(|wheel| wheel.load_n).sum::<f64>() / weight
            };
            close(
                &what,
                load(6.9),
                1.0 + 0.5 / GRAVITY,
                1e-3,
                "six seconds after it began the springs still swing a little",
            );
            close(&what, load(14.0), 1.0, 1e-3, "the same, seven seconds after");
        }
    }
}

/// Slip is relative to the belt: a car that brakes and turns on a moving belt drives as on a belt at rest.
#[test]
fn e22_slip_is_counted_against_ground_that_moves() {
    let model = c5().without_air().model();
    let belt = Vec3::new(-1.5, 1.0, 0.0);
    let asked = |time: f64| Controls {
        steer: if time > 0.5 { 0.03 } else { 0.0 },
        brake: if time > 1.0 { 0.2 } else { 0.0 },
        gear: Some(0),
        ..Controls::default()
    };
    for solver in on_rows() {
        for hz in RATES {
            let drive = |velocity: Vec3| {
                let start = Placement { x: -15.0, speed: 12.0, gear: Some(0), ..Placement::default() };
                let mut car = Drive::new(&solver, &model, &floor(steady(velocity, 0.0)), start, hz);
                let state = carried(car.world.state(0), velocity, Vec3::ZERO);
                car.world.set_state(0, &state).expect("it fits");
                car.run(2.0, |frame| asked(frame.t_s));
                let moved = velocity.as_dvec3() * car.world.time();
                let state = car.world.state(0);
                (state.position - moved, state.velocity - velocity, state.angular_velocity.z)
            };
            let (stands, moves) = (drive(Vec3::ZERO), drive(belt));
            let what = format!("{} at {hz} Hz: {stands:?}, {moves:?}", solver.name);
            assert!(stands.2 > 0.05 && stands.1.length() < 11.0, "{what}");
            // f32 values are rounded at different positions.
            assert!((stands.0 - moves.0).length() < 2e-3, "{what}");
            assert!((stands.1 - moves.1).length() < 2e-3 && (stands.2 - moves.2).abs() < 1e-3, "{what}");
        }
    }
}

/// A wall that moves into a car hits it like a wall at rest, does not pass through it, and gives it no additional energy: in
/// the axes of the wall the energy of the car never rises.
#[test]
fn a_wall_pushes_a_car() {
    let model = c5().on_coulomb_tyres(1e-3).without_air().without_rolling_resistance().model();
    let hull = model.parts().hull;
    for solver in on_rows() {
        for (hz, speed) in RATES.into_iter().flat_map(|hz| [2.0f32, 10.0, 40.0].map(|speed| (hz, speed))) {
            let what = format!("{} at {hz} Hz, {speed} m/s", solver.name);
            if solver.name == "rapier" && speed / hz > 0.2 {
                continue;
            }
            let shape = FixedBox::axis_aligned(DVec3::new(-6.0, 0.0, 1.5), Vec3::new(1.0, 8.0, 3.0));
            let course = steady(Vec3::X * speed, 0.0);
            let scene = Scene { platforms: vec![Platform { shape, axis: Vec3::Z, course }], ..Scene::flat() };
            let start = Placement { gear: Some(0), ..Placement::default() };
            let mut car = Drive::new(&solver, &model, &scene, start, hz);
            let energy = |state: &State| 0.5 * (state.velocity - Vec3::X * speed).length_squared();
            let (mut least, mut deepest) = (f64::INFINITY, 0.0f64);
            let mut most = energy(car.world.state(0));
            // Rapier gives the car a speed when it pushes the car out of the wall.
            let corrected = if solver.name == "rapier" { 1e-3 * most } else { 0.0 };
            for _ in 0..(10.0 * hz / speed).round() as usize {
                car.step(&Controls::coasting());
                let state = car.world.state(0);
                let back =
                    state.position.x + f64::from((state.rotation * (hull.centre - Vec3::X * hull.half_extents.x)).x);
                let face = scene.platforms[0].pose(car.world.time()).0.x + 0.5;
                least = least.min(back - face);
                deepest = deepest.max(face - back);
                let now = energy(state);
                // Springs and the height of the centre of mass return their energy at rest: 1 J/kg is 0.1 m of lift.
                assert!(now <= most + 0.02 * (1.0 + most) + corrected, "{what}: {now} J/kg after {most}");
                most = most.min(now.max(0.5));
            }
            assert!(least < 0.1, "{what}: it met the car");
            // Rapier tests the poses of bodies, not their paths. It then pushes the car out of the overlap with the wall of
            // one step.
            let bound = if solver.name == "rapier" { 0.02 + f64::from(speed / hz) } else { 5e-3 };
            assert!(deepest < bound, "{what}: {deepest} m inside");
            let pushed = car.world.state(0).velocity.x;
            assert!(pushed > 0.98 * speed, "{what}: {pushed} m/s");
        }
    }
}

/// A platform carries a car that lies on its roof.
#[test]
fn a_platform_carries_a_hull() {
    let velocity = Vec3::new(0.6, -0.8, 0.0);
    let scene = floor(steady(velocity, 0.0));
    for solver in on_rows() {
        for hz in [60.0, 240.0] {
            let mut car = Drive::new(&solver, &c5().model(), &scene, Placement::default(), hz);
            let mut state = car.world.state(0).clone();
            (state.rotation, state.position.z) = (Quat::from_rotation_x(3.1), 1.0);
            car.world.set_state(0, &state).expect("it fits");
            car.run(6.0, |_| Controls::parked());
            let state = car.world.state(0);
            let what = format!("{} at {hz} Hz", solver.name);
            assert!((state.velocity - velocity).length() < 5e-3, "{what}: {}", state.velocity);
            assert!(state.position.z > 0.2, "{what}: {}", state.position);
        }
    }
}

/// A platform that tips by 8 degrees about y and back keeps its car, and solvers agree.
#[test]
fn a_tipping_platform_keeps_its_car_and_solvers_agree() {
    let point = |time: f64, angle: f64| WayPoint { time, displacement: DVec3::ZERO, angle };
    let points =
        [point(0.0, 0.0), point(1.0, 0.0), point(3.0, -0.14), point(4.0, -0.14), point(6.0, 0.0), point(7.0, 0.0)];
    let path =
        |points: &[WayPoint]| PlatformCourse::Path(PlatformPath::new(points.to_vec(), true, 0.5).expect("a path"));
    let mut scene = floor(path(&points));
    scene.platforms[0].axis = Vec3::Y;
    let run = |solver: &SolverInfo, hz: f32| {
        let mut car = Drive::new(solver, &c5().model(), &scene, Placement { x: 3.0, ..Placement::default() }, hz);
        car.run(0.9, |_| Controls::parked());
        let before = seen_from(&car, &scene.platforms[0]);
        car.run(2.6, |_| Controls::parked());
        let tipped = car.world.state(0).position;
        // The platform is level again for a second and a half.
        car.run(4.3, |_| Controls::parked());
        (tipped, (seen_from(&car, &scene.platforms[0]) - before).length())
    };
    for hz in RATES {
        let (expected, _) = run(&solvers()[0], hz);
        // 3 m from the axis, at 8 degrees.
        assert!((expected.z - run(&solvers()[0], 240.0).0.z).abs() < 0.01 && expected.z > 0.8, "{expected}");
        for solver in on_rows() {
            let (tipped, slipped) = run(&solver, hz);
            let what = format!("{} at {hz} Hz", solver.name);
            assert!((tipped - expected).length() < 5e-3, "{what}: {tipped} instead of {expected}");
            // All solvers end 3 mm off from 60 Hz on: carcasses deflect and recover.
            assert!(slipped < 5e-3, "{what}: {} mm", 1e3 * slipped);
        }
    }
}

/// The clock determines the poses of platforms, so that a loaded world continues bit for bit.
#[test]
fn worlds_with_platforms_rewind_to_the_same_bits() {
    let point = |time: f64, x: f64, angle: f64| WayPoint { time, displacement: DVec3::new(x, 0.0, 0.1 * x), angle };
    let points = vec![point(0.0, 0.0, 0.0), point(0.7, 0.5, 0.2), point(1.9, 0.0, 0.0)];
    let scene = floor(PlatformCourse::Path(PlatformPath::new(points, true, 0.3).expect("a path")));
    for solver in on_rows() {
        let mut car = Drive::new(&solver, &c5().model(), &scene, Placement { x: 2.0, ..Placement::default() }, 120.0);
        let asked = Controls { throttle: 0.2, steer: 0.1, ..Controls::default() };
        car.run(0.8, |_| asked.clone());
        let saved = car.world.save().expect("nothing touches its hull");
        let mut ends = [(); 2].map(|()| {
            car.world.load(&saved).expect("its own bytes");
            car.run(1.1, |_| asked.clone());
            car.world.save().expect("nothing touches its hull")
        });
        assert_eq!(ends[0], ends[1], "{}", solver.name);
        // A run without the pause has the same bits.
        let mut fresh = Drive::new(&solver, &c5().model(), &scene, Placement { x: 2.0, ..Placement::default() }, 120.0);
        fresh.run(0.8, |_| asked.clone());
        fresh.run(1.1, |_| asked.clone());
        ends[1] = fresh.world.save().expect("nothing touches its hull");
        assert_eq!(ends[0], ends[1], "{}", solver.name);
    }
}
