//! Task: park a car on a goal, forward or in reverse.

use skidpad::core::state::Placement;

use crate::environments::random::Random;
use crate::environments::task::{ACTION_COUNT, Inputs, Motion, Outcome, Pose, Start, Task};

/// Names of the observations.
pub const NAMES: [&str; 12] = [
    "goal_ahead/10",
    "goal_left/10",
    "sin(goal_heading-heading)",
    "cos(goal_heading-heading)",
    "distance/10",
    "speed/5",
    "lateral_speed/5",
    "yaw_rate",
    "steer/max_steer",
    "gear_direction",
    "previous_longitudinal",
    "previous_steer",
];

/// Area and limits of the task. Cars start near the origin.
#[derive(Clone, Copy, Debug)]
pub struct Parking {
    /// Largest distance of the goal from the start, m.
    pub goal_distance: f32,
    /// Distance from the goal that counts as parked, m.
    pub distance_tolerance: f32,
    /// Heading error that counts as parked, rad.
    pub heading_tolerance: f32,
    /// Road-wheel angle of the steering demand 1, rad.
    pub max_steer: f32,
}

/// Memory of a car that parks itself or its trailer.
#[derive(Clone, Copy, Debug, Default)]
pub struct ParkingMemory {
    /// Goal: x and y (m) and heading (rad) with cosine and sine.
    goal: [f32; 3],
    goal_direction: [f32; 2],
    action: [f32; ACTION_COUNT],
    /// Direction of the requested gear: 1 or −1.
    driving_direction: i8,
    /// Distance from the goal after the last step, with the weighted heading error (m); see
    /// [`Parking::remaining_distance`].
    remaining_distance: f32,
}

impl Parking {
    /// Reward of leaving the area.
    pub const FAILURE_REWARD: f32 = -10.0;

    /// Reward of a parked car.
    const SUCCESS_REWARD: f32 = 10.0;

    /// Cost of a step.
    const STEP_COST: f32 = 0.01;

    /// Distance that a heading error of 1 rad is worth, m.
    const HEADING_WEIGHT_M: f32 = 2.0;

    /// Speed below which a car may change its direction and counts as standing, m/s.
    const STANDING_SPEED: f32 = 0.3;

    /// Returns the distance of a vehicle from the goal (m), and sine and cosine of the angle from the heading of the
    /// vehicle to that of the goal.
    fn goal_errors(vehicle: &Pose, memory: &ParkingMemory) -> (f32, [f32; 2]) {
        let offset = [memory.goal[0] - vehicle.position[0], memory.goal[1] - vehicle.position[1]];
        let ([fx, fy], [gx, gy]) = (vehicle.forward, memory.goal_direction);
        // Cross and dot product of both unit vectors are sine and cosine of the angle.
        ((offset[0] * offset[0] + offset[1] * offset[1]).sqrt(), [fx * gy - fy * gx, fx * gx + fy * gy])
    }

    /// Returns the distance from the goal plus the weighted heading error, m.
    fn remaining_distance(distance: f32, [sine, cosine]: [f32; 2]) -> f32 {
        distance + Self::HEADING_WEIGHT_M * libm::atan2f(sine, cosine).abs()
    }

    /// Returns the memory at the start of an episode. `goal` is x and y (m) and heading (rad); `vehicle` is the pose of
    /// the vehicle that has to reach it, the car or its trailer.
    pub fn begin_towards(goal: [f32; 3], vehicle: &Pose) -> ParkingMemory {
        let goal_direction = [libm::cosf(goal[2]), libm::sinf(goal[2])];
        let mut memory = ParkingMemory { goal, goal_direction, driving_direction: 1, ..ParkingMemory::default() };
        let (distance, errors) = Self::goal_errors(vehicle, &memory);
        memory.remaining_distance = Self::remaining_distance(distance, errors);
        memory
    }

    /// Updates the memory after a step with `action` and returns the result of the step. `vehicle` is the one that has
    /// to reach the goal. The reward is the decrease of [`Self::remaining_distance`], minus the cost of a step, plus a
    /// bonus when the vehicle is parked, which ends the episode: within both tolerances and standing. Far from the
    /// goal, or for an overturned car, the episode ends with the failure reward.
    #[inline(always)]
    pub fn advance_towards(
        &self,
        action: [f32; ACTION_COUNT],
        motion: &Motion,
        vehicle: &Pose,
        memory: &mut ParkingMemory,
    ) -> Outcome {
        memory.action = action;
        let (distance, errors) = Self::goal_errors(vehicle, memory);
        let remaining_distance = Self::remaining_distance(distance, errors);
        // Decrease of the remaining distance in this step, m.
        let gain = memory.remaining_distance - remaining_distance;
        memory.remaining_distance = remaining_distance;
        if distance > 2.0 * self.goal_distance + 5.0 || motion.is_overturned() {
            return Outcome { reward: Self::FAILURE_REWARD, is_terminated: true };
        }
        let is_parked = distance < self.distance_tolerance
            && libm::atan2f(errors[0], errors[1]).abs() < self.heading_tolerance
            && motion.speed.abs() < Self::STANDING_SPEED;
        let bonus = if is_parked { Self::SUCCESS_REWARD } else { 0.0 };
        Outcome { reward: gain - Self::STEP_COST + bonus, is_terminated: is_parked }
    }

    /// Returns the observations in the order of [`NAMES`]. `vehicle` is the pose of the vehicle that has to reach the
    /// goal; `motion` is that of the car, also if a trailer has to reach the goal.
    ///
    /// - Position of the goal ahead of and to the left of `vehicle`, over 10 m
    /// - Sine and cosine of the angle from the heading of `vehicle` to that of the goal
    /// - Distance of the goal, over 10 m
    /// - Speed and lateral speed of the car, over 5 m/s, and its yaw rate (rad/s)
    /// - Road-wheel angle of the car, over the largest one
    /// - Direction of the requested gear (1 or −1)
    /// - Action of the last step: longitudinal demand and steering demand
    #[inline(always)]
    pub fn observe_towards(&self, motion: &Motion, vehicle: &Pose, memory: &ParkingMemory) -> [f32; NAMES.len()] {
        let offset = [memory.goal[0] - vehicle.position[0], memory.goal[1] - vehicle.position[1]];
        let [fx, fy] = vehicle.forward;
        let (distance, [sine, cosine]) = Self::goal_errors(vehicle, memory);
        [
            (fx * offset[0] + fy * offset[1]) / 10.0,
            (fx * offset[1] - fy * offset[0]) / 10.0,
            sine,
            cosine,
            distance / 10.0,
            motion.speed / 5.0,
            motion.lateral_speed / 5.0,
            motion.yaw_rate,
            motion.steer / self.max_steer,
            f32::from(memory.driving_direction),
            memory.action[0],
            memory.action[1],
        ]
    }
}

impl Task for Parking {
    type Memory = ParkingMemory;

    fn observation_count(&self) -> usize {
        NAMES.len()
    }

    /// Draws a start at the origin with any heading, and a goal in any direction at 0.4 to 1 of the largest distance.
    /// The heading of the goal differs from that of the start by at most a right angle.
    fn begin(&self, random: &mut Random) -> (Start, ParkingMemory) {
        let heading = random.next_between(-core::f64::consts::PI, core::f64::consts::PI);
        let goal_angle = random.next_between(-core::f64::consts::PI, core::f64::consts::PI);
        let goal_distance = f64::from(self.goal_distance) * random.next_between(0.4, 1.0);
        // Goals turn by at most a right angle from the heading of the start.
        let goal_heading = (heading + random.next_between(-1.0, 1.0) * core::f64::consts::FRAC_PI_2) as f32;
        let goal = [
            (goal_distance * libm::cos(goal_angle)) as f32,
            (goal_distance * libm::sin(goal_angle)) as f32,
            goal_heading,
        ];
        let forward = [libm::cos(heading) as f32, libm::sin(heading) as f32];
        let memory = Self::begin_towards(goal, &Pose { position: [0.0, 0.0], forward });
        (Placement { heading: heading as f32, ..Placement::default() }.into(), memory)
    }

    /// Returns throttle in the direction of the longitudinal demand, or the brake while the car moves against the
    /// demand. The requested gear (1 or −1) is the direction of the last demand that was not braked.
    #[inline(always)]
    fn inputs(&self, action: [f32; ACTION_COUNT], motion: &Motion, memory: &mut ParkingMemory) -> Inputs {
        let demand = action[0];
        // The car moves against the demand, faster than standing.
        let is_against = motion.speed * demand < 0.0 && motion.speed.abs() > Self::STANDING_SPEED;
        if !is_against && demand != 0.0 {
            memory.driving_direction = if demand > 0.0 { 1 } else { -1 };
        }
        let (throttle, brake) = if is_against { (0.0, demand.abs()) } else { (demand.abs(), 0.0) };
        Inputs {
            pedals_and_steer: [throttle, brake, 0.0, self.max_steer * action[1]],
            gear: Some(memory.driving_direction),
        }
    }

    #[inline(always)]
    fn advance(&self, action: [f32; ACTION_COUNT], motion: &Motion, memory: &mut ParkingMemory) -> Outcome {
        self.advance_towards(action, motion, &motion.pose(), memory)
    }

    fn failure_reward(&self) -> f32 {
        Self::FAILURE_REWARD
    }

    #[inline(always)]
    fn observe(&self, motion: &Motion, memory: &ParkingMemory, observations: &mut [f32]) {
        observations.copy_from_slice(&self.observe_towards(motion, &motion.pose(), memory));
    }

    fn goal(&self, memory: &ParkingMemory) -> Option<[f32; 3]> {
        Some(memory.goal)
    }
}
