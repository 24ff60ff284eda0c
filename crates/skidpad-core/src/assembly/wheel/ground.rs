//! Moving ground: its velocity acts on the wheels at their contact points, and wheel forces act on the ground.

use crate::math;
use crate::model::wheel_pack::WheelPack;
use crate::port::{Contact, Ground, Probe, Reaction};
use crate::simd::lane::{F32x4, WheelLanes};
use crate::simd::vectors::Vec3Lanes;
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;
use crate::wheel::rows::GroundMotion;
use bevy_math::{Mat3, Quat, Vec3};

impl Vehicle {
    /// Returns true if some wheel stood on ground that moves or has a texture in the last solve.
    pub(crate) fn is_on_moving_ground(&self) -> bool {
        self.rows.iter().any(|rows| rows.contact.ground_motion.moves_or_textured)
    }

    /// Appends the impulses of the wheels on movable ground to `reactions`, each with body, point at the start of the step and impulse in world axes
    /// (N s). `met` has the probe and the contact of each wheel of a step of `dt` s. Wheels without contact or on ground at rest append nothing;
    /// earlier entries are kept.
    pub(crate) fn append_reactions<'a>(
        &self,
        met: impl Iterator<Item = (&'a Probe, &'a Option<Contact>)>,
        reactions: &mut Vec<Reaction>,
        dt: f32,
    ) {
        for (i, (probe, contact)) in met.enumerate() {
            let Some((distance, ground)) = contact.and_then(|c| Some((c.distance, c.ground?))) else { continue };
            if ground.body == Ground::STATIC_BODY {
                continue;
            }
            let place = self.model.lane_index(i);
            let rows = &self.rows[place.bank];
            let [x, y, z] =
                rows.ground_impulse(&self.model.wheel_packs()[place.bank]).map(|sum| sum.lanes()[place.lane]);
            let impulse = self.to_world * Vec3::new(-x, -y, -z);
            let point = ground.start_position(probe.point_at(distance), dt);
            reactions.push(Reaction { body: ground.body, point, impulse });
        }
    }

    /// Returns the mean force of the ground with this unit `normal` on wheel `i` over the last step, load and tyre forces, world axes, N. Its
    /// directions follow the current `rotation` of the vehicle and the steer angle. Forces of roll centre links are left out.
    pub(crate) fn last_ground_force(&self, i: usize, rotation: Quat, normal: Vec3) -> Vec3 {
        let wheel = &self.state.wheels[i];
        let (sin, cos) = math::sin_cos(wheel.steer);
        let side = normal.cross(rotation * Vec3::new(cos, sin, 0.0)).normalize_or_zero();
        normal * wheel.load + side.cross(normal) * wheel.tyre[0] + side * wheel.tyre[1]
    }

    /// Sets the ground motion under the contact patches of all wheels from `contacts`, for ground whose velocity other bodies change within the step.
    /// Row directions stay unchanged.
    pub(crate) fn update_ground_velocities(&mut self, contacts: &[Option<Contact>]) {
        let to_vehicle = self.to_world.transpose();
        for (bank, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            rows.set_ground_motion(bank, contacts, &to_vehicle);
        }
    }
}

impl<W: WheelLanes> WheelRows<W> {
    /// Returns the ground motion along the rows: longitudinal, lateral and normal speeds (m/s). `begun` and `velocity` are the ground velocities at
    /// the start and the end of the step (vehicle axes, m/s), `rolling` is the increase of the rolling resistance coefficient. The motion always
    /// counts as moving or textured.
    #[inline(always)]
    pub(crate) fn ground_motion_along_rows(&self, [begun, velocity]: [Vec3Lanes<W>; 2], rolling: W) -> GroundMotion<W> {
        let rows = [self.contact.forward, self.contact.side, self.contact.normal];
        let [begun, speed] = [begun, velocity].map(|velocity| rows.map(|row| row.linear.dot(velocity)));
        GroundMotion { moves_or_textured: true, start_speed: begun, end_speed: speed, rolling_resistance: rolling }
    }
}

impl WheelRows {
    /// Sets the ground motion from `contacts` by wheel index, or clears it if no contact has data of moving or textured ground. Requires the row
    /// directions.
    #[inline(always)]
    pub(crate) fn update_ground_motion(&mut self, bank: &WheelPack, contacts: &[Option<Contact>], to_vehicle: &Mat3) {
        let tells = |contact: &Option<Contact>| contact.is_some_and(|c| c.ground.is_some());
        let any = match contacts {
            [a, b, c, d] => tells(a) | tells(b) | tells(c) | tells(d),
            _ => contacts.iter().any(tells),
        };
        if any {
            self.set_ground_motion(bank, contacts, to_vehicle);
        } else {
            self.contact.ground_motion.reset();
        }
    }

    /// Sets the ground motion from `contacts`, 0 for wheels without data of moving ground; `to_vehicle` rotates world axes to vehicle axes.
    fn set_ground_motion(&mut self, bank: &WheelPack, contacts: &[Option<Contact>], to_vehicle: &Mat3) {
        let of = |value: fn(&Ground) -> f32| {
            bank.gather(|i| contacts.get(i).and_then(|c| c.as_ref()?.ground.as_ref()).map_or(0.0, value))
        };
        let begun = Vec3Lanes::new(of(|g| g.start_velocity.x), of(|g| g.start_velocity.y), of(|g| g.start_velocity.z));
        let velocity = Vec3Lanes::new(of(|g| g.velocity.x), of(|g| g.velocity.y), of(|g| g.velocity.z));
        let velocities = [begun, velocity].map(|velocity| velocity.mul_mat(to_vehicle));
        self.contact.ground_motion = self.ground_motion_along_rows(velocities, of(|g| g.texture.rolling_resistance));
    }

    /// Returns the impulse of the ground on each wheel, vehicle axes, N s: tyre impulses, load, and the difference by roll centre links.
    fn ground_impulse(&self, bank: &WheelPack) -> [F32x4; 3] {
        let sum = self.contact.forward.linear * self.solution.tyre_impulse[0]
            + self.contact.side.linear * self.solution.tyre_impulse[1]
            + self.contact.normal.linear * self.suspension.load
            + self.link_impulse(bank);
        [sum.x, sum.y, sum.z]
    }
}
