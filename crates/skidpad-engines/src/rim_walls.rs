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

    /// Adds a contact point of a rim of `car` with a wall. `arm` leads from the centre of mass to the point, m; `normal` is a
    /// unit vector out of the wall; `allowed` is the minimum speed along it at the end of the step, m/s. Points must be added
    /// in the order of cars.
    pub fn add(&mut self, car: usize, arm: Vec3, normal: Vec3, allowed: f32) {
        self.0.push(RimWall { car, arm, normal, min_normal_speed: allowed, impulse: 0.0 });
    }

    /// Returns whether some wall may stop a rim of `car` in this step.
    pub fn has_walls(&self, car: usize) -> bool {
        self.0.iter().any(|stop| stop.car == car)
    }

    /// Computes the impulses that stop the rims of `car` by sequential impulses without friction; `None` if none are needed.
    /// `moving` is its velocity and angular velocity at the end of the step without them, m/s and rad/s. `lighter` is its
    /// inverse mass along each world axis, 1/kg. `turning` returns the change of angular velocity by an angular impulse about
    /// its centre of mass. The stop is an impact if some point approaches its wall faster than [`IMPACT_SPEED_MPS`] before.
    pub fn solve(
        &mut self,
        car: usize,
        mut moving: [Vec3; 2],
        lighter: Vec3,
        turning: impl Fn(Vec3) -> Vec3,
    ) -> Option<RimWallImpulse> {
        let first = self.0.partition_point(|stop| stop.car < car);
        let count = self.0[first..].partition_point(|stop| stop.car == car);
        let stops = &mut self.0[first..first + count];
        let is_blow = stops.iter().any(|stop| stop.normal_speed(&moving) < -IMPACT_SPEED_MPS);
        // Motion without the stops.
        let begun = moving;
        for _ in 0..MAX_IMPULSE_PASSES {
            let mut changed = 0.0f32;
            for stop in &mut *stops {
                let lever = stop.arm.cross(stop.normal);
                // Change of normal speed per impulse, 1/kg.
                let compliance = (lighter * stop.normal).dot(stop.normal) + lever.dot(turning(lever));
                // Impulse of this point, pushing only, N s.
                let total = (stop.impulse + (stop.min_normal_speed - stop.normal_speed(&moving)) / compliance).max(0.0);
                let more = stop.normal * (total - stop.impulse);
                changed = changed.max((more * lighter).length());
                stop.impulse = total;
                moving[0] += more * lighter;
                moving[1] += turning(stop.arm.cross(more));
            }
            if changed <= VELOCITY_TOLERANCE_MPS {
                break;
            }
        }
        let impulse = stops.iter().map(|stop| stop.normal * stop.impulse).sum();
        let angular = stops.iter().map(|stop| stop.arm.cross(stop.normal * stop.impulse)).sum();
        (moving != begun).then_some(RimWallImpulse { impulse, angular, is_impact: is_blow })
    }
}

/// Impulses that stop a car.
#[derive(Clone, Copy, Debug)]
pub struct RimWallImpulse {
    /// Impulse, N s.
    pub impulse: Vec3,
    /// Angular impulse about the centre of mass, N m s.
    pub angular: Vec3,
    /// Whether the stop is an impact and must act on the pose within the step. Otherwise the impulse acts evenly over the step,
    /// so that a resting car keeps its speed.
    pub is_impact: bool,
}

impl RimWall {
    /// Returns the speed of the point along the normal on a body with the given velocity and angular velocity, m/s.
    fn normal_speed(&self, [linear, angular]: &[Vec3; 2]) -> f32 {
        (*linear + angular.cross(self.arm)).dot(self.normal)
    }
}
