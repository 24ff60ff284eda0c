//! The seam to Rapier: bodies and rays in, forces out.

use rapier3d::prelude::*;
use skidpad_core::{Body, Contact, Ground, Probe, Push, Reaction, WorldPort};

use crate::cars::Seat;
use crate::chassis::lead;
use crate::ground::{self, Loaded};
use crate::{Axes, Sets};

pub(crate) struct Port<'a> {
    pub sets: Sets<'a>,
    pub axes: Axes,
    pub seats: &'a mut [Seat],
    /// Bodies under the wheels of this step, and of the one before.
    pub loaded: &'a mut Vec<Loaded>,
    pub before: &'a [Loaded],
    /// What wheels stand on, beside what their chassis' groups and sensors say.
    pub ground: QueryFilter<'a>,
}

impl WorldPort for Port<'_> {
    fn bodies(&self, dt: f32, bodies: &mut [Body]) {
        let lead = lead(self.sets.parameters);
        for (seat, to) in self.seats.iter().zip(bodies) {
            let Some(body) = self.sets.bodies.get(seat.handle) else { continue };
            let pull = self.sets.gravity * body.gravity_scale() + body.user_force() / body.mass();
            let linear = 1.0 / (1.0 + dt * body.linear_damping());
            let angular = 1.0 / (1.0 + dt * body.angular_damping());
            *to = Body {
                position: self.axes.point_from_world(seat.track.position(body)),
                rotation: self.axes.rotation_from_world(*body.rotation()),
                velocity: self.axes.from_world(body.linvel()),
                angular: self.axes.from_world(body.angvel()),
                free_velocity: self.axes.from_world((body.linvel() + pull * dt) * linear),
                free_angular: self.axes.from_world(body.angvel_with_gyroscopic_forces(dt) * angular),
                lead,
                asleep: body.is_sleeping(),
            };
        }
    }

    fn probe(&mut self, asked: &[Probe], answered: &mut [Option<Contact>]) {
        let mut asking = None;
        for (probe, answer) in asked.iter().zip(&mut *answered) {
            if asking.replace(probe.car) != Some(probe.car) {
                self.seats[probe.car].stands.clear();
            }
            *answer = self.meet(probe);
        }
        share_give(answered);
    }

    fn push(&mut self, dt: f32, pushes: &[Push]) {
        for (seat, push) in self.seats.iter_mut().zip(pushes) {
            let Some(body) = self.sets.bodies.get(seat.handle) else { continue };
            seat.rest.asleep = body.is_sleeping();
            if seat.rest.asleep {
                continue;
            }
            seat.user = (body.user_force(), body.user_torque());
            seat.rest.held = *push;
            if let Some(body) = self.sets.bodies.get_mut(seat.handle) {
                body.add_force(self.axes.to_world(push.impulse / dt), false);
                body.add_torque(self.axes.to_world(push.angular_impulse / dt), false);
            }
        }
    }

    fn react(&mut self, dt: f32, reactions: &[Reaction]) {
        for reaction in reactions {
            let handle = ground::handle(reaction.body);
            let Some(body) = self.sets.bodies.get_mut(handle).filter(|body| body.is_dynamic()) else { continue };
            if !self.loaded.iter().rev().any(|known| known.handle == handle) {
                self.loaded.push(Loaded::new(handle, body));
            }
            let point = self.axes.point_to_world(reaction.point).as_vec3();
            body.add_force_at_point(self.axes.to_world(reaction.impulse / dt), point, true);
        }
    }

    fn follow_ground(&self, asked: &[Probe], answered: &mut [Option<Contact>]) {
        for (probe, contact) in asked.iter().zip(answered) {
            let Some(contact) = contact else { continue };
            let Some(ground) = &mut contact.ground else { continue };
            let Some(body) = self.sets.bodies.get(ground::handle(ground.body)) else { continue };
            let point = self.axes.point_to_world(probe.at(contact.distance)).as_vec3();
            ground.velocity = self.axes.from_world(body.velocity_at_point(point));
        }
    }
}

impl Port<'_> {
    fn meet(&mut self, probe: &Probe) -> Option<Contact> {
        let start = self.axes.point_to_world(probe.position).as_vec3() + self.axes.to_world(probe.offset);
        let ray = Ray::new(start, self.axes.to_world(probe.direction));
        let (handle, hit) = self.cast(self.seats[probe.car].handle, &ray, probe.reach)?;
        let collider = self.sets.colliders.get(handle)?;
        let seat = &mut self.seats[probe.car];
        if seat.stands.last().is_none_or(|(last, _)| *last != handle) {
            seat.stands.push((handle, *collider.position()));
        }
        let point = ray.point_at(hit.time_of_impact);
        let body = collider.parent().and_then(|parent| Some((parent, self.sets.bodies.get(parent)?)));
        let ground = body.and_then(|body| ground::ground(&self.sets, self.before, body, handle, point, hit.normal));
        Some(Contact {
            distance: hit.time_of_impact,
            normal: self.axes.from_world(hit.normal),
            grip: collider.friction(),
            ground: ground.map(|ground| Ground { velocity: self.axes.from_world(ground.velocity), ..ground }),
        })
    }

    /// The first thing a ray of `own`'s meets, which is neither a sensor nor part of `own`.
    fn cast(&self, own: RigidBodyHandle, ray: &Ray, reach: f32) -> Option<(ColliderHandle, RayIntersection)> {
        let asked = self.ground;
        let is_ground = |handle: ColliderHandle, collider: &Collider| {
            collider.parent() != Some(own) && asked.predicate.is_none_or(|passes| passes(handle, collider))
        };
        let mut filter = QueryFilter { groups: asked.groups.or_else(|| self.groups(own)), ..asked }.exclude_sensors();
        // The filter has room for one body.
        if asked.exclude_rigid_body.is_none() {
            filter.exclude_rigid_body = Some(own);
        } else {
            filter.predicate = Some(&is_ground);
        }
        let Sets { broad_phase, narrow_phase, bodies, colliders, .. } = &self.sets;
        let queries = broad_phase.as_query_pipeline(narrow_phase.query_dispatcher(), bodies, colliders, filter);
        queries.cast_ray_and_get_normal(ray, reach, false)
    }

    fn groups(&self, own: RigidBodyHandle) -> Option<InteractionGroups> {
        let first = self.sets.bodies.get(own)?.colliders().first()?;
        self.sets.colliders.get(*first).map(Collider::collision_groups)
    }
}

/// Multiplies the give of each body by the number of wheels on it: no wheel knows what the others do.
fn share_give(contacts: &mut [Option<Contact>]) {
    let body =
        |contact: &Option<Contact>| contact.and_then(|c| c.ground).filter(|g| g.give != [0.0; 2]).map(|g| g.body);
    for i in 0..contacts.len() {
        let Some(number) = body(&contacts[i]) else { continue };
        let wheels = contacts.iter().filter(|other| body(other) == Some(number)).count() as f32;
        if let Some(ground) = contacts[i].as_mut().and_then(|contact| contact.ground.as_mut()) {
            ground.give = ground.give.map(|give| give * wheels);
        }
    }
}
