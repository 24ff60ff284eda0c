//! Rays of a wheel of all cars of a block on terrain: the triangles near each ray are collected car by car, and the
//! hits computed in lanes. The results have the bits of the rays of a single car.

use skidpad_core::block::BlockLanes;
use skidpad_core::simd::vectors::Vec3Lanes;
use skidpad_core::{GridCell, HeightField, Probe, Triangle, TriangleVisitor, Vec3};
use skidpad_world::Ground;

use crate::field_patches::FieldPatches;

/// Maximum number of triangles near a ray. A ray with more is answered alone.
const MAX_CANDIDATES: usize = 8;

/// Height difference up to which hits count as equally high, m; the first of them counts.
const HEIGHT_TOLERANCE_M: f32 = 1e-6;

/// Smallest vertical component of the vertical axis of a car at which its rays are computed in lanes. Below it, the
/// signs of zeros decide about the axes of a ray.
const MIN_UPRIGHT_COSINE: f32 = 1e-3;

/// Smallest positive f32: `x < MIN_POSITIVE_F32` means `x <= 0`.
const MIN_POSITIVE_F32: f32 = f32::from_bits(1);

/// Triangle near the ray of each car.
#[derive(Clone, Copy, Debug)]
struct Candidates<W: BlockLanes> {
    /// Components x, y and z of each corner relative to the start of the ray, world axes, m.
    corners: [[W::Array<f32>; 3]; 3],
    /// Identifier of the triangle, see [`Triangle::source`].
    source: W::Array<[u32; 2]>,
    /// Friction factor, –.
    grip: W::Array<f32>,
}

/// Collector of the triangles near the ray of one car.
struct CarCandidates<'a, W: BlockLanes> {
    /// Triangles near the rays of all cars.
    candidates: &'a mut [Candidates<W>],
    /// Lane of the car.
    car: usize,
    /// Number of triangles found.
    count: usize,
}

impl<W: BlockLanes> TriangleVisitor for CarCandidates<'_, W> {
    /// Stores the triangle as the next candidate of this car. Beyond [`MAX_CANDIDATES`] triangles only counts them.
    #[inline(always)]
    fn visit(&mut self, triangle: &Triangle) {
        // The remainder changes nothing, but spares checks of bounds.
        let car = self.car % W::LANE_COUNT;
        if let Some(candidate) = self.candidates.get_mut(self.count) {
            for (numbers, corner) in candidate.corners.iter_mut().zip(&triangle.corners) {
                let [x, y, z] = numbers;
                (x.as_mut()[car], y.as_mut()[car], z.as_mut()[car]) = (corner.x, corner.y, corner.z);
            }
            candidate.source.as_mut()[car] = triangle.source;
            candidate.grip.as_mut()[car] = triangle.grip;
        }
        self.count += 1;
    }

    #[inline(always)]
    fn visit_cell(&mut self, cell: &GridCell) {
        cell.triangles().iter().for_each(|triangle| self.visit(triangle));
    }
}

/// Contacts of rays with terrain.
#[derive(Clone, Copy, Debug, Default)]
pub struct TerrainHits<W: BlockLanes> {
    /// Lanes with a contact.
    pub hit: W::Mask,
    /// Distance from the start of the ray, m.
    pub distance: W,
    /// Unit normal of the ground, world axes.
    pub normal: Vec3Lanes<W>,
    /// Friction factor of the surface, –.
    pub grip: W,
    /// Bits of the cars whose rays have to be answered alone.
    pub unanswered: u32,
}

/// Number of triangles of a cell of a height field.
const TRIANGLES_PER_CELL: usize = 2;

/// Bits of the cars whose rays were cast.
#[derive(Clone, Copy)]
struct Found {
    /// Cars whose results are valid.
    cars: u32,
    /// Cars whose ray is near one cell of a height field only.
    field_cars: u32,
    /// Cars whose rays have to be answered alone.
    unanswered: u32,
}

/// Highest hit of each ray so far.
#[derive(Clone, Copy)]
struct HighestHit<W: BlockLanes> {
    /// Lanes with a hit.
    hit: W::Mask,
    /// Height of the hit above the start of the ray, along the ray, m, ≤ 0.
    height: W,
    /// Barycentric coordinates in the triangle.
    barycentric: [W; 3],
    /// Index of the candidate.
    index: W,
    /// Lanes with a number that is not finite.
    is_invalid: W::Mask,
}

/// Workspace for the rays of a wheel of all cars.
#[derive(Clone, Debug)]
pub struct TerrainRays<W: BlockLanes> {
    /// Triangles near the rays.
    candidates: Box<[Candidates<W>]>,
    /// Normals at the corners of the triangles that are hit.
    corner_normals: [[W::Array<f32>; 3]; 3],
    /// Cells of a height field below the rays of cars whose ray is near one cell only.
    patches: FieldPatches<W>,
}

/// Axes of rays: forward, left, and up against the ray. World axes.
type RayAxes<W> = [Vec3Lanes<W>; 3];

impl<W: BlockLanes> TerrainRays<W> {
    /// Creates the workspace.
    pub fn new() -> Self {
        let zeros = W::default().to_array();
        let empty = Candidates { corners: [[zeros; 3]; 3], source: W::array_from_fn(|_| [0; 2]), grip: zeros };
        Self {
            candidates: vec![empty; MAX_CANDIDATES].into(),
            corner_normals: [[zeros; 3]; 3],
            patches: FieldPatches::new(),
        }
    }

    /// Returns the contacts of one ray of each car in the bits `cars` with the height fields and meshes of `ground`.
    /// `ray` returns the ray of a car. `down` is the unit direction and `length` the length (m) of each ray. Textures
    /// have no effect.
    ///
    /// `unanswered` are the cars whose rays have no valid result here and must be computed alone: rays with more than
    /// [`MAX_CANDIDATES`] triangles nearby, rays of cars that lie on their side ([`MIN_UPRIGHT_COSINE`]), and rays with
    /// numbers that are not finite. They have no hit.
    #[inline(always)]
    pub fn cast(
        &mut self,
        ground: &Ground,
        cars: u32,
        ray: impl Fn(usize) -> Probe,
        down: Vec3Lanes<W>,
        length: W,
    ) -> TerrainHits<W> {
        let mut counts = W::default().to_array();
        let field_cars = ground.only_field().map_or(0, |field| self.collect_patches(field, cars, &ray, &mut counts));
        let (mut max_count, mut unanswered) = (if field_cars == 0 { 0 } else { TRIANGLES_PER_CELL }, 0);
        for car in (0..W::LANE_COUNT).filter(|car| cars & !field_cars & (1 << car) != 0) {
            let mut collector = CarCandidates { candidates: &mut self.candidates, car, count: 0 };
            ground.visit_terrain_near(&ray(car), &mut collector);
            let count = collector.count;
            unanswered |= u32::from(count > MAX_CANDIDATES) << car;
            max_count = max_count.max(count.min(MAX_CANDIDATES));
            counts.as_mut()[car] = count as f32;
        }
        let axes = ray_axes(down * W::splat(-1.0));
        let highest = self.highest_hits(&axes, W::from_array(counts), max_count);
        let is_upright = W::splat(MIN_UPRIGHT_COSINE).less(axes[2].z.abs());
        unanswered |= W::mask_bits(highest.is_invalid | !is_upright) & cars;
        let found = Found { cars: cars & !unanswered, field_cars, unanswered };
        self.contacts(ground, found, &highest, axes[2], length)
    }

    /// Finds the cell of `field` below the ray of each of `cars`. Writes corners and grip of its two triangles to the
    /// first two candidates, but not their sources, and 2 to every lane of `counts`. Returns the bits of the cars whose
    /// ray is near exactly one interior cell. Candidates and counts of all other lanes are invalid.
    #[inline(always)]
    fn collect_patches(
        &mut self,
        field: &HeightField,
        cars: u32,
        ray: impl Fn(usize) -> Probe,
        counts: &mut W::Array<f32>,
    ) -> u32 {
        let mut field_cars = 0;
        for car in (0..W::LANE_COUNT).filter(|car| cars & (1 << car) != 0) {
            if let Some(patch) = Ground::patch_near(field, &ray(car)) {
                self.patches.set_car(car, &patch);
                field_cars |= 1 << car;
            }
        }
        let [a, b, c, d] = self.patches.corners();
        // Both triangles of a cell, in the order of their numbers.
        for (candidate, corners) in self.candidates.iter_mut().zip([[a, b, c], [a, c, d]]) {
            // Array by array: a copy of all corners would become a call of `memcpy`.
            for ([x, y, z], corner) in candidate.corners.iter_mut().zip(corners) {
                (*x, *y, *z) = (corner[0], corner[1], corner[2]);
            }
            candidate.grip = W::splat(field.grip()).to_array();
        }
        *counts = W::splat(TRIANGLES_PER_CELL as f32).to_array();
        field_cars
    }

    /// Returns the highest hit of each ray among its first `counts` candidates (triangles near the ray), in order; at
    /// most `max_count` are visited. A hit is at or below the start of the ray. A later hit counts only if it is higher
    /// by more than [`HEIGHT_TOLERANCE_M`]. Triangles are hit from both sides; degenerate ones are skipped.
    #[inline(always)]
    fn highest_hits(&self, axes: &RayAxes<W>, counts: W, max_count: usize) -> HighestHit<W> {
        let zero = W::splat(0.0);
        let mut best = HighestHit {
            hit: W::Mask::default(),
            height: zero,
            barycentric: [zero; 3],
            index: zero,
            is_invalid: W::Mask::default(),
        };
        for (k, candidate) in self.candidates[..max_count].iter().enumerate() {
            let [a, b, c] = &candidate.corners;
            let (a, b, c) = (vector_lanes::<W>(a), vector_lanes::<W>(b), vector_lanes::<W>(c));
            let (x0, x1, x2) = (axes[0].dot(a), axes[0].dot(b), axes[0].dot(c));
            let (y0, y1, y2) = (axes[1].dot(a), axes[1].dot(b), axes[1].dot(c));
            let (z0, z1, z2) = (axes[2].dot(a), axes[2].dot(b), axes[2].dot(c));
            // Edge functions: twice the signed area of the triangle of an edge and the ray.
            let (area_a, area_b, area_c) = (x1 * y2 - y1 * x2, x2 * y0 - y2 * x0, x0 * y1 - y0 * x1);
            let is_left = !(area_a.less(zero) | area_b.less(zero) | area_c.less(zero));
            let is_right = !(zero.less(area_a) | zero.less(area_b) | zero.less(area_c));
            let area = area_a + area_b + area_c;
            let index = W::splat(k as f32);
            let is_candidate = index.less(counts);
            let (b, c) = (area_b / area, area_c / area);
            let height = z0 + b * (z1 - z0) + c * (z2 - z0);
            let is_higher = !best.hit | (best.height + W::splat(HEIGHT_TOLERANCE_M)).less(height);
            let is_below_start = height.less(W::splat(MIN_POSITIVE_F32));
            let replaces = is_candidate & (is_left | is_right) & zero.less(area.abs()) & is_below_start & is_higher;
            let select = |new: W, old: W| W::select(replaces, new, old);
            best.height = select(height, best.height);
            best.barycentric = [
                select(W::splat(1.0) - b - c, best.barycentric[0]),
                select(b, best.barycentric[1]),
                select(c, best.barycentric[2]),
            ];
            best.index = select(index, best.index);
            best.hit = best.hit | replaces;
            best.is_invalid = best.is_invalid | (is_candidate & !area.abs().less(W::splat(f32::INFINITY)));
        }
        best
    }

    /// Returns the contacts of the `found` cars from their `highest` hits within the `length` of the rays (m). Reads
    /// grip and corner normals in lanes for cars near one cell of a height field, otherwise car by car. The normal is
    /// interpolated on smooth surfaces; on flat triangles it is the face normal. It has unit length and points to the
    /// side of `up`; a normal of length zero is replaced by `up`. `unanswered` is passed on.
    #[inline(always)]
    fn contacts(
        &mut self,
        ground: &Ground,
        found: Found,
        highest: &HighestHit<W>,
        up: Vec3Lanes<W>,
        length: W,
    ) -> TerrainHits<W> {
        let Found { cars, field_cars, unanswered } = found;
        let distance = highest.height * W::splat(-1.0);
        let hit = highest.hit & !length.less(distance) & W::mask_from_bits(cars);
        let (hit_bits, mut flat_bits) = (W::mask_bits(hit), 0);
        let (indices, mut grip) = (highest.index.to_array(), W::default().to_array());
        for car in (0..W::LANE_COUNT).filter(|car| hit_bits & !field_cars & (1 << car) != 0) {
            let candidate = &self.candidates[indices.as_ref()[car] as usize];
            grip.as_mut()[car] = candidate.grip.as_ref()[car];
            // The corners are only used for flat triangles.
            let source = candidate.source.as_ref()[car];
            let normals = match ground.smooth_normals(source) {
                Some(smooth) => smooth.normals,
                None => {
                    flat_bits |= 1 << car;
                    candidate.corners.map(|corner| Vec3::from_array(corner.map(|numbers| numbers.as_ref()[car])))
                }
            };
            for ([x, y, z], normal) in self.corner_normals.iter_mut().zip(&normals) {
                (x.as_mut()[car], y.as_mut()[car], z.as_mut()[car]) = (normal.x, normal.y, normal.z);
            }
        }
        let [a, b, c] = &self.corner_normals;
        let mut corners = [a, b, c].map(vector_lanes::<W>);
        let mut grip = W::from_array(grip);
        if let Some(field) = ground.only_field().filter(|_| field_cars != 0) {
            let of_field = W::mask_from_bits(field_cars);
            flat_bits |= if field.is_smooth() { 0 } else { field_cars };
            let of_cells = self.normals_or_corners(field, highest.index);
            corners = [0, 1, 2].map(|corner| Vec3Lanes::select(of_field, of_cells[corner], corners[corner]));
            grip = W::select(of_field, W::splat(field.grip()), grip);
        }
        let [a, b, c] = corners;
        let [share_a, share_b, share_c] = highest.barycentric;
        let mut normal = a * share_a + b * share_b + c * share_c;
        if flat_bits != 0 {
            // Flat triangles have their corners in the place of normals.
            let face_normal = (b - a).cross(c - a);
            normal = Vec3Lanes::select(W::mask_from_bits(flat_bits), face_normal, normal);
        }
        let inverse_length = W::splat(1.0) / normal.dot(normal).sqrt();
        let has_length = W::splat(0.0).less(inverse_length) & inverse_length.less(W::splat(f32::INFINITY));
        let normal = Vec3Lanes::select(has_length, normal * inverse_length, up);
        let is_downward = normal.dot(up).less(W::splat(0.0));
        let normal = Vec3Lanes::select(is_downward, normal * W::splat(-1.0), normal);
        TerrainHits { hit, distance, normal, grip: grip.masked(hit), unanswered }
    }

    /// Returns three vectors for triangle `index` (0 or 1) of each cell of `field`: on a smooth field the corner
    /// normals, otherwise the corners from the start of the ray, m.
    #[inline(always)]
    fn normals_or_corners(&self, field: &HeightField, index: W) -> [Vec3Lanes<W>; 3] {
        let [first, second, third, fourth] = if field.is_smooth() {
            self.patches.corner_normals(field)
        } else {
            self.patches.corners().map(|corner| vector_lanes::<W>(&corner))
        };
        // Triangle 0 has the first three corners; triangle 1 has the first, the third and the fourth.
        let is_first = index.less(W::splat(0.5));
        [first, Vec3Lanes::select(is_first, second, third), Vec3Lanes::select(is_first, third, fourth)]
    }
}

/// Returns the vectors of all cars from the arrays of their components.
#[inline(always)]
fn vector_lanes<W: BlockLanes>([x, y, z]: &[W::Array<f32>; 3]) -> Vec3Lanes<W> {
    Vec3Lanes::new(W::from_array(*x), W::from_array(*y), W::from_array(*z))
}

/// Returns three orthonormal axes for rays that point against `up` (unit vectors), bit-identical to those of a ray of a
/// single car. The first two axes are perpendicular to the ray.
#[inline(always)]
fn ray_axes<W: BlockLanes>(up: Vec3Lanes<W>) -> RayAxes<W> {
    let one = W::splat(1.0);
    let sign = one.times_sign_of(up.z);
    let a = W::splat(-1.0) / (sign + up.z);
    let b = up.x * up.y * a;
    let forward = Vec3Lanes::new(b, sign + up.y * up.y * a, up.y * W::splat(-1.0));
    [forward, up.cross(forward), up]
}
