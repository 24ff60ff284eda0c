//! Target spins for a slip: the rows of the tyres then determine the brake torque.

use crate::assists::first_order_share;
use skidpad_simd::lane::Lane;

/// Speed over the ground below which slip ratios are not evaluated, m/s.
const MIN_SLIP_SPEED_MPS: f32 = 0.1;

/// Returns the spins, rad/s, with which wheels of `radius` m get one step closer to a slip ratio of `target_slip` (–,
/// negative: slower than the road). The present spin is `spin` rad/s at a speed of the wheel centre of `speed` m/s;
/// `end_speed` is the speed expected at the end of the step. The mask is true where the wheels roll faster than
/// [`MIN_SLIP_SPEED_MPS`]; elsewhere the spins have no meaning.
///
/// The slip approaches its target by a first-order lag with `time_constant`, s: `ω = (1 + κ_next) end_speed / R`. The
/// law controls slips, not spins: the road under a braking car slows down, and a spin would lag by the time constant.
#[inline(always)]
pub(crate) fn target_spin<L: Lane>(
    target_slip: L,
    end_speed: L,
    [spin, speed, radius]: [L; 3],
    time_constant: f32,
    dt: f32,
) -> (L, L::Mask) {
    let one = L::splat(1.0);
    let is_rolling = L::splat(MIN_SLIP_SPEED_MPS).less(speed.abs());
    // Divides by 1 where the slip has no meaning.
    let present_slip = spin * radius / L::select(is_rolling, speed, one) - one;
    let next_slip = present_slip + (target_slip - present_slip) * L::splat(first_order_share(time_constant, dt));
    ((one + next_slip) * end_speed / radius, is_rolling)
}
