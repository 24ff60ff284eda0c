//! A solver written against the public interface only: the Gauss-Seidel solver of the example `own_solver`.

#[path = "../../../examples/own_solver/gauss_seidel.rs"]
mod gauss_seidel;

use gauss_seidel::GaussSeidel;
use skidpad::core::{Controls, DVec3, SolverInfo};

use crate::common::{Drive, Simplify, c5};

/// Returns the position of a car that steers and then brakes for 2 s, m.
fn end_position(solver: &SolverInfo) -> DVec3 {
    let model = c5().model();
    let mut car = Drive::rolling(solver, &model, 25.0, 120.0);
    car.run(2.0, |f| Controls {
        steer: if f.t_s < 0.5 { 0.0 } else { 0.03 },
        brake: if f.t_s < 1.0 { 0.0 } else { 0.2 },
        gear: Some(0),
        ..Controls::default()
    });
    car.world.state(0).position
}

/// The distance to the converged solution falls with the number of iterations, down to the resolution of the
/// velocities: 0.15 mm with one, 2.5 µm with two and 0.3 µm with four iterations.
#[test]
fn gauss_seidel_approaches_the_converged_solver() {
    let converged = end_position(&skidpad::constraint::BACKEND_INFO);
    let solvers = [GaussSeidel::<1>::info("gs-1"), GaussSeidel::<2>::info("gs-2"), GaussSeidel::<4>::info("gs-4")];
    let distances = solvers.map(|solver| end_position(&solver).distance(converged));
    let [one, two, four] = distances;
    assert!(one < 1e-3 && two < 0.1 * one && four < 0.5 * two && four < 1e-6, "{distances:?} m");
}
