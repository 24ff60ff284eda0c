//! Walls that stop rims: sequential impulses at the points where they do, before Rapier moves the pose.

use rapier3d::prelude::*;
use skidpad_core::HullPoint;

use crate::{Axes, Sets};

/// Passes over the points of a car.
const PASSES: usize = 16;

/// Change of velocity by one point that ends the passes, m/s.
const SETTLED: f32 = 1e-6;

/// Speed against a wall from which a touch is a blow, m/s.
const BLOW: f32 = 0.5;

/// What stops rims in a step; of all cars, car by car.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stops(Vec<Stop>);

/// A point of a rim that would roll into something.
#[derive(Clone, Copy, Debug)]
struct Stop {
    car: usize,
    arm: Vector,
    normal: Vector,
    /// Least speed along the normal, m/s; of a wall that moves, with its own.
    allowed: f32,
    /// Impulse so far, N s.
    pressed: f32,
}

impl Stops {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// A rim of `car` would roll at `point` into `wall`. What can be pushed away does not stop it.
    pub fn add(
        &mut self,
        sets: &Sets<'_>,
        axes: Axes,
        car: usize,
        (point, wall): (HullPoint, ColliderHandle),
        place: Vector,
    ) {
        let body = sets.colliders.get(wall).and_then(Collider::parent).and_then(|parent| sets.bodies.get(parent));
        if body.is_some_and(RigidBody::is_dynamic) {
            return;
        }
        let [arm, normal] = [point.arm, point.normal].map(|vector| axes.to_world(vector));
        let moves = body.map_or(0.0, |body| body.velocity_at_point(place + arm).dot(normal));
        let allowed = point.allowed_speed(sets.parameters.dt) + moves;
        self.0.push(Stop { car, arm, normal, allowed, pressed: 0.0 });
    }

    /// Stops `body`, the chassis of `car`, whose forces are those of the coming step.
    pub fn hold(&mut self, sets: &mut Sets<'_>, car: usize, handle: RigidBodyHandle) {
        let first = self.0.partition_point(|stop| stop.car < car);
        let count = self.0[first..].partition_point(|stop| stop.car == car);
        let (stops, dt) = (&mut self.0[first..first + count], sets.parameters.dt);
        let Some(body) = sets.bodies.get_mut(handle).filter(|_| count > 0) else { return };
        let properties = body.mass_properties();
        let (lighter, turning) = (properties.effective_inv_mass, properties.effective_world_inv_inertia);
        let pull = (sets.gravity * body.gravity_scale() + body.user_force() * lighter) * dt;
        let turn = turning * body.user_torque() * dt;
        let mut moving = [body.linvel() + pull, body.angvel() + turn];
        let is_blow = stops.iter().any(|stop| stop.speed(&moving) < -BLOW);
        let begun = moving;
        for _ in 0..PASSES {
            let mut changed = 0.0f32;
            for stop in &mut *stops {
                let lever = stop.arm.cross(stop.normal);
                let compliance = (lighter * stop.normal).dot(stop.normal) + lever.dot(turning * lever);
                let total = (stop.pressed + (stop.allowed - stop.speed(&moving)) / compliance).max(0.0);
                let more = stop.normal * (total - stop.pressed);
                changed = changed.max((more * lighter).length());
                stop.pressed = total;
                moving[0] += more * lighter;
                moving[1] += turning * stop.arm.cross(more);
            }
            if changed <= SETTLED {
                break;
            }
        }
        if moving == begun {
            return;
        }
        let impulse: Vector = stops.iter().map(|stop| stop.normal * stop.pressed).sum();
        let angular: Vector = stops.iter().map(|stop| stop.arm.cross(stop.normal * stop.pressed)).sum();
        // A blow stops the pose within the step. What rests is held evenly, so that it is left with the speed it has.
        if is_blow {
            body.apply_impulse(impulse, true);
            body.apply_torque_impulse(angular, true);
        } else {
            body.add_force(impulse / dt, true);
            body.add_torque(angular / dt, true);
        }
    }
}

impl Stop {
    /// Of the point along the normal on a body that is `moving` by velocity and angular velocity, m/s.
    fn speed(&self, [linear, angular]: &[Vector; 2]) -> f32 {
        (*linear + angular.cross(self.arm)).dot(self.normal)
    }
}
