//! Runs that a solver can simulate.

use skidpad_core::{Scene, SolverInfo};

use crate::manoeuvre::Setup;

/// Returns whether `scene` contains platforms or free bodies.
pub fn has_moving_bodies(scene: &Scene) -> bool {
    !(scene.platforms.is_empty() && scene.free_bodies.is_empty())
}

/// Returns true if the solver of `info` can simulate `setup`. Solvers without wheel rows (reference vehicles) support
/// neither trailers nor scenes with moving bodies.
pub fn can_simulate(info: &SolverInfo, setup: &Setup) -> bool {
    info.has_wheel_rows || (setup.trailers.is_empty() && !has_moving_bodies(&setup.scene))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manoeuvre::{Manoeuvre, TiltTable};
    use crate::testing::{POINT_MASS, model};

    /// A reference vehicle cannot stand on a table that tilts. Solvers with wheel rows can, and all can simulate the plane.
    #[test]
    fn reference_vehicles_do_not_stand_on_moving_tables() {
        let table = TiltTable::default().setup(&model());
        let solver = SolverInfo { has_wheel_rows: true, ..POINT_MASS };
        let reference = SolverInfo { has_wheel_rows: false, ..POINT_MASS };
        assert!(can_simulate(&solver, &table) && !can_simulate(&reference, &table));
        assert!(can_simulate(&reference, &Setup::flat(0.0)));
    }
}
