//! Speed-dependent steering and counter-steering.

use crate::assists::parameters::{CounterSteer, SpeedSteering};
use skidpad_simd::lane::Lane;

/// Slip angle below which counter-steering fades out, rad. The mean is weighted by slip and would be undefined without any.
const MIN_SLIP_ANGLE_RAD: f32 = 2e-3;

impl SpeedSteering {
    /// Returns the shares of lock and rate that are left at `speed` m/s of either sign: 1 below the range of speeds, smoothly to the parameters'
    /// shares above.
    pub(crate) fn factors_at(&self, speed: f32) -> [f32; 2] {
        let fade = speed.abs().smoothstep(self.speed_range[0], self.speed_range[1]);
        self.factors.map(|share| 1.0 + (share - 1.0) * fade)
    }
}

/// Mean slip angle of a car's wheels, each weighted by its load and its absolute slip.
///
/// After Kester Maddock, "Vehicle Simulation with Bullet": the wheels with the largest slip determine the direction.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MeanSlip {
    /// Sum of weight times slip angle; weights are load times absolute slip, N rad.
    weighted_slip: f32,
    /// Sum of weight times steer ratio.
    steered_weight: f32,
    /// Sum of the weights.
    weights: f32,
    /// Sum of the loads, N.
    loads: f32,
}

impl MeanSlip {
    /// Adds both wheels of an axle: slip angles (rad), loads (N, times the share in which they roll), and the axle's steer ratio. Sums treat
    /// both sides alike, so that a mirrored car steers exactly mirrored.
    pub fn with_axle(self, slips: [f32; 2], loads: [f32; 2], steer_ratio: f32) -> Self {
        let weights = [0, 1].map(|i| loads[i] * slips[i].abs());
        Self {
            weighted_slip: self.weighted_slip + (weights[0] * slips[0] + weights[1] * slips[1]),
            steered_weight: self.steered_weight + steer_ratio * (weights[0] + weights[1]),
            weights: self.weights + (weights[0] + weights[1]),
            loads: self.loads + (loads[0] + loads[1]),
        }
    }

    /// Returns the angle that `counter_steer` adds to a demand of `demand` rad at a steering angle of `steer_angle` rad and a speed of `speed` m/s,
    /// rad: `gain` times the mean slip angle, within ± its largest angle, faded in over its range of speeds. Returns 0 without load.
    ///
    /// Steering changes the slip of the steered wheels, so the mean is that at the demanded angle: `δ = g (ᾱ − s (demand + δ − steer_angle))`, solved
    /// for δ, s the share of the weights on steered wheels.
    pub fn counter_steer_angle(&self, counter_steer: &CounterSteer, demand: f32, steer_angle: f32, speed: f32) -> f32 {
        let weights = self.weights + self.loads * MIN_SLIP_ANGLE_RAD;
        if weights <= 0.0 {
            return 0.0;
        }
        let (mean_slip, steered_share) = (self.weighted_slip / weights, self.steered_weight / weights);
        let angle = counter_steer.gain * (mean_slip + steered_share * (steer_angle - demand))
            / (1.0 + counter_steer.gain * steered_share.max(0.0));
        angle.clamp(-counter_steer.max_angle, counter_steer.max_angle)
            * speed.smoothstep(counter_steer.speed_range[0], counter_steer.speed_range[1])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEST_COUNTER_STEER: CounterSteer = CounterSteer { gain: 0.8, max_angle: 0.3, speed_range: [3.0, 6.0] };

    /// Checks row E23: no angle without slip, within the authority, into the slide.
    #[test]
    fn e23_counter_steer_is_zero_without_slip_and_bounded() {
        let mean_slip = |front: f32, rear: f32| {
            let mean = MeanSlip::default().with_axle([front; 2], [3e3; 2], 1.0);
            mean.with_axle([rear; 2], [3e3; 2], 0.0)
        };
        assert_eq!(MeanSlip::default().counter_steer_angle(&TEST_COUNTER_STEER, 0.1, 0.1, 20.0), 0.0);
        assert_eq!(mean_slip(0.0, 0.0).counter_steer_angle(&TEST_COUNTER_STEER, 0.1, 0.0, 20.0), 0.0);
        assert_eq!(
            mean_slip(0.0, -1.0).counter_steer_angle(&TEST_COUNTER_STEER, 0.0, 0.0, 20.0),
            -0.3,
            "the tail slides right: steer right"
        );
        assert_eq!(mean_slip(0.0, -1.0).counter_steer_angle(&TEST_COUNTER_STEER, 0.0, 0.0, 2.0), 0.0, "not at a crawl");
        let small = mean_slip(0.0, -0.2).counter_steer_angle(&TEST_COUNTER_STEER, 0.0, 0.0, 20.0);
        // The least slip reduces it by 2 %: the rear wheels carry half of the load.
        assert!((small + 0.16).abs() < 4e-3, "gain times the slip of the only wheels that slide: {small}");
    }

    #[test]
    fn shares_of_the_lock_fall_smoothly() {
        let steering = SpeedSteering { speed_range: [10.0, 30.0], factors: [0.25, 0.5] };
        assert_eq!(steering.factors_at(5.0), [1.0, 1.0]);
        assert_eq!(steering.factors_at(20.0), [0.625, 0.75]);
        assert_eq!(steering.factors_at(-40.0), [0.25, 0.5]);
    }
}
