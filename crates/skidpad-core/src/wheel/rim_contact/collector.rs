//! Wheel probe that visits triangles one by one and keeps those that the wheel can touch.

use crate::wheel::rim_contact::{CircleContact, CutTriangles, ProbeGeometry, SmoothSurface, Triangle};
use crate::world::port::{Contact, HullPoint, Probe};
use crate::world::terrain::{CELL_TRIANGLE_CORNERS, GridCell, TriangleVisitor};
use bevy_math::Vec3;

/// Equivalent of [`support`](crate::ground_contact) and [`stop`](crate::wall_contact) for triangles that arrive one by one instead of in a
/// slice.
pub struct TriangleCollector<'a> {
    probe: &'a Probe,
    seeker: ProbeGeometry,
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
    /// Creates the visitor for `probe`. Clears `memory`, which stores the triangles.
    #[inline(always)]
    pub fn new(probe: &'a Probe, memory: &'a mut Vec<CandidateTriangle>) -> Self {
        memory.clear();
        Self { probe, seeker: ProbeGeometry::new(probe), candidates: memory, highest_hit: None }
    }

    /// Keeps a triangle that some wheel plane intersects.
    #[inline(always)]
    fn push_triangle(&mut self, triangle: &Triangle, corners: [Vec3; 3]) {
        self.candidates.push(CandidateTriangle { triangle: *triangle, corners });
    }

    /// Keeps the triangle of the highest contact of a ray, and discards the previous one.
    #[inline(always)]
    fn replace_triangle(&mut self, triangle: &Triangle, touch: CircleContact) {
        self.highest_hit = Some(touch);
        self.candidates.clear();
        self.candidates.push(CandidateTriangle { triangle: *triangle, corners: [Vec3::ZERO; 3] });
    }

    /// Returns the corners of the kept triangles in probe axes.
    fn candidate_corners(&self) -> impl CutTriangles {
        self.candidates.iter().map(|seen| &seen.corners).enumerate()
    }

    /// Returns the contact of the wheel and the triangle that carries most load, as [`support`](crate::ground_contact).
    #[inline(always)]
    pub fn ground_contact(&self, smooth: impl Fn(&Triangle) -> Option<SmoothSurface>) -> Option<(&Triangle, Contact)> {
        let (touch, rivals) = if self.probe.rim.is_some() {
            self.seeker.highest_contact(self.candidate_corners())?
        } else {
            (self.highest_hit?, false)
        };
        let beside = if rivals { self.seeker.second_contact(self.candidate_corners(), &touch) } else { None };
        let of = |touch: &CircleContact| &self.candidates[touch.triangle as usize].triangle;
        let (triangle, contact) = self.seeker.build_contact(self.probe, &touch, beside.as_ref(), of, smooth)?;
        Some((&self.candidates[triangle].triangle, contact))
    }

    /// Returns the point at which a wall stops the rim, and the triangle of the wall, as [`stop`](crate::wall_contact).
    #[inline(always)]
    pub fn wall_contact(&self, support: Option<&Contact>) -> Option<(&Triangle, HullPoint)> {
        let meets_high = |rim| self.seeker.has_high_triangle(rim, self.candidate_corners(), support);
        if self.probe.rim.as_ref().is_some_and(meets_high) { self.find_wall_contact(support) } else { None }
    }

    #[inline(never)]
    fn find_wall_contact(&self, support: Option<&Contact>) -> Option<(&Triangle, HullPoint)> {
        let (triangle, point) = self.seeker.nearest_wall_contact(self.probe, self.candidate_corners(), support)?;
        Some((&self.candidates[triangle].triangle, point))
    }
}

impl TriangleVisitor for TriangleCollector<'_> {
    #[inline(always)]
    fn visit(&mut self, triangle: &Triangle) {
        if self.probe.rim.is_some() {
            if let Some(corners) = self.seeker.cut_corners(triangle) {
                self.push_triangle(triangle, corners);
            }
        } else if let Some(touch) = self.seeker.hit_above(self.highest_hit.as_ref(), triangle) {
            self.replace_triangle(triangle, touch);
        }
    }

    /// Visits both triangles of a cell, and transforms each corner only once.
    #[inline(always)]
    fn visit_cell(&mut self, cell: &GridCell) {
        let corners = cell.corners();
        let seen = |axis: usize| self.seeker.corner_coordinates(axis, &corners);
        if self.probe.rim.is_some() {
            let left = seen(1);
            if !self.seeker.separates_corners(left, 0b1111) {
                return;
            }
            let cuts =
                CELL_TRIANGLE_CORNERS.map(|[a, b, c]| self.seeker.separates_corners(left, 1 << a | 1 << b | 1 << c));
            let (ahead, left, up) = (seen(0).lanes(), left.lanes(), seen(2).lanes());
            for (half, corners) in CELL_TRIANGLE_CORNERS.into_iter().enumerate() {
                if cuts[half] {
                    let corners = corners.map(|i| Vec3::new(ahead[i], left[i], up[i]));
                    self.push_triangle(&cell.triangle(half), corners);
                }
            }
        } else {
            let (ahead, left, up) = (seen(0).lanes(), seen(1).lanes(), seen(2).lanes());
            for (half, corners) in CELL_TRIANGLE_CORNERS.into_iter().enumerate() {
                let [x, y, z] = [ahead, left, up].map(|seen| corners.map(|i| seen[i]));
                if let Some(touch) = self.seeker.hit_in_probe_axes(self.highest_hit.as_ref(), x, y, || z) {
                    self.replace_triangle(&cell.triangle(half), touch);
                }
            }
        }
    }
}
