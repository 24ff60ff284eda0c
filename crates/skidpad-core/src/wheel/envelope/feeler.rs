//! Wheel probe that visits triangles one by one and keeps those that the wheel can touch.

use crate::wheel::envelope::{Cuts, Seeker, Smooth, Touch, Triangle};
use crate::world::seam::{Contact, HullPoint, Probe};
use crate::world::terrain::{Cell, HALVES, TriangleVisitor};
use bevy_math::Vec3;

/// Equivalent of [`support`](crate::support) and [`stop`](crate::stop) for triangles that arrive one by one instead of in a
/// slice.
pub struct Feeler<'a> {
    probe: &'a Probe,
    seeker: Seeker,
    /// Triangles kept so far; for a ray, only the one with the highest contact.
    near: &'a mut Vec<Seen>,
    /// Highest contact of a ray so far.
    met: Option<Touch>,
}

/// Triangle that a wheel can touch, with its corners in probe axes. A ray does not use these corners.
#[derive(Clone, Debug)]
pub struct Seen {
    triangle: Triangle,
    corners: [Vec3; 3],
}

impl<'a> Feeler<'a> {
    /// Creates the visitor for `probe`. Clears `memory`, which stores the triangles.
    #[inline(always)]
    pub fn of(probe: &'a Probe, memory: &'a mut Vec<Seen>) -> Self {
        memory.clear();
        Self { probe, seeker: Seeker::of(probe), near: memory, met: None }
    }

    /// Keeps a triangle that some wheel plane intersects.
    #[inline(always)]
    fn keep(&mut self, triangle: &Triangle, corners: [Vec3; 3]) {
        self.near.push(Seen { triangle: *triangle, corners });
    }

    /// Keeps the triangle of the highest contact of a ray, and discards the previous one.
    #[inline(always)]
    fn meet(&mut self, triangle: &Triangle, touch: Touch) {
        self.met = Some(touch);
        self.near.clear();
        self.near.push(Seen { triangle: *triangle, corners: [Vec3::ZERO; 3] });
    }

    /// Returns the corners of the kept triangles in probe axes.
    fn seen(&self) -> impl Cuts {
        self.near.iter().map(|seen| &seen.corners).enumerate()
    }

    /// Returns the contact of the wheel and the triangle that carries most load, as [`support`](crate::support).
    #[inline(always)]
    pub fn support(&self, smooth: impl Fn(&Triangle) -> Option<Smooth>) -> Option<(&Triangle, Contact)> {
        let (touch, rivals) =
            if self.probe.rim.is_some() { self.seeker.support(self.seen())? } else { (self.met?, false) };
        let beside = if rivals { self.seeker.beside(self.seen(), &touch) } else { None };
        let of = |touch: &Touch| &self.near[touch.triangle as usize].triangle;
        let (triangle, contact) = self.seeker.stand(self.probe, &touch, beside.as_ref(), of, smooth)?;
        Some((&self.near[triangle].triangle, contact))
    }

    /// Returns the point at which a wall stops the rim, and the triangle of the wall, as [`stop`](crate::stop).
    #[inline(always)]
    pub fn stop(&self, support: Option<&Contact>) -> Option<(&Triangle, HullPoint)> {
        let meets_high = |rim| self.seeker.meets_high(rim, self.seen(), support);
        if self.probe.rim.as_ref().is_some_and(meets_high) { self.stop_at(support) } else { None }
    }

    #[inline(never)]
    fn stop_at(&self, support: Option<&Contact>) -> Option<(&Triangle, HullPoint)> {
        let (triangle, point) = self.seeker.stop(self.probe, self.seen(), support)?;
        Some((&self.near[triangle].triangle, point))
    }
}

impl TriangleVisitor for Feeler<'_> {
    #[inline(always)]
    fn visit(&mut self, triangle: &Triangle) {
        if self.probe.rim.is_some() {
            if let Some(corners) = self.seeker.crossing(triangle) {
                self.keep(triangle, corners);
            }
        } else if let Some(touch) = self.seeker.meet_above(self.met.as_ref(), triangle) {
            self.meet(triangle, touch);
        }
    }

    /// Visits both triangles of a cell, and transforms each corner only once.
    #[inline(always)]
    fn visit_cell(&mut self, cell: &Cell) {
        let corners = cell.corners();
        let seen = |axis: usize| self.seeker.along(axis, &corners);
        if self.probe.rim.is_some() {
            let left = seen(1);
            if !self.seeker.cuts(left, 0b1111) {
                return;
            }
            let cuts = HALVES.map(|[a, b, c]| self.seeker.cuts(left, 1 << a | 1 << b | 1 << c));
            let (ahead, left, up) = (seen(0).lanes(), left.lanes(), seen(2).lanes());
            for (half, corners) in HALVES.into_iter().enumerate() {
                if cuts[half] {
                    let corners = corners.map(|i| Vec3::new(ahead[i], left[i], up[i]));
                    self.keep(&cell.triangle(half), corners);
                }
            }
        } else {
            let (ahead, left, up) = (seen(0).lanes(), seen(1).lanes(), seen(2).lanes());
            for (half, corners) in HALVES.into_iter().enumerate() {
                let [x, y, z] = [ahead, left, up].map(|seen| corners.map(|i| seen[i]));
                if let Some(touch) = self.seeker.meet_seen(self.met.as_ref(), x, y, || z) {
                    self.meet(&cell.triangle(half), touch);
                }
            }
        }
    }
}
