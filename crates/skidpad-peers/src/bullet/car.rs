//! Bullet's vehicle: rays, springs, their impulses on the body, and the visible rotation of the wheels.

use skidpad_core::{DMat3, DQuat, DVec3};
use skidpad_world::{Chassis, Ground, GroundContacts};

use super::body::Body;
use super::tuning::{Tuning, WheelTuning};

/// Cosine between ray and normal below which Bullet treats a contact as too steep for the suspension speed.
const MIN_CONTACT_COSINE: f64 = 0.1;

/// Factor on the spring force at such a steep contact, in place of the reciprocal cosine.
const STEEP_SPRING_FACTOR: f64 = 10.0;

/// Share of a wheel's rotation per step that Bullet keeps for the next step.
pub(super) const RETAINED_ROTATION_RATIO: f64 = 0.99;

/// Inputs of one wheel, as Bullet takes them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WheelInput {
    /// Engine force (`applyEngineForce`), N, positive forward. Any value other than 0 releases the brake of the wheel.
    pub engine_force: f64,
    /// Maximum brake impulse **per step** (`setBrake`), N s, ≥ 0.
    pub brake: f64,
    /// Steering angle (`setSteeringValue`), rad, positive to the left.
    pub steering: f64,
}

/// Result of one wheel in the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wheel {
    /// Inputs of the step.
    pub input: WheelInput,
    /// Distance from hard point to wheel centre, m.
    pub length: f64,
    /// Whether the ray hit the ground.
    pub contact: bool,
    /// Force of the suspension before its bound, N, ≥ 0; the friction uses this force.
    pub suspension_force: f64,
    /// Impulse along the rolling direction, N s, positive forward.
    pub forward_impulse: f64,
    /// Impulse along the axle, N s, positive in the direction of the axle, which is to the right.
    pub side_impulse: f64,
    /// Factor on the friction impulses: 1 while gripping, less while sliding.
    pub skid: f64,
    /// Total rotation angle, rad, positive forward.
    pub rotation: f64,
    /// Rotation in the last step as Bullet keeps it for the next one, rad: one per cent less than it was.
    pub retained_rotation: f64,
    /// Contact point, or end of the ray, world, m.
    pub(super) point: DVec3,
    /// Normal of the ground; against the ray in the air. World axes.
    pub(super) normal: DVec3,
    /// Steered axle, to the right, world axes.
    pub(super) axle: DVec3,
    /// Axle projected onto the ground, unit vector, world axes.
    pub(super) lateral_axis: DVec3,
    /// Rolling direction in the ground, unit vector, world axes.
    pub(super) longitudinal_axis: DVec3,
}

/// Bullet's `btRaycastVehicle` with its chassis.
#[derive(Clone, Debug)]
pub struct Car {
    /// Parameters of the vehicle.
    tuning: Tuning,
    /// Inverse inertia, vehicle axes, 1/(kg m²).
    pub(super) inverse_inertia: DMat3,
    /// Inverse inertia at the last pose, world axes, 1/(kg m²).
    pub(super) world_inverse_inertia: DMat3,
    /// Motion of the chassis, which may be changed between steps.
    pub body: Body,
    /// Wheels with the results of the last step.
    pub(super) wheels: Vec<Wheel>,
    /// Hull that collides with the ground, with its contacts; `None` without contacts.
    hull: Option<(Chassis, GroundContacts)>,
}

impl Car {
    /// Creates a vehicle whose chassis moves as `body`, with its wheels at rest length, without contact and rotation,
    /// and with a `skid` of 1. A hull in `tuning` gets a 32-bit chassis of its own for contacts with the ground. The
    /// inverse inertia in world axes is computed in the first step.
    pub fn new(tuning: Tuning, body: Body) -> Self {
        let extended_wheel =
            |wheel_tuning: &WheelTuning| Wheel { length: wheel_tuning.rest_length, skid: 1.0, ..Wheel::default() };
        let create_chassis = |hull| Chassis::rigid(tuning.mass as f32, tuning.inertia.as_mat3(), hull);
        Self {
            inverse_inertia: tuning.inertia.inverse(),
            world_inverse_inertia: DMat3::ZERO,
            body,
            wheels: tuning.wheels.iter().map(extended_wheel).collect(),
            hull: tuning.hull.map(|hull| (create_chassis(hull), GroundContacts::default())),
            tuning,
        }
    }

    /// Returns the parameters of the vehicle.
    pub fn tuning(&self) -> &Tuning {
        &self.tuning
    }

    /// Returns the wheels after the last step.
    pub fn wheels(&self) -> &[Wheel] {
        &self.wheels
    }

    /// Sets the rotation per step with which each wheel i continues in the air to `rotation_of(i)` rad.
    pub fn set_retained_rotations(&mut self, rotation_of: impl Fn(usize) -> f64) {
        for (i, wheel) in self.wheels.iter_mut().enumerate() {
            wheel.retained_rotation = rotation_of(i);
        }
    }

    /// Takes a step of Bullet's world of length `dt` s. `inputs` are those of the wheels in order; a missing input
    /// counts as zero.
    ///
    /// First applies gyroscopic torque and gravity, and keeps the hull out of `ground`. Then moves the pose, and adds
    /// the change of velocity by an impact of the hull that must not move this pose. Finally updates the vehicle (rays,
    /// springs, friction) at the new pose with the new velocity. The velocity after the step therefore includes the
    /// vehicle's impulses but not the gravity of the next step.
    pub fn step(&mut self, ground: &Ground, inputs: &[WheelInput], dt: f64) {
        self.body.apply_gyroscopic_torque(&self.tuning.inertia, dt);
        self.body.velocity.z -= f64::from(ground.gravity()) * dt;
        // Rest of an impact, which must not move the pose of this step.
        let [velocity_change, angular_change] = self.separate_hull_from_ground(ground, dt);
        self.body.advance(dt);
        self.body.velocity += velocity_change;
        self.body.angular_velocity += angular_change;
        for (i, wheel) in self.wheels.iter_mut().enumerate() {
            wheel.input = inputs.get(i).copied().unwrap_or_default();
        }
        self.update_vehicle(ground, dt);
    }

    /// Updates the vehicle over `dt` s at the current pose, which does not change. Computes the inverse inertia in
    /// world axes, then contacts and suspension forces of all wheels. Applies the suspension impulses wheel by wheel,
    /// at the contact along the normal, bounded by the maximum force. Then computes and applies friction from the
    /// velocity after these impulses, and updates the rotation of the wheels.
    fn update_vehicle(&mut self, ground: &Ground, dt: f64) {
        let to_world = DMat3::from_quat(self.body.rotation);
        self.world_inverse_inertia = to_world * self.inverse_inertia * to_world.transpose();
        self.update_suspension(ground);
        for i in 0..self.wheels.len() {
            let (wheel, max_force) = (self.wheels[i], self.tuning.wheels[i].max_force);
            self.apply_impulse(
                wheel.point - self.body.position,
                wheel.normal * (wheel.suspension_force.min(max_force) * dt),
            );
        }
        self.compute_friction(dt);
        self.apply_friction();
        self.update_rotation(dt);
    }

    /// Casts all rays at the current pose and computes contacts, axles, lengths and suspension forces from the current
    /// velocities of the body. Applies no impulse.
    ///
    /// The force is m (k (rest length − length) f − d v), at least 0, with the mass m and the stiffness k over the
    /// mass. f is the reciprocal cosine between ray and normal. v is the extension speed: the speed of the body out of
    /// the ground at the contact, times f. The damping d is that of compression for v below 0, otherwise that of
    /// extension. At steep contacts (cosine at most [`MIN_CONTACT_COSINE`]) f is [`STEEP_SPRING_FACTOR`] and v is 0.
    /// The length is clamped to the rest length plus or minus the travel.
    ///
    /// A wheel without contact has its rest length, no force, the end of its ray as point and a normal against the ray.
    pub(super) fn update_suspension(&mut self, ground: &Ground) {
        let Body { position, rotation, .. } = self.body;
        for (wheel, tuning) in self.wheels.iter_mut().zip(&self.tuning.wheels) {
            let start = position + rotation * tuning.hard_point;
            let direction = rotation * tuning.direction;
            // About the upward axis: positive to the left.
            let steering_rotation = DQuat::from_axis_angle(-direction, wheel.input.steering);
            wheel.axle = steering_rotation * (rotation * tuning.axle);
            let ray_length = tuning.rest_length + tuning.radius;
            let Some(hit) = ground.cast(start, direction, ray_length) else {
                wheel.contact = false;
                wheel.length = tuning.rest_length;
                wheel.suspension_force = 0.0;
                wheel.normal = -direction;
                wheel.point = start + direction * ray_length;
                continue;
            };
            wheel.contact = true;
            wheel.point = start + direction * hit.distance;
            wheel.normal = hit.normal;
            let max_length = tuning.rest_length + tuning.max_travel;
            wheel.length = (hit.distance - tuning.radius).clamp(tuning.rest_length - tuning.max_travel, max_length);
            // Cosine between ray and normal.
            let cosine = -hit.normal.dot(direction);
            // Speed of the body at the contact out of the ground, m/s.
            let normal_speed = hit.normal.dot(self.body.velocity_at(wheel.point - position));
            let (spring_factor, extension_speed) = if cosine <= MIN_CONTACT_COSINE {
                (STEEP_SPRING_FACTOR, 0.0)
            } else {
                (1.0 / cosine, normal_speed / cosine)
            };
            let damping = if extension_speed < 0.0 { tuning.damping_compression } else { tuning.damping_relaxation };
            // Stiffness and damping are those over the mass of the body, m/s².
            let spring_acceleration = tuning.stiffness * (tuning.rest_length - wheel.length) * spring_factor;
            wheel.suspension_force = (self.tuning.mass * (spring_acceleration - damping * extension_speed)).max(0.0);
        }
    }

    /// Updates the visible rotation of the wheels over `dt` s, which has no effect on the car. Touching wheels roll as
    /// their hard point moves along the car's x axis, projected onto the ground (not normalised, without steering).
    /// Wheels in the air continue with their retained rotation, the rotation in rad of the step before. Every wheel
    /// then retains 99 % of its rotation of this step ([`RETAINED_ROTATION_RATIO`]).
    fn update_rotation(&mut self, dt: f64) {
        let rotation = self.body.rotation;
        let forward = rotation * DVec3::X;
        for (wheel, tuning) in self.wheels.iter_mut().zip(&self.tuning.wheels) {
            if wheel.contact {
                let rolling_direction = forward - wheel.normal * wheel.normal.dot(forward);
                let arm = rotation * tuning.hard_point;
                wheel.retained_rotation = rolling_direction.dot(self.body.velocity_at(arm)) * dt / tuning.radius;
            }
            wheel.rotation += wheel.retained_rotation;
            wheel.retained_rotation *= RETAINED_ROTATION_RATIO;
        }
    }

    /// Applies `impulse` (N s) at `arm` from the centre of mass (m), both in world axes.
    pub(super) fn apply_impulse(&mut self, arm: DVec3, impulse: DVec3) {
        self.body.velocity += impulse / self.tuning.mass;
        self.body.angular_velocity += self.world_inverse_inertia * arm.cross(impulse);
    }

    /// Keeps the hull out of the ground over `dt` s, with 32-bit velocities. Copies the motion of the body to the
    /// chassis of the hull, separates it from `ground`, and adds the change of the velocities with which the pose moves
    /// to the body. Returns the changes of velocity (m/s) and angular velocity (rad/s) by an impact that must not move
    /// the pose of this step; the caller adds these after the pose has moved. Returns zeros without a hull.
    fn separate_hull_from_ground(&mut self, ground: &Ground, dt: f64) -> [DVec3; 2] {
        let Some((chassis, ground_contacts)) = &mut self.hull else { return [DVec3::ZERO; 2] };
        let Body { position, rotation, velocity, angular_velocity } = self.body;
        let start_twist = [velocity.as_vec3(), angular_velocity.as_vec3()];
        chassis.set_pose_and_twist(position, rotation.as_quat(), start_twist);
        // `&[]`: no rims.
        ground_contacts.separate_from_ground(chassis, ground, &[], dt as f32);
        let (pose_motion, end_twist) = (chassis.pose_motion(), chassis.twist());
        // Only differences are added, so that 64-bit velocities without contact keep their digits.
        if pose_motion != start_twist {
            self.body.velocity += (pose_motion[0] - start_twist[0]).as_dvec3();
            self.body.angular_velocity += (pose_motion[1] - start_twist[1]).as_dvec3();
        }
        [0, 1].map(|part| (end_twist[part] - pose_motion[part]).as_dvec3())
    }
}
