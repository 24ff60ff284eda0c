//! Wheel probe that visits triangles one by one and keeps those that the wheel can touch.

use crate::ground::cells::{CELL_TRIANGLE_CORNERS, GridCell, TriangleVisitor};
use crate::ground::rim_contact::{CircleContact, CutTriangles, ProbeGeometry, SmoothSurface, Triangle};
use crate::port::{Contact, HullPoint, Probe};
use bevy_math::Vec3;

/// Collector of the triangles near a wheel, with the results of [`ground_contact`](crate::ground_contact) and
/// [`wall_contact`](crate::wall_contact) for triangles that arrive one by one instead of in a slice.
pub struct TriangleCollector<'a> {
    /// Probe of the wheel.
    probe: &'a Probe,
    /// Probe in its own axes.
    geometry: ProbeGeometry,
    /// Triangles kept so far; for a ray, only the one with the highest contact.
    candidates: &'a mut Vec<CandidateTriangle>,
    /// Highest contact of a ray so far.
    highest_hit: Option<CircleContact>,
}

/// Triangle that a wheel can touch, with its corners in probe axes. A ray does not use these corners.
#[derive(Clone, Debug)]
pub struct CandidateTriangle {
    triangle: Triangle,
    corners: [Vec3; 3],
}

impl<'a> TriangleCollector<'a> {
    /// Creates the visitor for `probe`. Clears `buffer`, which stores the triangles.
    #[inline(always)]
    pub fn new(probe: &'a Probe, buffer: &'a mut Vec<CandidateTriangle>) -> Self {
        buffer.clear();
        Self { probe, geometry: ProbeGeometry::new(probe), candidates: buffer, highest_hit: None }
    }

    /// Keeps a triangle that some wheel plane intersects, with its `corners` in probe axes.
    #[inline(always)]
    fn push_triangle(&mut self, triangle: &Triangle, corners: [Vec3; 3]) {
        self.candidates.push(CandidateTriangle { triangle: *triangle, corners });
    }

    /// Keeps the triangle of the highest hit of a ray, with its `contact`, and discards the previous one.
    #[inline(always)]
    fn replace_triangle(&mut self, triangle: &Triangle, contact: CircleContact) {
        self.highest_hit = Some(contact);
        self.candidates.clear();
        self.candidates.push(CandidateTriangle { triangle: *triangle, corners: [Vec3::ZERO; 3] });
    }

    /// Returns the corners of the kept triangles in probe axes.
    fn candidate_corners(&self) -> impl CutTriangles {
        self.candidates.iter().map(|candidate| &candidate.corners).enumerate()
    }

    /// Returns the triangle that carries most load and the contact of the wheel with the triangles visited so far, as
    /// [`ground_contact`](crate::ground_contact) does for a slice. Searches the highest contact of a rim, and a second
    /// one if both can share the load; a ray uses the highest hit found while visiting. `smooth` returns the smooth
    /// surface of a triangle, or `None` for a flat one. Returns `None` without ground in reach.
    #[inline(always)]
    pub fn ground_contact(&self, smooth: impl Fn(&Triangle) -> Option<SmoothSurface>) -> Option<(&Triangle, Contact)> {
        let (highest, can_share) = if self.probe.rim.is_some() {
            self.geometry.highest_contact(self.candidate_corners())?
        } else {
            (self.highest_hit?, false)
        };
        let second = if can_share { self.geometry.second_contact(self.candidate_corners(), &highest) } else { None };
        let triangle_of = |touch: &CircleContact| &self.candidates[touch.triangle as usize].triangle;
        let (triangle, contact) =
            self.geometry.build_contact(self.probe, &highest, second.as_ref(), triangle_of, smooth)?;
        Some((&self.candidates[triangle].triangle, contact))
    }

    /// Returns the wall triangle and the point at which it stops the rim, as [`wall_contact`](crate::wall_contact).
    /// `support` is the contact on which the wheel stands. `None` for a ray, or if no visited triangle is higher than
    /// the wheel can climb and within reach.
    #[inline(always)]
    pub fn wall_contact(&self, support: Option<&Contact>) -> Option<(&Triangle, HullPoint)> {
        let is_near_high_triangle = |rim| self.geometry.has_high_triangle(rim, self.candidate_corners(), support);
        if self.probe.rim.as_ref().is_some_and(is_near_high_triangle) { self.find_wall_contact(support) } else { None }
    }

    /// Returns the result of [`Self::wall_contact`] for a rim with high triangles nearby.
    #[inline(never)]
    fn find_wall_contact(&self, support: Option<&Contact>) -> Option<(&Triangle, HullPoint)> {
        let (triangle, point) = self.geometry.nearest_wall_contact(self.probe, self.candidate_corners(), support)?;
        Some((&self.candidates[triangle].triangle, point))
    }
}

impl TriangleVisitor for TriangleCollector<'_> {
    /// Keeps the triangle and its corners in probe axes if a wheel plane of a rim intersects it. A ray that hits it
    /// higher than all before keeps it instead of the previous one.
    #[inline(always)]
    fn visit(&mut self, triangle: &Triangle) {
        if self.probe.rim.is_some() {
            if let Some(corners) = self.geometry.cut_corners(triangle) {
                self.push_triangle(triangle, corners);
            }
        } else if let Some(contact) = self.geometry.hit_above(self.highest_hit.as_ref(), triangle) {
            self.replace_triangle(triangle, contact);
        }
    }

    /// Visits both triangles of a cell as [`Self::visit`], in their order, but transforms each corner only once. A rim
    /// skips a cell that no wheel plane intersects, then each half that none intersects. A ray keeps the half that it
    /// hits higher than all before.
    #[inline(always)]
    fn visit_cell(&mut self, cell: &GridCell) {
        let corners = cell.corners();
        // Coordinates of the four corners along a probe axis: 0 forward, 1 left, 2 up.
        let coordinates = |axis: usize| self.geometry.corner_coordinates(axis, &corners);
        if self.probe.rim.is_some() {
            let ys = coordinates(1);
            // The mask selects all four corners.
            if !self.geometry.separates_corners(ys, 0b1111) {
                return;
            }
            // Per triangle, with a mask of its three corners.
            let is_cut =
                CELL_TRIANGLE_CORNERS.map(|[a, b, c]| self.geometry.separates_corners(ys, 1 << a | 1 << b | 1 << c));
            let (xs, ys, zs) = (coordinates(0).lanes(), ys.lanes(), coordinates(2).lanes());
            for (half, corners) in CELL_TRIANGLE_CORNERS.into_iter().enumerate() {
                if is_cut[half] {
                    let corners = corners.map(|i| Vec3::new(xs[i], ys[i], zs[i]));
                    self.push_triangle(&cell.triangle(half), corners);
                }
            }
        } else {
            let (xs, ys, zs) = (coordinates(0).lanes(), coordinates(1).lanes(), coordinates(2).lanes());
            for (half, corners) in CELL_TRIANGLE_CORNERS.into_iter().enumerate() {
                let [x, y, z] = [xs, ys, zs].map(|values| corners.map(|i| values[i]));
                if let Some(contact) = self.geometry.hit_in_probe_axes(self.highest_hit.as_ref(), x, y, || z) {
                    self.replace_triangle(&cell.triangle(half), contact);
                }
            }
        }
    }
}
