//! Newton steps on the chassis velocity, and how they are shortened.

use crate::linear::{SpatialVector, Symmetric6};

/// Overshoot limit: a step is too long if the misfit along it reverses to more than this share of its initial value.
const OVERSHOOT: f32 = 0.5;

/// Smallest share of the remaining range that each cut removes at either end.
const LEAST_CUT: f32 = 0.1;

/// Returns the size of a velocity (m/s). Rotation counts at an arm of 1 m.
pub(crate) fn size(velocity: SpatialVector<f32>) -> f32 {
    let (linear, angular) = velocity.parts();
    linear.length().max(angular.length())
}

/// Newton step of the chassis velocity, and the share of it that has been applied.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NewtonStep {
    change: SpatialVector<f32>,
    /// Share of `change` that has been applied.
    gone: f32,
    /// Misfit along `change` where the step began.
    downhill: f32,
    /// Share known to be too small, with the misfit along `change` there.
    short: [f32; 2],
    /// Share known to be too large, with the misfit along `change` there; `None` before a step went too far.
    far: Option<[f32; 2]>,
}

impl NewtonStep {
    /// Creates the full step `change` from a point with the misfit `missing`.
    pub(crate) fn whole(change: SpatialVector<f32>, missing: SpatialVector<f32>) -> Self {
        let downhill = change.dot(missing);
        Self { change, gone: 1.0, downhill, short: [0.0, downhill], far: None }
    }

    /// Returns the velocity change from the present end of a step to a better one. Returns `None` if the step neither
    /// went too far nor was cut too short, or if the remaining range is at most `least` m/s wide. `missing` and
    /// `system` are the misfit and the system matrix at the present end.
    ///
    /// With fixed limits the misfit along a step decreases monotonically. Steps cut to where it is small therefore lead
    /// to the solution. The misfit decreases faster where rows begin to press: the tangent at the far end finds that
    /// place, a secant alone does not. Both can stall next to the start of the range, so every cut removes some of it.
    pub(crate) fn shortened(
        &mut self,
        missing: SpatialVector<f32>,
        system: &Symmetric6,
        least: f32,
    ) -> Option<SpatialVector<f32>> {
        let ahead = self.change.dot(missing);
        let enough = OVERSHOOT * self.downhill;
        let too_far = ahead < -enough;
        if !too_far && (self.far.is_none() || ahead <= enough) {
            return None;
        }
        let here = [self.gone, ahead];
        if ahead < 0.0 {
            self.far = Some(here)
        } else {
            self.short = here
        }
        let (short, far) = (self.short, self.far?);
        let width = far[0] - short[0];
        if size(self.change) * width <= least {
            return None;
        }
        let secant = short[0] + width * (short[1] / (short[1] - far[1]));
        let tangent = if too_far { self.gone + ahead / self.change.dot(system.times(self.change)) } else { secant };
        let range = [short[0] + LEAST_CUT * width, far[0] - LEAST_CUT * width];
        let kept = secant.max(tangent).max(range[0]).min(range[1]);
        let back = self.change * (kept - self.gone);
        self.gone = kept;
        Some(back)
    }
}
