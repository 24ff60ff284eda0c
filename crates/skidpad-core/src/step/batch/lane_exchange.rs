//! Exchange of data between a batch and its cars.

use crate::assembly::wheel::contact::{ProbeContacts, probe_rays};
use crate::model::wheel_pack::WheelPack;
use crate::port::{ChassisState, Contact, Ground, Probe};
use crate::simd::lane::{CarLanes, F32x4, F32x8Pair, Vec4Ops, pair_from_fn};
use crate::simd::linear::SpatialVector;
use crate::simd::vectors::{self, Mat3Lanes, Vec3Lanes};
use crate::state::WheelState;
use crate::step::write_back::{EndState, WheelEndState, resolved_angular_velocity};
use crate::vehicle::Vehicle;
use crate::vehicle::rows::{StartState, WheelRows};
use bevy_math::Vec3;

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
    angular: Vec3Lanes<W>,
    /// Velocity that the step would end with if the vehicles pushed nothing, world axes (m/s).
    free_world_velocity: Vec3Lanes<W>,
    /// Velocities at the start of the step.
    pub start_velocity: SpatialVector<W>,
    /// Velocities that the step would end with if the vehicles pushed nothing.
    pub free_velocity: SpatialVector<W>,
    /// Velocity relative to the air (m/s).
    pub air_velocity: Vec3Lanes<W>,
}

impl<W: CarLanes> ChassisLanes<W> {
    /// Reads `bodies` at the start of a step of `dt` s. The axes are those after half a step at the initial angular
    /// velocity. Returns the state of the chassis in these axes, and whether each body is finite.
    #[inline(always)]
    pub fn read(bodies: &[ChassisState; BATCH_LANES], dt: f32) -> (Self, [bool; BATCH_LANES]) {
        let motion = MotionLanes::read(bodies);
        let to_world = Mat3Lanes::from_quat(vectors::integrate_rotation(motion.rotation, motion.angular, 0.5 * dt));
        let to_vehicle = to_world.transposed();
        // Velocity of the air, world axes (m/s).
        let wind = gather_vectors(|car| bodies[car].wind);
        let chassis = Self {
            to_world,
            to_vehicle,
            angular: motion.angular,
            free_world_velocity: motion.free,
            start_velocity: motion.twist(&to_vehicle),
            free_velocity: rotate_twist(SpatialVector::new(motion.free, motion.free_angular), &to_vehicle),
            air_velocity: to_vehicle.mul_vector(motion.velocity - wind),
        };
        (chassis, motion.are_finite(bodies))
    }

    /// Writes the probe of wheel `k` of each car into `asked` at index `car · wheels + k`, with `wheels` wheels per
    /// car. `bank` is the pack of that wheel; the first car has the number `first`. The ray points down along the
    /// vehicle's z axis from the position of `bodies` in the middle of the step of `dt` s.
    #[inline(always)]
    pub fn write_probe(
        &self,
        bank: &WheelPack<W>,
        [k, wheels]: [usize; 2],
        first: usize,
        bodies: &[ChassisState; BATCH_LANES],
        dt: f32,
        asked: &mut [Probe],
    ) {
        // Start of the ray relative to the centre of mass (world axes, m), and its length (m).
        let (start, reach) = probe_rays(bank, &self.to_world, self.free_world_velocity, self.angular, dt);
        let ends = W::transpose_to_cars([start.x, start.y, start.z, reach]);
        let down = self.to_world.z * W::splat(-1.0);
        // The fourth number only fills the array.
        let down = W::transpose_to_cars([down.x, down.y, down.z, reach]);
        let asked = &mut asked[..BATCH_LANES * wheels];
        for (car, body) in bodies.iter().enumerate() {
            let [x, y, z, _] = down[car].lanes();
            asked[car * wheels + k].set_ray(first + car, body.midstep_position(dt), Vec3::new(x, y, z), ends[car]);
        }
    }
}

/// Motion of a batch of cars in world axes, at the start or at the end of a step.
pub(crate) struct MotionLanes<W> {
    /// Quaternion (x, y, z, w) from vehicle axes to world axes.
    rotation: [W; 4],
    /// Velocity of the centre of mass (m/s).
    velocity: Vec3Lanes<W>,
    /// Angular velocity (rad/s).
    angular: Vec3Lanes<W>,
    /// Velocities that the step would end with if the vehicles pushed nothing.
    free: Vec3Lanes<W>,
    /// Angular velocities that the step would end with if the vehicles pushed nothing.
    free_angular: Vec3Lanes<W>,
}

impl<W: CarLanes> MotionLanes<W> {
    /// Reads rotation, velocities and free velocities of `bodies` into lanes.
    #[inline(always)]
    pub fn read(bodies: &[ChassisState; BATCH_LANES]) -> Self {
        let of = |part: fn(&ChassisState) -> Vec3| gather_vectors(|car| part(&bodies[car]));
        Self {
            rotation: W::transpose_to_lanes(|car| F32x4::new(bodies[car].rotation.to_array())),
            velocity: of(|body| body.velocity),
            angular: of(|body| body.angular),
            free: of(|body| body.free_velocity),
            free_angular: of(|body| body.free_angular),
        }
    }

    /// Returns whether each car is finite, as [`crate::vehicle::is_body_finite`]: rotation and velocities in
    /// lanes, the position (f64) car by car from `bodies`.
    #[inline(always)]
    pub fn are_finite(&self, bodies: &[ChassisState; BATCH_LANES]) -> [bool; BATCH_LANES] {
        let moves = self.velocity + self.angular + self.free + self.free_angular;
        let [x, y, z, w] = self.rotation;
        // This sum is finite only if every term is.
        let sum = (moves.x + moves.y + moves.z) + (x + y + z + w);
        let bits = W::bits(sum.abs().less(W::splat(f32::INFINITY)));
        let mut are_finite = [false; BATCH_LANES];
        for (car, (is_finite, body)) in are_finite.iter_mut().zip(bodies).enumerate() {
            *is_finite = bits & (1 << car) != 0 && (body.position.x + body.position.y + body.position.z).is_finite();
        }
        are_finite
    }

    /// Replaces the angular velocities after a step of `dt` s by those of [`resolved_angular_velocity`]. The states of `vehicles`
    /// have the rotations at the start of the step.
    #[inline(always)]
    pub fn resolve_angular_velocities(&mut self, vehicles: &[Vehicle; BATCH_LANES], dt: f32) {
        let from = || W::transpose_to_lanes(|car| F32x4::new(vehicles[car].state.rotation.to_array()));
        let to = self.rotation;
        self.angular = resolved_angular_velocity(
            self.angular,
            #[inline(always)]
            || [W::Vec4::from_array(from()), W::Vec4::from_array(to)],
            dt,
        );
    }

    /// Returns the linear and angular velocities, rotated by the matrices `axes`.
    #[inline(always)]
    pub fn twist(&self, axes: &Mat3Lanes<W>) -> SpatialVector<W> {
        rotate_twist(SpatialVector::new(self.velocity, self.angular), axes)
    }
}

/// Returns both parts of `twist`, rotated by the matrices `axes`.
#[inline(always)]
fn rotate_twist<W: CarLanes>(twist: SpatialVector<W>, axes: &Mat3Lanes<W>) -> SpatialVector<W> {
    SpatialVector::new(axes.mul_vector(twist.linear), axes.mul_vector(twist.angular))
}

/// Collects one vector of each car.
#[inline(always)]
fn gather_vectors<W: CarLanes>(of: impl Fn(usize) -> Vec3) -> Vec3Lanes<W> {
    Vec3Lanes::new(W::from_fn(|car| of(car).x), W::from_fn(|car| of(car).y), W::from_fn(|car| of(car).z))
}

impl<W: CarLanes> StartState<W> {
    /// Reads the start state of wheel `k` of each car from `wheels`, the wheels of each car; includes the moments if
    /// its tyre `has_laws` (a law other than a simple curve), otherwise they are 0.
    #[inline(always)]
    pub(crate) fn read_cars(wheels: &[&[WheelState]; BATCH_LANES], k: usize, has_laws: bool) -> Self {
        let wheel = |car: usize| &wheels[car][k];
        let [spin, u, v, torque] = W::transpose_to_lanes(|car| {
            let WheelState { spin, deflection: [u, v], torque, .. } = *wheel(car);
            F32x4::new([spin, u, v, torque])
        });
        let [along, across, rolling_speed, rolling] = W::transpose_to_lanes(|car| {
            let WheelState { tyre: [along, across], rolling_speed, rolling, .. } = *wheel(car);
            F32x4::new([along, across, rolling_speed, rolling])
        });
        let mut moments = [W::default(); 2];
        if has_laws {
            moments = [W::from_fn(|car| wheel(car).overturning), W::from_fn(|car| wheel(car).aligning)];
        }
        Self { spin, deflection: [u, v], tyre: [along, across], torque, rolling_speed, rolling, moments }
    }
}

/// Returns the first `count` wheels of each of `vehicles`.
#[inline(always)]
pub(crate) fn first_wheels(vehicles: &[Vehicle; BATCH_LANES], count: usize) -> [&[WheelState]; BATCH_LANES] {
    let of = |car: usize| &vehicles[car].state.wheels[..count];
    // Written out: the compiler would call a function that builds an array.
    [of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)]
}

/// Returns true if any of the contacts `met` has ground data: ground that moves, can be moved, or has a texture.
#[inline(always)]
pub(crate) fn has_surface_data(met: &[Option<Contact>]) -> bool {
    let tells = |contact: &Option<Contact>| contact.as_ref().is_some_and(|contact| contact.ground.is_some());
    met.iter().fold(false, |any, contact| any | tells(contact))
}

/// Returns true if any of the contacts `met` is on a body other than the static ground.
pub(crate) fn has_moving_ground(met: &[Option<Contact>]) -> bool {
    met.iter().flatten().any(|contact| contact.ground.is_some_and(|ground| ground.body != Ground::STATIC_BODY))
}

/// Returns the mask of cars with surface data under any wheel of the bank of wheel `k` (four wheels), and the rolling
/// resistance coefficient that the texture under wheel `k` adds to each car; 0 without ground data. Each car has
/// `wheels` wheels; `contacts` are ordered car by car.
pub(crate) fn gather_textures<W: CarLanes>(contacts: &[Option<Contact>], [k, wheels]: [usize; 2]) -> (W::Mask, W) {
    // Wheels of the bank.
    let bank = 4 * (k / 4)..wheels.min(4 * (k / 4) + 4);
    // 1 for cars with surface data, 0 for others.
    let told = W::from_fn(|car| if has_surface_data(&contacts[car * wheels..][bank.clone()]) { 1.0 } else { 0.0 });
    let rolling = |ground: Ground| ground.texture.rolling_resistance;
    let under = |car: usize| contacts[car * wheels + k].and_then(|contact| contact.ground).map_or(0.0, rolling);
    (W::splat(0.0).less(told), W::from_fn(under))
}

/// Contact of a wheel without ground.
const NO_CONTACT: Contact = Contact { distance: 0.0, normal: Vec3::ZERO, grip: 0.0, point: None, ground: None };

/// Returns the contacts of wheel `k` of each car, with `wheels` wheels per car. `contacts` are ordered car by car,
/// wheel by wheel. A missing contact has a normal of zero, which clears `hit`.
#[inline(always)]
pub(crate) fn gather_contacts<W: CarLanes>(contacts: &[Option<Contact>], [k, wheels]: [usize; 2]) -> ProbeContacts<W> {
    let contacts = &contacts[..BATCH_LANES * wheels];
    let of = |car: usize| contacts[car * wheels + k].as_ref().unwrap_or(&NO_CONTACT);
    let [distance, x, y, z] = W::transpose_to_lanes(|car| {
        let Contact { distance, normal, .. } = of(car);
        F32x4::new([*distance, normal.x, normal.y, normal.z])
    });
    let normal = Vec3Lanes::new(x, y, z);
    ProbeContacts { hit: W::default().less(normal.dot(normal)), normal, distance, grip: W::from_fn(|car| of(car).grip) }
}

/// Returns the factors of the aerodynamic maps on drag and on both surfaces, computed car by car, for the `velocity` of
/// `vehicles` relative to the air (vehicle frame, m/s).
#[cold]
#[inline(never)]
pub(crate) fn air_factors<W: CarLanes>(vehicles: &[Vehicle; BATCH_LANES], velocity: Vec3Lanes<W>) -> [W; 3] {
    let mut factors = [[0.0; BATCH_LANES]; 3];
    for (car, vehicle) in vehicles.iter().enumerate() {
        let of_car = vehicle.aero_factors(Vec3::new(velocity.x.car(car), velocity.y.car(car), velocity.z.car(car)));
        for (factors, of_car) in factors.iter_mut().zip(of_car) {
            factors[car] = of_car;
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
    /// Transposes the end state `ended` of one wheel of each car from lanes to cars, with moments and grip of its
    /// `rows`.
    #[inline(always)]
    pub fn new<W: CarLanes>(rows: &WheelRows<W>, ended: &EndState<W>) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = ended.to_array();
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
            contact: W::bits(ended.contact),
        }
    }

    /// Writes the result of car `car` into `wheel`. Moments and grip excess become 0 if they are `None`. The disc
    /// temperature is not part of it.
    #[inline(always)]
    pub fn write(&self, car: usize, wheel: &mut WheelState) {
        let numbers = [self.values[0][car], self.values[1][car], self.values[2][car]];
        WheelEndState { values: numbers, contact: self.contact & (1 << car) != 0 }.write(wheel);
        if let Some([overturning, aligning]) = &self.moments {
            [wheel.overturning, wheel.aligning] = [overturning[car], aligning[car]];
        }
        if let Some(excess) = &self.grip_excess {
            wheel.grip_excess = excess[car];
        }
    }
}
