//! The one-sweep coupling: every wheel from the same velocity, warm-started.

use super::block::Surroundings;
use super::{StepReport, Vehicle};
use crate::linear::Six;

impl Vehicle {
    /// Solves shafts, then every wheel block, from the velocity `loaded` that loads and the last step's tyre impulses
    /// left.
    ///
    /// Each block sees its chassis compliance times the number of gripping wheels: no wheel knows what the others
    /// do, so together they cannot over-correct. At rest and in steady motion nothing changes from step to step and
    /// the result is the converged one.
    pub(super) fn sweep(&mut self, loaded: Six) -> StepReport {
        let gripping = self.rows.iter().filter(|r| r.gripping).count() as f32;
        let around = self.surroundings(loaded, gripping);
        let around = &around[..self.rows.len()];
        self.solve_shafts(around);
        for (i, around) in around.iter().enumerate() {
            self.rows[i].solve_block(&self.model.wheels()[i], around);
        }
        StepReport { iterations: 1, ..StepReport::default() }
    }

    /// What each wheel's tyre rows see at chassis velocity `at`, with `share` times its own compliance.
    fn surroundings(&self, at: Six, share: f32) -> [Surroundings; crate::MAX_WHEELS] {
        let mut around = [Surroundings::default(); crate::MAX_WHEELS];
        for (row, around) in self.rows.iter().zip(&mut around) {
            if !row.gripping {
                continue;
            }
            let (forward, side) = (self.response(row.forward), self.response(row.side));
            let compliance =
                [row.forward.dot(forward) * share, row.forward.dot(side) * share, row.side.dot(side) * share];
            around.compliance = compliance;
            around.speed = [
                row.forward.dot(at) - compliance[0] * row.tyre[0] - compliance[1] * row.tyre[1],
                row.side.dot(at) - compliance[1] * row.tyre[0] - compliance[2] * row.tyre[1],
            ];
        }
        around
    }
}
