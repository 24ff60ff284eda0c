//! The one-sweep coupling: every wheel from the same velocity, warm-started.

use super::block::Within;
use super::rows::{Rows, Surroundings};
use super::{StepReport, Vehicle};
use crate::lane::{Four, Lane};
use crate::linear::{Six, Triple};
use crate::{Mat3, Model};

impl Vehicle {
    /// Solves shafts, then every wheel block, from the velocity `loaded` that loads and the last step's tyre impulses
    /// left.
    ///
    /// Each block sees its chassis compliance times the number of gripping wheels: no wheel knows what the others
    /// do, so together they cannot over-correct. At rest and in steady motion nothing changes from step to step and
    /// the result is the converged one.
    pub(super) fn sweep(&mut self, loaded: Six<f32>) -> StepReport {
        let gripping: f32 = self.rows.iter().map(|rows| Four::splat(1.0).only(rows.gripping).sum()).sum();
        let at = loaded.wide();
        for rows in &mut self.rows {
            rows.around = surroundings(&self.model, rows, at, Four::splat(gripping));
            rows.reach = rows.limit();
        }
        self.solve_shafts();
        for (bank, rows) in self.model.banks().iter().zip(&mut self.rows) {
            rows.solve_block(bank, Within::Cone);
        }
        StepReport { iterations: 1, ..StepReport::default() }
    }
}

/// What each wheel's tyre rows see at chassis velocity `at`, with `share` times its own compliance.
fn surroundings(model: &Model, rows: &Rows, at: Six<Four>, share: Four) -> Surroundings<Four> {
    let inverse_mass = Four::splat(model.inverse_mass());
    let inverse_inertia: &Mat3 = model.inverse_inertia();
    let turned = |row: Six<Four>| row.angular.through(inverse_inertia);
    // The two directions are unit vectors at right angles.
    let (forward, side): (Triple<Four>, Triple<Four>) = (turned(rows.forward), turned(rows.side));
    let compliance = [
        (inverse_mass + rows.forward.angular.dot(forward)) * share,
        rows.forward.angular.dot(side) * share,
        (inverse_mass + rows.side.angular.dot(side)) * share,
    ];
    let [along, across] = rows.speeds(at);
    let speed = [
        along - compliance[0] * rows.tyre[0] - compliance[1] * rows.tyre[1],
        across - compliance[1] * rows.tyre[0] - compliance[2] * rows.tyre[1],
    ];
    Surroundings { speed, compliance }
}
