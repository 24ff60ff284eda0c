//! Cars in a Rapier world that the user owns and steps.

mod axes;
mod grip;
mod ground_moves;
mod heights;
mod misuse;
mod pauses;
mod planks;
mod rays;
#[cfg(feature = "serde")]
mod resume;
mod rewound;
mod seesaw;
mod sleeping;

use std::sync::Arc;

use skidpad::core::state::Placement;
use skidpad::core::{CarStart, Controls, Frame, Model, Scene, State};
use skidpad::rapier::rapier3d::prelude::*;
use skidpad::rapier::{RapierCars, WorldAxes};

/// World of a user and the cars in it.
struct Yard {
    world: PhysicsWorld,
    cars: RapierCars,
}

impl Yard {
    /// Creates a world without bodies, with a gravity of 9.81 m/s² downwards and steps of 1 / `hz` s.
    fn empty(axes: WorldAxes, hz: f32) -> PhysicsWorld {
        let down = axes.to_world(skidpad::core::Vec3::NEG_Z);
        let mut world = PhysicsWorld { gravity: down * 9.81, ..PhysicsWorld::default() };
        world.integration_parameters.dt = 1.0 / hz;
        world
    }

    /// Creates a world with z up and the ground plane of `scene`.
    fn plane(scene: &Scene, hz: f32) -> PhysicsWorld {
        let mut world = Self::empty(WorldAxes::ZUp, hz);
        world.insert_collider(plane(scene.plane_normal()), None);
        world
    }

    fn new(
        mut world: PhysicsWorld,
        axes: WorldAxes,
        scene: &Scene,
        model: &Arc<Model>,
        placements: &[Placement],
    ) -> Self {
        let start = |placement: &Placement| CarStart { model: model.clone(), placement: *placement };
        let cars: Vec<CarStart> = placements.iter().map(start).collect();
        let cars = RapierCars::with_axes(&mut world, axes, scene, &cars);
        Self { world, cars }
    }

    fn step(&mut self, controls: &[Controls]) {
        self.cars.before_step(&mut self.world, controls);
        self.world.step();
        let report = self.cars.after_step(&mut self.world);
        assert!(!report.not_finite);
    }

    fn run(&mut self, seconds: f32, controls: &[Controls]) {
        for _ in 0..(seconds / self.world.integration_parameters.dt).round() as usize {
            self.step(controls);
        }
    }

    fn body(&mut self, car: usize) -> &mut RigidBody {
        self.world.bodies.get_mut(self.cars.handle(car)).expect("the chassis")
    }

    fn sleeps(&self, car: usize) -> bool {
        self.world.bodies.get(self.cars.handle(car)).expect("the chassis").is_sleeping()
    }

    fn state(&self, car: usize) -> &State {
        self.cars.vehicles()[car].state()
    }

    fn frame(&self, car: usize) -> Frame {
        self.cars.car(car).frame(0.0, self.world.integration_parameters.dt)
    }
}

fn plane(normal: Vector) -> ColliderBuilder {
    ColliderBuilder::halfspace(skidpad::rapier::rapier3d::na::Unit::new_unchecked(normal)).friction(1.0)
}

/// Returns a placement at rest in neutral.
fn standing(heading: f32) -> Placement {
    Placement { heading, gear: Some(0), ..Placement::default() }
}
