//! Grip of wheels, which the user's table sets, not the friction of colliders.

use skidpad::core::{Controls, Scene, state::Placement};
use skidpad::rapier::rapier3d::prelude::*;
use skidpad::rapier::{SurfaceProperties, SurfaceQuery, WorldAxes};

use super::Yard;
use crate::common::{Simplify, c5, close};

/// Returns the stopping distance (m) of a C5 from 20 m/s with Coulomb friction 1, on a slab whose collider `change`
/// modifies.
fn stop(change: impl Fn(ColliderBuilder) -> ColliderBuilder, surfaces: SurfaceProperties) -> f64 {
    let slab = ColliderBuilder::cuboid(200.0, 50.0, 1.0).translation(Vector::NEG_Z);
    let mut world = Yard::empty(WorldAxes::ZUp, 120.0);
    world.insert_collider(change(slab), None);
    let model = c5().on_coulomb_tyres(1.0).without_air().without_rolling_resistance().model();
    let placement = Placement { speed: 20.0, gear: Some(0), ..Placement::default() };
    let mut yard = Yard::new(world, WorldAxes::ZUp, &Scene::flat(), &model, &[placement]);
    for _ in 0..1200 {
        yard.cars.before_step_with_surfaces(&mut yard.world, &[Controls::parked()], surfaces);
        yard.world.step();
        yard.cars.after_step(&mut yard.world);
    }
    yard.state(0).position.x
}

/// The friction 0.5 of a plain collider is not used as grip: the stopping distance would double.
#[test]
fn plain_colliders_grip() {
    let plain = stop(|slab| slab, SurfaceProperties::default());
    assert_eq!(plain, stop(|slab| slab.friction(1.0), SurfaceProperties::default()));
    close("way", plain, 400.0 / (2.0 * 9.81), 0.02, "the car pitches, and the patch takes 5 mm to build up");
}

/// The grip can depend on collider, contact point and normal.
#[test]
fn the_grip_is_the_users() {
    let dry = stop(|slab| slab, SurfaceProperties::default());
    let by_material = |met: &SurfaceQuery| [1.0, 0.25][met.collider.user_data as usize];
    let wet =
        stop(|slab| slab.user_data(1), SurfaceProperties { grip: Some(&by_material), ..SurfaceProperties::default() });
    close("wet", wet, 4.0 * dry, 0.02, "as above");
    let by_place = |met: &SurfaceQuery| {
        assert!(met.point.z.abs() < 1e-4 && (met.normal - Vector::Z).length() < 1e-6, "{} {}", met.point, met.normal);
        if met.point.x < 10.0 { 0.5 } else { 1.0 }
    };
    let mixed = stop(|slab| slab, SurfaceProperties { grip: Some(&by_place), ..SurfaceProperties::default() });
    // 10 m with half the deceleration, the rest with full deceleration.
    let expected = 10.0 + (400.0 - 9.81 * 10.0) / (2.0 * 9.81);
    close("mixed", mixed, expected, 0.05, "both axles pass the border, a wheelbase of 2.65 m apart");
}
