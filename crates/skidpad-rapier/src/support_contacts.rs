//! Contact points that support free bodies under wheels, and the application of their impulses to Rapier's bodies.

use rapier3d::parry::query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher};
use rapier3d::prelude::*;
use skidpad_core::contact_solver::{SolverBody, response_matrix};
use skidpad_core::{HullPoint, Mat3, PredictedMotion, Reaction, Vec3};

use crate::ground;
use crate::port::Port;
use crate::supported_body::{RapierSolverBody, SupportedBody};

/// Gap at the end of the step above which a point is ignored, m. Forces within the step can change the gap by about this much.
const MAX_SUPPORT_GAP_M: f32 = 0.03;

impl Port<'_> {
    /// Predicts the body `handle` at the end of the step of `dt` s under the sums of wheel impulses (N s) and angular impulses
    /// about its centre of mass (N m s). Returns its velocity and angular velocity, and their change by a unit of each impulse
    /// component, in the axes of the cars. Solves the contacts that support the body. Returns `None` if nothing supports it, or
    /// if joints or locked axes hold it. The Rapier body does not change.
    ///
    /// Implements [`skidpad_core::WorldPort::predict_body`]. Other bodies that support this one keep their current motion.
    pub(crate) fn predict_body(
        &mut self,
        handle: RigidBodyHandle,
        pushed: [Vec3; 2],
        dt: f32,
    ) -> Option<PredictedMotion> {
        let axes = self.axes;
        let borne = self.supported_body(handle, dt)?;
        let moving = borne.motion_after_push(pushed.map(|part| axes.to_world(part)), dt);
        let columns = response_matrix(&moving, &borne.points, &borne.impulses);
        // The response to a push along an axis of the cars is the sum of the responses to its components along the world axes.
        // Response to a unit along `axis` (axes of the cars) from three columns, the first of them at `first`.
        let of = |first: usize, axis: Vec3| {
            let along = axes.to_world(axis).to_array();
            [0, 1].map(|part| axes.from_world((0..3).map(|k| columns[first + k][part] * along[k]).sum::<Vec3>()))
        };
        let [x, y, z] = Vec3::AXES;
        let answer = [of(0, x), of(0, y), of(0, z), of(3, x), of(3, y), of(3, z)];
        Some(PredictedMotion {
            end_twist: [axes.from_world(moving.velocity), axes.from_world(moving.angular)],
            response: answer,
        })
    }

    /// Applies the sum of wheel and contact impulses to the supported bodies as forces over the coming `dt` s, and the opposite
    /// contact impulses to the dynamic bodies below. `reactions` are the impulses of the wheels. The contacts are solved once
    /// more with the final wheel impulses. Forces are scaled up by the damping that Rapier will apply.
    pub(crate) fn apply_supported_reactions(&mut self, dt: f32, reactions: &[Reaction]) {
        let mut all = std::mem::take(self.supported);
        for borne in all.iter_mut().filter(|borne| !borne.points.is_empty()) {
            let Some(centre) = self.sets.bodies.get(borne.handle).map(RigidBody::center_of_mass) else { continue };
            self.store_user_forces(borne.handle, dt);
            let own = reactions.iter().filter(|reaction| ground::body_handle(reaction.body) == borne.handle);
            let pushed = own.fold([Vec3::ZERO; 2], |[impulse, angular], reaction| {
                let push = self.axes.to_world(reaction.impulse);
                let arm = self.axes.point_to_world(reaction.point).as_vec3() - centre;
                [impulse + push, angular + arm.cross(push)]
            });
            let moving = borne.motion_after_push(pushed, dt);
            let mass = 1.0 / borne.free_motion.inverse_mass;
            // Impulse (N s) and angular impulse (N m s) that lead to the solved motion.
            let gained = (moving.velocity - borne.free_motion.velocity) * (mass / borne.damping_factors[0]);
            let turned = borne.free_motion.inverse_inertia.inverse() * (moving.angular - borne.free_motion.angular)
                / borne.damping_factors[1];
            if let Some(body) = self.sets.bodies.get_mut(borne.handle) {
                body.add_force(gained / dt, true);
                body.add_torque(turned / dt, true);
            }
            for ((point, given), on) in borne.points.iter().zip(&borne.impulses).zip(&borne.supporting_bodies) {
                if let Some(on) = on
                    && given.normal_impulse > 0.0
                {
                    let push = point.normal * given.normal_impulse + given.friction_impulse;
                    self.push_body(*on, centre + point.arm, -push, dt);
                }
            }
        }
        *self.supported = all;
    }

    /// Returns true if the contact points of the body are solved together with the wheels on it.
    pub(crate) fn is_supported(&self, handle: RigidBodyHandle) -> bool {
        self.supported.iter().any(|borne| borne.handle == handle && !borne.points.is_empty())
    }

    /// Applies an impulse (N s) at `point` (m, world axes) to a dynamic body under wheels, or under such a body, as a force
    /// over the coming `dt` s, and wakes it. Stores the user's forces first. Other bodies are not pushed.
    pub(crate) fn push_body(&mut self, handle: RigidBodyHandle, point: Vec3, impulse: Vec3, dt: f32) {
        self.store_user_forces(handle, dt);
        if let Some(body) = self.sets.bodies.get_mut(handle).filter(|body| body.is_dynamic()) {
            body.add_force_at_point(impulse / dt, point, true);
        }
    }

    /// Returns the body with its contact points, which are found on the first call in a step and then stored. Returns `None` if
    /// nothing supports it, or if joints or locked axes hold it, which only Rapier's solver can treat.
    fn supported_body(&mut self, handle: RigidBodyHandle, dt: f32) -> Option<&mut SupportedBody> {
        let known = self.supported.iter().position(|borne| borne.handle == handle);
        let at = match known {
            Some(at) => at,
            None => {
                let borne = self.find_supported_body(handle, dt)?;
                self.supported.push(borne);
                self.supported.len() - 1
            }
        };
        Some(&mut self.supported[at]).filter(|borne| !borne.points.is_empty())
    }

    /// Finds the contact points of a dynamic body without joints and locked axes; `None` for any other body or one of infinite
    /// mass. Also computes its motion after `dt` s under gravity, the user's force and damping, without contacts and wheels.
    /// The list of points is empty if nothing is near.
    fn find_supported_body(&self, handle: RigidBodyHandle, dt: f32) -> Option<SupportedBody> {
        let body = self.sets.bodies.get(handle).filter(|body| body.is_dynamic())?;
        let is_free = body.locked_axes().is_empty() && self.sets.joints.attached_joints(handle).next().is_none();
        let mass = body.mass_properties();
        let inverse_mass = mass.effective_inv_mass.x;
        if !is_free || inverse_mass <= 0.0 {
            return None;
        }
        // Rapier divides a velocity by 1 + dt c in a step.
        let damped = [body.linear_damping(), body.angular_damping()].map(|damping| 1.0 / (1.0 + dt * damping));
        // Acceleration without wheels and contacts, m/s².
        let pull = self.sets.gravity * body.gravity_scale() + body.user_force() * inverse_mass;
        let turning = Vec3::AXES.map(|axis| mass.effective_world_inv_inertia * axis);
        // Motion at the end of the step without wheels and contacts.
        let free = RapierSolverBody {
            inverse_mass,
            inverse_inertia: Mat3::from_cols(turning[0], turning[1], turning[2]),
            velocity: (body.linvel() + pull * dt) * damped[0],
            angular: body.angvel_with_gyroscopic_forces(dt) * damped[1],
        };
        let mut borne = SupportedBody {
            handle,
            points: Vec::new(),
            supporting_bodies: Vec::new(),
            impulses: Vec::new(),
            free_motion: free,
            damping_factors: damped,
        };
        for own in body.colliders() {
            if let Some(own) = self.sets.colliders.get(*own).filter(|own| own.is_enabled() && !own.is_sensor()) {
                self.find_support_points(&mut borne, own, dt);
            }
        }
        Some(borne)
    }

    /// Adds the points at which `own`, a collider of the body, touches nearby colliders, or comes closer than
    /// [`MAX_SUPPORT_GAP_M`] within `dt` s. Friction follows the combine rules of both colliders. Excludes sensors, colliders
    /// of cars and those that the collision or solver groups exclude.
    fn find_support_points(&self, borne: &mut SupportedBody, own: &Collider, dt: f32) {
        let (velocity, angular) = (borne.free_motion.velocity, borne.free_motion.angular);
        let place = self.pose_of(own);
        let bounds = own.shape().compute_aabb(&place);
        // Search distance: accepted gap plus the farthest travel of any point in the step, m.
        let ahead = MAX_SUPPORT_GAP_M + dt * (velocity.length() + angular.length() * bounds.half_extents().length());
        let parent = own.parent();
        let touches = |_: ColliderHandle, other: &Collider| {
            other.parent().is_none_or(|body| Some(body) != parent && self.car_of(body).is_none())
                && other.solver_groups().test(own.solver_groups())
        };
        let filter = QueryFilter { groups: Some(own.collision_groups()), ..QueryFilter::default() };
        let filter = filter.exclude_sensors().predicate(&touches);
        let mut near = Vec::new();
        self.find_near(filter, bounds.loosened(ahead), &mut near);
        // Sorted, because the world stores them in no stable order.
        near.sort_unstable_by_key(|handle| handle.into_raw_parts());
        let centre = parent.and_then(|body| self.sets.bodies.get(body)).map_or(Vec3::ZERO, RigidBody::center_of_mass);
        let mut manifolds: Vec<ContactManifold<(), ()>> = Vec::new();
        for other in near.iter().filter_map(|near| self.sets.colliders.get(*near)) {
            manifolds.clear();
            // Pose of the other collider relative to this one.
            let between = place.inv_mul(&self.pose_of(other));
            let (shape, of_other) = (own.shape(), other.shape());
            let found =
                DefaultQueryDispatcher.contact_manifolds(&between, shape, of_other, ahead, &mut manifolds, &mut None);
            if found.is_err() {
                continue;
            }
            let on = other.parent();
            let carrier = on.and_then(|on| self.sets.bodies.get(on));
            let friction = CoefficientCombineRule::combine(
                own.friction(),
                other.friction(),
                own.friction_combine_rule(),
                other.friction_combine_rule(),
            );
            for manifold in &manifolds {
                let pose = manifold.subshape_pos1().map_or(place, |within| place * *within);
                let normal = -(pose.rotation * manifold.local_n1);
                for point in &manifold.points {
                    let at = pose * point.local_p1;
                    let velocity = carrier.map_or(Vec3::ZERO, |on| on.velocity_at_point(at));
                    let found = HullPoint { arm: at - centre, gap: point.dist, normal, friction, velocity };
                    let closing = borne.free_motion.velocity_at(found.arm) - velocity;
                    if found.gap + dt * closing.dot(normal) < MAX_SUPPORT_GAP_M {
                        borne.points.push(found);
                        // Only dynamic bodies get the opposite impulse.
                        borne.supporting_bodies.push(on.filter(|_| carrier.is_some_and(RigidBody::is_dynamic)));
                    }
                }
            }
        }
    }
}
