//! Free body under wheels: its motion at the end of a step under the wheels' impulses, and the derivative of that
//! motion.

use skidpad_core::{PlatformMotion, PredictedMotion, Vec3};

use crate::World;
use crate::chassis::Chassis;
use crate::ground::Block;

impl Chassis {
    /// Returns the hull as a box that keeps its current motion during the step, so that it can support another hull:
    /// the mean velocities over the step and those at its end are the current ones. Its grip is the friction of the
    /// hull. The velocity is that of the middle of the box.
    fn moving_block(&self) -> Block {
        let block = self.block();
        let [velocity, angular_velocity] =
            [self.velocity_at((block.centre - self.position).as_vec3()), self.angular_velocity];
        let (centre, rotation) = (block.centre, block.to_world);
        let (end_velocity, end_angular_velocity) = (velocity, angular_velocity);
        let motion =
            PlatformMotion { centre, rotation, velocity, angular_velocity, end_velocity, end_angular_velocity };
        Block { grip: self.friction, motion: Some(motion), ..block }
    }
}

impl World {
    /// Predicts the free body with the number `body_number` at the end of the step of `dt` s, on a copy. Adds gravity
    /// and the sum of wheel impulses (N s) and angular impulses about its centre of mass (N m s), marks the copy as
    /// loaded by wheels, and solves its contacts with the ground and with near free bodies. Returns the end twist and
    /// its response: the derivative with respect to these impulses. Returns `None` for a car or ground. The world does
    /// not change, except for the buffers of ground contacts.
    ///
    /// Implements [`skidpad_core::WorldPort::predict_body`]. A free body is near if the bounding spheres overlap. Near
    /// bodies keep their current motion. They act only as supports: contacts with their sides and undersides are
    /// ignored. Cars are ignored.
    #[inline(never)]
    pub(crate) fn predict_body(
        &mut self,
        body_number: u64,
        [impulse, angular_impulse]: [Vec3; 2],
        dt: f32,
    ) -> Option<PredictedMotion> {
        let body_index = self.free_body_index(body_number)?;
        let mut body = self.chassis[body_index].clone();
        // Gravity replaces the pose lag of the last step, and the wheels add to this lag.
        body.push_replacing_lag(Vec3::new(0.0, 0.0, -self.ground.gravity() * dt), Vec3::ZERO);
        body.add_push([impulse * body.inverse_mass, body.angular_velocity_change(angular_impulse)]);
        body.is_wheel_loaded = true;
        let car_count = self.car_count();
        // Indices from `car_count` on are free bodies.
        let near_pairs = self.collisions.iter().flat_map(|collisions| collisions.near_pairs());
        let near_bodies = near_pairs.filter_map(|[first, second]| match [*first as usize, *second as usize] {
            [first, second] if first == body_index && second >= car_count => Some(second),
            [first, second] if second == body_index && first >= car_count => Some(first),
            _ => None,
        });
        let blocks = near_bodies.map(|index| self.chassis[index].moving_block());
        self.ground_contacts.separate_from_ground_and_blocks(&mut body, &self.ground, blocks, dt);
        Some(PredictedMotion { end_twist: body.twist(), response: self.ground_contacts.response_columns(&body) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use skidpad_core::{BodyMotion, DVec3, FreeBody, Scene};

    /// A plank that slides under a load responds to pushes along x and y and about z as the predicted derivative says,
    /// including friction that turns with its path. Compares finite differences of the end twist with three columns of
    /// the response.
    #[test]
    fn a_sliding_plank_answers_as_foreseen() {
        let size = Vec3::new(40.0, 10.0, 0.4);
        let solid = FreeBody { friction: 0.4, ..FreeBody::solid_box(30.0, size, DVec3::new(0.0, 0.0, 0.2)) };
        let motion = BodyMotion { velocity: Vec3::new(1.7, 0.1, 0.0), ..solid.motion };
        let mut world = World::new(Scene { free_bodies: vec![FreeBody { motion, ..solid }], ..Scene::flat() });
        let pushed = [Vec3::new(110.0, 5.0, -250.0), Vec3::new(0.0, 0.0, 20.0)];
        let PredictedMotion { end_twist: ends, response: answer } =
            world.predict_body(0, pushed, 1.0 / 60.0).expect("a body");
        // Column of the response and unit impulse that belongs to it.
        for (column, more) in [(0, [Vec3::X, Vec3::ZERO]), (1, [Vec3::Y, Vec3::ZERO]), (5, [Vec3::ZERO, Vec3::Z])] {
            // The difference then has three significant digits.
            let size = if column == 5 { 10.0 } else { 1.0 };
            let pushed = [0, 1].map(|part| pushed[part] + more[part] * size);
            let other = world.predict_body(0, pushed, 1.0 / 60.0).expect("a body").end_twist;
            // Angular velocities count at arms of 10 m.
            let six = |[v, w]: [Vec3; 2]| [v.x, v.y, v.z, w.x, w.y, w.z];
            let scale = six([Vec3::ONE, Vec3::splat(10.0)]);
            let [found, known] = [[0, 1].map(|part| (other[part] - ends[part]) / size), answer[column]].map(six);
            let off = (0..6).map(|i| (scale[i] * (found[i] - known[i])).abs()).fold(0.0, f32::max);
            let most = (0..6).map(|i| (scale[i] * known[i]).abs()).fold(0.0, f32::max);
            assert!(off < 0.05 * most, "column {column}: {found:?}, not {known:?}");
        }
    }
}
