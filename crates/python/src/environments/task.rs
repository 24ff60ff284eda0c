//! Interface between the cars of a batch and the task that they learn.

use skidpad::core::state::Placement;
use skidpad::core::{DVec3, State, Vec3};
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

/// Quantities of the [`Pose`] of a trailer in the order of its numbers.
pub const TRAILER_QUANTITIES: [Observation; 4] =
    [Observation::X, Observation::Y, Observation::ForwardX, Observation::ForwardY];

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
    /// Pose of the trailer; `None` for a car without one.
    pub trailer: Option<Pose>,
}

/// Position and direction of a vehicle in the plane.
#[derive(Clone, Copy, Debug)]
pub struct Pose {
    /// Position of the centre of mass, world, m.
    pub position: [f32; 2],
    /// Forward direction in the world, a unit vector for a level vehicle.
    pub forward: [f32; 2],
}

impl Motion {
    /// Reads the motion from a row with the numbers of [`MOTION_QUANTITIES`], and for a car with a trailer those of
    /// [`TRAILER_QUANTITIES`]. Returns a motion of zeros for a shorter row.
    #[inline(always)]
    pub fn from_row(row: &[f32]) -> Self {
        let (row, trailer_row) = row.split_first_chunk().unwrap_or((&[0.0; MOTION_QUANTITIES.len()], &[]));
        let trailer = trailer_row.first_chunk::<{ TRAILER_QUANTITIES.len() }>();
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
            trailer: trailer.map(|&[x, y, fx, fy]| Pose { position: [x, y], forward: [fx, fy] }),
        }
    }

    /// Returns the pose of the car.
    pub fn pose(&self) -> Pose {
        Pose { position: self.position, forward: self.forward }
    }

    /// Returns true if the car is tilted by more than 60°, such as on its side or roof.
    pub fn is_overturned(&self) -> bool {
        self.up_z < 0.5
    }
}

/// Start of an episode: a placement, and the motion of a car that slides there.
#[derive(Clone, Copy, Debug, Default)]
pub struct Start {
    /// Position, heading and forward speed.
    pub placement: Placement,
    /// Velocity to the left of the car, m/s.
    pub lateral_speed: f32,
    /// Angular velocity about the vertical axis, rad/s, positive to the left.
    pub yaw_rate: f32,
}

impl From<Placement> for Start {
    /// Returns the start of a car that rolls straight ahead.
    fn from(placement: Placement) -> Self {
        Self { placement, ..Self::default() }
    }
}

impl Start {
    /// Returns whether the car slides or yaws.
    pub fn is_sliding(&self) -> bool {
        self.lateral_speed != 0.0 || self.yaw_rate != 0.0
    }

    /// Adds lateral velocity and yaw rate to the state of a placed vehicle. Car and trailer move as one rigid body:
    /// `centre`, the centre of mass of the car, has the lateral velocity, and every vehicle turns about it.
    pub fn add_sliding(&self, state: &mut State, centre: DVec3) {
        let heading = self.placement.heading;
        let yaw = Vec3::new(0.0, 0.0, self.yaw_rate);
        let left = Vec3::new(-libm::sinf(heading), libm::cosf(heading), 0.0);
        state.velocity += left * self.lateral_speed + yaw.cross((state.position - centre).as_vec3());
        state.previous_velocity = state.velocity;
        state.angular_velocity += yaw;
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

    /// Number of numbers of the row of a car: those of [`MOTION_QUANTITIES`], and with trailers those of
    /// [`TRAILER_QUANTITIES`].
    const ROW_LENGTH: usize = MOTION_QUANTITIES.len();

    /// Returns the number of observations of a car.
    fn observation_count(&self) -> usize;

    /// Draws the start of an episode, and returns it with the memory of the car.
    fn begin(&self, random: &mut Random) -> (Start, Self::Memory);

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
