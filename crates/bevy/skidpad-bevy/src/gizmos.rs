//! Debug lines for forces, contacts and friction.

use crate::car::{CarSignals, Wheel, WheelSignals};
use bevy_app::prelude::*;
use bevy_color::Color;
use bevy_ecs::prelude::*;
use bevy_gizmos::prelude::*;
use bevy_math::{Isometry3d, Quat, Vec3};
use bevy_reflect::prelude::*;
use bevy_transform::prelude::*;

/// Gizmo configuration group of the lines that [`CarGizmosPlugin`] draws.
#[derive(Default, Reflect, GizmoConfigGroup)]
pub struct CarGizmos;

/// Plugin that draws debug lines. For every wheel in contact: the force of the ground (blue to red with the share of
/// friction that is used), the normal of the ground (grey) and the friction circle. For every car: its acceleration
/// (yellow).
#[derive(Clone, Copy, Debug, Default)]
pub struct CarGizmosPlugin;

impl Plugin for CarGizmosPlugin {
    /// Registers the gizmo group and draws after all transforms are propagated.
    fn build(&self, app: &mut App) {
        app.init_gizmo_group::<CarGizmos>()
            .add_systems(PostUpdate, (draw_wheels, draw_cars).after(TransformSystems::Propagate));
    }
}

/// Length of drawn forces, m/N.
const METRES_PER_NEWTON: f32 = 1e-4;

/// Draws the lines of every wheel in contact at its contact point: an arrow of the force of the ground, 0.3 m of the
/// normal, and a circle in the ground with the radius `grip` × normal force. The scale of forces is
/// [`METRES_PER_NEWTON`]. Arrow and circle share a colour that goes from blue to red with the friction utilisation.
fn draw_wheels(mut gizmos: Gizmos<CarGizmos>, wheels: Query<&WheelSignals, With<Wheel>>) {
    for wheel in wheels.iter().filter(|wheel| wheel.in_contact) {
        let (contact_point, normal) = (wheel.point, wheel.normal);
        let colour = Color::srgb(wheel.friction_utilisation, 0.2, 1.0 - wheel.friction_utilisation);
        gizmos.arrow(contact_point, contact_point + wheel.force * METRES_PER_NEWTON, colour);
        gizmos.line(contact_point, contact_point + 0.3 * normal, Color::srgb(0.6, 0.6, 0.6));
        // Radius of the friction circle at a friction coefficient of 1 times the grip of the ground, m.
        let friction_radius = wheel.grip * wheel.force.dot(normal) * METRES_PER_NEWTON;
        // Rotation that turns the circle from the xy plane into the ground.
        let to_ground = Quat::from_rotation_arc(Vec3::Z, normal);
        gizmos.circle(Isometry3d::new(contact_point, to_ground), friction_radius.max(0.0), colour);
    }
}

/// Draws an arrow along the acceleration of every car, 0.1 m per m/s², from a point 1.5 m above its origin. The
/// vertical acceleration is left out.
fn draw_cars(mut gizmos: Gizmos<CarGizmos>, cars: Query<(&CarSignals, &GlobalTransform)>) {
    for (signals, transform) in &cars {
        let [lateral, longitudinal] = signals.acceleration;
        // Acceleration, world, m/s². In the axes of the car x points to the right and −z forward.
        let world_acceleration = transform.rotation() * Vec3::new(-lateral, 0.0, -longitudinal);
        let start = transform.translation() + transform.up() * 1.5;
        gizmos.arrow(start, start + 0.1 * world_acceleration, Color::srgb(1.0, 0.9, 0.1));
    }
}
