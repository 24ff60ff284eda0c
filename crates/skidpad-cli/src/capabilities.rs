//! Selection of the solvers that can simulate the requested trailers and scene.

use skidpad::core::SolverInfo;
use skidpad::lab::solver_support::{can_simulate, has_moving_bodies};
use skidpad::lab::{Overrides, Procedure, Setup};

use crate::errors::BadArgument;

/// Returns the `backends` that can simulate the trailers and the scene of `overrides`. Reference vehicles (solvers
/// without wheel rows) support neither trailers nor scenes with platforms or free bodies. Without trailers and such
/// scenes, all `backends` are returned.
///
/// Otherwise reference vehicles are left out. If `has_named_backends`, the user has named the backends, and a reference
/// vehicle among them is an error instead. The error names `--towing` if there are trailers, otherwise `--scene`.
pub fn capable_backends(
    mut backends: Vec<SolverInfo>,
    has_named_backends: bool,
    overrides: &Overrides,
) -> Result<Vec<SolverInfo>, BadArgument> {
    let has_moving_bodies = overrides.scene.as_ref().is_some_and(has_moving_bodies);
    // Argument that a reference vehicle cannot satisfy, and its feature; trailers come first.
    let (argument, feature) = match (overrides.trailers.is_empty(), has_moving_bodies) {
        (true, false) => return Ok(backends),
        (false, _) => ("--towing", "a trailer"),
        (true, true) => ("--scene", "a scene with moving boxes"),
    };
    // Reference vehicles are the solvers without wheel rows.
    if let Some(peer) = backends.iter().find(|info| has_named_backends && !info.has_wheel_rows) {
        let found = format!("{feature} with the reference vehicle `{}`", peer.name);
        return Err(BadArgument {
            argument,
            found,
            accepts: "solvers that are not reference vehicles; see `skidpad list solvers`".into(),
        });
    }
    backends.retain(|info| info.has_wheel_rows);
    Ok(backends)
}

/// Checks that the solver of `info`, which `argument` names, can simulate `setup`, the start of `manoeuvre`.
///
/// # Errors
/// The solver is a reference vehicle, and the ground of the manoeuvre moves.
pub fn check_capable(
    argument: &'static str,
    info: &SolverInfo,
    manoeuvre: &dyn Procedure,
    setup: &Setup,
) -> Result<(), BadArgument> {
    if can_simulate(info, setup) {
        return Ok(());
    }
    Err(BadArgument {
        argument,
        found: format!("`{}` for the moving ground of `{}`", info.name, manoeuvre.name()),
        accepts: "solvers that are not reference vehicles; see `skidpad list solvers`".into(),
    })
}

/// Checks that each of `backends` can simulate `setup` if the user has named them. `names` are the values of
/// `--solvers`; empty names are accepted unchecked, because solvers that the user has not named are left out of a
/// manoeuvre that they cannot simulate.
pub fn check_named(
    names: &[String],
    backends: &[SolverInfo],
    manoeuvre: &dyn Procedure,
    setup: &Setup,
) -> Result<(), BadArgument> {
    let named = if names.is_empty() { &[] } else { backends };
    named.iter().try_for_each(|info| check_capable("--solvers", info, manoeuvre, setup))
}
