//! Target spins for a slip: the rows of the tyres then determine the brake torque.

use crate::assists::first_order_share;
use crate::simd::lane::Lane;

/// Speed over the ground below which slip ratios are not evaluated, m/s.
const MIN_SLIP_SPEED_MPS: f32 = 0.1;

/// Returns the spins, rad/s, with which wheels of `radius` m get one step closer to a slip ratio of `slip` (–, negative: slower than the road) if
/// their centres will move at `ahead` m/s. Their present spin is `spin` rad/s at `speed` m/s. The slip approaches its target by a first-order lag
/// with the time constant `response` s: `ω = (1 + κ_next) ahead / R`. The mask is true where the wheels roll faster than [`MIN_SLIP_SPEED_MPS`];
/// elsewhere the spins have no meaning.
///
/// The law controls slips, not spins: the road under a braking car slows down, and a spin would lag by the time constant.
#[inline(always)]
pub(crate) fn target_spin<L: Lane>(
    slip: L,
    ahead: L,
    [spin, speed, radius]: [L; 3],
    response: f32,
    dt: f32,
) -> (L, L::Mask) {
    let one = L::splat(1.0);
    let rolls = L::splat(MIN_SLIP_SPEED_MPS).less(speed.abs());
    let now = spin * radius / L::select(rolls, speed, one) - one;
    let next = now + (slip - now) * L::splat(first_order_share(response, dt));
    ((one + next) * ahead / radius, rolls)
}
