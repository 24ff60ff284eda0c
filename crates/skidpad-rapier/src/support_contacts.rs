//! Contact points that support free bodies under wheels, and the application of their impulses to Rapier's bodies.

use rapier3d::parry::query::{ContactManifold, DefaultQueryDispatcher, PersistentQueryDispatcher};
use rapier3d::prelude::*;
use skidpad_core::contact_solver::{SolverBody, response_matrix};
use skidpad_core::{HullPoint, Mat3, PredictedMotion, Reaction, Vec3};

use crate::ground;
use crate::port::Port;
use crate::supported_body::{RapierSolverBody, SupportedBody};

/// Gap at the end of the step above which a point is ignored, m. Forces within the step can change the gap by about
/// this much.
const MAX_SUPPORT_GAP_M: f32 = 0.03;

impl Port<'_> {
    /// Predicts the body `handle` at the end of the step of `dt` s under `wheel_impulses`: the sums of the wheels'
    /// impulses (N s) and of their angular impulses about its centre of mass (N m s), axes of the cars. Returns its
    /// velocity (m/s) and angular velocity (rad/s) in the axes of the cars. Also returns their change by a unit of each
    /// component of impulse (columns 0 to 2) and angular impulse (3 to 5).
    ///
    /// Finds and stores the contact points of the body on the first call in a step. Solves the contact points from zero
    /// impulses and stores the solved ones. Returns `None` if nothing supports the body, if joints or locked axes hold
    /// it, or if it is not dynamic. The Rapier body does not change.
    ///
    /// Implements [`skidpad_core::WorldPort::predict_body`]. Other bodies that support this one keep their current
    /// motion.
    pub(crate) fn predict_body(
        &mut self,
        handle: RigidBodyHandle,
        wheel_impulses: [Vec3; 2],
        dt: f32,
    ) -> Option<PredictedMotion> {
        let axes = self.axes;
        let supported_body = self.supported_body(handle, dt)?;
        let end_motion = supported_body.motion_after_push(wheel_impulses.map(|vector| axes.to_world(vector)), dt);
        let columns = response_matrix(&end_motion, &supported_body.points, &supported_body.impulses);
        // Response to a unit along `axis` (axes of the cars): the sum of the responses to its components along the
        // world axes, which are three columns from `first_column` on.
        let response_along = |first_column: usize, axis: Vec3| {
            let components = axes.to_world(axis).to_array();
            [0, 1].map(|part| {
                axes.from_world((0..3).map(|k| columns[first_column + k][part] * components[k]).sum::<Vec3>())
            })
        };
        let [x, y, z] = Vec3::AXES;
        // Columns 0 to 2: impulse; 3 to 5: angular impulse.
        let response = [
            response_along(0, x),
            response_along(0, y),
            response_along(0, z),
            response_along(3, x),
            response_along(3, y),
            response_along(3, z),
        ];
        Some(PredictedMotion {
            end_twist: [axes.from_world(end_motion.velocity), axes.from_world(end_motion.angular_velocity)],
            response,
        })
    }

    /// Applies the sum of wheel and contact impulses to the supported bodies as forces over the coming `dt` s, and the
    /// opposite contact impulses to the dynamic bodies below. `reactions` are the impulses of the wheels (axes of the
    /// cars). Bodies without contact points and missing bodies are skipped.
    ///
    /// For each body, first stores the user's forces and sums up its wheel impulses. Solves the contacts once more with
    /// these final impulses. Then applies force and torque that lead to the solved motion, scaled up by the damping
    /// that Rapier will apply. Finally pushes the bodies below at each point with a normal impulse above 0. All pushed
    /// bodies wake.
    pub(crate) fn apply_supported_reactions(&mut self, dt: f32, reactions: &[Reaction]) {
        // Taken out, so that `self` can be borrowed; put back at the end.
        let mut supported_bodies = std::mem::take(self.supported_bodies);
        for supported_body in supported_bodies.iter_mut().filter(|supported_body| !supported_body.points.is_empty()) {
            // Centre of mass, world axes, m.
            let Some(centre) = self.world.bodies.get(supported_body.handle).map(RigidBody::center_of_mass) else {
                continue;
            };
            self.store_user_forces(supported_body.handle, dt);
            let body_reactions =
                reactions.iter().filter(|reaction| ground::body_handle(reaction.body) == supported_body.handle);
            let wheel_impulses = body_reactions.fold([Vec3::ZERO; 2], |[impulse, angular_impulse], reaction| {
                let reaction_impulse = self.axes.to_world(reaction.impulse);
                let arm = self.axes.point_to_world(reaction.point).as_vec3() - centre;
                [impulse + reaction_impulse, angular_impulse + arm.cross(reaction_impulse)]
            });
            let end_motion = supported_body.motion_after_push(wheel_impulses, dt);
            let mass = 1.0 / supported_body.free_motion.inverse_mass;
            // Impulse (N s) and angular impulse (N m s) of wheels and contacts together: the solved motion less the
            // free one, over the damping (index 0: linear, 1: angular).
            let impulse = (end_motion.velocity - supported_body.free_motion.velocity)
                * (mass / supported_body.damping_factors[0]);
            let angular_impulse = supported_body.free_motion.inverse_inertia.inverse()
                * (end_motion.angular_velocity - supported_body.free_motion.angular_velocity)
                / supported_body.damping_factors[1];
            if let Some(body) = self.world.bodies.get_mut(supported_body.handle) {
                // `true`: wakes the body.
                body.add_force(impulse / dt, true);
                body.add_torque(angular_impulse / dt, true);
            }
            // Opposite contact impulses on the bodies below.
            for ((point, point_impulse), supporting_body) in
                supported_body.points.iter().zip(&supported_body.impulses).zip(&supported_body.supporting_bodies)
            {
                if let Some(supporting_body) = supporting_body
                    && point_impulse.normal_impulse > 0.0
                {
                    let contact_impulse = point.normal * point_impulse.normal_impulse + point_impulse.friction_impulse;
                    self.push_body(*supporting_body, centre + point.arm, -contact_impulse, dt);
                }
            }
        }
        *self.supported_bodies = supported_bodies;
    }

    /// Returns true if the contact points of the body are solved together with the wheels on it.
    pub(crate) fn is_supported(&self, handle: RigidBodyHandle) -> bool {
        self.supported_bodies
            .iter()
            .any(|supported_body| supported_body.handle == handle && !supported_body.points.is_empty())
    }

    /// Applies an impulse (N s) at `point` (m, world axes) to the dynamic body `handle` as a force over the coming `dt`
    /// s, and wakes it. First stores the user's forces on the body, unless an earlier push in this step did so. A body
    /// that is not dynamic or is missing is not pushed.
    pub(crate) fn push_body(&mut self, handle: RigidBodyHandle, point: Vec3, impulse: Vec3, dt: f32) {
        self.store_user_forces(handle, dt);
        if let Some(body) = self.world.bodies.get_mut(handle).filter(|body| body.is_dynamic()) {
            // `true`: wakes the body.
            body.add_force_at_point(impulse / dt, point, true);
        }
    }

    /// Returns the body with its contact points, which are found on the first call in a step and then stored in
    /// `supported_bodies`. Returns `None` if nothing supports the body, or if joints or locked axes hold it, which only
    /// Rapier's solver can treat. A body that is not dynamic also returns `None`.
    fn supported_body(&mut self, handle: RigidBodyHandle, dt: f32) -> Option<&mut SupportedBody> {
        let known_index = self.supported_bodies.iter().position(|supported_body| supported_body.handle == handle);
        let index = match known_index {
            Some(index) => index,
            None => {
                let supported_body = self.find_supported_body(handle, dt)?;
                self.supported_bodies.push(supported_body);
                self.supported_bodies.len() - 1
            }
        };
        Some(&mut self.supported_bodies[index]).filter(|supported_body| !supported_body.points.is_empty())
    }

    /// Finds the contact points of a dynamic body without joints and locked axes, over all its enabled colliders that
    /// are no sensors; `None` for any other body or one of infinite mass. Also computes its motion after `dt` s under
    /// gravity, the user's force, gyroscopic torque and damping, without contacts, wheels and the user's torque. The
    /// list of points is empty if nothing is near.
    fn find_supported_body(&self, handle: RigidBodyHandle, dt: f32) -> Option<SupportedBody> {
        let body = self.world.bodies.get(handle).filter(|body| body.is_dynamic())?;
        let is_free = body.locked_axes().is_empty() && self.world.joints.attached_joints(handle).next().is_none();
        let mass_properties = body.mass_properties();
        // The same along every axis, because no axis is locked.
        let inverse_mass = mass_properties.effective_inv_mass.x;
        if !is_free || inverse_mass <= 0.0 {
            return None;
        }
        // Rapier divides a velocity by 1 + dt c in a step.
        let damping_factors = [body.linear_damping(), body.angular_damping()].map(|damping| 1.0 / (1.0 + dt * damping));
        // Acceleration without wheels and contacts, m/s².
        let acceleration = self.world.gravity * body.gravity_scale() + body.user_force() * inverse_mass;
        // Columns of the inverse inertia, 1/(kg m²).
        let columns = Vec3::AXES.map(|axis| mass_properties.effective_world_inv_inertia * axis);
        // Motion at the end of the step without wheels and contacts.
        let free_motion = RapierSolverBody {
            inverse_mass,
            inverse_inertia: Mat3::from_cols(columns[0], columns[1], columns[2]),
            velocity: (body.linvel() + acceleration * dt) * damping_factors[0],
            angular_velocity: body.angvel_with_gyroscopic_forces(dt) * damping_factors[1],
        };
        let mut supported_body = SupportedBody {
            handle,
            points: Vec::new(),
            supporting_bodies: Vec::new(),
            impulses: Vec::new(),
            free_motion,
            damping_factors,
        };
        for collider in body.colliders() {
            if let Some(collider) =
                self.world.colliders.get(*collider).filter(|collider| collider.is_enabled() && !collider.is_sensor())
            {
                self.find_support_points(&mut supported_body, collider, dt);
            }
        }
        Some(supported_body)
    }

    /// Adds the points at which `own_collider`, a collider of the body, touches nearby colliders, or comes closer than
    /// [`MAX_SUPPORT_GAP_M`] within `dt` s at its free motion. Excludes sensors, other colliders of the body, colliders
    /// of cars and those that the collision or solver groups exclude. Pairs of shapes for which parry has no contacts
    /// are skipped.
    ///
    /// The arm of a point leads from the body's centre of mass, its gap is the distance of the surfaces, and its normal
    /// leads out of the other collider. Its friction follows from the combine rules of both colliders. Its velocity is
    /// that of the other body there, zero without body. Also adds one entry to `supporting_bodies` per point: the other
    /// body if it is dynamic, else `None`.
    fn find_support_points(&self, supported_body: &mut SupportedBody, own_collider: &Collider, dt: f32) {
        let (velocity, angular_velocity) =
            (supported_body.free_motion.velocity, supported_body.free_motion.angular_velocity);
        let own_pose = self.pose_of(own_collider);
        let bounds = own_collider.shape().compute_aabb(&own_pose);
        // Search distance: accepted gap plus the farthest travel of any point in the step, m.
        let prediction =
            MAX_SUPPORT_GAP_M + dt * (velocity.length() + angular_velocity.length() * bounds.half_extents().length());
        let parent = own_collider.parent();
        let can_support = |_: ColliderHandle, other_collider: &Collider| {
            other_collider.parent().is_none_or(|body| Some(body) != parent && self.car_of_body(body).is_none())
                && other_collider.solver_groups().test(own_collider.solver_groups())
        };
        let filter = QueryFilter { groups: Some(own_collider.collision_groups()), ..QueryFilter::default() };
        let filter = filter.exclude_sensors().predicate(&can_support);
        let mut near_colliders = Vec::new();
        self.find_near_colliders(filter, bounds.loosened(prediction), &mut near_colliders);
        // Sorted, because the world stores them in no stable order.
        near_colliders.sort_unstable_by_key(|handle| handle.into_raw_parts());
        let centre = parent.and_then(|body| self.world.bodies.get(body)).map_or(Vec3::ZERO, RigidBody::center_of_mass);
        let mut manifolds: Vec<ContactManifold<(), ()>> = Vec::new();
        for other_collider in near_colliders.iter().filter_map(|handle| self.world.colliders.get(*handle)) {
            manifolds.clear();
            // Pose of the other collider relative to this one, which is the first shape.
            let pos12 = own_pose.inv_mul(&self.pose_of(other_collider));
            let (shape1, shape2) = (own_collider.shape(), other_collider.shape());
            let query_result =
                DefaultQueryDispatcher.contact_manifolds(&pos12, shape1, shape2, prediction, &mut manifolds, &mut None);
            if query_result.is_err() {
                continue;
            }
            let supporting_handle = other_collider.parent();
            let supporting_body = supporting_handle.and_then(|handle| self.world.bodies.get(handle));
            let friction = CoefficientCombineRule::combine(
                own_collider.friction(),
                other_collider.friction(),
                own_collider.friction_combine_rule(),
                other_collider.friction_combine_rule(),
            );
            for manifold in &manifolds {
                // Pose of the part of a compound shape; parry's normal leads out of this collider.
                let part_pose = manifold.subshape_pos1().map_or(own_pose, |local_pose| own_pose * *local_pose);
                let normal = -(part_pose.rotation * manifold.local_n1);
                for point in &manifold.points {
                    let position = part_pose * point.local_p1;
                    let velocity = supporting_body.map_or(Vec3::ZERO, |body| body.velocity_at_point(position));
                    let hull_point = HullPoint { arm: position - centre, gap: point.dist, normal, friction, velocity };
                    let relative_velocity = supported_body.free_motion.velocity_at(hull_point.arm) - velocity;
                    if hull_point.gap + dt * relative_velocity.dot(normal) < MAX_SUPPORT_GAP_M {
                        supported_body.points.push(hull_point);
                        // Only dynamic bodies get the opposite impulse.
                        supported_body
                            .supporting_bodies
                            .push(supporting_handle.filter(|_| supporting_body.is_some_and(RigidBody::is_dynamic)));
                    }
                }
            }
        }
    }
}
