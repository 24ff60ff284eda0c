//! Walls that stop rims, in Rapier worlds.

use rapier3d::prelude::*;
use skidpad_core::HullPoint;
use skidpad_engines::RimWalls;

use crate::{RapierWorldMut, WorldAxes};

/// Adds the contact point at which `wall` stops a rim of `car`, unless the wall belongs to a dynamic body. `point` has the axes
/// of the cars. The allowed speed along the normal is that for the gap, plus the speed of a kinematic wall. `place` is the
/// centre of mass of the car, in world axes, m.
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
    // Speed of the wall along its normal, m/s.
    let moves = body.map_or(0.0, |body| body.velocity_at_point(place + arm).dot(normal));
    stops.add(car, arm, normal, point.allowed_speed(sets.parameters.dt) + moves);
}

/// Applies the impulses that stop the rims of `car` to its chassis `handle`, whose forces for the coming step are already set.
/// The velocities at the end of the step without stops follow from gravity and these forces. An impact is applied as an
/// impulse, anything else as a force over the step. Does nothing if no rim of the car is stopped.
pub fn apply_rim_wall_impulses(
    stops: &mut RimWalls,
    sets: &mut RapierWorldMut<'_>,
    car: usize,
    handle: RigidBodyHandle,
) {
    let dt = sets.parameters.dt;
    let Some(body) = sets.bodies.get_mut(handle).filter(|_| stops.has_walls(car)) else { return };
    let properties = body.mass_properties();
    // Inverse mass along each axis (1/kg) and inverse inertia (1/(kg m²)).
    let (lighter, turning) = (properties.effective_inv_mass, properties.effective_world_inv_inertia);
    // Change of velocity in the step by gravity and forces, m/s.
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
