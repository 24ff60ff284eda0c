//! Contact of the chassis box with plane and boxes: a rolled car lies on its roof, a car that meets a wall stops.

use parry3d::math::Pose;
use parry3d::query::ContactManifold;
use parry3d::query::details::contact_manifold_cuboid_cuboid;
use parry3d::shape::Cuboid;
use skidpad_core::{BODYWORK_FRICTION, HULL_POINTS, HullPoint, Vec3};

use crate::ground::{Block, Ground};
use crate::world::Chassis;

/// Passes over the points; eight corners on a plane settle well before.
const PASSES: usize = 8;

/// A point that would stay further away than this is not looked at, m: what the forces of a step can still change.
const NEAR: f32 = 0.03;

/// Contacts of hulls with the ground, and the memory that finding them needs.
#[derive(Clone, Default)]
pub struct Touching {
    manifold: ContactManifold<(), ()>,
    points: Vec<HullPoint>,
    given: Vec<Given>,
}

/// Impulses of one point so far, N s.
#[derive(Clone, Copy, Debug, Default)]
struct Given {
    pressed: f32,
    drag: Vec3,
}

impl core::fmt::Debug for Touching {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Touching").finish_non_exhaustive()
    }
}

/// Corners of a hull on the plane, and most points of two boxes.
const POINTS: usize = 8;

impl Touching {
    /// With memory for all that one hull can touch of `ground`, so that no step asks for more.
    pub fn on(ground: &Ground) -> Self {
        let most = POINTS * (1 + ground.blocks.len());
        Self { points: Vec::with_capacity(most), given: Vec::with_capacity(most), ..Self::default() }
    }

    /// Changes the twist of `chassis` so that its hull does not enter `ground` within the coming `dt` s: sequential impulses
    /// with friction.
    pub fn keep_out(&mut self, chassis: &mut Chassis, ground: &Ground, dt: f32) {
        self.find(chassis, ground, 0.0, dt);
        self.given.clear();
        self.given.resize(self.points.len(), Given::default());
        for _ in 0..PASSES {
            let mut changed = false;
            for (point, so_far) in self.points.iter().zip(&mut self.given) {
                changed |= press(chassis, point, dt, so_far);
            }
            if !changed {
                return;
            }
        }
    }

    /// Points that the hull of `chassis` may touch within the coming `dt` s if it moves no faster than now and by `falling` m/s.
    pub(crate) fn find(&mut self, chassis: &Chassis, ground: &Ground, falling: f32, dt: f32) {
        self.points.clear();
        let hull = &chassis.hull;
        let reach = hull.half_extents.length() + hull.centre.length();
        let turning = chassis.angular.length() * reach + falling;
        self.find_on_plane(chassis, ground, dt * (turning - chassis.velocity.dot(ground.normal)));
        if ground.blocks.is_empty() {
            return;
        }
        let ahead = dt * (turning + chassis.velocity.length());
        for block in &ground.blocks {
            let middle = (chassis.position - block.centre).as_vec3() + chassis.axes * hull.centre;
            let near = hull.half_extents.length() + block.radius + ahead;
            if middle.length_squared() <= near * near {
                self.find_on_block(chassis, block, middle, ahead);
            }
        }
        // Those the hull moves along, or away from, do not meet.
        self.points.retain(|point| {
            let speed = chassis.velocity + chassis.angular.cross(point.arm);
            point.gap + dt * (speed.dot(point.normal) - falling) < NEAR
        });
    }

    /// Adds those found that are nearest, as many as `points` are wanted.
    pub(crate) fn nearest(&self, points: &mut Vec<HullPoint>) {
        for found in &self.points {
            if points.len() < HULL_POINTS {
                points.push(*found);
            } else if let Some(farthest) = points.iter_mut().max_by(|a, b| a.gap.total_cmp(&b.gap))
                && found.gap < farthest.gap
            {
                *farthest = *found;
            }
        }
    }

    /// Corners of the hull that come nearer to the plane than `ahead`.
    fn find_on_plane(&mut self, chassis: &Chassis, ground: &Ground, ahead: f32) {
        let normal = ground.normal;
        let height = chassis.position.dot(normal.as_dvec3()) as f32;
        let seen = chassis.axes.transpose() * normal;
        if height + seen.dot(chassis.hull.centre) - seen.abs().dot(chassis.hull.half_extents) > ahead {
            return;
        }
        for i in 0..POINTS {
            let arm = chassis.axes * corner(chassis, i);
            let gap = height + arm.dot(normal);
            if gap <= ahead {
                self.points.push(HullPoint { arm, gap, normal, friction: BODYWORK_FRICTION * ground.grip });
            }
        }
    }

    /// Points of the hull, its middle at `middle` from the box's, that come nearer to `block` than `ahead`.
    fn find_on_block(&mut self, chassis: &Chassis, block: &Block, middle: Vec3, ahead: f32) {
        let turn = block.from_world * chassis.rotation;
        let hull_in_block = Pose::from_parts(block.from_world * middle, turn);
        let hull = Cuboid::new(chassis.hull.half_extents);
        // Left-over points would be taken for those of the same pair a moment ago.
        self.manifold.clear();
        contact_manifold_cuboid_cuboid(&hull_in_block, &block.shape, &hull, ahead, &mut self.manifold);
        let normal = block.to_world * self.manifold.local_n1;
        let to_centre = chassis.axes * chassis.hull.centre;
        self.points.extend(self.manifold.points.iter().map(|p| HullPoint {
            arm: to_centre + chassis.axes * p.local_p2,
            gap: p.dist,
            normal,
            friction: BODYWORK_FRICTION * block.grip,
        }));
    }
}

fn corner(chassis: &Chassis, i: usize) -> Vec3 {
    let sign = |bit: usize| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
    chassis.hull.centre + chassis.hull.half_extents * Vec3::new(sign(0), sign(1), sign(2))
}

/// Changes the impulses `so_far` of one point by what it still needs; whether it needed anything.
fn press(chassis: &mut Chassis, point: &HullPoint, dt: f32, so_far: &mut Given) -> bool {
    let (arm, normal) = (point.arm, point.normal);
    let speed = |c: &Chassis| c.velocity + c.angular.cross(arm);
    let compliance = |c: &Chassis, along: Vec3| c.inverse_mass + arm.cross(along).dot(c.spun_by(arm.cross(along)));
    let wanted = (point.allowed_speed(dt) - speed(chassis).dot(normal)) / compliance(chassis, normal);
    let pressed = (so_far.pressed + wanted).max(0.0);
    let push = normal * (pressed - so_far.pressed);
    if pressed == so_far.pressed && pressed == 0.0 {
        return false;
    }
    so_far.pressed = pressed;
    chassis.stop(push, arm.cross(push));
    let slip = speed(chassis);
    let slip = slip - normal * slip.dot(normal);
    let size = slip.length();
    let mut drag = so_far.drag;
    if size > 1e-6 {
        drag -= slip / compliance(chassis, slip / size);
    }
    let drag = drag.clamp_length_max(point.friction * pressed);
    let more = drag - so_far.drag;
    so_far.drag = drag;
    chassis.stop(more, arm.cross(more));
    true
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
