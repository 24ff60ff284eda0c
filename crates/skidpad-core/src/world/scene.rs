//! The ground and the gravity a car drives in, as plain numbers.

use crate::constants::STANDARD_GRAVITY;
use crate::math;
use crate::wheel::envelope::support;
use crate::world::boxes::{FixedBox, turn};
use crate::world::free_body::FreeBody;
use crate::world::platform::Platform;
use crate::world::seam::Probe;
use crate::world::terrain::{HeightField, TriangleMesh};
use crate::world::texture::Texture;
use bevy_math::{DVec3, Quat, Vec3};
use std::sync::Arc;

/// Surfaces no further apart along a wheel's ray lie flush, m: above the rounding of a road of kilometres, below what a wheel
/// feels.
pub const FLUSH: f32 = 1e-3;

/// An infinite plane with grip, at any slope, and what stands on it, in it or above it: boxes, fields of heights, meshes.
#[derive(Clone, Debug, PartialEq)]
pub struct Scene {
    /// Gravity along −z of the world, m/s², above 0.
    pub gravity: f32,
    /// Slope of the ground, rad in ±π/2, positive when it rises along +x.
    pub slope: f32,
    /// Factor on the friction of every tyre, ≥ 0; 1 is the surface the tyre was described on.
    pub grip: f32,
    /// Of the plane; hard and even by default.
    pub texture: Texture,
    /// Velocity of the air, world, m/s; still by default.
    pub wind: Vec3,
    /// What the wind has beyond that at times; none by default.
    pub gusts: Vec<Gust>,
    /// Fixed boxes; none by default. A wheel whose ray meets several surfaces within [`FLUSH`] has the grip of the last of them,
    /// in the order plane, first box, last box: a box set flush into the ground is a patch of another surface.
    pub boxes: Vec<FixedBox>,
    /// Whether the plane is there. Without it there is nothing below the others; cars still start by its slope.
    pub plane: bool,
    /// Fields of heights; none by default. Of surfaces within [`FLUSH`] they come after the boxes.
    pub fields: Vec<Arc<HeightField>>,
    /// Meshes; none by default. Of surfaces within [`FLUSH`] they come last.
    pub meshes: Vec<Arc<TriangleMesh>>,
    /// Boxes that move by themselves; none by default. Of surfaces within [`FLUSH`] they come after the fixed boxes, and carry what
    /// stands there.
    pub platforms: Vec<Platform>,
    /// Boxes that can be pushed; none by default. They meet all that is here, each other, and cars even where these pass through each
    /// other; worlds of peers have none.
    pub bodies: Vec<FreeBody>,
    /// Whether the bodywork of cars in one world meets; they do by default. Without it they pass through each other and share
    /// the ground alone, as a fleet that starts on one spot. Peers do as the programs they stand for; in users' Rapier worlds the
    /// collision groups of the chassis say it.
    pub cars_collide: bool,
}

/// Wind that comes and goes once: it rises as `½ (1 − cos π t / r)`, holds, and falls as it rose. Without holding it is the
/// discrete gust of EASA CS 25.341(a)(2), `½ U (1 − cos π s / H)` over the distance s, met at the speed `H / r`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gust {
    /// Of the air at its height, beyond the wind, world, m/s.
    pub velocity: Vec3,
    /// Since the start of the world, s.
    pub starts: f32,
    /// Time r of the rise, and again of the fall, s, ≥ 0; at 0 it is there and gone at once.
    pub rises: f32,
    /// Time at its height, s, ≥ 0.
    pub holds: f32,
}

impl Gust {
    /// Velocity of the air at `time` s, beyond the wind, world, m/s.
    pub fn at(&self, time: f64) -> Vec3 {
        let since = (time - f64::from(self.starts)) as f32;
        let left = 2.0 * self.rises + self.holds - since;
        if self.rises == 0.0 {
            return if since.min(left) >= 0.0 { self.velocity } else { Vec3::ZERO };
        }
        let risen = since.min(left).clamp(0.0, self.rises);
        let (_, cosine) = math::sin_cos(core::f32::consts::PI * risen / self.rises);
        self.velocity * (0.5 - 0.5 * cosine)
    }
}

impl Default for Scene {
    fn default() -> Self {
        Self {
            gravity: STANDARD_GRAVITY,
            slope: 0.0,
            grip: 1.0,
            texture: Texture::NONE,
            wind: Vec3::ZERO,
            gusts: Vec::new(),
            boxes: Vec::new(),
            plane: true,
            fields: Vec::new(),
            meshes: Vec::new(),
            platforms: Vec::new(),
            bodies: Vec::new(),
            cars_collide: true,
        }
    }
}

impl Scene {
    /// Flat, dry ground.
    pub fn flat() -> Self {
        Self::default()
    }

    /// Ground that rises along +x by `slope` rad.
    pub fn sloping(slope: f32) -> Self {
        Self { slope, ..Self::default() }
    }

    /// Velocity of the air in the step of `dt` s that starts at `time` s, gusts included: as in the middle of it.
    pub fn wind_in(&self, time: f64, dt: f32) -> Vec3 {
        let middle = time + 0.5 * f64::from(dt);
        self.gusts.iter().fold(self.wind, |wind, gust| wind + gust.at(middle))
    }

    /// Normal of the ground, unit vector.
    pub fn normal(&self) -> Vec3 {
        let (sin, cos) = math::sin_cos(self.slope);
        Vec3::new(-sin, 0.0, cos)
    }

    /// Orientation of a car that stands upright on the ground, turned by `heading` (rad, to the left) about its normal.
    pub fn orientation(&self, heading: f32) -> Quat {
        turn(Vec3::Y, -self.slope) * turn(Vec3::Z, heading)
    }

    /// Distance from `start` along the unit vector `direction` to the plane or the first face of a box it enters by, m; `None`
    /// where the ray meets none. Platforms and free bodies are where they start.
    pub(crate) fn distance_to_ground(&self, start: DVec3, direction: DVec3) -> Option<f64> {
        let normal = self.normal().as_dvec3();
        let plane = -start.dot(normal) / direction.dot(normal);
        let plane = (self.plane && plane >= 0.0).then_some(plane);
        let boxes = self.boxes.iter().filter_map(|fixed| fixed.entered(start, direction));
        let platforms = self.platforms.iter().filter_map(|moving| moving.standing(0.0).entered(start, direction));
        let bodies = self.bodies.iter().filter_map(|body| body.standing(&body.motion).entered(start, direction));
        boxes
            .chain(platforms)
            .chain(bodies)
            .chain(plane)
            .chain(self.distance_to_terrain(start, direction))
            .reduce(f64::min)
    }

    /// The same of fields and meshes: every triangle is looked at.
    fn distance_to_terrain(&self, start: DVec3, direction: DVec3) -> Option<f64> {
        let mut near = Vec::new();
        for field in &self.fields {
            field.near(Vec3::MIN, Vec3::MAX, field.origin() - start, 0, &mut near);
        }
        for mesh in &self.meshes {
            let to_start = mesh.origin() - start;
            near.extend((0..mesh.triangles().len()).map(|number| mesh.triangle(number as u32, to_start, 0)));
        }
        let direction = direction.as_vec3().normalize_or(Vec3::NEG_Z);
        let (offset, reach) = (Vec3::ZERO, f32::MAX);
        let ray = Probe { car: 0, position: start, offset, direction, reach, rim: None };
        support(&ray, &near, |_| None).map(|(_, met)| f64::from(met.distance))
    }

    /// Point of the world at (`x`, `y`) in the plane (m) and `height` (m) above it.
    pub fn point(&self, x: f64, y: f64, height: f64) -> DVec3 {
        let normal = self.normal().as_dvec3();
        // To the last digit at a right angle to the normal, so that the point is on the plane 100 km away, too.
        let along = DVec3::new(normal.z, 0.0, -normal.x);
        along * x + DVec3::Y * y + normal * height
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math;

    #[test]
    fn rays_reach_the_nearest_of_plane_and_boxes() {
        let table = FixedBox::upright(DVec3::new(4.0, 0.0, 1.0), Vec3::new(2.0, 2.0, 2.0)).turned(0.5, 0.0, 0.0);
        let tilted = FixedBox::upright(DVec3::new(0.0, 9.0, 0.0), Vec3::new(4.0, 4.0, 2.0)).turned(0.0, 0.1, 0.0);
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
            // Rotations have 32 bits.
            assert!((found.unwrap_or(0.0) - expected.unwrap_or(0.0)).abs() < 1e-6, "{found:?} instead of {expected:?}");
        }
    }

    #[test]
    fn a_gust_rises_holds_and_falls() {
        let gust = Gust { velocity: Vec3::new(0.0, 8.0, 0.0), starts: 2.0, rises: 1.0, holds: 3.0 };
        for (time, share) in
            [(0.0, 0.0), (2.0, 0.0), (2.5, 0.5), (3.0, 1.0), (5.9, 1.0), (6.5, 0.5), (7.0, 0.0), (1e6, 0.0)]
        {
            assert!((gust.at(time).y - 8.0 * share).abs() < 1e-5, "{time}: {:?}", gust.at(time));
        }
        let sudden = Gust { rises: 0.0, ..gust };
        let share = |time| sudden.at(time).y / 8.0;
        assert_eq!([0.0, 1.9, 2.0, 4.9, 5.1, 1e6].map(share), [0.0, 0.0, 1.0, 1.0, 0.0, 0.0]);
        let scene = Scene { wind: Vec3::X, gusts: vec![gust, gust], ..Scene::flat() };
        assert_eq!(scene.wind_in(1.0, 0.1), Vec3::X);
        assert!((scene.wind_in(3.5, 0.1) - Vec3::new(1.0, 16.0, 0.0)).length() < 1e-5);
    }
}
