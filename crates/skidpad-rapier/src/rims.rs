//! Wheels with rims on the shapes of colliders: their triangles, where they have any.

use rapier3d::parry::bounding_volume::Aabb;
use rapier3d::parry::shape::{Triangle as Face, TypedShape};
use rapier3d::prelude::*;
use skidpad_core::{Contact, HullPoint, Probe, Triangle, stop, support};

use crate::Axes;
use crate::port::ray;

/// Triangles near a wheel, and the collider of each.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faces {
    near: Vec<Triangle>,
    of: Vec<ColliderHandle>,
}

impl Faces {
    pub fn clear(&mut self) {
        self.near.clear();
        self.of.clear();
    }

    /// Adds the faces of a collider at `pose` that the rim of `probe` may come to; whether its shape has any: boxes, planes, meshes
    /// and fields of heights do.
    pub fn add(
        &mut self,
        axes: Axes,
        probe: &Probe,
        (handle, collider): (ColliderHandle, &Collider),
        pose: &Pose,
    ) -> bool {
        let (_, start) = ray(axes, probe);
        let region = bounds(axes, probe);
        let within = region.transform_by(&pose.inverse());
        let to_start = |point: Vector| axes.from_world(*pose * point - start.origin);
        let mut put = |face: Triangle| (self.near.push(face), self.of.push(handle));
        match collider.shape().as_typed_shape() {
            TypedShape::Cuboid(cuboid) => {
                for face in Triangle::of_box(cuboid.half_extents, to_start, 1.0) {
                    put(face);
                }
            }
            TypedShape::HalfSpace(plane) => {
                let normal = plane.normal;
                let foot = within.center() - normal * normal.dot(within.center());
                let normal = axes.from_world(pose.rotation * normal);
                put(Triangle::of_plane(to_start(foot), normal, 4.0 * region.half_extents().length(), 1.0));
            }
            TypedShape::TriMesh(mesh) => {
                for leaf in mesh.bvh().intersect_aabb(&within) {
                    let Face { a, b, c } = mesh.triangle(leaf);
                    put(Triangle::flat([a, b, c].map(to_start), 1.0));
                }
            }
            TypedShape::HeightField(field) => {
                field.map_elements_in_local_aabb(&within, &mut |_, Face { a, b, c }| {
                    put(Triangle::flat([*a, *b, *c].map(to_start), 1.0));
                });
            }
            _ => return false,
        }
        true
    }

    /// What the wheel of `probe` stands on, of all that was added: its collider and contact, the grip being 1.
    pub fn support(&self, probe: &Probe) -> Option<(ColliderHandle, Contact)> {
        let (triangle, contact) = support(probe, &self.near, |_| None)?;
        Some((self.of[triangle], contact))
    }

    /// What stops the rim of `probe`, which stands as `support` tells, and the collider it belongs to.
    pub fn stop(&self, probe: &Probe, support: Option<&Contact>) -> Option<(HullPoint, ColliderHandle)> {
        let (triangle, point) = stop(probe, &self.near, support)?;
        Some((point, self.of[triangle]))
    }
}

/// A box of the world around the way of a probe's ray or rim.
pub(crate) fn bounds(axes: Axes, probe: &Probe) -> Aabb {
    let (_, ray) = ray(axes, probe);
    let end = ray.point_at(probe.reach);
    let wide = probe.rim.map_or(Vector::ZERO, |rim| {
        let left = probe.direction.cross(rim.forward);
        let [forward, left] = [rim.forward, left].map(|way| axes.to_world(way).abs());
        forward * (rim.radius + rim.ahead) + left * rim.half_width
    });
    Aabb::new(ray.origin.min(end) - wide, ray.origin.max(end) + wide)
}
