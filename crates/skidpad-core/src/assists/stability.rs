//! Yaw rate a car ought to have, and the moment that corrects it.

use crate::assists::approach;
use crate::assists::parameters::StabilityControl;
use crate::lane::Lane;
use crate::math;

/// Motion of a car in its plane, ISO 8855 signs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planar {
    /// Along and across the vehicle, m/s.
    pub velocity: [f32; 2],
    /// rad/s.
    pub yaw_rate: f32,
}

/// Steering geometry of a car as stability control sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Steered {
    /// Curvature of the path at a crawl by the driver's steering, 1/m.
    pub curvature: f32,
    /// Distance between the axle that steers and the axle, or the mean of the axles, that follows, m, > 0.
    pub wheelbase: f32,
    /// Slip angles of the axle in front and of the axle behind, rad, beyond their steering angles and the geometry of the turn;
    /// positive where the axle slides to the left.
    pub slips: [f32; 2],
}

impl Planar {
    /// Returns the slip angle of an axle `ahead` m in front of the centre of mass that is steered by `angle` rad, rad.
    pub fn slip_angle(&self, ahead: f32, angle: f32) -> f32 {
        let [along, across] = self.velocity;
        math::atan((across + ahead * self.yaw_rate) / along.abs().max(1.0)) - angle
    }
}

impl StabilityControl {
    /// Returns the yaw rate that has to be taken from a car, rad/s; 0 while it turns as steered.
    ///
    /// A driver who steers by a curvature κ wants the linear bicycle's yaw rate `v κ / (1 + K v² / L)`, with the understeer gradient K
    /// over the wheelbase L, as far as the largest lateral acceleration allows.
    /// - A car that turns less is turned in only while its front tyres slide: below that they still build up their force, and the car
    ///   is on its way to what is wanted. Tyres far beyond their peak lose force: a car that reaches three quarters of the largest
    ///   lateral acceleration is left alone. So is a car whose rear axle slides, too: the brake that turns it in is behind, where it
    ///   costs side force that is used up.
    /// - A car that turns more is turned back only while its rear axle slides, and down to what is allowed only once that
    ///   slips by more than the largest sideslip angle; from there on, also by what brings the slip back, but never below three quarters
    ///   of what is allowed.
    pub(crate) fn excess(&self, steered: &Steered, car: &Planar) -> f32 {
        let along = car.velocity[0];
        let [front, rear] = steered.slips;
        let linear = along * steered.curvature / (1.0 + self.understeer * along * along / steered.wheelbase);
        let most = self.largest_acceleration / along.abs().max(1.0);
        let allowed = linear.clamp(-most, most);
        let expected = linear.clamp(-REACHED_WHILE_SLIDING * most, REACHED_WHILE_SLIDING * most);
        let share = |slip: f32, [from, to]: [f32; 2]| {
            slip.abs().smoothstep(from * self.largest_sideslip, to * self.largest_sideslip)
        };
        let beyond = rear - rear.clamp(-self.largest_sideslip, self.largest_sideslip);
        let back = linear + (allowed - linear) * share(rear, SLIDES_BACK) + beyond / SIDESLIP_RESPONSE;
        let (least, largest) = (expected.min(back), expected.max(back));
        let off = car.yaw_rate - car.yaw_rate.clamp(least - self.tolerance, largest + self.tolerance);
        let turns_more = off * car.yaw_rate > 0.0;
        let slides_behind = share(rear, SLIDES_BEHIND);
        off * if turns_more { slides_behind } else { share(front, SLIDES_IN_FRONT) * (1.0 - slides_behind) }
    }

    /// Share of its work the assist does at `speed` m/s.
    pub(crate) fn share_at(&self, speed: f32) -> f32 {
        speed.smoothstep(self.fades_in[0], self.fades_in[1])
    }

    /// Yaw moment that ends an `excess` (rad/s) of a car with a yaw inertia of `inertia` kg m², N m.
    pub(crate) fn moment(&self, excess: f32, inertia: f32, dt: f32) -> f32 {
        -inertia * excess * approach(self.response, dt) / dt
    }
}

/// Time within which too large a slip of the rear axle is to go back, s.
const SIDESLIP_RESPONSE: f32 = 0.4;

/// Slips between which an intervention fades in, as shares of the largest sideslip angle: of the front axle against too little
/// turning, of the rear axle against too much, and of the rear axle until the car is turned back to what the acceleration allows.
const SLIDES_IN_FRONT: [f32; 2] = [2.0, 3.0];
const SLIDES_BEHIND: [f32; 2] = [0.5, 1.0];
const SLIDES_BACK: [f32; 2] = [1.0, 1.5];

/// Share of the largest lateral acceleration that sliding front tyres are expected to reach.
const REACHED_WHILE_SLIDING: f32 = 0.75;

#[cfg(test)]
mod tests {
    use super::*;

    const OWN: StabilityControl = StabilityControl {
        understeer: 0.002,
        largest_acceleration: 8.0,
        largest_sideslip: 0.1,
        tolerance: 0.05,
        response: 0.1,
        slip: 0.15,
        fades_in: [4.0, 7.0],
    };

    fn excess(curvature: f32, speed: f32, yaw_rate: f32, slips: [f32; 2]) -> f32 {
        let car = Planar { velocity: [speed, 0.0], yaw_rate };
        OWN.excess(&Steered { curvature, wheelbase: 2.5, slips }, &car)
    }

    /// The bicycle's `v κ / (1 + K v² / L)` within `a / v`, either way.
    #[test]
    fn wanted_yaw_rate_is_the_bicycles_within_grip() {
        let linear = 10.0 * 0.02 / (1.0 + 0.002 * 100.0 / 2.5);
        for sign in [1.0, -1.0] {
            let of = |curvature: f32, speed: f32, yaw_rate: f32, [front, rear]: [f32; 2]| {
                sign * excess(sign * curvature, speed, sign * yaw_rate, [sign * front, sign * rear])
            };
            // Differences of numbers below 1 in 32 bits.
            let close = |found: f32, expected: f32| assert!((found - expected).abs() < 1e-6, "{found}, not {expected}");
            close(of(0.02, 10.0, linear + 0.15, [0.0, -0.1]), 0.1);
            close(of(0.02, 10.0, linear - 0.15, [-0.3, 0.0]), -0.1);
            close(of(0.2, 20.0, 0.2, [-0.3, 0.0]), 0.2 + 0.05 - 0.75 * 8.0 / 20.0);
            close(of(0.2, 20.0, 0.6, [0.0, -0.12]), 0.0);
            close(of(0.2, 20.0, 0.6, [0.0, -0.15]), 0.6 - 0.05 - 0.75 * 8.0 / 20.0);
        }
    }

    /// Neither the geometry of a turn, nor tyres that build up their force, nor a turn at the limit is a fault.
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

    /// `atan((v_y + x r) / v) − δ`: at a crawl no axle slips, whatever the lock.
    #[test]
    fn axles_of_a_car_that_rolls_round_its_turning_axis_do_not_slip() {
        let (speed, lock, [front, rear]) = (3.0, 0.6f32, [1.2f32, -1.3f32]);
        let yaw_rate = speed * math::tan(lock) / (front - rear);
        let car = Planar { velocity: [speed, -rear * yaw_rate], yaw_rate };
        for (ahead, angle) in [(front, lock), (rear, 0.0)] {
            assert!(car.slip_angle(ahead, angle).abs() < 1e-6, "{ahead}: rounding");
        }
    }
}
