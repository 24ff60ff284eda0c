//! Terrain: the triangles of height fields and meshes.

use std::sync::Arc;

use parry3d::bounding_volume::Aabb;
use skidpad_core::{
    CellPatch, Contact, DVec3, HeightField, Probe, Scene, SmoothSurface, SurfaceTexture, Triangle, TriangleCollector,
    TriangleMesh, TriangleVisitor, Vec3,
};

use crate::tree::Tree;

/// Relative rounding error of coordinates by which faces may be displaced.
pub(crate) const COORDINATE_ROUNDING_RATIO: f32 = 4.0 * f32::EPSILON;

/// Height fields and meshes of a scene.
#[derive(Clone, Default)]
pub(crate) struct Terrain {
    /// Height fields; their sources count from 1.
    fields: Vec<Arc<HeightField>>,
    /// Triangle meshes; their sources follow those of the fields.
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
    /// Mesh of the scene.
    triangles: Arc<TriangleMesh>,
    /// Corners of each triangle, stored side by side so that queries need no index lookup.
    corners: Arc<[[Vec3; 3]]>,
    /// Search tree over the triangles.
    tree: Arc<Tree>,
}

impl Mesh {
    /// Creates the mesh: copies the corners of each triangle and builds the search tree over their boxes.
    fn new(triangles: &Arc<TriangleMesh>) -> Self {
        let vertices = triangles.vertices();
        let corners_of = |triangle: &[u32; 3]| triangle.map(|corner| vertices[corner as usize]);
        let corners: Arc<[[Vec3; 3]]> = triangles.triangles().iter().map(corners_of).collect();
        let leaves: Vec<Aabb> = corners.iter().map(|corners| Aabb::from_points(*corners)).collect();
        Self { triangles: Arc::clone(triangles), corners, tree: Arc::new(Tree::build(&leaves)) }
    }
}

/// Axis-aligned box in world axes, relative to some point, m.
pub(crate) struct Region {
    /// Lowest corner, m.
    pub low: Vec3,
    /// Highest corner, m.
    pub high: Vec3,
}

impl Region {
    /// Returns the box around the path of a probe's ray or rim, relative to the start of the ray, world axes, m. A rim
    /// widens the box on all sides by radius plus lookahead along its heading and by half of its width sideways
    /// (components of these two vectors along the world axes).
    #[inline(always)]
    pub fn around_probe(probe: &Probe) -> Self {
        let end = probe.direction * probe.length;
        let margin = probe.rim.map_or(Vec3::ZERO, |rim| {
            let lateral = probe.direction.cross(rim.forward);
            rim.forward.abs() * (rim.radius + rim.lookahead) + lateral.abs() * rim.half_width
        });
        Self { low: end.min(Vec3::ZERO) - margin, high: end.max(Vec3::ZERO) + margin }
    }

    /// Returns the lowest and highest corner of the region relative to another origin, m. `from_origin` is the vector
    /// from that origin to the region's own, m. The box is enlarged on all sides by the rounding error of
    /// `from_origin`.
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

    /// Returns true if there are neither height fields nor meshes.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.meshes.is_empty()
    }

    /// Calls `visitor` with the triangles near `region`, which is relative to `start` (world, m): first those of the
    /// height fields, then those of the meshes. The corners are relative to `start`, world axes. `source` of a triangle
    /// is 1 plus the index of its field or mesh (fields first), and its own number there. Triangles outside may be
    /// included if their boxes intersect the region.
    #[inline(always)]
    pub fn visit_triangles(&self, start: DVec3, region: &Region, visitor: &mut impl TriangleVisitor) {
        for (field, source_index) in self.fields.iter().zip(1..) {
            let origin_offset = field.origin() - start;
            let (low, high) = region.relative_to(-origin_offset.as_vec3());
            field.visit_near(low, high, origin_offset, source_index, visitor);
        }
        for (Mesh { triangles, corners, tree }, source_index) in self.meshes.iter().zip(1 + self.fields.len() as u32..)
        {
            let origin_offset = triangles.origin() - start;
            let (low, high) = region.relative_to(-origin_offset.as_vec3());
            tree.visit_leaves_in(low, high, |leaf| {
                let corners = corners[leaf as usize].map(|corner| (corner.as_dvec3() + origin_offset).as_vec3());
                visitor.visit(&Triangle {
                    corners,
                    source: [source_index, leaf],
                    grip: triangles.grips()[leaf as usize],
                });
            });
        }
    }

    /// Returns the origin of the first height field, or of the first mesh without one, world, m; `None` without
    /// terrain.
    pub fn first_origin(&self) -> Option<DVec3> {
        let field_origin = self.fields.first().map(|field| field.origin());
        field_origin.or_else(|| self.meshes.first().map(|mesh| mesh.triangles.origin()))
    }

    /// Calls `visitor` with all triangles, as [`Terrain::visit_triangles`] does. Coordinates are relative to `start`
    /// (world, m).
    pub fn visit_all(&self, start: DVec3, visitor: &mut impl TriangleVisitor) {
        let region = Region { low: Vec3::splat(f32::NEG_INFINITY), high: Vec3::splat(f32::INFINITY) };
        self.visit_triangles(start, &region, visitor);
    }

    /// Returns the largest distance from a region at which [`Terrain::visit_triangles`] visits triangles of height
    /// fields, m.
    pub fn search_margin(&self) -> f32 {
        self.fields.iter().map(|field| field.search_margin()).fold(0.0, f32::max)
    }

    /// Returns the corner of least x and y (world, m) and the size along x and y (m) of each height field.
    pub fn field_rectangles(&self) -> impl Iterator<Item = (DVec3, [f32; 2])> + '_ {
        self.fields.iter().map(|field| {
            let ([columns, rows], [spacing_x, spacing_y]) = (field.counts(), field.spacing());
            (field.origin(), [(columns - 1) as f32 * spacing_x, (rows - 1) as f32 * spacing_y])
        })
    }

    /// Returns the only surface of the terrain, if it is a height field.
    #[inline(always)]
    pub fn only_field(&self) -> Option<&HeightField> {
        match &*self.fields {
            [field] if self.meshes.is_empty() => Some(field),
            _ => None,
        }
    }

    /// Returns the cell of `field`, the only surface of a terrain, below `region`, with the heights around it. If this
    /// is `Some`, [`Terrain::visit_triangles`] visits only this cell for these arguments; see
    /// [`HeightField::patch_near`].
    #[inline(always)]
    pub fn patch_near(field: &HeightField, start: DVec3, region: &Region) -> Option<CellPatch> {
        let origin_offset = field.origin() - start;
        let (low, high) = region.relative_to(-origin_offset.as_vec3());
        // 1: the first source.
        field.patch_near(low, high, origin_offset, 1)
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

    /// Returns the texture of the field or of the triangle of a mesh; `None` if the triangle belongs to the plane or to
    /// a box.
    pub fn texture(&self, triangle: &Triangle) -> Option<SurfaceTexture> {
        let [source_index, triangle_index] = triangle.source;
        // Sources count from 1; the plane has 0.
        let surface_index = (source_index as usize).checked_sub(1)?;
        match self.fields.get(surface_index) {
            Some(field) => Some(field.texture()),
            None => Some(self.meshes.get(surface_index - self.fields.len())?.triangles.texture(triangle_index)),
        }
    }

    /// Returns the smooth normals of the triangle with this [`Triangle::source`]; `None` if it is flat or belongs to
    /// the plane or to a box.
    #[inline(always)]
    pub fn smooth_normals(&self, [source_index, triangle_index]: [u32; 2]) -> Option<SmoothSurface> {
        let surface_index = (source_index as usize).checked_sub(1)?;
        match self.fields.get(surface_index) {
            Some(field) => field.smooth_normals(triangle_index),
            None => self.meshes.get(surface_index - self.fields.len())?.triangles.smooth_normals(triangle_index),
        }
    }

    /// Returns the first hit of a ray from `start` (world, m) along the unit vector `direction` on the terrain, up to
    /// `reach` m away, with smooth normals and without ground data; `None` for a miss. Computes with 32 bits relative
    /// to `start`. Allocates a buffer. See [`crate::Ground::cast`].
    pub fn cast(&self, start: DVec3, direction: DVec3, reach: f64) -> Option<Contact> {
        let (direction, reach) = (direction.as_vec3(), reach as f32);
        // A ray belongs to no car; 0 is unused.
        let ray = Probe { car: 0, position: start, offset: Vec3::ZERO, direction, length: reach, rim: None };
        let mut candidates = Vec::new();
        // Collects the triangles near the ray.
        let mut collector = TriangleCollector::new(&ray, &mut candidates);
        self.visit_triangles(start, &Region::around_probe(&ray), &mut collector);
        collector.ground_contact(|triangle| self.smooth_normals(triangle.source)).map(|(_, contact)| contact)
    }
}
