//! Walls that stop rims, in Rapier worlds.

use rapier3d::prelude::*;
use skidpad_core::HullPoint;
use skidpad_engines::RimWalls;

use crate::{RapierWorldMut, WorldAxes};

/// Adds the contact `point` at which the collider `wall` stops a rim of `car` to `rim_walls`, in world axes, unless the
/// wall belongs to a dynamic body. `point` has the axes of the cars. The minimum speed along the normal is that which
/// the gap allows ([`HullPoint::allowed_speed`]), plus the speed of the wall along the normal. A wall without body is
/// at rest. `car_position` is the centre of mass of the car, in world axes, m.
pub fn add_rim_wall(
    rim_walls: &mut RimWalls,
    world: &RapierWorldMut<'_>,
    axes: WorldAxes,
    car: usize,
    (point, wall): (HullPoint, ColliderHandle),
    car_position: Vector,
) {
    let body = world.colliders.get(wall).and_then(Collider::parent).and_then(|parent| world.bodies.get(parent));
    if body.is_some_and(RigidBody::is_dynamic) {
        return;
    }
    let [arm, normal] = [point.arm, point.normal].map(|vector| axes.to_world(vector));
    // Speed of the wall along its normal, m/s.
    let wall_speed = body.map_or(0.0, |body| body.velocity_at_point(car_position + arm).dot(normal));
    rim_walls.add(car, arm, normal, point.allowed_speed(world.parameters.dt) + wall_speed);
}

/// Applies the impulses that stop the rims of `car` to its chassis `handle`, whose forces for the coming step are
/// already set. Computes the velocities at the end of the step without stops from the current velocities, gravity and
/// these forces; damping is left out. Solves all contact points of the car with walls from there ([`RimWalls::solve`]).
/// Applies the sum of their impulses at once if it is an impact, otherwise as a force over the step, and wakes the
/// body. Does nothing if no wall is near a rim of the car, if no stop is needed, or if the body is missing.
pub fn apply_rim_wall_impulses(
    rim_walls: &mut RimWalls,
    world: &mut RapierWorldMut<'_>,
    car: usize,
    handle: RigidBodyHandle,
) {
    let dt = world.parameters.dt;
    let Some(body) = world.bodies.get_mut(handle).filter(|_| rim_walls.has_walls(car)) else { return };
    let properties = body.mass_properties();
    // Inverse mass along each axis (1/kg) and inverse inertia (1/(kg m²)).
    let (inverse_mass, inverse_inertia) = (properties.effective_inv_mass, properties.effective_world_inv_inertia);
    // Change of velocity in the step by gravity and forces, m/s.
    let velocity_change = (world.gravity * body.gravity_scale() + body.user_force() * inverse_mass) * dt;
    let angular_change = inverse_inertia * body.user_torque() * dt;
    let end_twist = [body.linvel() + velocity_change, body.angvel() + angular_change];
    let Some(stop) = rim_walls.solve(car, end_twist, inverse_mass, |angular_impulse| inverse_inertia * angular_impulse)
    else {
        return;
    };
    // `true`: the calls wake the body.
    if stop.is_impact {
        body.apply_impulse(stop.impulse, true);
        body.apply_torque_impulse(stop.angular_impulse, true);
    } else {
        body.add_force(stop.impulse / dt, true);
        body.add_torque(stop.angular_impulse / dt, true);
    }
}
