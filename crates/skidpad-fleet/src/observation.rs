//! Quantities that a step of a fleet writes for each car.

use skidpad_core::State;
use skidpad_core::block::{BlockLanes, BlockState};
use skidpad_core::simd::lane::Lane;
use skidpad_core::simd::vectors::{Mat3Lanes, Vec3Lanes};

/// Quantity of a car after a step. Vehicle axes are x forward, y left, z up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Observation {
    /// Position x of the centre of mass, world, m.
    X,
    /// Position y of the centre of mass, world, m.
    Y,
    /// Position z of the centre of mass, world, m.
    Z,
    /// Component x of the forward direction of the car, world: the cosine of the heading of a level car.
    ForwardX,
    /// Component y of the forward direction of the car, world: the sine of the heading of a level car.
    ForwardY,
    /// Component z of the upward direction of the car, world: 1 for a level car, −1 on its roof.
    UpZ,
    /// Velocity along the forward direction of the car, m/s.
    ForwardSpeed,
    /// Velocity to the left of the car, m/s.
    LateralSpeed,
    /// Angular velocity about the vertical axis of the car, rad/s, positive to the left.
    YawRate,
    /// Mean forward acceleration over the last step, m/s².
    ForwardAcceleration,
    /// Mean acceleration to the left over the last step, m/s².
    LateralAcceleration,
    /// Mean road-wheel angle that the steering has reached, rad, positive to the left.
    Steer,
    /// Speed of the crankshaft, rad/s; 0 without an engine.
    EngineSpeed,
    /// Engaged gear: −1, 0, 1…
    Gear,
    /// Spin rate of the wheel with this number, rad/s; 0 if there is no such wheel.
    WheelSpin(u8),
    /// Load of the wheel with this number, N; 0 if there is no such wheel.
    WheelLoad(u8),
    /// Compression of the strut of the wheel with this number from rest, m; 0 if there is no such wheel.
    Compression(u8),
}

/// Writes the `observations` of the cars in `state` into `observation_values`, car by car, in the order of
/// `observations`. `dt` is the length of the last step, s. If `observation_values` ends before the last car of the
/// block, the other cars are left out.
#[inline(always)]
pub fn write_observations<W: BlockLanes>(
    state: &BlockState<W>,
    observations: &[Observation],
    dt: f32,
    observation_values: &mut [f32],
) {
    let axes = Mat3Lanes::from_quat(state.rotation);
    for (column, observation) in observations.iter().enumerate() {
        let numbers = observation.evaluate(state, &axes, dt).to_array();
        for (row, number) in observation_values.chunks_exact_mut(observations.len()).zip(numbers.as_ref()) {
            row[column] = *number;
        }
    }
}

/// Writes the `observations` of a car in `state` into `row`, one number each, as [`crate::Fleet::step_into`] does for
/// the cars of a fleet. `dt` is the length of the last step, s. If `row` is shorter, the last observations are left
/// out.
pub fn write_car_observations(state: &State, observations: &[Observation], dt: f32, row: &mut [f32]) {
    let axes = Mat3Lanes::from_quat(state.rotation.to_array());
    for (number, observation) in row.iter_mut().zip(observations) {
        *number = observation.evaluate(state, &axes, dt);
    }
}

impl Observation {
    /// Returns the quantity of the cars in `state`, whose axes in the world are `axes`. `dt` is the length of the last
    /// step, s.
    #[inline(always)]
    fn evaluate<L: Lane>(self, state: &impl ObservedState<L>, axes: &Mat3Lanes<L>, dt: f32) -> L {
        let acceleration = || (state.velocity() - state.previous_velocity()) * (L::splat(1.0) / L::splat(dt));
        let wheel = |i: u8, quantity: usize| state.wheel(usize::from(i)).map_or(L::default(), |wheel| wheel[quantity]);
        match self {
            Observation::X => state.position(0),
            Observation::Y => state.position(1),
            Observation::Z => state.position(2),
            Observation::ForwardX => axes.x.x,
            Observation::ForwardY => axes.x.y,
            Observation::UpZ => axes.z.z,
            Observation::ForwardSpeed => axes.x.dot(state.velocity()),
            Observation::LateralSpeed => axes.y.dot(state.velocity()),
            Observation::YawRate => axes.z.dot(state.angular_velocity()),
            Observation::ForwardAcceleration => axes.x.dot(acceleration()),
            Observation::LateralAcceleration => axes.y.dot(acceleration()),
            Observation::Steer => state.steer(),
            Observation::EngineSpeed => state.engine_speed_and_gear()[0],
            Observation::Gear => state.engine_speed_and_gear()[1],
            Observation::WheelSpin(i) => wheel(i, 0),
            Observation::WheelLoad(i) => wheel(i, 1),
            Observation::Compression(i) => wheel(i, 2),
        }
    }
}

/// State that can be observed: that of one car, or those of a block of cars, one per lane. Units are those of
/// [`State`].
trait ObservedState<L: Lane> {
    /// Returns component `axis` of the position.
    fn position(&self, axis: usize) -> L;
    /// Returns the velocity.
    fn velocity(&self) -> Vec3Lanes<L>;
    /// Returns the velocity one step ago.
    fn previous_velocity(&self) -> Vec3Lanes<L>;
    /// Returns the angular velocity.
    fn angular_velocity(&self) -> Vec3Lanes<L>;
    /// Returns the mean road-wheel angle.
    fn steer(&self) -> L;
    /// Returns the speed of the crankshaft, and the engaged gear.
    fn engine_speed_and_gear(&self) -> [L; 2];
    /// Returns spin rate, load and compression of wheel `i`; `None` if there is no such wheel.
    fn wheel(&self, i: usize) -> Option<[L; 3]>;
}

impl<W: BlockLanes> ObservedState<W> for BlockState<W> {
    #[inline(always)]
    fn position(&self, axis: usize) -> W {
        W::from_array(W::array_from_fn(|car| self.position[axis].as_ref()[car] as f32))
    }

    #[inline(always)]
    fn velocity(&self) -> Vec3Lanes<W> {
        self.velocity
    }

    #[inline(always)]
    fn previous_velocity(&self) -> Vec3Lanes<W> {
        self.previous_velocity
    }

    #[inline(always)]
    fn angular_velocity(&self) -> Vec3Lanes<W> {
        self.angular_velocity
    }

    #[inline(always)]
    fn steer(&self) -> W {
        self.steer
    }

    #[inline(always)]
    fn engine_speed_and_gear(&self) -> [W; 2] {
        [self.drive.engine_speed, self.drive.gear]
    }

    #[inline(always)]
    fn wheel(&self, i: usize) -> Option<[W; 3]> {
        self.wheels.get(i).map(|wheel| [wheel.spin, wheel.load, wheel.compression])
    }
}

impl ObservedState<f32> for State {
    fn position(&self, axis: usize) -> f32 {
        self.position.to_array()[axis] as f32
    }

    fn velocity(&self) -> Vec3Lanes<f32> {
        Vec3Lanes::splat(self.velocity)
    }

    fn previous_velocity(&self) -> Vec3Lanes<f32> {
        Vec3Lanes::splat(self.previous_velocity)
    }

    fn angular_velocity(&self) -> Vec3Lanes<f32> {
        Vec3Lanes::splat(self.angular_velocity)
    }

    fn steer(&self) -> f32 {
        self.steer
    }

    fn engine_speed_and_gear(&self) -> [f32; 2] {
        [self.drive.engine_speed, f32::from(self.drive.gear)]
    }

    fn wheel(&self, i: usize) -> Option<[f32; 3]> {
        self.wheels.get(i).map(|wheel| [wheel.spin, wheel.load, wheel.compression])
    }
}
