//! Exchange of data between a batch and its cars.

use crate::assembly::wheel::contact::{ProbeContacts, probe_rays};
use crate::model::wheel_pack::WheelPack;
use crate::port::{ChassisState, Contact, Ground, Probe};
use crate::state::WheelState;
use crate::step::write_back::{EndState, WheelEndState, resolved_angular_velocity};
use crate::vehicle::Vehicle;
use crate::vehicle::rows::{StartState, WheelRows};
use bevy_math::Vec3;
use skidpad_simd::lane::{CarLanes, F32x4, F32x8Pair, Lane, Vec4Ops, pair_from_fn};
use skidpad_simd::linear::SpatialVector;
use skidpad_simd::vectors::{self, Mat3Lanes, Vec3Lanes};

/// Number of cars in a batch.
pub(crate) const BATCH_LANES: usize = F32x8Pair::LANE_COUNT;

/// Addend that changes no bit of any number, zeros included.
pub(crate) const NEUTRAL_ADDEND: f32 = -0.0;

/// State of the chassis of a batch of cars, in the vehicle frame in the middle of the step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ChassisLanes<W> {
    /// Rotation from vehicle axes to world axes.
    pub to_world: Mat3Lanes<W>,
    /// Rotation from world axes to vehicle axes.
    pub to_vehicle: Mat3Lanes<W>,
    /// Angular velocity at the start of the step, world axes (rad/s).
    pub angular_velocity: Vec3Lanes<W>,
    /// Velocity that the step would end with if the vehicles pushed nothing, world axes (m/s).
    pub free_world_velocity: Vec3Lanes<W>,
    /// Velocities at the start of the step.
    pub start_velocity: SpatialVector<W>,
    /// Velocities that the step would end with if the vehicles pushed nothing.
    pub free_velocity: SpatialVector<W>,
    /// Velocity relative to the air (m/s).
    pub air_velocity: Vec3Lanes<W>,
}

impl<W: Lane> ChassisLanes<W> {
    /// Builds the state of the chassis at the start of a step of `dt` s from their `motion` and the velocity of the
    /// air, world axes (m/s). The axes are those after half a step at the initial angular velocity.
    #[inline(always)]
    pub fn new(motion: &MotionLanes<W>, wind: Vec3Lanes<W>, dt: f32) -> Self {
        let to_world =
            Mat3Lanes::from_quat(vectors::integrate_rotation(motion.rotation, motion.angular_velocity, 0.5 * dt));
        let to_vehicle = to_world.transposed();
        Self {
            to_world,
            to_vehicle,
            angular_velocity: motion.angular_velocity,
            free_world_velocity: motion.linear_free_velocity,
            start_velocity: motion.twist(&to_vehicle),
            free_velocity: rotate_twist(
                SpatialVector::new(motion.linear_free_velocity, motion.angular_free_velocity),
                &to_vehicle,
            ),
            air_velocity: to_vehicle.mul_vector(motion.velocity - wind),
        }
    }
}

impl<W: CarLanes> ChassisLanes<W> {
    /// Reads `bodies` at the start of a step of `dt` s. Returns the state of the chassis as [`ChassisLanes::new`], and
    /// whether each body is finite.
    #[inline(always)]
    pub fn read(bodies: &[ChassisState; BATCH_LANES], dt: f32) -> (Self, [bool; BATCH_LANES]) {
        let motion = MotionLanes::read(bodies);
        let wind = gather_vectors(|car| bodies[car].wind);
        (Self::new(&motion, wind, dt), motion.are_finite(bodies))
    }

    /// Writes the probe of wheel `wheel_index` of each car, a ray without a rim, into `probes` at index
    /// `car · wheel_count + wheel_index`. Each car has `wheel_count` wheels; the first car has the number `first_car`.
    /// `pack` is the pack of this wheel.
    ///
    /// The position of the probe is that of the centre of mass after half the step of `dt` s with the velocity of
    /// `bodies` at its start; the start of the ray is relative to it, in world axes. The ray points down along the
    /// vehicle's z axis in the middle of the step, the third column of `to_world` (from vehicle axes to world axes). The
    /// length of the ray allows for the approach to the ground with the free velocity (end of the step without wheels)
    /// and the angular velocity at the start.
    #[inline(always)]
    pub fn write_probe(
        &self,
        pack: &WheelPack<W>,
        [wheel_index, wheel_count]: [usize; 2],
        first_car: usize,
        bodies: &[ChassisState; BATCH_LANES],
        dt: f32,
        probes: &mut [Probe],
    ) {
        // Start of the ray relative to the centre of mass (world axes, m), and its length (m).
        let (start, ray_length) = probe_rays(pack, &self.to_world, self.free_world_velocity, self.angular_velocity, dt);
        let origins_and_lengths = W::transpose_to_cars([start.x, start.y, start.z, ray_length]);
        let down = self.to_world.z * W::splat(-1.0);
        // The fourth number only fills the array.
        let down = W::transpose_to_cars([down.x, down.y, down.z, ray_length]);
        let probes = &mut probes[..BATCH_LANES * wheel_count];
        for (car, body) in bodies.iter().enumerate() {
            let [x, y, z, _] = down[car].lanes();
            probes[car * wheel_count + wheel_index].set_ray(
                first_car + car,
                body.midstep_position(dt),
                Vec3::new(x, y, z),
                origins_and_lengths[car],
            );
        }
    }
}

/// Motion of a batch of cars in world axes, at the start or at the end of a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct MotionLanes<W> {
    /// Quaternion (x, y, z, w) from vehicle axes to world axes.
    pub rotation: [W; 4],
    /// Velocity of the centre of mass (m/s).
    pub velocity: Vec3Lanes<W>,
    /// Angular velocity (rad/s).
    pub angular_velocity: Vec3Lanes<W>,
    /// Velocities that the step would end with if the vehicles pushed nothing.
    pub linear_free_velocity: Vec3Lanes<W>,
    /// Angular velocities that the step would end with if the vehicles pushed nothing.
    pub angular_free_velocity: Vec3Lanes<W>,
}

impl<W: CarLanes> MotionLanes<W> {
    /// Reads rotation, velocities and free velocities of `bodies` into lanes.
    #[inline(always)]
    pub fn read(bodies: &[ChassisState; BATCH_LANES]) -> Self {
        let gather = |vector: fn(&ChassisState) -> Vec3| gather_vectors(|car| vector(&bodies[car]));
        Self {
            rotation: W::transpose_to_lanes(|car| F32x4::new(bodies[car].rotation.to_array())),
            velocity: gather(|body| body.velocity),
            angular_velocity: gather(|body| body.angular_velocity),
            linear_free_velocity: gather(|body| body.free_velocity),
            angular_free_velocity: gather(|body| body.free_angular_velocity),
        }
    }

    /// Returns whether each car has finite rotation, velocities, free velocities and position. Tests the position (f64)
    /// car by car from `bodies`, all others in lanes.
    #[inline(always)]
    pub fn are_finite(&self, bodies: &[ChassisState; BATCH_LANES]) -> [bool; BATCH_LANES] {
        let velocity_sum =
            self.velocity + self.angular_velocity + self.linear_free_velocity + self.angular_free_velocity;
        let [x, y, z, w] = self.rotation;
        // This sum is finite only if every term is.
        let sum = (velocity_sum.x + velocity_sum.y + velocity_sum.z) + (x + y + z + w);
        let bits = W::bits(sum.abs().less(W::splat(f32::INFINITY)));
        let mut are_finite = [false; BATCH_LANES];
        for (car, (is_finite, body)) in are_finite.iter_mut().zip(bodies).enumerate() {
            *is_finite = bits & (1 << car) != 0 && (body.position.x + body.position.y + body.position.z).is_finite();
        }
        are_finite
    }

    /// Replaces angular velocities after a step of `dt` s that are too small for a 32-bit rotation, by
    /// `resolved_angular_velocity`: the rotation in the step over `dt`. The states of `vehicles` have the rotations at
    /// the start of the step.
    #[inline(always)]
    pub fn resolve_angular_velocities(&mut self, vehicles: &[Vehicle; BATCH_LANES], dt: f32) {
        let start_rotation = || W::transpose_to_lanes(|car| F32x4::new(vehicles[car].state.rotation.to_array()));
        let end_rotation = self.rotation;
        self.angular_velocity = resolved_angular_velocity(
            self.angular_velocity,
            #[inline(always)]
            || [W::Vec4::from_array(start_rotation()), W::Vec4::from_array(end_rotation)],
            dt,
        );
    }
}

impl<W: Lane> MotionLanes<W> {
    /// Returns the linear and angular velocities, rotated by the matrices `axes`.
    #[inline(always)]
    pub fn twist(&self, axes: &Mat3Lanes<W>) -> SpatialVector<W> {
        rotate_twist(SpatialVector::new(self.velocity, self.angular_velocity), axes)
    }
}

/// Returns both parts of `twist`, rotated by the matrices `axes`.
#[inline(always)]
fn rotate_twist<W: Lane>(twist: SpatialVector<W>, axes: &Mat3Lanes<W>) -> SpatialVector<W> {
    SpatialVector::new(axes.mul_vector(twist.linear), axes.mul_vector(twist.angular))
}

/// Collects one vector of each car.
#[inline(always)]
fn gather_vectors<W: CarLanes>(vector: impl Fn(usize) -> Vec3) -> Vec3Lanes<W> {
    Vec3Lanes::new(W::from_fn(|car| vector(car).x), W::from_fn(|car| vector(car).y), W::from_fn(|car| vector(car).z))
}

impl<W: CarLanes> StartState<W> {
    /// Reads the start state of wheel `wheel_index` of each car from `wheels`, the wheels of each car. Includes the
    /// moments if `has_laws` (the tyre has a law other than a simple curve); otherwise the moments are 0.
    #[inline(always)]
    pub(crate) fn read_cars(wheels: &[&[WheelState]; BATCH_LANES], wheel_index: usize, has_laws: bool) -> Self {
        let wheel = |car: usize| &wheels[car][wheel_index];
        let [spin, ux, uy, torque] = W::transpose_to_lanes(|car| {
            let WheelState { spin, deflection: [ux, uy], torque, .. } = *wheel(car);
            F32x4::new([spin, ux, uy, torque])
        });
        let [fx, fy, rolling_speed, rolling] = W::transpose_to_lanes(|car| {
            let WheelState { tyre: [fx, fy], rolling_speed, rolling, .. } = *wheel(car);
            F32x4::new([fx, fy, rolling_speed, rolling])
        });
        let mut moments = [W::default(); 2];
        if has_laws {
            moments = [W::from_fn(|car| wheel(car).overturning), W::from_fn(|car| wheel(car).aligning)];
        }
        Self { spin, deflection: [ux, uy], tyre: [fx, fy], torque, rolling_speed, rolling, moments }
    }
}

/// Returns the first `count` wheels of each of `vehicles`.
#[inline(always)]
pub(crate) fn first_wheels(vehicles: &[Vehicle; BATCH_LANES], count: usize) -> [&[WheelState]; BATCH_LANES] {
    let wheels = |car: usize| &vehicles[car].state.wheels[..count];
    // Written out: the compiler would call a function that builds an array.
    [wheels(0), wheels(1), wheels(2), wheels(3), wheels(4), wheels(5), wheels(6), wheels(7)]
}

/// Returns true if any of the `contacts` has ground data: ground that moves, can be moved, or has a texture.
#[inline(always)]
pub(crate) fn has_surface_data(contacts: &[Option<Contact>]) -> bool {
    let has_ground = |contact: &Option<Contact>| contact.as_ref().is_some_and(|contact| contact.ground.is_some());
    contacts.iter().fold(false, |has_any, contact| has_any | has_ground(contact))
}

/// Returns true if any of the `contacts` is on a body other than the static ground.
pub(crate) fn has_moving_ground(contacts: &[Option<Contact>]) -> bool {
    contacts.iter().flatten().any(|contact| contact.ground.is_some_and(|ground| ground.body != Ground::STATIC_BODY))
}

/// Returns the mask of cars with surface data under any wheel of the group of wheel `wheel_index` (four wheels), and
/// the rolling resistance coefficient that the texture under wheel `wheel_index` adds to each car; 0 without ground
/// data. Each car has `wheel_count` wheels; `contacts` are ordered car by car.
pub(crate) fn gather_textures<W: CarLanes>(
    contacts: &[Option<Contact>],
    [wheel_index, wheel_count]: [usize; 2],
) -> (W::Mask, W) {
    // Wheels of the group.
    let group = 4 * (wheel_index / 4)..wheel_count.min(4 * (wheel_index / 4) + 4);
    // 1 for cars with surface data, 0 for others.
    let has_surface =
        W::from_fn(|car| if has_surface_data(&contacts[car * wheel_count..][group.clone()]) { 1.0 } else { 0.0 });
    let rolling_resistance = |ground: Ground| ground.texture.rolling_resistance;
    let resistance_at = |car: usize| {
        contacts[car * wheel_count + wheel_index].and_then(|contact| contact.ground).map_or(0.0, rolling_resistance)
    };
    (W::splat(0.0).less(has_surface), W::from_fn(resistance_at))
}

/// Contact of a wheel without ground.
const NO_CONTACT: Contact = Contact { distance: 0.0, normal: Vec3::ZERO, grip: 0.0, point: None, ground: None };

/// Returns the contacts of wheel `wheel_index` of each car, with `wheel_count` wheels per car. `contacts` are ordered
/// car by car, wheel by wheel. A missing contact has a normal of zero, which clears `hit`.
#[inline(always)]
pub(crate) fn gather_contacts<W: CarLanes>(
    contacts: &[Option<Contact>],
    [wheel_index, wheel_count]: [usize; 2],
) -> ProbeContacts<W> {
    let contacts = &contacts[..BATCH_LANES * wheel_count];
    let contact_of = |car: usize| contacts[car * wheel_count + wheel_index].as_ref().unwrap_or(&NO_CONTACT);
    let [distance, x, y, z] = W::transpose_to_lanes(|car| {
        let Contact { distance, normal, .. } = contact_of(car);
        F32x4::new([*distance, normal.x, normal.y, normal.z])
    });
    let normal = Vec3Lanes::new(x, y, z);
    ProbeContacts {
        hit: W::default().less(normal.dot(normal)),
        normal,
        distance,
        grip: W::from_fn(|car| contact_of(car).grip),
    }
}

/// Returns the factors of the aerodynamic maps on drag and on both surfaces, computed car by car, for the `velocity` of
/// `vehicles` relative to the air (vehicle frame, m/s).
#[cold]
#[inline(never)]
pub(crate) fn air_factors<W: CarLanes>(vehicles: &[Vehicle; BATCH_LANES], velocity: Vec3Lanes<W>) -> [W; 3] {
    let mut factors = [[0.0; BATCH_LANES]; 3];
    for (car, vehicle) in vehicles.iter().enumerate() {
        let car_factors =
            vehicle.aero_factors(Vec3::new(velocity.x.car(car), velocity.y.car(car), velocity.z.car(car)));
        for (factor_by_car, car_factor) in factors.iter_mut().zip(car_factors) {
            factor_by_car[car] = car_factor;
        }
    }
    factors.map(W::from_lanes)
}

/// Result of a step for one wheel of each car, ordered by car.
pub(crate) struct EndStateByCar {
    /// Numbers of [`EndState::to_array`], four at a time, for each car.
    values: [[F32x4; BATCH_LANES]; 3],
    /// Moments of tyres with a law other than a simple curve (N m).
    moments: Option<[[f32; BATCH_LANES]; 2]>,
    /// Friction factor of the ground minus 1; `None` if it is 0 for all cars.
    grip_excess: Option<[f32; BATCH_LANES]>,
    /// Bit mask of the cars whose wheel is in contact.
    contact: u32,
}

impl EndStateByCar {
    /// Transposes the end state `end_state` of one wheel of each car from lanes to cars, with moments and grip of its
    /// `rows`.
    #[inline(always)]
    pub fn new<W: CarLanes>(rows: &WheelRows<W>, end_state: &EndState<W>) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = end_state.to_array();
        Self {
            values: [
                W::transpose_to_cars([a, b, c, d]),
                W::transpose_to_cars([e, f, g, h]),
                W::transpose_to_cars([i, j, k, l]),
            ],
            moments: rows.has_laws.then(
                #[inline(always)]
                || pair_from_fn(|i| rows.start.moments[i].to_lanes()),
            ),
            grip_excess: rows.grip_excess().map(
                #[inline(always)]
                |excess| excess.to_lanes(),
            ),
            contact: W::bits(end_state.contact),
        }
    }

    /// Writes the result of car `car` into `wheel`. Moments and grip excess become 0 if they are `None`. Steering
    /// angle, disc temperature and lateral shift are not changed.
    #[inline(always)]
    pub fn write(&self, car: usize, wheel: &mut WheelState) {
        let values = [self.values[0][car], self.values[1][car], self.values[2][car]];
        WheelEndState { values, contact: self.contact & (1 << car) != 0 }.write(wheel);
        if let Some([overturning, aligning]) = &self.moments {
            [wheel.overturning, wheel.aligning] = [overturning[car], aligning[car]];
        }
        if let Some(excess) = &self.grip_excess {
            wheel.grip_excess = excess[car];
        }
    }
}
