//! Solvers by name, for programs that choose one at run time.

use std::fmt::{self, Display};
use std::str::FromStr;

use crate::core::SolverInfo;

/// Solver of a [`World`](crate::World). Each variant needs the feature of its crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Solver {
    /// Cars in a world of rapier3d.
    #[cfg(feature = "rapier")]
    Rapier,
    /// Built-in world, one pass of per-wheel impulses.
    #[cfg(feature = "impulse")]
    Impulse,
    /// Built-in world, all rows solved together.
    #[cfg(feature = "constraint")]
    Constraint,
    /// Reference vehicle: Rapier's own vehicle controller.
    #[cfg(all(feature = "peers", feature = "rapier"))]
    RapierStock,
    /// Reference vehicle: Bullet's ray-cast vehicle.
    #[cfg(feature = "peers")]
    Bullet,
    /// [`Solver::Constraint`] with a friction pyramid instead of a cone.
    #[cfg(feature = "constraint")]
    ConstraintPyramid,
    /// [`Solver::Constraint`] with unsprung masses as separate bodies.
    #[cfg(feature = "constraint")]
    ConstraintUnsprung,
}

impl Solver {
    /// Enabled solvers: those that must agree with each other, then reference vehicles, then variants.
    pub const ALL: &'static [Self] = &[
        #[cfg(feature = "rapier")]
        Self::Rapier,
        #[cfg(feature = "impulse")]
        Self::Impulse,
        #[cfg(feature = "constraint")]
        Self::Constraint,
        #[cfg(all(feature = "peers", feature = "rapier"))]
        Self::RapierStock,
        #[cfg(feature = "peers")]
        Self::Bullet,
        #[cfg(feature = "constraint")]
        Self::ConstraintPyramid,
        #[cfg(feature = "constraint")]
        Self::ConstraintUnsprung,
    ];

    /// Returns the name, the description, the capabilities and the constructor of the solver, as its crate states them.
    /// The constraint solver's variants are in the order of the enum: pyramid, unsprung.
    pub fn info(self) -> SolverInfo {
        match self {
            #[cfg(feature = "rapier")]
            Self::Rapier => crate::rapier::BACKEND_INFO,
            #[cfg(feature = "impulse")]
            Self::Impulse => crate::impulse::BACKEND_INFO,
            #[cfg(feature = "constraint")]
            Self::Constraint => crate::constraint::BACKEND_INFO,
            #[cfg(all(feature = "peers", feature = "rapier"))]
            Self::RapierStock => crate::peers::stock::BACKEND_INFO,
            #[cfg(feature = "peers")]
            Self::Bullet => crate::peers::bullet::BACKEND_INFO,
            #[cfg(feature = "constraint")]
            Self::ConstraintPyramid => crate::constraint::SOLVER_VARIANTS[0],
            #[cfg(feature = "constraint")]
            Self::ConstraintUnsprung => crate::constraint::SOLVER_VARIANTS[1],
        }
    }

    /// Returns the name by which users select the solver, like `constraint-unsprung`.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// Returns true for the variants of [`Solver::Constraint`] (friction pyramid, unsprung masses), which only serve
    /// comparisons.
    pub fn is_variant(self) -> bool {
        match self {
            #[cfg(feature = "constraint")]
            Self::ConstraintPyramid | Self::ConstraintUnsprung => true,
            #[allow(unreachable_patterns, reason = "without the solvers above there is no other variant")]
            _ => false,
        }
    }
}

impl Display for Solver {
    /// Writes the name, with the width and alignment of the format.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Solver {
    type Err = UnknownSolver;

    /// Returns the enabled solver whose name is exactly `name`.
    fn from_str(name: &str) -> Result<Self, UnknownSolver> {
        let solver = Self::ALL.iter().copied().find(|solver| solver.name() == name);
        solver.ok_or_else(|| UnknownSolver { found: name.to_owned() })
    }
}

/// Error for a name that no enabled solver has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown solver `{}`; enabled solvers: {}", crate::spec::printable::one_line(found), enabled_names())]
pub struct UnknownSolver {
    /// Name that was given.
    pub found: String,
}

/// Returns the names of all enabled solvers, separated by commas.
fn enabled_names() -> String {
    let names: Vec<&str> = Solver::ALL.iter().map(|solver| solver.name()).collect();
    names.join(", ")
}
