//! Bodywork in contact: on the roof, against a wall, and on the floor pan with the wheels on the ground.

use std::f32::consts::PI;

use skidpad::core::model::Wheel;
use skidpad::core::{Controls, DVec3, FixedBox, Quat, Scene, SolverInfo, Vec3, state::Placement};

use crate::common::{Drive, Simplify, c5, close, own_code};

/// Returns the solvers and modes with the hull contacts of this code base, without `rapier` and `bullet`.
fn with_own_hulls() -> Vec<SolverInfo> {
    own_code().into_iter().filter(|solver| !["rapier", "bullet"].contains(&solver.name)).collect()
}

/// Returns a C5 on its roof on the plane, moving with `speed` (m/s) along x.
fn upside_down(solver: &SolverInfo, speed: f32, hz: f32) -> Drive {
    upside_down_on(solver, &Scene::flat(), 0.0, speed, hz)
}

/// Returns a C5 on its roof as [`upside_down`] does, `height` m above the plane of `scene`.
fn upside_down_on(solver: &SolverInfo, scene: &Scene, height: f64, speed: f32, hz: f32) -> Drive {
    let model = c5().without_air().model();
    let mut car = Drive::new(solver, &model, scene, Placement { gear: Some(0), ..Placement::default() }, hz);
    let mut state = car.world.state(0).clone();
    let hull = model.parts().hull;
    state.rotation = Quat::from_axis_angle(Vec3::X, PI);
    state.position.z = f64::from(hull.centre.z + hull.half_extents.z) + height;
    state.velocity = Vec3::X * speed;
    state.previous_velocity = state.velocity;
    car.world.set_state(0, &state).expect("it fits");
    car
}

#[test]
fn a_car_lies_on_its_roof() {
    for solver in with_own_hulls() {
        let mut car = upside_down(&solver, 0.0, 60.0);
        let start = car.world.state(0).position;
        for step in 0..600 {
            let report = car.world.step(&[Controls::parked()]);
            assert!(!report.not_converged && report.iterations < 20, "{} step {step}: {report:?}", solver.name);
        }
        let state = car.world.state(0);
        let moved = (state.position - start).length();
        assert!(moved < 1e-3 && state.velocity.length() < 1e-3, "{}: {:.2} mm in 10 s", solver.name, 1e3 * moved);
    }
}

/// Deceleration `μ g` in every world, μ the product of the bodywork's friction of 0.5 and the grip of the surface.
#[test]
fn bodywork_slides_alike_in_every_world() {
    for solver in own_code() {
        for grip in [1.0, 0.4] {
            let boxes = vec![FixedBox {
                grip,
                ..FixedBox::axis_aligned(DVec3::new(0.0, 0.0, -0.5), Vec3::new(200.0, 20.0, 1.02))
            }];
            for scene in [Scene { grip, ..Scene::flat() }, Scene { boxes, ..Scene::flat() }] {
                let height = if scene.boxes.is_empty() { 0.0 } else { 0.01 };
                let mut car = upside_down_on(&solver, &scene, height, 8.0, 240.0);
                car.run(0.5, |_| Controls::coasting());
                let before = car.world.state(0).velocity.length();
                car.run(0.5, |_| Controls::coasting());
                let found = f64::from(before - car.world.state(0).velocity.length()) / 0.5;
                let what = format!("{} on grip {grip}, {} boxes", solver.name, scene.boxes.len());
                let why = "the corners are not pressed evenly by impulses one after another";
                close(&what, found, 0.5 * f64::from(grip) * 9.81, 0.02, why);
            }
        }
    }
}

/// Sliding distance `v² / (2 μ g)` with the bodywork's friction of 0.5, for any distribution of load over the
/// corners.
#[test]
fn a_car_slides_on_its_roof_as_coulomb_says() {
    for solver in with_own_hulls() {
        for hz in [60.0, 240.0] {
            let mut car = upside_down(&solver, 10.0, hz);
            let start = car.world.state(0).position;
            car.run(4.0, |_| Controls::coasting());
            let way = (car.world.state(0).position - start).length();
            // Hull contacts act on the velocity at the end of the step, so the distance is the sum of these
            // velocities.
            let expected = 100.0 / (2.0 * 0.5 * 9.81) - 0.5 * 10.0 / f64::from(hz);
            let what = format!("{} at {hz} Hz", solver.name);
            close(&what, way, expected, 0.01, "the corners are not pressed evenly by impulses one after another");
            assert!(car.world.state(0).velocity.length() < 1e-2, "{what}: {}", car.world.state(0).velocity);
        }
    }
}

/// Returns the stiffness between wheel load and chassis (N/m). The tyre is in series if the solver models it.
fn rate(wheel: &Wheel, solver: &str) -> f32 {
    match wheel.unsprung {
        Some(own) if solver == "constraint-unsprung" => {
            wheel.strut.rate * own.tyre_rate / (wheel.strut.rate + own.tyre_rate)
        }
        _ => wheel.strut.rate,
    }
}

/// Wheel loads of a car with its floor pan on a block follow from its height: `k (z₀ − z)` less than at rest.
#[test]
fn wheels_of_a_car_on_its_floor_pan_carry_what_their_springs_do() {
    let model = c5().model();
    let hull = model.parts().hull;
    let lifted = 0.02;
    let pan = model.parts().centre_height + hull.centre.z - hull.half_extents.z;
    let top = f64::from(pan) + lifted;
    // The block lies under the centre of mass and is narrow, so that no wheel stands on it.
    let block = FixedBox::axis_aligned(DVec3::new(0.0, 0.0, 0.5 * top), Vec3::new(1.0, 0.8, top as f32));
    let scene = Scene { boxes: vec![block], ..Scene::flat() };
    for solver in with_own_hulls() {
        let mut car = Drive::new(&solver, &model, &scene, Placement::default(), 120.0);
        let mut state = car.world.state(0).clone();
        state.position.z += lifted + 0.01;
        car.world.set_state(0, &state).expect("it fits");
        let frames = car.run(10.0, |_| Controls::parked());
        let last = &frames[frames.len() - 1];
        let height = last.z_m - f64::from(model.parts().centre_height) - lifted;
        assert!(height.abs() < 1e-3, "{}: {:.2} mm off the block", solver.name, 1e3 * height);
        let sum = |of: &dyn Fn(usize) -> f64| (0..4).map(of).sum::<f64>();
        let rates = sum(&|i| f64::from(rate(&model.wheels()[i], solver.name)));
        let expected = sum(&|i| f64::from(model.static_load(i))) - rates * lifted;
        let found = sum(&|i| last.wheels[i].load_n);
        // `impulse` solves the hull after the wheels. The weight that the hull carries reaches the wheel loads one
        // step later.
        let tolerance = if solver.name == "impulse" { 0.05 } else { 0.005 };
        close(solver.name, found, expected, tolerance, "0.1 mm of height is 11 N");
    }
}

/// A car at full throttle against a wall stays in place.
#[test]
fn a_wall_holds_a_car_at_full_throttle() {
    let model = c5().model();
    let hull = model.parts().hull;
    let nose = f64::from(hull.centre.x + hull.half_extents.x);
    let wall = FixedBox::axis_aligned(DVec3::new(nose + 1.0, 0.0, 1.0), Vec3::new(2.0, 10.0, 2.0));
    let scene = Scene { boxes: vec![wall], ..Scene::flat() };
    for solver in with_own_hulls() {
        let mut car = Drive::new(&solver, &model, &scene, Placement::default(), 120.0);
        let frames = car.run(5.0, |_| Controls { throttle: 1.0, gear: Some(1), ..Controls::default() });
        let farthest = frames.iter().map(|f| f.x_m).fold(0.0, f64::max);
        assert!(farthest < 0.02, "{}: {farthest} m into the wall", solver.name);
        let turned = frames.iter().map(|f| f.yaw_rad.abs()).fold(0.0, f64::max);
        assert!(turned < 0.01, "{}: turned by {turned} rad", solver.name);
    }
}
