//! How far the wheels of an axle toe out in a turn.

use crate::math;
use crate::wheel::parameters::Axle;

/// What that takes of an axle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ackermann {
    /// Share of the full condition times T / (2 L), track and distance to the axis that stays straight: k.
    k: f32,
    /// rad
    atan_k: f32,
    /// √(1 + k²)
    root: f32,
}

impl Ackermann {
    /// Of an axle with a `track`, m.
    pub(crate) fn of(axle: &Axle, track: f32) -> Self {
        let k = axle.ackermann * track / (2.0 * axle.turning_distance.abs().max(1e-3));
        Self { k, atan_k: math::atan(k), root: (1.0 + k * k).sqrt() }
    }

    /// Half the difference between right and left road-wheel angle for a `mean` angle, rad.
    ///
    /// With ε = this, full Ackermann asks cot(δ−ε) − cot(δ+ε) = T/L, which gives
    /// `2ε = atan k − asin(k cos 2δ / √(1+k²))`, k = T/(2L): exact, and the mean stays δ.
    pub(crate) fn spread(&self, mean: f32) -> f32 {
        if self.k == 0.0 {
            return 0.0;
        }
        let full = self.atan_k - math::asin(self.k * math::cos(2.0 * mean) / self.root);
        // The wheels toe out in a turn to either side: the inner one steers more.
        -0.5 * full
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Oracle 5.13: cot δo − cot δi = T / L, and the mean is what was asked.
    #[test]
    fn ackermann_is_exact_on_both_sides() {
        let axle = Axle { steer_ratio: 1.0, ackermann: 1.0, turning_distance: 2.654, ..Axle::default() };
        let ackermann = Ackermann::of(&axle, 1.575);
        for mean in [-0.6, -0.2, -0.01, 0.01, 0.2378, 0.6f32] {
            let spread = ackermann.spread(mean);
            let (left, right) = (mean - spread, mean + spread);
            let (outer, inner) = if mean > 0.0 { (right, left) } else { (-left, -right) };
            let difference = 1.0 / math::tan(outer) - 1.0 / math::tan(inner);
            assert!((difference - 1.575 / 2.654).abs() < 2e-3 / mean.abs(), "{mean}: {difference}");
            assert!(outer < inner);
        }
    }
}
