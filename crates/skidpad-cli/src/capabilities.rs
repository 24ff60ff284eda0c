//! Selection of the solvers that can simulate the requested trailers and scene.

use skidpad::core::{Scene, SolverInfo};
use skidpad::lab::Overrides;

use crate::errors::BadArgument;

/// Returns the `backends` that can simulate `overrides`. Peers support neither trailers nor scenes with platforms or
/// free bodies, so they are left out. If the user has `named` the backends, a peer is an error instead.
pub fn capable_backends(
    mut backends: Vec<SolverInfo>,
    named: bool,
    overrides: &Overrides,
) -> Result<Vec<SolverInfo>, BadArgument> {
    // Whether the scene has platforms or free bodies.
    let moves = |scene: &Scene| !(scene.platforms.is_empty() && scene.free_bodies.is_empty());
    let has_movers = overrides.scene.as_ref().is_some_and(moves);
    // Argument that a peer cannot satisfy, and the reason; trailers come first.
    let (argument, what) = match (overrides.trailers.is_empty(), has_movers) {
        (true, false) => return Ok(backends),
        (false, _) => ("--towing", "a trailer behind a car"),
        (true, true) => ("--scene", "a scene with boxes that move"),
    };
    if let Some(peer) = backends.iter().find(|info| named && !info.has_wheel_rows) {
        let found = format!("{what} of `{}`, a peer,", peer.name);
        return Err(BadArgument { argument, found, accepts: "backends that are no peers".into() });
    }
    backends.retain(|info| info.has_wheel_rows);
    Ok(backends)
}
