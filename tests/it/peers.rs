//! What peers tell must mean the same as what the solvers tell.

use skidpad::core::Controls;

use crate::common::{Drive, Simplify, c5, close};

/// Side forces are positive to the left: in a turn to the left they push the car there, with m v ψ̇ in all.
#[test]
fn side_forces_point_into_the_turn() {
    let model = c5().model();
    for solver in skidpad::backends() {
        let mut car = Drive::rolling(&solver, &model, 20.0, 240.0);
        let frames = car.run(2.0, |_| Controls { steer: 0.02, ..Controls::coasting() });
        let last = &frames[frames.len() - 1];
        let sum: f64 = last.wheels.iter().map(|w| w.fy_n).sum();
        let needed = f64::from(model.mass()) * last.yaw_rate_radps * last.vx_mps;
        close(
            solver.name,
            sum,
            needed,
            0.03,
            "the car slows down a little, and wheels pull along axes steered by 0.02",
        );
    }
}
