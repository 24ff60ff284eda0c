//! Bounds on the impulses of a tyre.

/// Factor on the tolerances of inner solves in an iteration; in one sweep the factor is 1.
const INNER_TOLERANCE_FACTOR: f32 = 0.03;

/// Bounds on the two impulses of a tyre within its friction limits, and the accuracy with which they are met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ImpulseBounds {
    /// Ellipse of both limits, as accurate as one sweep needs. The impulse of a sliding patch opposes its sliding
    /// velocity.
    #[default]
    ApproximateCone,
    /// Ellipse of both limits, as accurate as an iteration needs.
    Cone,
    /// Separate limit in each direction, as in box-bounded solvers: up to √2 too large at 45° between them.
    Pyramid,
}

impl ImpulseBounds {
    /// Returns the factor on the tolerances of inner solves: 1 for one sweep ([`ImpulseBounds::ApproximateCone`]), 0.03
    /// in an iteration. An iteration cannot reach a residual below the errors of its parts.
    pub(crate) fn inner_tolerance_factor(self) -> f32 {
        if self == ImpulseBounds::ApproximateCone { 1.0 } else { INNER_TOLERANCE_FACTOR }
    }
}
