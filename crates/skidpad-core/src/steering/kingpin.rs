//! Steering axis of a wheel, and the moment of the ground about it.

use crate::steering::parameters::Kingpin;
use bevy_math::Vec3;
use skidpad_simd::math;

/// Force and moment of the ground on a wheel at the centre of its contact, in tyre axes: x along the heading, y to the
/// left, z along the contact normal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct GroundForce {
    /// Force (N): longitudinal, lateral, load.
    pub force: Vec3,
    /// Aligning moment about the contact normal (N m), positive turns to the left.
    pub aligning: f32,
}

impl Kingpin {
    /// Returns the moment of `ground` about the steering axis of a wheel (N m), positive if it turns the wheel to the left.
    /// `side_sign` is 1 for a wheel on the left side, −1 for one on the right side; 0 for a wheel in the middle, whose
    /// axis lies in the plane of the car. `steer` is the road-wheel angle (rad), positive to the left.
    ///
    /// The centre of contact is behind the point where the axis meets the ground by the trail and outside of it by the
    /// scrub radius, in axes that turn with the wheel. The axis itself leans to the rear by the caster angle and inwards by
    /// the inclination, and does not turn. Camber is neglected.
    pub(crate) fn moment(&self, side_sign: f32, steer: f32, ground: &GroundForce) -> f32 {
        let tan = |angle: f32| {
            let (sin, cos) = math::sin_cos(angle);
            sin / cos
        };
        let axis = Vec3::new(-tan(self.caster), -side_sign * tan(self.inclination), 1.0).normalize();
        // Axes that turn with the wheel.
        let (sin, cos) = math::sin_cos(steer);
        let wheel_axis = Vec3::new(cos * axis.x + sin * axis.y, cos * axis.y - sin * axis.x, axis.z);
        let arm = Vec3::new(-self.trail, side_sign * self.scrub_radius, 0.0);
        let moment = arm.cross(ground.force) + Vec3::Z * ground.aligning;
        wheel_axis.dot(moment)
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "closed forms of tests may use the platform's functions")]
mod tests {
    use super::*;

    /// Forces of a wheel in a left turn with drive: 200 N forward, 1,000 N to the left, 4,000 N load, aligning moment of
    /// −20 N m.
    const GROUND: GroundForce = GroundForce { force: Vec3::new(200.0, 1000.0, 4000.0), aligning: -20.0 };

    /// Checks the parts of the moment for a vertical axis: lateral force times trail, longitudinal force times scrub
    /// radius, aligning moment. The load has no lever.
    #[test]
    fn a_vertical_axis_has_levers_of_trail_and_scrub_radius() {
        let kingpin = Kingpin { trail: 0.03, scrub_radius: 0.01, caster: 0.0, inclination: 0.0 };
        for (side_sign, expected) in [(1.0, -30.0 - 2.0 - 20.0), (-1.0, -30.0 + 2.0 - 20.0), (0.0, -50.0)] {
            let found = kingpin.moment(side_sign, 0.2, &GROUND);
            assert!((found - expected).abs() < 1e-4, "{side_sign}: {found}");
        }
    }

    /// A wheel on an inclined axis lifts the car when it is steered: the load turns it back by `N r sin σ sin δ`, with the
    /// scrub radius r and the inclination σ. Both wheels of an axle together have no moment straight ahead.
    #[test]
    fn load_centres_wheels_on_inclined_axes() {
        let kingpin = Kingpin { trail: 0.0, scrub_radius: 0.05, caster: 0.0, inclination: 0.2 };
        let load = GroundForce { force: Vec3::new(0.0, 0.0, 4000.0), aligning: 0.0 };
        for side_sign in [1.0, -1.0] {
            for steer in [-0.3f32, 0.0, 0.3] {
                let expected = -4000.0 * 0.05 * 0.2f32.sin() * steer.sin();
                let found = kingpin.moment(side_sign, steer, &load);
                assert!((found - expected).abs() < 1e-2, "{side_sign} {steer}: {found} {expected}");
            }
        }
        let caster = Kingpin { trail: 0.03, scrub_radius: 0.05, caster: 0.1, inclination: 0.2 };
        let sum = caster.moment(1.0, 0.0, &load) + caster.moment(-1.0, 0.0, &load);
        assert!(sum.abs() < 1e-3, "{sum}");
    }

    /// A mirrored wheel under mirrored forces has the opposite moment.
    #[test]
    fn mirrored_wheels_have_opposite_moments() {
        let kingpin = Kingpin { trail: 0.03, scrub_radius: -0.01, caster: 0.1, inclination: 0.2 };
        let mirrored = GroundForce { force: GROUND.force * Vec3::new(1.0, -1.0, 1.0), aligning: 20.0 };
        let [found, mirror] = [kingpin.moment(1.0, 0.15, &GROUND), kingpin.moment(-1.0, -0.15, &mirrored)];
        assert!((found + mirror).abs() < 1e-4, "{found} {mirror}");
    }
}
