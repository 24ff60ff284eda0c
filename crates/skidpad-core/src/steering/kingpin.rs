//! Steering axis of a wheel, and the moment of the ground about it.

use crate::steering::parameters::Kingpin;
use bevy_math::Vec3;
use skidpad_simd::math;

/// Force and moment of the ground on a wheel at the centre of its contact, in axes of the wheel: x along its heading on
/// the ground, y to its left, z along the contact normal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct GroundForce {
    /// Force (N): longitudinal, lateral, load.
    pub force: Vec3,
    /// Aligning moment about the contact normal (N m), positive turns to the left.
    pub aligning: f32,
}

impl Kingpin {
    /// Returns the moment of `ground` about the steering axis of a wheel of `radius` (m) in N m, positive if it turns
    /// the wheel to the left. `side_sign` is 1 for a wheel on the left side, −1 for one on the right side; 0 for a
    /// wheel in the middle, whose axis lies in the plane of the car. `steer` is the rotation about the axis (rad),
    /// positive to the left.
    ///
    /// The wheel is a disc that turns about the inclined axis, so that it also leans. The ground acts at its lowest
    /// point; the moment of the load is then minus the load times the rise of the car per steering angle. The torque of
    /// drive shafts, and camber other than by steering, are not included.
    pub(crate) fn moment(&self, radius: f32, side_sign: f32, steer: f32, ground: &GroundForce) -> f32 {
        let tan = |angle: f32| {
            let (sin, cos) = math::sin_cos(angle);
            sin / cos
        };
        let axis = Vec3::new(-tan(self.caster), -side_sign * tan(self.inclination), 1.0).normalize();
        let (sin, cos) = math::sin_cos(steer);
        // Rotation about the axis (O. Rodrigues). The origin is the point where the axis meets the ground.
        let rotate = |v: Vec3| v * cos + axis.cross(v) * sin + axis * (axis.dot(v) * (1.0 - cos));
        let centre = rotate(Vec3::new(-self.trail, side_sign * self.scrub_radius, radius));
        let spin_axis = rotate(Vec3::Y);
        // From the centre to the lowest point of the disc.
        let to_contact = (spin_axis * spin_axis.z - Vec3::Z).normalize() * radius;
        let forward = spin_axis.cross(Vec3::Z).normalize();
        let left = Vec3::Z.cross(forward);
        let [longitudinal, lateral, load] = ground.force.to_array();
        let force = forward * longitudinal + left * lateral + Vec3::Z * load;
        let aligning = ground.aligning - self.pneumatic_trail * lateral;
        axis.dot((centre + to_contact).cross(force) + Vec3::Z * aligning)
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "closed forms of tests may use the platform's functions")]
mod tests {
    use super::*;
    use bevy_math::{DQuat, DVec3};

    /// Radius of the wheels, m.
    const RADIUS: f32 = 0.32;

    /// Forces of a wheel in a left turn with drive: 200 N forward, 1,000 N to the left, 4,000 N load, aligning moment
    /// of −20 N m.
    const GROUND: GroundForce = GroundForce { force: Vec3::new(200.0, 1000.0, 4000.0), aligning: -20.0 };

    /// Checks the parts of the moment for a vertical axis: lateral force times both trails, longitudinal force times
    /// scrub radius, aligning moment. The load has no lever.
    #[test]
    fn a_vertical_axis_has_levers_of_trail_and_scrub_radius() {
        let kingpin = Kingpin { trail: 0.03, scrub_radius: 0.01, pneumatic_trail: 0.02, ..Kingpin::default() };
        for (side_sign, expected) in [(1.0, -50.0 - 2.0 - 20.0), (-1.0, -50.0 + 2.0 - 20.0), (0.0, -70.0)] {
            let found = kingpin.moment(RADIUS, side_sign, 0.2, &GROUND);
            assert!((found - expected).abs() < 1e-4, "{side_sign}: {found}");
        }
    }

    /// Height of the wheel centre above the lowest point of the disc plus the fall of the centre, m: rise of the car
    /// when the wheel is steered, computed with 64-bit rotations by `steer` about the axis of a wheel on the left side.
    fn rise(kingpin: &Kingpin, steer: f64) -> f64 {
        let (caster, inclination) = (f64::from(kingpin.caster), f64::from(kingpin.inclination));
        let axis = DVec3::new(-caster.tan(), -inclination.tan(), 1.0).normalize();
        let rotation = DQuat::from_axis_angle(axis, steer);
        let arm = DVec3::new(-f64::from(kingpin.trail), f64::from(kingpin.scrub_radius), f64::from(RADIUS));
        let (centre, spin_axis) = (rotation * arm, rotation * DVec3::Y);
        // Radius of the disc seen from the side, below the centre.
        let below = f64::from(RADIUS) * (1.0 - spin_axis.z * spin_axis.z).sqrt();
        below - centre.z
    }

    /// The moment of the load is minus its work per angle: the numerical derivative of the rise, for axes with positive
    /// and negative scrub radius and an axis through the wheel centre.
    #[test]
    fn the_load_does_the_work_of_the_rise() {
        let load = GroundForce { force: Vec3::new(0.0, 0.0, 4000.0), aligning: 0.0 };
        let through_hub = -RADIUS * 0.2f32.tan();
        for (trail, scrub_radius, caster) in [(0.03, 0.05, 0.1), (0.05, -0.005, 0.07), (0.0, through_hub, 0.0)] {
            let kingpin = Kingpin { trail, scrub_radius, caster, inclination: 0.2, pneumatic_trail: 0.0 };
            for steer in [-0.5f32, -0.1, 0.0, 0.3, 0.5] {
                let step = 1e-4;
                let rises = [1.0, -1.0].map(|sign| rise(&kingpin, f64::from(steer) + sign * step));
                let expected = -4000.0 * (rises[0] - rises[1]) / (2.0 * step);
                let found = f64::from(kingpin.moment(RADIUS, 1.0, steer, &load));
                assert!((found - expected).abs() < 0.02, "{kingpin:?} {steer}: {found} {expected}");
            }
        }
    }

    /// A mirrored wheel under mirrored forces has the opposite moment.
    #[test]
    fn mirrored_wheels_have_opposite_moments() {
        let kingpin =
            Kingpin { trail: 0.03, scrub_radius: -0.01, caster: 0.1, inclination: 0.2, pneumatic_trail: 0.01 };
        let mirrored = GroundForce { force: GROUND.force * Vec3::new(1.0, -1.0, 1.0), aligning: 20.0 };
        let (found, mirror) =
            (kingpin.moment(RADIUS, 1.0, 0.15, &GROUND), kingpin.moment(RADIUS, -1.0, -0.15, &mirrored));
        assert!((found + mirror).abs() < 1e-4, "{found} {mirror}");
    }
}
