//! Steps of Newton's method on the chassis velocity, and how they are cut.

use crate::linear::{SpatialVector, Symmetric6};

/// A step is too long when the misfit along it has turned to more than this share of what it was.
const OVERSHOOT: f32 = 0.5;

/// Least share of the range in question that a look at a step takes off either end.
const LEAST_CUT: f32 = 0.1;

/// Of a velocity, m/s, turning at an arm of 1 m.
pub(crate) fn size(velocity: SpatialVector<f32>) -> f32 {
    let (linear, angular) = velocity.parts();
    linear.length().max(angular.length())
}

/// A change of the chassis velocity, and how far of it has been gone.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NewtonStep {
    change: SpatialVector<f32>,
    /// Share of it that has been gone.
    gone: f32,
    /// Misfit along it where it began.
    downhill: f32,
    /// Share that is known to be too little, and one that is too much, each with the misfit along it there.
    short: [f32; 2],
    far: Option<[f32; 2]>,
}

impl NewtonStep {
    /// The whole of `change` from where so much was `missing`.
    pub(crate) fn whole(change: SpatialVector<f32>, missing: SpatialVector<f32>) -> Self {
        let downhill = change.dot(missing);
        Self { change, gone: 1.0, downhill, short: [0.0, downhill], far: None }
    }

    /// The way to a better end of a step that went too far, if it did and is longer than `least` m/s, with the misfit and the
    /// system where it ended.
    ///
    /// With fixed limits the misfit along a step only falls, so that steps cut to where it is small lead to the answer.
    /// It falls ever steeper, where rows begin to press: its slope beyond finds the place, a secant alone does not. Either may
    /// stop next to where it began, so that some of the range goes with every look.
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
