//! Traffic cones to knock over. Cars push cones, but cones exert no force on cars.

use bevy::prelude::*;
use skidpad_bevy::core::DVec3;
use skidpad_bevy::{AXES, Car, CarMotion};

use crate::asked::Press;

/// Traffic cone. `put` is its initial position.
#[derive(Component)]
struct Upset {
    put: Vec3,
    /// Velocity, m/s.
    velocity: Vec3,
    /// Angular velocity, rad/s.
    turning: Vec3,
}

/// Height of a cone, m.
const HEIGHT: f32 = 0.5;
/// Radius of a cone, m.
const RADIUS: f32 = 0.16;

/// Number of cones of the slalom.
const COUNT: usize = 12;
/// Distance between two cones of the slalom, along the scene's x axis, m.
const APART: f64 = 18.0;
/// Position of the first cone in the scene, `[x, y]`, m.
const BEGINS: [f64; 2] = [0.0, -100.0];

const GRAVITY: f32 = 9.81;

/// Coefficient of restitution of a cone on the ground.
const BOUNCE: f32 = 0.35;

/// Rate at which friction with the ground slows a cone, as a share of its speed per second, 1/s.
const RUBS: f32 = 3.0;

pub fn plugin(app: &mut App) {
    app.add_systems(Startup, enter).add_systems(FixedUpdate, (hit, fly).chain()).add_systems(Update, put_back);
}

fn enter(mut commands: Commands, mut meshes: ResMut<Assets<Mesh>>, mut materials: ResMut<Assets<StandardMaterial>>) {
    let cone = meshes.add(Cone::new(RADIUS, HEIGHT));
    let base = meshes.add(Cuboid::new(2.4 * RADIUS, 0.04, 2.4 * RADIUS));
    let orange = materials.add(StandardMaterial { base_color: Color::srgb(1.0, 0.35, 0.02), ..default() });
    for i in 0..COUNT {
        let place = DVec3::new(BEGINS[0] + i as f64 * APART, BEGINS[1], f64::from(0.5 * HEIGHT));
        let put = AXES.point_to_world(place).as_vec3();
        let foot = (Mesh3d(base.clone()), MeshMaterial3d(orange.clone()), Transform::from_xyz(0.0, -0.5 * HEIGHT, 0.0));
        commands.spawn((
            Upset { put, velocity: Vec3::ZERO, turning: Vec3::ZERO },
            Mesh3d(cone.clone()),
            MeshMaterial3d(orange.clone()),
            Transform::from_translation(put),
            children![foot],
        ));
    }
}

/// Throws cones inside the hull of a car in the car's direction of motion, upwards and to the side. Skips cones that
/// already move faster in this direction.
fn hit(cars: Query<(&Car, &CarMotion, &Transform), Without<Upset>>, mut cones: Query<(&mut Upset, &Transform)>) {
    for (car, motion, place) in &cars {
        let hull = car.0.parts().hull;
        let middle = AXES.to_world(hull.centre + Vec3::Z * car.0.parts().centre_height);
        let half = AXES.to_world(hull.half_extents).abs() + RADIUS;
        let (speed, turning) = (AXES.to_world(motion.state().velocity), AXES.to_world(motion.state().angular));
        for (mut cone, at) in &mut cones {
            let inside = place.to_matrix().inverse().transform_point3(at.translation) - middle;
            if inside.abs().cmpgt(half + Vec3::Y * 0.5 * HEIGHT).any() {
                continue;
            }
            let way = speed + turning.cross(at.translation - place.translation);
            if (way - cone.velocity).dot(way) > 0.0 {
                let aside = place.right() * inside.x.signum() * 0.3 * way.length();
                cone.velocity = 1.15 * way + aside + Vec3::Y * 0.25 * way.length().min(12.0);
                cone.turning = Vec3::Y.cross(cone.velocity) / HEIGHT;
            }
        }
    }
}

fn fly(time: Res<Time>, mut cones: Query<(&mut Upset, &mut Transform)>) {
    let dt = time.delta_secs();
    for (mut cone, mut place) in cones.iter_mut().filter(|(cone, _)| cone.velocity != Vec3::ZERO) {
        cone.velocity.y -= GRAVITY * dt;
        place.translation += cone.velocity * dt;
        place.rotation = (Quat::from_scaled_axis(cone.turning * dt) * place.rotation).normalize();
        let lies = (place.up().y.abs() * 0.5 * HEIGHT).max(RADIUS);
        if place.translation.y < lies {
            place.translation.y = lies;
            cone.velocity.y = if cone.velocity.y < -0.8 { -BOUNCE * cone.velocity.y } else { 0.0 };
            let left = (1.0 - RUBS * dt).max(0.0);
            cone.velocity *= Vec3::new(left, 1.0, left);
            cone.turning *= left;
            if cone.velocity.length() < 0.05 {
                (cone.velocity, cone.turning) = (Vec3::ZERO, Vec3::ZERO);
            }
        }
    }
}

fn put_back(mut pressed: MessageReader<Press>, mut cones: Query<(&mut Upset, &mut Transform)>) {
    for _ in pressed.read().filter(|press| **press == Press::Reset) {
        for (mut cone, mut place) in &mut cones {
            *place = Transform::from_translation(cone.put);
            (cone.velocity, cone.turning) = (Vec3::ZERO, Vec3::ZERO);
        }
    }
}
