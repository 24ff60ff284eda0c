//! Report on a step.

/// Report on a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Whether the world contained a number that is not finite, or the length of the step was negative or not finite.
    /// The vehicle then pushed nothing.
    pub not_finite: bool,
    /// Whether an iterating solver stopped at its maximum number of iterations.
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
    /// Report of a solver without iterations, such as one sweep over the rows.
    pub const SINGLE_PASS: Self =
        Self { not_finite: false, not_converged: false, iterations: 1, residual: 0.0, misuse: None };

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
