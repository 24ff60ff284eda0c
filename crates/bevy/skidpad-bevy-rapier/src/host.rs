//! Implementation of [`CarHost`] for the default Rapier context.

use std::sync::Arc;

use bevy_ecs::prelude::*;
use bevy_rapier3d::plugin::context::systemparams::RapierContextMut;
use skidpad_bevy::CarHost;
use skidpad_core::state::Placement;
use skidpad_core::{CarId, CarStart, Contact, Model, Probe, Scene, State, Vec3};
use skidpad_rapier::{RapierCars, RapierWorldMut, SurfaceProperties};

/// Cars and sets of the default Rapier context, into which cars are inserted. `gravity` is in m/s², in Bevy's axes.
pub(crate) struct Host<'a, 'c> {
    pub cars: &'a mut RapierCars,
    pub context: &'a mut RapierContextMut<'c>,
    pub gravity: Vec3,
}

/// Borrows the sets of a Rapier context for a step of the cars. `gravity` is in m/s², in Bevy's axes.
pub(crate) fn world_mut<'a>(context: &'a mut RapierContextMut<'_>, gravity: Vec3) -> RapierWorldMut<'a> {
    let (simulation, joints) = (&mut *context.simulation, &mut *context.joints);
    let rigid = &mut *context.rigidbody_set;
    RapierWorldMut {
        gravity,
        parameters: &simulation.integration_parameters,
        bodies: &mut rigid.bodies,
        colliders: &mut context.colliders.colliders,
        islands: &mut simulation.islands,
        joints: &mut joints.impulse_joints,
        multibody_joints: &mut joints.multibody_joints,
        soft_bodies: &mut rigid.soft_bodies,
        broad_phase: &simulation.broad_phase,
        narrow_phase: &simulation.narrow_phase,
    }
}

impl CarHost for Host<'_, '_> {
    /// Inserts the car at the default placement. The caller then sets its state, so `_state` is not used here.
    fn insert(&mut self, _car: Entity, model: &Arc<Model>, _state: &State) -> CarId {
        let start = CarStart { model: model.clone(), placement: Placement::default() };
        // The scene only serves to place the car; no ground is inserted.
        self.cars.insert(world_mut(self.context, self.gravity), &Scene::flat(), &start)
    }

    fn model(&self, number: usize) -> &Arc<Model> {
        self.cars.car(number).model
    }

    /// Sets the state of the car, and writes the entity of the car into the user data of its body and colliders. Writes
    /// nothing if the state is not accepted.
    fn set_state(&mut self, number: usize, car: Entity, state: &State) {
        if self.cars.set_state(world_mut(self.context, self.gravity), number, state).is_err() {
            return;
        }
        // User data that identifies the car in queries and collision events.
        let user_data = u128::from(car.to_bits());
        let Some(body) = self.context.rigidbody_set.bodies.get_mut(self.cars.handle(number)) else { return };
        body.user_data = user_data;
        for collider in body.colliders() {
            if let Some(collider) = self.context.colliders.colliders.get_mut(*collider) {
                collider.user_data = user_data;
            }
        }
    }

    fn remove(&mut self, car: CarId) {
        // A car that was removed before changes nothing.
        let _ = self.cars.remove(world_mut(self.context, self.gravity), car);
    }

    /// Returns the nearest contact of one probe with default surfaces (grip 1, even); `None` if it finds no ground.
    fn probe_ground(&mut self, probe: &Probe) -> Option<Contact> {
        let mut contacts = [None];
        self.cars.probe(world_mut(self.context, self.gravity), &[*probe], &mut contacts, SurfaceProperties::default());
        contacts[0]
    }
}
