//! Coupling of the rows: how they are solved together, and the report on a step.

/// Shape of the friction limit of a contact patch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionShape {
    /// Ellipse of both limits. The impulse of a sliding patch opposes its sliding velocity.
    #[default]
    Cone,
    /// Separate limit in each direction, as in box-bounded solvers: up to √2 too large at 45° between them.
    Pyramid,
    /// Ellipse of both limits with a fixed longitudinal impulse. One sweep computes that impulse, which then acts like
    /// an external force. Only the lateral rows take part in the iteration, with the rest of the ellipse.
    LongitudinalFirst,
}

/// Method by which the rows of a vehicle are solved together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SolverMode {
    /// Single sweep: all loads at once, then every wheel from the same velocity, warm-started with the last step's
    /// impulses.
    SinglePass,
    /// Iteration of all rows together to a tolerance.
    Converged {
        /// Tolerance: largest change of the chassis velocity in the last iteration (m/s, and rad/s times 1 m).
        tolerance: f32,
        /// Maximum number of iterations.
        iterations: u16,
        /// Shape of the friction limit.
        friction: FrictionShape,
        /// Whether wheels move on their own, if the model has the unsprung mass of all of them; otherwise the chassis
        /// carries it.
        unsprung: bool,
    },
}

impl SolverMode {
    /// Returns a converged coupling with the tolerance and the iteration limit of every shipped solver. `friction` is
    /// the shape of the friction limit; `unsprung` enables wheels that move on their own.
    ///
    /// The tolerance is a change of velocity. 1e-5 m/s moves a car by 0.2 µm in a step at 60 Hz, and is five times the
    /// f32 resolution of a speed of 25 m/s. A smaller tolerance only adds iterations; one ten times larger is visible
    /// as noise in the order of convergence.
    pub const fn converged(friction: FrictionShape, unsprung: bool) -> Self {
        let StopCriterion { tolerance, iterations } = StopCriterion::DEFAULT_CRITERION;
        Self::Converged { tolerance, iterations, friction, unsprung }
    }

    /// Returns this coupling with its tolerance multiplied by `share`, limited to [0.1, 1], for a vehicle on a body
    /// that has this share of the vehicle's mass. An error of the vehicle's velocity is 1 / `share` times as large on
    /// the body. [`SolverMode::SinglePass`] is returned unchanged.
    pub(crate) fn with_scaled_tolerance(self, share: f32) -> Self {
        match self {
            Self::Converged { tolerance, iterations, friction, unsprung } => Self::Converged {
                tolerance: tolerance * share.clamp(MIN_TOLERANCE_FACTOR, 1.0),
                iterations,
                friction,
                unsprung,
            },
            Self::SinglePass => self,
        }
    }
}

/// Smallest factor on the tolerance. Below it, f32 cannot resolve pushes of several tonnes of load.
const MIN_TOLERANCE_FACTOR: f32 = 0.1;

/// Report on a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Whether the world contained a number that is not finite, or the length of the step was negative or not finite.
    /// The vehicle then pushed nothing.
    pub not_finite: bool,
    /// Whether the converged coupling stopped at its maximum number of iterations.
    pub not_converged: bool,
    /// Largest number of iterations of any vehicle; 1 for one sweep.
    pub iterations: u16,
    /// Largest change of a chassis velocity in a last iteration (m/s).
    pub residual: f32,
    /// First misuse of the interface, which no step can correct; `None` if there was none.
    pub misuse: Option<ApiMisuse>,
}

/// Misuse of the step functions by the caller, in a world of the caller's own. The step is still taken as well as
/// possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiMisuse {
    /// Step begun before the previous step was finished: its forces would have acted twice. The previous step is
    /// finished first.
    MissingAfterStep,
    /// Step finished before it had begun. Nothing was done.
    MissingBeforeStep,
    /// Chassis mass that differs from the model's, for example by a collider with a density.
    MassMismatch,
    /// Gravity that does not point down in the axes given to the cars.
    AxesMismatch,
}

impl core::fmt::Display for ApiMisuse {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            ApiMisuse::MissingAfterStep => {
                "a step started before the previous step was finished: call `after_step` once after each step of the world"
            }
            ApiMisuse::MissingBeforeStep => {
                "a step was finished without being started: call `before_step` before each step of the world"
            }
            ApiMisuse::MassMismatch => "the mass of a chassis body differs from its model: set the density of its colliders to 0",
            ApiMisuse::AxesMismatch => {
                "gravity does not point down in the axes of the cars: create the cars with the axes of the world"
            }
        })
    }
}

impl StepReport {
    /// Returns the report of a skipped step if `dt` (s) is zero or invalid, and `None` if `dt` is the length of a step.
    /// An invalid `dt` (negative or not finite) sets `not_finite`. In a skipped step, states and the count of steps do
    /// not change.
    pub fn for_skipped_step(dt: f32) -> Option<Self> {
        if Self::is_valid_step(dt) { None } else { Some(Self { not_finite: dt != 0.0, ..Self::default() }) }
    }

    /// Returns true if `dt` (s) is the length of a step: positive and finite.
    #[inline(always)]
    pub(crate) fn is_valid_step(dt: f32) -> bool {
        dt > 0.0 && dt < f32::INFINITY
    }

    /// Combines two reports: each field has the worse value. Of two misuses, that of `self` is kept.
    pub fn merge_worst(self, other: Self) -> Self {
        Self {
            not_finite: self.not_finite || other.not_finite,
            not_converged: self.not_converged || other.not_converged,
            iterations: self.iterations.max(other.iterations),
            residual: if other.residual > self.residual { other.residual } else { self.residual },
            misuse: self.misuse.or(other.misuse),
        }
    }
}

/// Factor on the tolerances of inner solves in an iteration; in one sweep the factor is 1.
const INNER_TOLERANCE_FACTOR: f32 = 0.03;

/// Bounds on the tyre impulses of a wheel's block in one iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ImpulseBounds {
    /// Ellipse of both limits, as accurate as one sweep needs.
    #[default]
    ApproximateCone,
    /// Ellipse of both limits, as accurate as an iteration needs.
    Cone,
    /// Separate limit in each direction.
    Pyramid,
    /// Rest of the ellipse for the lateral impulse; the longitudinal impulse is fixed.
    LateralOnly,
}

impl ImpulseBounds {
    /// Returns the bounds that a converged coupling with `friction` uses.
    pub(crate) fn from_shape(friction: FrictionShape) -> Self {
        match friction {
            FrictionShape::Cone => ImpulseBounds::Cone,
            FrictionShape::Pyramid => ImpulseBounds::Pyramid,
            FrictionShape::LongitudinalFirst => ImpulseBounds::LateralOnly,
        }
    }

    /// Returns the factor on the tolerances of inner solves: 1 for one sweep ([`ImpulseBounds::ApproximateCone`]), 0.03
    /// in an iteration. An iteration cannot reach a residual below the errors of its parts.
    pub(crate) fn inner_tolerance_factor(self) -> f32 {
        if self == ImpulseBounds::ApproximateCone { 1.0 } else { INNER_TOLERANCE_FACTOR }
    }
}

/// Stopping criterion of the iteration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StopCriterion {
    /// Tolerance: largest change of velocity (m/s).
    pub tolerance: f32,
    /// Maximum number of iterations.
    pub iterations: u16,
}

impl StopCriterion {
    /// Criterion of every shipped solver.
    pub const DEFAULT_CRITERION: Self = Self { tolerance: 1e-5, iterations: 120 };
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that each field of a merged report has the worse value, in either order.
    #[test]
    fn two_reports_make_one_of_the_worse_of_both() {
        let quick = StepReport {
            iterations: 2,
            residual: 0.5,
            misuse: Some(ApiMisuse::MissingBeforeStep),
            ..StepReport::default()
        };
        let slow = StepReport { not_converged: true, iterations: 9, residual: 0.25, ..StepReport::default() };
        let worse = StepReport { not_converged: true, iterations: 9, ..quick };
        assert_eq!([quick.merge_worst(slow), slow.merge_worst(quick)], [worse; 2]);
        let broken = StepReport { not_finite: true, ..StepReport::default() };
        assert_eq!([broken.merge_worst(slow), slow.merge_worst(broken)], [StepReport { not_finite: true, ..slow }; 2]);
    }
}
