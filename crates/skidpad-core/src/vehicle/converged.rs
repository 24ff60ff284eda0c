//! The converged coupling: all rows of a car at once.
//!
//! For a given chassis velocity every wheel answers on its own (its load, then its block), so the whole problem is six
//! equations: the momentum the chassis gained is the sum of the wheels' impulses. Newton's method on them, with each
//! wheel's answer linearised, converges in a few iterations for any number of wheels, treats left and right alike to
//! the bit, and has no wobble of pinned bodies.

use super::block::Within;
use super::rows::Surroundings;
use super::{Friction, StepReport, Vehicle};
use crate::lane::Four;
use crate::linear::{OuterProducts, Six, Symmetric6};

/// Iterations after which steps are halved: a wheel that alternates between sticking and sliding settles then.
const FULL_STEPS: u16 = 10;

/// When the iteration ends.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stop {
    /// Largest change of velocity, m/s.
    pub tolerance: f32,
    pub iterations: u16,
}

impl Vehicle {
    pub(super) fn converge(&mut self, free: Six<f32>, start: Six<f32>, stop: Stop, friction: Friction) -> StepReport {
        let within = Within::of(friction);
        if within == Within::Side {
            // The forward impulses stay as one sweep leaves them.
            self.sweep(start);
        }
        let mut at = start;
        let mut report = StepReport::default();
        for iteration in 1..=stop.iterations.max(1) {
            let (missing, system) = self.linearise(free, at, within);
            let mut change = system.solve(missing);
            if iteration > FULL_STEPS {
                change = change * 0.5;
            }
            at = at + change;
            report.iterations = iteration;
            let (linear, angular) = change.parts();
            report.residual = linear.length().max(angular.length());
            if report.residual <= stop.tolerance {
                return report;
            }
        }
        report.not_converged = true;
        report
    }

    /// Answers of all wheels at chassis velocity `at`: the momentum still missing, and its derivative.
    fn linearise(&mut self, free: Six<f32>, at: Six<f32>, within: Within) -> (Six<f32>, Symmetric6) {
        let mut products = OuterProducts::none();
        let everywhere = at.wide();
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            if rows.travel.own {
                rows.own_load(bank, everywhere, free.wide()).add_to(&mut products, rows);
            } else {
                let (load, admittance) = rows.bounded_load(everywhere);
                rows.load = load;
                products.add(admittance, rows.normal);
            }
            rows.around = Surroundings { speed: rows.speeds(everywhere), compliance: [Four::default(); 3] };
        }
        if within != Within::Side {
            self.solve_shafts();
        }
        let mut given = Six::default();
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            let tangent = rows.solve_block(bank, within).tangent();
            for (k, weight) in tangent.weights.into_iter().enumerate() {
                products.add(weight, tangent.row(k, rows));
            }
            given = given + rows.impulse(true).sum();
        }
        let (linear, angular) = (at - free).parts();
        let momentum = Six::of(linear * self.model.mass(), *self.model.inertia() * angular);
        (given - momentum, Symmetric6::new(self.model.mass(), self.model.inertia(), &products))
    }
}
