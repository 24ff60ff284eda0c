//! Simulates twenty cars, a wall of crates and a seesaw in one Rapier world that the user steps.

use skidpad::core::{CarStart, Controls, Scene, Vehicle, state::Placement};
use skidpad::rapier::RapierCars;
use skidpad::rapier::rapier3d::prelude::*;

/// Lateral positions of the four lanes, m. Each has five cars; the first has a seesaw, the second a wall of crates.
pub const LANE_Y_M: [f32; 4] = [-9.0, -3.0, 3.0, 9.0];

/// Rapier world with its cars and the handles of its bodies.
pub struct Playground {
    /// World that [`Playground::step`] steps.
    pub world: PhysicsWorld,
    /// Cars, lane by lane.
    pub cars: RapierCars,
    /// Plank of the seesaw.
    pub plank: RigidBodyHandle,
    /// Crates of the wall.
    pub crates: Vec<RigidBodyHandle>,
    /// Simulated time, s.
    pub time: f32,
}

impl Playground {
    /// Builds the world with everything at rest.
    pub fn new() -> Result<Self, Box<dyn std::error::Error>> {
        let mut world = PhysicsWorld { gravity: Vector::new(0.0, 0.0, -9.81), ..PhysicsWorld::default() };
        world.insert_collider(ColliderBuilder::cuboid(200.0, 50.0, 1.0).translation(Vector::NEG_Z), None);

        let (pivot, half_length, half_thickness) = (Vector::new(20.0, LANE_Y_M[0], 0.4), 6.0, 0.04);
        let post = world.insert_body(RigidBodyBuilder::fixed().translation(pivot));
        // The near end of the plank is on the ground.
        let tilt = Vector::new(0.0, -((pivot.z - half_thickness) / half_length).asin(), 0.0);
        let plank_shape = ColliderBuilder::cuboid(half_length, 1.5, half_thickness).mass(400.0).friction(1.0);
        let (plank, _) = world.insert(RigidBodyBuilder::dynamic().translation(pivot).rotation(tilt), plank_shape);
        world.insert_impulse_joint(post, plank, RevoluteJointBuilder::new(Vector::Y));

        let crate_at = |i: u8| Vector::new(25.0, LANE_Y_M[1] + f32::from(i % 4) - 1.5, 0.4 + 0.8 * f32::from(i / 4));
        let crate_shape = ColliderBuilder::cuboid(0.4, 0.4, 0.4).mass(25.0);
        let crate_body = |i: u8| RigidBodyBuilder::dynamic().translation(crate_at(i));
        let crates = (0..12).map(|i| world.insert(crate_body(i), crate_shape.clone()).0).collect();
        let model = skidpad::spec::load("corvette_c5")?.model;
        let pose = |i: usize| Placement { x: -8.0 * (i % 5) as f64, y: LANE_Y_M[i / 5].into(), ..Placement::default() };
        let starts: Vec<_> = (0..20).map(|i| CarStart { model: model.clone(), placement: pose(i) }).collect();
        let cars = RapierCars::new(&mut world, &Scene::flat(), &starts);
        Ok(Self { world, cars, plank, crates, time: 0.0 })
    }

    /// Takes one step. All cars drive at 6 m/s for 8 s, then stop.
    pub fn step(&mut self) {
        let speed_throttle = |vehicle: &Vehicle| (0.2 * (6.0 - vehicle.state().velocity.x)).clamp(0.0, 0.5);
        let car_controls = |vehicle| match self.time {
            ..8.0 => Controls { throttle: speed_throttle(vehicle), ..Controls::default() },
            _ => Controls::parked(),
        };
        let controls: Vec<Controls> = self.cars.vehicles().iter().map(car_controls).collect();
        self.cars.before_step(&mut self.world, &controls);
        self.world.step();
        self.cars.after_step(&mut self.world);
        self.time += self.world.integration_parameters.dt;
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut playground = Playground::new()?;
    for step in 0..=960 {
        let bodies = &playground.world.bodies;
        if step % 96 == 0 {
            let tilt = (bodies[playground.plank].rotation() * Vector::X).z.asin().to_degrees();
            let moved_crates =
                playground.crates.iter().filter(|handle| (bodies[**handle].translation().x - 25.0).abs() > 0.5).count();
            let sleeping_cars = (0..20).filter(|car| bodies[playground.cars.handle(*car)].is_sleeping()).count();
            print!("{:4.1} s: ", playground.time);
            println!("plank at {tilt:>4.1}°, {moved_crates} crates knocked away, {sleeping_cars:>2} of 20 cars asleep");
        }
        playground.step();
    }
    Ok(())
}
