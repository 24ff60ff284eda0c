//! Exchange of data between a batch and its cars.

use crate::lane::{Eight, Four, Octet, Quad, both};
use crate::linear::SpatialVector;
use crate::state::WheelState;
use crate::step::rows::{Begun, Rows};
use crate::step::vehicle::Vehicle;
use crate::step::write_back::{Ended, WheelEnded, settled_rate};
use crate::vectors::{self, Axes, Vec3Lanes};
use crate::wheel::contact::{Met, rays};
use crate::wheel::pack::WheelPack;
use crate::world::seam::{Body, Contact, Ground, Probe};
use bevy_math::Vec3;

/// Number of cars in a batch.
pub(crate) const ABREAST: usize = Eight::COUNT;

/// Addend that changes no bit of any number, zeros included.
pub(crate) const NO_CHANGE: f32 = -0.0;

/// State of the chassis of a batch of cars, in the vehicle frame in the middle of the step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chassis<W> {
    pub to_world: Axes<W>,
    pub to_vehicle: Axes<W>,
    /// Angular velocity at the start of the step, world axes (rad/s).
    angular: Vec3Lanes<W>,
    /// Velocity that the step would end with if the vehicles pushed nothing, world axes (m/s).
    falling: Vec3Lanes<W>,
    /// Velocities at the start of the step.
    pub moving: SpatialVector<W>,
    /// Velocities that the step would end with if the vehicles pushed nothing.
    pub free: SpatialVector<W>,
    /// Velocity relative to the air (m/s).
    pub in_air: Vec3Lanes<W>,
}

impl<W: Octet> Chassis<W> {
    /// Reads `bodies` for a step of `dt` s. Returns the state of the chassis, and whether each body is finite.
    #[inline(always)]
    pub fn of(bodies: &[Body; ABREAST], dt: f32) -> (Self, [bool; ABREAST]) {
        let motion = Motion::of(bodies);
        let to_world = Axes::rotated(vectors::turned(motion.rotation, motion.angular, 0.5 * dt));
        let to_vehicle = to_world.transposed();
        let wind = vector(|car| bodies[car].wind);
        let chassis = Self {
            to_world,
            to_vehicle,
            angular: motion.angular,
            falling: motion.free,
            moving: motion.twist(&to_vehicle),
            free: turned(SpatialVector::new(motion.free, motion.free_angular), &to_vehicle),
            in_air: to_vehicle.times(motion.velocity - wind),
        };
        (chassis, motion.are_finite(bodies))
    }

    /// Writes the probe of wheel `k` of each car into `asked`, with `wheels` wheels per car. `bank` is the pack of that
    /// wheel; the first car has the number `first`.
    #[inline(always)]
    pub fn ask(
        &self,
        bank: &WheelPack<W>,
        [k, wheels]: [usize; 2],
        first: usize,
        bodies: &[Body; ABREAST],
        dt: f32,
        asked: &mut [Probe],
    ) {
        let (start, reach) = rays(bank, &self.to_world, self.falling, self.angular, dt);
        let ends = W::rows([start.x, start.y, start.z, reach]);
        let down = self.to_world.z * W::splat(-1.0);
        let down = W::rows([down.x, down.y, down.z, reach]);
        let asked = &mut asked[..ABREAST * wheels];
        for (car, body) in bodies.iter().enumerate() {
            let [x, y, z, _] = down[car].lanes();
            asked[car * wheels + k].cast(first + car, body.position_halfway(dt), Vec3::new(x, y, z), ends[car]);
        }
    }
}

/// Motion of a batch of cars in world axes, at the start or at the end of a step.
pub(crate) struct Motion<W> {
    rotation: [W; 4],
    velocity: Vec3Lanes<W>,
    angular: Vec3Lanes<W>,
    /// Velocities that the step would end with if the vehicles pushed nothing.
    free: Vec3Lanes<W>,
    free_angular: Vec3Lanes<W>,
}

impl<W: Octet> Motion<W> {
    #[inline(always)]
    pub fn of(bodies: &[Body; ABREAST]) -> Self {
        let of = |part: fn(&Body) -> Vec3| vector(|car| part(&bodies[car]));
        Self {
            rotation: W::columns(|car| Four::new(bodies[car].rotation.to_array())),
            velocity: of(|body| body.velocity),
            angular: of(|body| body.angular),
            free: of(|body| body.free_velocity),
            free_angular: of(|body| body.free_angular),
        }
    }

    /// Returns whether each car is finite, as [`crate::step::vehicle::finite`].
    #[inline(always)]
    pub fn are_finite(&self, bodies: &[Body; ABREAST]) -> [bool; ABREAST] {
        let moves = self.velocity + self.angular + self.free + self.free_angular;
        let [x, y, z, w] = self.rotation;
        let sum = (moves.x + moves.y + moves.z) + (x + y + z + w);
        let bits = W::bits(sum.abs().less(W::splat(f32::INFINITY)));
        let mut are_finite = [false; ABREAST];
        for (car, (is_finite, body)) in are_finite.iter_mut().zip(bodies).enumerate() {
            *is_finite = bits & (1 << car) != 0 && (body.position.x + body.position.y + body.position.z).is_finite();
        }
        are_finite
    }

    /// Replaces the angular velocities after a step of `dt` s by those of [`settled_rate`]. The states of `vehicles`
    /// have the rotations at the start of the step.
    #[inline(always)]
    pub fn settle_rates(&mut self, vehicles: &[Vehicle; ABREAST], dt: f32) {
        let from = || W::columns(|car| Four::new(vehicles[car].state.rotation.to_array()));
        let to = self.rotation;
        self.angular = settled_rate(
            self.angular,
            #[inline(always)]
            || [W::Quad::of(from()), W::Quad::of(to)],
            dt,
        );
    }

    /// Returns the velocities in the frames that `axes` transform to.
    #[inline(always)]
    pub fn twist(&self, axes: &Axes<W>) -> SpatialVector<W> {
        turned(SpatialVector::new(self.velocity, self.angular), axes)
    }
}

/// Returns `twist` in the frames that `axes` transform to.
#[inline(always)]
fn turned<W: Octet>(twist: SpatialVector<W>, axes: &Axes<W>) -> SpatialVector<W> {
    SpatialVector::new(axes.times(twist.linear), axes.times(twist.angular))
}

/// Collects one vector of each car.
#[inline(always)]
fn vector<W: Octet>(of: impl Fn(usize) -> Vec3) -> Vec3Lanes<W> {
    Vec3Lanes::new(W::of_each(|car| of(car).x), W::of_each(|car| of(car).y), W::of_each(|car| of(car).z))
}

impl<W: Octet> Begun<W> {
    /// Reads the state of wheel `k` of each car; includes the moments if its tyre `has_laws`.
    #[inline(always)]
    pub(crate) fn of_cars(wheels: &[&[WheelState]; ABREAST], k: usize, has_laws: bool) -> Self {
        let wheel = |car: usize| &wheels[car][k];
        let [spin, u, v, torque] = W::columns(|car| {
            let WheelState { spin, deflection: [u, v], torque, .. } = *wheel(car);
            Four::new([spin, u, v, torque])
        });
        let [along, across, rolling_speed, rolling] = W::columns(|car| {
            let WheelState { tyre: [along, across], rolling_speed, rolling, .. } = *wheel(car);
            Four::new([along, across, rolling_speed, rolling])
        });
        let mut moments = [W::default(); 2];
        if has_laws {
            moments = [W::of_each(|car| wheel(car).overturning), W::of_each(|car| wheel(car).aligning)];
        }
        Self { spin, deflection: [u, v], tyre: [along, across], torque, rolling_speed, rolling, moments }
    }
}

/// Returns the first `count` wheels of each of `vehicles`.
#[inline(always)]
pub(crate) fn wheels_of(vehicles: &[Vehicle; ABREAST], count: usize) -> [&[WheelState]; ABREAST] {
    let of = |car: usize| &vehicles[car].state.wheels[..count];
    // Written out: the compiler would call a function that builds an array.
    [of(0), of(1), of(2), of(3), of(4), of(5), of(6), of(7)]
}

/// Returns true if any contact in `met` is on ground that moves, can be moved, or has a texture.
#[inline(always)]
pub(crate) fn tells(met: &[Option<Contact>]) -> bool {
    let tells = |contact: &Option<Contact>| contact.as_ref().is_some_and(|contact| contact.ground.is_some());
    met.iter().fold(false, |any, contact| any | tells(contact))
}

/// Returns true if any contact in `met` is on ground that moves or can be moved.
pub(crate) fn moves(met: &[Option<Contact>]) -> bool {
    met.iter().flatten().any(|contact| contact.ground.is_some_and(|ground| ground.body != Ground::STILL))
}

/// Returns the mask of cars with textured ground under the bank of wheel `k`, and the rolling resistance coefficient
/// that the texture under wheel `k` adds. Each car has `wheels` wheels.
pub(crate) fn textures<W: Octet>(contacts: &[Option<Contact>], [k, wheels]: [usize; 2]) -> (W::Mask, W) {
    let bank = 4 * (k / 4)..wheels.min(4 * (k / 4) + 4);
    let told = W::of_each(|car| if tells(&contacts[car * wheels..][bank.clone()]) { 1.0 } else { 0.0 });
    let rolling = |ground: Ground| ground.texture.rolling;
    let under = |car: usize| contacts[car * wheels + k].and_then(|contact| contact.ground).map_or(0.0, rolling);
    (W::splat(0.0).less(told), W::of_each(under))
}

/// Contact of a wheel without ground.
const NOTHING: Contact = Contact { distance: 0.0, normal: Vec3::ZERO, grip: 0.0, point: None, ground: None };

/// Returns the contacts of wheel `k` of each car, with `wheels` wheels per car. `contacts` are ordered car by car,
/// wheel by wheel.
#[inline(always)]
pub(crate) fn met<W: Octet>(contacts: &[Option<Contact>], [k, wheels]: [usize; 2]) -> Met<W> {
    let contacts = &contacts[..ABREAST * wheels];
    let of = |car: usize| contacts[car * wheels + k].as_ref().unwrap_or(&NOTHING);
    let [distance, x, y, z] = W::columns(|car| {
        let Contact { distance, normal, .. } = of(car);
        Four::new([*distance, normal.x, normal.y, normal.z])
    });
    let normal = Vec3Lanes::new(x, y, z);
    Met { hit: W::default().less(normal.dot(normal)), normal, distance, grip: W::of_each(|car| of(car).grip) }
}

/// Returns the factors of the aerodynamic maps on drag and on each surface, for the `velocity` of `vehicles` relative
/// to the air (vehicle frame, m/s).
#[cold]
#[inline(never)]
pub(crate) fn air_factors<W: Octet>(vehicles: &[Vehicle; ABREAST], velocity: Vec3Lanes<W>) -> [W; 3] {
    let mut factors = [[0.0; ABREAST]; 3];
    for (car, vehicle) in vehicles.iter().enumerate() {
        let of_car = vehicle.aero_factors(Vec3::new(velocity.x.car(car), velocity.y.car(car), velocity.z.car(car)));
        for (factors, of_car) in factors.iter_mut().zip(of_car) {
            factors[car] = of_car;
        }
    }
    factors.map(W::of_lanes)
}

/// Result of a step for one wheel of each car, ordered by car.
pub(crate) struct EndedByCar {
    numbers: [[Four; ABREAST]; 3],
    /// Moments of tyres with a law other than a simple curve (N m).
    moments: Option<[[f32; ABREAST]; 2]>,
    /// Friction factor of the ground minus 1; `None` if it is 0 for all cars.
    grip_excess: Option<[f32; ABREAST]>,
    /// Bit mask of the cars whose wheel is in contact.
    contact: u32,
}

impl EndedByCar {
    #[inline(always)]
    pub fn of<W: Octet>(rows: &Rows<W>, ended: &Ended<W>) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l] = ended.numbers();
        Self {
            numbers: [W::rows([a, b, c, d]), W::rows([e, f, g, h]), W::rows([i, j, k, l])],
            moments: rows.has_laws.then(
                #[inline(always)]
                || both(|i| rows.begun.moments[i].in_lanes()),
            ),
            grip_excess: rows.grip_excess().map(
                #[inline(always)]
                |excess| excess.in_lanes(),
            ),
            contact: W::bits(ended.contact),
        }
    }

    #[inline(always)]
    pub fn write(&self, car: usize, wheel: &mut WheelState) {
        let numbers = [self.numbers[0][car], self.numbers[1][car], self.numbers[2][car]];
        WheelEnded { numbers, contact: self.contact & (1 << car) != 0 }.write(wheel);
        if let Some([overturning, aligning]) = &self.moments {
            [wheel.overturning, wheel.aligning] = [overturning[car], aligning[car]];
        }
        if let Some(excess) = &self.grip_excess {
            wheel.grip_excess = excess[car];
        }
    }
}
