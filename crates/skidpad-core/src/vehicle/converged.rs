//! The converged coupling: all rows of a car at once.
//!
//! For a given chassis velocity every wheel answers on its own (its load, then its block), so the whole problem is six
//! equations: the momentum the chassis gained is the sum of the wheels' impulses. Newton's method on them, with each
//! wheel's answer linearised, converges in a few iterations for any number of wheels, treats left and right alike to
//! the bit, and has no wobble of pinned bodies.

use super::block::{Surroundings, Tangent};
use super::{StepReport, Vehicle, sum_by_axle};
use crate::linear::{Six, Symmetric6};

/// Iterations after which steps are halved: a wheel that alternates between sticking and sliding settles then.
const FULL_STEPS: u16 = 10;

impl Vehicle {
    pub(super) fn converge(&mut self, free: Six, start: Six, tolerance: f32, iterations: u16) -> StepReport {
        let mut at = start;
        let mut report = StepReport::default();
        for iteration in 1..=iterations.max(1) {
            let (missing, system) = self.linearise(free, at);
            let mut change = system.solve(missing);
            if iteration > FULL_STEPS {
                change = change * 0.5;
            }
            at = at + change;
            report.iterations = iteration;
            report.residual = change.linear.length().max(change.angular.length());
            if report.residual <= tolerance {
                return report;
            }
        }
        report.not_converged = true;
        report
    }

    /// Answers of all wheels at chassis velocity `at`: the momentum still missing, and its derivative.
    fn linearise(&mut self, free: Six, at: Six) -> (Six, Symmetric6) {
        let mut around = [Surroundings::default(); crate::MAX_WHEELS];
        let mut tangents = [(0.0, Tangent::default()); crate::MAX_WHEELS];
        for (i, row) in self.rows.iter_mut().enumerate() {
            let (load, admittance) = row.bounded_load(at);
            row.load = load;
            tangents[i].0 = admittance;
            around[i].speed = [row.forward.dot(at), row.side.dot(at)];
        }
        self.solve_shafts(&around[..self.rows.len()]);
        for (i, row) in self.rows.iter_mut().enumerate() {
            tangents[i].1 = row.solve_block(&self.model.wheels()[i], &around[i]);
        }
        let mut system = Symmetric6::zero();
        system.add_mass(self.model.mass(), self.model.inertia());
        for &[left, right] in self.model.axle_wheels() {
            let (l, r) = (&self.rows[left], &self.rows[right]);
            let ((load_l, tyre_l), (load_r, tyre_r)) = (tangents[left], tangents[right]);
            let one = if left == right { 0.0 } else { 1.0 };
            system.add_pair(load_l, l.normal, load_r * one, r.normal);
            for k in 0..2 {
                system.add_pair(tyre_l.weights[k], tyre_l.row(k, l), tyre_r.weights[k] * one, tyre_r.row(k, r));
            }
        }
        let gained = at - free;
        let momentum = Six::new(gained.linear * self.model.mass(), *self.model.inertia() * gained.angular);
        let given = sum_by_axle(&self.model, |i| {
            let row = &self.rows[i];
            let mut sum = row.normal * row.load + row.forward * row.tyre[0] + row.side * row.tyre[1];
            sum.angular -= row.axle * row.torque;
            sum
        });
        (given - momentum, system)
    }
}
