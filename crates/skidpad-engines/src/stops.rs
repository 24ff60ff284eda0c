//! Walls that stop rims: sequential impulses at the points where they do, before an engine moves the pose.

use skidpad_core::Vec3;

/// Passes over the points of a car.
const PASSES: usize = 16;

/// Change of velocity by one point that ends the passes, m/s.
const SETTLED: f32 = 1e-6;

/// Change of velocity within a step from which it is a blow, m/s.
pub const BLOW: f32 = 0.5;

/// What stops rims in a step; of all cars, car by car.
#[derive(Clone, Debug, Default)]
pub struct Stops(Vec<Stop>);

/// A point of a rim that would roll into something.
#[derive(Clone, Copy, Debug)]
struct Stop {
    car: usize,
    arm: Vec3,
    normal: Vec3,
    /// Least speed along the normal, m/s; of a wall that moves, with its own.
    allowed: f32,
    /// Impulse so far, N s.
    pressed: f32,
}

impl Stops {
    /// Forgets them all, for the next step.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// A rim of `car` may come no nearer to what its point at `arm` from the centre of mass would roll into than `allowed` m/s along the
    /// unit vector `normal`. Cars come one after the other.
    pub fn add(&mut self, car: usize, arm: Vec3, normal: Vec3, allowed: f32) {
        self.0.push(Stop { car, arm, normal, allowed, pressed: 0.0 });
    }

    /// Whether a rim of `car` is stopped.
    pub fn any(&self, car: usize) -> bool {
        self.0.iter().any(|stop| stop.car == car)
    }

    /// What stops `car`, which would end the step `moving` by velocity and angular velocity, if anything has to. Its mass is divided by
    /// `lighter`, along each axis of the world; `turning` is what a moment about its centre of mass turns it by.
    pub fn hold(
        &mut self,
        car: usize,
        mut moving: [Vec3; 2],
        lighter: Vec3,
        turning: impl Fn(Vec3) -> Vec3,
    ) -> Option<Held> {
        let first = self.0.partition_point(|stop| stop.car < car);
        let count = self.0[first..].partition_point(|stop| stop.car == car);
        let stops = &mut self.0[first..first + count];
        let is_blow = stops.iter().any(|stop| stop.speed(&moving) < -BLOW);
        let begun = moving;
        for _ in 0..PASSES {
            let mut changed = 0.0f32;
            for stop in &mut *stops {
                let lever = stop.arm.cross(stop.normal);
                let compliance = (lighter * stop.normal).dot(stop.normal) + lever.dot(turning(lever));
                let total = (stop.pressed + (stop.allowed - stop.speed(&moving)) / compliance).max(0.0);
                let more = stop.normal * (total - stop.pressed);
                changed = changed.max((more * lighter).length());
                stop.pressed = total;
                moving[0] += more * lighter;
                moving[1] += turning(stop.arm.cross(more));
            }
            if changed <= SETTLED {
                break;
            }
        }
        let impulse = stops.iter().map(|stop| stop.normal * stop.pressed).sum();
        let angular = stops.iter().map(|stop| stop.arm.cross(stop.normal * stop.pressed)).sum();
        (moving != begun).then_some(Held { impulse, angular, is_blow })
    }
}

/// What stops a car.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// N s.
    pub impulse: Vec3,
    /// About the centre of mass, N m s.
    pub angular: Vec3,
    /// A blow has to stop the pose within the step. What rests is held evenly over it, so that it is left with the speed it has.
    pub is_blow: bool,
}

impl Stop {
    /// Of the point along the normal on a body that is `moving` by velocity and angular velocity, m/s.
    fn speed(&self, [linear, angular]: &[Vec3; 2]) -> f32 {
        (*linear + angular.cross(self.arm)).dot(self.normal)
    }
}
