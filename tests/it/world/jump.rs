//! Jump off a ramp of 15° at 18 m/s, flight and landing.

use std::sync::Arc;

use skidpad::core::{Controls, DVec3, FixedBox, Scene, SolverInfo, State, Vec3, state::Placement};

use crate::common::{Drive, GRAVITY, Simplify, c5, on_rows, solvers};
use crate::step::energy::Audit;

/// Returns a scene with a ramp of 8 m that rises by 15° from x = 0.
fn ramp() -> Scene {
    let (angle, length, depth) = (15f64.to_radians(), 8.0, 1.0);
    let [along, up] = [DVec3::new(angle.cos(), 0.0, angle.sin()), DVec3::new(-angle.sin(), 0.0, angle.cos())];
    let size = DVec3::new(length, 6.0, depth).as_vec3();
    let wedge =
        FixedBox::axis_aligned(along * (0.5 * length) - up * (0.5 * depth), size).rotated(0.0, -angle as f32, 0.0);
    Scene { boxes: vec![wedge], ..Scene::flat() }
}

/// Returns the states of a jump without air, in neutral, with the brake on during the flight, and the range of the states in
/// the air.
fn jump(solver: &SolverInfo, hz: f32) -> (Drive, Vec<State>, core::ops::Range<usize>) {
    let model = c5().without_air().without_rolling_resistance().model();
    let placement = Placement { x: -10.0, speed: 18.0, gear: Some(0), ..Placement::default() };
    let mut car = Drive::new(solver, &model, &ramp(), placement, hz);
    let mut states = vec![car.world.state(0).clone()];
    let aloft = |state: &State| state.wheels.iter().all(|wheel| !wheel.contact && wheel.load == 0.0);
    for _ in 0..(4.0 * hz) as usize {
        let brake = if states.last().is_some_and(aloft) { 0.05 } else { 0.0 };
        let report = car.world.step(&[Controls { brake, ..Controls::coasting() }]);
        assert!(!report.not_finite, "{}", solver.name);
        states.push(car.world.state(0).clone());
    }
    let first = states.iter().position(aloft).expect("it jumps");
    // The nose, 2 m ahead, lands before the wheels.
    let count = states[first..].iter().take_while(|state| aloft(state) && state.position.z > 1.3).count();
    (car, states, first..first + count)
}

/// No world limits the speed of a car.
#[test]
fn a_fast_fall_goes_on_as_gravity_has_it() {
    let model = c5().without_air().model();
    for solver in on_rows() {
        let placement = Placement { height: 2000.0, ..Placement::default() };
        let mut car = Drive::new(&solver, &model, &Scene::flat(), placement, 60.0);
        let mut state = car.world.state(0).clone();
        state.velocity = Vec3::NEG_Z * 500.0;
        car.world.set_state(0, &state).expect("it fits");
        for _ in 0..60 {
            car.step(&Controls::coasting());
        }
        let gained = f64::from(-car.world.state(0).velocity.z) - 500.0;
        // f32 resolves 3e-5 m/s at 500 m/s, and every step and each of four substeps is rounded.
        assert!((gained - GRAVITY).abs() < 0.01, "{}: {gained} m/s in a second", solver.name);
    }
}

/// In the air the centre of mass is on the parabola of the integrator. Velocity changes by g dt in a step. The pose moves
/// with the mean of the velocities before and after the step; in Rapier's world with that after each of its substeps (four,
/// or one in steps below 2 ms).
#[test]
fn a_jump_is_the_integrators_parabola_and_keeps_its_angular_momentum() {
    for solver in solvers() {
        for hz in [60.0, 240.0, 1000.0] {
            let (car, states, air) = jump(&solver, hz);
            let model = Arc::clone(car.world.model(0));
            let dt = 1.0 / f64::from(hz);
            let substep = match (solver.name, hz > 500.0) {
                ("rapier", true) => dt,
                ("rapier", false) => 0.25 * dt,
                _ => 0.0,
            };
            let first = &states[air.start];
            let flown = (air.len() - 1) as f64 * dt;
            assert!(flown > 0.5, "{} {hz} Hz: {flown} s in the air", solver.name);
            let spun = |state: &State| -> f64 {
                model.wheels().iter().zip(&state.wheels).map(|(w, s)| f64::from(w.spin_inertia * s.spin)).sum()
            };
            // A nose that touches the ramp in Rapier's world makes the car roll a little. The axis of its brake moments
            // rolls with the car.
            let turned = |state: &State| {
                let rate = state.rotation.inverse() * state.angular_velocity;
                f64::from((state.rotation * (*model.inertia() * rate)).y)
            };
            let across = |state: &State| f64::from((state.rotation * Vec3::Y).y);
            let mut given = 0.0;
            for (k, state) in states[air.clone()].iter().enumerate() {
                let t = k as f64 * dt;
                let fall = DVec3::new(0.0, 0.0, -0.5 * GRAVITY * t * (t + substep));
                let expected = first.position + first.velocity.as_dvec3() * t + fall;
                let off = (state.position - expected).length();
                // f32 velocities of 18 m/s are rounded by 1e-6 m/s per step.
                assert!(off < 1e-5 * 18.0 * flown, "{} {hz} Hz, after {t} s: {off} m", solver.name);
                let before = &states[air.start + k.saturating_sub(1)];
                given += (spun(before) - spun(state)) * 0.5 * (across(before) + across(state));
                let lost = turned(state) - turned(first) - given;
                // Four wheels at 18 m/s have 250 N·m·s. The brakes take half of it within the flight.
                assert!(lost.abs() < 0.25, "{} {hz} Hz, after {t} s: {lost} N m s", solver.name);
            }
            let braked = spun(first) - spun(&states[air.end - 1]);
            assert!(braked > 5.0, "{} {hz} Hz: brakes took {braked} N m s", solver.name);
        }
    }
}

/// After the landing a car only loses energy, stands on its wheels and has its static height.
#[test]
fn a_jump_ends_on_its_wheels() {
    for solver in solvers() {
        for hz in [60.0, 240.0] {
            let (car, states, air) = jump(&solver, hz);
            let audit = Audit::of(&car, &solver, &Scene::flat());
            let down = &states[air.end + 1..];
            let energy: Vec<f64> = down.iter().map(|state| audit.given_back(state)).collect();
            let highest = energy.iter().fold(f64::MIN, |most, now| most.max(*now));
            assert!(highest < energy[0] * 1.002, "{} {hz} Hz: {} J rise to {highest}", solver.name, energy[0]);
            let last = &states[states.len() - 1];
            let up = last.rotation * skidpad::core::Vec3::Z;
            let resting = Arc::clone(car.world.model(0));
            assert!(up.z > 0.99 && last.position.x > 20.0, "{} {hz} Hz: {last:?}", solver.name);
            let sag = last.position.z - f64::from(resting.parts().centre_height);
            assert!(sag.abs() < 0.05, "{} {hz} Hz: {sag} m off its height", solver.name);
        }
    }
}
