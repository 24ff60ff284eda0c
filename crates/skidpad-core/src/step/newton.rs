//! Newton steps on the chassis velocity, and the adjustment of their applied share.

use skidpad_simd::linear::{SpatialVector, Symmetric6};

/// Overshoot limit: a step is too long if the misfit along it reverses to more than this share of its initial value.
const MAX_OVERSHOOT_SHARE: f32 = 0.5;

/// Smallest share of the remaining range that each cut removes at either end.
const MIN_CUT_SHARE: f32 = 0.1;

/// Returns the size of a velocity (m/s): the larger of the linear and the angular magnitude. Rotation counts at an arm
/// of 1 m.
pub fn velocity_norm(velocity: SpatialVector<f32>) -> f32 {
    let (linear, angular) = velocity.parts();
    linear.length().max(angular.length())
}

/// Newton step of the chassis velocity, and the share of this step that has been applied.
///
/// Misfit: momentum by the row impulses minus momentum gained by the chassis (N s, N m s). The misfit along the step is
/// the dot product of this difference and `change`.
#[derive(Clone, Copy, Debug, Default)]
pub struct NewtonStep {
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
    /// Creates the full step `change` (m/s, rad/s) from a point with `misfit`. The full step counts as applied.
    pub fn full(change: SpatialVector<f32>, misfit: SpatialVector<f32>) -> Self {
        // Misfit along the step at its start.
        let initial_misfit = change.dot(misfit);
        Self { change, applied_share: 1.0, initial_misfit, lower: [0.0, initial_misfit], upper: None }
    }

    /// Cuts a step that went too far, or extends one that was cut too short. `misfit` and the Newton matrix `system`
    /// belong to the present end of the step. Returns the velocity change from the present end to the new one, and
    /// stores the new applied share.
    ///
    /// Returns `None` if the present end is good enough: the misfit along the step is not reversed to more than half of
    /// its initial value and, after an earlier cut, is at most half of it. Also returns `None` if the range between the
    /// known shares is at most `min_width` m/s wide.
    ///
    /// The new share is the larger of the secant between both known shares and, after an overshoot, the tangent at the
    /// far end. It is kept at least 10 % of the range away from both ends.
    ///
    /// The misfit along a step decreases monotonically if the limits are fixed. Steps cut to where it is small
    /// therefore lead to the solution. The misfit decreases faster where rows begin to press: the tangent at the far
    /// end finds that place, a secant alone does not. Both can stall next to the start of the range, so every cut
    /// removes some of it.
    pub fn adjust_share(
        &mut self,
        misfit: SpatialVector<f32>,
        system: &Symmetric6,
        min_width: f32,
    ) -> Option<SpatialVector<f32>> {
        // Misfit along the step at its present end.
        let end_misfit = self.change.dot(misfit);
        let misfit_limit = MAX_OVERSHOOT_SHARE * self.initial_misfit;
        // Whether the misfit has reversed by more than the limit.
        let has_overshot = end_misfit < -misfit_limit;
        if !has_overshot && (self.upper.is_none() || end_misfit <= misfit_limit) {
            return None;
        }
        let end_point = [self.applied_share, end_misfit];
        if end_misfit < 0.0 {
            self.upper = Some(end_point)
        } else {
            self.lower = end_point
        }
        // Shares that are too small and too large, each with its misfit.
        let (lower, upper) = (self.lower, self.upper?);
        let width = upper[0] - lower[0];
        if velocity_norm(self.change) * width <= min_width {
            return None;
        }
        let secant = lower[0] + width * (lower[1] / (lower[1] - upper[1]));
        let tangent = if has_overshot {
            self.applied_share + end_misfit / self.change.dot(system.mul_vector(self.change))
        } else {
            secant
        };
        let allowed_range = [lower[0] + MIN_CUT_SHARE * width, upper[0] - MIN_CUT_SHARE * width];
        // New share, at a distance from both ends of the range.
        let new_share = secant.max(tangent).max(allowed_range[0]).min(allowed_range[1]);
        let correction = self.change * (new_share - self.applied_share);
        self.applied_share = new_share;
        Some(correction)
    }
}
