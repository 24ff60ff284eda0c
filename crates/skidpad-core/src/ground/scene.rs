//! Ground, obstacles, gravity and wind of a world, as plain numbers.

use crate::constants::STANDARD_GRAVITY;
use crate::ground::boxes::{FixedBox, rotation_about};
use crate::ground::free_body::FreeBody;
use crate::ground::platform::Platform;
use crate::ground::rim_contact::ground_contact;
use crate::ground::terrain::{HeightField, TriangleMesh};
use crate::port::Probe;
use crate::port::texture::SurfaceTexture;
use bevy_math::{DVec3, Quat, Vec3};
use skidpad_simd::math;
use std::sync::Arc;

/// Distance along a wheel's ray up to which surfaces count as flush, m. The value is above the rounding error on a road
/// of kilometres, and below the resolution of a wheel.
pub const FLUSH_TOLERANCE_M: f32 = 1e-3;

/// An infinite plane with grip, at any slope, and obstacles on it, in it or above it: boxes, height fields, meshes.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Gravity along −z of the world, m/s², > 0.
    pub gravity: f32,
    /// Slope of the plane, rad, in ±π/2, positive if the plane rises along +x.
    pub slope: f32,
    /// Factor on the friction of every tyre on the plane, ≥ 0; 1 is the surface on which the tyre was described.
    pub grip: f32,
    /// Texture of the plane. Default: hard and even.
    pub texture: SurfaceTexture,
    /// Velocity of the air without gusts, world, m/s. Default: zero.
    pub wind: Vec3,
    /// Gusts, which add to the wind. Default: none.
    pub gusts: Vec<Gust>,
    /// Fixed boxes. Default: none. If a wheel's ray hits several surfaces within [`FLUSH_TOLERANCE_M`], the last of
    /// them supplies the grip, in the order plane, first box, last box. A box flush with the ground is therefore a
    /// patch of another surface.
    pub boxes: Vec<FixedBox>,
    /// Whether the plane exists. Without it there is no ground below the other surfaces; cars still start aligned with
    /// its slope.
    pub has_plane: bool,
    /// Height fields. Default: none. They follow the boxes in the order of surfaces within [`FLUSH_TOLERANCE_M`].
    pub height_fields: Vec<Arc<HeightField>>,
    /// Meshes. Default: none. They are the last in the order of surfaces within [`FLUSH_TOLERANCE_M`].
    pub meshes: Vec<Arc<TriangleMesh>>,
    /// Boxes that move on a given course. Default: none. They follow the fixed boxes in the order of surfaces within
    /// [`FLUSH_TOLERANCE_M`], and carry the wheels on them.
    pub platforms: Vec<Platform>,
    /// Boxes that can be pushed. Default: none. They collide with everything in the scene, with each other, and with
    /// cars even if `cars_collide` is false. Worlds of peers have none.
    pub free_bodies: Vec<FreeBody>,
    /// Whether the bodywork of cars in one world collides. Default: true. If false, cars pass through each other and
    /// share only the ground, as for a fleet that starts on one spot. Peers behave like the programs they represent; in
    /// Rapier worlds of users the collision groups of the chassis decide.
    pub cars_collide: bool,
}

/// A single gust of wind. The gust rises as `½ (1 − cos π t / r)`, stays constant, and falls symmetrically. Without the
/// constant part it is the discrete gust of EASA CS 25.341(a)(2), `½ U (1 − cos π s / H)` over the distance s, crossed
/// at the speed `H / r`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gust {
    /// Largest velocity that the gust adds to the wind, world, m/s.
    pub velocity: Vec3,
    /// Start of the gust, in time since the start of the world, s.
    pub start_time: f32,
    /// Duration r of the rise, and also of the fall, s, ≥ 0; 0 is a step.
    pub rise_time: f32,
    /// Duration of the constant part, s, ≥ 0.
    pub hold_time: f32,
}

impl Gust {
    /// Returns the velocity that the gust adds to the wind at `time` s since the start of the world, world, m/s; zero
    /// before and after the gust. A rise time of 0 returns the full velocity from start to end, both included.
    pub fn velocity_at(&self, time: f64) -> Vec3 {
        let time_since_start = (time - f64::from(self.start_time)) as f32; // time since the start of the gust, s
        let time_to_end = 2.0 * self.rise_time + self.hold_time - time_since_start; // time to its end, s
        if self.rise_time == 0.0 {
            return if time_since_start.min(time_to_end) >= 0.0 { self.velocity } else { Vec3::ZERO };
        }
        // The fall mirrors the rise: progress counts from the nearer end of the gust, up to the rise time.
        let rise_progress = time_since_start.min(time_to_end).clamp(0.0, self.rise_time);
        let (_, cosine) = math::sin_cos(core::f32::consts::PI * rise_progress / self.rise_time);
        self.velocity * (0.5 - 0.5 * cosine)
    }
}

impl Default for Scene {
    /// Returns a level plane of grip 1 with standard gravity and no wind, obstacles or bodies; cars collide.
    fn default() -> Self {
        Self {
            gravity: STANDARD_GRAVITY,
            slope: 0.0,
            grip: 1.0,
            texture: SurfaceTexture::NONE,
            wind: Vec3::ZERO,
            gusts: Vec::new(),
            boxes: Vec::new(),
            has_plane: true,
            height_fields: Vec::new(),
            meshes: Vec::new(),
            platforms: Vec::new(),
            free_bodies: Vec::new(),
            cars_collide: true,
        }
    }
}

impl Scene {
    /// Returns a flat scene of grip 1 with standard gravity, without obstacles and wind.
    pub fn flat() -> Self {
        Self::default()
    }

    /// Returns a scene whose plane rises along +x by `slope` rad.
    pub fn sloping(slope: f32) -> Self {
        Self { slope, ..Self::default() }
    }

    /// Returns the velocity of the air, gusts included, in the middle of the step of `dt` s that starts at `time` s,
    /// world, m/s.
    pub fn wind_at_midstep(&self, time: f64, dt: f32) -> Vec3 {
        let mid_time = time + 0.5 * f64::from(dt);
        self.gusts.iter().fold(self.wind, |wind, gust| wind + gust.velocity_at(mid_time))
    }

    /// Returns the unit normal of the plane.
    pub fn plane_normal(&self) -> Vec3 {
        let (sin, cos) = math::sin_cos(self.slope);
        Vec3::new(-sin, 0.0, cos)
    }

    /// Returns the rotation from vehicle axes to world axes of a car that is upright on the plane, turned by `heading`
    /// (rad, to the left) about the normal. Heading 0 is along +x in the plane, uphill for a positive slope.
    pub fn upright_orientation(&self, heading: f32) -> Quat {
        rotation_about(Vec3::Y, -self.slope) * rotation_about(Vec3::Z, heading)
    }

    /// Returns the distance from `ray_start` (world, m) along the unit vector `direction` to the nearest surface of the
    /// scene, m, ≥ 0; `None` if the ray hits nothing. Checks the plane (both sides, if it exists, but not for a ray
    /// along it), boxes, platforms and free bodies by the face through which the ray enters, height fields and meshes.
    /// A ray that starts in a box passes that box. Platforms are in their pose at time 0, free bodies in that at the
    /// start. Unevenness has no effect.
    pub(crate) fn distance_to_ground(&self, ray_start: DVec3, direction: DVec3) -> Option<f64> {
        let normal = self.plane_normal().as_dvec3();
        let plane_distance = -ray_start.dot(normal) / direction.dot(normal);
        // A ray along the plane gives an infinite quotient, or NaN on the plane.
        let is_hit = self.has_plane && plane_distance >= 0.0 && plane_distance.is_finite();
        let plane_distance = is_hit.then_some(plane_distance);
        let box_distances = self.boxes.iter().filter_map(|fixed_box| fixed_box.entry_distance(ray_start, direction));
        let platform_distances =
            self.platforms.iter().filter_map(|platform| platform.box_at(0.0).entry_distance(ray_start, direction));
        let body_distances =
            self.free_bodies.iter().filter_map(|body| body.box_at(&body.motion).entry_distance(ray_start, direction));
        box_distances
            .chain(platform_distances)
            .chain(body_distances)
            .chain(plane_distance)
            .chain(self.distance_to_terrain(ray_start, direction))
            .reduce(f64::min)
    }

    /// Returns the distance along the ray to the first triangle of height fields and meshes, m; `None` if it hits none.
    /// Collects every triangle without any culling, relative to the start of the ray, and casts an unlimited ray with
    /// `f32` coordinates. A zero `direction` counts as downwards.
    fn distance_to_terrain(&self, ray_start: DVec3, direction: DVec3) -> Option<f64> {
        let mut triangles = Vec::new();
        for field in &self.height_fields {
            // Everything from −∞ to ∞; source 0, which is not used.
            field.visit_near(Vec3::MIN, Vec3::MAX, field.origin() - ray_start, 0, &mut triangles);
        }
        for mesh in &self.meshes {
            let to_start = mesh.origin() - ray_start;
            triangles.extend(
                (0..mesh.triangles().len()).map(|triangle_index| mesh.triangle(triangle_index as u32, to_start, 0)),
            );
        }
        let direction = direction.as_vec3().normalize_or(Vec3::NEG_Z);
        let (offset, length) = (Vec3::ZERO, f32::MAX);
        let ray = Probe { car: 0, position: ray_start, offset, direction, length, rim: None };
        // Flat triangles: normals do not matter.
        ground_contact(&ray, &triangles, |_| None).map(|(_, contact)| f64::from(contact.distance))
    }

    /// Returns the point (world, m) at `x` up the slope and `y` to the left in the plane (m), and `height` (m) above
    /// the plane along its normal.
    pub fn point_above_plane(&self, x: f64, y: f64, height: f64) -> DVec3 {
        let normal = self.plane_normal().as_dvec3();
        // This vector is perpendicular to the normal to the last digit, so that the point is on the plane even 100 km
        // away.
        let uphill = DVec3::new(normal.z, 0.0, -normal.x);
        uphill * x + DVec3::Y * y + normal * height
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skidpad_simd::math;

    /// Checks the distances of vertical rays to the plane, to the top of a turned box and beside it, to a pitched box,
    /// from inside a box to the plane below, and from below the plane (no hit).
    #[test]
    fn rays_reach_the_nearest_of_plane_and_boxes() {
        let table = FixedBox::axis_aligned(DVec3::new(4.0, 0.0, 1.0), Vec3::new(2.0, 2.0, 2.0)).rotated(0.5, 0.0, 0.0);
        let tilted = FixedBox::axis_aligned(DVec3::new(0.0, 9.0, 0.0), Vec3::new(4.0, 4.0, 2.0)).rotated(0.0, 0.1, 0.0);
        let scene = Scene { boxes: vec![table, tilted], ..Scene::flat() };
        let below = |x: f64, y: f64, z: f64| scene.distance_to_ground(DVec3::new(x, y, z), DVec3::NEG_Z);
        let (_, cosine) = math::sin_cos(0.1);
        for (found, expected) in [
            (below(0.0, 0.0, 3.0), Some(3.0)),
            (below(4.0, 0.0, 3.0), Some(1.0)),
            (below(4.9, 0.9, 3.0), Some(3.0)),
            (below(0.0, 9.0, 3.0), Some(3.0 - 1.0 / f64::from(cosine))),
            (below(4.0, 0.0, 1.5), Some(1.5)),
            (below(0.0, 0.0, -1.0), None),
        ] {
            assert_eq!(found.is_some(), expected.is_some(), "{found:?} instead of {expected:?}");
            // The tolerance is due to rotations in 32 bits.
            assert!((found.unwrap_or(0.0) - expected.unwrap_or(0.0)).abs() < 1e-6, "{found:?} instead of {expected:?}");
        }
    }

    /// Checks that rays in four directions along the plane, starting above, on and below it, hit nothing.
    #[test]
    fn rays_along_the_plane_hit_nothing() {
        for height in [1.0, 0.0, -1.0] {
            for direction in [DVec3::X, DVec3::NEG_X, DVec3::Y, DVec3::NEG_Y] {
                let found = Scene::flat().distance_to_ground(DVec3::new(0.0, 0.0, height), direction);
                assert_eq!(found, None, "from {height} along {direction}");
            }
        }
    }

    /// Checks the velocity of a gust over time against its closed form, that of a gust without rise time, and that wind
    /// and two gusts add up in the middle of a step.
    #[test]
    fn a_gust_rises_holds_and_falls() {
        let gust = Gust { velocity: Vec3::new(0.0, 8.0, 0.0), start_time: 2.0, rise_time: 1.0, hold_time: 3.0 };
        for (time, share) in
            [(0.0, 0.0), (2.0, 0.0), (2.5, 0.5), (3.0, 1.0), (5.9, 1.0), (6.5, 0.5), (7.0, 0.0), (1e6, 0.0)]
        {
            assert!((gust.velocity_at(time).y - 8.0 * share).abs() < 1e-5, "{time}: {:?}", gust.velocity_at(time));
        }
        let sudden = Gust { rise_time: 0.0, ..gust };
        let share = |time| sudden.velocity_at(time).y / 8.0;
        assert_eq!([0.0, 1.9, 2.0, 4.9, 5.1, 1e6].map(share), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
        let scene = Scene { wind: Vec3::X, gusts: vec![gust, gust], ..Scene::flat() };
        assert_eq!(scene.wind_at_midstep(1.0, 0.1), Vec3::X);
        assert!((scene.wind_at_midstep(3.5, 0.1) - Vec3::new(1.0, 16.0, 0.0)).length() < 1e-5);
    }
}
