//! Contact of the chassis box with the ground: a rolled car lies on its roof.

use skidpad_core::Vec3;

use crate::world::Chassis;

/// Friction of bodywork on the ground.
const FRICTION: f32 = 0.5;

/// Passes over the corners; eight corners on a plane settle well before.
const PASSES: usize = 8;

/// Share of the penetration corrected per step, so that a car put into the ground comes out without a jump.
const CORRECTION: f32 = 0.2;

/// Largest speed a penetration is corrected with, m/s.
const CORRECTION_SPEED: f32 = 1.0;

/// Sequential impulses on the corners that touch or would, with friction.
pub(crate) fn keep_out(chassis: &mut Chassis, normal: Vec3, grip: f32, dt: f32) {
    let height = chassis.position.dot(normal.as_dvec3()) as f32;
    let to_world = chassis.axes;
    let seen = to_world.transpose() * normal;
    let lowest = height + seen.dot(chassis.hull.centre) - seen.abs().dot(chassis.hull.half_extents);
    let reach = chassis.hull.half_extents.length() + chassis.hull.centre.length();
    let sinking = chassis.angular.length() * reach - chassis.velocity.dot(normal);
    if lowest > dt * sinking {
        return;
    }
    let arms: [Vec3; 8] = core::array::from_fn(|i| to_world * corner(chassis, i));
    let mut pressed = [0.0f32; 8];
    for _ in 0..PASSES {
        let mut changed = false;
        for (arm, pressed) in arms.iter().zip(&mut pressed) {
            changed |= press(chassis, *arm, height + arm.dot(normal), normal, grip, dt, pressed);
        }
        if !changed {
            return;
        }
    }
}

fn corner(chassis: &Chassis, i: usize) -> Vec3 {
    let sign = |bit: usize| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
    chassis.hull.centre + chassis.hull.half_extents * Vec3::new(sign(0), sign(1), sign(2))
}

fn press(chassis: &mut Chassis, arm: Vec3, gap: f32, normal: Vec3, grip: f32, dt: f32, pressed: &mut f32) -> bool {
    let speed = |c: &Chassis| c.velocity + c.angular.cross(arm);
    let compliance = |c: &Chassis, along: Vec3| c.inverse_mass + arm.cross(along).dot(c.spun_by(arm.cross(along)));
    let allowed = if gap > 0.0 { -gap / dt } else { (-gap * CORRECTION / dt).min(CORRECTION_SPEED) };
    let wanted = (allowed - speed(chassis).dot(normal)) / compliance(chassis, normal);
    let total = (*pressed + wanted).max(0.0);
    let push = total - *pressed;
    *pressed = total;
    if push == 0.0 {
        return false;
    }
    apply(chassis, arm, normal * push);
    let slip = speed(chassis);
    let slip = slip - normal * slip.dot(normal);
    let size = slip.length();
    if size > 1e-6 {
        let along = slip / size;
        let stop = (size / compliance(chassis, along)).min(FRICTION * grip * push.max(0.0));
        apply(chassis, arm, along * -stop);
    }
    true
}

fn apply(chassis: &mut Chassis, arm: Vec3, impulse: Vec3) {
    chassis.velocity += impulse * chassis.inverse_mass;
    chassis.angular += chassis.spun_by(arm.cross(impulse));
}
