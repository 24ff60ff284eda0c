//! Upper bounds of the terrain: a grid of planes above it, which show at once that most hulls touch nothing.

mod build;
#[cfg(test)]
mod tests;

use skidpad_core::simd::lane::Lane;
use skidpad_core::simd::vectors::{Mat3Lanes, Vec3Lanes};
use skidpad_core::{DVec3, Vec3};

use crate::hull::{CLOSED_GAP_RATIO, CLOSING_MARGIN_M, MAX_CONTACT_GAP_M};
use crate::motion::BodyTwist;
use crate::tree::ROUNDING_OFFSET;

/// Horizontal distance from a part up to which its plane is above the terrain, m. A hull may touch at any height if its
/// displacement d (m) in a step is too large: d + s (0.33 + 2 d) ≥ 0.75 with the steepness s. On level ground this is
/// 15 m/s at 20 Hz and 45 m/s at 60 Hz; at a steepness of 0.45 it is 6 m/s and 19 m/s.
const PART_MARGIN_M: f32 = 0.75;

/// Upper bound of the distance from a hull to the triangles that its search for contact points visits, m: largest
/// displacement [`PART_MARGIN_M`], gap, and rounding. It sets how far the steepness of triangles counts.
const HULL_MARGIN_M: f32 = PART_MARGIN_M + 0.35;

/// Largest horizontal component of the normals near a hull for which the planes hold, –: slopes of 27°.
const MAX_STEEPNESS: f32 = 0.45;

/// Sum of the largest depth of a contact point behind a triangle of a mesh (0.3 m) and the largest gap (0.03 m), m.
const MAX_POINT_DISTANCE_M: f32 = 0.33;

/// Smallest clearance for the tolerances of the narrow phase, m. The rounding error of coordinates is added to it.
const CLEARANCE_MARGIN_M: f32 = 5e-3;

/// Relative rounding error of coordinates, with room for sums of several.
const ROUNDING_RATIO: f32 = 16.0 * f32::EPSILON;

/// Maximum number of parts of a hull.
const MAX_PARTS: usize = 4;

/// Planes above the terrain of a scene for one hull, which is divided along x into parts of equal size.
///
/// The ground plan is divided into squares. The plane of a square is above the terrain up to a horizontal distance of
/// half the diagonal of a part plus `PART_MARGIN_M` from the square. Triangles steeper than 60° are not included;
/// near them the steepness of the square exceeds `MAX_STEEPNESS`, so that the plane is not used. A hull whose parts
/// are above the planes of their squares, and stay there, touches no triangle; see [`TerrainCeiling::may_touch`].
#[derive(Clone, Debug)]
pub struct TerrainCeiling {
    /// Corner of least x and y of the first square, world, m. Its height is that of the origin of the first height
    /// field, or of the first mesh if there is no field.
    origin: DVec3,
    /// Side length of a square, m.
    side: f32,
    /// Reciprocal of the side length, 1/m.
    squares_per_metre: f32,
    /// Size of the grid along x and along y, m.
    size: [f32; 2],
    /// Number of squares along x.
    columns: usize,
    /// Squares, row by row along x.
    squares: Box<[Square]>,
    /// Clearance above which a part does not touch, m: [`CLEARANCE_MARGIN_M`] plus the rounding error of coordinates.
    margin: f32,
    /// Centres of the parts, from the centre of mass, vehicle axes, m.
    part_centres: Box<[Vec3]>,
    /// Half extents of a part, m.
    part_half_extents: Vec3,
    /// Centre of the hull, from the centre of mass, vehicle axes, m.
    hull_centre: Vec3,
    /// Largest distance of a point of the hull from the centre of mass, m.
    hull_radius: f32,
}

/// Plane above the terrain near a square.
#[derive(Clone, Copy, Debug)]
struct Square {
    /// Height of the plane at the middle of the square, from the origin of the grid, m; −∞ without triangles near it
    /// that are less steep than 60°.
    height: f32,
    /// Slopes of the plane along x and y, –.
    slopes: [f32; 2],
    /// Largest length of the difference between the unit normal of the plane and that of a triangle below it, –.
    deviation: f32,
    /// Largest horizontal component (sine of the slope) of the unit normals of all triangles that the search for
    /// contact points can visit for a part with its middle over this square, –. ∞ near the edge of a height field and
    /// near degenerate triangles. The plane is valid only if this is below [`MAX_STEEPNESS`].
    steepness: f32,
}

/// Plane above the terrain near the middle of a part of a hull.
#[derive(Clone, Copy, Debug, Default)]
pub struct TerrainBelow<L> {
    /// Height of the middle of the part above the plane, vertical, m; ∞ without terrain, NaN outside the grid for
    /// positions that are not finite.
    pub height: L,
    /// Slopes of the plane along x and y, –.
    pub slopes: [L; 2],
    /// Largest length of the difference between the unit normal of the plane and that of a triangle below it, –.
    pub deviation: L,
    /// Largest horizontal component of the unit normals near the hull, –; ∞ if the plane does not hold.
    pub steepness: L,
}

/// Motion of a hull in a step, as [`TerrainCeiling::may_touch`] needs it.
#[derive(Clone, Copy, Debug)]
pub struct HullMotion<L> {
    /// Axes of the body (forward, left, up), world axes.
    axes: Mat3Lanes<L>,
    /// Displacement of the centre of mass at its velocity at the end of the step, m.
    path: Vec3Lanes<L>,
    /// Rotation at the angular velocity at the end of the step, rad.
    turn: Vec3Lanes<L>,
    /// Largest displacement of a point of the hull, m.
    travel: L,
    /// Upper bound of the displacement of a point at the velocities at the end of the step, plus that of the change
    /// from the motion of the pose, m. Its product with the deviation bounds the error of a gap along the normal of the
    /// plane.
    total_motion: L,
    /// Upper bound of the gap that an impulse can close in the step, m; at most [`MAX_CONTACT_GAP_M`]. The search uses
    /// a larger bound; points that it finds beyond this one get no impulse.
    max_gap: L,
}

impl<L: Lane> HullMotion<L> {
    /// Returns the motion of hulls with this `radius` (largest distance of a point from the centre of mass, m) in a
    /// step of `dt` s. `pose_rate` is the angular velocity with which the pose moves (world axes, rad/s), and `twist`
    /// has the other velocities.
    #[inline(always)]
    pub fn new(axes: &Mat3Lanes<L>, twist: &BodyTwist<L>, pose_rate: Vec3Lanes<L>, radius: f32, dt: f32) -> Self {
        let length = |vector: Vec3Lanes<L>| vector.dot(vector).sqrt();
        let (radius, dt) = (L::splat(radius), L::splat(dt));
        let (speed, rate) = (length(twist.velocity), length(twist.angular_velocity));
        let (lag, pose_rate_length) = (length(twist.velocity_lag), length(pose_rate));
        // Changes of velocity between the motion of the pose and the end of the step, at any point, m/s.
        let change = lag + length(twist.angular_velocity - pose_rate) * radius;
        let impact_share = L::splat(1.0 / CLOSED_GAP_RATIO - 1.0);
        let max_gap = L::splat(CLOSING_MARGIN_M) + dt * (change + impact_share * (speed + rate * radius));
        Self {
            axes: *axes,
            path: twist.velocity * dt,
            turn: twist.angular_velocity * dt,
            travel: dt * (length(twist.velocity - twist.velocity_lag) + pose_rate_length * radius),
            total_motion: dt * (speed + lag + radius * (rate + pose_rate_length)),
            max_gap: max_gap.at_most(L::splat(MAX_CONTACT_GAP_M)),
        }
    }
}

impl TerrainCeiling {
    /// Returns the largest distance of a point of the hull from the centre of mass, m.
    pub fn hull_radius(&self) -> f32 {
        self.hull_radius
    }

    /// Returns the number of parts of the hull.
    pub fn part_count(&self) -> usize {
        self.part_centres.len()
    }

    /// Returns the middle of the part with index `part`, relative to the centre of mass, in the axes of the world, m.
    #[inline(always)]
    pub fn part_centre<L: Lane>(&self, part: usize, axes: &Mat3Lanes<L>) -> Vec3Lanes<L> {
        axes.mul_vector(Vec3Lanes::splat(self.part_centres[part]))
    }

    /// Returns the plane above the terrain near `point`, the middle of a part (world, m).
    #[inline(always)]
    pub fn below(&self, point: DVec3) -> TerrainBelow<f32> {
        let offset = point - self.origin;
        let [x, y] = [offset.x as f32, offset.y as f32];
        // Column and row, rounded in the bits of sums with an offset.
        let rounded =
            [x, y].map(|distance| (distance * self.squares_per_metre + (ROUNDING_OFFSET - 0.5)).max(ROUNDING_OFFSET));
        let [column, row] = rounded.map(|sum| sum.to_bits().wrapping_sub(ROUNDING_OFFSET.to_bits()) as usize);
        let is_inside = x >= 0.0 && y >= 0.0 && x < self.size[0] && y < self.size[1];
        let square = if is_inside { self.squares.get(row * self.columns + column) } else { None };
        // Outside the grid there is no terrain near the hull.
        let Some(Square { height, slopes, deviation, steepness }) = square else {
            let height = if offset.is_finite() { f32::INFINITY } else { f32::NAN };
            return TerrainBelow { height, ..TerrainBelow::default() };
        };
        // Distance from the middle of the square, m.
        let [from_x, from_y] = [(x, rounded[0]), (y, rounded[1])]
            .map(|(distance, sum)| distance - (sum - (ROUNDING_OFFSET - 0.5)) * self.side);
        let height = offset.z as f32 - (height + slopes[0] * from_x + slopes[1] * from_y);
        TerrainBelow { height, slopes: *slopes, deviation: *deviation, steepness: *steepness }
    }

    /// Returns whether the part with index `part` of each hull may touch the terrain in the step of `motion`, or close
    /// a gap to it. `below` is the plane of [`TerrainCeiling::below`] at its middle. If this is false for all parts,
    /// [`crate::GroundContacts::separate_from_ground`] finds no point on the terrain that changes the motion.
    ///
    /// Returns false only if all three conditions hold, with the deviation d:
    /// 1. The lowest corner, moved by its approach along the normal of the plane, is above the plane by more than
    ///    d times `total_motion`, plus `max_gap`, plus the margin.
    /// 2. Displacement + steepness · (0.33 m + 2 displacement) is below `PART_MARGIN_M`, and the steepness below
    ///    `MAX_STEEPNESS`.
    /// 3. The middle of the hull is above the plane by more than d times its largest distance from a contact point. A
    ///    triangle of a mesh pushes the hull to the side where this middle is; then this is the upper side.
    ///
    /// The three conditions are sufficient for the following reason. Let N be the unit normal of the plane, and n that of
    /// a triangle, upwards. A contact point P of the hull is `t + g n` at the time of contact, with a point t of the
    /// triangle and a gap g (negative: a depth).
    ///
    /// - If t is below the plane of the part, |n − N| is at most d, and g is at least the height of P above the plane
    ///   along N. From there to the end of the step the gap changes by the motion along N, and by at most d times
    ///   `total_motion`. A point with a gap above `max_gap` at the end gets no impulse.
    /// - Otherwise t has a horizontal distance h of at least `PART_MARGIN_M` less the displacement from the part, and
    ///   |g| is at least h over the steepness. A point counts only from a depth of 0.3 m (any depth in a height field)
    ///   up to the gap that the displacement of the hull can close. With a larger g, P is out of reach, or deeper
    ///   behind the triangle than a mesh pushes. In a height field P would be below the surface: t is higher than P by
    ///   more than slopes of up to `MAX_STEEPNESS` can rise between them.
    #[inline(always)]
    pub fn may_touch<L: Lane>(&self, part: usize, below: &TerrainBelow<L>, motion: &HullMotion<L>) -> L::Mask {
        let (zero, one) = (L::splat(0.0), L::splat(1.0));
        let TerrainBelow { height, slopes: [slope_x, slope_y], deviation, steepness } = *below;
        let per_length = one / (slope_x * slope_x + slope_y * slope_y + one).sqrt();
        let normal = Vec3Lanes::new(-slope_x, -slope_y, one) * per_length;
        let body_normal = motion.axes.transposed().mul_vector(normal);
        let centre_height = height * per_length;
        let lowest = centre_height - body_normal.abs().dot(Vec3Lanes::splat(self.part_half_extents));
        // Motion of the lowest point along the normal, m; at most 0.
        let tilt = normal.cross(motion.turn);
        let approach = motion.path.dot(normal) - tilt.dot(tilt).sqrt() * L::splat(self.hull_radius);
        let clearance = lowest + approach.at_most(zero) - deviation * motion.total_motion - motion.max_gap;
        // Height of the middle of the hull: triangles of a mesh push to its side.
        let from_part = Vec3Lanes::splat(self.hull_centre - self.part_centres[part]);
        let hull_height = centre_height + body_normal.dot(from_part);
        let point_distance = L::splat(MAX_POINT_DISTANCE_M) + motion.travel * L::splat(2.0);
        let is_above = (deviation * (L::splat(self.hull_radius) + motion.travel + point_distance)).less(hull_height);
        let is_clear = L::splat(self.margin).less(clearance);
        let is_near = (motion.travel + steepness * point_distance).less(L::splat(PART_MARGIN_M))
            & steepness.less(L::splat(MAX_STEEPNESS));
        !(is_above & is_clear & is_near)
    }
}
