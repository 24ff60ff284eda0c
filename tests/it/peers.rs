//! What peers tell must mean the same as what the solvers tell.

use skidpad::core::model::Wheel;
use skidpad::core::{Assist, BackendInfo, Controls, Frame};

use crate::common::{Drive, Simplify, c5, close};

fn peers() -> impl Iterator<Item = BackendInfo> {
    skidpad::backends().into_iter().filter(|solver| solver.peer)
}

/// What `trick` added in the step of `frame`, in the order of its columns; `None` without such columns.
fn added(frame: &Frame, trick: Assist) -> Option<[f64; 10]> {
    frame.budget.iter().find(|(found, _)| *found == trick).map(|(_, added)| added.values())
}

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

/// In a steady turn side forces on the ground would roll the car by `h Σ F_y`. With a roll influence the springs hold only a
/// share of that, and the budget tells the rest: `−(1 − r) h Σ F_y`, nothing at 1. Rapier's own is always 0.1.
#[test]
fn roll_influence_is_told_as_the_moment_it_spares() {
    for solver in peers() {
        for influence in [0.1, 0.5, 1.0] {
            let mut parts = c5();
            parts.peers.roll_influence = influence;
            let model = parts.model();
            let mut car = Drive::rolling(&solver, &model, 15.0, 240.0);
            let frames = car.run(4.0, |_| Controls { steer: 0.02, ..Controls::coasting() });
            let last = &frames[frames.len() - 1];
            let r = if solver.name == "bullet" { f64::from(influence) } else { 0.1 };
            let told = added(last, Assist::RollInfluence);
            assert_eq!(told.is_some(), r < 1.0, "{}: columns for a trick that is played", solver.name);
            let told = told.map_or(0.0, |values| values[3]);
            let forces = || last.wheels.iter().zip(model.wheels());
            let side: f64 = forces().map(|(w, _)| w.fy_n).sum();
            let physical = f64::from(model.parts().centre_height) * side;
            let what = format!("{} at {influence}", solver.name);
            let why = "of what is physical: the body has sunk or risen by some mm, and leans";
            assert!((told + (1.0 - r) * physical).abs() < 0.01 * physical, "{what}: {told} of {physical} ({why})");
            // Loads lean in the frame of a car that leans.
            let lever = |of: &Wheel| f64::from(of.contact.y) - f64::from(of.contact.z) * last.roll_rad;
            let held: f64 = forces().map(|(w, of)| w.load_n * lever(of)).sum();
            assert!((held + physical + told).abs() < 0.02 * physical, "{what}: springs hold {held} of {physical}");
        }
    }
}

/// A bound below the static load takes the rest of every suspension's force; the tyres do not notice.
#[test]
fn a_bound_of_the_suspensions_force_is_told() {
    let mut parts = c5();
    parts.peers.largest_suspension_force = 3000.0;
    let model = parts.model();
    for solver in peers() {
        let frame = Drive::rolling(&solver, &model, 0.0, 240.0).step(&Controls::coasting());
        let [.., down, roll, pitch, _, _, _, _, _] = added(&frame, Assist::LargestForce).expect("it is bounded");
        let static_load = |i: usize| f64::from(model.static_load(i));
        let expected: f64 = (0..4).map(|i| 3000.0 - static_load(i)).sum();
        close(solver.name, down, expected, 0.01, "one step of gravity on the dampers");
        let turn: f64 = (0..4).map(|i| -f64::from(model.wheels()[i].contact.x) * (3000.0 - static_load(i))).sum();
        assert!((pitch - turn).abs() < 20.0 && roll.abs() < 1.0, "{}: {pitch} instead of {turn}", solver.name);
        assert!(
            added(&Drive::rolling(&solver, &c5().model(), 0.0, 240.0).world.frame(0), Assist::LargestForce).is_none()
        );
    }
}
