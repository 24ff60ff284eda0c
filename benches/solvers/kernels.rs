//! Benches of the solve of one vehicle with each solver, without a world.

use std::hint::black_box;

use criterion::Criterion;
use skidpad::core::coupling::RowSolver;
use skidpad::core::{ChassisState, Contact, Controls, Scene, State, Vec3, Vehicle};

use crate::shared;

/// Measures [`Vehicle::solve`] of one vehicle with each solver.
pub fn couplings(criterion: &mut Criterion) {
    let solvers: &[(&str, &dyn RowSolver)] = &[
        #[cfg(feature = "impulse")]
        ("one_sweep", &skidpad::impulse::Sweep),
        #[cfg(feature = "constraint")]
        ("converged", &skidpad::constraint::Newton::CONE),
    ];
    let mut group = criterion.benchmark_group("solve");
    for (name, solver) in solvers.iter().copied() {
        let start = &shared::cars(1)[0];
        let state = State::at_rest(&start.model, &Scene::flat(), &start.placement);
        let mut vehicle = Vehicle::new(start.model.clone(), state);
        // Body motion and contacts that `solve` would read from a world, in a corner at the start of a step.
        let body = cornering(vehicle.state());
        let contacts: Vec<Option<Contact>> = start
            .model
            .wheels()
            .iter()
            .map(|wheel| {
                Some(Contact { distance: 2.0 * wheel.radius, normal: Vec3::Z, grip: 1.0, point: None, ground: None })
            })
            .collect();
        let controls = Controls { throttle: 0.3, steer: 0.03, ..Controls::default() };
        group.bench_function(name, |bencher| {
            bencher.iter(|| vehicle.solve(&body, black_box(&contacts), &[], &controls, solver, 1.0 / 120.0));
        });
    }
    group.finish();
}

fn cornering(state: &State) -> ChassisState {
    let velocity = state.velocity + Vec3::Y * 0.5;
    ChassisState {
        position: state.position,
        rotation: state.rotation,
        velocity,
        angular_velocity: Vec3::Z * 0.2,
        free_velocity: velocity - Vec3::Z * (9.81 / 120.0),
        free_angular_velocity: Vec3::Z * 0.2,
        ..ChassisState::AT_ORIGIN
    }
}
