//! What a car ought to turn by, and the moment that makes it.

use crate::assists::approach;
use crate::assists::parameters::StabilityControl;
use crate::math;

/// Motion of a car in its plane, ISO 8855 signs.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Planar {
    /// Along and across the vehicle, m/s.
    pub velocity: [f32; 2],
    /// rad/s.
    pub yaw_rate: f32,
}

impl StabilityControl {
    /// Yaw rate a driver who steers by `curvature` (1/m, what the wheels would turn by at a crawl) wants, rad/s.
    ///
    /// The linear bicycle's, `v κ / (1 + K v² / L)` with the understeer gradient K over the wheelbase L, no more than grip
    /// allows, `a / v`; less, where the car already slides by more than its largest sideslip angle, by what brings it back.
    pub(crate) fn wanted_yaw_rate(&self, curvature: f32, wheelbase: f32, car: &Planar) -> f32 {
        let [along, across] = car.velocity;
        let speed = along.abs().max(1.0);
        let linear = along * curvature / (1.0 + self.understeer * along * along / wheelbase);
        let most = self.largest_acceleration / speed;
        let sideslip = math::atan(across / speed);
        let beyond = sideslip - sideslip.clamp(-self.largest_sideslip, self.largest_sideslip);
        linear.clamp(-most, most) + beyond / SIDESLIP_RESPONSE
    }

    /// Share of its work the assist does at `speed` m/s.
    pub(crate) fn share_at(&self, speed: f32) -> f32 {
        use crate::lane::Lane;
        speed.smoothstep(self.fades_in[0], self.fades_in[1])
    }

    /// By how much a yaw rate lies beyond the wanted one and its tolerance, rad/s.
    pub(crate) fn excess(&self, yaw_rate: f32, wanted: f32) -> f32 {
        let off = yaw_rate - wanted;
        off - off.clamp(-self.tolerance, self.tolerance)
    }

    /// Yaw moment that ends an `excess` (rad/s) of a car with a yaw inertia of `inertia` kg m², N m.
    pub(crate) fn moment(&self, excess: f32, inertia: f32, dt: f32) -> f32 {
        -inertia * excess * approach(self.response, dt) / dt
    }
}

/// Time within which too large a sideslip angle is to go back, s.
const SIDESLIP_RESPONSE: f32 = 0.4;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wanted_yaw_rate_is_the_bicycles_within_grip() {
        let stability =
            StabilityControl { understeer: 0.002, largest_acceleration: 8.0, ..StabilityControl::default() };
        let at = |speed: f32, across: f32| Planar { velocity: [speed, across], yaw_rate: 0.0 };
        let slow = stability.wanted_yaw_rate(0.02, 2.5, &at(10.0, 0.0));
        assert!((slow - 10.0 * 0.02 / (1.0 + 0.002 * 100.0 / 2.5)).abs() < 1e-6, "{slow}");
        assert_eq!(stability.wanted_yaw_rate(0.2, 2.5, &at(20.0, 0.0)), 0.4, "a / v");
        assert_eq!(stability.wanted_yaw_rate(-0.2, 2.5, &at(20.0, 0.0)), -0.4);
        assert!(
            stability.wanted_yaw_rate(0.2, 2.5, &at(20.0, -10.0)) < 0.0,
            "in a spin to the left the car is to turn back"
        );
    }
}
