//! Task: park a trailer on a goal behind it, by reversing the car that tows it.

use skidpad::core::state::Placement;

use crate::environments::parking::{self, Parking, ParkingMemory};
use crate::environments::random::Random;
use crate::environments::task::{
    ACTION_COUNT, Inputs, MOTION_QUANTITIES, Motion, Outcome, Pose, Start, TRAILER_QUANTITIES, Task,
};

/// Names of the observations after those of [`parking::NAMES`], which describe the goal relative to the trailer.
pub const TRAILING_NAMES: [&str; 2] = ["sin(heading-trailer_heading)", "cos(heading-trailer_heading)"];

/// Largest bearing of a goal from the straight line behind the trailer, rad: 25°.
const MAX_BEARING: f64 = 0.436;

/// Largest angle between the goal and the start of the trailer, rad: 30°.
const MAX_GOAL_TURN: f64 = 0.524;

/// Area and limits of the task. Cars start at the origin, with their trailers in line.
#[derive(Clone, Copy, Debug)]
pub struct TrailerParking {
    /// Goal, tolerances and steering.
    pub parking: Parking,
    /// Distance from the centre of mass of the car to that of the trailer in line, m.
    pub trailer_distance: f32,
    /// Articulation angle beyond which an episode ends, rad.
    pub max_articulation: f32,
}

impl TrailerParking {
    /// Returns the names of the observations.
    pub fn names() -> Vec<String> {
        parking::NAMES.iter().chain(&TRAILING_NAMES).map(ToString::to_string).collect()
    }

    /// Returns the pose of the trailer, and sine and cosine of the articulation angle (from the heading of the trailer
    /// to that of the car). For a car without a trailer, the pose is that of the car and the angle is 0.
    fn trailer(motion: &Motion) -> (Pose, [f32; 2]) {
        let trailer = motion.trailer.unwrap_or_else(|| motion.pose());
        let ([fx, fy], [tx, ty]) = (motion.forward, trailer.forward);
        (trailer, [tx * fy - ty * fx, tx * fx + ty * fy])
    }
}

impl Task for TrailerParking {
    type Memory = ParkingMemory;

    const ROW_LENGTH: usize = MOTION_QUANTITIES.len() + TRAILER_QUANTITIES.len();

    fn observation_count(&self) -> usize {
        parking::NAMES.len() + TRAILING_NAMES.len()
    }

    /// Draws a start of the car at the origin with any heading, the trailer in line behind it, and a goal behind the
    /// trailer: 0.3 to 1 of the largest distance away, within [`MAX_BEARING`] of the straight line, and turned by at
    /// most [`MAX_GOAL_TURN`].
    fn begin(&self, random: &mut Random) -> (Start, ParkingMemory) {
        let heading = random.next_between(-core::f64::consts::PI, core::f64::consts::PI);
        let bearing = heading + random.next_between(-MAX_BEARING, MAX_BEARING);
        let goal_distance = f64::from(self.parking.goal_distance) * random.next_between(0.3, 1.0);
        let goal_heading = heading + random.next_between(-MAX_GOAL_TURN, MAX_GOAL_TURN);
        let [fx, fy] = [libm::cos(heading), libm::sin(heading)];
        let behind = -f64::from(self.trailer_distance);
        let trailer = [behind * fx, behind * fy];
        let goal = [
            (trailer[0] - goal_distance * libm::cos(bearing)) as f32,
            (trailer[1] - goal_distance * libm::sin(bearing)) as f32,
            goal_heading as f32,
        ];
        let pose = Pose { position: trailer.map(|number| number as f32), forward: [fx as f32, fy as f32] };
        let placement = Placement { heading: heading as f32, ..Placement::default() };
        (placement.into(), Parking::begin_towards(goal, &pose))
    }

    #[inline(always)]
    fn inputs(&self, action: [f32; ACTION_COUNT], motion: &Motion, memory: &mut ParkingMemory) -> Inputs {
        self.parking.inputs(action, motion, memory)
    }

    /// Ends the episode with the failure reward beyond the largest articulation angle. Otherwise the result is that of
    /// [`Parking::advance_towards`] for the trailer.
    fn advance(&self, action: [f32; ACTION_COUNT], motion: &Motion, memory: &mut ParkingMemory) -> Outcome {
        let (trailer, [sine, cosine]) = Self::trailer(motion);
        if libm::atan2f(sine, cosine).abs() > self.max_articulation {
            return Outcome { reward: Parking::FAILURE_REWARD, is_terminated: true };
        }
        self.parking.advance_towards(action, motion, &trailer, memory)
    }

    fn failure_reward(&self) -> f32 {
        Parking::FAILURE_REWARD
    }

    /// Writes the observations in the order of [`TrailerParking::names`]: those of parking for the trailer, then sine
    /// and cosine of the articulation angle.
    fn observe(&self, motion: &Motion, memory: &ParkingMemory, observations: &mut [f32]) {
        let (trailer, articulation) = Self::trailer(motion);
        let (leading, trailing) = observations.split_at_mut(parking::NAMES.len());
        leading.copy_from_slice(&self.parking.observe_towards(motion, &trailer, memory));
        trailing.copy_from_slice(&articulation);
    }

    fn goal(&self, memory: &ParkingMemory) -> Option<[f32; 3]> {
        self.parking.goal(memory)
    }
}
