//! Walls that stop rims, in Rapier worlds.

use rapier3d::prelude::*;
use skidpad_core::HullPoint;
use skidpad_engines::RimWalls;

use crate::{RapierWorldMut, WorldAxes};

/// Adds the stop of a rim of `car` by `wall` at `point`, unless the wall belongs to a dynamic body. `place` is the centre of mass
/// of the car, in world axes, m.
pub fn add_rim_wall(
    stops: &mut RimWalls,
    sets: &RapierWorldMut<'_>,
    axes: WorldAxes,
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
    stops.add(car, arm, normal, point.allowed_speed(sets.parameters.dt) + moves);
}

/// Applies the impulses that stop the rims of `car` to its chassis `handle`, whose forces for the coming step are already set. An
/// impact is applied as an impulse, anything else as a force over the step.
pub fn apply_rim_wall_impulses(
    stops: &mut RimWalls,
    sets: &mut RapierWorldMut<'_>,
    car: usize,
    handle: RigidBodyHandle,
) {
    let dt = sets.parameters.dt;
    let Some(body) = sets.bodies.get_mut(handle).filter(|_| stops.has_walls(car)) else { return };
    let properties = body.mass_properties();
    let (lighter, turning) = (properties.effective_inv_mass, properties.effective_world_inv_inertia);
    let pull = (sets.gravity * body.gravity_scale() + body.user_force() * lighter) * dt;
    let turn = turning * body.user_torque() * dt;
    let moving = [body.linvel() + pull, body.angvel() + turn];
    let Some(held) = stops.solve(car, moving, lighter, |moment| turning * moment) else { return };
    if held.is_impact {
        body.apply_impulse(held.impulse, true);
        body.apply_torque_impulse(held.angular, true);
    } else {
        body.add_force(held.impulse / dt, true);
        body.add_torque(held.angular / dt, true);
    }
}
