//! Which solvers can drive what is asked for.

use skidpad::core::{BackendInfo, Scene};
use skidpad::lab::Overrides;

use crate::fail::BadArgument;

/// Of `backends` those that can drive what is asked for. Peers of other engines tow nothing, and nothing moves under or before them: they
/// are left out, or refused where they were `named`.
pub fn able(
    mut backends: Vec<BackendInfo>,
    named: bool,
    overrides: &Overrides,
) -> Result<Vec<BackendInfo>, BadArgument> {
    let moves = |scene: &Scene| !(scene.platforms.is_empty() && scene.bodies.is_empty());
    let has_movers = overrides.scene.as_ref().is_some_and(moves);
    let (argument, what) = match (overrides.trailers.is_empty(), has_movers) {
        (true, false) => return Ok(backends),
        (false, _) => ("--towing", "a trailer behind a car"),
        (true, true) => ("--scene", "a scene with boxes that move"),
    };
    if let Some(peer) = backends.iter().find(|info| named && !info.rows) {
        let found = format!("{what} of `{}`, a peer,", peer.name);
        return Err(BadArgument { argument, found, accepts: "backends that are no peers".into() });
    }
    backends.retain(|info| info.rows);
    Ok(backends)
}
