//! Cars in a Rapier world: rows in, forces out.

use rapier3d::prelude::*;
use skidpad_core::{
    Body, CarStart, Cars, Contact, Controls, Coupling, DVec3, Model, Probe, Push, Scene, State, StepReport, Vehicle,
    WorldPort,
};

/// Vehicles whose chassis are rigid bodies of a Rapier world with z up.
///
/// Around each of the user's steps call [`RapierCars::before_step`] and [`RapierCars::after_step`] with the same `dt`.
/// The rows are handed over as forces (impulse / dt): Rapier integrates gravity over its solver's substeps but applies
/// impulses at once, and a car parked by impulses creeps uphill.
#[derive(Clone, Debug)]
pub struct RapierCars {
    cars: Cars,
    handles: Vec<RigidBodyHandle>,
    /// Forces and torques the user had on each body, restored after the step.
    users: Vec<(Vector, Vector)>,
    /// Positions of the bodies in 64 bits. Rapier adds steps of millimetres to coordinates of many metres in 32 bits,
    /// which bends a path by 5 mm in 60 m at 1 kHz; here only the rounding of each pose is left.
    exact: Vec<DVec3>,
}

impl RapierCars {
    /// Puts `cars` into `world` on the ground of `scene`: one body each, with the model's mass and a box collider.
    ///
    /// The scene says where the cars start; its plane and boxes are the world's business.
    pub fn new(world: &mut PhysicsWorld, scene: &Scene, cars: &[CarStart]) -> Self {
        let mut handles = Vec::with_capacity(cars.len());
        let vehicles = cars
            .iter()
            .map(|car| {
                let state = State::at_rest(&car.model, scene, &car.placement);
                handles.push(insert_chassis(world, &car.model, &state));
                Vehicle::new(car.model.clone(), state)
            })
            .collect();
        let users = vec![(Vector::ZERO, Vector::ZERO); cars.len()];
        let cars = Cars::new(vehicles);
        let exact = cars.vehicles().iter().map(|v| v.state().position).collect();
        Self { cars, handles, users, exact }
    }

    /// The vehicles, in order.
    pub fn vehicles(&self) -> &[Vehicle] {
        self.cars.vehicles()
    }

    /// The chassis of vehicle `car`.
    pub fn handle(&self, car: usize) -> RigidBodyHandle {
        self.handles[car]
    }

    /// Puts vehicle `car` and its body into `state`.
    pub fn set_state(&mut self, world: &mut PhysicsWorld, car: usize, state: &State) {
        self.cars.vehicles_mut()[car].set_state(state);
        self.exact[car] = state.position;
        if let Some(body) = world.bodies.get_mut(self.handles[car]) {
            move_to(body, state);
        }
    }

    /// Probes the world, solves the rows, and puts the forces of the coming step on the bodies.
    pub fn before_step(&mut self, world: &mut PhysicsWorld, controls: &[Controls]) -> StepReport {
        let dt = world.integration_parameters.dt;
        let mut port = Port { world, handles: &self.handles, users: &mut self.users, exact: &self.exact };
        self.cars.push(&mut port, controls, Coupling::OneSweep, dt)
    }

    /// Restores the users' forces and writes the realised motion back.
    pub fn after_step(&mut self, world: &mut PhysicsWorld) -> StepReport {
        let dt = world.integration_parameters.dt;
        for (handle, (force, torque)) in self.handles.iter().zip(&self.users) {
            if let Some(body) = world.bodies.get_mut(*handle) {
                body.reset_forces(false);
                body.reset_torques(false);
                body.add_force(*force, false);
                body.add_torque(*torque, false);
            }
        }
        for (i, vehicle) in self.cars.vehicles().iter().enumerate() {
            if let Some(body) = world.bodies.get_mut(self.handles[i]) {
                let lead = lead(&world.integration_parameters);
                self.exact[i] = follow(body, vehicle.state(), self.exact[i], dt, lead);
            }
        }
        let port = Port { world, handles: &self.handles, users: &mut self.users, exact: &self.exact };
        self.cars.write_back(&port, dt)
    }
}

/// Time by which Rapier's poses run behind its velocities: forces act evenly over n substeps, each moving the pose with
/// its own velocity, so θ = (n + 1) / 2n.
fn lead(parameters: &IntegrationParameters) -> f32 {
    let substeps = parameters.num_solver_iterations.max(1) as f32;
    parameters.dt * (substeps - 1.0) / (2.0 * substeps)
}

/// Where `body` is after a step that began in `before` at `from`: the sum of its substeps in 64 bits, if that is where
/// Rapier put it up to rounding, and Rapier's own displacement if anything else (a contact, a joint) moved it.
fn follow(body: &mut RigidBody, before: &State, from: DVec3, dt: f32, lead: f32) -> DVec3 {
    let moved = (body.translation() - from.as_vec3()).as_dvec3();
    let (old, new) = (before.velocity.as_dvec3(), body.linvel().as_dvec3());
    let expected = old * f64::from(lead) + new * f64::from(dt - lead);
    // Four substeps, each rounded to half a unit in the last place of the coordinates, and the displacement's own.
    let rounding = 4.0 * f64::from(f32::EPSILON) * from.abs().max_element().max(1.0);
    if (moved - expected).abs().max_element() > rounding {
        return body.translation().as_dvec3();
    }
    let exact = from + expected;
    body.set_translation(exact.as_vec3(), false);
    exact
}

/// A body with exactly the model's mass properties; its collider weighs nothing.
pub(crate) fn insert_chassis(world: &mut PhysicsWorld, model: &Model, state: &State) -> RigidBodyHandle {
    let inertia = rapier3d::na::Matrix3::from_column_slice(&model.inertia().to_cols_array());
    let mass = MassProperties::with_inertia_matrix(Vector::ZERO, model.mass(), inertia.into());
    let hull = model.parts().hull;
    let half = hull.half_extents;
    let body = RigidBodyBuilder::dynamic().additional_mass_properties(mass).can_sleep(false);
    let collider = ColliderBuilder::cuboid(half.x, half.y, half.z).translation(hull.centre).density(0.0);
    let (handle, _) = world.insert(body, collider);
    if let Some(body) = world.bodies.get_mut(handle) {
        body.recompute_mass_properties_from_colliders(&world.colliders);
        move_to(body, state);
    }
    handle
}

pub(crate) fn move_to(body: &mut RigidBody, state: &State) {
    body.set_translation(state.position.as_vec3(), true);
    body.set_rotation(state.rotation, true);
    body.set_linvel(state.velocity, true);
    body.set_angvel(state.angular, true);
}

struct Port<'a> {
    world: &'a mut PhysicsWorld,
    handles: &'a [RigidBodyHandle],
    users: &'a mut [(Vector, Vector)],
    exact: &'a [DVec3],
}

impl WorldPort for Port<'_> {
    fn bodies(&self, dt: f32, bodies: &mut [Body]) {
        let lead = lead(&self.world.integration_parameters);
        for ((handle, exact), to) in self.handles.iter().zip(self.exact).zip(bodies) {
            let Some(body) = self.world.bodies.get(*handle) else { continue };
            let pull = self.world.gravity * body.gravity_scale() + body.user_force() / body.mass();
            let linear = 1.0 / (1.0 + dt * body.linear_damping());
            let angular = 1.0 / (1.0 + dt * body.angular_damping());
            *to = Body {
                // Elsewhere only if the user moved it.
                position: if body.translation() == exact.as_vec3() { *exact } else { body.translation().as_dvec3() },
                rotation: *body.rotation(),
                velocity: body.linvel(),
                angular: body.angvel(),
                free_velocity: (body.linvel() + pull * dt) * linear,
                free_angular: body.angvel_with_gyroscopic_forces(dt) * angular,
                lead,
            };
        }
    }

    fn probe(&self, asked: &[Probe], answered: &mut [Option<Contact>]) {
        for (probe, answer) in asked.iter().zip(answered) {
            let own = self.handles[probe.car];
            let filter = QueryFilter::default().exclude_rigid_body(own).exclude_sensors();
            let queries = self.world.query_pipeline_with_filter(filter);
            let ray = Ray::new(probe.position.as_vec3() + probe.offset, probe.direction);
            let hit = queries.cast_ray_and_get_normal(&ray, probe.reach, false);
            *answer = hit.map(|(collider, hit)| Contact {
                distance: hit.time_of_impact,
                normal: hit.normal,
                grip: self.world.colliders.get(collider).map_or(1.0, |c| c.friction()),
            });
        }
    }

    fn push(&mut self, dt: f32, pushes: &[Push]) {
        for ((handle, push), user) in self.handles.iter().zip(pushes).zip(self.users.iter_mut()) {
            if let Some(body) = self.world.bodies.get_mut(*handle) {
                *user = (body.user_force(), body.user_torque());
                body.add_force(push.impulse / dt, true);
                body.add_torque(push.angular_impulse / dt, true);
            }
        }
    }
}
