//! Interface between the cars of a batch and the task that they learn.

use skidpad::core::state::Placement;
use skidpad::core::{State, Vec3};
use skidpad::fleet::Observation;

use crate::environments::random::Random;

/// Numbers per car and action: longitudinal demand and steering demand, both −1 to 1.
pub const ACTION_COUNT: usize = 2;

/// Quantities of [`Motion`] in the order of its fields.
pub const MOTION_QUANTITIES: [Observation; 12] = [
    Observation::X,
    Observation::Y,
    Observation::ForwardX,
    Observation::ForwardY,
    Observation::UpZ,
    Observation::ForwardSpeed,
    Observation::LateralSpeed,
    Observation::YawRate,
    Observation::ForwardAcceleration,
    Observation::LateralAcceleration,
    Observation::Steer,
    Observation::EngineSpeed,
];

/// Motion of a car after a step. Vehicle axes are x forward, y left, z up.
#[derive(Clone, Copy, Debug)]
pub struct Motion {
    /// Position of the centre of mass, world, m.
    pub position: [f32; 2],
    /// Forward direction of the car in the world, a unit vector for a level car.
    pub forward: [f32; 2],
    /// Component z of the upward direction of the car: 1 for a level car, −1 on its roof.
    pub up_z: f32,
    /// Velocity along the forward direction, m/s.
    pub speed: f32,
    /// Velocity to the left of the car, m/s.
    pub lateral_speed: f32,
    /// Angular velocity about the vertical axis of the car, rad/s, positive to the left.
    pub yaw_rate: f32,
    /// Forward acceleration, m/s².
    pub acceleration: f32,
    /// Acceleration to the left, m/s².
    pub lateral_acceleration: f32,
    /// Mean road-wheel angle that the steering has reached, rad, positive to the left.
    pub steer: f32,
    /// Speed of the crankshaft, rad/s.
    pub engine_speed: f32,
}

impl Motion {
    /// Reads the motion from a row of a fleet with the quantities [`MOTION_QUANTITIES`].
    #[inline(always)]
    pub fn from_row(row: &[f32; MOTION_QUANTITIES.len()]) -> Self {
        Self {
            position: [row[0], row[1]],
            forward: [row[2], row[3]],
            up_z: row[4],
            speed: row[5],
            lateral_speed: row[6],
            yaw_rate: row[7],
            acceleration: row[8],
            lateral_acceleration: row[9],
            steer: row[10],
            engine_speed: row[11],
        }
    }

    /// Returns the row of [`Motion::from_row`] for a car that starts in `state` without acceleration.
    pub fn start_row(state: &State) -> [f32; MOTION_QUANTITIES.len()] {
        let [forward, left, up] = [Vec3::X, Vec3::Y, Vec3::Z].map(|axis| state.rotation * axis);
        [
            state.position.x as f32,
            state.position.y as f32,
            forward.x,
            forward.y,
            up.z,
            forward.dot(state.velocity),
            left.dot(state.velocity),
            up.dot(state.angular_velocity),
            0.0,
            0.0,
            state.steer,
            state.drive.engine_speed,
        ]
    }

    /// Returns whether the car lies on its side or roof.
    pub fn is_overturned(&self) -> bool {
        self.up_z < 0.5
    }
}

/// Inputs of a car for a step of an environment.
#[derive(Clone, Copy, Debug, Default)]
pub struct Inputs {
    /// Throttle, brake and handbrake (0 to 1), and mean road-wheel angle (rad, positive to the left).
    pub pedals_and_steer: [f32; 4],
    /// Requested gear; `None` for the choice of the gearbox.
    pub gear: Option<i8>,
}

impl Inputs {
    /// Returns the inputs for an `action` of −1 to 1: a positive longitudinal demand is throttle, a negative one is
    /// brake; the steering demand is a share of `max_steer` (rad).
    pub fn from_action([longitudinal, steer]: [f32; ACTION_COUNT], max_steer: f32) -> Self {
        Self { pedals_and_steer: [longitudinal.max(0.0), (-longitudinal).max(0.0), 0.0, max_steer * steer], gear: None }
    }
}

/// Result of a step of a car.
#[derive(Clone, Copy, Debug, Default)]
pub struct Outcome {
    /// Reward of the step.
    pub reward: f32,
    /// Whether the episode ends because of the state of the car.
    pub is_terminated: bool,
}

/// Task of the cars: starts, inputs, rewards and observations. All methods depend on one car only.
pub trait Task: Send + Sync + 'static {
    /// Data of a car that the task keeps during an episode.
    type Memory: Copy + Default + Send + Sync;

    /// Returns the number of observations of a car.
    fn observation_count(&self) -> usize;

    /// Draws the start of an episode: placement of the car, and its memory.
    fn begin(&self, random: &mut Random) -> (Placement, Self::Memory);

    /// Returns the inputs of a car for `action`, whose numbers are −1 to 1.
    fn inputs(&self, action: [f32; ACTION_COUNT], motion: &Motion, memory: &mut Self::Memory) -> Inputs;

    /// Updates the memory after a step with `action` and returns the result of the step.
    fn advance(&self, action: [f32; ACTION_COUNT], motion: &Motion, memory: &mut Self::Memory) -> Outcome;

    /// Returns the reward of a step in which the motion of the car became infinite or NaN.
    fn failure_reward(&self) -> f32;

    /// Writes the observations of a car, which are clamped afterwards.
    fn observe(&self, motion: &Motion, memory: &Self::Memory, observations: &mut [f32]);

    /// Returns the goal of a car for pictures: position x and y (m) and heading (rad); `None` without a goal.
    fn goal(&self, _memory: &Self::Memory) -> Option<[f32; 3]> {
        None
    }
}
