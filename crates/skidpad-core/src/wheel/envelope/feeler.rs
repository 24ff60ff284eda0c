//! A wheel that is shown the triangles near it one by one, and keeps those that it may come to.

use crate::wheel::envelope::{Cuts, Seeker, Smooth, Touch, Triangle};
use crate::world::seam::{Contact, HullPoint, Probe};
use crate::world::terrain::{Cell, HALVES, TriangleVisitor};
use bevy_math::Vec3;

/// What [`support`](crate::support) and [`stop`](crate::stop) tell of triangles side by side, of triangles that come one by one.
pub struct Feeler<'a> {
    probe: &'a Probe,
    seeker: Seeker,
    near: &'a mut Vec<Seen>,
    /// Where a ray has met the last one that it kept.
    met: Option<Touch>,
}

/// A triangle that a wheel may come to, and its corners as the wheel sees them.
#[derive(Clone, Debug)]
pub struct Seen {
    triangle: Triangle,
    corners: [Vec3; 3],
}

impl<'a> Feeler<'a> {
    /// The wheel of `probe`; `memory` for the triangles that it keeps.
    #[inline(always)]
    pub fn of(probe: &'a Probe, memory: &'a mut Vec<Seen>) -> Self {
        memory.clear();
        Self { probe, seeker: Seeker::of(probe), near: memory, met: None }
    }

    /// Keeps a triangle that some plane of the wheel cuts.
    #[inline(always)]
    fn keep(&mut self, triangle: &Triangle, corners: [Vec3; 3]) {
        self.near.push(Seen { triangle: *triangle, corners });
    }

    /// Keeps the triangle that a ray meets highest.
    #[inline(always)]
    fn meet(&mut self, triangle: &Triangle, touch: Touch) {
        self.met = Some(touch);
        self.near.clear();
        self.near.push(Seen { triangle: *triangle, corners: [Vec3::ZERO; 3] });
    }

    fn seen(&self) -> impl Cuts {
        self.near.iter().map(|seen| &seen.corners).enumerate()
    }

    /// Where it stands, and the triangle there, as [`support`](crate::support) tells.
    #[inline(always)]
    pub fn support(&self, smooth: impl Fn(&Triangle) -> Option<Smooth>) -> Option<(&Triangle, Contact)> {
        let (touch, rivals) =
            if self.probe.rim.is_some() { self.seeker.support(self.seen())? } else { (self.met?, false) };
        let beside = if rivals { self.seeker.beside(self.seen(), &touch) } else { None };
        let of = |touch: &Touch| &self.near[touch.triangle as usize].triangle;
        let (triangle, contact) = self.seeker.stand(self.probe, &touch, beside.as_ref(), of, smooth)?;
        Some((&self.near[triangle].triangle, contact))
    }

    /// What stops its rim, and the triangle there, as [`stop`](crate::stop) tells.
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

    /// As both triangles one by one, but that each corner is turned once.
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
