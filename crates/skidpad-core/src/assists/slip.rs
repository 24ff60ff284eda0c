//! Brakes that hold a wheel near a slip: by the spin it is to have next, from which the rows of its tyre tell their torque.

use crate::assists::approach;
use crate::lane::Lane;

/// Speed of the road, m/s, below which slip is not divided by it.
const LEAST_SPEED: f32 = 0.1;

/// Spins, rad/s, at which wheels of `radius` m whose centres will move at `ahead` m/s come one step nearer to slipping by
/// `slip` (–, negative behind the road), having turned by `spin` rad/s at `speed` m/s; and where that can be said.
///
/// Slips, not spins, are led to their target: a car that brakes slows its road down all the while, and a spin would be
/// late by its time constant.
#[inline(always)]
pub(crate) fn spin_towards<L: Lane>(
    slip: L,
    ahead: L,
    [spin, speed, radius]: [L; 3],
    response: f32,
    dt: f32,
) -> (L, L::Mask) {
    let one = L::splat(1.0);
    let rolls = L::splat(LEAST_SPEED).less(speed.abs());
    let now = spin * radius / L::select(rolls, speed, one) - one;
    let next = now + (slip - now) * L::splat(approach(response, dt));
    ((one + next) * ahead / radius, rolls)
}
