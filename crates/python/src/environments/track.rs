//! Task: drive fast around a track without leaving it, with a simulated range finder.

use std::sync::Arc;

use crate::course::{Course, RangeTable};
use crate::environments::follow_path::{CourseMemory, begin_on, heading_error};
use crate::environments::random::Random;
use crate::environments::task::{ACTION_COUNT, Inputs, Motion, Outcome, Start, Task};

/// Cosines and sines of the angles of the rays from the heading, positive to the left: −90°, −60°, −30°, −15°, −5° and
/// their mirror images, and 0°.
const RAY_DIRECTIONS: [[f32; 2]; 11] = [
    [0.0, -1.0],
    [0.5, -0.866_025_4],
    [0.866_025_4, -0.5],
    [0.965_925_8, -0.258_819_05],
    [0.996_194_7, -0.087_155_74],
    [1.0, 0.0],
    [0.996_194_7, 0.087_155_74],
    [0.965_925_8, 0.258_819_05],
    [0.866_025_4, 0.5],
    [0.5, 0.866_025_4],
    [0.0, 1.0],
];

/// Angles of [`RAY_DIRECTIONS`], degrees.
pub const RAY_ANGLES_DEG: [i32; RAY_DIRECTIONS.len()] = [-90, -60, -30, -15, -5, 0, 5, 15, 30, 60, 90];

/// Range of a ray, m.
pub const RAY_RANGE_M: f32 = 60.0;

/// Distances ahead of the car whose curvatures are observed, m.
const CURVATURE_DISTANCES_M: [f32; 5] = [5.0, 15.0, 30.0, 50.0, 80.0];

/// Names of the observations before the rays.
pub const LEADING_NAMES: [&str; 11] = [
    "lateral_offset/half_width",
    "sin(heading_error)",
    "cos(heading_error)",
    "speed/40",
    "lateral_speed/10",
    "yaw_rate",
    "acceleration/10",
    "lateral_acceleration/10",
    "steer/max_steer",
    "previous_longitudinal",
    "previous_steer",
];

/// Track and limits of the task.
#[derive(Clone, Debug)]
pub struct Track {
    /// Track with speeds for the start.
    course: Course,
    /// Distances to the borders of the track up to [`RAY_RANGE_M`].
    ranges: Arc<RangeTable>,
    /// Road-wheel angle of the steering demand 1, rad.
    max_steer: f32,
    /// Numbers of samples of [`CURVATURE_DISTANCES_M`].
    curvature_samples: [u32; CURVATURE_DISTANCES_M.len()],
}

impl Track {
    /// Reward of leaving the track.
    const FAILURE_REWARD: f32 = -5.0;

    /// Reward of a metre along the centre line.
    const REWARD_PER_M: f32 = 0.1;

    /// Creates the task on `course` with the `ranges` of its borders up to [`RAY_RANGE_M`].
    pub fn new(course: Course, ranges: Arc<RangeTable>, max_steer: f32) -> Self {
        let curvature_samples = CURVATURE_DISTANCES_M.map(|distance| course.distance_in_samples(distance));
        Self { course, ranges, max_steer, curvature_samples }
    }

    /// Returns the names of the observations.
    pub fn names() -> Vec<String> {
        let rays = RAY_ANGLES_DEG.iter().map(|angle| format!("range_at_{angle}_deg/{RAY_RANGE_M}"));
        let curvatures = CURVATURE_DISTANCES_M.iter().map(|distance| format!("20*curvature_{distance}_m_ahead"));
        LEADING_NAMES.iter().map(ToString::to_string).chain(rays).chain(curvatures).collect()
    }
}

impl Task for Track {
    type Memory = CourseMemory;

    fn observation_count(&self) -> usize {
        LEADING_NAMES.len() + RAY_DIRECTIONS.len() + CURVATURE_DISTANCES_M.len()
    }

    fn begin(&self, random: &mut Random) -> (Start, CourseMemory) {
        begin_on(&self.course, random)
    }

    #[inline(always)]
    fn inputs(&self, action: [f32; ACTION_COUNT], _motion: &Motion, _memory: &mut CourseMemory) -> Inputs {
        Inputs::from_action(action, self.max_steer)
    }

    /// Ends the episode with the failure reward beyond a border, or for an overturned car. Otherwise the reward is
    /// proportional to the progress along the centre line.
    #[inline(always)]
    fn advance(&self, action: [f32; ACTION_COUNT], motion: &Motion, memory: &mut CourseMemory) -> Outcome {
        let place = self.course.locate(motion.position, memory.place.sample);
        let progress = self.course.distance(&memory.place, &place);
        *memory = CourseMemory { place, action };
        let sample = self.course.sample(&place);
        if place.lateral > sample.left || place.lateral < -sample.right || motion.is_overturned() {
            return Outcome { reward: Self::FAILURE_REWARD, is_terminated: true };
        }
        Outcome { reward: Self::REWARD_PER_M * progress, is_terminated: false }
    }

    fn failure_reward(&self) -> f32 {
        Self::FAILURE_REWARD
    }

    /// Writes the observations in the order of [`Track::names`]: the leading ones, the ranges of the rays over
    /// [`RAY_RANGE_M`], and 20 times the curvatures ahead.
    #[inline(always)]
    fn observe(&self, motion: &Motion, memory: &CourseMemory, observations: &mut [f32]) {
        let CourseMemory { place, action } = memory;
        let sample = self.course.sample(place);
        let [sine, cosine] = heading_error(motion, sample.direction);
        // Lateral offset as a share of the width on this side, −1 (right) to 1 (left).
        let share = place.lateral / if place.lateral > 0.0 { sample.left } else { sample.right };
        let (leading, rest) = observations.split_at_mut(LEADING_NAMES.len());
        leading.copy_from_slice(&[
            share,
            sine,
            cosine,
            motion.speed / 40.0,
            motion.lateral_speed / 10.0,
            motion.yaw_rate,
            motion.acceleration / 10.0,
            motion.lateral_acceleration / 10.0,
            motion.steer / self.max_steer,
            action[0],
            action[1],
        ]);
        let (rays, curvatures) = rest.split_at_mut(RAY_DIRECTIONS.len());
        let [fx, fy] = motion.forward;
        let directions = RAY_DIRECTIONS.map(|[along, left]| [along * fx - left * fy, along * fy + left * fx]);
        let mut ranges = [0.0; RAY_DIRECTIONS.len()];
        self.ranges.write_ranges(place, share, &directions, &mut ranges);
        for (number, range) in rays.iter_mut().zip(ranges) {
            *number = range / RAY_RANGE_M;
        }
        for (number, count) in curvatures.iter_mut().zip(self.curvature_samples) {
            *number = 20.0 * self.course.sample_ahead(place.sample, count).curvature;
        }
    }
}
