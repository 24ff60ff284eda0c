//! What is not a plane: the triangles of fields, meshes and, for rims, of boxes that come near a wheel.

use std::sync::Arc;

use parry3d::bounding_volume::Aabb;
use skidpad_core::{
    Contact, DVec3, Feeler, Ground as StoodOn, HeightField, HullPoint, Probe, Scene, Seen, Smooth, Texture, Triangle,
    TriangleMesh, TriangleVisitor, Vec3, world::scene::FLUSH,
};

use crate::ground::{Block, Ground, ROUNDED};
use crate::tree::Tree;

/// Fields and meshes of a scene.
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

#[derive(Clone)]
struct Mesh {
    triangles: Arc<TriangleMesh>,
    /// Corners of each triangle, side by side: what looks at many has no index to follow.
    corners: Arc<[[Vec3; 3]]>,
    tree: Arc<Tree>,
}

impl Mesh {
    fn new(triangles: &Arc<TriangleMesh>) -> Self {
        let vertices = triangles.vertices();
        let of = |triangle: &[u32; 3]| triangle.map(|corner| vertices[corner as usize]);
        let corners: Arc<[[Vec3; 3]]> = triangles.triangles().iter().map(of).collect();
        let leaves: Vec<Aabb> = corners.iter().map(|corners| Aabb::from_points(*corners)).collect();
        Self { triangles: Arc::clone(triangles), corners, tree: Arc::new(Tree::of(&leaves)) }
    }
}

/// A box of the world, from some point, m.
pub(crate) struct Region {
    pub low: Vec3,
    pub high: Vec3,
}

impl Region {
    /// Around the way of a probe's ray or rim, from the start of the ray.
    fn of(probe: &Probe) -> Self {
        let end = probe.direction * probe.reach;
        let wide = probe.rim.map_or(Vec3::ZERO, |rim| {
            let left = probe.direction.cross(rim.forward);
            rim.forward.abs() * (rim.radius + rim.ahead) + left.abs() * rim.half_width
        });
        Self { low: end.min(Vec3::ZERO) - wide, high: end.max(Vec3::ZERO) + wide }
    }

    /// Its corners from an origin that its own is `from_origin` away from, a little farther apart for rounding.
    fn from(&self, from_origin: Vec3) -> (Vec3, Vec3) {
        let margin = Vec3::splat(ROUNDED * from_origin.abs().max_element());
        (self.low + from_origin - margin, self.high + from_origin + margin)
    }
}

/// First number of the source of triangles that are sides of blocks; the second one is the block.
const OF_BLOCKS: u32 = u32::MAX;

impl Terrain {
    pub fn of(scene: &Scene) -> Self {
        Self { fields: scene.fields.clone(), meshes: scene.meshes.iter().map(Mesh::new).collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.fields.is_empty() && self.meshes.is_empty()
    }

    /// Shows `to` the triangles in a region about `start`.
    #[inline(always)]
    pub fn gather(&self, start: DVec3, region: &Region, to: &mut impl TriangleVisitor) {
        for (field, of) in self.fields.iter().zip(1..) {
            let to_start = field.origin() - start;
            let (low, high) = region.from(-to_start.as_vec3());
            field.near(low, high, to_start, of, to);
        }
        for (Mesh { triangles, corners, tree }, of) in self.meshes.iter().zip(1 + self.fields.len() as u32..) {
            let to_start = triangles.origin() - start;
            let (low, high) = region.from(-to_start.as_vec3());
            tree.within(low, high, |leaf| {
                let corners = corners[leaf as usize].map(|corner| (corner.as_dvec3() + to_start).as_vec3());
                to.visit(&Triangle { corners, source: [of, leaf], grip: triangles.grips()[leaf as usize] });
            });
        }
    }

    /// Whether one of its triangles is of a field.
    pub fn is_field(&self, triangle: &Triangle) -> bool {
        (1..=self.fields.len()).contains(&(triangle.source[0] as usize))
    }

    /// Whether any of it has a texture.
    pub fn is_textured(&self) -> bool {
        let fields = self.fields.iter().any(|field| !field.texture().is_none());
        fields || self.meshes.iter().any(|mesh| mesh.triangles.is_textured())
    }

    /// What one of its triangles does to wheels beside its grip; `None` of those of plane and boxes.
    fn texture(&self, triangle: &Triangle) -> Option<Texture> {
        let [of, number] = triangle.source;
        let of = (of as usize).checked_sub(1)?;
        match self.fields.get(of) {
            Some(field) => Some(field.texture()),
            None => Some(self.meshes.get(of - self.fields.len())?.triangles.texture(number)),
        }
    }

    /// How smooth one of its triangles is; those of plane and boxes are not.
    #[inline(always)]
    fn smooth(&self, triangle: &Triangle) -> Option<Smooth> {
        let [of, number] = triangle.source;
        let of = (of as usize).checked_sub(1)?;
        match self.fields.get(of) {
            Some(field) => field.smooth(number),
            None => self.meshes.get(of - self.fields.len())?.triangles.smooth(number),
        }
    }

    /// Answers rays by what is nearer than what they met so far, and rims by all there is; what stops those goes to `stops` with the
    /// number of the car. `near` is memory.
    pub fn probe(
        &self,
        ground: &Ground,
        asked: &[Probe],
        answered: &mut [Option<Contact>],
        near: &mut Vec<Seen>,
        stops: &mut Vec<(usize, HullPoint)>,
    ) {
        stops.clear();
        for (probe, answer) in asked.iter().zip(answered) {
            if probe.rim.is_none() && self.is_empty() {
                continue;
            }
            let start = probe.position + probe.offset.as_dvec3();
            let mut feeler = Feeler::of(probe, near);
            if probe.rim.is_some() && ground.has_flat_faces() {
                ground.flat_faces(start, probe, &mut feeler);
            }
            self.gather(start, &Region::of(probe), &mut feeler);
            let mut found = None;
            if let Some((triangle, contact)) = feeler.support(|triangle| self.smooth(triangle)) {
                let ground = if ground.is_plain() { None } else { ground.under(triangle, probe, &contact) };
                found = Some(Contact { ground, ..contact });
            }
            if probe.rim.is_some() {
                *answer = found;
                let stopped = feeler.stop(answer.as_ref());
                stops.extend(stopped.map(|(triangle, point)| (probe.car, ground.against(triangle, probe, point))));
                continue;
            }
            *answer = match (*answer, found) {
                (under, None) => under,
                (None, found) => found,
                (Some(under), Some(found)) => Some(over(under, found)),
            };
        }
    }

    /// As [`Ground::cast`].
    pub fn cast(&self, start: DVec3, direction: DVec3, reach: f64) -> Option<Contact> {
        let (direction, reach) = (direction.as_vec3(), reach as f32);
        let ray = Probe { car: 0, position: start, offset: Vec3::ZERO, direction, reach, rim: None };
        let mut near = Vec::new();
        let mut feeler = Feeler::of(&ray, &mut near);
        self.gather(start, &Region::of(&ray), &mut feeler);
        feeler.support(|triangle| self.smooth(triangle)).map(|(_, contact)| contact)
    }
}

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
    /// Hands its faces `to`, as triangles from the `start` of the ray of `probe`, if any is near its rim.
    #[inline]
    pub(crate) fn sides(&self, start: DVec3, probe: &Probe, to: impl FnMut(Triangle)) {
        let (size, middle) = (size_of(probe), (self.centre - start).as_vec3());
        // As for rays, what the wheel's starts in has no face for it.
        let is_inside = (self.from_world * middle).abs().cmplt(self.shape.half_extents).all();
        if middle.length_squared() <= (self.radius + size) * (self.radius + size) && !is_inside {
            let place = |corner: Vec3| middle + self.to_world * corner;
            Triangle::of_box(self.shape.half_extents, place, self.grip).into_iter().for_each(to);
        }
    }
}

impl Ground {
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
