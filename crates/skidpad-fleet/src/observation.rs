//! Quantities that a step of a fleet writes for each car.

use skidpad_core::block::{BlockLanes, BlockState};
use skidpad_core::simd::vectors::Mat3Lanes;

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

/// Writes the `observations` of the cars in `state` into `rows`, car by car, in order. `dt` is the length of the last
/// step, s. `rows` may end before the last car of the block.
#[inline(always)]
pub fn write_observations<W: BlockLanes>(
    state: &BlockState<W>,
    observations: &[Observation],
    dt: f32,
    rows: &mut [f32],
) {
    let axes = Mat3Lanes::from_quat(state.rotation);
    let acceleration = || (state.velocity - state.previous_velocity) * (W::splat(1.0) / W::splat(dt));
    let position = |k: usize| W::from_array(W::array_from_fn(|car| state.position[k].as_ref()[car] as f32));
    for (column, observation) in observations.iter().enumerate() {
        let wheel = |i: u8| state.wheels.get(usize::from(i));
        let lanes = match *observation {
            Observation::X => position(0),
            Observation::Y => position(1),
            Observation::Z => position(2),
            Observation::ForwardX => axes.x.x,
            Observation::ForwardY => axes.x.y,
            Observation::UpZ => axes.z.z,
            Observation::ForwardSpeed => axes.x.dot(state.velocity),
            Observation::LateralSpeed => axes.y.dot(state.velocity),
            Observation::YawRate => axes.z.dot(state.angular_velocity),
            Observation::ForwardAcceleration => axes.x.dot(acceleration()),
            Observation::LateralAcceleration => axes.y.dot(acceleration()),
            Observation::Steer => state.steer,
            Observation::EngineSpeed => state.drive.engine_speed,
            Observation::Gear => state.drive.gear,
            Observation::WheelSpin(i) => wheel(i).map_or(W::default(), |wheel| wheel.spin),
            Observation::WheelLoad(i) => wheel(i).map_or(W::default(), |wheel| wheel.load),
            Observation::Compression(i) => wheel(i).map_or(W::default(), |wheel| wheel.compression),
        };
        let numbers = lanes.to_array();
        for (row, number) in rows.chunks_exact_mut(observations.len()).zip(numbers.as_ref()) {
            row[column] = *number;
        }
    }
}
