//! Bit-identical results of equal inputs, after a rewind and on several threads.

use skidpad::core::{Controls, Scene, SolverInfo, State, state::Placement};

use crate::common::{Drive, Simplify, c5, own_code};

fn inputs(k: usize) -> Controls {
    let t = k as f32 / 60.0;
    Controls {
        throttle: if k % 200 < 120 { 0.8 } else { 0.0 },
        brake: if k % 200 >= 150 { 0.6 } else { 0.0 },
        steer: 0.08 * (t * 1.7).sin(),
        ..Controls::default()
    }
}

fn start(solver: &SolverInfo) -> Drive {
    let placement = Placement { speed: 15.0, ..Placement::default() };
    Drive::new(solver, &c5().model(), &Scene::flat(), placement, 60.0)
}

fn steps(car: &mut Drive, range: std::ops::Range<usize>) -> State {
    for k in range {
        car.step(&inputs(k));
    }
    car.world.state(0).clone()
}

/// A state saved after step 150 continues with the same bits in a fresh world and in the same world.
#[test]
fn a_saved_state_resumes_bit_for_bit() {
    for solver in own_code() {
        let mut car = start(&solver);
        let saved = steps(&mut car, 0..150);
        let went_on = steps(&mut car, 150..400);
        let mut other = start(&solver);
        other.world.set_state(0, &saved).expect("it fits");
        assert_eq!(steps(&mut other, 150..400), went_on, "{} in a fresh world", solver.name);
        car.world.set_state(0, &saved).expect("it fits");
        assert_eq!(steps(&mut car, 150..400), went_on, "{} in the same world", solver.name);
    }
}

#[test]
fn threads_change_no_bit() {
    for solver in own_code() {
        let alone = steps(&mut start(&solver), 0..300);
        let together: Vec<State> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..2).map(|_| scope.spawn(|| steps(&mut start(&solver), 0..300))).collect();
            threads.into_iter().map(|t| t.join().expect("no panic")).collect()
        });
        assert!(together.iter().all(|state| *state == alone), "{}", solver.name);
    }
}
