//! Contact of the chassis box with plane and boxes: a rolled car lies on its roof, a car that meets a wall stops.

use parry3d::math::Pose;
use parry3d::query::ContactManifold;
use parry3d::query::details::contact_manifold_cuboid_cuboid;
use parry3d::shape::Cuboid;
use skidpad_core::Vec3;

use crate::ground::{Block, Ground};
use crate::world::Chassis;

/// Friction of bodywork on the ground.
const FRICTION: f32 = 0.5;

/// Passes over the corners; eight corners on a plane settle well before.
const PASSES: usize = 8;

/// Share of the penetration corrected per step, so that a car put into the ground comes out without a jump.
const CORRECTION: f32 = 0.2;

/// Largest speed a penetration is corrected with, m/s.
const CORRECTION_SPEED: f32 = 1.0;

/// Contacts of hulls with the ground, and the memory that finding them needs.
#[derive(Clone, Default)]
pub struct Touching {
    manifold: ContactManifold<(), ()>,
    points: Vec<Point>,
}

impl core::fmt::Debug for Touching {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Touching").finish_non_exhaustive()
    }
}

/// A point of the hull that touches a box, or would.
#[derive(Clone, Copy, Debug)]
struct Point {
    /// From the centre of mass, world axes, m.
    arm: Vec3,
    /// Distance of the surfaces, m, negative when they overlap.
    gap: f32,
    /// Out of the box.
    normal: Vec3,
    grip: f32,
    /// N s so far.
    pressed: f32,
}

impl Touching {
    /// Changes the twist of `chassis` so that its hull does not enter `ground` within the coming `dt` s.
    pub fn keep_out(&mut self, chassis: &mut Chassis, ground: &Ground, dt: f32) {
        keep_off_plane(chassis, ground.normal, ground.grip, dt);
        for block in &ground.blocks {
            self.keep_off_block(chassis, block, dt);
        }
    }

    fn keep_off_block(&mut self, chassis: &mut Chassis, block: &Block, dt: f32) {
        let hull = &chassis.hull;
        let middle = (chassis.position - block.centre).as_vec3() + chassis.axes * hull.centre;
        let radius = hull.half_extents.length();
        // What the hull can move within the step.
        let ahead = dt * (chassis.velocity.length() + chassis.angular.length() * (radius + hull.centre.length()));
        let near = radius + block.radius + ahead;
        if middle.length_squared() > near * near {
            return;
        }
        self.find(chassis, block, middle, ahead);
        for _ in 0..PASSES {
            let mut changed = false;
            for p in &mut self.points {
                changed |= press(chassis, p.arm, p.gap, p.normal, p.grip, dt, &mut p.pressed);
            }
            if !changed {
                return;
            }
        }
    }

    /// Points of the hull, its middle at `middle` from the box's, that come nearer to `block` than `ahead`.
    fn find(&mut self, chassis: &Chassis, block: &Block, middle: Vec3, ahead: f32) {
        let turn = block.from_world * chassis.rotation;
        let hull_in_block = Pose::from_parts(block.from_world * middle, turn);
        let hull = Cuboid::new(chassis.hull.half_extents);
        // Left-over points would be taken for those of the same pair a moment ago.
        self.manifold.clear();
        contact_manifold_cuboid_cuboid(&hull_in_block, &block.shape, &hull, ahead, &mut self.manifold);
        let normal = block.to_world * self.manifold.local_n1;
        let to_centre = chassis.axes * chassis.hull.centre;
        self.points.clear();
        self.points.extend(self.manifold.points.iter().map(|p| Point {
            arm: to_centre + chassis.axes * p.local_p2,
            gap: p.dist,
            normal,
            grip: block.grip,
            pressed: 0.0,
        }));
    }
}

/// Sequential impulses on the corners that touch or would, with friction.
fn keep_off_plane(chassis: &mut Chassis, normal: Vec3, grip: f32, dt: f32) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use skidpad_core::{DVec3, FixedBox, Mat3, Quat, Scene, model::Hull};

    fn crate_of_a_tonne() -> Chassis {
        let hull = Hull { centre: Vec3::new(0.0, 0.0, 0.1), half_extents: Vec3::new(2.0, 0.9, 0.5) };
        Chassis::rigid(1000.0, Mat3::from_diagonal(Vec3::new(400.0, 1500.0, 1700.0)), hull)
    }

    /// Steps `chassis` for `seconds` under gravity on `ground`.
    fn run(chassis: &mut Chassis, ground: &Ground, seconds: f32) {
        let mut touching = Touching::default();
        let dt = 1.0 / 120.0;
        for _ in 0..(seconds / dt) as usize {
            chassis.velocity.z -= 9.81 * dt;
            touching.keep_out(chassis, ground, dt);
            chassis.advance(dt);
        }
    }

    #[test]
    fn a_hull_comes_to_rest_on_a_box() {
        let table = FixedBox::upright(DVec3::new(5.0, 0.0, 1.0), Vec3::new(8.0, 8.0, 2.0)).turned(0.6, 0.0, 0.0);
        let ground = Ground::new(&Scene { boxes: vec![table], ..Scene::flat() });
        let mut chassis = crate_of_a_tonne();
        chassis.place(DVec3::new(5.0, 0.0, 3.0), Quat::from_rotation_y(0.1), [Vec3::ZERO; 2]);
        run(&mut chassis, &ground, 3.0);
        // Its underside is 0.4 m below the centre of mass; the top of the box is at 2 m.
        assert!((chassis.position.z - 2.4).abs() < 5e-3, "{:?}", chassis.position);
        assert!(chassis.velocity.length() < 0.05 && chassis.axes.z_axis.z > 0.999, "{chassis:?}");
    }

    #[test]
    fn a_wall_stops_a_hull_and_one_out_of_the_way_does_nothing() {
        let wall = |x: f64, y: f64| FixedBox::upright(DVec3::new(x, y, 1.0), Vec3::new(1.0, 6.0, 4.0));
        let slid = [0.0, 20.0].map(|y| {
            let ground = Ground::new(&Scene { boxes: vec![wall(10.0, y)], ..Scene::flat() });
            let mut chassis = crate_of_a_tonne();
            chassis.place(DVec3::new(0.0, 0.0, 0.5), Quat::IDENTITY, [Vec3::new(15.0, 0.0, 0.0), Vec3::ZERO]);
            run(&mut chassis, &ground, 2.0);
            chassis.position.x
        });
        // The nose is 2 m ahead of the centre, the wall's face at 9.5 m; friction alone would end far behind it.
        assert!((6.5..7.51).contains(&slid[0]), "{slid:?}");
        assert!(slid[1] > 12.0, "{slid:?}");
    }
}
