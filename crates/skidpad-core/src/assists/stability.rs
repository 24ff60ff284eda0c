//! Reference yaw rate of a car, and the moment that corrects deviations.

use crate::assists::first_order_share;
use crate::assists::parameters::StabilityControl;
use skidpad_simd::lane::Lane;
use skidpad_simd::math;

/// Motion of a car in its plane, ISO 8855 signs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlanarMotion {
    /// Longitudinal and lateral velocity in the vehicle frame, m/s.
    pub velocity: [f32; 2],
    /// Yaw rate, rad/s.
    pub yaw_rate: f32,
}

/// Steering geometry and axle slip of a car for stability control.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SteeringGeometry {
    /// Curvature of the path at very low speed by the driver's steering, 1/m.
    pub curvature: f32,
    /// Distance between the steered axle and the unsteered one, or the mean of the unsteered ones, m, > 0.
    pub wheelbase: f32,
    /// Slip angles of the front and the rear axle, rad, relative to their steering angles and the geometry of the turn;
    /// positive if the axle slides to the left.
    pub slips: [f32; 2],
}

impl PlanarMotion {
    /// Returns the slip angle of an axle `position` m in front of the centre of mass that is steered by `steer_angle`
    /// rad, rad: `atan((v_y + x r) / |v_x|) − steer_angle`. |v_x| is at least 1 m/s.
    pub fn slip_angle(&self, position: f32, steer_angle: f32) -> f32 {
        let [forward_speed, lateral_speed] = self.velocity;
        math::atan((lateral_speed + position * self.yaw_rate) / forward_speed.abs().max(1.0)) - steer_angle
    }
}

impl StabilityControl {
    /// Returns the excess of the yaw rate, which has to be removed, rad/s (positive to the left); 0 while the car turns
    /// as steered.
    ///
    /// A driver who steers a curvature κ demands the linear bicycle's yaw rate `v κ / (1 + K v² / L)`, with the
    /// understeer gradient K and the wheelbase L. Limited by the largest lateral acceleration it is the allowed yaw
    /// rate; limited by three quarters of this acceleration it is the sliding yaw rate, which sliding front tyres still
    /// reach. Both limits use a speed of at least 1 m/s.
    ///
    /// The accepted range lies between the sliding yaw rate and the target yaw rate, and extends by `tolerance` beyond
    /// both. The target is the demanded yaw rate without limit. With a growing slip of the rear axle it falls to the
    /// allowed yaw rate. The excess is the part of the yaw rate outside this range, times a share of 0 to 1 by the
    /// slips of the axles.
    ///
    /// - A car that turns less is turned in only while its front tyres slide: at smaller slip they still build up their
    ///   force, and the yaw rate is about to rise. Tyres far beyond their peak lose force: at three quarters of the
    ///   largest lateral acceleration there is no correction. A sliding rear axle also prevents it: the correcting
    ///   brake is at the rear, where it costs side force that is used up.
    ///
    /// - A car that turns more is turned back only while its rear axle slides. The yaw rate is reduced to the allowed
    ///   one only if that axle slips by more than the largest sideslip angle. The target then also includes the rate
    ///   that reduces the slip. The sliding yaw rate remains accepted.
    pub(crate) fn yaw_rate_excess(&self, geometry: &SteeringGeometry, car: &PlanarMotion) -> f32 {
        let forward_speed = car.velocity[0];
        let [front_slip, rear_slip] = geometry.slips;
        let linear_yaw_rate = forward_speed * geometry.curvature
            / (1.0 + self.understeer_gradient * forward_speed * forward_speed / geometry.wheelbase);
        let max_yaw_rate = self.max_acceleration / forward_speed.abs().max(1.0);
        let allowed_yaw_rate = linear_yaw_rate.clamp(-max_yaw_rate, max_yaw_rate);
        // Yaw rate that sliding front tyres still reach, rad/s: one end of the accepted range.
        let sliding_yaw_rate = linear_yaw_rate
            .clamp(-SLIDING_ACCELERATION_SHARE * max_yaw_rate, SLIDING_ACCELERATION_SHARE * max_yaw_rate);
        let fade = |slip: f32, [start, end]: [f32; 2]| {
            slip.abs().smoothstep(start * self.max_sideslip, end * self.max_sideslip)
        };
        // Slip of the rear axle beyond the largest sideslip angle, rad.
        let excess_slip = rear_slip - rear_slip.clamp(-self.max_sideslip, self.max_sideslip);
        // Yaw rate that a car with this rear slip may have, rad/s: other end of the accepted range.
        let target_yaw_rate = linear_yaw_rate
            + (allowed_yaw_rate - linear_yaw_rate) * fade(rear_slip, YAW_TARGET_SLIP_RANGE)
            + excess_slip / SIDESLIP_TIME_CONSTANT_S;
        let (lower_yaw_rate, upper_yaw_rate) =
            (sliding_yaw_rate.min(target_yaw_rate), sliding_yaw_rate.max(target_yaw_rate));
        // Part of the yaw rate outside the accepted range, rad/s.
        let excess =
            car.yaw_rate - car.yaw_rate.clamp(lower_yaw_rate - self.tolerance, upper_yaw_rate + self.tolerance);
        // An excess with the sign of the yaw rate: the car turns too much.
        let is_oversteering = excess * car.yaw_rate > 0.0;
        let rear_share = fade(rear_slip, OVERSTEER_SLIP_RANGE);
        excess * if is_oversteering { rear_share } else { fade(front_slip, UNDERSTEER_SLIP_RANGE) * (1.0 - rear_share) }
    }

    /// Returns the share of its full effect that the assist has at `speed` m/s: 0 below its range of speeds (and
    /// backwards), smoothly to 1 above.
    pub(crate) fn effect_share(&self, speed: f32) -> f32 {
        speed.smoothstep(self.speed_range[0], self.speed_range[1])
    }

    /// Returns the yaw moment, N m, positive to the left, that removes an `excess` of the yaw rate (rad/s) of a car
    /// with a yaw `inertia` in kg m². The excess decays with the time constant of the assist in steps of `dt` s:
    /// `−I excess / (T + dt)`.
    pub(crate) fn corrective_moment(&self, excess: f32, inertia: f32, dt: f32) -> f32 {
        -inertia * excess * first_order_share(self.time_constant, dt) / dt
    }
}

/// Time constant for the reduction of too large a slip of the rear axle, s.
const SIDESLIP_TIME_CONSTANT_S: f32 = 0.4;

/// Slip of the front axle between whose bounds corrections of understeer fade in, as shares of the largest sideslip
/// angle.
const UNDERSTEER_SLIP_RANGE: [f32; 2] = [2.0, 3.0];
/// Slip of the rear axle between whose bounds corrections of oversteer fade in, as shares of the largest sideslip
/// angle.
const OVERSTEER_SLIP_RANGE: [f32; 2] = [0.5, 1.0];
/// Slip of the rear axle between whose bounds the target falls to the largest lateral acceleration, as shares of the
/// largest sideslip angle.
const YAW_TARGET_SLIP_RANGE: [f32; 2] = [1.0, 1.5];

/// Share of the largest lateral acceleration that sliding front tyres are expected to reach.
const SLIDING_ACCELERATION_SHARE: f32 = 0.75;

#[cfg(test)]
mod tests {
    use super::*;

    /// Accepts a yaw rate off by 0.05 rad/s, a sideslip angle of 0.1 rad and 8 m/s².
    const TEST_STABILITY: StabilityControl = StabilityControl {
        understeer_gradient: 0.002,
        max_acceleration: 8.0,
        max_sideslip: 0.1,
        tolerance: 0.05,
        time_constant: 0.1,
        slip: 0.15,
        speed_range: [4.0, 7.0],
    };

    /// Returns the excess of `yaw_rate` of a car with a wheelbase of 2.5 m that moves straight ahead with `speed`;
    /// `slips` are those of the front and the rear axle.
    fn excess(curvature: f32, speed: f32, yaw_rate: f32, slips: [f32; 2]) -> f32 {
        let car = PlanarMotion { velocity: [speed, 0.0], yaw_rate };
        TEST_STABILITY.yaw_rate_excess(&SteeringGeometry { curvature, wheelbase: 2.5, slips }, &car)
    }

    /// Checks the excess in both directions. Too fast by 0.15 rad/s, or too slow while the front axle slides: the
    /// difference from the bicycle's `v κ / (1 + K v² / L)` less the tolerance. Steered beyond grip: too slow below
    /// three quarters of `a / v`; too fast is accepted while the rear axle slips little more than the largest sideslip
    /// angle, and counts from three quarters of `a / v` at 1.5 times that angle.
    #[test]
    fn wanted_yaw_rate_is_the_bicycles_within_grip() {
        let linear = 10.0 * 0.02 / (1.0 + 0.002 * 100.0 / 2.5);
        for sign in [1.0, -1.0] {
            let signed_excess = |curvature: f32, speed: f32, yaw_rate: f32, [front, rear]: [f32; 2]| {
                sign * excess(sign * curvature, speed, sign * yaw_rate, [sign * front, sign * rear])
            };
            // Differences of numbers below 1 in f32.
            let assert_close =
                |found: f32, expected: f32| assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
            // Curvature, speed, yaw rate, slips of the front and the rear axle.
            assert_close(signed_excess(0.02, 10.0, linear + 0.15, [0.0, -0.1]), 0.1);
            assert_close(signed_excess(0.02, 10.0, linear - 0.15, [-0.3, 0.0]), -0.1);
            assert_close(signed_excess(0.2, 20.0, 0.2, [-0.3, 0.0]), 0.2 + 0.05 - 0.75 * 8.0 / 20.0);
            assert_close(signed_excess(0.2, 20.0, 0.6, [0.0, -0.12]), 0.0);
            assert_close(signed_excess(0.2, 20.0, 0.6, [0.0, -0.15]), 0.6 - 0.05 - 0.75 * 8.0 / 20.0);
        }
    }

    /// Checks that the geometry of a turn, tyres that build up their force, and a turn at the limit cause no
    /// correction.
    #[test]
    fn a_car_that_turns_as_steered_is_left_alone() {
        for (what, curvature, speed, yaw_rate, slips) in [
            ("a step of the steering before the car turns", 0.1, 10.0, 0.0, [-0.2, 0.0]),
            ("front tyres that slide past their peak", 0.23, 11.0, 0.58, [-0.45, -0.03]),
            ("steering taken back while the rear tyres grip", 0.0, 20.0, 0.4, [0.05, -0.05]),
            ("both axles slide on ice", 0.05, 20.0, 0.06, [-0.3, 0.1]),
            ("full lock at the limit of grip", 0.23, 11.0, 0.85, [-0.3, -0.09]),
            ("straight on", 0.0, 30.0, 0.0, [0.0, 0.0]),
        ] {
            assert_eq!(excess(curvature, speed, yaw_rate, slips), 0.0, "{what}");
        }
    }

    /// Checks `atan((v_y + x r) / v) − δ`: at very low speed no axle slips at any lock.
    #[test]
    fn axles_of_a_car_that_rolls_round_its_turning_axis_do_not_slip() {
        let (speed, lock, [front, rear]) = (3.0, 0.6f32, [1.2f32, -1.3f32]);
        let yaw_rate = speed * math::tan(lock) / (front - rear);
        let car = PlanarMotion { velocity: [speed, -rear * yaw_rate], yaw_rate };
        for (ahead, angle) in [(front, lock), (rear, 0.0)] {
            assert!(car.slip_angle(ahead, angle).abs() < 1e-6, "{ahead}: rounding");
        }
    }
}
