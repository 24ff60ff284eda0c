//! Contact of the chassis box with what it drives on: a rolled car lies on its roof, a car that meets a wall stops.

use parry3d::query::ContactManifold;
use parry3d::shape::{Cuboid, PolygonalFeature};
use skidpad_core::{DVec3, HULL_POINTS, HullPoint, Vec3};

use crate::faces::Faces;
use crate::ground::{Block, Ground};
use crate::passing::Passing;
use crate::world::Chassis;

/// Most passes over the points. What is left of a blow in the middle of them is a turn, and friction that holds against it: after
/// eight, a beam evenly across the way threw a car aside with 0.15 of its speed.
pub(crate) const PASSES: usize = 64;

/// The same of a free body under wheels: one of 1 kg that slides under 15 kN settles in some hundreds. After 64 its answer to what the wheels
/// push is not the one that is foreseen, and some steps find none.
const PASSES_UNDER_WHEELS: usize = 256;

/// Share of what presses that no pass brings nearer: two of the last digits.
const DIGITS: f32 = 2.5e-7;

/// Steps on the multiplier of a point that slides; three are typical.
const DRAG_STEPS: usize = 6;

/// Share by which friction may exceed its limit before it is taken back.
const CONE: f32 = 1e-5;

/// Change of velocity by one point that ends the passes, m/s.
pub(crate) const SETTLED: f32 = 1e-6;

/// A point that would stay further away than this is not looked at, m: what the forces of a step can still change.
const NEAR: f32 = 0.03;

/// Contacts of hulls with the ground, and the memory that finding them needs.
#[derive(Clone)]
pub struct Touching {
    manifold: ContactManifold<(), ()>,
    faces: Faces,
    points: Vec<HullPoint>,
    given: Vec<Given>,
}

/// Speed of a touch from which it is a blow, m/s; what comes slower rests, and comes to rest in the next step.
pub(crate) const BLOW: f32 = 0.5;

/// Share of a gap from which what closes it in a step is taken to touch: solves leave the last digits.
pub(crate) const CLOSED: f32 = 0.99;

/// Cosine of the steepest face, to the vertical, that bears what lies on it.
const BEARS: f32 = 0.5;

/// What one point has been given so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given {
    /// Least speed along the normal that it is left with, m/s.
    allowed: f32,
    /// N s.
    pub pressed: f32,
    /// N s.
    pub drag: Vec3,
}

impl core::fmt::Debug for Touching {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Touching").finish_non_exhaustive()
    }
}

/// Corners of a hull on the plane, and most points of two boxes.
const POINTS: usize = 8;

impl Default for Touching {
    /// With memory for a plane.
    fn default() -> Self {
        Self::with_room(POINTS)
    }
}

impl Touching {
    fn with_room(most: usize) -> Self {
        let mut manifold = ContactManifold::default();
        manifold.points.reserve(POINTS);
        Self { manifold, faces: Faces::default(), points: Vec::with_capacity(most), given: Vec::with_capacity(most) }
    }

    /// With memory for all that one hull can touch of `ground` and so many free `bodies`, so that no step asks for more.
    pub fn on(ground: &Ground, bodies: usize) -> Self {
        Self::with_room(POINTS * (1 + ground.blocks.len() + bodies))
    }

    /// Changes the twist of `chassis` so that its hull does not enter `ground` within the coming `dt` s: sequential impulses
    /// with friction. What hits the ground within the step ends it without any speed towards it; the pose moves as
    /// [`Chassis::motion`] says.
    /// `stops` are points of its wheels that are kept out with it.
    pub fn keep_out(&mut self, chassis: &mut Chassis, ground: &Ground, stops: &[(usize, HullPoint)], dt: f32) {
        self.find(chassis, ground, stops, 0.0, dt);
        self.keep_out_of_found(chassis, dt);
    }

    /// The same of `ground`, and of those of `others` that bear it.
    pub(crate) fn keep_out_of_all(
        &mut self,
        chassis: &mut Chassis,
        ground: &Ground,
        others: impl Iterator<Item = Block>,
        dt: f32,
    ) {
        self.find(chassis, ground, &[], 0.0, dt);
        let motion = [chassis.motion()[0], chassis.middle_rate(dt)];
        for block in others {
            let (of_ground, mut number) = (self.points.len(), 0);
            self.find_on_block(chassis, &block, against(&block, chassis.position, motion), dt);
            self.points.retain(|point| {
                number += 1;
                number <= of_ground || point.normal.z > BEARS
            });
        }
        self.keep_out_of_found(chassis, dt);
    }

    fn keep_out_of_found(&mut self, chassis: &mut Chassis, dt: f32) {
        self.given.clear();
        if self.points.is_empty() {
            return;
        }
        let untouched = |point: &HullPoint| Given { allowed: point.allowed_speed(dt), pressed: 0.0, drag: Vec3::ZERO };
        self.given.extend(self.points.iter().map(untouched));
        self.press_all(chassis);
        self.end_blows(chassis, dt);
    }

    /// What hit something within the step ends it without any speed towards it, while the pose still comes as near as it may.
    /// A blow then takes one step: left with what closes the gap, a car would have turned or slid out of the way before the
    /// next step stops the rest of it.
    fn end_blows(&mut self, chassis: &mut Chassis, dt: f32) {
        let mut hit = false;
        for (point, given) in self.points.iter().zip(&mut self.given) {
            let closes = speed_against(chassis, point).dot(point.normal) <= CLOSED * given.allowed;
            if point.gap > BLOW * dt && closes {
                (given.allowed, hit) = (0.0, true);
            }
        }
        if hit {
            let moves = chassis.motion();
            self.press_all(chassis);
            chassis.move_with(moves);
        }
    }

    fn press_all(&mut self, chassis: &mut Chassis) {
        for _ in 0..if chassis.carries { PASSES_UNDER_WHEELS } else { PASSES } {
            let mut changed = false;
            for (point, so_far) in self.points.iter().zip(&mut self.given) {
                changed |= press(chassis, point, so_far);
            }
            if !changed {
                return;
            }
        }
    }

    /// Points that the hull of `chassis` may touch within the coming `dt` s if it moves no faster than now and by `falling` m/s.
    pub(crate) fn find(
        &mut self,
        chassis: &Chassis,
        ground: &Ground,
        stops: &[(usize, HullPoint)],
        falling: f32,
        dt: f32,
    ) {
        self.points.clear();
        self.points.extend(stops.iter().map(|(_, point)| *point));
        let hull = &chassis.hull;
        let turning = chassis.angular.length() * chassis.hull_reach + falling;
        if ground.has_plane {
            self.find_on_plane(chassis, ground, dt * (turning - chassis.velocity.dot(ground.normal)));
        }
        if ground.blocks.is_empty() && ground.terrain.is_empty() {
            return;
        }
        // The pose of a body that falls moves with the mean of its velocities.
        let motion = [chassis.motion()[0] - Vec3::new(0.0, 0.0, 0.5 * falling), chassis.middle_rate(dt)];
        let ahead = dt * (turning + motion[0].length());
        for block in &ground.blocks {
            let middle = (chassis.position - block.centre).as_vec3() + chassis.axes * hull.centre;
            let near =
                hull.half_extents.length() + block.radius + ahead + dt * block.velocity_at(chassis.position).length();
            if middle.length_squared() <= near * near {
                self.find_on_block(chassis, block, against(block, chassis.position, motion), dt);
            }
        }
        if !ground.terrain.is_empty() {
            self.faces.find(chassis, &ground.terrain, motion, dt, NEAR, &mut self.points);
        }
        // Those the hull moves along, or away from, do not meet.
        self.points.retain(|point| point.gap + dt * (speed_against(chassis, point).dot(point.normal) - falling) < NEAR);
    }

    /// The points that [`Touching::find`] found last.
    pub(crate) fn found(&self) -> &[HullPoint] {
        &self.points
    }

    /// Those that [`Touching::keep_out`] pressed, and what it gave them.
    pub(crate) fn pressed(&self) -> impl Iterator<Item = (&HullPoint, &Given)> {
        self.points.iter().zip(&self.given).filter(|(_, given)| given.pressed > 0.0)
    }

    /// Adds those found that are nearest, as many as `points` are wanted. Blows are not among them: [`Touching::keep_out`] ends
    /// those in one step.
    pub(crate) fn nearest(&self, points: &mut Vec<HullPoint>, dt: f32) {
        for found in self.points.iter().filter(|found| found.gap <= BLOW * dt) {
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
    #[inline(always)]
    fn find_on_plane(&mut self, chassis: &Chassis, ground: &Ground, ahead: f32) {
        let normal = ground.normal;
        let height = chassis.position.dot(normal.as_dvec3()) as f32;
        let seen = chassis.seen_from(normal);
        if height + seen.dot(chassis.hull.centre) - seen.abs().dot(chassis.hull.half_extents) > ahead {
            return;
        }
        for i in 0..POINTS {
            let arm = chassis.axes * corner(chassis, i);
            let gap = height + arm.dot(normal);
            if gap <= ahead {
                self.points.push(HullPoint {
                    arm,
                    gap,
                    normal,
                    friction: chassis.friction * ground.grip,
                    velocity: Vec3::ZERO,
                });
            }
        }
    }

    /// Points of the hull that touch `block` when the two first touch within `dt` s, by a `motion` against it of velocity (m/s) and
    /// angular velocity (rad/s); none if they pass each other.
    ///
    /// A plane is accepted only from where the hull really comes to it: seen from before, the face of an object beside the
    /// way lies across it.
    fn find_on_block(&mut self, chassis: &Chassis, block: &Block, motion: [Vec3; 2], dt: f32) {
        let hull = Cuboid::new(chassis.hull.half_extents);
        let [velocity, angular] = motion.map(|part| block.from_world * part);
        let passing = Passing {
            stands: block.shape.half_extents,
            moves: hull.half_extents,
            centre: chassis.hull.centre,
            position: block.from_world * (chassis.position - block.centre).as_vec3(),
            rotation: block.from_world * chassis.rotation,
            velocity,
            angular,
        };
        let Some((time, normal)) = passing.touch(dt) else { return };
        let pose = passing.pose(time);
        let back = pose.rotation.inverse() * -normal;
        let [face, of_hull] = [block.shape.support_feature(normal), hull.support_feature(back)];
        // Left-over points would be taken for those of the same pair a moment ago.
        self.manifold.clear();
        PolygonalFeature::contacts(&pose, &pose.inverse(), normal, back, &face, &of_hull, &mut self.manifold, false);
        let outward = block.to_world * normal;
        self.points.extend(self.manifold.points.iter().map(|p| {
            let arm = chassis.axes * (chassis.hull.centre + p.local_p2);
            HullPoint {
                arm,
                gap: p.dist - passing.way(p.local_p2, &pose).dot(normal),
                normal: outward,
                friction: chassis.friction * block.grip,
                velocity: block.velocity_at(chassis.position + arm.as_dvec3()),
            }
        }));
    }
}

/// Those of one car.
#[inline(always)]
pub(crate) fn stops_of(stops: &[(usize, HullPoint)], car: usize) -> &[(usize, HullPoint)] {
    if stops.is_empty() {
        return stops;
    }
    let first = stops.partition_point(|(of, _)| *of < car);
    let count = stops[first..].partition_point(|(of, _)| *of == car);
    &stops[first..first + count]
}

/// Velocity of a point of a hull against what it touches, m/s.
pub(crate) fn speed_against(chassis: &Chassis, point: &HullPoint) -> Vec3 {
    chassis.speed_at(point.arm) - point.velocity
}

/// The `motion` of a body, velocity (m/s) of its centre of mass at `position` (m) and angular velocity (rad/s), against a block that
/// may move and turn. Over one step the way against a block that turns is taken for straight.
fn against(block: &Block, position: DVec3, [velocity, angular]: [Vec3; 2]) -> [Vec3; 2] {
    match block.motion {
        Some(motion) => [velocity - motion.velocity_at(position), angular - motion.angular],
        None => [velocity, angular],
    }
}

fn corner(chassis: &Chassis, i: usize) -> Vec3 {
    let sign = |bit: usize| if i >> bit & 1 == 0 { -1.0 } else { 1.0 };
    chassis.hull.centre + chassis.hull.half_extents * Vec3::new(sign(0), sign(1), sign(2))
}

/// Changes the impulses `so_far` of one point by what it still needs; whether that changes the velocity of anything.
///
/// Friction changes along the slip that is left. A corner of a long body gives way far more across than along, so that under a load such
/// changes lead to and fro where it slides: that of free bodies under wheels is found exactly.
fn press(chassis: &mut Chassis, point: &HullPoint, so_far: &mut Given) -> bool {
    let (arm, normal) = (point.arm, point.normal);
    let compliance = |c: &Chassis, along: Vec3| c.inverse_mass + arm.cross(along).dot(c.spun_by(arm.cross(along)));
    let wanted = (so_far.allowed - speed_against(chassis, point).dot(normal)) / compliance(chassis, normal);
    let pressed = (so_far.pressed + wanted).max(0.0);
    let push = normal * (pressed - so_far.pressed);
    if pressed == so_far.pressed && pressed == 0.0 {
        return false;
    }
    so_far.pressed = pressed;
    chassis.stop(push, arm.cross(push));
    let slip = speed_against(chassis, point);
    let slip = slip - normal * slip.dot(normal);
    let size = slip.length();
    let (most, mut drag) = (point.friction * pressed, so_far.drag);
    if chassis.carries {
        drag = drag_on(chassis, point, slip, drag, most);
    } else if size > 1e-6 {
        drag -= slip / compliance(chassis, slip / size);
    }
    let drag = drag.clamp_length_max(most);
    let more = drag - so_far.drag;
    so_far.drag = drag;
    chassis.stop(more, arm.cross(more));
    let change = (push + more).length();
    change * chassis.inverse_mass > SETTLED && !(chassis.carries && change <= DIGITS * pressed)
}

/// Friction of no more than `most` N s with which a point sticks, or slides against it: with `drag` it slips by `slip` m/s.
fn drag_on(chassis: &Chassis, point: &HullPoint, slip: Vec3, drag: Vec3, most: f32) -> Vec3 {
    let side = point.normal.any_orthonormal_vector();
    let axes = [side, point.normal.cross(side)];
    let turns = axes.map(|axis| point.arm.cross(axis));
    let [first, second] = turns.map(|turn| chassis.spun_by(turn));
    let between = turns[0].dot(second);
    let give = [chassis.inverse_mass + turns[0].dot(first), chassis.inverse_mass + turns[1].dot(second)];
    let held = axes.map(|axis| drag.dot(axis));
    let wanted = [
        slip.dot(axes[0]) - give[0] * held[0] - between * held[1],
        slip.dot(axes[1]) - between * held[0] - give[1] * held[1],
    ];
    // Against its slip, by as much as that grows with λ: Hebden's iteration on the length, which falls like 1 / (give + λ).
    let (mut slides, mut found) = (0.0, [0.0; 2]);
    for _ in 0..DRAG_STEPS {
        let [a, b] = give.map(|give| give + slides);
        let determinant = a * b - between * between;
        let solve = |[x, y]: [f32; 2]| [(b * x - between * y) / determinant, (a * y - between * x) / determinant];
        found = solve(wanted);
        let size = (found[0] * found[0] + found[1] * found[1]).sqrt();
        if size <= most * (1.0 + CONE) || most == 0.0 {
            break;
        }
        let fall = solve(found);
        slides += (size / most - 1.0) * size * size / (found[0] * fall[0] + found[1] * fall[1]);
    }
    (axes[0] * -found[0] + axes[1] * -found[1]).clamp_length_max(most)
}

#[cfg(test)]
mod tests {
    use super::*;
    use skidpad_core::{FixedBox, Mat3, Quat, Scene, model::Hull};

    fn crate_of_a_tonne() -> Chassis {
        let hull = Hull { centre: Vec3::new(0.0, 0.0, 0.1), half_extents: Vec3::new(2.0, 0.9, 0.5) };
        Chassis::rigid(1000.0, Mat3::from_diagonal(Vec3::new(400.0, 1500.0, 1700.0)), hull)
    }

    /// A corner of a long plank with more slip than friction ends slides on against its friction; with less it sticks.
    #[test]
    fn friction_of_a_corner_is_found_exactly() {
        let hull = Hull { centre: Vec3::ZERO, half_extents: Vec3::new(20.0, 5.0, 0.2) };
        let mut plank = Chassis::rigid(30.0, Mat3::from_diagonal(Vec3::new(250.0, 4000.0, 4250.0)), hull);
        (plank.velocity, plank.angular) = (Vec3::new(1.7, 0.2, 0.0), Vec3::new(0.0, 0.0, 0.01));
        let arm = Vec3::new(20.0, 5.0, -0.2);
        let point = HullPoint { arm, gap: 0.0, normal: Vec3::Z, friction: 0.4, velocity: Vec3::ZERO };
        let slip = |plank: &Chassis| speed_against(plank, &point) * Vec3::new(1.0, 1.0, 0.0);
        for most in [0.0, 1.0, 25.0, 1000.0] {
            let mut after = plank.clone();
            let drag = drag_on(&plank, &point, slip(&plank), Vec3::ZERO, most);
            after.stop(drag, arm.cross(drag));
            let left = slip(&after);
            if most < 1000.0 {
                assert!((drag.length() - most).abs() <= 1e-4 * most, "{drag} of {most} N s");
                assert!(left.dot(drag) <= -0.9999 * left.length() * drag.length(), "{left} m/s against {drag} N s");
            } else {
                assert!(left.length() < 1e-5, "{left} m/s");
            }
        }
    }

    /// Steps `chassis` for `seconds` under gravity on `ground`.
    fn run(chassis: &mut Chassis, ground: &Ground, seconds: f32) {
        let mut touching = Touching::default();
        let dt = 1.0 / 120.0;
        for _ in 0..(seconds / dt) as usize {
            chassis.velocity.z -= 9.81 * dt;
            touching.keep_out(chassis, ground, &[], dt);
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
