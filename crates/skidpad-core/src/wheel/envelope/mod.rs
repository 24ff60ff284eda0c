//! Where a wheel first touches triangles on its way down its suspension: the upper envelope of a circle over their cuts with the
//! wheel's planes, in closed form.
//!
//! A plane of the wheel cuts triangles into segments. Over a segment `z(x)` the circle of radius R rests with its centre at
//! `z(x) + √(R² − x²)`, which is concave: its greatest value lies where the circle is tangent to the segment, at `x = R s / √(1 + s²)`
//! for the slope s, or at the end next to that. The greatest of all segments is where the wheel stands. A ray is the same with R = 0.
//! No segment ends inside the ground: neighbours compute the end they share from the same two corners, in the same order.

mod between;
pub(crate) mod feeler;
mod ray;
mod tests;
pub(crate) mod wall;

use crate::lane::{Four, Lane};
use crate::world::seam::{Contact, Probe, Rim};
use bevy_math::Vec3;
use core::borrow::Borrow;

/// A triangle of the ground near a probe.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Triangle {
    /// From the start of the probe's ray, world axes, m.
    pub corners: [Vec3; 3],
    /// Which triangle of what it is, for who is asked how smooth it is.
    pub source: [u32; 2],
    /// Factor on the friction of the tyre, ≥ 0.
    pub grip: f32,
}

/// What of a triangle belongs to a smooth surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smooth {
    /// Unit normals of that surface at the corners, world axes.
    pub normals: [Vec3; 3],
    /// Whether it goes on across the edge after each corner.
    pub edges: [bool; 3],
}

impl Smooth {
    /// Unit normal at a `point` of the triangle `corners`, or beside it, towards where `up` is.
    pub fn normal_at(&self, corners: &[Vec3; 3], point: Vec3, up: Vec3) -> Vec3 {
        self.normal(shares_at(corners, point), up)
    }

    /// The same at barycentric coordinates.
    #[inline(always)]
    fn normal(&self, shares: [f32; 3], up: Vec3) -> Vec3 {
        let normals = &self.normals;
        let normal = normals[0] * shares[0] + normals[1] * shares[1] + normals[2] * shares[2];
        let normal = normal.normalize_or(up);
        if normal.dot(up) < 0.0 { -normal } else { normal }
    }
}

impl Triangle {
    /// One with sharp edges.
    pub fn flat(corners: [Vec3; 3], grip: f32) -> Self {
        Self { corners, source: [0; 2], grip }
    }

    /// The faces of a box of `half_extents` (m) around the origin, each as two, with its corners put where `place` says.
    pub fn of_box(half_extents: Vec3, place: impl Fn(Vec3) -> Vec3, grip: f32) -> [Self; 12] {
        let corners: [Vec3; 8] = core::array::from_fn(|i| {
            let sign = |bit: usize| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
            place(half_extents * Vec3::new(sign(0), sign(1), sign(2)))
        });
        core::array::from_fn(|k| {
            let [a, b, c, d] = BOX_SIDES[k / 2];
            let face = if k % 2 == 0 { [a, b, c] } else { [a, c, d] };
            Self::flat(face.map(|corner| corners[corner]), grip)
        })
    }

    /// A plane of unit `normal` through `foot`, as far as `reach` m around it at least.
    pub fn of_plane(foot: Vec3, normal: Vec3, reach: f32, grip: f32) -> Self {
        let (a, b) = normal.any_orthonormal_pair();
        let at = |along: f32, across: f32| foot + a * (along * reach) + b * (across * reach);
        Self::flat([at(-1.0, -1.0), at(3.0, -1.0), at(-1.0, 3.0)], grip)
    }
}

/// Corners of the sides of a box, by the signs of x, y and z in three bits.
const BOX_SIDES: [[usize; 4]; 6] = [[0, 2, 6, 4], [1, 5, 7, 3], [0, 4, 5, 1], [2, 3, 7, 6], [0, 1, 3, 2], [4, 6, 7, 5]];

/// Contacts steeper than 80° against the suspension are obstacles, not ground.
pub(crate) const STEEPEST_GROUND_COSINE: f32 = 0.173_648_18;
const STEEPEST_GROUND_SINE: f32 = 0.984_807_8;
/// A wheel that moves sideways by a metre comes so much nearer to such ground along its ray, at most.
pub(crate) const STEEPEST_GROUND_TANGENT: f32 = 5.671_282;

/// What a wheel can climb: up to where contact normals are as steep as ground may be, as a share of its radius.
const CLIMBS: f32 = 1.0 - STEEPEST_GROUND_COSINE;

/// Rounds in which steps on steps are climbed.
const ROUNDS: usize = 4;

/// Heights that differ by less are taken for the same, m; the flatter face is stood on.
const SAME: f32 = 1e-6;

/// An edge that is more across the heading than this (sine) gives the normal its lean.
const ACROSS: f32 = 0.5;

/// Planes of a wheel: at most these.
const PLANES: usize = 3;

/// A plane of the wheel: how far left of the middle it lies, and the circle in it, m.
#[derive(Clone, Copy, Debug, Default)]
struct Plane {
    left: f32,
    radius: f32,
}

/// A probe's axes: x to where the wheel rolls, y to its left, z against the ray; from the start of the ray.
struct Seeker {
    axes: [Vec3; 3],
    /// The same for corners that lie side by side.
    wide_axes: [[Four; 3]; 3],
    planes: [Plane; PLANES],
    used: usize,
    radius: f32,
    /// Height of the lowest point of the wheel as it was.
    stood: f32,
    /// [`Rim::came`] along the heading.
    came: f32,
    /// [`Rim::moves`] along the heading.
    moves: f32,
    /// [`Rim::give`].
    give: f32,
    /// [`Rim::driven`].
    driven: f32,
}

/// A triangle cut by a plane of the wheel: a segment from left to right, the z of an end, and the edges it ends at.
#[derive(Clone, Copy)]
struct Segment {
    x: [f32; 2],
    z: [f32; 2],
    edge: [u8; 2],
    /// Whether an end is where the ray starts, and not the end of what was cut.
    open: [bool; 2],
}

impl Segment {
    /// Whether it is too steep to be ground.
    fn is_wall(&self) -> bool {
        let (width, rise) = (self.x[1] - self.x[0], self.z[1] - self.z[0]);
        width < STEEPEST_GROUND_COSINE * (width * width + rise * rise).sqrt()
    }
}

/// Triangles that some plane of the wheel cuts: their numbers and their corners as seen, those kept in [`feeler::Seen`] or what they
/// are turned to each time.
trait Cuts: Iterator<Item = (usize, Self::Corners)> + Clone {
    type Corners: Borrow<[Vec3; 3]>;
}

impl<C: Borrow<[Vec3; 3]>, T: Iterator<Item = (usize, C)> + Clone> Cuts for T {
    type Corners = C;
}

#[inline(always)]
fn wide(axis: Vec3) -> [Four; 3] {
    axis.to_array().map(Four::splat)
}

/// How a circle rests on a segment.
enum Rest {
    /// Not, or where the segment is too steep to stand on.
    Beside,
    /// At an end that is higher than it climbs.
    TooHigh,
    /// At x and z; at an end with its edge.
    At { x: f32, z: f32, edge: Option<u8> },
}

/// Where a wheel stands: what of a [`Contact`] follows from shapes alone.
#[derive(Clone, Copy)]
struct Stand {
    distance: f32,
    normal: Vec3,
    grip: f32,
    point: Option<Vec3>,
}

/// Where a circle touches.
#[derive(Clone, Copy, Debug, Default)]
struct Touch {
    /// Height of the lowest point of the wheel that stands there.
    bottom: f32,
    triangle: u32,
    point: Vec3,
    /// At an end of a segment: its edge.
    edge: Option<u8>,
    radius: f32,
    /// By how much the wheel rises for each metre that it goes ahead.
    slope: f32,
    /// Barycentric coordinates in the triangle, where a ray has found them.
    shares: Option<[f32; 3]>,
    /// Cosine between face and ray, or more of a tangent: decides between touches as high as each other.
    flatness: f32,
}

impl Seeker {
    #[inline(always)]
    fn of(probe: &Probe) -> Self {
        let up = -probe.direction;
        let Some(rim) = &probe.rim else {
            let ahead = up.any_orthonormal_vector();
            let axes = [ahead, up.cross(ahead), up];
            return Self {
                axes,
                wide_axes: axes.map(wide),
                planes: Default::default(),
                used: 1,
                radius: 0.0,
                stood: -probe.reach,
                came: 0.0,
                moves: 0.0,
                give: 0.0,
                driven: 0.0,
            };
        };
        let axes = [rim.forward, up.cross(rim.forward), up];
        let (planes, used) = planes(rim);
        let [came, moves] = [rim.came, rim.moves].map(|way| way.dot(rim.forward));
        Self {
            axes,
            wide_axes: axes.map(wide),
            planes,
            used,
            radius: rim.radius,
            stood: -rim.stood,
            came,
            moves,
            give: rim.give,
            driven: rim.driven,
        }
    }

    fn seen(&self, vector: Vec3) -> Vec3 {
        let [x, y, z] = self.axes.map(|axis| axis.dot(vector));
        Vec3::new(x, y, z)
    }

    /// Coordinates along an axis of corners that lie side by side: what [`Self::seen`] gives of each.
    #[inline(always)]
    fn along(&self, axis: usize, [x, y, z]: &[Four; 3]) -> Four {
        let [along_x, along_y, along_z] = self.wide_axes[axis];
        *x * along_x + *y * along_y + *z * along_z
    }

    /// Whether some plane of the wheel lies between those corners so far to the `left` that are named by bits.
    #[inline(always)]
    fn cuts(&self, left: Four, corners: u32) -> bool {
        let cuts = |plane: &Plane| {
            let before = left.less(Four::splat(plane.left)).bits() & corners;
            before != 0 && before != corners
        };
        self.planes[..self.used].iter().any(cuts)
    }

    /// The corners of a triangle that some plane of the wheel cuts, as seen.
    #[inline(always)]
    fn crossing(&self, triangle: &Triangle) -> Option<[Vec3; 3]> {
        let [a, b, c] = triangle.corners;
        let corners = [[a.x, b.x, c.x, c.x], [a.y, b.y, c.y, c.y], [a.z, b.z, c.z, c.z]].map(Four::new);
        let left = self.along(1, &corners);
        if !self.cuts(left, 0b0111) {
            return None;
        }
        let [ahead, left, up] = [self.along(0, &corners), left, self.along(2, &corners)].map(Four::lanes);
        Some([0, 1, 2].map(|i| Vec3::new(ahead[i], left[i], up[i])))
    }

    /// Those of `near` that some plane of the wheel cuts.
    fn cut_of<'a>(&'a self, near: &'a [Triangle]) -> impl Cuts + 'a {
        near.iter().enumerate().filter_map(|(i, triangle)| Some((i, self.crossing(triangle)?)))
    }

    fn to_world(&self, vector: Vec3) -> Vec3 {
        self.axes[0] * vector.x + self.axes[1] * vector.y + self.axes[2] * vector.z
    }

    /// The highest place on `near` where the wheel stands, if it climbs no more than it can, and whether it may stand beside it too.
    #[inline(always)]
    fn support(&self, near: impl Cuts) -> Option<(Touch, bool)> {
        let mut best: Option<Touch> = None;
        let mut rivals = false;
        for _ in 0..ROUNDS {
            let climbs = self.climbs(best.map_or(self.stood, |touch| touch.bottom));
            let was = best.map(|touch| touch.bottom);
            let mut refused = false;
            for (i, corners) in near.clone() {
                let corners = corners.borrow();
                for plane in &self.planes[..self.used] {
                    match cut(corners, plane.left, plane.radius).map(|segment| self.rest_on(&segment, plane, climbs)) {
                        None | Some(Rest::Beside) => {}
                        Some(Rest::TooHigh) => refused = true,
                        Some(Rest::At { x, z, edge }) => {
                            let found = self.touch(plane, [x, z], edge, i);
                            rivals |= best.is_some_and(|best| self.are_rivals(&found, &best));
                            take(&mut best, corners, found);
                        }
                    }
                }
            }
            if !refused || best.map(|touch| touch.bottom) == was {
                break;
            }
        }
        best.map(|best| (best, rivals))
    }

    /// Where the wheel stands by what carries it, the triangles of touches being those `of` them; and the number of the one that carries
    /// more.
    #[inline(always)]
    fn stand<'a>(
        &self,
        probe: &Probe,
        touch: &Touch,
        beside: Option<&(Touch, f32)>,
        of: impl Fn(&Touch) -> &'a Triangle,
        smooth: impl Fn(&Triangle) -> Option<Smooth>,
    ) -> Option<(usize, Contact)> {
        let mut stand = self.at(touch, of(touch), &smooth);
        let mut triangle = touch.triangle;
        if let Some((other, share)) = beside {
            let points = [touch, other].map(|touch| self.point(probe, touch));
            stand = self.between([(stand, 1.0 - share), (self.at(other, of(other), &smooth), *share)], points);
            if *share > 0.5 {
                triangle = other.triangle;
            }
        } else if probe.rim.is_some() {
            stand.point = Some(self.point(probe, touch));
        }
        let Stand { distance, normal, grip, point } = stand;
        if distance > probe.reach || distance.is_nan() {
            return None;
        }
        Some((triangle as usize, Contact { distance, normal, grip, point, ground: None }))
    }

    /// Of a touch, from the body's position, world axes.
    fn point(&self, probe: &Probe, touch: &Touch) -> Vec3 {
        probe.offset + self.to_world(touch.point)
    }

    fn touch(&self, plane: &Plane, [x, z]: [f32; 2], edge: Option<u8>, triangle: usize) -> Touch {
        let triangle = triangle as u32;
        let rise = (plane.radius * plane.radius - x * x).max(0.0).sqrt();
        let point = Vec3::new(x, plane.left, z);
        let slope = if rise > 0.0 { x / rise } else { 0.0 };
        Touch { bottom: z + rise - self.radius, triangle, point, edge, radius: plane.radius, slope, ..Touch::default() }
    }

    /// Where the circle of `plane` rests on a segment, if at an end not on one higher than it `climbs`.
    fn rest_on(&self, segment: &Segment, plane: &Plane, climbs: f32) -> Rest {
        let Segment { x: [x0, x1], z: [z0, z1], edge, open } = *segment;
        let radius = plane.radius;
        if x0 > radius || x1 < -radius {
            return Rest::Beside;
        }
        let (width, rise) = (x1 - x0, z1 - z0);
        let length = (width * width + rise * rise).sqrt();
        let tangent = if length > 0.0 { radius * (rise / length) } else { x0 };
        let end = if tangent <= x0 { Some(0) } else { (tangent >= x1).then_some(1) };
        let [x, z] = match end {
            Some(end) => [segment.x[end], segment.z[end]],
            None => [tangent, z0 + rise * ((tangent - x0) / width)],
        };
        // What ends a wall may be half way up; what lies on top of it tells where it is climbed.
        let on_wall = end.is_some() && segment.is_wall();
        if on_wall || x.abs() > STEEPEST_GROUND_SINE * radius {
            return Rest::Beside;
        }
        if end.is_some_and(|end| open[end] || z > climbs) {
            return Rest::TooHigh;
        }
        Rest::At { x, z, edge: end.map(|end| edge[end]) }
    }

    /// Unit normal of the ground at `touch`, world axes.
    fn normal_at(&self, touch: &Touch, triangle: &Triangle, smooth: Option<Smooth>) -> Vec3 {
        let goes_on = |edges: &[bool; 3]| touch.edge.is_none_or(|edge| edges[usize::from(edge) % 3]);
        if let Some(smooth) = &smooth
            && goes_on(&smooth.edges)
        {
            let shares = touch.shares.unwrap_or_else(|| shares_at(&triangle.corners, self.to_world(touch.point)));
            return smooth.normal(shares, self.axes[2]);
        }
        let Some(edge) = touch.edge else { return face_normal(&triangle.corners, self.axes[2]) };
        let (corners, edge) = (triangle.corners.map(|corner| self.seen(corner)), usize::from(edge) % 3);
        let face = face_normal(&corners, Vec3::Z);
        // From the point to the middle of the circle.
        let rise = (touch.radius * touch.radius - touch.point.x * touch.point.x).max(0.0).sqrt();
        let (back, up) = (-touch.point.x / touch.radius, rise / touch.radius);
        let along = (corners[(edge + 1) % 3] - corners[edge]).normalize_or_zero();
        let level = if along.y.abs() > ACROSS {
            // At right angles to the edge and to the circle.
            let normal = Vec3::new(up, 0.0, -back).cross(along).normalize_or(Vec3::Z);
            if normal.z < 0.0 { -normal } else { normal }
        } else {
            let rest = (1.0 - face.y * face.y).max(0.0).sqrt();
            Vec3::new(back * rest, face.y, up * rest)
        };
        self.to_world(level)
    }
}

/// Takes a touch of the triangle `corners` if it is higher than the `best`, or as high and the better known: by a tangent, or on a flatter
/// face, or nearer the middle of the tread.
fn take(best: &mut Option<Touch>, corners: &[Vec3; 3], found: Touch) {
    if best.is_some_and(|best| found.bottom < best.bottom - SAME) {
        return;
    }
    // The normal of an end that lies beside a tangent, hardly lower, is another one.
    let flatness = if found.edge.is_none() { 2.0 } else { face_normal(corners, Vec3::Z).z };
    let is_better = |best: Touch| {
        let nearer = flatness == best.flatness && found.point.y.abs() < best.point.y.abs();
        found.bottom > best.bottom + SAME || flatness > best.flatness || nearer
    };
    if best.is_none_or(is_better) {
        *best = Some(Touch { flatness, ..found });
    }
}

/// The planes of a rim, the middle one first, and how many there are.
fn planes(rim: &Rim) -> ([Plane; PLANES], usize) {
    let middle = Plane { left: 0.0, radius: rim.radius };
    if rim.half_width == 0.0 {
        return ([middle; PLANES], 1);
    }
    // On the rounding of the tread at 60 degrees, half of it lower.
    let at = |sign: f32| {
        let (left, lower) = if rim.rounded { (0.866_025_4, 0.5) } else { (1.0, 0.0) };
        Plane { left: sign * left * rim.half_width, radius: rim.radius - lower * rim.half_width }
    };
    ([middle, at(-1.0), at(1.0)], 3)
}

/// Of a triangle whose corners lie beyond a plane or not, by three bits: the one that lies alone and those after it, in order around.
const AROUND: [Option<[u8; 3]>; 8] = {
    let [a, b, c] = [Some([0, 1, 2]), Some([1, 2, 0]), Some([2, 0, 1])];
    [None, a, b, c, c, b, a, None]
};

/// What is left of a triangle in the plane `left` of the middle, below the start of the ray, if any of it is no farther ahead or behind
/// than `reach`.
#[inline(always)]
fn cut(corners: &[Vec3; 3], left: f32, reach: f32) -> Option<Segment> {
    let apart = corners.map(|corner| corner.y - left);
    let beyond = |k: usize| usize::from(apart[k] >= 0.0);
    let [lone, next, last] = AROUND[beyond(0) | beyond(1) << 1 | beyond(2) << 2]?;
    let is_beyond = apart[usize::from(lone)] >= 0.0;
    let crossing = |other: u8| {
        let (low, high) = if is_beyond { (other, lone) } else { (lone, other) };
        let (low, high) = (usize::from(low), usize::from(high));
        let share = apart[low] / (apart[low] - apart[high]);
        (&corners[low], &corners[high], share)
    };
    let ends = [crossing(next), crossing(last)];
    let [a, b] = ends.map(|(from, to, share)| from.x + (to.x - from.x) * share);
    if (a > reach && b > reach) || (a < -reach && b < -reach) {
        return None;
    }
    let [c, d] = ends.map(|(from, to, share)| from.z + (to.z - from.z) * share);
    let open = [false; 2];
    let mut segment = if a > b {
        Segment { x: [b, a], z: [d, c], edge: [last, lone], open }
    } else {
        Segment { x: [a, b], z: [c, d], edge: [lone, last], open }
    };
    below_start(&mut segment).then_some(segment)
}

/// Takes away what of a segment lies above the start of the ray; whether something is left.
fn below_start(segment: &mut Segment) -> bool {
    let [z0, z1] = segment.z;
    if z0 <= 0.0 && z1 <= 0.0 {
        return true;
    }
    if z0 > 0.0 && z1 > 0.0 {
        return false;
    }
    let upper = usize::from(z1 > z0);
    let share = z0 / (z0 - z1);
    segment.x[upper] = segment.x[0] + (segment.x[1] - segment.x[0]) * share;
    (segment.z[upper], segment.open[upper]) = (0.0, true);
    true
}

/// Of a triangle, towards where `up` is.
fn face_normal(corners: &[Vec3; 3], up: Vec3) -> Vec3 {
    let normal = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or(up);
    if normal.dot(up) < 0.0 { -normal } else { normal }
}

/// Barycentric coordinates of a point of a triangle.
fn shares_at(corners: &[Vec3; 3], point: Vec3) -> [f32; 3] {
    let [a, b, c] = *corners;
    let normal = (b - a).cross(c - a);
    let size = normal.length_squared();
    if size == 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let share = |from: Vec3, to: Vec3| (to - from).cross(point - from).dot(normal) / size;
    let (of_a, of_b) = (share(b, c), share(c, a));
    [of_a, of_b, 1.0 - of_a - of_b]
}

/// Where the wheel of `probe` stands on the triangles `near` it: all that come within its reach. Says on which of them, of two on that which
/// carries more; of those it asks how `smooth` they are, `None` if they are as flat as they look.
pub fn support(
    probe: &Probe,
    near: &[Triangle],
    smooth: impl Fn(&Triangle) -> Option<Smooth>,
) -> Option<(usize, Contact)> {
    let seeker = Seeker::of(probe);
    let (touch, rivals) =
        if probe.rim.is_some() { seeker.support(seeker.cut_of(near))? } else { (seeker.meet(near)?, false) };
    let beside = if rivals { seeker.beside(seeker.cut_of(near), &touch) } else { None };
    seeker.stand(probe, &touch, beside.as_ref(), |touch| &near[touch.triangle as usize], smooth)
}
