//! Frames of any length: what is drawn lies on the way of the car, never goes back, and wheels do not shake.

use crate::common::on_rows;
use proptest::prelude::*;
use skidpad::prelude::*;

/// A car that is driven with ticks of 60 Hz and drawn after frames of `elapsed` ms: time shown and what is drawn then.
fn drawn(
    solver: &skidpad::core::BackendInfo,
    speed: f32,
    throttle: f32,
    steer: f32,
    elapsed: &[f64],
) -> Vec<(f64, Drawn, f32)> {
    let model = skidpad::spec::load("corvette_c5").unwrap().model;
    let dt = 1.0 / 60.0;
    let start = CarStart { model: model.clone(), placement: Placement { speed, ..Placement::default() } };
    let mut world = (solver.build)(&Scene::flat(), &[start], dt);
    let (mut ticks, mut shown) = (Ticks::new(dt), Drawn::new(&model, world.state(0)));
    let controls = Controls { throttle, steer, ..Controls::default() };
    let mut steps = 0;
    elapsed
        .iter()
        .map(|milliseconds| {
            for _ in 0..ticks.frame(milliseconds / 1000.0) {
                world.step(std::slice::from_ref(&controls));
                shown.record(&model, world.state(0), dt);
                steps += 1;
            }
            let share = ticks.overstep();
            // What is drawn lags a step behind.
            (f64::from(dt) * (f64::from(steps) - 1.0 + f64::from(share)), shown.clone(), share)
        })
        .collect()
}

/// Frames of 3 to 25 ms.
fn frames() -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec(3.0..25.0, 100..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A car whose acceleration is nearly constant, as one that brakes with its engine, is on a parabola: from the states of a run at
    /// 60 Hz the true place between them is known to the third derivative, ȧ dt³/6, far below a tenth of a millimetre.
    #[test]
    fn what_is_drawn_is_on_the_path_and_never_goes_back(elapsed in frames(), speed in 5.0f32..40.0, throttle in 0.0f32..0.6) {
        for solver in on_rows() {
            let run = drawn(&solver, speed, throttle, 0.0, &elapsed);
            let still: Vec<_> = run.iter().filter(|(time, ..)| *time > 0.5).collect();
            for pair in still.windows(2) {
                let [x, next] = [pair[0], pair[1]].map(|(_, car, share)| car.body(*share).position.x);
                prop_assert!(next > x, "{}: from {x} back to {next}", solver.name);
            }
            for (_, car, share) in still {
                let [from, to] = [0.0, 1.0].map(|end| car.body(end).position.x);
                let straight = from + (to - from) * f64::from(*share);
                // Half of a dt²/4 at 1 g.
                prop_assert!((car.body(*share).position.x - straight).abs() < 3.5e-4);
            }
        }
    }

    /// Paths in closed form, sampled at the ticks: a car that brakes or accelerates at up to 1.2 g, one on a circle of a lateral
    /// acceleration of 1 g and its heading with it. At any frame the drawn car is within a millimetre of the true one.
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
            let (mut ticks, mut car) = (Ticks::new(dt), Drawn::new(&model, &state(0.0)));
            for milliseconds in &elapsed {
                time += milliseconds / 1000.0;
                for _ in 0..ticks.frame(milliseconds / 1000.0) {
                    steps += 1;
                    car.record(&model, &state(f64::from(dt) * f64::from(steps)), dt);
                }
                // Drawn a step late.
                let drawn = car.body(ticks.overstep());
                let (position, _, rotation) = path((time - f64::from(dt)).max(0.0));
                prop_assert!(drawn.position.distance(position) < 1e-3, "{} m off", drawn.position.distance(position));
                prop_assert!(drawn.rotation.angle_between(rotation) < 1e-3);
            }
        }
    }
}

/// A car that weaves: second differences of a wheel's middle in the body's axes, over frames of equal length, are those of its
/// strut's motion only.
#[test]
fn wheels_do_not_shake_on_the_body() {
    for solver in on_rows() {
        for frame in [3.0, 7.0, 16.0, 25.0] {
            let run = drawn(&solver, 20.0, 0.2, 0.03, &vec![frame; 200]);
            let places: Vec<Vec<Vec3>> = (0..4)
                .map(|i| run.iter().map(|(_, car, share)| car.wheel_on_body(i, *share).unwrap().0).collect())
                .collect();
            for wheel in &places {
                let jerk = wheel.windows(3).map(|at| (at[2] - 2.0 * at[1] + at[0]).length()).fold(0.0, f32::max);
                assert!(jerk < 1e-3, "{} at {frame} ms: {jerk} m", solver.name);
            }
        }
    }
}

/// The wheel that is drawn turns by what it rolls: on the road, the way over its radius.
#[test]
fn wheels_roll_by_their_way() {
    for solver in on_rows() {
        let run = drawn(&solver, 3.0, 0.0, 0.0, &[5.0; 200]);
        let model = skidpad::spec::load("corvette_c5").unwrap().model;
        for pair in run.windows(2).skip(60) {
            let [(way, one), (next, other)] = [&pair[0], &pair[1]]
                .map(|(_, car, share)| (car.body(*share).position.x, car.wheel_on_body(0, *share).unwrap().1));
            let between = one.inverse() * other;
            let turned = 2.0 * between.y.atan2(between.w.abs()) * between.w.signum();
            let expected = (next - way) as f32 / model.wheels()[0].radius;
            // Its slip, and that the body follows a cubic where the wheel turns evenly.
            assert!((turned - expected).abs() < 2e-3, "{}: {turned} for {expected} rad", solver.name);
        }
    }
}

#[test]
fn a_jump_is_at_once() {
    let model = skidpad::spec::load("corvette_c5").unwrap().model;
    let at = |x: f64| State::upright_at(&model, DVec3::new(x, 0.0, 0.0), Vec3::Z, 0.0);
    let mut car = Drawn::new(&model, &at(0.0));
    car.record(&model, &at(1.0), 0.01);
    car.jump(&model, &at(500.0));
    for share in [0.0, 0.5, 1.0, -3.0, f32::NAN] {
        assert!((car.body(share).position.x - at(500.0).position.x).abs() < 1e-9);
    }
    assert!(car.wheel(7, 0.5).is_none());
}
