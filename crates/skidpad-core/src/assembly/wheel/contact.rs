//! Wheel contacts with the ground: probes, contact points, row directions.

use crate::ground::rim_contact::{STEEPEST_GROUND_COSINE, STEEPEST_GROUND_TANGENT};
use crate::model::wheel_pack::WheelPack;
use crate::port::{ChassisState, Contact, Probe, Rim};
use crate::statics::equilibrium::strut_load;
use crate::vehicle::rows::WheelRows;
use crate::vehicle::{Vehicle, groups_with_rows};
use crate::wheel::parameters::Wheel;
use bevy_math::{DVec3, Mat3, Vec3};
use skidpad_simd::lane::{F32x4, Lane, WheelLanes};
use skidpad_simd::linear::SpatialVector;
use skidpad_simd::math;
use skidpad_simd::vectors::{Mat3Lanes, Vec3Lanes};
use skidpad_simd::wheel_groups::WheelGroups;

/// Clearance of the wall search beyond the free motion of a rim, m. The forces of a step can move the rim that much
/// farther.
const WALL_MARGIN_M: f32 = 0.03;

/// Tolerance below which a wheel above the ground still counts as touching, m. Otherwise rounding would decide from
/// step to step.
pub(crate) const DROOP_TOLERANCE_M: f32 = 1e-3;

/// Ground contacts of the probes of wheels; 0 in lanes without a contact.
#[derive(Clone, Copy, Debug, Default)]
pub struct ProbeContacts<W: WheelLanes> {
    /// Lanes with a contact.
    pub hit: W::Mask,
    /// Unit normal of the ground, world axes.
    pub normal: Vec3Lanes<W>,
    /// Distance from the start of the ray, m.
    pub distance: W,
    /// Friction factor of the surface, –.
    pub grip: W,
}

/// Textures of the ground at rest under the probes of wheels.
#[cfg(feature = "simd_batch")]
#[derive(Clone, Copy, Debug, Default)]
pub struct ProbeTextures<W: WheelLanes> {
    /// Lanes whose ground has a texture.
    pub has_texture: W::Mask,
    /// Addition to the coefficient of rolling resistance, –; 0 in lanes without a texture.
    pub rolling_resistance: W,
}

impl ProbeContacts<F32x4> {
    /// Collects the contacts of the wheels of `group`; `contacts` has one entry per wheel of the vehicle, `None`
    /// without ground in reach. A wheel without a contact has 0 in all fields. Four consecutive wheels with contacts
    /// are transposed at once; all other groups use [`Self::from_partial_contacts`].
    #[inline(always)]
    pub(crate) fn from_contacts(group: &WheelPack, contacts: &[Option<Contact>]) -> Self {
        let Some([Some(a), Some(b), Some(c), Some(d)]) = group.consecutive_four(contacts) else {
            return Self::from_partial_contacts(group, contacts);
        };
        let [distance, x, y, z] =
            // Each contact is packed as distance and normal; the transpose gives one vector per field.
            F32x4::transposed([pack_contact(a), pack_contact(b), pack_contact(c), pack_contact(d)]);
        // All lanes.
        let hit = F32x4::splat(0.0).less(F32x4::splat(1.0));
        Self { hit, normal: Vec3Lanes::new(x, y, z), distance, grip: F32x4::new([a.grip, b.grip, c.grip, d.grip]) }
    }

    /// Collects the contacts of a group in which some wheel is missing or has no contact, or whose wheels are not
    /// consecutive. Lanes without a wheel or a contact are 0 in all fields and not in `hit`.
    #[cold]
    #[inline(never)]
    fn from_partial_contacts(group: &WheelPack, contacts: &[Option<Contact>]) -> Self {
        let (mut packed, mut hit_flags, mut grip) = ([F32x4::default(); 4], [0.0; 4], [0.0; 4]);
        group.for_each_wheel(|lane, wheel| {
            let Some(Some(contact)) = contacts.get(wheel) else { return };
            packed[lane] = pack_contact(contact);
            (hit_flags[lane], grip[lane]) = (1.0, contact.grip);
        });
        let [distance, x, y, z] = F32x4::transposed(packed);
        let hit = F32x4::splat(0.0).less(F32x4::new(hit_flags));
        Self { hit, normal: Vec3Lanes::new(x, y, z), distance, grip: F32x4::new(grip) }
    }
}

/// Returns distance (m) and the x, y and z component of the normal of a contact in four lanes.
#[inline(always)]
fn pack_contact(contact: &Contact) -> F32x4 {
    F32x4::new([contact.distance, contact.normal.x, contact.normal.y, contact.normal.z])
}

/// Returns the displacement of a pose, m, in a step of `dt` s whose rates at start and end are `start_rate` and
/// `end_rate` (m/s): `start_rate · pose_lag + end_rate · (dt − pose_lag)`, the rule by which the world moves poses.
#[inline(always)]
pub(crate) fn step_displacement<W: WheelLanes>([start_rate, end_rate]: [W; 2], pose_lag: W, dt: W) -> W {
    start_rate * pose_lag + end_rate * (dt - pose_lag)
}

impl<W: WheelLanes> WheelRows<W> {
    /// Sets contact points, compressions, camber, friction factors and row directions of the wheels from `contacts` in
    /// the middle of the step. `to_vehicle` rotates world axes to vehicle axes. The contact point moves along the
    /// travel with the compression (ray start height minus contact distance), but not below the droop stop. The load
    /// row acts there. The lateral row acts there, too, or at the force point of the axle above it. The longitudinal
    /// row acts one radius higher, at the wheel centre.
    ///
    /// Directions: normal of the ground, lateral = wheel axle projected into the ground plane, longitudinal = lateral ×
    /// normal. Ground steeper than 80°, and ground whose normal is within 6° of the wheel axle, is not a contact.
    /// Wheels without contact have compression and camber 0, and rows along the vehicle axes.
    #[inline(always)]
    pub(crate) fn set_contacts(
        &mut self,
        group: &WheelPack<W>,
        contacts: &ProbeContacts<W>,
        to_vehicle: &Mat3Lanes<W::Car>,
    ) {
        let normal = to_vehicle.mul_wheel_vector(contacts.normal);
        let axle = self.steering.axle;
        // Sine of the angle between wheel axle and ground.
        let camber_sine = axle.dot(normal);
        // Projection of the wheel axle into the ground plane, not yet of unit length.
        let lateral = axle - normal * camber_sine;
        let lateral_length = lateral.dot(lateral).sqrt();
        let is_ground = !normal.z.less(W::splat(STEEPEST_GROUND_COSINE));
        // Excludes normals within 6° of the wheel axle (sin 6° ≈ 0.1), for which the heading is not defined.
        let has_heading = !lateral_length.less(W::splat(0.1));
        let has_contact = contacts.hit & is_ground & has_heading;
        let up = Vec3Lanes::splat(Vec3::Z);
        let normal = Vec3Lanes::select(has_contact, normal, up);
        let side =
            Vec3Lanes::select(has_contact, lateral * (W::splat(1.0) / lateral_length), Vec3Lanes::splat(Vec3::Y));
        let forward = side.cross(normal);
        let compression = (group.ray_start_height() - contacts.distance).masked(has_contact);
        let point = group.contact.with_z_added(compression.at_least(-group.droop_travel));
        // Point at which tyre forces act.
        let force_point = group.force_point.map_or(point, |height| point.with_z_added(height));
        let wheel_centre = force_point.with_z_added(group.radius);
        (self.contact.grip, self.contact.friction_factor) = (contacts.grip, contacts.grip);
        self.contact.compression = compression;
        // Rounding can make the sine larger than 1.
        self.contact.camber_sine = camber_sine.clamp_nan_to_low(-W::splat(1.0), W::splat(1.0)).masked(has_contact);
        self.contact.normal_cosine = normal.z;
        self.contact.normal = SpatialVector::new(normal, point.cross(normal));
        self.contact.forward = SpatialVector::new(forward, wheel_centre.cross(forward));
        self.contact.side = SpatialVector::new(side, force_point.cross(side));
        self.contact.in_contact = has_contact;
    }

    /// Extrapolates the compressions from the middle to the start of the step of `dt` s, along the contact planes, with
    /// the chassis velocity `v_start` at the start. Compressions are limited to the droop stop, and the rest becomes
    /// the (negative) gap `beyond_droop`. Compression and gap of wheels without contact are 0. Also sets the jounce
    /// rates `−n · v / cos γ`, without the motion of the ground.
    #[inline(always)]
    pub(crate) fn extrapolate_to_start(&mut self, group: &WheelPack<W>, v_start: SpatialVector<W>, dt: f32) {
        // The compression grows while the chassis moves against the normal.
        let rate = -self.contact.normal.dot(v_start) / self.contact.normal_cosine;
        // Compression at the start of the step, m.
        let start_compression = self.contact.compression - rate * W::splat(0.5 * dt);
        self.contact.compression = start_compression.at_least(-group.droop_travel).masked(self.contact.in_contact);
        self.contact.beyond_droop = (start_compression - self.contact.compression).masked(self.contact.in_contact);
        self.contact.jounce_rate = rate;
    }

    /// Sets the motion of the contacts at the start of the step: sliding speeds, the share of the step with contact,
    /// tyre impulses of the last step as initial values, jounce rates with the ground's own motion, and the lag of the
    /// compressions. `v_start` is the chassis velocity at the start; `v_free` computes that at the end if no wheel
    /// acts. Wheels that do not reach the ground in free fall lose their contact and have jounce rate 0. `pose_lag` is
    /// the time by which the pose lags behind the velocity, s.
    #[inline(always)]
    pub(crate) fn set_contact_motion(
        &mut self,
        v_start: SpatialVector<W>,
        v_free: impl FnOnce() -> SpatialVector<W>,
        pose_lag: W,
        dt: f32,
    ) {
        self.dt = dt;
        self.contact.start_speed = self.start_speeds(v_start);
        self.contact.contact_share = self.contact_share_after_fall(v_free, dt);
        // A share of 0 or less: the gap stays open in free fall.
        self.contact.in_contact = self.contact.in_contact & W::splat(0.0).less(self.contact.contact_share);
        self.warm_start_tyres(dt);
        // Jounce rate by the motion of the ground, m/s.
        let ground_rate = self.contact.ground_motion.start_speed[2] / self.contact.normal_cosine;
        self.contact.jounce_rate = (self.contact.jounce_rate + ground_rate).masked(self.contact.in_contact);
        self.contact.compression_lag = self.contact.jounce_rate * pose_lag * self.contact.contact_share;
    }

    /// Sets tyre impulses and wheel torques to force and torque of the last step times `dt` s, as initial values for
    /// the solve. The tyre impulses are 0 without contact.
    #[inline(always)]
    pub(crate) fn warm_start_tyres(&mut self, dt: f32) {
        let dt_lanes = W::splat(dt);
        self.solution.tyre_impulse = self.start.tyre.map(|force| (force * dt_lanes).masked(self.contact.in_contact));
        self.solution.torque = self.start.torque * dt_lanes;
    }

    /// Returns the share of the step that is left after a wheel in free fall has closed the gap below its droop stop.
    /// The share is 1 without a gap above [`DROOP_TOLERANCE_M`], and 0 or less if the gap stays open. `v_free` computes
    /// the final chassis velocity without wheels; it is called only if some wheel is above ground.
    #[inline(always)]
    fn contact_share_after_fall(&self, v_free: impl FnOnce() -> SpatialVector<W>, dt: f32) -> W {
        let one = W::splat(1.0);
        let above_ground = self.wheels_above_ground();
        if !W::any(above_ground) {
            return one;
        }
        W::select(above_ground, self.touchdown_share(v_free(), dt), one)
    }

    /// Returns the wheels at their droop stop whose gap to the ground is larger than [`DROOP_TOLERANCE_M`].
    #[inline(always)]
    fn wheels_above_ground(&self) -> W::Mask {
        self.contact.beyond_droop.less(W::splat(-DROOP_TOLERANCE_M))
    }

    /// Returns the wheels above ground without contact, that is, those that do not touch down in free fall.
    #[inline(always)]
    pub(crate) fn airborne_wheels(&self) -> W::Mask {
        self.wheels_above_ground() & !self.contact.in_contact
    }

    /// Detects airborne wheels that touch down because other wheels move the chassis, and sets their contact. Returns
    /// true if there is one; otherwise nothing changes.
    ///
    /// Only airborne wheels in `candidates` count. The chassis velocity is `v_start` at the start of the step of `dt` s
    /// and `v_loaded` at its end. `pose_lag` is the time by which the pose lags behind the velocity, s. The approach to
    /// the ground (m) is `start rate · pose_lag + end rate · (dt − pose_lag)`. A wheel lands if its approach exceeds
    /// its gap.
    ///
    /// A landing wheel gets the compression of the droop stop and the contact share `1 − gap / approach`, the share of
    /// the step after the touchdown. Its jounce rate is the start rate, at least 0. Its compression lag is
    /// `start rate · pose_lag · contact share`, with the start rate as it is.
    #[inline(always)]
    pub(crate) fn detect_touchdown(
        &mut self,
        group: &WheelPack<W>,
        candidates: W::Mask,
        [v_start, v_loaded]: [SpatialVector<W>; 2],
        pose_lag: W,
        dt: f32,
    ) -> bool {
        // Rate at which the wheel approaches the ground along the travel, m/s.
        let rate = |velocity| -self.separation_velocity(velocity) / self.contact.normal_cosine;
        let [start_rate, end_rate] = [rate(v_start), rate(v_loaded)];
        // Approach to the ground within the step, m.
        let approach = step_displacement([start_rate, end_rate], pose_lag, W::splat(dt));
        let is_landing = self.airborne_wheels() & candidates & (-self.contact.beyond_droop).less(approach);
        if !W::any(is_landing) {
            return false;
        }
        let contact = &mut self.contact;
        // `beyond_droop` is negative: 1 − gap / approach.
        let contact_share = W::splat(1.0) + contact.beyond_droop / approach;
        contact.contact_share = W::select(is_landing, contact_share, contact.contact_share);
        contact.compression = W::select(is_landing, -group.droop_travel, contact.compression);
        // The wheel can move upwards at the start of the step.
        let jounce_rate = start_rate.at_least(W::splat(0.0));
        contact.jounce_rate = W::select(is_landing, jounce_rate, contact.jounce_rate);
        contact.compression_lag = W::select(is_landing, start_rate * pose_lag * contact_share, contact.compression_lag);
        contact.in_contact = contact.in_contact | is_landing;
        true
    }

    /// Returns the share of the step of `dt` s that is left after the touchdown, `1 − gap / approach`, with the
    /// approach to the ground (m) at the final chassis velocity `v_free`. The share is 0 if the wheel does not approach
    /// the ground, and negative if the approach is smaller than the gap.
    #[cold]
    #[inline(never)]
    fn touchdown_share(&self, v_free: SpatialVector<W>, dt: f32) -> W {
        W::call_outlined(
            #[inline(always)]
            || {
                let (zero, one) = (W::splat(0.0), W::splat(1.0));
                let approach = -self.separation_velocity(v_free) / self.contact.normal_cosine * W::splat(dt);
                // `beyond_droop` is the negative gap.
                W::select(zero.less(approach), one + self.contact.beyond_droop / approach, zero)
            },
        )
    }
}

impl WheelRows {
    /// Moves load and lateral rows of rim-probe wheels to their contact points on the rim, from the probes'
    /// `point` in world axes. The longitudinal row and the wheel centre stay on the ray. Wheels without such a point
    /// keep the contact point below the ray. A force point of the axle raises the lateral row above the contact point.
    #[cold]
    #[inline(never)]
    fn move_rows_to_rims(&mut self, group: &WheelPack, contacts: &[Option<Contact>], to_vehicle: &Mat3) {
        let mut marked_points = [F32x4::default(); 4];
        group.for_each_wheel(|lane, wheel| {
            let Some(point) = contacts.get(wheel).and_then(|contact| contact.as_ref()?.point) else { return };
            // The last number, 1, marks a contact point on the rim.
            marked_points[lane] = F32x4::new([point.x, point.y, point.z, 1.0]);
        });
        let [x, y, z, on_rim] = F32x4::transposed(marked_points);
        // The mark becomes a mask of the wheels on a rim.
        let on_rim = F32x4::splat(0.0).less(on_rim) & self.contact.in_contact;
        let ray_point = group.contact.with_z_added(self.contact.compression.at_least(-group.droop_travel));
        let point = Vec3Lanes::select(on_rim, Vec3Lanes::new(x, y, z).mul_mat(to_vehicle), ray_point);
        let force_point = group.force_point.map_or(point, |height| point.with_z_added(height));
        let (normal, side) = (&mut self.contact.normal, &mut self.contact.side);
        normal.angular = point.cross(normal.linear);
        side.angular = force_point.cross(side.linear);
    }

    /// Tilts the tyre rows of all wheels of a group with rims to those of a massless wheel that only the strut supports
    /// along its travel. Sets the sliding speeds of these rows at the chassis velocity `v_start`, and the
    /// `friction_factor`: grip times the ratio of contact load to strut load, limited to 0 to [`MAX_PRESSING_RATIO`].
    /// The ratio of a wheel without load is 1.
    ///
    /// Such a wheel follows the ground. For the contact normal n, the speed of the wheel along a tangent t is that of
    /// the chassis along `t − n t_z / n_z`. By virtual work its force F acts on the chassis along that direction, too,
    /// and the contact load is the strut load less `F t_z / n_z`. The tilt is zero on ground perpendicular to the
    /// strut; on a kerb edge it makes the wheel climb.
    ///
    /// `load` is the wheel load of the last step (N), which counts as the strut load; `friction` returns the
    /// coefficient of the tyre at that load. F is the tyre force of the last step. On contacts steeper than
    /// [`STEEP_CONTACT_SLOPE`], where F noticeably changes its own friction limit, F is this limit in the direction of
    /// the last force.
    fn align_rows_to_struts(&mut self, v_start: SpatialVector<F32x4>, load: F32x4, friction: impl Fn() -> F32x4) {
        let (zero, one) = (F32x4::splat(0.0), F32x4::splat(1.0));
        let contact = &mut self.contact;
        // Slopes of both tangents relative to the strut, t_z / n_z.
        let [longitudinal_slope, lateral_slope] =
            [contact.forward, contact.side].map(|row| row.linear.z / contact.normal.linear.z);
        contact.forward = contact.forward + contact.normal * -longitudinal_slope;
        contact.side = contact.side + contact.normal * -lateral_slope;
        self.contact.start_speed = self.start_speeds(v_start);
        // Part of the last tyre force along the strut, which reduces the contact load, N.
        let strut_force = self.start.tyre[0] * longitudinal_slope + self.start.tyre[1] * lateral_slope;
        let is_steep = F32x4::splat(STEEP_CONTACT_SLOPE).less(longitudinal_slope.abs() + lateral_slope.abs());
        let mut load_ratio = one - strut_force / load;
        if F32x4::any(is_steep) {
            load_ratio = F32x4::select(is_steep, self.pressing_at_friction_limit(strut_force, friction()), load_ratio);
        }
        let load_ratio = load_ratio.clamp_nan_to_low(zero, F32x4::splat(MAX_PRESSING_RATIO));
        self.contact.friction_factor = self.contact.grip * F32x4::select(zero.less(load), load_ratio, one);
    }

    /// Returns the ratio of contact load to strut load if the tyre uses its full friction in the direction of the last
    /// force, `1 / (1 + μ strut_force / |F|)`, at most [`MAX_PRESSING_RATIO`]. `strut_force` is the part of that force
    /// along the strut, N; `friction` is μ of the tyre without the grip of the ground.
    ///
    /// The magnitude of the last force is not used: a wheel that slips in single steps would be pressed too hard, and
    /// would climb edges on which it has no grip.
    fn pressing_at_friction_limit(&self, strut_force: F32x4, friction: F32x4) -> F32x4 {
        let one = F32x4::splat(1.0);
        let [longitudinal, lateral] = self.start.tyre;
        // Magnitude of the tyre force of the last step, N.
        let force_magnitude =
            (longitudinal * longitudinal + lateral * lateral).sqrt().at_least(F32x4::splat(f32::MIN_POSITIVE));
        one / (one + friction * self.contact.grip * (strut_force / force_magnitude))
            .at_least(F32x4::splat(1.0 / MAX_PRESSING_RATIO))
    }
}

/// Upper limit for the ratio of contact load to strut load on an edge.
const MAX_PRESSING_RATIO: f32 = 4.0;

/// Slope of the contact relative to the strut above which the tyre force changes the contact load, and thus its own
/// limit, noticeably.
const STEEP_CONTACT_SLOPE: f32 = 0.3;

/// Returns the start of each wheel's ray relative to the position in the middle of the step (world axes, m), and its
/// length (m). `free_velocity` is the velocity of the body (m/s) and `angular_velocity` its angular velocity (rad/s),
/// in world axes.
///
/// A ray starts one wheel diameter above the contact point at rest, inside the chassis, so that the start is above the
/// ground even if the bump stop is overrun. The ray ends at the droop stop plus the distance by which the wheel can
/// approach ground of up to 80° slope within `dt` s, at least [`DROOP_TOLERANCE_M`], so that a landing wheel finds the
/// ground in time.
#[inline(always)]
pub(crate) fn probe_rays<W: WheelLanes>(
    group: &WheelPack<W>,
    to_world: &Mat3Lanes<W::Car>,
    free_velocity: Vec3Lanes<W::Car>,
    angular_velocity: Vec3Lanes<W::Car>,
    dt: f32,
) -> (Vec3Lanes<W>, W) {
    let start = to_world.mul_wheel_vector(group.contact.with_z_added(group.ray_start_height()));
    // Fastest approach of the body to the steepest ground, m/s.
    // The ground can rise by the tangent of its slope per metre of motion, and the body falls at −v · up.
    let body_approach = W::Car::splat(STEEPEST_GROUND_TANGENT) * free_velocity.dot(free_velocity).sqrt()
        - free_velocity.dot(to_world.z);
    // Roll and pitch move the wheel vertically relative to the centre of mass.
    let (roll_rate, pitch_rate) =
        (W::broadcast_car(angular_velocity.dot(to_world.x)), W::broadcast_car(angular_velocity.dot(to_world.y)));
    let wheel_approach = W::broadcast_car(body_approach) - roll_rate * group.contact.y + pitch_rate * group.contact.x;
    // Approach within the step, m.
    let approach = (wheel_approach * W::splat(dt)).at_least(W::splat(DROOP_TOLERANCE_M));
    (start, group.ray_start_height() + group.droop_travel + approach)
}

impl Probe {
    /// Sets the probe to a ray without a rim, of a wheel of vehicle `car` whose body is at `position`. `ray` has the x,
    /// y and z offset of the start (m) and the length (m) of the ray.
    #[inline(always)]
    pub(crate) fn set_ray(&mut self, car: usize, position: DVec3, direction: Vec3, ray: F32x4) {
        let [x, y, z, length] = ray.lanes();
        (self.car, self.position, self.offset) = (car, position, Vec3::new(x, y, z));
        (self.direction, self.length, self.rim) = (direction, length, None);
    }
}

impl Vehicle {
    /// Tilts the tyre rows of groups with rim probes with `WheelRows::align_rows_to_struts`, from the loads of the last
    /// step and the longitudinal friction at these loads. Groups without rims are unchanged. Used in steps in which the
    /// wheels have no unsprung mass. `v_start` is the chassis velocity at the start of the step.
    pub(crate) fn constrain_rims_to_struts(&mut self, v_start: SpatialVector<f32>) {
        for (group, rows) in self.model.wheel_packs().iter().zip(&mut self.rows) {
            if group.has_rims {
                let load = |i: usize| self.state.wheels[i].load;
                // Longitudinal friction coefficient at that load.
                let friction = |i: usize| self.model.tyre(i).friction_at(load(i))[0];
                rows.align_rows_to_struts(v_start.broadcast_to_wheels(), group.gather(load), || group.gather(friction));
            }
        }
    }

    /// Writes one probe per wheel of vehicle `car` into `probes`, by wheel index, for the pose of `body` in the middle
    /// of the step of `dt` s. Rays point down along the vehicle's vertical axis; rim-probe wheels get their rims, too.
    /// Wheels beyond the end of `probes` are skipped.
    #[inline(always)]
    pub fn probes(&self, car: usize, body: &ChassisState, dt: f32, probes: &mut [Probe]) {
        let (position, to_world) = (body.midstep_position(dt), body.midstep_axes(dt));
        let (axes, direction) = (Mat3Lanes::from_mat3(&to_world), -to_world.z_axis);
        let [free_velocity, angular_velocity] = [body.free_velocity, body.angular_velocity].map(Vec3Lanes::splat);
        for group in self.model.wheel_packs() {
            let (start, length) = probe_rays(group, &axes, free_velocity, angular_velocity, dt);
            let rays = F32x4::transposed([start.x, start.y, start.z, length]);
            let set_ray = |probe: &mut Probe, ray: F32x4| probe.set_ray(car, position, direction, ray);
            match group.consecutive_four_mut(probes) {
                Some(group_probes) => group_probes.iter_mut().zip(rays).for_each(|(probe, ray)| set_ray(probe, ray)),
                None => group.for_each_wheel(|lane, wheel| {
                    if let Some(probe) = probes.get_mut(wheel) {
                        set_ray(probe, rays[lane]);
                    }
                }),
            }
        }
        // `set_ray` has removed all rims.
        if self.model.has_rims() {
            self.add_rims(body, &to_world, dt, probes);
        }
    }

    /// Sets the rim of every wheel in `probes`; rays get `None`.
    #[cold]
    #[inline(never)]
    fn add_rims(&self, body: &ChassisState, to_world: &Mat3, dt: f32, probes: &mut [Probe]) {
        for (wheel, probe) in probes.iter_mut().enumerate().take(self.model.wheels().len()) {
            probe.rim = self.rim(wheel, body, to_world, dt);
        }
    }

    /// Returns the rim of wheel `wheel_index` for its probe; `None` if the wheel has a ray probe. The heading is that
    /// of the steered wheel.
    ///
    /// The displacements within the step of `dt` s, m, are: from its start to the middle (`probe_displacement`), from
    /// there to the end by free motion (`free_displacement`), and those that the strut load and the last longitudinal
    /// tyre force would cause along the road. The wall search reaches as far as the free motion plus [`WALL_MARGIN_M`].
    fn rim(&self, wheel_index: usize, body: &ChassisState, to_world: &Mat3, dt: f32) -> Option<Rim> {
        let wheel = &self.model.wheels()[wheel_index];
        let (half_width, has_round_tread) = wheel.probe.tread()?;
        let (sin, cos) = math::sin_cos(self.state.wheels[wheel_index].steer);
        let lane_index = self.model.lane_index(wheel_index);
        let group = &self.model.wheel_packs()[lane_index.group];
        // Length of the ray to the lowest point of the wheel before the step, m.
        let last_ray_length =
            group.ray_start_height().lane_value(lane_index.lane) - self.state.wheels[wheel_index].compression;
        let forward = to_world.x_axis * cos + to_world.y_axis * sin;
        // Reach of the wall search, m.
        let lookahead = (body.free_velocity.length() + body.angular_velocity.length() * wheel.contact.length()) * dt
            + WALL_MARGIN_M;
        // Contact point at rest relative to the centre of mass, world axes, m.
        let arm = *to_world * wheel.contact;
        // Displacements before and after the middle of the step, m.
        let probe_displacement = (body.velocity + body.angular_velocity.cross(arm)) * (0.5 * dt);
        let free_displacement = (body.free_velocity + body.free_angular_velocity.cross(arm)) * dt - probe_displacement;
        // Displacement along the road per force, m/N.
        let displacement_per_force = dt * dt * self.longitudinal_compliance(wheel, sin, cos);
        let compression = |i: usize| self.state.wheels[i].compression;
        // Displacements by the strut load and by the tyre force of the last step, m.
        let load_displacement = strut_load(&self.model, compression, wheel_index) * displacement_per_force;
        let drive_displacement = self.state.wheels[wheel_index].tyre[0] * displacement_per_force;
        Some(Rim {
            forward,
            radius: wheel.radius,
            half_width,
            has_round_tread,
            last_ray_length,
            lookahead,
            probe_displacement,
            free_displacement,
            load_displacement,
            drive_displacement,
        })
    }

    /// Returns the change of speed at the contact point of a wheel per impulse along its heading, 1/kg, times the
    /// number of wheels, because all wheels can push at once: `n r · M⁻¹ r` with the row r of the heading at the
    /// contact point at rest. `sin` and `cos` are those of the steer angle.
    fn longitudinal_compliance(&self, wheel: &Wheel, sin: f32, cos: f32) -> f32 {
        let forward = Vec3::new(cos, sin, 0.0);
        let row = SpatialVector::from_vec3s(forward, wheel.contact.cross(forward));
        let response = self.response(row);
        (row.linear.dot(response.linear) + row.angular.dot(response.angular)) * self.model.wheels().len() as f32
    }

    /// Sets contact points, row directions, ground motion, moments and the initial impulses of every wheel for a step
    /// of `dt` s from the `contacts` by wheel index. Returns true if all wheels are in contact. `to_world` has the axes
    /// of the vehicle in the middle of the step.
    ///
    /// Order for each group: contacts, rims, extrapolation to the start of the step, ground motion, contact motion,
    /// tyre moments. If `has_unsprung`, gaps to the ground shrink by the static tyre deflection, because an unloaded
    /// tyre reaches farther. Loads of the last solve are reset, and no tyre counts as active. At the end, if a wheel
    /// has no contact, wheels in the air are moved to their equilibrium in droop.
    #[inline(always)]
    pub(crate) fn update_contacts<B: WheelGroups>(
        &mut self,
        body: &ChassisState,
        to_world: &Mat3,
        contacts: &[Option<Contact>],
        has_unsprung: bool,
        dt: f32,
    ) -> bool {
        let to_vehicle = to_world.transpose();
        let angular_velocity = to_vehicle * body.angular_velocity;
        let v_start = SpatialVector::from_vec3s(to_vehicle * body.velocity, angular_velocity).broadcast_to_wheels();
        // Evaluated only if a wheel is above the ground.
        let v_free = || {
            SpatialVector::from_vec3s(to_vehicle * body.free_velocity, to_vehicle * body.free_angular_velocity)
                .broadcast_to_wheels()
        };
        let axes_to_vehicle = Mat3Lanes::from_mat3(&to_vehicle);
        let mut all_in_contact = true;
        for (group, rows) in groups_with_rows::<B>(&self.model, &mut self.rows) {
            rows.set_contacts(group, &ProbeContacts::from_contacts(group, contacts), &axes_to_vehicle);
            if group.has_rims {
                rows.move_rows_to_rims(group, contacts, &to_vehicle);
            }
            rows.extrapolate_to_start(group, v_start, dt);
            rows.update_ground_motion(group, contacts, &to_vehicle);
            if has_unsprung {
                rows.reduce_gap_by_tyres(group);
            }
            rows.set_contact_motion(v_start, v_free, F32x4::splat(body.pose_lag), dt);
            rows.warm_start_moments(group, dt);
            rows.reset();
            all_in_contact &= !F32x4::any(group.present_mask() & !rows.contact.in_contact);
        }
        if !all_in_contact {
            self.set_droop_compressions();
        }
        all_in_contact
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ground::scene::Scene;
    use crate::model::{Model, ProbeShape, plain::plain_car};
    use crate::state::{Placement, State};

    /// Checks that the share is the part of the fall beyond the gap (0.015 of 0.02 m), and 0 for a rising wheel.
    #[test]
    fn a_wheel_has_contact_for_the_share_of_its_fall_behind_the_gap() {
        let mut rows = WheelRows::<F32x4>::default();
        rows.contact.normal = SpatialVector::new(Vec3Lanes::splat(Vec3::Z), Vec3Lanes::splat(Vec3::ZERO));
        rows.contact.normal_cosine = F32x4::splat(1.0);
        rows.contact.beyond_droop = F32x4::splat(-0.005);
        let contact_share = |speed: f32| {
            let velocity = SpatialVector::from_vec3s(Vec3::new(9.0, 0.0, -speed), Vec3::ZERO).broadcast_to_wheels();
            rows.touchdown_share(velocity, 0.01).lane_value(0)
        };
        // The wheel falls 0.02 m in the step.
        assert!((contact_share(2.0) - 0.75).abs() < 1e-6, "{}: 32 bits", contact_share(2.0));
        assert_eq!(contact_share(-2.0), 0.0);
    }

    /// Checks that the free displacement of a rim from the middle to the end of the step is `(v + ω × r) dt` if the
    /// body was at rest at its start, and that a wheel with a ray probe has no rim.
    #[test]
    fn a_rim_moves_as_its_contact_point_does_with_the_chassis() {
        let mut parts = plain_car();
        parts.wheels[0].probe = ProbeShape::Disc;
        let model = Model::new(parts).expect("valid");
        let state = State::at_rest(&model, &Scene::flat(), &Placement::default());
        let car = Vehicle::new(model.into(), state);
        let (velocity, angular_velocity) = (Vec3::new(20.0, 1.0, -0.5), Vec3::new(0.0, 0.5, 1.0));
        let body = ChassisState {
            free_velocity: velocity,
            free_angular_velocity: angular_velocity,
            ..ChassisState::AT_ORIGIN
        };
        let displacement = car.rim(0, &body, &Mat3::IDENTITY, 0.01).expect("a disc").free_displacement;
        let expected = (velocity + angular_velocity.cross(Vec3::new(1.25, 0.75, -0.5))) * 0.01;
        assert!((displacement - expected).length() < 1e-7, "{displacement} instead of {expected}: 32 bits");
        assert_eq!(car.rim(1, &body, &Mat3::IDENTITY, 0.01), None, "a ray has no rim");
    }
}
