//! Sequential impulses over the contact points of a group, with extrapolation where they converge slowly.
//!
//! A light hull of mass m between a heavy hull of mass M and the ground, or between two heavy hulls, transmits the impulse of the
//! heavy one in shares of about m / M per pass. Successive changes of all impulses then have nearly the same direction and a
//! ratio just below 1. The sum of all later changes follows from the geometric series (Aitken's process). Without extrapolation,
//! a hull of 1.1 t that falls on a crate of 2 kg enters the crate and presses it into the ground, and then rises as the overlap
//! is corrected.

use skidpad_core::Vec3;

use super::ContactPoint;
use crate::chassis::Chassis;
use crate::hitch_impulses::HitchConstraint;
use crate::hull::{MAX_IMPULSE_PASSES, VELOCITY_TOLERANCE_MPS};

/// Mass ratio below which no extrapolation takes place. [`MAX_IMPULSE_PASSES`] passes then leave less than a tenth of the slow error, and
/// extrapolation would add rounding errors and cost time in pile-ups.
const MIN_EXTRAPOLATION_MASS_RATIO: f32 = 25.0;

/// Maximum number of extrapolations if passes alone do not converge. Some tens are typical; a stack of 1 kg crates under a body
/// of 1.4 t takes 200.
const MAX_EXTRAPOLATIONS: usize = 256;

/// Number of passes before each extrapolation, in which fast errors decay.
const PASSES_PER_EXTRAPOLATION: usize = 8;

/// Largest ratio of successive changes that is used for extrapolation; f32 impulses cannot resolve slower convergence.
const MAX_CONVERGENCE_RATIO: f32 = 0.999;

/// Factor on the extrapolated share after an extrapolation that went too far. Friction changes direction and points separate on
/// the way.
const EXTRAPOLATION_SHRINK_FACTOR: f32 = 0.25;
/// Factor by which the share grows after each accepted extrapolation, up to 1.
const EXTRAPOLATION_GROWTH_FACTOR: f32 = 2.0;

/// Change of velocity by all later passes below which no extrapolation is made, m/s.
const MIN_EXTRAPOLATED_CHANGE_MPS: f32 = 1e-4;

/// Relative accuracy of a normal impulse: about two units in the last place. Smaller changes are rounding.
const IMPULSE_ROUNDING_RATIO: f32 = 2.5e-7;

/// Solves the `points` of a group by sequential impulses: first normal impulses alone, then with friction. Friction against the
/// rotations that single points cause before the others respond would throw cars sideways.
pub(super) fn solve_group(points: &mut [ContactPoint], links: &mut [HitchConstraint], chassis: &mut [Chassis]) {
    for rub in [false, true] {
        let settles = (0..MAX_IMPULSE_PASSES).any(|_| !run_pass(points, links, chassis, rub));
        if !settles && has_large_mass_ratio(points, chassis) {
            extrapolate(points, links, chassis, rub);
        }
    }
}

/// Runs one pass over all points, with friction if `rub` is set. Returns true if the velocity of any point changes.
fn run_pass(points: &mut [ContactPoint], links: &mut [HitchConstraint], chassis: &mut [Chassis], rub: bool) -> bool {
    let mut changed = false;
    for point in points {
        changed |= point.solve_normal(chassis, links);
        changed |= rub && point.solve_friction(chassis, links);
    }
    changed
}

/// Returns true if the masses of the hulls with these `points` differ by more than the factor [`MIN_EXTRAPOLATION_MASS_RATIO`].
fn has_large_mass_ratio(points: &[ContactPoint], chassis: &[Chassis]) -> bool {
    let hulls = points.iter().flat_map(|point| point.cars).filter_map(|car| chassis.get(car as usize));
    let [least, most] = hulls
        .fold([f32::INFINITY, 0.0], |[least, most], hull| [least.min(hull.inverse_mass), most.max(hull.inverse_mass)]);
    most > MIN_EXTRAPOLATION_MASS_RATIO * least
}

/// Alternates passes and extrapolations until nothing changes. Reverts an extrapolation after which the passes change more than
/// before.
fn extrapolate(points: &mut [ContactPoint], links: &mut [HitchConstraint], chassis: &mut [Chassis], rub: bool) {
    let (mut least, mut share) = (f32::INFINITY, 1.0f32);
    for _ in 0..MAX_EXTRAPOLATIONS {
        let Some([last, change]) = run_passes(points, links, chassis, rub) else { return };
        if change > least {
            points.iter_mut().for_each(|point| point.set_impulse(point.saved_impulse, chassis, links));
            (least, share) = (f32::INFINITY, EXTRAPOLATION_SHRINK_FACTOR * share);
            continue;
        }
        let rate = (change / last).min(MAX_CONVERGENCE_RATIO);
        let to_come = rate / (1.0 - rate);
        if !points.iter().any(|point| point.velocity_change(chassis) * to_come > MIN_EXTRAPOLATED_CHANGE_MPS) {
            return;
        }
        for point in points.iter_mut() {
            point.saved_impulse = point.impulse();
            point.set_impulse(
                point.saved_impulse + (point.saved_impulse - point.last_impulse) * (share * to_come),
                chassis,
                links,
            );
        }
        (least, share) = (change, (EXTRAPOLATION_GROWTH_FACTOR * share).min(1.0));
    }
    if run_passes(points, links, chassis, rub).is_some_and(|[_, change]| change > least) {
        points.iter_mut().for_each(|point| point.set_impulse(point.saved_impulse, chassis, links));
    }
}

/// Runs the passes before the next extrapolation. Returns the norm of the change of all impulses in each of the last two passes,
/// N s, or `None` if they have converged.
fn run_passes(
    points: &mut [ContactPoint],
    links: &mut [HitchConstraint],
    chassis: &mut [Chassis],
    rub: bool,
) -> Option<[f32; 2]> {
    let mut changes = [0.0; 2];
    for _ in 0..PASSES_PER_EXTRAPOLATION {
        points.iter_mut().for_each(|point| point.last_impulse = point.impulse());
        run_pass(points, links, chassis, rub);
        if !points.iter().any(|point| point.velocity_change(chassis) > VELOCITY_TOLERANCE_MPS) {
            return None;
        }
        let squares: f32 = points.iter().map(|point| (point.impulse() - point.last_impulse).length_squared()).sum();
        changes = [changes[1], squares.sqrt()];
    }
    Some(changes)
}

impl ContactPoint {
    /// Returns the total impulse of the point so far, N s.
    fn impulse(&self) -> Vec3 {
        self.normal * self.normal_impulse + self.friction_impulse
    }

    /// Sets the total impulse of the point to `impulse` (N s), limited to compression and to the friction cone.
    fn set_impulse(&mut self, impulse: Vec3, chassis: &mut [Chassis], links: &mut [HitchConstraint]) {
        let (before, along) = (self.impulse(), impulse.dot(self.normal));
        self.normal_impulse = along.max(0.0);
        self.friction_impulse = (impulse - self.normal * along).clamp_length_max(self.friction * self.normal_impulse);
        self.apply(chassis, links, self.impulse() - before);
    }

    /// Returns the change of velocity of the lighter hull by this point in the last pass, m/s; 0 if the change is rounding.
    fn velocity_change(&self, chassis: &[Chassis]) -> f32 {
        let hulls = self.cars.iter().filter_map(|car| chassis.get(*car as usize));
        let lightest = hulls.map(|hull| hull.inverse_mass).fold(0.0, f32::max);
        let change = (self.impulse() - self.last_impulse).length();
        if change > IMPULSE_ROUNDING_RATIO * self.normal_impulse { change * lightest } else { 0.0 }
    }
}
