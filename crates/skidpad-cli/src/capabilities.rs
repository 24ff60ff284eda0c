//! Selection of the solvers that can simulate the requested trailers and scene.

use skidpad::core::{Scene, SolverInfo};
use skidpad::lab::Overrides;

use crate::errors::BadArgument;

/// Returns the `backends` that can simulate `overrides`. Peers support neither trailers nor scenes with platforms or
/// free bodies, so they are left out. If `has_named_backends`, the user has named the backends, and a peer is an error
/// instead. Without trailers and moving bodies all `backends` are returned. The error names `--towing` if there are
/// trailers, otherwise `--scene`.
pub fn capable_backends(
    mut backends: Vec<SolverInfo>,
    has_named_backends: bool,
    overrides: &Overrides,
) -> Result<Vec<SolverInfo>, BadArgument> {
    // Whether the scene has platforms or free bodies.
    let contains_moving_bodies = |scene: &Scene| !(scene.platforms.is_empty() && scene.free_bodies.is_empty());
    let has_moving_bodies = overrides.scene.as_ref().is_some_and(contains_moving_bodies);
    // Argument that a peer cannot satisfy, and the reason; trailers come first.
    let (argument, feature) = match (overrides.trailers.is_empty(), has_moving_bodies) {
        (true, false) => return Ok(backends),
        (false, _) => ("--towing", "a trailer"),
        (true, true) => ("--scene", "a scene with moving boxes"),
    };
    // Peers are the solvers without wheel rows.
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
