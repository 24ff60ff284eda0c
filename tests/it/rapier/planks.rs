//! Light bodies under locked wheels, on any ground of a user's world.

use skidpad::core::{Controls, Scene, Vec3, state::Placement};
use skidpad::rapier::WorldAxes;
use skidpad::rapier::rapier3d::prelude::*;

use super::{Yard, plane};
use crate::common::{Simplify, c5};

/// Ground below the plank.
#[derive(Clone, Copy, Debug)]
enum Floor {
    Plane,
    Box,
    Mesh,
}

/// Height of the plank's top above the floor, m.
const TOP: f32 = 0.1;

fn floor(floor: Floor, axes: WorldAxes) -> ColliderBuilder {
    let along = |x: f32, y: f32, z: f32| axes.to_world(Vector::new(x, y, z));
    let of = match floor {
        Floor::Plane => plane(axes.to_world(Vector::Z)),
        Floor::Box => {
            let size = along(100.0, 100.0, 1.0).abs();
            ColliderBuilder::cuboid(size.x, size.y, size.z).translation(along(0.0, 0.0, -1.0))
        }
        Floor::Mesh => {
            let corners = [[-100.0, -100.0], [100.0, -100.0], [100.0, 100.0], [-100.0, 100.0]];
            let points = corners.map(|[x, y]| along(x, y, 0.0)).to_vec();
            ColliderBuilder::trimesh(points, vec![[0, 1, 2], [0, 2, 3]]).expect("a mesh")
        }
    };
    of.friction(0.4)
}

/// Brakes a C5 with locked wheels on a plank of 10 kg for 1.5 s at 60 Hz. Returns the final positions of plank and car (m)
/// and the largest speed of the plank (m/s), in the axes of the cars.
fn brake_on_a_plank(ground: Floor, axes: WorldAxes) -> ([Vec3; 2], f32) {
    let mut world = Yard::empty(axes, 60.0);
    world.insert_collider(floor(ground, axes), None);
    let half = axes.to_world(Vector::new(15.0, 3.0, 0.5 * TOP)).abs();
    let body = RigidBodyBuilder::dynamic().translation(axes.to_world(Vector::new(0.0, 0.0, 0.5 * TOP)));
    let shape = ColliderBuilder::cuboid(half.x, half.y, half.z).mass(10.0).friction(0.4);
    let (plank, _) = world.insert(body, shape);
    let start = Placement { x: -8.0, speed: 5.0, height: TOP.into(), gear: Some(0), ..Placement::default() };
    let mut yard = Yard::new(world, axes, &Scene::flat(), &c5().without_air().model(), &[start]);
    let mut fastest = 0.0f32;
    for _ in 0..90 {
        yard.step(&[Controls { brake: 1.0, ..Controls::parked() }]);
        fastest = fastest.max(yard.world.bodies[plank].linvel().length());
    }
    let ends = axes.from_world(yard.world.bodies[plank].translation());
    ([ends, yard.state(0).position.as_vec3()], fastest)
}

/// On every kind of floor and with every axis up, the plank moves with the car, and both end at the same place.
#[test]
fn a_light_plank_goes_with_the_wheels_on_any_floor() {
    let ([plank, car], fastest) = brake_on_a_plank(Floor::Plane, WorldAxes::ZUp);
    assert!(plank.x > 1.0 && plank.y.abs() < 1e-3 && (plank.z - 0.5 * TOP).abs() < 1e-3, "{plank}");
    assert!(fastest < 5.0, "the plank goes {fastest} m/s, the car began with 5");
    for floor in [Floor::Plane, Floor::Box, Floor::Mesh] {
        for axes in [WorldAxes::ZUp, WorldAxes::YUp, WorldAxes::YUpMinusZForward] {
            let (found, fastest) = brake_on_a_plank(floor, axes);
            let apart = [plank - found[0], car - found[1]].map(Vec3::length);
            // Rapier separates bodies from the floor by up to a millimetre, which differs between shapes.
            assert!(apart.iter().all(|apart| *apart < 5e-3), "{floor:?} {axes:?}: {found:?}, not {plank} and {car}");
            assert!(fastest < 5.0, "{floor:?} {axes:?}: {fastest} m/s");
        }
    }
}

/// A car falls onto two planks and reaches the higher one first. After each step no force remains on either, also not on the
/// plank that no wheel has reached.
#[test]
fn no_force_stays_on_a_plank() {
    let mut world = Yard::empty(WorldAxes::ZUp, 60.0);
    world.insert_collider(floor(Floor::Plane, WorldAxes::ZUp), None);
    let planks = [(2.0, 0.2), (-2.0, 0.05)].map(|(x, half): (f32, f32)| {
        let body = RigidBodyBuilder::dynamic().translation(Vector::new(x, 0.0, half));
        world.insert(body, ColliderBuilder::cuboid(1.5, 3.0, half).mass(40.0).friction(0.4)).0
    });
    let start = Placement { height: 0.6, gear: Some(0), ..Placement::default() };
    let mut yard = Yard::new(world, WorldAxes::ZUp, &Scene::flat(), &c5().without_air().model(), &[start]);
    for step in 0..120 {
        yard.step(&[Controls::parked()]);
        for plank in planks {
            let body = &yard.world.bodies[plank];
            let left = body.user_force().length() + body.user_torque().length();
            assert!(left == 0.0, "step {step}: {left} N stay on the plank");
        }
    }
    assert!(yard.state(0).velocity.length() < 0.05, "it stands on both: {}", yard.state(0).velocity);
}
