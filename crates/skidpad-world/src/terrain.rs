//! Terrain: the triangles of height fields and meshes.

use std::sync::Arc;

use parry3d::bounding_volume::Aabb;
use skidpad_core::{
    Contact, DVec3, HeightField, Probe, Scene, SmoothSurface, SurfaceTexture, Triangle, TriangleCollector,
    TriangleMesh, TriangleVisitor, Vec3,
};

use crate::tree::Tree;

/// Relative rounding error of coordinates by which faces may be displaced.
pub(crate) const COORDINATE_ROUNDING_RATIO: f32 = 4.0 * f32::EPSILON;

/// Height fields and meshes of a scene.
#[derive(Clone, Default)]
pub(crate) struct Terrain {
    fields: Vec<Arc<HeightField>>,
    meshes: Vec<Mesh>,
}

impl core::fmt::Debug for Terrain {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Terrain").field("fields", &self.fields.len()).field("meshes", &self.meshes.len()).finish()
    }
}

/// Triangle mesh with its search tree.
#[derive(Clone)]
struct Mesh {
    triangles: Arc<TriangleMesh>,
    /// Corners of each triangle, stored side by side so that queries need no index lookup.
    corners: Arc<[[Vec3; 3]]>,
    tree: Arc<Tree>,
}

impl Mesh {
    fn new(triangles: &Arc<TriangleMesh>) -> Self {
        let vertices = triangles.vertices();
        let of = |triangle: &[u32; 3]| triangle.map(|corner| vertices[corner as usize]);
        let corners: Arc<[[Vec3; 3]]> = triangles.triangles().iter().map(of).collect();
        let leaves: Vec<Aabb> = corners.iter().map(|corners| Aabb::from_points(*corners)).collect();
        Self { triangles: Arc::clone(triangles), corners, tree: Arc::new(Tree::build(&leaves)) }
    }
}

/// Axis-aligned box in world axes, relative to some point, m.
pub(crate) struct Region {
    pub low: Vec3,
    pub high: Vec3,
}

impl Region {
    /// Returns the box around the path of a probe's ray or rim, relative to the start of the ray.
    pub fn around_probe(probe: &Probe) -> Self {
        let end = probe.direction * probe.length;
        let wide = probe.rim.map_or(Vec3::ZERO, |rim| {
            let left = probe.direction.cross(rim.forward);
            rim.forward.abs() * (rim.radius + rim.lookahead) + left.abs() * rim.half_width
        });
        Self { low: end.min(Vec3::ZERO) - wide, high: end.max(Vec3::ZERO) + wide }
    }

    /// Returns the corners of the region relative to another origin, from which its own origin is `from_origin` away (m). They
    /// are enlarged by the rounding error.
    fn relative_to(&self, from_origin: Vec3) -> (Vec3, Vec3) {
        let margin = Vec3::splat(COORDINATE_ROUNDING_RATIO * from_origin.abs().max_element());
        (self.low + from_origin - margin, self.high + from_origin + margin)
    }
}

impl Terrain {
    /// Collects the height fields and meshes of `scene` and builds the trees of the meshes.
    pub fn new(scene: &Scene) -> Self {
        Self { fields: scene.height_fields.clone(), meshes: scene.meshes.iter().map(Mesh::new).collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.meshes.is_empty()
    }

    /// Calls `to` with the triangles in `region`, which is relative to `start` (world, m).
    #[inline(always)]
    pub fn visit_triangles(&self, start: DVec3, region: &Region, to: &mut impl TriangleVisitor) {
        for (field, of) in self.fields.iter().zip(1..) {
            let to_start = field.origin() - start;
            let (low, high) = region.relative_to(-to_start.as_vec3());
            field.visit_near(low, high, to_start, of, to);
        }
        for (Mesh { triangles, corners, tree }, of) in self.meshes.iter().zip(1 + self.fields.len() as u32..) {
            let to_start = triangles.origin() - start;
            let (low, high) = region.relative_to(-to_start.as_vec3());
            tree.visit_leaves_in(low, high, |leaf| {
                let corners = corners[leaf as usize].map(|corner| (corner.as_dvec3() + to_start).as_vec3());
                to.visit(&Triangle { corners, source: [of, leaf], grip: triangles.grips()[leaf as usize] });
            });
        }
    }

    /// Returns whether the triangle belongs to a height field.
    pub fn is_field(&self, triangle: &Triangle) -> bool {
        (1..=self.fields.len()).contains(&(triangle.source[0] as usize))
    }

    /// Returns whether any surface of the terrain has a texture.
    pub fn is_textured(&self) -> bool {
        let fields = self.fields.iter().any(|field| !field.texture().is_hard_and_even());
        fields || self.meshes.iter().any(|mesh| mesh.triangles.is_textured())
    }

    /// Returns the texture of the triangle; `None` if it belongs to the plane or to a box.
    pub fn texture(&self, triangle: &Triangle) -> Option<SurfaceTexture> {
        let [of, number] = triangle.source;
        let of = (of as usize).checked_sub(1)?;
        match self.fields.get(of) {
            Some(field) => Some(field.texture()),
            None => Some(self.meshes.get(of - self.fields.len())?.triangles.texture(number)),
        }
    }

    /// Returns the smooth normals of the triangle; `None` if it is flat or belongs to the plane or to a box.
    #[inline(always)]
    pub fn smooth_normals(&self, triangle: &Triangle) -> Option<SmoothSurface> {
        let [of, number] = triangle.source;
        let of = (of as usize).checked_sub(1)?;
        match self.fields.get(of) {
            Some(field) => field.smooth_normals(number),
            None => self.meshes.get(of - self.fields.len())?.triangles.smooth_normals(number),
        }
    }

    /// Returns the first hit of a ray on the terrain, as [`crate::Ground::cast`] does.
    pub fn cast(&self, start: DVec3, direction: DVec3, reach: f64) -> Option<Contact> {
        let (direction, reach) = (direction.as_vec3(), reach as f32);
        let ray = Probe { car: 0, position: start, offset: Vec3::ZERO, direction, length: reach, rim: None };
        let mut near = Vec::new();
        let mut feeler = TriangleCollector::new(&ray, &mut near);
        self.visit_triangles(start, &Region::around_probe(&ray), &mut feeler);
        feeler.ground_contact(|triangle| self.smooth_normals(triangle)).map(|(_, contact)| contact)
    }
}
