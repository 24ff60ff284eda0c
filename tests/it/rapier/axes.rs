//! Worlds with y up.

use skidpad::core::{Controls, Scene, state::Placement};
use skidpad::rapier::WorldAxes;
use skidpad::rapier::rapier3d::prelude::*;

use super::{Yard, plane};
use crate::common::{Simplify, c5};

/// Drives a car that starts, turns and brakes. Two of its wheels run over a box.
fn drive(axes: WorldAxes) -> Yard {
    let scene = Scene::flat();
    let mut world = Yard::empty(axes, 120.0);
    world.insert_collider(plane(axes.to_world(Vector::Z)), None);
    let size = axes.to_world(Vector::new(2.0, 1.0, 0.03)).abs();
    let place = axes.to_world(Vector::new(25.0, -0.8, 0.0));
    world.insert_collider(ColliderBuilder::cuboid(size.x, size.y, size.z).translation(place).friction(0.5), None);
    let start = Placement { speed: 15.0, ..Placement::default() };
    let mut yard = Yard::new(world, axes, &scene, &c5().model(), &[start]);
    yard.run(2.0, &[Controls { throttle: 0.4, ..Controls::default() }]);
    yard.run(2.0, &[Controls { steer: 0.05, ..Controls::default() }]);
    yard.run(2.0, &[Controls { brake: 0.3, ..Controls::default() }]);
    yard
}

/// A car follows one trajectory in worlds with y up and with z up, up to the f32 rounding of Rapier.
#[test]
fn y_up_drives_as_z_up() {
    let z_up = drive(WorldAxes::ZUp);
    for axes in [WorldAxes::YUp, WorldAxes::YUpMinusZForward] {
        let y_up = drive(axes);
        let (a, b) = (z_up.state(0), y_up.state(0));
        assert!(a.position.x > 60.0 && a.position.y > 5.0, "{}", a.position);
        let apart = (a.position - b.position).length();
        // 720 steps with velocities near 20 m/s, each rounded to 1e-6 m/s four times, over 6 s.
        assert!(apart < 1e-3, "{axes:?}: {apart} m apart after 6 s");
        assert!((a.velocity - b.velocity).length() < 1e-3, "{} is not {}", a.velocity, b.velocity);
        assert!(a.rotation.dot(b.rotation).abs() > 1.0 - 1e-6, "{} is not {}", a.rotation, b.rotation);
    }
}

/// The chassis in a world with y up is a body with x forward, y up and z to the right.
#[test]
fn a_body_with_y_up_has_y_up() {
    let yard = drive(WorldAxes::YUp);
    let body = &yard.world.bodies[yard.cars.handle(0)];
    let up = *body.rotation() * Vector::Y;
    assert!(up.y > 0.99, "{up}");
    let forward = WorldAxes::YUp.from_world(*body.rotation() * Vector::X);
    assert!((forward - yard.state(0).rotation * Vector::X).length() < 1e-6);
}
