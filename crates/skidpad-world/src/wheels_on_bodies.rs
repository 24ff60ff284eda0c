//! Wheels on other cars and on free bodies: they treat hulls as moving boxes and push them.

use parry3d::shape::Cuboid;
use skidpad_core::{
    CandidateTriangle, Contact, Ground as GroundData, Probe, Reaction, SurfaceTexture, TriangleCollector,
    TriangleVisitor, Vec3,
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

    /// Returns the hull as a box at rest at its current pose, with the grip of the body, without texture and motion.
    /// The radius is half the diagonal of the hull.
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

    /// Returns true if wheels of this chassis, of index `own_index`, pass through `other`, of index `other_index`: if
    /// `other` is suspended or one of the two tows the other.
    fn wheels_pass_through(&self, own_index: u32, other: &Self, other_index: u32) -> bool {
        other.is_suspended || self.towed_by == Some(other_index) || other.towed_by == Some(own_index)
    }

    /// Returns the `contact` of `probe` with the hull as a contact on body `body_number`, without texture. The start
    /// and end velocity are the current velocity of the hull at that point, m/s; the vehicles' solve predicts the
    /// motion within the step.
    fn contact_on_hull(&self, body_number: u64, probe: &Probe, contact: Contact) -> Contact {
        let velocity = self.velocity_at((probe.point_at(contact.distance) - self.position).as_vec3());
        Contact {
            ground: Some(GroundData {
                body: body_number,
                start_velocity: velocity,
                velocity,
                texture: SurfaceTexture::NONE,
            }),
            ..contact
        }
    }

    /// Returns the changes of velocity (m/s) and angular velocity (rad/s) of this body by the wheel impulse `reaction`
    /// at its point, world axes. Nothing is applied.
    fn velocity_change_by(&self, reaction: &Reaction) -> [Vec3; 2] {
        let arm = (reaction.point - self.position).as_vec3();
        [reaction.impulse * self.inverse_mass, self.angular_velocity_change(arm.cross(reaction.impulse))]
    }
}

impl World {
    /// Replaces contacts of wheels by those on hulls of other cars and free bodies that are nearer along the ray.
    /// `probes` is sorted by car. Only pairs of the broad phase that are near enough for the wheels are checked, in
    /// both directions. Skips suspended hulls, the car that tows theirs and the car that theirs tows. If bodies were
    /// moved from outside, clears `is_moved_externally` and updates the broad phase. Sets `has_wheels_on_hulls` to
    /// whether any contact was replaced. Does nothing in a world without collision data.
    #[inline(never)]
    pub(crate) fn probe_hulls(&mut self, probes: &[Probe], contacts: &mut [Option<Contact>]) {
        let Some(collisions) = &mut self.collisions else { return };
        if self.is_moved_externally {
            self.is_moved_externally = false;
            collisions.update_bounds(&self.chassis, self.dt);
        }
        self.has_wheels_on_hulls = false;
        if collisions.near_pairs().is_empty() {
            return;
        }
        for [car, other_car] in
            collisions.near_pairs().iter().flat_map(|[car, other_car]| [[*car, *other_car], [*other_car, *car]])
        {
            let (car_chassis, other_chassis) = (&self.chassis[car as usize], &self.chassis[other_car as usize]);
            // Largest distance of the centres of mass at which a wheel can touch the other hull, m.
            let max_distance = car_chassis.wheel_search_radius() + other_chassis.hull_radius;
            let is_near = (car_chassis.position - other_chassis.position).length_squared()
                <= f64::from(max_distance * max_distance);
            if !is_near || car_chassis.wheels_pass_through(car, other_chassis, other_car) {
                continue;
            }
            // Range of the probes of this car, which are consecutive.
            let first_probe = probes.partition_point(|probe| probe.car < car as usize);
            let probe_count = probes[first_probe..].partition_point(|probe| probe.car == car as usize);
            // Body numbers of hulls follow those of the boxes of the ground.
            let (block, body_number) = (other_chassis.block(), self.ground.blocks.len() as u64 + u64::from(other_car));
            for (probe, nearest) in probes[first_probe..].iter().zip(&mut contacts[first_probe..]).take(probe_count) {
                if let Some(contact) = block.query_contact(probe, nearest.as_ref(), &mut self.candidate_triangles) {
                    *nearest = Some(other_chassis.contact_on_hull(body_number, probe, contact));
                    self.has_wheels_on_hulls = true;
                }
            }
        }
    }

    /// Replaces contacts of probes between steps by nearer ones on hulls of cars and free bodies, except the probe's
    /// own car, hitched and suspended ones, and cars that pass through each other. Updates the broad phase first.
    /// Probes may start anywhere and be in any order; probes of cars that do not exist are skipped. Does nothing if
    /// nothing can collide.
    pub(crate) fn query_hulls(&mut self, probes: &[Probe], contacts: &mut [Option<Contact>]) {
        let car_count = self.car_count();
        let Some(collisions) = self.collisions.as_mut().filter(|collisions| collisions.can_collide()) else { return };
        collisions.update_bounds(&self.chassis, self.dt);
        for (probe, nearest) in probes.iter().zip(contacts) {
            let Some(car_chassis) = self.chassis[..car_count].get(probe.car) else { continue };
            let start = probe.position + probe.offset.as_dvec3();
            // Reach of the rim beyond the ray, m.
            let rim_reach = probe.rim.map_or(0.0, |rim| rim.radius + rim.half_width + rim.lookahead);
            for hull_index in collisions.cars_near(start, probe.length + rim_reach) {
                let (other_chassis, [own_index, other_index]) =
                    (&self.chassis[hull_index], [probe.car, hull_index].map(|index| index as u32));
                if own_index == other_index
                    || collisions.passes_through(own_index, other_index)
                    || car_chassis.wheels_pass_through(own_index, other_chassis, other_index)
                {
                    continue;
                }
                // Body numbers of hulls follow those of the boxes of the ground.
                let body_number = (self.ground.blocks.len() + hull_index) as u64;
                if let Some(contact) =
                    other_chassis.block().query_contact(probe, nearest.as_ref(), &mut self.candidate_triangles)
                {
                    *nearest = Some(other_chassis.contact_on_hull(body_number, probe, contact));
                }
            }
        }
    }

    /// Returns the index of the chassis or free body with the number `body_number`; `None` for ground.
    pub(crate) fn hull_index(&self, body_number: u64) -> Option<usize> {
        let hull_index = usize::try_from(body_number).ok()?.checked_sub(self.ground.blocks.len())?;
        (hull_index < self.chassis.len()).then_some(hull_index)
    }

    /// Returns the index of the free body with the number `body_number`; `None` for a car or ground.
    pub(crate) fn free_body_index(&self, body_number: u64) -> Option<usize> {
        self.hull_index(body_number).filter(|hull_index| *hull_index >= self.car_count())
    }

    /// Applies the impulses of wheels to the hulls they stand on, over the whole step ([`Chassis::add_push`]), in
    /// order. Reactions on ground are skipped. Marks free bodies as loaded by wheels, so that their contacts are solved
    /// by `solve_under_wheels`; contacts of cars are not.
    pub(crate) fn push_hulls(&mut self, reactions: &[Reaction]) {
        for reaction in reactions {
            let Some(hull_index) = self.hull_index(reaction.body) else { continue };
            let is_free_body = hull_index >= self.car_count();
            let chassis = &mut self.chassis[hull_index];
            chassis.add_push(chassis.velocity_change_by(reaction));
            chassis.is_wheel_loaded = is_free_body;
        }
    }

    /// Sets the end velocity of contacts on hulls to the current velocity of these hulls at the contact point on the
    /// ray, m/s, world axes. The start velocity, misses, and contacts on other ground do not change.
    pub(crate) fn update_hull_velocities(&self, probes: &[Probe], contacts: &mut [Option<Contact>]) {
        for (probe, contact) in probes.iter().zip(contacts) {
            let Some(contact) = contact else { continue };
            let Some(ground) = &mut contact.ground else { continue };
            let Some(hull_index) = self.hull_index(ground.body) else { continue };
            let chassis = &self.chassis[hull_index];
            ground.velocity = chassis.velocity_at((probe.point_at(contact.distance) - chassis.position).as_vec3());
        }
    }
}

impl Block {
    /// Returns the contact of `probe` with this block if it is nearer than `nearest`, or within the ray's length if
    /// that is `None`; without ground data. Rims collect the faces as triangles and have no smooth normals; rays use
    /// [`Block::entry_face`]. Returns `None` for a miss. `candidates` is a buffer.
    fn query_contact(
        &self,
        probe: &Probe,
        nearest: Option<&Contact>,
        candidates: &mut Vec<CandidateTriangle>,
    ) -> Option<Contact> {
        // Largest distance that counts, m.
        let max_distance = nearest.map_or(probe.length, |contact| contact.distance);
        let start = probe.position + probe.offset.as_dvec3();
        if probe.rim.is_none() {
            let (distance, normal) = self.entry_face((start - self.centre).as_vec3(), probe.direction, max_distance)?;
            let normal = self.to_world * normal;
            return Some(Contact { distance, normal, grip: self.grip, point: None, ground: None });
        }
        // Collects the faces of the block near the rim.
        let mut collector = TriangleCollector::new(probe, candidates);
        self.visit_faces(start, probe, |face| collector.visit(&face));
        // `None`: the faces of a block are flat.
        let (_, contact) = collector.ground_contact(|_| None)?;
        (contact.distance < max_distance).then_some(contact)
    }
}
