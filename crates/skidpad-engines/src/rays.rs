//! The rays of wheels, in the world's axes.

use parry3d::bounding_volume::{Aabb, BoundingVolume};
use parry3d::math::{Pose, Vector};
use parry3d::query::{Ray, RayIntersection};
use parry3d::shape::{Shape, ShapeType};
use skidpad_core::{Axes, Probe, Vec3};

/// Centre of the car in the world, and the ray of a probe.
pub fn ray(axes: Axes, probe: &Probe) -> (Vector, Ray) {
    let car = axes.point_to_world(probe.position).as_vec3();
    (car, Ray::new(car + axes.to_world(probe.offset), axes.to_world(probe.direction)))
}

/// A box of the world around the way of a probe's ray or rim.
pub fn bounds(axes: Axes, probe: &Probe) -> Aabb {
    let (_, ray) = ray(axes, probe);
    let end = ray.point_at(probe.reach);
    let wide = probe.rim.map_or(Vector::ZERO, |rim| {
        let left = probe.direction.cross(rim.forward);
        let [forward, left] = [rim.forward, left].map(|way| axes.to_world(way).abs());
        forward * (rim.radius + rim.ahead) + left * rim.half_width
    });
    Aabb::new(ray.origin.min(end) - wide, ray.origin.max(end) + wide)
}

/// A box around the rays of `asked`, and those [`beside`] them, and around their rims.
pub fn bounds_of(axes: Axes, asked: &[Probe]) -> Aabb {
    let (mut low, mut high) = (Vec3::splat(f32::MAX), Vec3::splat(f32::MIN));
    for probe in asked {
        let around = bounds(axes, probe);
        (low, high) = (low.min(around.mins), high.max(around.maxs));
    }
    let margin = Vec3::splat(2.0 * apart(low.abs().max(high.abs())));
    Aabb::new(low - margin, high + margin)
}

/// Distance between neighbouring rays at a point: more than the rounding of its coordinates, too little to matter.
fn apart(at: Vec3) -> f32 {
    1e-4_f32.max(4.0 * f32::EPSILON * at.max_element())
}

/// A ray next to `ray`: parry misses some rays exactly on the grid lines of a heightfield (dimforge/rapier#165).
pub fn beside(ray: &Ray) -> Ray {
    let (a, b) = ray.dir.any_orthonormal_pair();
    Ray::new(ray.origin + (a + 0.618 * b) * apart(ray.origin.abs()), ray.dir)
}

/// What `ray` meets of a `shape` at `pose` within `reach` m, from outside: what it starts in has no face for it.
pub fn cast(shape: &dyn Shape, pose: &Pose, ray: &Ray, reach: f32) -> Option<RayIntersection> {
    // Solid shapes tell a ray that starts inside by no normal; else it would stand on their far side, from within. A plane has none.
    let solid = shape.shape_type() != ShapeType::HalfSpace;
    let hit = shape.cast_ray_and_get_normal(pose, ray, reach, solid);
    hit.filter(|hit| hit.normal != Vector::ZERO)
}
/// Purpose of a probe: the wheel's place in the middle of the step, or another place along its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asked {
    /// Probe in the middle of the step: what bears the wheel and what stops its rim are kept.
    First,
    /// Probe along the way: nothing is kept.
    Again,
}

/// Returns whether what reaches into `bounds` of `shapes` at their poses is nothing, or one plane alone.
pub fn is_one_plane<'a>(bounds: &Aabb, shapes: impl Iterator<Item = (&'a dyn Shape, Pose)>) -> bool {
    let mut near = shapes.filter(|(shape, pose)| shape.compute_aabb(pose).intersects(bounds));
    let is_plane = |(shape, _): (&dyn Shape, Pose)| shape.as_halfspace().is_some();
    near.next().is_none_or(is_plane) && near.next().is_none()
}
