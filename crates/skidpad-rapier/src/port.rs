//! The seam to Rapier: bodies and rays in, forces out.

use rapier3d::prelude::*;
use skidpad_core::{Body, Contact, Probe, Push, WorldPort};

use crate::cars::Seat;
use crate::chassis::lead;
use crate::{Axes, Sets};

pub(crate) struct Port<'a> {
    pub sets: Sets<'a>,
    pub axes: Axes,
    pub seats: &'a mut [Seat],
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

    fn probe(&self, asked: &[Probe], answered: &mut [Option<Contact>]) {
        for (probe, answer) in asked.iter().zip(answered) {
            let start = self.axes.point_to_world(probe.position).as_vec3() + self.axes.to_world(probe.offset);
            let ray = Ray::new(start, self.axes.to_world(probe.direction));
            let hit = self.cast(self.seats[probe.car].handle, &ray, probe.reach);
            *answer = hit.map(|(collider, hit)| Contact {
                distance: hit.time_of_impact,
                normal: self.axes.from_world(hit.normal),
                grip: self.sets.colliders.get(collider).map_or(1.0, |c| c.friction()),
            });
        }
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
}

impl Port<'_> {
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
