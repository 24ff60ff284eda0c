//! Triangles near wheels, for rim probes and for ground beyond plane and boxes.

use skidpad_core::{
    CandidateTriangle, CellPatch, Contact, DVec3, Ground as GroundData, HeightField, HullPoint, Probe, SmoothSurface,
    Triangle, TriangleCollector, TriangleVisitor, Vec3, ground::scene::FLUSH_TOLERANCE_M,
};

use crate::ground::{Block, Ground};
use crate::terrain::{Region, Terrain};

/// First number of [`Triangle::source`] for sides of blocks; the second number is the index of the block.
const BLOCK_SOURCE: u32 = u32::MAX;

/// Returns the nearer of two contacts of a ray. If `candidate` is at the distance of `current` or behind it by at most
/// [`FLUSH_TOLERANCE_M`], the surfaces are flush: the result is `current` with grip and ground data of `candidate`.
fn nearer_contact(current: Contact, candidate: Contact) -> Contact {
    if candidate.distance < current.distance {
        candidate
    } else if candidate.distance <= current.distance + FLUSH_TOLERANCE_M {
        Contact { grip: candidate.grip, ground: candidate.ground, ..current }
    } else {
        current
    }
}

/// Returns an upper bound of the distance between the start of the ray and any point that the probe can touch, m.
fn probe_size(probe: &Probe) -> f32 {
    probe.length + probe.rim.map_or(0.0, |rim| rim.radius + rim.half_width + rim.lookahead)
}

impl Block {
    /// Returns whether `probe`, whose ray begins at `start` (world, m), may touch the block: the bounding spheres of
    /// block and probe overlap.
    #[inline]
    pub(crate) fn is_near(&self, start: DVec3, probe: &Probe) -> bool {
        let (probe_radius, centre_offset) = (probe_size(probe), (self.centre - start).as_vec3());
        centre_offset.length_squared() <= (self.radius + probe_radius) * (self.radius + probe_radius)
    }

    /// Calls `visit` with the 12 triangles of the block's faces, relative to `start`, the start of the ray of `probe`
    /// (world, m), if the block is near the probe ([`Block::is_near`]). A block that contains `start` has no faces.
    /// Triangles have world axes and the grip of the block.
    #[inline]
    pub(crate) fn visit_faces(&self, start: DVec3, probe: &Probe, visit: impl FnMut(Triangle)) {
        let centre_offset = (self.centre - start).as_vec3();
        // A block that contains the start of the ray has no faces for the wheel, as for rays.
        let is_inside = (self.from_world * centre_offset).abs().cmplt(self.shape.half_extents).all();
        if self.is_near(start, probe) && !is_inside {
            let from_block_axes = |corner: Vec3| centre_offset + self.to_world * corner;
            Triangle::of_box(self.shape.half_extents, from_block_axes, self.grip).into_iter().for_each(visit);
        }
    }
}

impl Ground {
    /// Answers rims from all ground and rays from the terrain. A ray keeps its previous contact in `contacts` unless
    /// the terrain is nearer; a flush terrain sets only grip and ground data. The answer of a rim is always replaced,
    /// by `None` if it touches nothing. Rays are skipped without terrain.
    ///
    /// Ground data (texture, and motion of a block) is stored only if the ground has platforms or textures. Replaces
    /// `rim_contacts` by the contact points with walls that stop rims, at most one per rim, in the order of `probes`,
    /// each with the index of its car and the velocity of the block. `candidates` is a buffer.
    pub(crate) fn probe_triangles(
        &self,
        probes: &[Probe],
        contacts: &mut [Option<Contact>],
        candidates: &mut Vec<CandidateTriangle>,
        rim_contacts: &mut Vec<(usize, HullPoint)>,
    ) {
        rim_contacts.clear();
        for (probe, nearest) in probes.iter().zip(contacts) {
            if probe.rim.is_none() && self.terrain.is_empty() {
                continue;
            }
            let start = probe.position + probe.offset.as_dvec3();
            // Collects the triangles near the probe.
            let mut collector = TriangleCollector::new(probe, candidates);
            if probe.rim.is_some() && self.has_flat_faces() {
                self.visit_flat_faces(start, probe, &mut collector);
            }
            self.terrain.visit_triangles(start, &Region::around_probe(probe), &mut collector);
            let mut triangle_contact = None;
            if let Some((triangle, contact)) =
                collector.ground_contact(|triangle| self.terrain.smooth_normals(triangle.source))
            {
                let ground =
                    if self.is_static_and_smooth() { None } else { self.ground_data(triangle, probe, &contact) };
                triangle_contact = Some(Contact { ground, ..contact });
            }
            if probe.rim.is_some() {
                *nearest = triangle_contact;
                // Contact point of a wall that stops the rim.
                let wall_contact = collector.wall_contact(nearest.as_ref());
                rim_contacts.extend(
                    wall_contact.map(|(triangle, point)| (probe.car, self.with_block_velocity(triangle, probe, point))),
                );
                continue;
            }
            *nearest = match (*nearest, triangle_contact) {
                (current, None) => current,
                (None, triangle_contact) => triangle_contact,
                (Some(current), Some(triangle_contact)) => Some(nearer_contact(current, triangle_contact)),
            };
        }
    }

    /// Calls `visitor` with the triangles of height fields and meshes near a ray, relative to its start, world axes, in
    /// the order in which rays are answered.
    #[inline(always)]
    pub fn visit_terrain_near(&self, ray: &Probe, visitor: &mut impl TriangleVisitor) {
        let start = ray.position + ray.offset.as_dvec3();
        self.terrain.visit_triangles(start, &Region::around_probe(ray), visitor);
    }

    /// Returns the height field, if it is the only terrain.
    #[inline(always)]
    pub fn only_field(&self) -> Option<&HeightField> {
        self.terrain.only_field()
    }

    /// Returns the cell of `field` ([`Ground::only_field`]) near a ray, relative to its start, with the heights around
    /// it. If this is `Some`, [`Ground::visit_terrain_near`] visits the triangles of this cell only.
    #[inline(always)]
    pub fn patch_near(field: &HeightField, ray: &Probe) -> Option<CellPatch> {
        let start = ray.position + ray.offset.as_dvec3();
        Terrain::patch_near(field, start, &Region::around_probe(ray))
    }

    /// Returns the smooth normals of the triangle of a height field or mesh with the identifier `source`
    /// ([`Triangle::source`]); `None` if it is flat.
    #[inline(always)]
    pub fn smooth_normals(&self, source: [u32; 2]) -> Option<SmoothSurface> {
        self.terrain.smooth_normals(source)
    }

    /// Returns whether there is a plane or a box.
    fn has_flat_faces(&self) -> bool {
        self.has_plane || !self.blocks.is_empty()
    }

    /// Calls `visitor` with a square of the plane and the faces of the boxes near a rim, as triangles relative to
    /// `start`, the start of its ray (world, m). Triangles of a box carry [`BLOCK_SOURCE`] and its index. The plane is
    /// left out if there is none, or if `start` is higher above it than the probe reaches.
    #[inline(never)]
    fn visit_flat_faces(&self, start: DVec3, probe: &Probe, visitor: &mut impl TriangleVisitor) {
        let probe_radius = probe_size(probe);
        // Height of the start of the ray above the plane, m; the origin lies on the plane.
        let height = start.dot(self.normal.as_dvec3()) as f32;
        if self.has_plane && height <= probe_radius {
            // Side length of 4 times the reach of the probe, so that the rim never leaves the square.
            visitor.visit(&Triangle::of_plane(self.normal * -height, self.normal, 4.0 * probe_radius, self.grip));
        }
        for (block_index, block) in self.blocks.iter().enumerate() {
            block.visit_faces(start, probe, |face| {
                visitor.visit(&Triangle { source: [BLOCK_SOURCE, block_index as u32], ..face })
            });
        }
    }

    /// Returns the index of the box or platform that the triangle belongs to; `None` for triangles of the plane and the
    /// terrain.
    fn block_of(&self, triangle: &Triangle) -> Option<usize> {
        let [source, block_index] = triangle.source;
        (source == BLOCK_SOURCE).then_some(block_index as usize)
    }

    /// Returns the ground data for the `contact` of `probe` with a triangle: motion and texture of its box, or the
    /// texture of terrain or plane. Returns `None` if the surface does not move and has no texture.
    fn ground_data(&self, triangle: &Triangle, probe: &Probe, contact: &Contact) -> Option<GroundData> {
        match self.block_of(triangle) {
            Some(block_index) => self.block_ground_data(block_index, probe, contact),
            None => self.terrain.texture(triangle).unwrap_or(self.texture).apply_to_ground(None),
        }
    }

    /// Returns the contact point `point` at which a triangle stops the rim of `probe`, with the mean velocity over the
    /// step of the block that the triangle belongs to. Points on plane and terrain stay unchanged.
    fn with_block_velocity(&self, triangle: &Triangle, probe: &Probe, point: HullPoint) -> HullPoint {
        let Some(block_index) = self.block_of(triangle) else { return point };
        HullPoint { velocity: self.blocks[block_index].velocity_at(probe.position + point.arm.as_dvec3()), ..point }
    }
}
