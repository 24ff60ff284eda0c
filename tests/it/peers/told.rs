//! Reported quantities of peers have the same meaning as those of the solvers.

use std::sync::Arc;

use skidpad::core::model::Wheel;
use skidpad::core::state::Placement;
use skidpad::core::{Assist, Controls, Frame, Model, Scene, SolverInfo};

use crate::common::{Drive, Simplify, c5, close, shipped, solvers, time_at};

fn peers() -> impl Iterator<Item = SolverInfo> {
    skidpad::solvers().into_iter().filter(|solver| solver.comparison_only)
}

/// Returns the values that assist `trick` added in the step of `frame`, in column order; `None` if the log has no such
/// columns.
fn added(frame: &Frame, trick: Assist) -> Option<[f64; 10]> {
    frame.assist_log.iter().find(|(found, _)| *found == trick).map(|(_, added)| added.values())
}

/// Lateral tyre forces are positive to the left. In a steady left turn their sum is m v ψ̇.
#[test]
fn side_forces_point_into_the_turn() {
    let model = c5().model();
    for solver in skidpad::solvers() {
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

/// In a steady turn, lateral forces at the ground would roll the car with the moment `h Σ F_y`. With a roll influence r the
/// springs carry only the share r. The assist log reports the rest, `−(1 − r) h Σ F_y`, which is zero for r = 1. Rapier's
/// own controller always uses r = 0.1.
#[test]
fn roll_influence_is_told_as_the_moment_it_spares() {
    for solver in peers() {
        for influence in [0.1, 0.5, 1.0] {
            let mut parts = c5();
            parts.raycast_reference.roll_influence = influence;
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
            // The lever arm of a load includes the roll of the chassis.
            let lever = |of: &Wheel| f64::from(of.contact.y) - f64::from(of.contact.z) * last.roll_rad;
            let held: f64 = forces().map(|(w, of)| w.load_n * lever(of)).sum();
            assert!((held + physical + told).abs() < 0.02 * physical, "{what}: springs hold {held} of {physical}");
        }
    }
}

/// A force limit below the static load removes the excess of every suspension force. The assist log reports the removed
/// vertical force with its roll and pitch moments. Without a limit the log has no such columns.
#[test]
fn a_bound_of_the_suspensions_force_is_told() {
    let mut parts = c5();
    parts.raycast_reference.largest_suspension_force = 3000.0;
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

/// Gear changes of a car as (gear, speed in m/s), times at which it reaches given speeds (s), and its final speed (m/s).
struct Driven {
    shifts: Vec<(f64, f64)>,
    times: Vec<f64>,
    end: f64,
}

fn driven(solver: &SolverInfo, model: &Arc<Model>, controls: &Controls, speeds: &[f64]) -> Driven {
    let mut car = Drive::new(solver, model, &Scene::flat(), Placement::default(), 240.0);
    let frames = car.run(14.0, |_| controls.clone());
    let changes = frames.windows(2).filter(|pair| pair[0].gear != pair[1].gear);
    Driven {
        shifts: changes.map(|pair| (pair[1].gear, pair[1].vx_mps)).collect(),
        times: speeds.iter().map(|&speed| time_at(&frames, speed)).collect(),
        end: frames[frames.len() - 1].vx_mps,
    }
}

/// Peers and solvers share the drivetrain. With little tyre slip, peers shift at the speeds of the solvers, need the same
/// times and end at the same speed.
#[test]
fn peers_have_the_drivetrain_of_the_solvers() {
    const WHY: &str =
        "wheels of peers have neither inertia, here a tenth of the cars' own, nor slip, up to 2.4 % of a truck's";
    for name in ["corvette_c5", "toyota_4runner", "tesla_model3_awd", "bmw_320i_commonroad", "truck_6x4"] {
        let mut parts = shipped(name).without_air().without_rolling_resistance();
        parts.wheels.iter_mut().for_each(|wheel| wheel.spin_inertia *= 0.1);
        let model = parts.model();
        let own = &solvers()[0];
        let ask = |throttle: f32, gear: Option<i8>| Controls { throttle, gear, ..Controls::default() };
        for controls in [ask(0.25, None), ask(0.5, None), ask(0.6, Some(1))] {
            let reached = driven(own, &model, &controls, &[]).end;
            let speeds = [0.3, 0.6, 0.9].map(|share| share * reached);
            // Near the speed of a shift, the time is that of the beginning or of the end of the shift. Such speeds are left
            // out.
            let shifts = driven(own, &model, &controls, &[]).shifts;
            let is_apart = |speed: &f64| shifts.iter().all(|(_, at)| (at / speed - 1.0).abs() > 0.03);
            let speeds: Vec<f64> = speeds.into_iter().filter(is_apart).collect();
            let told = driven(own, &model, &controls, &speeds);
            for peer in peers() {
                let found = driven(&peer, &model, &controls, &speeds);
                let what = format!("{} {name} at {} in {:?}", peer.name, controls.throttle, controls.gear);
                assert_eq!(found.shifts.len(), told.shifts.len(), "{what}: {:?}, not {:?}", found.shifts, told.shifts);
                for (found, told) in found.shifts.iter().zip(&told.shifts) {
                    assert_eq!(found.0, told.0, "{what}");
                    close(&format!("{what} into {}", told.0), found.1, told.1, 0.03, WHY);
                }
                for (found, told) in found.times.iter().zip(&told.times) {
                    close(&format!("{what} time"), *found, *told, 0.03, WHY);
                }
                close(&format!("{what} end"), found.end, told.end, 0.03, WHY);
            }
        }
    }
}

/// Peers slow down as much as a solver with a closed throttle in gear. Braked in gear, they stop while the
/// engine idles.
#[test]
fn peers_are_slowed_by_engine_and_brake_together() {
    let model = c5().without_air().without_rolling_resistance().model();
    for solver in peers() {
        let placement = Placement { speed: 20.0, gear: Some(2), ..Placement::default() };
        let slowed = |solver: &SolverInfo| {
            let mut car = Drive::new(solver, &model, &Scene::flat(), placement, 240.0);
            20.0 - car.run(2.0, |_| Controls { gear: Some(2), ..Controls::default() }).pop().expect("frames").vx_mps
        };
        close(solver.name, slowed(&solver), slowed(&solvers()[0]), 0.05, "wheels without inertia");
        let mut car = Drive::new(&solver, &model, &Scene::flat(), placement, 240.0);
        let brake = Controls { brake: 0.4, gear: Some(2), ..Controls::default() };
        let frames = car.run(8.0, |_| brake.clone());
        let first = (20.0 - frames[240].vx_mps) / 1.0;
        assert!(first > 0.4 * 7000.0 / 0.33 / 1545.0, "{}: {first} m/s2", solver.name);
        assert!(frames[frames.len() - 1].vx_mps.abs() < 0.1, "{} stands", solver.name);
    }
}
