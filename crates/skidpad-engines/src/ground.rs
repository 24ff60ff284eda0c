//! How bodies under wheels move, and how they answer. Everything is in the world's axes.

use skidpad_core::{Axes, Mat3, Pushable, Vec3};

/// Where a wheel meets the ground.
#[derive(Clone, Copy, Debug)]
pub struct Meeting {
    /// m.
    pub point: Vec3,
    /// Unit vector out of the ground.
    pub normal: Vec3,
    /// Centre of mass of its car in the middle of the step, m.
    pub car: Vec3,
}

/// How a body moves when a step begins; one that moves by itself, how it does throughout the step.
#[derive(Clone, Copy, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Motion {
    /// Centre of mass, m.
    pub centre: Vec3,
    /// Of that, m/s.
    pub linear: Vec3,
    /// rad/s.
    pub angular: Vec3,
}

impl Motion {
    /// Velocity of what is at `point`, m/s.
    pub fn at(&self, point: Vec3) -> Vec3 {
        self.linear + self.angular.cross(point - self.centre)
    }

    /// Mean velocity over the step of what is at `point` when it begins.
    fn mean_at(&self, point: Vec3, dt: f32) -> Vec3 {
        let turning = self.angular.cross(point - self.centre);
        self.linear + turning + self.angular.cross(turning) * (0.5 * dt)
    }

    /// Returns the velocity that a car has at the end of the step at its contact `point` if it goes where this body goes, which moves by
    /// itself; in the `last` step it moved so. Point and centre of mass of the `car` are those of the middle of the step. Engines move such a body by its velocity throughout the step, but a car's pose as if its velocity acted
    /// `pose_lag` s early: with the body's own velocity a car parked on a train that gains 5 m/s² is left behind by 30 mm in every second.
    pub fn carries(&self, [point, car]: [Vec3; 2], last: Option<Self>, dt: f32, pose_lag: f32) -> Vec3 {
        let now = *self;
        let last = last.unwrap_or(now);
        let arm = point - car;
        let car = car - now.at(car) * (0.5 * dt);
        let came_from = car - last.mean_at(car, dt) * dt;
        let mean = now.mean_at(car, dt);
        let ahead = pose_lag / dt;
        let linear = mean + (mean - last.mean_at(came_from, dt)) * ahead;
        let angular = now.angular + (now.angular - last.angular) * ahead;
        // The rows of a car have the arms of the middle of the step.
        linear + angular.cross(arm)
    }
}

/// A body under a wheel that can be pushed.
#[derive(Clone, Copy, Debug)]
pub struct Pushed {
    /// How it moves when the step begins.
    pub now: Motion,
    /// Velocity and angular velocity it would end the step with if nothing held it and no wheel pushed it, m/s and rad/s.
    pub ends: [Vec3; 2],
    /// Change of velocity by an impulse, 1/kg.
    pub inverse_mass: Mat3,
    /// Change of angular velocity by an angular impulse, 1/(kg m²).
    pub inverse_inertia: Mat3,
    /// Whether contacts bear it, and whether they hold it by friction.
    pub held: [bool; 2],
}

impl Pushed {
    /// How it moves and answers a wheel that met it along `normal`, in the axes of the cars.
    ///
    /// Engines solve contacts after the wheels: what bears a body keeps it from moving along the normal and from tilting, and what holds it
    /// by friction from moving at all. A wheel that took a crate on the floor for free would be far too careful with it.
    pub fn pushable(&self, axes: Axes, normal: Vec3) -> Pushable {
        let along = Mat3::from_cols(normal * normal.x, normal * normal.y, normal * normal.z);
        let [moves, turns] = match self.held {
            [false, _] => [Mat3::IDENTITY; 2],
            [true, false] => [Mat3::IDENTITY - along, along],
            [true, true] => [Mat3::ZERO; 2],
        };
        let Motion { centre, linear, angular } = self.now;
        let for_cars = |matrix: Mat3| {
            let columns = Vec3::AXES.map(|axis| axes.from_world(matrix * axes.to_world(axis)));
            Mat3::from_cols(columns[0], columns[1], columns[2])
        };
        Pushable {
            centre: axes.point_from_world(centre.as_dvec3()),
            velocity: axes.from_world(linear + moves * (self.ends[0] - linear)),
            angular: axes.from_world(angular + turns * (self.ends[1] - angular)),
            inverse_mass: for_cars(moves * self.inverse_mass * moves),
            inverse_inertia: for_cars(turns * self.inverse_inertia * turns),
        }
    }
}
