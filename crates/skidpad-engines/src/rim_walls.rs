//! Walls that stop rims: sequential impulses at the contact points, before an engine moves the pose.

use skidpad_core::Vec3;

/// Maximum number of passes over the points of a car.
const MAX_IMPULSE_PASSES: usize = 16;

/// Change of velocity by one point below which the passes end, m/s.
const VELOCITY_TOLERANCE_MPS: f32 = 1e-6;

/// Change of velocity within a step above which a contact is an impact, m/s.
pub const IMPACT_SPEED_MPS: f32 = 0.5;

/// Contact points that stop rims in a step, sorted by car.
#[derive(Clone, Debug, Default)]
pub struct RimWalls(Vec<RimWall>);

/// Contact point of a rim with a wall that it would roll into.
#[derive(Clone, Copy, Debug)]
struct RimWall {
    /// Index of the car.
    car: usize,
    /// Vector from the centre of mass to the point, world axes, m.
    arm: Vec3,
    /// Unit vector out of the wall, world axes.
    normal: Vec3,
    /// Minimum speed along the normal, m/s; relative to the world, also for a moving wall.
    min_normal_speed: f32,
    /// Impulse so far, N s.
    impulse: f32,
}

impl RimWalls {
    /// Removes all points, for the next step.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds a contact point of a rim of `car` with a wall, with zero impulse. `arm` leads from the centre of mass of
    /// the car to the point, m; `normal` is a unit vector out of the wall. `min_normal_speed` is the minimum speed of
    /// the point along the normal at the end of the step, m/s. Points must be added in the order of cars.
    pub fn add(&mut self, car: usize, arm: Vec3, normal: Vec3, min_normal_speed: f32) {
        self.0.push(RimWall { car, arm, normal, min_normal_speed, impulse: 0.0 });
    }

    /// Returns whether some wall may stop a rim of `car` in this step.
    pub fn has_walls(&self, car: usize) -> bool {
        self.0.iter().any(|wall| wall.car == car)
    }

    /// Computes the impulses that stop the rims of `car`, by sequential impulses without friction (projected
    /// Gauss-Seidel), and stores them in the points of the car. Returns their sums; `None` if no impulse is needed.
    ///
    /// `twist` is the velocity (m/s) and angular velocity (rad/s) of the chassis at the end of the step without these
    /// impulses. `inverse_mass` is the inverse mass along each world axis, 1/kg. `angular_response` returns the change
    /// of angular velocity by an angular impulse about the centre of mass.
    ///
    /// Each pass raises the normal speed of every point to its minimum, with a total impulse ≥ 0 per point. The passes
    /// end after 16 of them, or when no point changes the velocity by more than 1e-6 m/s. The stop is an impact if some
    /// point approaches its wall faster than [`IMPACT_SPEED_MPS`] before the first pass.
    pub fn solve(
        &mut self,
        car: usize,
        mut twist: [Vec3; 2],
        inverse_mass: Vec3,
        angular_response: impl Fn(Vec3) -> Vec3,
    ) -> Option<RimWallImpulse> {
        // The points are sorted by car.
        let first_wall = self.0.partition_point(|wall| wall.car < car);
        let count = self.0[first_wall..].partition_point(|wall| wall.car == car);
        let walls = &mut self.0[first_wall..first_wall + count];
        let is_impact = walls.iter().any(|wall| wall.normal_speed(&twist) < -IMPACT_SPEED_MPS);
        // Motion without the stops, to detect whether any was needed.
        let start_twist = twist;
        for _ in 0..MAX_IMPULSE_PASSES {
            let mut max_velocity_change = 0.0f32;
            for wall in &mut *walls {
                let angular_jacobian = wall.arm.cross(wall.normal);
                // Change of normal speed per impulse, 1/kg.
                let inverse_effective_mass = (inverse_mass * wall.normal).dot(wall.normal)
                    + angular_jacobian.dot(angular_response(angular_jacobian));
                // Sum of the impulses of this point over the passes, pushing only, N s. Only its change is applied.
                let total_impulse = (wall.impulse
                    + (wall.min_normal_speed - wall.normal_speed(&twist)) / inverse_effective_mass)
                    .max(0.0);
                let impulse_vector_change = wall.normal * (total_impulse - wall.impulse);
                max_velocity_change = max_velocity_change.max((impulse_vector_change * inverse_mass).length());
                wall.impulse = total_impulse;
                twist[0] += impulse_vector_change * inverse_mass;
                twist[1] += angular_response(wall.arm.cross(impulse_vector_change));
            }
            if max_velocity_change <= VELOCITY_TOLERANCE_MPS {
                break;
            }
        }
        // Sums over all points, N s and N m s.
        let impulse = walls.iter().map(|wall| wall.normal * wall.impulse).sum();
        let angular_impulse = walls.iter().map(|wall| wall.arm.cross(wall.normal * wall.impulse)).sum();
        (twist != start_twist).then_some(RimWallImpulse { impulse, angular_impulse, is_impact })
    }
}

/// Sum of the impulses that stop the rims of a car at walls.
#[derive(Clone, Copy, Debug)]
pub struct RimWallImpulse {
    /// Impulse, N s.
    pub impulse: Vec3,
    /// Angular impulse about the centre of mass, N m s.
    pub angular_impulse: Vec3,
    /// Whether the stop is an impact and must act on the pose within the step. Otherwise the impulse acts evenly over
    /// the step, so that a resting car keeps its speed.
    pub is_impact: bool,
}

impl RimWall {
    /// Returns the speed of the point along the normal on a body with the given velocity and angular velocity, m/s.
    fn normal_speed(&self, [velocity, angular_velocity]: &[Vec3; 2]) -> f32 {
        (*velocity + angular_velocity.cross(self.arm)).dot(self.normal)
    }
}
