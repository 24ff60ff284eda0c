//! Rays of wheels, in world axes.

use parry3d::bounding_volume::{Aabb, BoundingVolume};
use parry3d::math::{Pose, Vector};
use parry3d::query::{Ray, RayIntersection};
use parry3d::shape::{Shape, ShapeType};
use skidpad_core::{Probe, Vec3, WorldAxes};

/// Returns the centre of mass of the car and the ray of `probe` (not limited in length), in world axes, m.
pub fn probe_ray(axes: WorldAxes, probe: &Probe) -> (Vector, Ray) {
    let centre_of_mass = axes.point_to_world(probe.position).as_vec3();
    (centre_of_mass, Ray::new(centre_of_mass + axes.to_world(probe.offset), axes.to_world(probe.direction)))
}

/// Returns the bounding box of the path of a probe's ray or rim, in world axes, m. The box spans start and end of the
/// ray. A rim widens it by radius and lookahead along its heading, both ways, and by half of its width to each side.
pub fn probe_bounds(axes: WorldAxes, probe: &Probe) -> Aabb {
    let (_, ray) = probe_ray(axes, probe);
    let ray_end = ray.point_at(probe.length);
    let margin = probe.rim.map_or(Vector::ZERO, |rim| {
        // Axis of the wheel; its sign does not matter.
        let left = probe.direction.cross(rim.forward);
        let [forward, left] = [rim.forward, left].map(|direction| axes.to_world(direction).abs());
        forward * (rim.radius + rim.lookahead) + left * rim.half_width
    });
    Aabb::new(ray.origin.min(ray_end) - margin, ray.origin.max(ray_end) + margin)
}

/// Returns the bounding box of the rays and rims of `probes`, and of the rays that [`neighbour_ray`] returns for them,
/// in world axes, m. The margin is twice the distance of neighbouring rays at the farthest corner. Without probes the
/// box is inverted (its minimum exceeds its maximum) and contains nothing.
pub fn all_probe_bounds(axes: WorldAxes, probes: &[Probe]) -> Aabb {
    let (mut low, mut high) = (Vec3::splat(f32::MAX), Vec3::splat(f32::MIN));
    for probe in probes {
        let bounds = probe_bounds(axes, probe);
        (low, high) = (low.min(bounds.mins), high.max(bounds.maxs));
    }
    let margin = Vec3::splat(2.0 * neighbour_ray_distance(low.abs().max(high.abs())));
    Aabb::new(low - margin, high + margin)
}

/// Returns the distance between neighbouring rays at a point, m: 0.1 mm, or more far from the origin. `point` contains
/// the absolute values of its coordinates. The distance is larger than the rounding of the coordinates and too small to
/// matter.
fn neighbour_ray_distance(point: Vec3) -> f32 {
    1e-4_f32.max(4.0 * f32::EPSILON * point.max_element())
}

/// Returns a ray parallel to `ray`, displaced sideways by about 1.2 times the neighbour distance (0.1 mm near the
/// origin). Parry misses some rays exactly on the grid lines of a height field (dimforge/rapier#165); the displaced ray
/// hits.
pub fn neighbour_ray(ray: &Ray) -> Ray {
    let (a, b) = ray.dir.any_orthonormal_pair();
    // 0.618: a direction along no grid line.
    Ray::new(ray.origin + (a + 0.618 * b) * neighbour_ray_distance(ray.origin.abs()), ray.dir)
}

/// Returns the first hit of `ray` on a `shape` at `pose` within `max_distance` m, from outside; `None` for a miss. A
/// ray that starts inside a shape does not hit it.
pub fn cast_from_outside(shape: &dyn Shape, pose: &Pose, ray: &Ray, max_distance: f32) -> Option<RayIntersection> {
    // For a ray that starts inside, solid shapes return a hit without normal, which is discarded. Other shapes would
    // return their far side. A half-space has no far side.
    let is_solid = shape.shape_type() != ShapeType::HalfSpace;
    let hit = shape.cast_ray_and_get_normal(pose, ray, max_distance, is_solid);
    hit.filter(|hit| hit.normal != Vector::ZERO)
}
/// Purpose of a probe: the pose of the wheel in the middle of the step, or another pose along its path in the step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbePurpose {
    /// Probe in the middle of the step: the support of the wheel and the stop of its rim are stored.
    MidStep,
    /// Probe along the path: nothing is stored.
    AlongPath,
}

/// Returns true if no shape, or only a single plane (half-space), reaches into `bounds`. `shapes` are shapes with their
/// poses. Only their bounding boxes are compared with `bounds`.
pub fn is_plane_at_most<'a>(bounds: &Aabb, shapes: impl Iterator<Item = (&'a dyn Shape, Pose)>) -> bool {
    let mut overlapping_shapes = shapes.filter(|(shape, pose)| shape.compute_aabb(pose).intersects(bounds));
    let is_plane = |(shape, _): (&dyn Shape, Pose)| shape.as_halfspace().is_some();
    // The first overlapping shape is a plane, and there is no second one.
    overlapping_shapes.next().is_none_or(is_plane) && overlapping_shapes.next().is_none()
}
