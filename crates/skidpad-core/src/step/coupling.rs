//! How rows are solved together, and how that went.

/// Which pairs of tyre impulses a patch can give.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Friction {
    /// Inside the ellipse of both limits; while it slides, against the sliding velocity.
    #[default]
    Cone,
    /// Each direction up to its own limit, as box-bounded solvers have it: up to √2 too much at 45° between them.
    Pyramid,
    /// The forward impulse is found in one sweep and stays, as a force from outside; only the side rows take part in
    /// the iteration, with what the forward one leaves of the ellipse.
    Hybrid,
}

/// How the rows of a vehicle are solved together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Coupling {
    /// Loads at once, then every wheel from the same velocity, warm-started with the last step's impulses.
    OneSweep,
    /// All rows together, to a residual.
    Converged {
        /// Largest change of the chassis velocity in the last iteration, m/s (and rad/s times 1 m).
        tolerance: f32,
        /// Most iterations.
        iterations: u16,
        /// Shape of the friction limit.
        friction: Friction,
        /// Whether wheels move on their own, where the model says how heavy they are; else their mass is the chassis'.
        unsprung: bool,
    },
}

impl Coupling {
    /// All rows together to the tolerance of every shipped solver, within a friction limit shaped like `friction`, with wheels that
    /// move on their own if `unsprung`.
    ///
    /// The tolerance is a change of velocity: 1e-5 m/s moves a car 0.2 µm in a step at 60 Hz, four times the last bit of a speed of
    /// 25 m/s. Tighter only adds iterations; ten times looser shows as noise in the order of convergence.
    pub const fn converged(friction: Friction, unsprung: bool) -> Self {
        let Stop { tolerance, iterations } = Stop::SHIPPED;
        Self::Converged { tolerance, iterations, friction, unsprung }
    }

    /// It, as exact as a body takes under the wheels that has this `share` of the vehicle's mass: what the vehicle's velocity may be off by
    /// is so many times that on the body.
    pub(crate) fn above(self, share: f32) -> Self {
        match self {
            Self::Converged { tolerance, iterations, friction, unsprung } => {
                Self::Converged { tolerance: tolerance * share.clamp(LEAST_SHARE, 1.0), iterations, friction, unsprung }
            }
            Self::OneSweep => self,
        }
    }
}

/// Share of the tolerance below which pushes of tonnes of load have no more digits.
const LEAST_SHARE: f32 = 0.1;

/// How a step went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// The world held something that is not finite, or the length of the step was negative or not finite; the vehicle pushed nothing.
    pub not_finite: bool,
    /// The converged coupling stopped at its limit of iterations.
    pub not_converged: bool,
    /// Most iterations any vehicle took; 1 for one sweep.
    pub iterations: u16,
    /// Largest change of a chassis velocity in a last iteration, m/s.
    pub residual: f32,
    /// What the caller did that no step can put right; the first of it.
    pub misuse: Option<Misuse>,
}

/// What callers may do wrong around a step in a world of their own. The step is taken as well as it can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misuse {
    /// A step began while the one before had not been finished: its forces would have pushed twice. It is finished first.
    NotFinished,
    /// A step was finished that had not begun. Nothing was done.
    NotBegun,
    /// A chassis does not weigh what its model does, as with a collider on it that has a density.
    OtherMass,
    /// Gravity does not point down in the axes the cars were given.
    OtherAxes,
}

impl core::fmt::Display for Misuse {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Misuse::NotFinished => {
                "a step began before the last one was finished: call `after_step` once after each step of the world"
            }
            Misuse::NotBegun => {
                "a step was finished that had not begun: call `before_step` before each step of the world"
            }
            Misuse::OtherMass => "a chassis does not weigh what its model does: give colliders on it no density",
            Misuse::OtherAxes => {
                "gravity does not point down in the axes of the cars: make them with the axes of the world"
            }
        })
    }
}

impl StepReport {
    /// The report of a step of `dt` s that is none, `None` of one that is: in no time nothing happens, and what is no length of time
    /// is told. States, and the count of steps, stay as they were.
    pub fn of_no_step(dt: f32) -> Option<Self> {
        if Self::is_step(dt) { None } else { Some(Self { not_finite: dt != 0.0, ..Self::default() }) }
    }

    /// Whether `dt` s are the length of a step.
    #[inline(always)]
    pub(crate) fn is_step(dt: f32) -> bool {
        dt > 0.0 && dt < f32::INFINITY
    }

    /// The worse of both, field by field.
    pub fn and(self, other: Self) -> Self {
        Self {
            not_finite: self.not_finite || other.not_finite,
            not_converged: self.not_converged || other.not_converged,
            iterations: self.iterations.max(other.iterations),
            residual: if other.residual > self.residual { other.residual } else { self.residual },
            misuse: self.misuse.or(other.misuse),
        }
    }
}

/// Of what inner solves may leave in one sweep, the share that they may leave in an iteration.
const LEFT_IN_ITERATION: f32 = 0.03;

/// What bounds the tyre impulses of a block in one iteration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Within {
    /// The ellipse of both limits, as near as one sweep can tell.
    #[default]
    NearCone,
    /// The ellipse of both limits.
    Cone,
    /// Each its own limit.
    Pyramid,
    /// The forward impulse is known; the side one has what is left of the ellipse.
    Side,
}

impl Within {
    /// The bounds of a converged coupling with `friction`.
    pub(crate) fn of(friction: Friction) -> Self {
        match friction {
            Friction::Cone => Within::Cone,
            Friction::Pyramid => Within::Pyramid,
            Friction::Hybrid => Within::Side,
        }
    }

    /// Factor on what inner solves may leave: an iteration to a residual gets no nearer than what its parts leave.
    pub(crate) fn closeness(self) -> f32 {
        if self == Within::NearCone { 1.0 } else { LEFT_IN_ITERATION }
    }
}

/// When the iteration ends.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stop {
    /// Largest change of velocity, m/s.
    pub tolerance: f32,
    pub iterations: u16,
}

impl Stop {
    pub const SHIPPED: Self = Self { tolerance: 1e-5, iterations: 120 };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_reports_make_one_of_the_worse_of_both() {
        let quick =
            StepReport { iterations: 2, residual: 0.5, misuse: Some(Misuse::NotBegun), ..StepReport::default() };
        let slow = StepReport { not_converged: true, iterations: 9, residual: 0.25, ..StepReport::default() };
        let worse = StepReport { not_converged: true, iterations: 9, ..quick };
        assert_eq!([quick.and(slow), slow.and(quick)], [worse; 2]);
        let broken = StepReport { not_finite: true, ..StepReport::default() };
        assert_eq!([broken.and(slow), slow.and(broken)], [StepReport { not_finite: true, ..slow }; 2]);
    }
}
