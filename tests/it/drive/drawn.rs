//! Frames of any length: drawn positions lie on the path of the car and never move backwards, and drawn wheels do not
//! shake.

use crate::common::on_rows;
use proptest::prelude::*;
use skidpad::prelude::*;

/// Drives a car at 60 Hz and draws it after frames of `elapsed` ms. Returns for each frame the time shown (s), the
/// drawn car and the share of the step.
fn drawn(
    solver: &skidpad::core::SolverInfo,
    speed: f32,
    throttle: f32,
    steer: f32,
    elapsed: &[f64],
) -> Vec<(f64, PoseInterpolator, f32)> {
    let model = skidpad::spec::load("corvette_c5").unwrap().model;
    let dt = 1.0 / 60.0;
    let start = CarStart { model: model.clone(), placement: Placement { speed, ..Placement::default() } };
    let mut world = (solver.build_world)(&Scene::flat(), &[start], dt);
    let (mut ticks, mut shown) = (FixedTimestep::new(dt), PoseInterpolator::new(&model, world.state(0)));
    let controls = Controls { throttle, steer, ..Controls::default() };
    let mut steps = 0;
    elapsed
        .iter()
        .map(|milliseconds| {
            for _ in 0..ticks.advance(milliseconds / 1000.0) {
                world.step(std::slice::from_ref(&controls));
                shown.push(&model, world.state(0), dt);
                steps += 1;
            }
            let share = ticks.alpha();
            // The drawn pose lags one step behind the simulation.
            (f64::from(dt) * (f64::from(steps) - 1.0 + f64::from(share)), shown.clone(), share)
        })
        .collect()
}

/// Returns frame times of 3 to 25 ms.
fn frames() -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec(3.0..25.0, 100..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Drawn positions of an accelerating or coasting car increase from frame to frame. They differ from the straight
    /// line between two states by less than a dt²/8, the deviation of a parabola at 1 g.
    #[test]
    fn what_is_drawn_is_on_the_path_and_never_goes_back(elapsed in frames(), speed in 5.0f32..40.0, throttle in 0.0f32..0.6) {
        for solver in on_rows() {
            let run = drawn(&solver, speed, throttle, 0.0, &elapsed);
            let still: Vec<_> = run.iter().filter(|(time, ..)| *time > 0.5).collect();
            for pair in still.windows(2) {
                let [x, next] = [pair[0], pair[1]].map(|(_, car, share)| car.body_pose(*share).position.x);
                prop_assert!(next > x, "{}: from {x} back to {next}", solver.name);
            }
            for (_, car, share) in still {
                let [from, to] = [0.0, 1.0].map(|end| car.body_pose(end).position.x);
                let straight = from + (to - from) * f64::from(*share);
                // The deviation a dt²/8 is 3.4e-4 m at 1 g and 60 Hz.
                prop_assert!((car.body_pose(*share).position.x - straight).abs() < 3.5e-4);
            }
        }
    }

    /// Closed-form paths sampled at the ticks: straight with up to ±1.2 g, and a circle with a lateral acceleration
    /// of 1 g. The drawn car is within 1 mm and 1 mrad of the true one in every frame.
    #[test]
    fn closed_forms_are_met_within_a_millimetre(elapsed in frames(), speed in 12.0f64..40.0, pull in -1.2f64..1.2) {
        let model = skidpad::spec::load("corvette_c5").unwrap().model;
        let standing = State::upright_at(&model, DVec3::ZERO, Vec3::Z, 0.0);
        let acceleration = pull * 9.81;
        let radius = speed * speed / 9.81;
        let straight = |t: f64| {
            let t = if acceleration < 0.0 { t.min(-speed / acceleration) } else { t };
            (DVec3::X * (speed * t + 0.5 * acceleration * t * t), DVec3::X * (speed + acceleration * t), Quat::IDENTITY)
        };
        let round = |t: f64| {
            let (sin, cos) = skidpad::core::math::sin_cos_f64(t * speed / radius);
            let turned = Quat::from_rotation_z((t * speed / radius) as f32);
            (DVec3::new(radius * sin, radius * (1.0 - cos), 0.0), DVec3::new(speed * cos, speed * sin, 0.0), turned)
        };
        let paths: [&dyn Fn(f64) -> (DVec3, DVec3, Quat); 2] = [&straight, &round];
        for path in paths {
            let state = |t: f64| {
                let (position, velocity, rotation) = path(t);
                State { position, velocity: velocity.as_vec3(), rotation, ..standing.clone() }
            };
            let (dt, mut steps, mut time) = (1.0 / 60.0, 0, 0.0);
            let (mut ticks, mut car) = (FixedTimestep::new(dt), PoseInterpolator::new(&model, &state(0.0)));
            for milliseconds in &elapsed {
                time += milliseconds / 1000.0;
                for _ in 0..ticks.advance(milliseconds / 1000.0) {
                    steps += 1;
                    car.push(&model, &state(f64::from(dt) * f64::from(steps)), dt);
                }
                // The pose is drawn one step late.
                let drawn = car.body_pose(ticks.alpha());
                let (position, _, rotation) = path((time - f64::from(dt)).max(0.0));
                prop_assert!(drawn.position.distance(position) < 1e-3, "{} m off", drawn.position.distance(position));
                prop_assert!(drawn.rotation.angle_between(rotation) < 1e-3);
            }
        }
    }
}

/// In a turn, second differences of the wheel centres in body axes over frames of equal length are below 1 mm. Only
/// the motion of the struts contributes.
#[test]
fn wheels_do_not_shake_on_the_body() {
    for solver in on_rows() {
        for frame in [3.0, 7.0, 16.0, 25.0] {
            let run = drawn(&solver, 20.0, 0.2, 0.03, &vec![frame; 200]);
            let places: Vec<Vec<Vec3>> = (0..4)
                .map(|i| run.iter().map(|(_, car, share)| car.wheel_pose_on_body(i, *share).unwrap().0).collect())
                .collect();
            for wheel in &places {
                let jerk = wheel.windows(3).map(|at| (at[2] - 2.0 * at[1] + at[0]).length()).fold(0.0, f32::max);
                assert!(jerk < 1e-3, "{} at {frame} ms: {jerk} m", solver.name);
            }
        }
    }
}

/// A drawn wheel rotates by the distance on the road over its radius.
#[test]
fn wheels_roll_by_their_way() {
    for solver in on_rows() {
        let run = drawn(&solver, 3.0, 0.0, 0.0, &[5.0; 200]);
        let model = skidpad::spec::load("corvette_c5").unwrap().model;
        for pair in run.windows(2).skip(60) {
            let [(way, one), (next, other)] = [&pair[0], &pair[1]].map(|(_, car, share)| {
                (car.body_pose(*share).position.x, car.wheel_pose_on_body(0, *share).unwrap().1)
            });
            let between = one.inverse() * other;
            let turned = 2.0 * between.y.atan2(between.w.abs()) * between.w.signum();
            let expected = (next - way) as f32 / model.wheels()[0].radius;
            // The tolerance covers slip, and the body's cubic path against the constant rotation rate of the wheel.
            assert!((turned - expected).abs() < 2e-3, "{}: {turned} for {expected} rad", solver.name);
        }
    }
}

#[test]
fn a_jump_is_at_once() {
    let model = skidpad::spec::load("corvette_c5").unwrap().model;
    let at = |x: f64| State::upright_at(&model, DVec3::new(x, 0.0, 0.0), Vec3::Z, 0.0);
    let mut car = PoseInterpolator::new(&model, &at(0.0));
    car.push(&model, &at(1.0), 0.01);
    car.teleport(&model, &at(500.0));
    for share in [0.0, 0.5, 1.0, -3.0, f32::NAN] {
        assert!((car.body_pose(share).position.x - at(500.0).position.x).abs() < 1e-9);
    }
    assert!(car.wheel_pose(7, 0.5).is_none());
}
