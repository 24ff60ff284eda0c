//! Wheels on heightfields. parry misses some vertical rays exactly on the grid lines (dimforge/rapier#165).

use std::f32::consts::FRAC_PI_2;

use skidpad::core::{Controls, Scene, state::Placement};
use skidpad::rapier::WorldAxes;
use skidpad::rapier::rapier3d::parry::utils::Array2;
use skidpad::rapier::rapier3d::prelude::*;

use super::{Yard, standing};
use crate::common::{Simplify, c5};

/// Builds a heightfield of 40 by 40 m around the origin in cells of 0.5 m. `height` returns the height at two horizontal
/// coordinates, m.
fn field(axes: WorldAxes, height: impl Fn(f32, f32) -> f32) -> ColliderBuilder {
    let at = |i: usize| 0.5 * i as f32 - 20.0;
    let heights = Array2::new(81, 81, (0..81 * 81).map(|k| height(at(k / 81), at(k % 81))).collect());
    let field = ColliderBuilder::heightfield(heights, Vector::new(40.0, 1.0, 40.0)).friction(1.0);
    match axes {
        WorldAxes::YUp | WorldAxes::YUpMinusZForward => field,
        WorldAxes::ZUp => field.rotation(Vector::X * FRAC_PI_2),
    }
}

/// Cars start at integer coordinates, headed along the grid, with every wheel on a corner of a cell. No wheel loses contact
/// in 2 s.
#[test]
fn no_wheel_falls_between_cells() {
    let mut parts = c5();
    for (i, wheel) in parts.wheels.iter_mut().enumerate() {
        wheel.contact.x = [1.5, -1.0][i / 2];
        wheel.contact.y = [0.5, -0.5][i % 2];
    }
    let model = parts.without_air().model();
    let bumpy = |z: f32, x: f32| 0.004 * ((7.0 * x).sin() + (5.0 * z).cos());
    let both = |axes: WorldAxes| [(axes, 0.0), (axes, FRAC_PI_2)];
    for (axes, heading) in [WorldAxes::YUp, WorldAxes::YUpMinusZForward, WorldAxes::ZUp].into_iter().flat_map(both) {
        let mut world = Yard::empty(axes, 60.0);
        world.insert_collider(field(axes, if heading == 0.0 { |_, _| 0.0 } else { bumpy }), None);
        let on = |i: i32| f64::from(5 * i - 15);
        let place = |i: i32| Placement { x: on(i % 7), y: on(i / 7), ..standing(heading) };
        let placements: Vec<Placement> = (0..49).map(place).collect();
        let mut yard = Yard::new(world, axes, &Scene::flat(), &model, &placements);
        let parked: Vec<Controls> = (0..49).map(|_| Controls::parked()).collect();
        for step in 0..120 {
            yard.step(&parked);
            for car in 0..49 {
                let all = yard.state(car).wheels.iter().all(|wheel| wheel.contact);
                assert!(all, "{axes:?}, heading {heading}, step {step}: car {car} lost a wheel");
            }
        }
    }
}
