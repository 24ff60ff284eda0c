//! Adds a car to a user's Rapier world: the world steps between `before_step` and `after_step`.
//!
//! Rapier simulates the ground, a wall of boxes and their contacts. The car drives through the wall.

use skidpad::core::{CarStart, Controls, Scene, state::Placement};
use skidpad::rapier::RapierCars;
use skidpad::rapier::rapier3d::prelude::*;

/// Inserts a wall of boxes across the road at `x` (m) and returns their bodies.
fn insert_wall(world: &mut PhysicsWorld, x: f32) -> Vec<RigidBodyHandle> {
    let mut handles = Vec::new();
    for row in 0..3 {
        for column in -2..=2 {
            let centre = Vector::new(x, column as f32, 0.3 + 0.6 * row as f32);
            let body = RigidBodyBuilder::dynamic().translation(centre);
            let (handle, _) = world.insert(body, ColliderBuilder::cuboid(0.3, 0.45, 0.3).density(20.0));
            handles.push(handle);
        }
    }
    handles
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut world = PhysicsWorld { gravity: Vector::new(0.0, 0.0, -9.81), ..PhysicsWorld::default() };
    world.integration_parameters.dt = 1.0 / 120.0;
    world.insert_collider(ColliderBuilder::cuboid(200.0, 200.0, 1.0).translation(Vector::new(0.0, 0.0, -1.0)), None);
    let boxes = insert_wall(&mut world, 30.0);

    let placement = Placement { speed: 15.0, ..Placement::default() };
    let car_start = CarStart { model: skidpad::spec::load("corvette_c5")?.model, placement };
    let mut cars = RapierCars::new(&mut world, &Scene::flat(), &[car_start]);

    for step in 0..=480 {
        if step % 60 == 0 {
            let car = cars.vehicles()[0].state();
            let positions = boxes.iter().filter_map(|handle| world.bodies.get(*handle)).map(RigidBody::translation);
            let moved_boxes = positions.filter(|position| (position.x - 30.0).abs() > 0.5).count();
            let (t, x, speed) = (step as f32 / 120.0, car.position.x, car.velocity.length());
            println!("{t:.1} s: car at x = {x:>6.2} m with {speed:>5.2} m/s, {moved_boxes:>2} boxes knocked away");
        }
        let controls = Controls { throttle: 0.3, ..Controls::default() };
        cars.before_step(&mut world, &[controls]);
        world.step();
        let report = cars.after_step(&mut world);
        if report.not_finite {
            return Err("the car left the numbers".into());
        }
    }
    Ok(())
}
