//! Steering axis of a wheel, and the moment of the ground about it.

use crate::steering::parameters::Kingpin;
use crate::wheel::parameters::Wheel;
use crate::wheel::state::WheelState;
use bevy_math::Vec3;
use skidpad_simd::math;

/// Force and moment of the ground on a wheel at the centre of its contact, in axes of the wheel: x along its heading on
/// the ground, y to its left, z along the contact normal.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct GroundForce {
    /// Force (N): longitudinal, lateral, load.
    pub force: Vec3,
    /// Aligning moment about the contact normal (N m), positive turns to the left.
    pub aligning: f32,
}

/// Pneumatic trail that [`Kingpin::moment_slope`] assumes at least, over the radius of the wheel (–). It is above that
/// of tyres in measurements, about a tenth.
const LARGE_PNEUMATIC_TRAIL: f32 = 0.15;

impl Kingpin {
    /// Returns the moment of the ground about the steering axis of `wheel` in the last step (N m), positive if it turns
    /// the wheel to the left. The pneumatic trail grows with the share of rolling, and changes its sign in reverse.
    pub(crate) fn wheel_moment(&self, wheel: &Wheel, state: &WheelState) -> f32 {
        let [longitudinal, lateral] = state.tyre;
        let direction = if state.rolling_speed < 0.0 { -state.rolling } else { state.rolling };
        let aligning = state.aligning - self.pneumatic_trail * direction * lateral;
        let ground = GroundForce { force: Vec3::new(longitudinal, lateral, state.load), aligning };
        self.moment(wheel.radius, -wheel.side.outward_sign(), state.steer, &ground)
    }

    /// Returns an upper estimate of how much the moment about the steering axis falls per angle of a wheel that turns
    /// (N m/rad), for a tyre with the lateral slip stiffness `tyre_stiffness` (N per unit slip): stiffness times
    /// mechanical and pneumatic trail. For dry friction, which has no slip stiffness, it is no upper estimate.
    pub(crate) fn moment_slope(&self, radius: f32, tyre_stiffness: f32) -> f32 {
        tyre_stiffness * (self.trail.abs() + self.pneumatic_trail.abs().max(LARGE_PNEUMATIC_TRAIL * radius))
    }

    /// Returns the moment of `ground` about the steering axis of a wheel of `radius` (m) in N m, positive if it turns
    /// the wheel to the left. `side_sign` is 1 for a wheel on the left side, −1 for one on the right side; 0 for a
    /// wheel in the middle, whose axis lies in the plane of the car. `steer` is the rotation about the axis (rad),
    /// positive to the left.
    ///
    /// The wheel is a disc that turns about the inclined axis, so that it also leans. The ground acts at its lowest
    /// point; the moment of the load is then minus the load times the rise of the car per steering angle. The torque of
    /// drive shafts, and camber other than by steering, are not included.
    fn moment(&self, radius: f32, side_sign: f32, steer: f32, ground: &GroundForce) -> f32 {
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
        axis.dot((centre + to_contact).cross(force) + Vec3::Z * ground.aligning)
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

    /// Checks the parts of the moment for a vertical axis: lateral force times trail, longitudinal force times scrub
    /// radius, aligning moment. The load has no lever.
    #[test]
    fn a_vertical_axis_has_levers_of_trail_and_scrub_radius() {
        let kingpin = Kingpin { trail: 0.03, scrub_radius: 0.01, ..Kingpin::default() };
        for (side_sign, expected) in [(1.0, -30.0 - 2.0 - 20.0), (-1.0, -30.0 + 2.0 - 20.0), (0.0, -50.0)] {
            let found = kingpin.moment(RADIUS, side_sign, 0.2, &GROUND);
            assert!((found - expected).abs() < 1e-4, "{side_sign}: {found}");
        }
    }

    /// The pneumatic trail lies behind the centre of contact in the direction of travel, and a wheel at rest has none:
    /// 1,000 N times 0.03 m of mechanical trail, and 0.02 m of pneumatic trail.
    #[test]
    fn the_pneumatic_trail_belongs_to_the_direction_of_travel() {
        let kingpin = Kingpin { trail: 0.03, pneumatic_trail: 0.02, ..Kingpin::default() };
        let wheel =
            Wheel { radius: RADIUS, side: crate::model::Side::Left, ..crate::model::plain::plain_car().wheels[0] };
        for (rolling_speed, rolling, expected) in [(10.0, 1.0, -50.0), (-10.0, 1.0, -10.0), (0.0, 0.0, -30.0)] {
            let state = WheelState { tyre: [0.0, 1000.0], rolling_speed, rolling, ..WheelState::default() };
            let found = kingpin.wheel_moment(&wheel, &state);
            assert!((found - expected).abs() < 1e-3, "{rolling_speed} m/s: {found}");
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
        let kingpin = Kingpin { trail: 0.03, scrub_radius: -0.01, caster: 0.1, inclination: 0.2, pneumatic_trail: 0.0 };
        let mirrored = GroundForce { force: GROUND.force * Vec3::new(1.0, -1.0, 1.0), aligning: 20.0 };
        let (found, mirror) =
            (kingpin.moment(RADIUS, 1.0, 0.15, &GROUND), kingpin.moment(RADIUS, -1.0, -0.15, &mirrored));
        assert!((found + mirror).abs() < 1e-4, "{found} {mirror}");
    }
}
