//! Moving ground: its velocity acts on the wheels at their contact points, and wheel forces act on the ground.

use crate::model::wheel_pack::WheelPack;
use crate::port::{Contact, Ground, Probe, Reaction};
use crate::vehicle::Vehicle;
use crate::vehicle::rows::WheelRows;
use crate::wheel::rows::GroundMotion;
use bevy_math::{Mat3, Quat, Vec3};
use skidpad_simd::lane::{F32x4, WheelLanes};
use skidpad_simd::math;
#[cfg(feature = "simd_batch")]
use skidpad_simd::vectors::Mat3Lanes;
use skidpad_simd::vectors::Vec3Lanes;

impl Vehicle {
    /// Returns true if the ground under some wheel moved, was movable, or had a texture in the last solve.
    pub(crate) fn is_on_moving_ground(&self) -> bool {
        self.rows.iter().any(|rows| rows.contact.ground_motion.moves_or_textured)
    }

    /// Appends the impulses of the wheels on movable ground to `reactions`, each with body, point at the start of the
    /// step and impulse in world axes (N s). `probe_contacts` has the probe and the contact of each wheel of a step of
    /// `dt` s. Wheels without contact or on ground at rest append nothing; earlier entries are kept.
    pub(crate) fn append_reactions<'a>(
        &self,
        probe_contacts: impl Iterator<Item = (&'a Probe, &'a Option<Contact>)>,
        reactions: &mut Vec<Reaction>,
        dt: f32,
    ) {
        for (i, (probe, contact)) in probe_contacts.enumerate() {
            // Only contacts with ground data can be movable.
            let Some((distance, ground)) = contact.and_then(|c| Some((c.distance, c.ground?))) else { continue };
            if ground.body == Ground::STATIC_BODY {
                continue;
            }
            let lane_index = self.model.lane_index(i);
            let rows = &self.rows[lane_index.group];
            let [x, y, z] = rows
                .ground_impulse(&self.model.wheel_packs()[lane_index.group])
                .map(|sum| sum.lanes()[lane_index.lane]);
            // The ground receives the opposite of the impulse on the wheel.
            let impulse = self.to_world * Vec3::new(-x, -y, -z);
            let point = ground.start_position(probe.point_at(distance), dt);
            reactions.push(Reaction { body: ground.body, point, impulse });
        }
    }

    /// Returns the mean force of the ground with this unit `normal` on wheel `i` over the last step, load and tyre
    /// forces, world axes, N. The directions of the force follow the current `rotation` of the vehicle and the steer
    /// angle. Forces of roll centre links are left out.
    pub(crate) fn last_ground_force(&self, i: usize, rotation: Quat, normal: Vec3) -> Vec3 {
        let wheel = &self.state.wheels[i];
        let (sin, cos) = math::sin_cos(wheel.steer);
        let lateral = normal.cross(rotation * Vec3::new(cos, sin, 0.0)).normalize_or_zero();
        // Lateral × normal is the longitudinal direction.
        normal * wheel.load + lateral.cross(normal) * wheel.tyre[0] + lateral * wheel.tyre[1]
    }

    /// Sets the ground motion under the contact patches of all wheels from `contacts`, for ground whose velocity other
    /// bodies change within the step. Row directions stay unchanged. Wheels without ground data have ground at rest.
    pub(crate) fn update_ground_velocities(&mut self, contacts: &[Option<Contact>]) {
        let to_vehicle = self.to_world.transpose();
        for (group, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            rows.set_ground_motion(group, contacts, &to_vehicle);
        }
    }
}

impl<W: WheelLanes> WheelRows<W> {
    /// Returns the ground motion along the rows: longitudinal, lateral and normal speeds (m/s). `start_velocity` and
    /// `end_velocity` are the ground velocities at the start and the end of the step (vehicle axes, m/s),
    /// `rolling_resistance` is the increase of the rolling resistance coefficient. The motion always counts as moving
    /// or textured.
    #[inline(always)]
    pub(crate) fn ground_motion_along_rows(
        &self,
        [start_velocity, end_velocity]: [Vec3Lanes<W>; 2],
        rolling_resistance: W,
    ) -> GroundMotion<W> {
        let rows = [self.contact.forward, self.contact.side, self.contact.normal];
        let [start_speed, end_speed] =
            [start_velocity, end_velocity].map(|velocity| rows.map(|row| row.linear.dot(velocity)));
        GroundMotion { moves_or_textured: true, start_speed, end_speed, rolling_resistance }
    }
}

#[cfg(feature = "simd_batch")]
impl<W: WheelLanes<Car = W>> WheelRows<W> {
    /// Returns the motion of ground at rest with a texture, one car per lane. All speeds are zero, with the sign bits
    /// that a step of a single car gives them. `has_texture` marks the cars with a texture under any wheel of the group
    /// of this wheel. `rolling_resistance` is the addition to the rolling resistance coefficient of this wheel.
    /// `to_vehicle` rotates world axes to vehicle axes.
    #[cold]
    #[inline(never)]
    pub(crate) fn textured_ground_at_rest(
        &self,
        has_texture: W::Mask,
        rolling_resistance: W,
        to_vehicle: &Mat3Lanes<W>,
    ) -> GroundMotion<W> {
        W::call_outlined(
            #[inline(always)]
            || {
                let rest_velocity = to_vehicle.mul_vector(Vec3Lanes::default());
                let mut ground_motion = self.ground_motion_along_rows([rest_velocity; 2], rolling_resistance);
                for speed in ground_motion.start_speed.iter_mut().chain(&mut ground_motion.end_speed) {
                    *speed = speed.masked(has_texture);
                }
                ground_motion
            },
        )
    }
}

impl WheelRows {
    /// Sets the ground motion from `contacts` by wheel index. If no contact has data of moving or textured ground,
    /// resets it to ground at rest. Requires the row directions. `to_vehicle` rotates world axes to vehicle axes.
    #[inline(always)]
    pub(crate) fn update_ground_motion(&mut self, group: &WheelPack, contacts: &[Option<Contact>], to_vehicle: &Mat3) {
        let has_ground = |contact: &Option<Contact>| contact.is_some_and(|c| c.ground.is_some());
        // The usual four wheels are tested without branches.
        let any_ground = match contacts {
            [a, b, c, d] => has_ground(a) | has_ground(b) | has_ground(c) | has_ground(d),
            _ => contacts.iter().any(has_ground),
        };
        if any_ground {
            self.set_ground_motion(group, contacts, to_vehicle);
        } else {
            self.contact.ground_motion.reset();
        }
    }

    /// Sets the ground motion from `contacts`; wheels without ground data have ground at rest. `to_vehicle` rotates
    /// world axes to vehicle axes. Marks the motion as moving or textured in every case.
    fn set_ground_motion(&mut self, group: &WheelPack, contacts: &[Option<Contact>], to_vehicle: &Mat3) {
        // Value of the ground data by wheel; 0 without data.
        let gather = |value: fn(&Ground) -> f32| {
            group.gather(|i| contacts.get(i).and_then(|c| c.as_ref()?.ground.as_ref()).map_or(0.0, value))
        };
        let start_velocity = Vec3Lanes::new(
            gather(|g| g.start_velocity.x),
            gather(|g| g.start_velocity.y),
            gather(|g| g.start_velocity.z),
        );
        let end_velocity = Vec3Lanes::new(gather(|g| g.velocity.x), gather(|g| g.velocity.y), gather(|g| g.velocity.z));
        let velocities = [start_velocity, end_velocity].map(|velocity| velocity.mul_mat(to_vehicle));
        self.contact.ground_motion =
            self.ground_motion_along_rows(velocities, gather(|g| g.texture.rolling_resistance));
    }

    /// Returns the impulse of the ground on each wheel, vehicle axes, N s: tyre impulses, load, and the difference by
    /// roll centre links.
    fn ground_impulse(&self, group: &WheelPack) -> [F32x4; 3] {
        let impulse = self.contact.forward.linear * self.solution.tyre_impulse[0]
            + self.contact.side.linear * self.solution.tyre_impulse[1]
            + self.contact.normal.linear * self.suspension.load
            + self.link_impulse(group);
        [impulse.x, impulse.y, impulse.z]
    }
}
