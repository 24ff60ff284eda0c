//! A free body under wheels: how it ends a step by what they push, on what bears it, and how that changes with the pushes.

use skidpad_core::{Foreseen, HullPoint, PlatformMotion, Vec3};

use crate::World;
use crate::ground::Block;
use crate::hull::Given;
use crate::world::Chassis;

/// A contact that leaves the body less than this share of what it would move alone is held by others already.
const HELD: f32 = 1e-4;

/// Share of the most that friction holds from which on a contact slides.
const SLIDES: f32 = 0.999;

/// Velocities, or impulses, by components: along, and about.
type Six = [f32; 6];

fn six([v, w]: [Vec3; 2]) -> Six {
    [v.x, v.y, v.z, w.x, w.y, w.z]
}

fn dot(a: &Six, b: &Six) -> f32 {
    (0..6).map(|i| a[i] * b[i]).sum()
}

/// What impulses change of the motion of a body.
struct Compliance {
    columns: [Six; 6],
}

impl Compliance {
    fn of(body: &Chassis) -> Self {
        let axes = Vec3::AXES;
        let moves = axes.map(|axis| six([axis * body.inverse_mass, Vec3::ZERO]));
        let turns = axes.map(|axis| six([Vec3::ZERO, body.spun_by(axis)]));
        Self { columns: [moves[0], moves[1], moves[2], turns[0], turns[1], turns[2]] }
    }

    fn times(&self, impulse: &Six) -> Six {
        core::array::from_fn(|i| (0..6).map(|k| self.columns[k][i] * impulse[k]).sum())
    }

    /// Nothing moves the point `arm` along the unit vector `along` any more: a force along `push` there sees to that.
    fn hold(&mut self, body: &Chassis, arm: Vec3, along: Vec3, push: Vec3) {
        let row = six([along, arm.cross(along)]);
        let changes = self.times(&six([push, arm.cross(push)]));
        let gives = dot(&row, &changes);
        let lever = arm.cross(along);
        let alone = body.inverse_mass + lever.dot(body.spun_by(lever));
        if gives > HELD * alone {
            for column in &mut self.columns {
                let share = dot(&row, column) / gives;
                (0..6).for_each(|i| column[i] -= share * changes[i]);
            }
        }
    }

    /// `point` is pressed, and sticks or slides.
    fn touch(&mut self, body: &Chassis, point: &HullPoint, given: &Given) {
        let (normal, most) = (point.normal, point.friction * given.pressed);
        let slides = given.drag.length() >= SLIDES * most;
        let drag = if slides { given.drag / given.pressed } else { Vec3::ZERO };
        self.hold(body, point.arm, normal, normal + drag);
        if !slides {
            let side = normal.any_orthonormal_vector();
            for along in [side, normal.cross(side)] {
                self.hold(body, point.arm, along, along);
            }
        }
    }
}

impl Chassis {
    /// The hull as a box that goes on moving as it does, and rubs as bodies on it do.
    fn moving_block(&self) -> Block {
        let block = self.block();
        let [velocity, angular] = [self.speed_at((block.centre - self.position).as_vec3()), self.angular];
        let (centre, rotation) = (block.centre, block.to_world);
        let (last_velocity, last_angular) = (velocity, angular);
        let motion = PlatformMotion { centre, rotation, velocity, angular, last_velocity, last_angular };
        Block { grip: self.friction, motion: Some(motion), ..block }
    }
}

impl World {
    /// As [`skidpad_core::WorldPort::foresee`]. Other bodies that bear this one go on as they move now; those beside it do nothing.
    #[inline(never)]
    pub(crate) fn foresee_body(&mut self, number: u64, [impulse, angular]: [Vec3; 2], dt: f32) -> Option<Foreseen> {
        let hull = self.body_under(number)?;
        let mut body = self.chassis[hull].clone();
        body.push(Vec3::new(0.0, 0.0, -self.ground.gravity() * dt), Vec3::ZERO);
        body.push_on([impulse * body.inverse_mass, body.spun_by(angular)]);
        let cars = self.cars();
        let near = self.collisions.iter().flat_map(|collisions| collisions.near());
        let others = near.filter_map(|[one, other]| match [*one as usize, *other as usize] {
            [one, other] if one == hull && other >= cars => Some(other),
            [one, other] if other == hull && one >= cars => Some(one),
            _ => None,
        });
        let blocks = others.map(|other| self.chassis[other].moving_block());
        self.touching.keep_out_of_all(&mut body, &self.ground, blocks, dt);
        let mut compliance = Compliance::of(&body);
        for (point, given) in self.touching.pressed() {
            compliance.touch(&body, point, given);
        }
        let answer = compliance.columns.map(|[x, y, z, a, b, c]| [Vec3::new(x, y, z), Vec3::new(a, b, c)]);
        Some(Foreseen { ends: body.twist(), answer })
    }
}
