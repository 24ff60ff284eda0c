//! Results do not depend on the starting position, up to 100 km away. The relation does not apply to the 32-bit
//! positions of Rapier.

use super::draw::Draw;
use super::{NOT_APPLICABLE, Outcome, same_but_for_rounding};

const DISTANCE_M: f64 = 1e5;

pub fn check(draw: &Draw) -> Outcome {
    if draw.solver.name == "rapier" {
        return NOT_APPLICABLE;
    }
    let here = draw.on_plane();
    let mut there = here.clone();
    (there.placement.x, there.placement.y) = (DISTANCE_M, -0.7 * DISTANCE_M);
    let (run, mut other) = (here.run(), there.run());
    let scene = here.ground.scene();
    let moved =
        scene.point_above_plane(there.placement.x, there.placement.y, 0.0) - scene.point_above_plane(0.0, 0.0, 0.0);
    other.samples.iter_mut().for_each(|state| state.position -= moved);
    same_but_for_rounding(&here, "100 km away", [&run, &other])
}
