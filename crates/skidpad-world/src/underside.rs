//! Fast exclusion of triangles below a hull, which most triangles near a car on its wheels are.

use skidpad_core::simd::lane::{F32x4, Lane};
use skidpad_core::{GridCell, Triangle, TriangleVisitor, Vec3};

use crate::chassis::Chassis;

/// Clearance that allows for rounding and for the tolerances of the narrow phase, m.
const CLEARANCE_MARGIN_M: f32 = 5e-3;

/// Largest rotation in a step at which triangles are excluded, rad.
const MAX_ROTATION: f32 = 0.1;

/// Largest height above the underside of a triangle that can be excluded, m. It bounds how far a point of the hull
/// behind a triangle can be to the side of it.
const MAX_HEIGHT_ABOVE_M: f32 = 0.3;

/// Underside of a hull with its motion within a step. The origin is the centre of mass at the start of the step.
///
/// A triangle is excluded if no point of the hull can come closer to it than the largest gap of a contact point. Let u
/// be the vertical axis of the hull, and n the normal of the triangle, with `n · u > 0`. A point of the hull over the
/// triangle is at least as far from it along n as it is above it along u. The gap at the end of the step is smaller by
/// the sinking of the hull along u, by its motion against n, and by its rotation: roll and pitch count for the height
/// of the underside and for the gap at the start and at the end of the step, yaw only on triangles that are not
/// parallel to the underside. The first check uses the highest corner of the triangle. The second one uses the highest
/// point of its plane below the hull.
#[derive(Clone, Copy)]
pub(crate) struct Underside {
    /// Axes of the hull (forward, left, up), unit vectors, world axes.
    axes: [Vec3; 3],
    /// Height of the underside along the vertical axis, m.
    pub height: f32,
    /// Middle of the hull, m.
    centre: Vec3,
    /// Middle of the hull along the forward and the left axis, m.
    footprint_centre: [f32; 2],
    /// Half extents of the hull along the forward and the left axis, m.
    half_extents: [f32; 2],
    /// Displacement of the centre of mass in the step, m.
    path: Vec3,
    /// Largest displacement of a point of the hull by yaw before and within the step, m.
    yaw_path: f32,
    /// Height of the underside above a triangle beyond which it is excluded if the motion does not approach it, m:
    /// largest gap, margin, rotation and sinking.
    required_clearance: f32,
    /// Largest distance of an approach to a triangle, m.
    max_approach: f32,
}

impl Underside {
    /// Returns the underside of the hull of `chassis`, for a search of contact points in a step of `dt` s. Only points
    /// whose gap at the end of the step is at most `max_gap` m count, for the twist of the chassis and a gain of speed
    /// of up to `speed_gain` m/s. `motion` is the velocity (m/s) and the angular velocity (rad/s) with which the pose
    /// moves, world axes. If the hull turns by 0.1 rad or more, no triangle below the hull is excluded.
    pub fn new(chassis: &Chassis, motion: [Vec3; 2], speed_gain: f32, dt: f32, max_gap: f32) -> Self {
        let [velocity, angular_velocity] = motion;
        let axes = [chassis.axes.x_axis, chassis.axes.y_axis, chassis.axes.z_axis];
        let (centre, path) = (chassis.axes * chassis.hull.centre, velocity * dt);
        let half_extents = chassis.hull.half_extents;
        let [end_velocity, end_rate] = chassis.twist();
        // Upper bounds of the displacement of any point of the hull in the step, m: by rotation, tilt, yaw and
        // translation.
        let arm_time = chassis.hull_radius * dt;
        let rotation_path = angular_velocity.length() * arm_time;
        let tilt_path = |rate: Vec3| rate.cross(axes[2]).length() * arm_time;
        let yaw_path = |rate: Vec3| rate.dot(axes[2]).abs() * arm_time;
        let (end_path, gain_path) = (end_velocity.length() * dt, speed_gain * dt);
        let change_path = (end_velocity - velocity).length() * dt;
        let base = max_gap + CLEARANCE_MARGIN_M + gain_path + change_path;
        // Rotations are taken as small.
        let is_slow = rotation_path < MAX_ROTATION * chassis.hull_radius;
        let margin = if is_slow { 2.0 * tilt_path(angular_velocity) + tilt_path(end_rate) } else { f32::INFINITY };
        Self {
            axes,
            height: axes[2].dot(centre) - half_extents.z,
            centre,
            footprint_centre: [axes[0].dot(centre), axes[1].dot(centre)],
            half_extents: [half_extents.x, half_extents.y],
            path,
            yaw_path: yaw_path(angular_velocity) + yaw_path(end_rate),
            required_clearance: base + margin + (-path.dot(axes[2])).max(0.0),
            max_approach: base + path.length() + end_path + rotation_path + end_rate.length() * arm_time,
        }
    }

    /// Returns true if no point of the hull can touch `triangle` of a mesh. The normal of the triangle is oriented
    /// upwards along the axis of the hull. Returns false if the middle of the hull is not on that side.
    #[inline(always)]
    fn excludes(&self, triangle: &Triangle) -> bool {
        let [a, b, c] = triangle.corners;
        let up = self.axes[2];
        let mut normal = (b - a).cross(c - a);
        if normal.dot(up) < 0.0 {
            normal = -normal;
        }
        let is_above = normal.dot(self.centre - a) > 0.0;
        let heights = [up.dot(a), up.dot(b), up.dot(c)];
        is_above && self.is_clear_of(&triangle.corners, heights, normal)
    }

    /// Returns true if no point of the hull can touch `cell` of a height field, whose normals point upwards. First
    /// checks whether all four corners are clear of the underside, with heights along the vertical axis of the hull.
    /// Then checks both triangles separately.
    #[inline(always)]
    fn excludes_cell(&self, cell: &GridCell) -> bool {
        let GridCell { x: [x0, x1], y: [y0, y1], z: [z0, z1, z2, z3], .. } = *cell;
        let up = self.axes[2];
        // Heights of the corners along the vertical axis of the hull, m.
        let heights = F32x4::new([x0, x1, x1, x0]) * F32x4::splat(up.x)
            + F32x4::new([y0, y0, y1, y1]) * F32x4::splat(up.y)
            + F32x4::new([z0, z1, z2, z3]) * F32x4::splat(up.z);
        let (per_x, per_y) = (1.0 / (x1 - x0), 1.0 / (y1 - y0));
        // Upward normals (−∂z/∂x, −∂z/∂y, 1) of both triangles, with a length of at least 1.
        let normals = [
            Vec3::new((z0 - z1) * per_x, (z1 - z2) * per_y, 1.0),
            Vec3::new((z3 - z2) * per_x, (z0 - z3) * per_y, 1.0),
        ];
        // `approach` contains the length of the normal, so that this is at least the approach in m, and at least 0.
        let approach = self.approach(normals[0]).max(self.approach(normals[1])).max(0.0);
        // Height below which a corner stays clear of the underside, m.
        let max_clear_height = F32x4::splat(self.height - self.required_clearance - approach);
        let is_upward = (normals[0].dot(up) > 0.0) & (normals[1].dot(up) > 0.0);
        if is_upward & (heights.less(max_clear_height).bits() == 0b1111) {
            return true;
        }
        let [a, b, c, d] = [Vec3::new(x0, y0, z0), Vec3::new(x1, y0, z1), Vec3::new(x1, y1, z2), Vec3::new(x0, y1, z3)];
        let [height_a, height_b, height_c, height_d] = heights.lanes();
        self.is_clear_of(&[a, b, c], [height_a, height_b, height_c], normals[0])
            && self.is_clear_of(&[a, c, d], [height_a, height_c, height_d], normals[1])
    }

    /// Returns the approach within the step to a triangle with this `normal`, m, times the length of the normal: by the
    /// path of the centre of mass, and by yaw.
    #[inline(always)]
    fn approach(&self, normal: Vec3) -> f32 {
        let tilt = normal.dot(self.axes[0]).abs() + normal.dot(self.axes[1]).abs();
        self.yaw_path * tilt - normal.dot(self.path)
    }

    /// Returns true if the underside is clear of the triangle `corners`, with their `heights` along the vertical axis
    /// (m) and a `normal` of any length that points to the side of the hull. First checks the highest corner, then the
    /// highest point of the triangle's plane within the footprint of the hull. Returns false for a triangle that is
    /// vertical or too high.
    fn is_clear_of(&self, corners: &[Vec3; 3], heights: [f32; 3], normal: Vec3) -> bool {
        let upward = normal.dot(self.axes[2]);
        let highest = heights[0].max(heights[1]).max(heights[2]);
        // Also false for NaN.
        if !(upward > 0.0 && highest < self.height + MAX_HEIGHT_ABOVE_M) {
            return false;
        }
        let approach = self.approach(normal);
        // The length of the normal is at least its component along the vertical axis.
        let is_clear = |height: f32| {
            let clearance = self.height - self.required_clearance - height;
            (clearance > 0.0) & (clearance * upward > approach)
        };
        if is_clear(highest) {
            return true;
        }
        let slopes = [0, 1].map(|axis| -normal.dot(self.axes[axis]) / upward);
        // Distance from the hull, seen along the vertical axis, at which points of the triangle can still touch it, m.
        let margin = (slopes[0].abs() + slopes[1].abs()) * (MAX_HEIGHT_ABOVE_M + self.max_approach) + self.max_approach;
        // Highest point of the plane of the triangle where footprint and triangle overlap along both axes, m.
        let mut height = heights[0];
        for (axis, slope) in slopes.into_iter().enumerate() {
            let [a, b, c] = corners.map(|corner| corner.dot(self.axes[axis]));
            let (middle, half) = (self.footprint_centre[axis], self.half_extents[axis] + margin);
            let (low, high) = (a.min(b).min(c).max(middle - half), a.max(b).max(c).min(middle + half));
            if low > high {
                return true;
            }
            height += slope * (0.5 * (low + high) - a) + slope.abs() * 0.5 * (high - low);
        }
        is_clear(height)
    }
}

/// Collector of the triangles near a hull that its underside does not exclude.
pub(crate) struct NearTriangles<'a, F> {
    /// Function that computes the underside of the hull, called for the first triangle.
    pub compute_underside: F,
    /// Underside of the hull; `None` before the first triangle.
    pub underside: Option<Underside>,
    /// Collected triangles.
    pub triangles: &'a mut Vec<Triangle>,
}

impl<F: FnMut() -> Underside> NearTriangles<'_, F> {
    /// Returns the underside of the hull.
    #[inline(always)]
    fn underside(&mut self) -> &Underside {
        self.underside.get_or_insert_with(&mut self.compute_underside)
    }
}

impl<F: FnMut() -> Underside> TriangleVisitor for NearTriangles<'_, F> {
    /// Collects the triangle unless the underside excludes it.
    #[inline(always)]
    fn visit(&mut self, triangle: &Triangle) {
        if !self.underside().excludes(triangle) {
            self.triangles.push(*triangle);
        }
    }

    /// Collects both triangles of the cell unless the underside excludes the whole cell.
    #[inline(always)]
    fn visit_cell(&mut self, cell: &GridCell) {
        if !self.underside().excludes_cell(cell) {
            self.triangles.extend(cell.triangles());
        }
    }
}
