//! Motion of bodies under wheels, and their response to pushes. All vectors are in world axes.

use skidpad_core::{DynamicBody, Mat3, Vec3, WorldAxes};

/// Contact of a wheel with the ground.
#[derive(Clone, Copy, Debug)]
pub struct GroundContact {
    /// Contact point, m.
    pub point: Vec3,
    /// Unit vector out of the ground.
    pub normal: Vec3,
    /// Centre of mass of the car in the middle of the step, m.
    pub car_centre: Vec3,
}

/// Motion of a body at the start of a step. A kinematic body moves in this way throughout the step.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct GroundBodyMotion {
    /// Centre of mass, m.
    pub centre: Vec3,
    /// Velocity of the centre of mass, m/s.
    #[cfg_attr(feature = "serde", serde(rename = "linear"))]
    pub velocity: Vec3,
    /// Angular velocity, rad/s.
    #[cfg_attr(feature = "serde", serde(rename = "angular"))]
    pub angular_velocity: Vec3,
}

impl GroundBodyMotion {
    /// Returns the velocity of the body's point at `point`, m/s.
    pub fn velocity_at(&self, point: Vec3) -> Vec3 {
        self.velocity + self.angular_velocity.cross(point - self.centre)
    }

    /// Returns the mean velocity over a step of `dt` s of the body's point that is at `point` at the start of the step,
    /// m/s: the velocity at the start plus the centripetal acceleration times half the step.
    fn mean_velocity_at(&self, point: Vec3, dt: f32) -> Vec3 {
        let rotational_velocity = self.angular_velocity.cross(point - self.centre);
        self.velocity + rotational_velocity + self.angular_velocity.cross(rotational_velocity) * (0.5 * dt)
    }

    /// Returns the velocity at the end of a step of `dt` s, at the contact `point`, of a car that this kinematic body
    /// carries along, world axes, m/s. `last_motion` is the motion of the body in the last step; `None` counts as
    /// unchanged. `point` and the centre of mass `car_centre` of the car are those in the middle of the step, m.
    ///
    /// Computes the mean velocity of the body at the car in this step and in the last step. Extrapolates their
    /// difference by `pose_lag` / dt, and likewise the angular velocity. Then adds the rotation with the arm from car
    /// to point. `pose_lag` is the time by which the engine's poses lag velocities, s ([`crate::pose_lag`]).
    ///
    /// Engines move a kinematic body with its velocity throughout the step, but a car's pose as if its velocity acted
    /// `pose_lag` s early. At the velocity of the body itself, a car parked on a train that accelerates at 5 m/s² would
    /// fall behind by 30 mm in every second.
    pub fn carried_velocity(
        &self,
        [point, car_centre]: [Vec3; 2],
        last_motion: Option<Self>,
        dt: f32,
        pose_lag: f32,
    ) -> Vec3 {
        let motion = *self;
        let last_motion = last_motion.unwrap_or(motion);
        let arm = point - car_centre;
        // Place of the car at the start of the step, moved with the body.
        let start_position = car_centre - motion.velocity_at(car_centre) * (0.5 * dt);
        // Place of the car at the start of the last step, if the body carried it.
        let previous_position = start_position - last_motion.mean_velocity_at(start_position, dt) * dt;
        let mean_velocity = motion.mean_velocity_at(start_position, dt);
        let lag_ratio = pose_lag / dt;
        // Extrapolated by the lag: the last change of mean velocity times lag / dt.
        let velocity =
            mean_velocity + (mean_velocity - last_motion.mean_velocity_at(previous_position, dt)) * lag_ratio;
        let angular_velocity =
            motion.angular_velocity + (motion.angular_velocity - last_motion.angular_velocity) * lag_ratio;
        // The rows of a car use the arms in the middle of the step. `velocity` already includes the rotation up to the
        // car.
        velocity + angular_velocity.cross(arm)
    }
}

/// Dynamic body under a wheel.
#[derive(Clone, Copy, Debug)]
pub struct DynamicGroundBody {
    /// Motion at the start of the step.
    pub start_motion: GroundBodyMotion,
    /// Velocity (m/s) and angular velocity (rad/s) at the end of the step without contacts and wheels.
    pub end_twist: [Vec3; 2],
    /// Change of velocity per impulse, 1/kg.
    pub inverse_mass: Mat3,
    /// Change of angular velocity per angular impulse, 1/(kg m²).
    pub inverse_inertia: Mat3,
    /// `[supported, held by friction]`: whether contacts support the body, and whether any of them holds it by
    /// friction.
    pub support_flags: [bool; 2],
}

impl DynamicGroundBody {
    /// Returns motion and response (inverse mass and inertia) of the body for a wheel that touches it along `normal`
    /// (unit vector, world axes), in the axes of the cars. A body without support has its full response.
    ///
    /// Engines solve contacts after the wheels. Contacts that support the body therefore lock its translation along the
    /// normal and its tilt here; it still slides along the ground and turns about the normal. If friction holds the
    /// body, all motion is locked. Locked directions keep the velocity at the start of the step and have zero inverse
    /// mass; free ones have the velocity at the end. If a crate on the floor counted as free, the wheel would get too
    /// small a force.
    pub fn dynamic_body(&self, axes: WorldAxes, normal: Vec3) -> DynamicBody {
        // Projection onto the normal.
        let normal_projection = Mat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
        // Projections onto the free directions, by [supported, held by friction].
        let [free_translation, free_rotation] = match self.support_flags {
            [false, _] => [Mat3::IDENTITY; 2],
            [true, false] => [Mat3::IDENTITY - normal_projection, normal_projection],
            [true, true] => [Mat3::ZERO; 2],
        };
        let GroundBodyMotion { centre, velocity, angular_velocity } = self.start_motion;
        // Matrix in the axes of the cars: each column is the image of an axis.
        let to_car_axes = |matrix: Mat3| {
            let columns = Vec3::AXES.map(|axis| axes.from_world(matrix * axes.to_world(axis)));
            Mat3::from_cols(columns[0], columns[1], columns[2])
        };
        // Free directions have the velocity of the end of the step, locked ones that of the start.
        DynamicBody {
            centre: axes.point_from_world(centre.as_dvec3()),
            velocity: axes.from_world(velocity + free_translation * (self.end_twist[0] - velocity)),
            angular_velocity: axes
                .from_world(angular_velocity + free_rotation * (self.end_twist[1] - angular_velocity)),
            inverse_mass: to_car_axes(free_translation * self.inverse_mass * free_translation),
            inverse_inertia: to_car_axes(free_rotation * self.inverse_inertia * free_rotation),
        }
    }
}
