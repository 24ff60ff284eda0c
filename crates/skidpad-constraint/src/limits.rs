//! Convergence of the friction limits of the tyres, which depend on the loads.

use skidpad_core::coupling::{CarRows, ImpulseBounds, ManyGroups, StepWheels, WheelRows, velocity_norm};
use skidpad_core::simd::lane::{F32x4, Lane, Mask32x4};
use skidpad_core::simd::linear::SpatialVector;

/// Largest share by which the friction limit of a sliding tyre may differ from its limit by the load.
const FRICTION_LIMIT_TOLERANCE: f32 = 0.01;

/// Returns true if the present friction limits of the tyres are as good as those by the loads. Both conditions must
/// hold: the impulses that sliding tyres lack change the chassis velocity by at most `tolerance` (m/s), and each limit
/// is within 1 % of that by its load. The second one is for light wheels, which do not move the chassis. `is_steady`:
/// the velocity has hardly changed since the last update of the limits, see [`friction_limit_shortfall`].
pub(crate) fn are_limits_converged(car: &CarRows<'_>, bounds: ImpulseBounds, is_steady: bool, tolerance: f32) -> bool {
    let (mut impulse, mut are_close) = (SpatialVector::default(), true);
    for rows in StepWheels::<ManyGroups>::rows(car) {
        let shortfall = friction_limit_shortfall(rows, bounds, is_steady);
        are_close &= !F32x4::any(F32x4::splat(FRICTION_LIMIT_TOLERANCE).less(shortfall.abs()));
        // Impulses that the tyres lack (N s).
        let [longitudinal, lateral] = rows.solution.tyre_impulse.map(|x| x * shortfall);
        impulse = impulse + (rows.contact.forward * longitudinal + rows.contact.side * lateral).sum();
    }
    are_close && velocity_norm(car.response(impulse)) <= tolerance
}

/// Returns the relative shortfall of the friction limit of each sliding tyre, `L / P − 1`. P is the sum of its present
/// longitudinal and lateral limits, L the sum of both limits by the load. Positive values mean that the present limit
/// is too small. Tyres that do not slide have 0, except as below.
///
/// `is_steady` means that the velocity has hardly changed since the last update. Tyres whose difference L − P changed
/// its sign in that update then count as 0: the solution lies between both velocities, and `f32` resolves a load on
/// metal no further.
///
/// Within a pyramid (separate limits of both directions), tyres with a load but a limit P of zero count as 1, also if
/// they do not slide: their patches would deflect without a force. Within a cone such tyres obtain a limit when they
/// begin to slide. If they counted there, loads that appear and vanish between iterations would have no solution.
fn friction_limit_shortfall(rows: &WheelRows, bounds: ImpulseBounds, is_steady: bool) -> F32x4 {
    let limit = rows.friction_limit();
    // Present limits P and limits by the load L, sums of both directions (N s).
    let [bound, load_limit] = [rows.solution.friction_bound[0] + rows.solution.friction_bound[1], limit[0] + limit[1]];
    let (zero, one) = (F32x4::default(), F32x4::splat(1.0));
    // Tyres with a load but a present limit of zero, in a pyramid only.
    let has_zero_bound =
        if bounds == ImpulseBounds::Pyramid { !zero.less(bound) & zero.less(load_limit) } else { Mask32x4::default() };
    // Relative shortfall of the limit.
    let shortfall =
        F32x4::select(has_zero_bound, one, (load_limit - bound) / bound.at_least(F32x4::splat(f32::MIN_POSITIVE)));
    // Tyres that count as converged because their difference changed its sign.
    let is_bracketed = if is_steady { rows.solution.bound_relaxation.sign_changed } else { Mask32x4::default() };
    shortfall.masked((rows.solution.sliding | has_zero_bound) & !is_bracketed)
}
