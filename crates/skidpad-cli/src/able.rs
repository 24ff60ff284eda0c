//! Which solvers can drive what is asked for.

use skidpad::core::BackendInfo;
use skidpad::lab::Adjust;

use crate::fail::BadArgument;

/// Of `backends` those that can drive what is asked for. Peers of other engines tow nothing, and nothing moves under them: they are left
/// out, or refused where they were `named`.
pub fn able(mut backends: Vec<BackendInfo>, named: bool, adjust: &Adjust) -> Result<Vec<BackendInfo>, BadArgument> {
    let has_platforms = adjust.scene.as_ref().is_some_and(|scene| !scene.platforms.is_empty());
    let (argument, what) = match (adjust.trailers.is_empty(), has_platforms) {
        (true, false) => return Ok(backends),
        (false, _) => ("--towing", "a trailer behind a car"),
        (true, true) => ("--scene", "a scene with boxes that move under a car"),
    };
    if let Some(peer) = backends.iter().find(|info| named && !info.rows) {
        let found = format!("{what} of `{}`, a peer,", peer.name);
        return Err(BadArgument { argument, found, accepts: "backends that are no peers".into() });
    }
    backends.retain(|info| info.rows);
    Ok(backends)
}
