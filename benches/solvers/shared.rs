//! Cars and scenarios that the benches share.

use skidpad::core::{CarStart, Controls, Scene, Simulation, SolverInfo, state::Placement};

/// Steps per second of simulated time.
pub const STEPS_PER_SECOND: u32 = 120;

/// Initial speed of the cars, m/s.
pub const INITIAL_SPEED_MPS: f32 = 100.0 / 3.6;

/// Solver `impulse` without batches: neighbouring cars have separate but equal models.
#[cfg(feature = "impulse")]
pub const UNBATCHED_IMPULSE: SolverInfo = SolverInfo {
    name: "impulse-one-by-one",
    build_world: |scene, cars, dt| {
        let mut cars = cars.to_vec();
        let second_model = std::sync::Arc::new(skidpad::core::Model::clone(&cars[0].model));
        cars.iter_mut().skip(1).step_by(2).for_each(|car| car.model = second_model.clone());
        (skidpad::impulse::BACKEND_INFO.build_world)(scene, &cars, dt)
    },
    ..skidpad::impulse::BACKEND_INFO
};

/// Returns every solver and mode, and Bullet itself if its feature is enabled.
pub fn solvers() -> Vec<SolverInfo> {
    let mut solvers = skidpad::solvers();
    solvers.extend(skidpad::solver_variants());
    #[cfg(feature = "impulse")]
    solvers.push(UNBATCHED_IMPULSE);
    #[cfg(feature = "libbullet")]
    solvers.extend([libbullet_bench::BACKEND_INFO, libbullet_bench::STATICS_ONLY_INFO]);
    solvers
}

/// Returns `count` Corvettes on a grid of 20 m, all at [`INITIAL_SPEED_MPS`].
pub fn cars(count: usize) -> Vec<CarStart> {
    cars_of("corvette_c5", count).expect("a shipped vehicle loads")
}

/// Returns `count` cars of a shipped `vehicle` on a grid of 20 m at [`INITIAL_SPEED_MPS`]; `None` if it does not load.
pub fn cars_of(vehicle: &str, count: usize) -> Option<Vec<CarStart>> {
    let model = skidpad::spec::load(vehicle).ok()?.model;
    let grid_position = |i: usize| (20.0 * (i % 32) as f64, 20.0 * (i / 32) as f64);
    let placement = |i: usize| Placement {
        x: grid_position(i).0,
        y: grid_position(i).1,
        speed: INITIAL_SPEED_MPS,
        ..Placement::default()
    };
    Some((0..count).map(|i| CarStart { model: model.clone(), placement: placement(i) }).collect())
}

/// Returns a world of `backend` with `count` Corvettes on a plane.
pub fn world(backend: &SolverInfo, count: usize) -> Box<dyn Simulation> {
    (backend.build_world)(&Scene::flat(), &cars(count), 1.0 / STEPS_PER_SECOND as f32)
}

/// Returns the controls of a step steer: part throttle, and after 0.5 s a steering angle for a lateral acceleration of
/// 4 m/s².
pub fn step_steer(step: u32) -> Controls {
    let steer = if step < STEPS_PER_SECOND / 2 { 0.0 } else { 0.02 };
    Controls { throttle: 0.2, steer, ..Controls::default() }
}
