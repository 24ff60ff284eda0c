//! Inputs of callers: steps of zero or invalid length, states of other cars, numbers that are not finite.

use skidpad::core::{
    CarError, CarId, CarStart, Controls, Quat, Scene, Simulation, SolverInfo, State, state::Placement,
};

use crate::common::{Simplify, c5, shipped};

/// Returns every solver, mode and peer.
fn all() -> Vec<SolverInfo> {
    skidpad::solvers().into_iter().chain(skidpad::solver_variants()).collect()
}

/// Builds a world with a Corvette that rolls at 20 m/s. The step is `dt`, s.
fn world(solver: &SolverInfo, dt: f32) -> Box<dyn Simulation> {
    let placement = Placement { speed: 20.0, ..Placement::default() };
    (solver.build_world)(&Scene::flat(), &[CarStart { model: c5().model(), placement }], dt)
}

fn turning() -> Controls {
    Controls { throttle: 0.8, steer: 0.06, brake: 0.1, ..Controls::default() }
}

/// A step of zero or invalid length (a pause, a first frame, a clock set back) keeps every bit of the state. Invalid lengths
/// are reported.
#[test]
fn a_step_of_no_length_changes_nothing() {
    for solver in all() {
        let mut moving = world(&solver, 1.0 / 60.0);
        (0..30).for_each(|_| _ = moving.step(&[turning()]));
        let state = moving.state(0).clone();
        for dt in [0.0, -0.0, -1.0 / 60.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            let mut still = world(&solver, dt);
            assert!(still.state(0).is_finite(), "{} at the start with dt {dt}", solver.name);
            still.set_state(0, &state).expect("it fits");
            for _ in 0..3 {
                let report = still.step(&[turning()]);
                assert_eq!(report.not_finite, dt != 0.0, "{} with dt {dt}", solver.name);
            }
            assert_eq!(still.state(0).to_bytes(), state.to_bytes(), "{} with dt {dt}", solver.name);
            assert_eq!(still.steps(), 0, "{} with dt {dt}", solver.name);
            let row = still.frame(0).row();
            assert!(dt.is_nan() || dt.is_infinite() || row.iter().all(|v| v.is_finite()), "{} {row:?}", solver.name);
            assert!(still.state(0).is_finite());
        }
    }
}

#[test]
fn a_state_of_other_wheels_is_refused() {
    let truck = State::at_rest(&shipped("truck_6x4").model(), &Scene::flat(), &Placement::default());
    for solver in all() {
        let mut car = world(&solver, 1.0 / 60.0);
        car.step(&[turning()]);
        car.suspend(0).expect("it is there");
        let before = car.state(0).clone();
        let error = car.resume(0, &truck).expect_err("of six wheels");
        assert_eq!(
            error,
            CarError::WheelCountMismatch { car: CarId::first(0), found: 6, expected: 4 },
            "{}",
            solver.name
        );
        assert_eq!(car.state(0).to_bytes(), before.to_bytes(), "{}", solver.name);
        assert!(!car.slots().is_active(0), "{}: nothing changes", solver.name);
        car.resume(0, &before).expect("it fits");
        assert_eq!(car.set_state(0, &truck), Err(error), "{}", solver.name);
        car.step(&[turning()]);
        assert!(car.state(0).is_finite(), "{}", solver.name);
    }
}

/// A NaN or an infinity in any field makes a state not finite.
#[test]
fn a_state_is_finite_in_every_field() {
    let good = State::at_rest(&c5().model(), &Scene::flat(), &Placement::default());
    assert!(good.is_finite());
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let number = || {
            (0..).map(|field| {
                let mut state = good.clone();
                (set(&mut state, field, bad), state)
            })
        };
        let broken: Vec<State> = number().take_while(|(there, _)| *there).map(|(_, state)| state).collect();
        assert!(broken.len() > 40, "{} fields", broken.len());
        for (field, state) in broken.iter().enumerate() {
            assert!(!state.is_finite(), "number {field} is {bad}");
        }
    }
}

/// Sets number `field` of a state, counted from 0, to `to`. Returns whether there is such a number.
fn set(state: &mut State, field: usize, to: f32) -> bool {
    let State { position, rotation, velocity, angular_velocity, previous_velocity, steer, drive, wheels, tow } = state;
    if let Some(at) = (field < 3).then_some(field) {
        position[at] = to.into();
        return true;
    }
    if let Some(at) = field.checked_sub(3).filter(|at| *at < 4) {
        let mut turned = rotation.to_array();
        turned[at] = to;
        *rotation = Quat::from_array(turned);
        return true;
    }
    let tow = tow.get_or_insert_default();
    let mut numbers: Vec<&mut f32> = vec![steer, &mut tow.force.x, &mut tow.force.y, &mut tow.force.z];
    for vector in [velocity, angular_velocity, previous_velocity] {
        numbers.extend([&mut vector.x, &mut vector.y, &mut vector.z]);
    }
    numbers.extend([&mut drive.engine_speed, &mut drive.ratio, &mut drive.shift_left, &mut drive.since_shift]);
    numbers.push(&mut drive.clutch);
    numbers.extend(drive.couplings.iter_mut().chain(&mut drive.motors));
    for wheel in wheels {
        numbers.extend(wheel.deflection.iter_mut().chain(&mut wheel.tyre));
        numbers.extend([&mut wheel.spin, &mut wheel.compression, &mut wheel.travel_rate, &mut wheel.load]);
        numbers.extend([&mut wheel.torque, &mut wheel.rolling_speed, &mut wheel.rolling, &mut wheel.steer]);
        numbers.extend([&mut wheel.lean, &mut wheel.overturning, &mut wheel.aligning, &mut wheel.disc]);
    }
    numbers.get_mut(field - 7).map(|number| **number = to).is_some()
}
