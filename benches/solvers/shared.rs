//! Cars and scenarios that benches share.

use skidpad::core::{Backend, BackendInfo, CarStart, Controls, Scene, state::Placement};

/// Steps per second of simulated time.
pub const RATE: u32 = 120;

/// Speed the cars start with, m/s.
pub const SPEED: f32 = 100.0 / 3.6;

/// `impulse` with cars that never go abreast, as neighbours are of different models, though alike.
#[cfg(feature = "impulse")]
pub const ONE_BY_ONE: BackendInfo = BackendInfo {
    name: "impulse-one-by-one",
    build: |scene, cars, dt| {
        let mut cars = cars.to_vec();
        let other = std::sync::Arc::new(skidpad::core::Model::clone(&cars[0].model));
        cars.iter_mut().skip(1).step_by(2).for_each(|car| car.model = other.clone());
        (skidpad::impulse::BACKEND.build)(scene, &cars, dt)
    },
    ..skidpad::impulse::BACKEND
};

/// Every solver and mode, and Bullet itself if its feature is on.
pub fn solvers() -> Vec<BackendInfo> {
    let mut solvers = skidpad::backends();
    solvers.extend(skidpad::modes());
    #[cfg(feature = "impulse")]
    solvers.push(ONE_BY_ONE);
    #[cfg(feature = "libbullet")]
    solvers.extend([libbullet_bench::BACKEND, libbullet_bench::STATICS_ONLY]);
    solvers
}

/// `count` Corvettes, 20 m apart, all at [`SPEED`].
pub fn cars(count: usize) -> Vec<CarStart> {
    cars_of("corvette_c5", count).expect("a shipped vehicle loads")
}

/// The same of a shipped `vehicle`; `None` of one that there is not.
pub fn cars_of(vehicle: &str, count: usize) -> Option<Vec<CarStart>> {
    let model = skidpad::spec::load(vehicle).ok()?.model;
    let row = |i: usize| (20.0 * (i % 32) as f64, 20.0 * (i / 32) as f64);
    let placement = |i: usize| Placement { x: row(i).0, y: row(i).1, speed: SPEED, ..Placement::default() };
    Some((0..count).map(|i| CarStart { model: model.clone(), placement: placement(i) }).collect())
}

/// A world of `backend` with `count` cars on a plane.
pub fn world(backend: &BackendInfo, count: usize) -> Box<dyn Backend> {
    (backend.build)(&Scene::flat(), &cars(count), 1.0 / RATE as f32)
}

/// Part throttle, and a steering angle that gives 4 m/s² after the first half second.
pub fn step_steer(step: u32) -> Controls {
    let steer = if step < RATE / 2 { 0.0 } else { 0.02 };
    Controls { throttle: 0.2, steer, ..Controls::default() }
}
