//! Triangles near wheels, for rim probes and for ground beyond plane and boxes.

use skidpad_core::{
    CandidateTriangle, Contact, DVec3, Ground as StoodOn, HullPoint, Probe, Triangle, TriangleCollector,
    TriangleVisitor, Vec3, ground::scene::FLUSH_TOLERANCE_M,
};

use crate::ground::{Block, Ground};
use crate::terrain::Region;

/// First number of [`Triangle::source`] for sides of blocks; the second number is the index of the block.
const BLOCK_SOURCE: u32 = u32::MAX;

/// Returns the nearer of two contacts of a ray. If `later` is behind `under` by at most [`FLUSH_TOLERANCE_M`], the surfaces are
/// flush: the result is `under` with grip and ground data of `later`.
fn nearer_contact(under: Contact, later: Contact) -> Contact {
    if later.distance < under.distance {
        later
    } else if later.distance <= under.distance + FLUSH_TOLERANCE_M {
        Contact { grip: later.grip, ground: later.ground, ..under }
    } else {
        under
    }
}

/// Returns an upper bound of the distance between the start of the ray and any point that the probe can touch, m.
fn probe_size(probe: &Probe) -> f32 {
    probe.length + probe.rim.map_or(0.0, |rim| rim.radius + rim.half_width + rim.lookahead)
}

impl Block {
    /// Returns whether `probe`, whose ray begins at `start` (world, m), may touch the block: the bounding spheres of block and
    /// probe overlap.
    #[inline]
    pub(crate) fn is_near(&self, start: DVec3, probe: &Probe) -> bool {
        let (size, middle) = (probe_size(probe), (self.centre - start).as_vec3());
        middle.length_squared() <= (self.radius + size) * (self.radius + size)
    }

    /// Calls `to` with the faces of the block as triangles relative to `start`, the start of the ray of `probe` (world, m), if
    /// the block is near the probe. A block that contains `start` has no faces. Triangles have world axes and the grip of the
    /// block.
    #[inline]
    pub(crate) fn visit_faces(&self, start: DVec3, probe: &Probe, to: impl FnMut(Triangle)) {
        let middle = (self.centre - start).as_vec3();
        // A block that contains the start of the ray has no faces for the wheel, as for rays.
        let is_inside = (self.from_world * middle).abs().cmplt(self.shape.half_extents).all();
        if self.is_near(start, probe) && !is_inside {
            let place = |corner: Vec3| middle + self.to_world * corner;
            Triangle::of_box(self.shape.half_extents, place, self.grip).into_iter().for_each(to);
        }
    }
}

impl Ground {
    /// Answers rims from all ground and rays from the terrain. A ray keeps its previous answer in `answered` unless the terrain
    /// is nearer; a flush terrain sets only grip and ground data. The answer of a rim is always replaced, by `None` if it
    /// touches nothing.
    ///
    /// Replaces `stops` by the contact points with walls that stop rims, each with the index of its car and the velocity of the
    /// block. `near` is a buffer.
    pub(crate) fn probe_triangles(
        &self,
        asked: &[Probe],
        answered: &mut [Option<Contact>],
        near: &mut Vec<CandidateTriangle>,
        stops: &mut Vec<(usize, HullPoint)>,
    ) {
        stops.clear();
        for (probe, answer) in asked.iter().zip(answered) {
            if probe.rim.is_none() && self.terrain.is_empty() {
                continue;
            }
            let start = probe.position + probe.offset.as_dvec3();
            // Collects the triangles near the probe.
            let mut feeler = TriangleCollector::new(probe, near);
            if probe.rim.is_some() && self.has_flat_faces() {
                self.visit_flat_faces(start, probe, &mut feeler);
            }
            self.terrain.visit_triangles(start, &Region::around_probe(probe), &mut feeler);
            let mut found = None;
            if let Some((triangle, contact)) = feeler.ground_contact(|triangle| self.terrain.smooth_normals(triangle)) {
                let ground =
                    if self.is_static_and_smooth() { None } else { self.ground_data(triangle, probe, &contact) };
                found = Some(Contact { ground, ..contact });
            }
            if probe.rim.is_some() {
                *answer = found;
                // Contact point of a wall that stops the rim.
                let stopped = feeler.wall_contact(answer.as_ref());
                stops.extend(
                    stopped.map(|(triangle, point)| (probe.car, self.with_block_velocity(triangle, probe, point))),
                );
                continue;
            }
            *answer = match (*answer, found) {
                (under, None) => under,
                (None, found) => found,
                (Some(under), Some(found)) => Some(nearer_contact(under, found)),
            };
        }
    }

    /// Returns whether there is a plane or a box.
    fn has_flat_faces(&self) -> bool {
        self.has_plane || !self.blocks.is_empty()
    }

    /// Calls `to` with a square of the plane and the faces of the boxes near a rim, as triangles relative to `start`, the start
    /// of its ray (world, m). Triangles of a box carry its index. The plane is left out if it is out of reach of the probe.
    #[inline(never)]
    fn visit_flat_faces(&self, start: DVec3, probe: &Probe, to: &mut impl TriangleVisitor) {
        let size = probe_size(probe);
        let height = start.dot(self.normal.as_dvec3()) as f32;
        if self.has_plane && height <= size {
            // Side length of 4 times the reach of the probe, so that the rim never leaves the square.
            to.visit(&Triangle::of_plane(self.normal * -height, self.normal, 4.0 * size, self.grip));
        }
        for (number, block) in self.blocks.iter().enumerate() {
            block.visit_faces(start, probe, |side| {
                to.visit(&Triangle { source: [BLOCK_SOURCE, number as u32], ..side })
            });
        }
    }

    /// Returns the index of the box or platform that the triangle belongs to; `None` for triangles of the plane and the
    /// terrain.
    fn block_of(&self, triangle: &Triangle) -> Option<usize> {
        let [of, number] = triangle.source;
        (of == BLOCK_SOURCE).then_some(number as usize)
    }

    /// Returns the ground data for the `contact` of `probe` with a triangle: motion and texture of its box, or the texture of
    /// terrain or plane. Returns `None` if the surface does not move and has no texture.
    fn ground_data(&self, triangle: &Triangle, probe: &Probe, contact: &Contact) -> Option<StoodOn> {
        match self.block_of(triangle) {
            Some(number) => self.block_ground_data(number, probe, contact),
            None => self.terrain.texture(triangle).unwrap_or(self.texture).apply_to_ground(None),
        }
    }

    /// Returns the contact point `point` at which a triangle stops the rim of `probe`, with the mean velocity over the step of
    /// the block that the triangle belongs to. Points on plane and terrain stay unchanged.
    fn with_block_velocity(&self, triangle: &Triangle, probe: &Probe, point: HullPoint) -> HullPoint {
        let Some(number) = self.block_of(triangle) else { return point };
        HullPoint { velocity: self.blocks[number].velocity_at(probe.position + point.arm.as_dvec3()), ..point }
    }
}
