//! Lateral compliance of axles: displacement by force over rate, in series with the tyres, and no energy gain.

use std::f64::consts::FRAC_PI_2;

use skidpad::core::model::LateralCompliance;
use skidpad::core::state::{Placement, Tow};
use skidpad::core::tyre::{CurveLaw, CurveTyre};
use skidpad::core::{Controls, DVec3, ModelParts, Scene, State, Vec3};

use crate::common::{Drive, GRAVITY, Simplify, c5, close, hold_speed, mean, on_rows};

/// Lateral rate of an axle of the CommonRoad models, N/m: about 25 mm under the lateral force of a turn at 1 g.
const RATE: f32 = 175e3;

/// Returns a C5 whose axles have the lateral rate `RATE` and this damping, N·s/m; rigid axles for `None`.
fn car(damping: Option<f32>) -> ModelParts {
    let mut parts = c5().without_air().without_rolling_resistance();
    for axle in &mut parts.axles {
        axle.ackermann = 0.0;
        axle.lateral_compliance = damping.map(|damping| LateralCompliance { rate: RATE, damping });
    }
    parts
}

/// Returns the force of all lateral springs, N, positive to the left.
fn held(state: &State) -> f64 {
    state.wheels.iter().map(|wheel| 0.5 * f64::from(RATE * wheel.shift)).sum()
}

/// In a steady turn and across a slope `Σ K y = m a`. Each wheel shifts by the force of its own tyre over half of the axle's
/// rate. Wheel loads do not move with the shift, so that the car rolls as on rigid axles.
#[test]
fn axles_shift_by_side_force_over_rate() {
    for solver in on_rows() {
        let turn = |damping: Option<f32>| {
            let model = car(damping).model();
            let mut drive = Drive::rolling(&solver, &model, 15.0, 240.0);
            let frames = drive.run(6.0, |f| Controls {
                steer: 0.024,
                gear: Some(0),
                wheels: hold_speed(f, &model, 15.0),
                ..Controls::default()
            });
            let steady = frames[frames.len() - 240..].to_vec();
            let ay = mean(&steady, |f| f.ay_mps2);
            (drive, ay, mean(&steady, |f| f.roll_rad) / ay)
        };
        let (_, _, rigid) = turn(None);
        let (drive, ay, roll) = turn(Some(10e3));
        let (state, mass) = (drive.world.state(0), f64::from(drive.world.model(0).mass()));
        // The front wheels are steered by 0.024 rad: 3e-4 of their force has another direction, and their drive force adds
        // to it.
        close(solver.name, held(state), mass * ay, 2e-3, "small angles");
        for (i, wheel) in state.wheels.iter().enumerate() {
            let expected = 2.0 * wheel.tyre[1] / RATE;
            let off = (wheel.shift - expected).abs();
            assert!(off < 1e-3 * expected.abs(), "{}: wheel {i} {} m, not {expected}", solver.name, wheel.shift);
        }
        close(&format!("{} roll", solver.name), roll, rigid, 1e-3, "of a turn a little slower to come");

        let placement = Placement { heading: FRAC_PI_2 as f32, gear: Some(0), ..Placement::default() };
        let mut parked = Drive::new(&solver, &car(Some(10e3)).model(), &Scene::sloping(0.2), placement, 60.0);
        parked.run(6.0, |_| Controls::parked());
        let found = held(parked.world.state(0)).abs();
        close(&format!("{} on a slope", solver.name), found, mass * GRAVITY * 0.2f64.sin(), 2e-3, "it leans");
    }
}

/// An undamped spring in series with the carcass acts as a softer carcass: a tyre of slip stiffness C and relaxation length
/// σ on a rate K has the relaxation length `σ + C / K`.
#[test]
fn a_spring_before_the_carcass_lengthens_relaxation() {
    const STIFFNESS: f32 = 60e3;
    const LENGTH: f32 = 0.3;
    let on = |damping: Option<f32>, across: f32| {
        car(damping).with_tyres(|tyre: &CurveTyre| CurveTyre {
            law: CurveLaw::Linear { stiffness: [STIFFNESS; 2] },
            relaxation: [LENGTH, across],
            load_sensitivity: 0.0,
            ..*tyre
        })
    };
    let soft = on(Some(0.0), LENGTH).model();
    let [long, short] = [LENGTH + STIFFNESS / (0.5 * RATE), LENGTH].map(|length| on(None, length).model());
    for solver in on_rows() {
        for hz in [60.0, 240.0] {
            let yaw_rates = [&soft, &long, &short].map(|model| {
                let mut drive = Drive::rolling(&solver, model, 20.0, hz);
                let steer = |t: f64| if t > 0.1 { 0.01 } else { 0.0 };
                let frames = drive.run(1.5, |f| Controls { steer: steer(f.t_s), gear: Some(0), ..Controls::default() });
                frames.into_iter().map(|f| f.yaw_rate_radps).collect::<Vec<_>>()
            });
            let [soft, long, short] = &yaw_rates;
            let apart = |other: &[f64]| soft.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            let whole = soft[soft.len() - 1];
            // Both systems are equal except for errors of second order in the step. Carcass and axle spring do not account
            // for their coupled oscillation, and a single sweep ends with another velocity than its rows used.
            let converged = solver.name.starts_with("constraint");
            let most = if converged { 1.0 } else { 20.0 } / f64::from(hz * hz);
            assert!(apart(long) < most * whole, "{} at {hz} Hz: {} of {whole}", solver.name, apart(long));
            assert!(apart(short) > 0.1 * whole, "{} at {hz} Hz: as without: {}", solver.name, apart(short));
        }
    }
}

/// The shift of a wheel in the air decays with the time constant `D / K`.
#[test]
fn a_lifted_wheel_returns_over_its_time_constant() {
    const DAMPING: f32 = 10e3;
    let model = car(Some(DAMPING)).model();
    for solver in on_rows() {
        let lifted = Placement { height: 2.0, gear: Some(0), ..Placement::default() };
        let mut drive = Drive::new(&solver, &model, &Scene::flat(), lifted, 1000.0);
        let mut state = drive.world.state(0).clone();
        state.wheels.iter_mut().for_each(|wheel| wheel.shift = 0.02);
        drive.world.set_state(0, &state).expect("it fits");
        drive.run(0.1, |_| Controls::default());
        let left = f64::from(drive.world.state(0).wheels[2].shift) / 0.02;
        let expected = (-0.1 * f64::from(RATE / DAMPING)).exp();
        close(solver.name, left, expected, 0.02, "half of K dt / D = 0.0175 over 1.75 time constants: implicit Euler");
    }
}

/// Braked cars on undamped and on heavily damped axles stand on a slope, across it and askew.
#[test]
fn cars_stand_on_axles_that_give_way() {
    for damping in [0.0, 1e3, 100e3] {
        let model = car(Some(damping)).model();
        for solver in on_rows() {
            for (hz, heading) in [20.0, 60.0, 240.0].into_iter().flat_map(|hz| [(hz, FRAC_PI_2), (hz, 0.7)]) {
                let placement = Placement { heading: heading as f32, gear: Some(0), ..Placement::default() };
                let mut drive = Drive::new(&solver, &model, &Scene::sloping(0.2), placement, hz);
                let frames = drive.run(20.0, |_| Controls::parked());
                // An axle with 100 kN·s/m settles with a time constant of 0.6 s: e^-17 of 30 mm is left.
                let (settled, last) = (&frames[frames.len() / 2], &frames[frames.len() - 1]);
                let crept = (last.x_m - settled.x_m).hypot(last.y_m - settled.y_m);
                assert!(crept < 1e-4, "{} at {hz} Hz, {damping} N s/m: {crept} m in 10 s", solver.name);
            }
        }
    }
}

/// The pose of a wheel includes its shift, along its axle.
#[test]
fn drawn_wheels_shift() {
    let model = car(Some(10e3)).model();
    let mut state = State::at_rest(&model, &Scene::flat(), &Placement::default());
    state.wheels[0].steer = FRAC_PI_2 as f32;
    let before = [0, 2].map(|i| state.wheel_pose(&model, i).centre);
    state.wheels.iter_mut().for_each(|wheel| wheel.shift = 0.02);
    let moved = [0, 1].map(|k| state.wheel_pose(&model, 2 * k).centre - before[k]);
    let expected = [DVec3::NEG_X * 0.02, DVec3::Y * 0.02];
    let off = [0, 1].map(|k| (moved[k] - expected[k]).length());
    assert!(off.iter().all(|off| *off < 1e-6), "{moved:?}: roundings of metres");
}

/// A tow takes 20 more bytes of a saved state, shifts take 16 more, also a shift of −0. Missing and additional bytes are
/// errors.
#[test]
fn shifts_of_trailers_are_saved() {
    let rigid = State::at_rest(&car(None).model(), &Scene::flat(), &Placement::default());
    let tow = Some(Tow { towing_slot: 3, force: Vec3::new(1.0, -2.0, 3.0), overrun: 0.5 });
    for (tow, shift, more) in [(tow, 0.01, 36), (tow, 0.0, 20), (None, 0.01, 16), (None, -0.0, 16), (None, 0.0, 0)] {
        let mut state = State { tow, ..rigid.clone() };
        state.wheels[1].shift = shift;
        let bytes = state.to_bytes();
        assert_eq!(bytes.len(), 417 + more);
        let found = State::from_bytes(&bytes, 4).expect("saved");
        assert_eq!((&found, found.wheels[1].shift.to_bits()), (&state, shift.to_bits()));
        assert!(State::from_bytes(&bytes[..bytes.len() - 1], 4).is_err());
        assert!(State::from_bytes(&[&bytes[..], b"!"].concat(), 4).is_err());
    }
}

/// Shifts are saved with the state, and take no bytes if no wheel has shifted.
#[test]
fn shifts_are_saved() {
    for solver in on_rows() {
        let model = car(Some(10e3)).model();
        let mut drive = Drive::rolling(&solver, &model, 15.0, 60.0);
        let turning = |_: &_| Controls { steer: 0.05, gear: Some(0), ..Controls::default() };
        assert_eq!(drive.world.state(0).to_bytes().len(), 417, "{}", solver.name);
        drive.run(1.0, turning);
        let state = drive.world.state(0).clone();
        let bytes = state.to_bytes();
        assert_eq!(bytes.len(), 417 + 4 * 4, "{}", solver.name);
        assert_eq!(State::from_bytes(&bytes, 4).as_ref(), Ok(&state), "{}", solver.name);
        let world = drive.world.save().expect("no hull touches anything");
        drive.run(0.5, turning);
        let end = drive.world.state(0).clone();
        drive.world.load(&world).expect("bytes of such a world");
        assert_eq!(drive.world.state(0), &state, "{}", solver.name);
        drive.run(0.5, turning);
        assert_eq!(drive.world.state(0), &end, "{}", solver.name);
        let mut wild = state.clone();
        wild.wheels[1].shift = 1e12;
        drive.world.set_state(0, &wild).expect("it fits");
        drive.run(0.2, turning);
        assert!(drive.world.state(0).is_finite(), "{}", solver.name);
    }
}
