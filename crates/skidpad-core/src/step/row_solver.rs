//! Interface of a solver of rows.

use core::fmt::Debug;

use crate::step::batch_pass::BatchPass;
use crate::step::car_rows::CarRows;
use crate::step::step_wheels::Velocities;
use crate::step_report::StepReport;

/// Solver of the rows of a car: wheel spins, tyres and shafts, and optionally the hull.
pub trait RowSolver: Debug + Send + Sync {
    /// Solves the rows of one car together, from the `velocities` of its chassis. Leaves the impulses and spins in the
    /// rows and returns the report of the step.
    ///
    /// The rows have the loads that belong to `velocities.load_solution`, and the tyre impulses of the last step as
    /// initial values. This call is outside of SIMD code: a solver calls
    /// [`dispatch_simd`](crate::coupling::dispatch_simd) for its loops.
    fn solve(&self, car: &mut CarRows<'_>, velocities: &Velocities) -> StepReport;

    /// Returns true if contact points of the bodywork become rows of the car. Otherwise the world stops the hull.
    fn solves_hull(&self) -> bool {
        false
    }

    /// Returns true if unsprung masses move relative to the chassis, in models whose wheels all have one. Otherwise the
    /// chassis carries these masses.
    fn moves_unsprung_masses(&self) -> bool {
        false
    }

    /// Returns the pass over a batch of cars, whose results must equal those of [`RowSolver::solve`] bit for bit.
    /// `None`: cars are solved one by one.
    fn batch_pass(&self) -> Option<&'static BatchPass> {
        None
    }
}
