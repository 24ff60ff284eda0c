//! Wheels on other cars and on free bodies: they treat hulls as moving boxes and push them.

use parry3d::shape::Cuboid;
use skidpad_core::{
    CandidateTriangle, Contact, Ground as StoodOn, Probe, Reaction, SurfaceTexture, TriangleCollector, TriangleVisitor,
    Vec3,
};

use crate::World;
use crate::chassis::Chassis;
use crate::ground::Block;

/// Distance below the lowest place of a wheel at rest within which other cars are detected, m.
const WHEEL_SEARCH_DEPTH_M: f32 = 1.0;

impl Chassis {
    /// Returns the distance from the centre of mass within which wheels detect other cars, m.
    pub(crate) fn wheel_search_radius(&self) -> f32 {
        self.wheel_reach + WHEEL_SEARCH_DEPTH_M
    }

    /// Returns the hull as a box at rest at its current pose, with the grip of the body.
    pub(crate) fn block(&self) -> Block {
        Block {
            centre: self.position + (self.axes * self.hull.centre).as_dvec3(),
            to_world: self.rotation,
            from_world: self.rotation.inverse(),
            shape: Cuboid::new(self.hull.half_extents),
            radius: self.hull.half_extents.length(),
            grip: self.grip,
            texture: SurfaceTexture::NONE,
            motion: None,
        }
    }

    /// Returns true if wheels of this chassis, of index `own`, pass through `under`, of index `other`: if `under` is suspended or
    /// one of the two tows the other.
    fn ignores(&self, own: u32, under: &Self, other: u32) -> bool {
        under.is_suspended || self.towed_by == Some(other) || under.towed_by == Some(own)
    }

    /// Returns the contact `met` of `probe` with the hull as a contact on body `number`, without texture. Its start and end
    /// velocity are the current velocity of the hull at that point, m/s; the vehicles' solve predicts the motion within the
    /// step.
    fn contact_on_hull(&self, number: u64, probe: &Probe, met: Contact) -> Contact {
        let velocity = self.velocity_at((probe.point_at(met.distance) - self.position).as_vec3());
        Contact {
            ground: Some(StoodOn { body: number, start_velocity: velocity, velocity, texture: SurfaceTexture::NONE }),
            ..met
        }
    }

    /// Returns the changes of velocity (m/s) and angular velocity (rad/s) of this body by the wheel impulse `reaction` at its
    /// point, world axes. Nothing is applied.
    fn velocity_change_by(&self, reaction: &Reaction) -> [Vec3; 2] {
        let arm = (reaction.point - self.position).as_vec3();
        [reaction.impulse * self.inverse_mass, self.angular_velocity_change(arm.cross(reaction.impulse))]
    }
}

impl World {
    /// Replaces contacts of wheels by those on hulls of other cars and free bodies that are nearer along the ray. `asked` is
    /// sorted by car. Skips suspended hulls, the car that tows theirs and the car that theirs tows. Updates the broad phase if
    /// bodies were moved from outside. Sets `has_wheels_on_hulls` to whether any wheel stands on a hull.
    #[inline(never)]
    pub(crate) fn probe_hulls(&mut self, asked: &[Probe], answered: &mut [Option<Contact>]) {
        let Some(collisions) = &mut self.collisions else { return };
        if self.is_moved_externally {
            self.is_moved_externally = false;
            collisions.update_bounds(&self.chassis, self.dt);
        }
        self.has_wheels_on_hulls = false;
        if collisions.near_pairs().is_empty() {
            return;
        }
        for [one, other] in collisions.near_pairs().iter().flat_map(|[one, other]| [[*one, *other], [*other, *one]]) {
            let (own, under) = (&self.chassis[one as usize], &self.chassis[other as usize]);
            let reach = own.wheel_search_radius() + under.hull_radius;
            let is_near = (own.position - under.position).length_squared() <= f64::from(reach * reach);
            if !is_near || own.ignores(one, under, other) {
                continue;
            }
            // Probes of this car are consecutive.
            let first = asked.partition_point(|probe| probe.car < one as usize);
            let count = asked[first..].partition_point(|probe| probe.car == one as usize);
            // Body numbers of hulls follow those of the boxes of the ground.
            let (block, number) = (under.block(), self.ground.blocks.len() as u64 + u64::from(other));
            for (probe, answer) in asked[first..].iter().zip(&mut answered[first..]).take(count) {
                if let Some(met) = block.query_contact(probe, answer.as_ref(), &mut self.near) {
                    *answer = Some(under.contact_on_hull(number, probe, met));
                    self.has_wheels_on_hulls = true;
                }
            }
        }
    }

    /// Replaces contacts of probes between steps by nearer ones on hulls of cars and free bodies, except the probe's own car,
    /// hitched and suspended ones, and cars that pass through each other. Updates the broad phase. Probes may start anywhere
    /// and come in any order.
    pub(crate) fn query_hulls(&mut self, asked: &[Probe], answered: &mut [Option<Contact>]) {
        let cars = self.cars();
        let Some(collisions) = self.collisions.as_mut().filter(|collisions| collisions.can_collide()) else { return };
        collisions.update_bounds(&self.chassis, self.dt);
        for (probe, answer) in asked.iter().zip(answered) {
            let Some(own) = self.chassis[..cars].get(probe.car) else { continue };
            let start = probe.position + probe.offset.as_dvec3();
            // Reach of the rim beyond the ray, m.
            let rim = probe.rim.map_or(0.0, |rim| rim.radius + rim.half_width + rim.lookahead);
            for other in collisions.cars_near(start, probe.length + rim) {
                let (under, [asks, met]) = (&self.chassis[other], [probe.car, other].map(|number| number as u32));
                if asks == met || collisions.passes_through(asks, met) || own.ignores(asks, under, met) {
                    continue;
                }
                let number = (self.ground.blocks.len() + other) as u64;
                if let Some(met) = under.block().query_contact(probe, answer.as_ref(), &mut self.near) {
                    *answer = Some(under.contact_on_hull(number, probe, met));
                }
            }
        }
    }

    /// Returns the index of the chassis or free body with the body number `number`; `None` for ground.
    pub(crate) fn hull_index(&self, number: u64) -> Option<usize> {
        let hull = usize::try_from(number).ok()?.checked_sub(self.ground.blocks.len())?;
        (hull < self.chassis.len()).then_some(hull)
    }

    /// Returns the index of the free body with the body number `number`; `None` for a car or ground.
    pub(crate) fn free_body_index(&self, number: u64) -> Option<usize> {
        self.hull_index(number).filter(|hull| *hull >= self.cars())
    }

    /// Applies the impulses of wheels to the hulls they stand on, over the whole step. Marks free bodies as loaded by wheels.
    /// Reactions on ground are skipped.
    pub(crate) fn push_hulls(&mut self, reactions: &[Reaction]) {
        for reaction in reactions {
            let Some(hull) = self.hull_index(reaction.body) else { continue };
            let is_free = hull >= self.cars();
            let chassis = &mut self.chassis[hull];
            chassis.add_push(chassis.velocity_change_by(reaction));
            chassis.is_wheel_loaded = is_free;
        }
    }

    /// Sets the end velocity of contacts on hulls to the current velocity of these hulls at the contact point, m/s. The start
    /// velocity and contacts on other ground do not change.
    pub(crate) fn update_hull_velocities(&self, asked: &[Probe], answered: &mut [Option<Contact>]) {
        for (probe, contact) in asked.iter().zip(answered) {
            let Some(contact) = contact else { continue };
            let Some(ground) = &mut contact.ground else { continue };
            let Some(hull) = self.hull_index(ground.body) else { continue };
            let chassis = &self.chassis[hull];
            ground.velocity = chassis.velocity_at((probe.point_at(contact.distance) - chassis.position).as_vec3());
        }
    }
}

impl Block {
    /// Returns the contact of `probe` with this block if it is nearer than `under`, or within the ray's length if that is
    /// `None`; without ground data. Rims collect the faces as triangles, rays use [`Block::entry_face`]. `near` is a buffer.
    fn query_contact(
        &self,
        probe: &Probe,
        under: Option<&Contact>,
        near: &mut Vec<CandidateTriangle>,
    ) -> Option<Contact> {
        // Largest distance that counts, m.
        let most = under.map_or(probe.length, |contact| contact.distance);
        let start = probe.position + probe.offset.as_dvec3();
        if probe.rim.is_none() {
            let (distance, normal) = self.entry_face((start - self.centre).as_vec3(), probe.direction, most)?;
            let normal = self.to_world * normal;
            return Some(Contact { distance, normal, grip: self.grip, point: None, ground: None });
        }
        // Collects the faces of the block near the rim.
        let mut feeler = TriangleCollector::new(probe, near);
        self.visit_faces(start, probe, |side| feeler.visit(&side));
        let (_, met) = feeler.ground_contact(|_| None)?;
        (met.distance < most).then_some(met)
    }
}
