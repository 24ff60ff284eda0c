//! Sequential impulses over the contact points of a group, with extrapolation where they converge slowly.
//!
//! A light hull of mass m between a heavy hull of mass M and the ground, or between two heavy hulls, transmits the
//! impulse of the heavy one in shares of about m / M per pass. Successive changes of all impulses then have nearly the
//! same direction and a ratio just below 1. The sum of all later changes follows from the geometric series (Aitken's
//! process). Without extrapolation, a hull of 1.1 t that falls on a crate of 2 kg enters the crate and presses it into
//! the ground, and then rises as the overlap is corrected.

use skidpad_core::Vec3;

use super::ContactPoint;
use crate::chassis::Chassis;
use crate::hitch_impulses::HitchConstraint;
use crate::hull::{MAX_IMPULSE_PASSES, VELOCITY_TOLERANCE_MPS};

/// Mass ratio below which no extrapolation takes place. [`MAX_IMPULSE_PASSES`] passes then leave less than a tenth of
/// the slow error, and extrapolation would add rounding errors and cost time in pile-ups.
const MIN_EXTRAPOLATION_MASS_RATIO: f32 = 25.0;

/// Maximum number of extrapolations if passes alone do not converge. Some tens are typical; a stack of 1 kg crates
/// under a body of 1.4 t takes 200.
const MAX_EXTRAPOLATIONS: usize = 256;

/// Number of passes before each extrapolation, in which fast errors decay.
const PASSES_PER_EXTRAPOLATION: usize = 8;

/// Largest ratio of successive changes that is used for extrapolation; f32 impulses cannot resolve slower convergence.
const MAX_CONVERGENCE_RATIO: f32 = 0.999;

/// Factor on the extrapolated share after an extrapolation that went too far. Friction changes direction and points
/// separate on the way.
const EXTRAPOLATION_SHRINK_FACTOR: f32 = 0.25;
/// Factor by which the share grows after each accepted extrapolation, up to 1.
const EXTRAPOLATION_GROWTH_FACTOR: f32 = 2.0;

/// Change of velocity by all later passes below which no extrapolation is made, m/s.
const MIN_EXTRAPOLATED_CHANGE_MPS: f32 = 1e-4;

/// Relative accuracy of a normal impulse: about two units in the last place. Smaller changes are rounding.
const IMPULSE_ROUNDING_RATIO: f32 = 2.5e-7;

/// Solves the `points` of a group (hulls connected by contacts or hitches) by sequential impulses, starting from the
/// impulses they have: first normal impulses alone, then normal impulses and friction, each for at most
/// [`MAX_IMPULSE_PASSES`] passes. If the passes of one of the two do not converge and the masses differ strongly
/// ([`has_large_mass_ratio`]), extrapolated passes follow. Normal impulses come first because friction against the
/// rotations that single points cause before the others respond would throw cars sideways. Changes the velocities of
/// `chassis`, the impulses of `points` and those of the `hitches`.
pub(super) fn solve_group(points: &mut [ContactPoint], hitches: &mut [HitchConstraint], chassis: &mut [Chassis]) {
    for with_friction in [false, true] {
        let has_converged = (0..MAX_IMPULSE_PASSES).any(|_| !run_pass(points, hitches, chassis, with_friction));
        if !has_converged && has_large_mass_ratio(points, chassis) {
            extrapolate(points, hitches, chassis, with_friction);
        }
    }
}

/// Runs one pass over all points in order: the normal impulse of each point and, if `with_friction` is set, its
/// friction. Returns true if some impulse changes the velocity of a hull by more than [`VELOCITY_TOLERANCE_MPS`].
fn run_pass(
    points: &mut [ContactPoint],
    hitches: &mut [HitchConstraint],
    chassis: &mut [Chassis],
    with_friction: bool,
) -> bool {
    let mut has_changed = false;
    for point in points {
        has_changed |= point.solve_normal(chassis, hitches);
        has_changed |= with_friction && point.solve_friction(chassis, hitches);
    }
    has_changed
}

/// Returns true if the largest mass of the hulls with these `points` is more than [`MIN_EXTRAPOLATION_MASS_RATIO`]
/// times the smallest. The ground does not count.
fn has_large_mass_ratio(points: &[ContactPoint], chassis: &[Chassis]) -> bool {
    let hulls = points.iter().flat_map(|point| point.hulls).filter_map(|hull| chassis.get(hull as usize));
    // Smallest and largest inverse mass, 1/kg.
    let [min_inverse_mass, max_inverse_mass] =
        hulls.fold([f32::INFINITY, 0.0], |[min_inverse_mass, max_inverse_mass], hull| {
            [min_inverse_mass.min(hull.inverse_mass), max_inverse_mass.max(hull.inverse_mass)]
        });
    max_inverse_mass > MIN_EXTRAPOLATION_MASS_RATIO * min_inverse_mass
}

/// Alternates [`PASSES_PER_EXTRAPOLATION`] passes with extrapolations of all impulses, until the passes converge, the
/// expected further change is below [`MIN_EXTRAPOLATED_CHANGE_MPS`], or [`MAX_EXTRAPOLATIONS`] are used up.
///
/// The ratio of the last two changes is r, at most [`MAX_CONVERGENCE_RATIO`]. Each impulse is advanced by its last
/// change times `step_share` r / (1 − r) (Aitken). If the passes after an extrapolation change more than those before
/// it, the extrapolation is reverted to `saved_impulse` and the share shrinks by [`EXTRAPOLATION_SHRINK_FACTOR`];
/// otherwise the share grows by [`EXTRAPOLATION_GROWTH_FACTOR`] up to 1. The last extrapolation is checked by one more
/// series of passes. `with_friction`: whether friction is solved.
fn extrapolate(
    points: &mut [ContactPoint],
    hitches: &mut [HitchConstraint],
    chassis: &mut [Chassis],
    with_friction: bool,
) {
    // Change in the pass before the last extrapolation, N s (infinite if there is none to revert), and applied share of
    // the extrapolated sum.
    let (mut accepted_change, mut step_share) = (f32::INFINITY, 1.0f32);
    for _ in 0..MAX_EXTRAPOLATIONS {
        let Some([previous_change, change]) = run_passes(points, hitches, chassis, with_friction) else { return };
        if change > accepted_change {
            // Reverts the last extrapolation.
            points.iter_mut().for_each(|point| point.set_impulse(point.saved_impulse, chassis, hitches));
            (accepted_change, step_share) = (f32::INFINITY, EXTRAPOLATION_SHRINK_FACTOR * step_share);
            continue;
        }
        let change_ratio = (change / previous_change).min(MAX_CONVERGENCE_RATIO);
        // Sum of all later changes, as a multiple of the last change.
        let remaining_factor = change_ratio / (1.0 - change_ratio);
        if !points.iter().any(|point| point.velocity_change(chassis) * remaining_factor > MIN_EXTRAPOLATED_CHANGE_MPS) {
            return;
        }
        for point in points.iter_mut() {
            point.saved_impulse = point.impulse();
            point.set_impulse(
                point.saved_impulse + (point.saved_impulse - point.last_impulse) * (step_share * remaining_factor),
                chassis,
                hitches,
            );
        }
        (accepted_change, step_share) = (change, (EXTRAPOLATION_GROWTH_FACTOR * step_share).min(1.0));
    }
    // Reverts the last extrapolation if the passes after it change more than before.
    if run_passes(points, hitches, chassis, with_friction).is_some_and(|[_, change]| change > accepted_change) {
        points.iter_mut().for_each(|point| point.set_impulse(point.saved_impulse, chassis, hitches));
    }
}

/// Runs up to [`PASSES_PER_EXTRAPOLATION`] passes, with friction if `with_friction` is set. Returns the norm of the
/// change of all impulses in each of the last two passes, N s, the earlier one first. Ends early with `None` after a
/// pass that changes no velocity by more than [`VELOCITY_TOLERANCE_MPS`]. In both cases `last_impulse` of each point is
/// its impulse before the last pass.
fn run_passes(
    points: &mut [ContactPoint],
    hitches: &mut [HitchConstraint],
    chassis: &mut [Chassis],
    with_friction: bool,
) -> Option<[f32; 2]> {
    // Norm of the change in the last pass but one and in the last pass, N s.
    let mut changes = [0.0; 2];
    for _ in 0..PASSES_PER_EXTRAPOLATION {
        points.iter_mut().for_each(|point| point.last_impulse = point.impulse());
        run_pass(points, hitches, chassis, with_friction);
        if !points.iter().any(|point| point.velocity_change(chassis) > VELOCITY_TOLERANCE_MPS) {
            return None;
        }
        let change_squared: f32 =
            points.iter().map(|point| (point.impulse() - point.last_impulse).length_squared()).sum();
        changes = [changes[1], change_squared.sqrt()];
    }
    Some(changes)
}

impl ContactPoint {
    /// Returns the total impulse of the point so far, N s.
    fn impulse(&self) -> Vec3 {
        self.normal * self.normal_impulse + self.friction_impulse
    }

    /// Replaces the total impulse of the point by `impulse` (N s): the normal part is clamped to ≥ 0, the tangential
    /// part to friction coefficient times normal impulse. Applies the difference to the hulls and solves the `hitches`.
    fn set_impulse(&mut self, impulse: Vec3, chassis: &mut [Chassis], hitches: &mut [HitchConstraint]) {
        let (old_impulse, normal_part) = (self.impulse(), impulse.dot(self.normal));
        self.normal_impulse = normal_part.max(0.0);
        self.friction_impulse =
            (impulse - self.normal * normal_part).clamp_length_max(self.friction * self.normal_impulse);
        self.apply_impulse(chassis, hitches, self.impulse() - old_impulse);
    }

    /// Returns the change of velocity of the lighter hull by this point in the last pass, m/s: change of impulse times
    /// the larger inverse mass. Returns 0 if the change of impulse is within the rounding of the normal impulse.
    fn velocity_change(&self, chassis: &[Chassis]) -> f32 {
        let hulls = self.hulls.iter().filter_map(|hull| chassis.get(*hull as usize));
        let max_inverse_mass = hulls.map(|hull| hull.inverse_mass).fold(0.0, f32::max);
        let impulse_change = (self.impulse() - self.last_impulse).length();
        if impulse_change > IMPULSE_ROUNDING_RATIO * self.normal_impulse {
            impulse_change * max_inverse_mass
        } else {
            0.0
        }
    }
}
