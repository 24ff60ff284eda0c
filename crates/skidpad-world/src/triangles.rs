//! What wheels meet that ask with more than a ray, or of more than plane and boxes: the triangles near them.

use skidpad_core::{
    Contact, DVec3, Feeler, Ground as StoodOn, HullPoint, Probe, Seen, Triangle, TriangleVisitor, Vec3,
    world::scene::FLUSH,
};

use crate::ground::{Block, Ground};
use crate::terrain::Region;

/// First number of the source of triangles that are sides of blocks; the second one is the block.
const OF_BLOCKS: u32 = u32::MAX;

/// Of two surfaces a ray meets the nearer, with the grip of the `later` one if that is flush.
fn over(under: Contact, later: Contact) -> Contact {
    if later.distance < under.distance {
        later
    } else if later.distance <= under.distance + FLUSH {
        Contact { grip: later.grip, ground: later.ground, ..under }
    } else {
        under
    }
}

/// No farther from the start of its ray than this anything is that a probe meets, m.
fn size_of(probe: &Probe) -> f32 {
    probe.reach + probe.rim.map_or(0.0, |rim| rim.radius + rim.half_width + rim.ahead)
}

impl Block {
    /// Returns whether any of it may be met by `probe`, whose ray begins at `start`.
    #[inline]
    pub(crate) fn is_near(&self, start: DVec3, probe: &Probe) -> bool {
        let (size, middle) = (size_of(probe), (self.centre - start).as_vec3());
        middle.length_squared() <= (self.radius + size) * (self.radius + size)
    }

    /// Hands its faces `to`, as triangles from the `start` of the ray of `probe`, if any is near its rim.
    #[inline]
    pub(crate) fn sides(&self, start: DVec3, probe: &Probe, to: impl FnMut(Triangle)) {
        let middle = (self.centre - start).as_vec3();
        // As for rays, what the wheel's starts in has no face for it.
        let is_inside = (self.from_world * middle).abs().cmplt(self.shape.half_extents).all();
        if self.is_near(start, probe) && !is_inside {
            let place = |corner: Vec3| middle + self.to_world * corner;
            Triangle::of_box(self.shape.half_extents, place, self.grip).into_iter().for_each(to);
        }
    }
}

impl Ground {
    /// Answers rays by what is nearer than what they met so far, and rims by all there is; what stops those goes to `stops` with the
    /// number of the car. `near` is memory.
    pub(crate) fn probe_triangles(
        &self,
        asked: &[Probe],
        answered: &mut [Option<Contact>],
        near: &mut Vec<Seen>,
        stops: &mut Vec<(usize, HullPoint)>,
    ) {
        stops.clear();
        for (probe, answer) in asked.iter().zip(answered) {
            if probe.rim.is_none() && self.terrain.is_empty() {
                continue;
            }
            let start = probe.position + probe.offset.as_dvec3();
            let mut feeler = Feeler::of(probe, near);
            if probe.rim.is_some() && self.has_flat_faces() {
                self.flat_faces(start, probe, &mut feeler);
            }
            self.terrain.gather(start, &Region::of(probe), &mut feeler);
            let mut found = None;
            if let Some((triangle, contact)) = feeler.support(|triangle| self.terrain.smooth(triangle)) {
                let ground = if self.is_plain() { None } else { self.under(triangle, probe, &contact) };
                found = Some(Contact { ground, ..contact });
            }
            if probe.rim.is_some() {
                *answer = found;
                let stopped = feeler.stop(answer.as_ref());
                stops.extend(stopped.map(|(triangle, point)| (probe.car, self.against(triangle, probe, point))));
                continue;
            }
            *answer = match (*answer, found) {
                (under, None) => under,
                (None, found) => found,
                (Some(under), Some(found)) => Some(over(under, found)),
            };
        }
    }

    /// Whether there is a plane or a box.
    fn has_flat_faces(&self) -> bool {
        self.has_plane || !self.blocks.is_empty()
    }

    /// Shows `to` the plane and the faces of the boxes near a rim, as triangles from the `start` of its ray.
    #[inline(never)]
    fn flat_faces(&self, start: DVec3, probe: &Probe, to: &mut impl TriangleVisitor) {
        let size = size_of(probe);
        let height = start.dot(self.normal.as_dvec3()) as f32;
        if self.has_plane && height <= size {
            to.visit(&Triangle::of_plane(self.normal * -height, self.normal, 4.0 * size, self.grip));
        }
        for (number, block) in self.blocks.iter().enumerate() {
            block.sides(start, probe, |side| to.visit(&Triangle { source: [OF_BLOCKS, number as u32], ..side }));
        }
    }

    /// The block whose side a triangle is.
    fn block_of(&self, triangle: &Triangle) -> Option<usize> {
        let [of, number] = triangle.source;
        (of == OF_BLOCKS).then_some(number as usize)
    }

    /// What the `contact` of `probe` with a triangle is on, where that may move or have a texture.
    fn under(&self, triangle: &Triangle, probe: &Probe, contact: &Contact) -> Option<StoodOn> {
        match self.block_of(triangle) {
            Some(number) => self.of_block(number, probe, contact),
            None => self.terrain.texture(triangle).unwrap_or(self.texture).under(None),
        }
    }

    /// The `point` of the rim of `probe` at a triangle that may move.
    fn against(&self, triangle: &Triangle, probe: &Probe, point: HullPoint) -> HullPoint {
        let Some(number) = self.block_of(triangle) else { return point };
        HullPoint { velocity: self.blocks[number].velocity_at(probe.position + point.arm.as_dvec3()), ..point }
    }
}
