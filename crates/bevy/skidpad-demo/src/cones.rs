//! Traffic cones to knock over. Cars push cones, but cones exert no force on cars.

use bevy::prelude::*;
use skidpad_bevy::core::DVec3;
use skidpad_bevy::{BEVY_AXES, Car, CarMotion};

use crate::player_input::Press;

/// Traffic cone. `initial_position` is the position of the middle of its axis at the start, world axes of Bevy, m.
#[derive(Component)]
struct TrafficCone {
    initial_position: Vec3,
    /// Velocity, m/s.
    velocity: Vec3,
    /// Angular velocity, rad/s.
    angular_velocity: Vec3,
}

/// Height of a cone, m.
const CONE_HEIGHT_M: f32 = 0.5;
/// Radius of a cone, m.
const CONE_RADIUS_M: f32 = 0.16;

/// Number of cones of the slalom.
const CONE_COUNT: usize = 12;
/// Distance between two cones of the slalom, along the scene's x axis, m.
const CONE_SPACING_M: f64 = 18.0;
/// Position of the first cone in the scene, `[x, y]`, m.
const FIRST_CONE_POSITION_M: [f64; 2] = [0.0, -100.0];

/// Gravitational acceleration of the cones, m/s².
const GRAVITY: f32 = 9.81;

/// Coefficient of restitution of a cone on the ground.
const CONE_RESTITUTION: f32 = 0.35;

/// Rate at which friction with the ground slows a cone, as a share of its speed per second, 1/s.
const GROUND_FRICTION_RATE: f32 = 3.0;

/// Adds the cones. They are hit and moved once a tick, and reset by the key that resets the car.
pub fn plugin(app: &mut App) {
    app.add_systems(Startup, spawn_cones)
        .add_systems(FixedUpdate, (throw_hit_cones, move_cones).chain())
        .add_systems(Update, reset_cones);
}

/// Spawns [`CONE_COUNT`] cones with square bases in a straight line along x of the scene. They stand at height 0,
/// whatever the ground is there.
fn spawn_cones(
    mut commands: Commands,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let cone = meshes.add(Cone::new(CONE_RADIUS_M, CONE_HEIGHT_M));
    // Square base, 40 mm high.
    let base = meshes.add(Cuboid::new(2.4 * CONE_RADIUS_M, 0.04, 2.4 * CONE_RADIUS_M));
    let orange = materials.add(StandardMaterial { base_color: Color::srgb(1.0, 0.35, 0.02), ..default() });
    for i in 0..CONE_COUNT {
        let scene_position = DVec3::new(
            FIRST_CONE_POSITION_M[0] + i as f64 * CONE_SPACING_M,
            FIRST_CONE_POSITION_M[1],
            f64::from(0.5 * CONE_HEIGHT_M),
        );
        // Position in world axes of Bevy, m.
        let position = BEVY_AXES.point_to_world(scene_position).as_vec3();
        // The base is a child, half the height of the cone below its middle.
        let base_part =
            (Mesh3d(base.clone()), MeshMaterial3d(orange.clone()), Transform::from_xyz(0.0, -0.5 * CONE_HEIGHT_M, 0.0));
        commands.spawn((
            TrafficCone { initial_position: position, velocity: Vec3::ZERO, angular_velocity: Vec3::ZERO },
            Mesh3d(cone.clone()),
            MeshMaterial3d(orange.clone()),
            Transform::from_translation(position),
            children![base_part],
        ));
    }
}

/// Throws cones inside the hull of a car. The hull is enlarged by the radius of a cone, and vertically by half its
/// height in addition. Cones that already move faster in the direction of the car's motion are skipped. The car gets no
/// reaction force.
///
/// The new velocity of a cone is the sum of three parts, where v is the velocity of the car at the middle of the cone,
/// from the motion of its centre of mass: 1.15 v; sideways away from the middle of the car 0.3 |v|; upwards 0.25 |v|,
/// at most 3 m/s. The cone topples in the direction of its motion.
fn throw_hit_cones(
    cars: Query<(&Car, &CarMotion, &Transform), Without<TrafficCone>>,
    mut cones: Query<(&mut TrafficCone, &Transform)>,
) {
    for (car, motion, car_transform) in &cars {
        let hull = car.0.parts().hull;
        // Centre of mass and middle of the hull from the origin of the transform, which is on the ground below the
        // centre of mass at rest; axes of the car in Bevy, m.
        let centre_of_mass = BEVY_AXES.to_world(Vec3::Z * car.0.parts().centre_height);
        let hull_centre = centre_of_mass + BEVY_AXES.to_world(hull.centre);
        // Centre of mass, to which the velocity belongs, world axes of Bevy, m.
        let mass_position = car_transform.transform_point(centre_of_mass);
        let half_size = BEVY_AXES.to_world(hull.half_extents).abs() + CONE_RADIUS_M;
        let (velocity, angular_velocity) =
            (BEVY_AXES.to_world(motion.state().velocity), BEVY_AXES.to_world(motion.state().angular_velocity));
        for (mut cone, cone_transform) in &mut cones {
            // Position of the cone in the axes of the hull, from its middle, m.
            let cone_position =
                car_transform.to_matrix().inverse().transform_point3(cone_transform.translation) - hull_centre;
            // Outside of the enlarged hull along any axis.
            if cone_position.abs().cmpgt(half_size + Vec3::Y * 0.5 * CONE_HEIGHT_M).any() {
                continue;
            }
            // Velocity of the car at the cone, v + ω × r with r from the centre of mass, m/s.
            let car_velocity = velocity + angular_velocity.cross(cone_transform.translation - mass_position);
            if (car_velocity - cone.velocity).dot(car_velocity) > 0.0 {
                // Velocity to the side on which the cone is, m/s.
                let lateral_velocity = car_transform.right() * cone_position.x.signum() * 0.3 * car_velocity.length();
                // The upward part is limited to 0.25 · 12 m/s = 3 m/s.
                cone.velocity =
                    1.15 * car_velocity + lateral_velocity + Vec3::Y * 0.25 * car_velocity.length().min(12.0);
                // Axis across the motion, so that the top leads.
                cone.angular_velocity = Vec3::Y.cross(cone.velocity) / CONE_HEIGHT_M;
            }
        }
    }
}

/// Moves the cones that are not at rest by one tick (semi-implicit Euler with gravity), above a plane at height 0.
///
/// On the plane a cone bounces with [`CONE_RESTITUTION`] if it falls faster than 0.8 m/s; its horizontal and angular
/// velocities decay with [`GROUND_FRICTION_RATE`]. Below 0.05 m/s it stops. Cones do not collide with each other or
/// with boxes.
fn move_cones(time: Res<Time>, mut cones: Query<(&mut TrafficCone, &mut Transform)>) {
    let dt = time.delta_secs();
    for (mut cone, mut transform) in cones.iter_mut().filter(|(cone, _)| cone.velocity != Vec3::ZERO) {
        cone.velocity.y -= GRAVITY * dt;
        transform.translation += cone.velocity * dt;
        transform.rotation = (Quat::from_scaled_axis(cone.angular_velocity * dt) * transform.rotation).normalize();
        // Height of the middle of a cone that touches the plane, m: half its height upright, its radius on the side.
        let contact_height = (transform.up().y.abs() * 0.5 * CONE_HEIGHT_M).max(CONE_RADIUS_M);
        if transform.translation.y < contact_height {
            transform.translation.y = contact_height;
            // A slow fall ends on the plane.
            cone.velocity.y = if cone.velocity.y < -0.8 { -CONE_RESTITUTION * cone.velocity.y } else { 0.0 };
            // Share of the velocities that friction leaves.
            let retained_ratio = (1.0 - GROUND_FRICTION_RATE * dt).max(0.0);
            cone.velocity *= Vec3::new(retained_ratio, 1.0, retained_ratio);
            cone.angular_velocity *= retained_ratio;
            if cone.velocity.length() < 0.05 {
                (cone.velocity, cone.angular_velocity) = (Vec3::ZERO, Vec3::ZERO);
            }
        }
    }
}

/// Puts every cone upright and at rest at its initial position when the reset key is pressed.
fn reset_cones(mut presses: MessageReader<Press>, mut cones: Query<(&mut TrafficCone, &mut Transform)>) {
    for _ in presses.read().filter(|press| **press == Press::Reset) {
        for (mut cone, mut transform) in &mut cones {
            *transform = Transform::from_translation(cone.initial_position);
            (cone.velocity, cone.angular_velocity) = (Vec3::ZERO, Vec3::ZERO);
        }
    }
}
