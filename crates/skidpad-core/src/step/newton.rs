//! Newton steps on the chassis velocity, and how they are shortened.

use crate::simd::linear::{SpatialVector, Symmetric6};

/// Overshoot limit: a step is too long if the misfit along it reverses to more than this share of its initial value.
const MAX_OVERSHOOT_SHARE: f32 = 0.5;

/// Smallest share of the remaining range that each cut removes at either end.
const MIN_CUT_SHARE: f32 = 0.1;

/// Returns the size of a velocity (m/s): the larger of the linear and the angular magnitude. Rotation counts at an arm
/// of 1 m.
pub(crate) fn velocity_norm(velocity: SpatialVector<f32>) -> f32 {
    let (linear, angular) = velocity.parts();
    linear.length().max(angular.length())
}

/// Newton step of the chassis velocity, and the share of it that has been applied.
///
/// Misfit: momentum by the row impulses minus momentum gained by the chassis (N s, N m s). Along `change` it is their dot product.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NewtonStep {
    /// Full Newton step (m/s, rad/s).
    change: SpatialVector<f32>,
    /// Share of `change` that has been applied.
    applied_share: f32,
    /// Misfit along `change` where the step began.
    initial_misfit: f32,
    /// Share known to be too small, with the misfit along `change` there.
    lower: [f32; 2],
    /// Share known to be too large, with the misfit along `change` there; `None` before a step went too far.
    upper: Option<[f32; 2]>,
}

impl NewtonStep {
    /// Creates the full step `change` (m/s, rad/s) from a point with the misfit `missing`. The full step counts as
    /// applied.
    pub(crate) fn full(change: SpatialVector<f32>, missing: SpatialVector<f32>) -> Self {
        // Misfit along the step at its start.
        let downhill = change.dot(missing);
        Self { change, applied_share: 1.0, initial_misfit: downhill, lower: [0.0, downhill], upper: None }
    }

    /// Returns the velocity change from the present end of the step to a better point of it, and stores the new applied
    /// share. `missing` and `system` are the misfit and the system matrix at the present end. Returns `None` if the
    /// misfit along the step is small enough there: the step neither went too far (misfit reversed to more than half of
    /// its initial value) nor was cut too short. Also returns `None` if the range between the known shares is at most
    /// `least` m/s wide.
    ///
    /// The new share is the larger of the secant between both known shares and, after an overshoot, the tangent at the
    /// far end. It is kept at least 10 % of the range away from both ends.
    ///
    /// The misfit along a step decreases monotonically if the limits are fixed. Steps cut to where it is small therefore lead
    /// to the solution. The misfit decreases faster where rows begin to press: the tangent at the far end finds that
    /// place, a secant alone does not. Both can stall next to the start of the range, so every cut removes some of it.
    pub(crate) fn shorten(
        &mut self,
        missing: SpatialVector<f32>,
        system: &Symmetric6,
        least: f32,
    ) -> Option<SpatialVector<f32>> {
        // Misfit along the step at its present end.
        let ahead = self.change.dot(missing);
        let enough = MAX_OVERSHOOT_SHARE * self.initial_misfit;
        // Whether the misfit has reversed by more than the limit.
        let too_far = ahead < -enough;
        if !too_far && (self.upper.is_none() || ahead <= enough) {
            return None;
        }
        let here = [self.applied_share, ahead];
        if ahead < 0.0 {
            self.upper = Some(here)
        } else {
            self.lower = here
        }
        // Shares that are too small and too large, each with its misfit.
        let (short, far) = (self.lower, self.upper?);
        let width = far[0] - short[0];
        if velocity_norm(self.change) * width <= least {
            return None;
        }
        let secant = short[0] + width * (short[1] / (short[1] - far[1]));
        let tangent =
            if too_far { self.applied_share + ahead / self.change.dot(system.mul_vector(self.change)) } else { secant };
        let range = [short[0] + MIN_CUT_SHARE * width, far[0] - MIN_CUT_SHARE * width];
        // New share, at a distance from both ends of the range.
        let kept = secant.max(tangent).max(range[0]).min(range[1]);
        let back = self.change * (kept - self.applied_share);
        self.applied_share = kept;
        Some(back)
    }
}
