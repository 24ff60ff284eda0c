//! First contact of a wheel with triangles along its suspension travel: the upper envelope of a circle over the
//! triangles' sections with the wheel planes, in closed form.
//!
//! A wheel plane intersects triangles in segments. Over a segment `z(x)`, the circle of radius R rests with its centre
//! at `z(x) + √(R² − x²)`. This function is concave: its maximum is at the tangent point `x = R s / √(1 + s²)` for the
//! slope s, or at the segment end nearest to it. The wheel stands at the maximum over all segments. A ray is the case R
//! = 0. Adjacent segments leave no gap: they compute the shared end from the same corners in the same order.

pub(crate) mod collector;
mod ray;
mod tests;
mod two_point;
pub(crate) mod wall;

use crate::port::{Contact, Probe, Rim};
use bevy_math::Vec3;
use core::borrow::Borrow;
use skidpad_simd::lane::{F32x4, Lane};

/// Triangle of the ground near a probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangle {
    /// Corners relative to the start of the probe's ray, world axes, m.
    pub corners: [Vec3; 3],
    /// Identifier of the triangle in its surface, for the look-up of its smoothness.
    pub source: [u32; 2],
    /// Friction factor, –, ≥ 0.
    pub grip: f32,
}

/// Smooth surface that a triangle belongs to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SmoothSurface {
    /// Unit normals of the smooth surface at the corners, world axes.
    pub normals: [Vec3; 3],
    /// Whether the surface is smooth across the edge that follows each corner.
    pub edges: [bool; 3],
}

impl SmoothSurface {
    /// Returns the interpolated unit normal at a `point` of the triangle `corners` (m), on the side of `up`. The point
    /// may lie outside the triangle, where the normal is extrapolated.
    pub fn normal_at(&self, corners: &[Vec3; 3], point: Vec3, up: Vec3) -> Vec3 {
        self.normal(barycentric_coordinates(corners, point), up)
    }

    /// Returns the interpolated unit normal at `barycentric` coordinates, on the side of `up`; `up` if they cancel.
    #[inline(always)]
    fn normal(&self, barycentric: [f32; 3], up: Vec3) -> Vec3 {
        let normals = &self.normals;
        let normal = normals[0] * barycentric[0] + normals[1] * barycentric[1] + normals[2] * barycentric[2];
        let normal = normal.normalize_or(up);
        if normal.dot(up) < 0.0 { -normal } else { normal }
    }
}

impl Triangle {
    /// Creates a triangle with sharp edges (source 0) of `corners` from the start of the ray (m) and friction `grip`.
    pub fn flat(corners: [Vec3; 3], grip: f32) -> Self {
        Self { corners, source: [0; 2], grip }
    }

    /// Returns the faces of a box of `half_extents` (m) around the origin as 12 triangles, two consecutive ones per
    /// face. `transform` maps each corner to its final position relative to the start of the ray.
    pub fn of_box(half_extents: Vec3, transform: impl Fn(Vec3) -> Vec3, grip: f32) -> [Self; 12] {
        let corners: [Vec3; 8] = core::array::from_fn(|i| {
            let sign = |bit: usize| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
            transform(half_extents * Vec3::new(sign(0), sign(1), sign(2)))
        });
        core::array::from_fn(|k| {
            let [a, b, c, d] = BOX_SIDES[k / 2];
            let face = if k % 2 == 0 { [a, b, c] } else { [a, c, d] };
            Self::flat(face.map(|corner| corners[corner]), grip)
        })
    }

    /// Returns a triangle in the plane of unit `normal` through `point` (m) that covers `radius` m around it.
    pub fn of_plane(point: Vec3, normal: Vec3, radius: f32, grip: f32) -> Self {
        let (a, b) = normal.any_orthonormal_pair();
        let point_at = |u: f32, v: f32| point + a * (u * radius) + b * (v * radius);
        Self::flat([point_at(-1.0, -1.0), point_at(3.0, -1.0), point_at(-1.0, 3.0)], grip)
    }
}

/// Corners of each side of a box; the three bits of a corner index are the signs of x, y and z.
const BOX_SIDES: [[usize; 4]; 6] = [[0, 2, 6, 4], [1, 5, 7, 3], [0, 4, 5, 1], [2, 3, 7, 6], [0, 1, 3, 2], [4, 6, 7, 5]];

/// Smallest cosine between the normal of ground and the suspension: contacts steeper than 80° are obstacles.
pub(crate) const STEEPEST_GROUND_COSINE: f32 = 0.173_648_18;
/// Sine of the steepest ground angle.
const STEEPEST_GROUND_SINE: f32 = 0.984_807_8;
/// Tangent of the steepest ground angle: the largest change of ray distance per lateral motion of the wheel.
pub(crate) const STEEPEST_GROUND_TANGENT: f32 = 5.671_282;

/// Height of the highest edge that a wheel climbs over its radius. There the contact normal is as steep as ground.
const MAX_CLIMB_RATIO: f32 = 1.0 - STEEPEST_GROUND_COSINE;

/// Maximum number of passes that climb from step to step.
const MAX_CLIMB_PASSES: usize = 4;

/// Height tolerance, m. Contacts within it count as equally high; the flatter face is preferred.
const HEIGHT_TOLERANCE_M: f32 = 1e-6;

/// Sine of the angle between an edge and the heading above which the edge sets the lateral tilt of the normal.
const MIN_EDGE_ANGLE_SINE: f32 = 0.5;

/// Maximum number of wheel planes.
const MAX_WHEEL_PLANES: usize = 3;

/// Wheel plane: its distance to the left of the middle and the radius of its circle, m.
#[derive(Clone, Copy, Debug, Default)]
struct WheelPlane {
    lateral_offset: f32,
    radius: f32,
}

/// Probe in its own axes, origin at the start of the ray: x in rolling direction, y to its left, z against the ray.
struct ProbeGeometry {
    /// Unit vectors of the probe axes x, y, z in world axes.
    axes: [Vec3; 3],
    /// Components of `axes` in every lane, for several corners at once.
    wide_axes: [[F32x4; 3]; 3],
    /// Wheel planes, the middle one first.
    planes: [WheelPlane; MAX_WHEEL_PLANES],
    /// Number of wheel planes in use.
    plane_count: usize,
    /// Radius of the wheel in its middle plane, m; 0 for a ray.
    radius: f32,
    /// Height of the lowest point of the wheel before the step relative to the start of the ray, m.
    last_bottom: f32,
    /// Component of [`Rim::probe_displacement`] along the heading, m.
    start_displacement: f32,
    /// Component of [`Rim::free_displacement`] along the heading, m.
    free_displacement: f32,
    /// Copy of [`Rim::load_displacement`], m.
    load_displacement: f32,
    /// Copy of [`Rim::drive_displacement`], m.
    drive_displacement: f32,
}

/// Section of a triangle with a wheel plane: x (ascending), height z and edge (0 to 2, by first corner) of both ends.
#[derive(Clone, Copy)]
struct Segment {
    x: [f32; 2],
    z: [f32; 2],
    edge: [u8; 2],
    /// Whether an end is a cut at the height of the ray's start, not an edge of the triangle.
    is_clipped: [bool; 2],
}

impl Segment {
    /// Returns true if the segment is too steep to be ground.
    fn is_wall(&self) -> bool {
        let (width, rise) = (self.x[1] - self.x[0], self.z[1] - self.z[0]);
        width < STEEPEST_GROUND_COSINE * (width * width + rise * rise).sqrt()
    }
}

/// Iterator over the triangles that some wheel plane intersects: index and corners in probe axes. The corners are
/// stored in [`collector::CandidateTriangle`] or computed on each pass.
trait CutTriangles: Iterator<Item = (usize, Self::Corners)> + Clone {
    type Corners: Borrow<[Vec3; 3]>;
}

impl<C: Borrow<[Vec3; 3]>, T: Iterator<Item = (usize, C)> + Clone> CutTriangles for T {
    type Corners = C;
}

/// Returns the components of an axis, each in every lane.
#[inline(always)]
fn splat_axis(axis: Vec3) -> [F32x4; 3] {
    axis.to_array().map(F32x4::splat)
}

/// Result of resting a circle on a segment.
enum RestResult {
    /// No contact, or the segment is too steep to stand on.
    NoContact,
    /// Contact at an end that is too high to climb.
    TooHigh,
    /// Contact at x and z (m); `edge` is the triangle edge if the contact is at an end.
    Contact { x: f32, z: f32, edge: Option<u8> },
}

/// Standing position of a wheel: the geometric part of a [`Contact`].
#[derive(Clone, Copy)]
struct ContactGeometry {
    /// Distance from the start of the ray to the lowest point of the wheel, m.
    distance: f32,
    /// Unit normal of the ground, world axes.
    normal: Vec3,
    /// Friction factor, –.
    grip: f32,
    /// Contact point of a rim relative to the body, world axes, m; `None` on the ray.
    point: Option<Vec3>,
}

/// Contact of a circle with a triangle.
#[derive(Clone, Copy, Debug, Default)]
struct CircleContact {
    /// Height of the lowest point of the wheel in that position, m.
    bottom: f32,
    /// Index of the triangle.
    triangle: u32,
    /// Contact point in probe axes, m.
    point: Vec3,
    /// Triangle edge of a contact at the end of a segment.
    edge: Option<u8>,
    /// Radius of the circle, m.
    radius: f32,
    /// Rise of the wheel per distance ahead, –.
    slope: f32,
    /// Barycentric coordinates in the triangle, for a ray.
    barycentric: Option<[f32; 3]>,
    /// Cosine between face normal and ray, or 2 for a tangent contact. Ranks contacts of equal height.
    flatness: f32,
}

impl ProbeGeometry {
    /// Builds axes, wheel planes and displacements of a probe. A rim's probe and free displacements are projected on
    /// its heading. A ray has one plane of radius 0 in any heading, no displacements, and its end as last lowest point.
    #[inline(always)]
    fn new(probe: &Probe) -> Self {
        let up = -probe.direction;
        let Some(rim) = &probe.rim else {
            let forward = up.any_orthonormal_vector();
            let axes = [forward, up.cross(forward), up];
            return Self {
                axes,
                wide_axes: axes.map(splat_axis),
                planes: Default::default(),
                plane_count: 1,
                radius: 0.0,
                last_bottom: -probe.length,
                start_displacement: 0.0,
                free_displacement: 0.0,
                load_displacement: 0.0,
                drive_displacement: 0.0,
            };
        };
        let axes = [rim.forward, up.cross(rim.forward), up];
        let (planes, plane_count) = wheel_planes(rim);
        // Displacements before and after the probed pose, along the heading, m.
        let [start_displacement, free_displacement] =
            [rim.probe_displacement, rim.free_displacement].map(|displacement| displacement.dot(rim.forward));
        Self {
            axes,
            wide_axes: axes.map(splat_axis),
            planes,
            plane_count,
            radius: rim.radius,
            last_bottom: -rim.last_ray_length,
            start_displacement,
            free_displacement,
            load_displacement: rim.load_displacement,
            drive_displacement: rim.drive_displacement,
        }
    }

    /// Returns a vector of world axes in probe axes.
    fn to_probe_axes(&self, vector: Vec3) -> Vec3 {
        let [x, y, z] = self.axes.map(|axis| axis.dot(vector));
        Vec3::new(x, y, z)
    }

    /// Returns the coordinate of four corners along probe axis `axis` (0 to 2), m: the component that
    /// [`Self::to_probe_axes`] returns for each. The corners are given by their x, y and z in world axes.
    #[inline(always)]
    fn corner_coordinates(&self, axis: usize, [x, y, z]: &[F32x4; 3]) -> F32x4 {
        let [axis_x, axis_y, axis_z] = self.wide_axes[axis];
        *x * axis_x + *y * axis_y + *z * axis_z
    }

    /// Returns true if some wheel plane has given corners on both sides. `ys` has the y coordinates of four corners
    /// (m), `corner_mask` selects some of them by bit. A corner in the plane counts as left of it.
    #[inline(always)]
    fn separates_corners(&self, ys: F32x4, corner_mask: u32) -> bool {
        let is_cut_by = |plane: &WheelPlane| {
            let corners_right = ys.less(F32x4::splat(plane.lateral_offset)).bits() & corner_mask;
            corners_right != 0 && corners_right != corner_mask
        };
        self.planes[..self.plane_count].iter().any(is_cut_by)
    }

    /// Returns the corners in probe axes (m); `None` if no wheel plane has corners on both sides. Only the y
    /// coordinates are computed before that.
    #[inline(always)]
    fn cut_corners(&self, triangle: &Triangle) -> Option<[Vec3; 3]> {
        let [a, b, c] = triangle.corners;
        let corners = [[a.x, b.x, c.x, c.x], [a.y, b.y, c.y, c.y], [a.z, b.z, c.z, c.z]].map(F32x4::new);
        let ys = self.corner_coordinates(1, &corners);
        // The mask selects the first three lanes; the fourth repeats corner c.
        if !self.separates_corners(ys, 0b0111) {
            return None;
        }
        let [xs, ys, zs] =
            [self.corner_coordinates(0, &corners), ys, self.corner_coordinates(2, &corners)].map(F32x4::lanes);
        Some([0, 1, 2].map(|i| Vec3::new(xs[i], ys[i], zs[i])))
    }

    /// Returns those of the `triangles` that some wheel plane intersects.
    fn cut_triangles<'a>(&'a self, triangles: &'a [Triangle]) -> impl CutTriangles + 'a {
        triangles.iter().enumerate().filter_map(|(i, triangle)| Some((i, self.cut_corners(triangle)?)))
    }

    /// Returns a vector of probe axes in world axes.
    fn to_world(&self, vector: Vec3) -> Vec3 {
        self.axes[0] * vector.x + self.axes[1] * vector.y + self.axes[2] * vector.z
    }

    /// Returns the highest contact of all wheel planes with the `triangles`, and whether some contact could share the
    /// load with the highest one found before it ([`Self::can_share_load`]). `None` without any contact. Edges above
    /// the climb height do not count. The first pass climbs from the wheel's lowest point before the step, each further
    /// pass from the highest contact so far. Another pass follows if the last one raised the wheel and rejected such an
    /// edge; there are at most [`MAX_CLIMB_PASSES`].
    #[inline(always)]
    fn highest_contact(&self, triangles: impl CutTriangles) -> Option<(CircleContact, bool)> {
        let mut best: Option<CircleContact> = None;
        let mut can_share = false; // whether two contacts can share the load
        for _ in 0..MAX_CLIMB_PASSES {
            let climb_height = self.climb_height(best.map_or(self.last_bottom, |best| best.bottom));
            let previous_bottom = best.map(|best| best.bottom); // height of the wheel before this pass, m
            let mut has_rejected_edge = false; // whether an edge was too high to climb
            for (i, corners) in triangles.clone() {
                let corners = corners.borrow();
                for plane in &self.planes[..self.plane_count] {
                    match section(corners, plane.lateral_offset, plane.radius)
                        .map(|segment| self.rest_on(&segment, plane, climb_height))
                    {
                        None | Some(RestResult::NoContact) => {}
                        Some(RestResult::TooHigh) => has_rejected_edge = true,
                        Some(RestResult::Contact { x, z, edge }) => {
                            let contact = self.new_contact(plane, [x, z], edge, i);
                            can_share |= best.is_some_and(|best| self.can_share_load(&contact, &best));
                            keep_higher(&mut best, corners, contact);
                        }
                    }
                }
            }
            if !has_rejected_edge || best.map(|best| best.bottom) == previous_bottom {
                break;
            }
        }
        best.map(|best| (best, can_share))
    }

    /// Builds the contact of a wheel at `contact`. A rim can share its load with a `second` contact, given with its
    /// share of the load. Returns the index of the triangle with the larger share, and the contact without ground
    /// motion. A rim has a contact point, the weighted mean of both points if there are two; a ray has none. `None` if
    /// the distance exceeds the length of the ray or is NaN. `triangle_of` returns the triangle of a contact, `smooth`
    /// its surface.
    #[inline(always)]
    fn build_contact<'a>(
        &self,
        probe: &Probe,
        contact: &CircleContact,
        second: Option<&(CircleContact, f32)>,
        triangle_of: impl Fn(&CircleContact) -> &'a Triangle,
        smooth: impl Fn(&Triangle) -> Option<SmoothSurface>,
    ) -> Option<(usize, Contact)> {
        let mut geometry = self.contact_geometry(contact, triangle_of(contact), &smooth);
        let mut triangle = contact.triangle;
        if let Some((other, share)) = second {
            let points = [contact, other].map(|touch| self.contact_point(probe, touch));
            geometry = self.combine_contacts(
                [(geometry, 1.0 - share), (self.contact_geometry(other, triangle_of(other), &smooth), *share)],
                points,
            );
            if *share > 0.5 {
                triangle = other.triangle;
            }
        } else if probe.rim.is_some() {
            geometry.point = Some(self.contact_point(probe, contact));
        }
        let ContactGeometry { distance, normal, grip, point } = geometry;
        if distance > probe.length || distance.is_nan() {
            return None;
        }
        Some((triangle as usize, Contact { distance, normal, grip, point, ground: None }))
    }

    /// Returns the point of a contact from the position of the body, world axes, m: probe offset plus the point.
    fn contact_point(&self, probe: &Probe, contact: &CircleContact) -> Vec3 {
        probe.offset + self.to_world(contact.point)
    }

    /// Builds the contact of the circle of `plane` at x and z (m, probe axes) with a triangle by index. The lowest
    /// point of the wheel is at the height `z + √(r² − x²) − R` with the radius r of the plane; the slope is
    /// `x / √(r² − x²)`. `edge` is the triangle edge of a contact at a segment end. The slope is 0 at the hub's height
    /// (|x| ≥ r). The rank `flatness` is left at 0.
    fn new_contact(&self, plane: &WheelPlane, [x, z]: [f32; 2], edge: Option<u8>, triangle: usize) -> CircleContact {
        let triangle = triangle as u32;
        let rise = (plane.radius * plane.radius - x * x).max(0.0).sqrt(); // of the circle centre above the contact, m
        let point = Vec3::new(x, plane.lateral_offset, z);
        let slope = if rise > 0.0 { x / rise } else { 0.0 };
        CircleContact {
            bottom: z + rise - self.radius,
            triangle,
            point,
            edge,
            radius: plane.radius,
            slope,
            ..CircleContact::default()
        }
    }

    /// Returns how the circle of `plane` rests on a segment: at the tangent point, or at the segment end nearest to it.
    /// No contact if the segment is out of reach in x, if the contact is steeper than 80°, or at the end of a wall. An
    /// end above `climb_height` (m), or one cut off at the start of the ray, is too high; tangent points have no limit.
    fn rest_on(&self, segment: &Segment, plane: &WheelPlane, climb_height: f32) -> RestResult {
        let Segment { x: [x0, x1], z: [z0, z1], edge, is_clipped } = *segment;
        let radius = plane.radius;
        if x0 > radius || x1 < -radius {
            return RestResult::NoContact;
        }
        let (width, rise) = (x1 - x0, z1 - z0);
        let length = (width * width + rise * rise).sqrt();
        let tangent_x = if length > 0.0 { radius * (rise / length) } else { x0 }; // x of the tangent point, m
        let end_index = if tangent_x <= x0 { Some(0) } else { (tangent_x >= x1).then_some(1) };
        let [x, z] = match end_index {
            Some(end_index) => [segment.x[end_index], segment.z[end_index]],
            None => [tangent_x, z0 + rise * ((tangent_x - x0) / width)],
        };
        // The end of a wall can be in the middle of its height. The face on top of it decides whether the wheel climbs.
        let on_wall = end_index.is_some() && segment.is_wall();
        if on_wall || x.abs() > STEEPEST_GROUND_SINE * radius {
            return RestResult::NoContact;
        }
        if end_index.is_some_and(|end_index| is_clipped[end_index] || z > climb_height) {
            return RestResult::TooHigh;
        }
        RestResult::Contact { x, z, edge: end_index.map(|end_index| edge[end_index]) }
    }

    /// Returns the unit normal of the ground at `contact`, world axes. Inside a `smooth` surface, or at an edge over
    /// which it continues, the corner normals are interpolated. A tangent contact has the face normal. At an edge, the
    /// normal points from the contact point to the centre of the circle; its lateral tilt is set by the edge if that is
    /// at more than 30° to the heading, otherwise by the face.
    fn normal_at(&self, contact: &CircleContact, triangle: &Triangle, smooth: Option<SmoothSurface>) -> Vec3 {
        // Whether the surface continues smoothly over the edge of the contact. Edges are 0 to 2: `% 3` changes nothing.
        let is_smooth_across = |edges: &[bool; 3]| contact.edge.is_none_or(|edge| edges[usize::from(edge) % 3]);
        if let Some(smooth) = &smooth
            && is_smooth_across(&smooth.edges)
        {
            let barycentric = contact
                .barycentric
                .unwrap_or_else(|| barycentric_coordinates(&triangle.corners, self.to_world(contact.point)));
            return smooth.normal(barycentric, self.axes[2]);
        }
        let Some(edge) = contact.edge else { return face_normal(&triangle.corners, self.axes[2]) };
        let (corners, edge) = (triangle.corners.map(|corner| self.to_probe_axes(corner)), usize::from(edge) % 3);
        let face = face_normal(&corners, Vec3::Z);
        // Direction from the contact point to the centre of the circle.
        let rise = (contact.radius * contact.radius - contact.point.x * contact.point.x).max(0.0).sqrt();
        let (centre_x, centre_z) = (-contact.point.x / contact.radius, rise / contact.radius);
        let edge_direction = (corners[(edge + 1) % 3] - corners[edge]).normalize_or_zero();
        let probe_normal = if edge_direction.y.abs() > MIN_EDGE_ANGLE_SINE {
            // Perpendicular to the edge and to the tangent (z, 0, −x) of the circle.
            let normal = Vec3::new(centre_z, 0.0, -centre_x).cross(edge_direction).normalize_or(Vec3::Z);
            if normal.z < 0.0 { -normal } else { normal }
        } else {
            let tilt_cosine = (1.0 - face.y * face.y).max(0.0).sqrt();
            Vec3::new(centre_x * tilt_cosine, face.y, centre_z * tilt_cosine)
        };
        self.to_world(probe_normal)
    }
}

/// Replaces `best` by a higher `contact` on the triangle `corners` (probe axes). Within [`HEIGHT_TOLERANCE_M`], prefers
/// a tangent contact, then a flatter face, then a point nearer to the middle. Sets the rank `flatness`.
fn keep_higher(best: &mut Option<CircleContact>, corners: &[Vec3; 3], contact: CircleContact) {
    if best.is_some_and(|best| contact.bottom < best.bottom - HEIGHT_TOLERANCE_M) {
        return;
    }
    // 2 ranks a tangent contact above every face: an end slightly below it would give a different normal.
    let flatness = if contact.edge.is_none() { 2.0 } else { face_normal(corners, Vec3::Z).z };
    let is_better = |best: CircleContact| {
        let is_nearer_to_middle = flatness == best.flatness && contact.point.y.abs() < best.point.y.abs();
        contact.bottom > best.bottom + HEIGHT_TOLERANCE_M || flatness > best.flatness || is_nearer_to_middle
    };
    if best.is_none_or(is_better) {
        *best = Some(CircleContact { flatness, ..contact });
    }
}

/// Returns the wheel planes of a rim, the middle one first, and their number: 1 for a disc; otherwise 3, the outer ones
/// (right, left) at both ends of a flat tread, or at 60° on a rounded one, with a smaller radius.
fn wheel_planes(rim: &Rim) -> ([WheelPlane; MAX_WHEEL_PLANES], usize) {
    let middle = WheelPlane { lateral_offset: 0.0, radius: rim.radius };
    if rim.half_width == 0.0 {
        return ([middle; MAX_WHEEL_PLANES], 1);
    }
    // Outer planes of a rounded tread are at 60° on the rounding, half of its radius lower.
    let outer_plane = |sign: f32| {
        // Rounded: sin 60° and 1 − cos 60°.
        let (offset_factor, reduction_factor) = if rim.has_round_tread { (0.866_025_4, 0.5) } else { (1.0, 0.0) };
        WheelPlane {
            lateral_offset: sign * offset_factor * rim.half_width,
            radius: rim.radius - reduction_factor * rim.half_width,
        }
    };
    ([middle, outer_plane(-1.0), outer_plane(1.0)], 3)
}

/// Corner order by the sides of a plane on which the corners lie (three bits): the corner that is alone, then the
/// others in circular order. `None` if all are on one side.
const CORNER_ORDER: [Option<[u8; 3]>; 8] = {
    let [a, b, c] = [Some([0, 1, 2]), Some([1, 2, 0]), Some([2, 0, 1])];
    [None, a, b, c, c, b, a, None]
};

/// Returns the section of a triangle (probe axes) with the plane at `plane_y` (m), in order of x and below the start of
/// the ray, with the triangle edge of each end. `None` without a section, if all of it is farther ahead or behind than
/// `max_distance` (m), or if it is above the start of the ray. Both triangles at an edge compute the same point.
#[inline(always)]
fn section(corners: &[Vec3; 3], plane_y: f32, max_distance: f32) -> Option<Segment> {
    let plane_distances = corners.map(|corner| corner.y - plane_y); // of the corners to the left of the plane, m
    let side_bit = |index: usize| usize::from(plane_distances[index] >= 0.0);
    // Corner alone on its side of the plane, and the other two.
    let [lone_corner, next_corner, last_corner] = CORNER_ORDER[side_bit(0) | side_bit(1) << 1 | side_bit(2) << 2]?;
    let is_lone_left = plane_distances[usize::from(lone_corner)] >= 0.0;
    // Corners of the edge in fixed order, and the share of the edge at which the plane cuts it.
    let edge_crossing = |other_corner: u8| {
        let (right, left) = if is_lone_left { (other_corner, lone_corner) } else { (lone_corner, other_corner) };
        let (right, left) = (usize::from(right), usize::from(left));
        let cut_share = plane_distances[right] / (plane_distances[right] - plane_distances[left]);
        (&corners[right], &corners[left], cut_share)
    };
    let crossings = [edge_crossing(next_corner), edge_crossing(last_corner)];
    let [x0, x1] = crossings.map(|(from, to, cut_share)| from.x + (to.x - from.x) * cut_share);
    if (x0 > max_distance && x1 > max_distance) || (x0 < -max_distance && x1 < -max_distance) {
        return None;
    }
    let [z0, z1] = crossings.map(|(from, to, cut_share)| from.z + (to.z - from.z) * cut_share);
    let is_clipped = [false; 2];
    // The first crossing is on the edge that starts at the lone corner, the second on that from the last corner to it.
    let mut segment = if x0 > x1 {
        Segment { x: [x1, x0], z: [z1, z0], edge: [last_corner, lone_corner], is_clipped }
    } else {
        Segment { x: [x0, x1], z: [z0, z1], edge: [lone_corner, last_corner], is_clipped }
    };
    clip_at_start(&mut segment).then_some(segment)
}

/// Cuts off the part of a segment above the start of the ray (z > 0) and marks the cut end. Returns false if nothing is
/// left.
fn clip_at_start(segment: &mut Segment) -> bool {
    let [z0, z1] = segment.z;
    if z0 <= 0.0 && z1 <= 0.0 {
        return true;
    }
    if z0 > 0.0 && z1 > 0.0 {
        return false;
    }
    let upper_end = usize::from(z1 > z0);
    let cut_share = z0 / (z0 - z1);
    segment.x[upper_end] = segment.x[0] + (segment.x[1] - segment.x[0]) * cut_share;
    (segment.z[upper_end], segment.is_clipped[upper_end]) = (0.0, true);
    true
}

/// Returns the unit normal of a triangle on the side of `up`; `up` itself for a triangle without area.
fn face_normal(corners: &[Vec3; 3], up: Vec3) -> Vec3 {
    let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or(up);
    if normal.dot(up) < 0.0 { -normal } else { normal }
}

/// Returns the barycentric coordinates of a point projected onto the plane of a triangle, which sum to 1; negative
/// outside the triangle. `[1, 0, 0]` for a triangle without area.
fn barycentric_coordinates(corners: &[Vec3; 3], point: Vec3) -> [f32; 3] {
    let [a, b, c] = *corners;
    let normal = (b - a).cross(c - a);
    let normal_squared = normal.length_squared();
    if normal_squared == 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let area_share = |start: Vec3, end: Vec3| (end - start).cross(point - start).dot(normal) / normal_squared;
    let (share_a, share_b) = (area_share(b, c), area_share(c, a));
    [share_a, share_b, 1.0 - share_a - share_b]
}

/// Returns the index of the triangle that carries most load, and the contact of the wheel of `probe` with `triangles`.
///
/// `triangles` must include all triangles within reach. `smooth` returns the smooth surface of a triangle, or `None`
/// for a flat one. A ray stands on its highest hit below its start. A rim stands on its highest contact, and shares the
/// load with a second one if it would stand there at the end of the step. `None` without ground in reach.
pub fn ground_contact(
    probe: &Probe,
    triangles: &[Triangle],
    smooth: impl Fn(&Triangle) -> Option<SmoothSurface>,
) -> Option<(usize, Contact)> {
    let geometry = ProbeGeometry::new(probe);
    let (highest, can_share) = if probe.rim.is_some() {
        geometry.highest_contact(geometry.cut_triangles(triangles))?
    } else {
        (geometry.highest_hit(triangles)?, false)
    };
    let second = if can_share { geometry.second_contact(geometry.cut_triangles(triangles), &highest) } else { None };
    geometry.build_contact(probe, &highest, second.as_ref(), |touch| &triangles[touch.triangle as usize], smooth)
}
