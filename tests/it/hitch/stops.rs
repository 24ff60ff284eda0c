//! Stopping distances of trains against the figures of `skidpad-lab`.

use skidpad::core::{Controls, Model, Scene};
use skidpad::lab::closed_form::lists::STOPPING_SPEED_MPS;
use skidpad::lab::closed_form::straight::Pedal;
use skidpad::lab::closed_form::train::stopping_distance;

use super::rigs::{shipped, train};
use crate::common::{close, solvers};

/// Stopping distance of a train with the mass of its trailers and with the brakes that act on it.
#[test]
fn shipped_trains_stop_as_told() {
    for names in [["toyota_4runner", "caravan"], ["toyota_4runner", "wagon"], ["truck_6x4", "semitrailer"]] {
        let models = shipped(&names);
        let train_of: Vec<&Model> = models.iter().map(AsRef::as_ref).collect();
        let told = stopping_distance(&train_of, STOPPING_SPEED_MPS, Pedal::FullPedal).expect("brakes");
        for solver in solvers() {
            let mut world = train(&solver, &models, &Scene::flat(), STOPPING_SPEED_MPS as f32, 240.0);
            let start = world.frame(0).x_m;
            for _ in 0..240 * 12 {
                world.step(&[Controls { brake: 1.0, ..Controls::coasting() }]);
            }
            let found = world.frame(0).x_m - start;
            // An overrun device brakes once the car is slower than its trailer, after 0.07 s at 27.8 m/s.
            close(&format!("{} {names:?}", solver.name), found, told, 0.045, "overrun brakes follow the car's");
        }
    }
}
