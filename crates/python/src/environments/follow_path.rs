//! Task: follow a closed path at the speed that suits its bends.

use skidpad::core::state::Placement;

use crate::course::{Course, Place};
use crate::environments::random::Random;
use crate::environments::task::{ACTION_COUNT, Inputs, Motion, Outcome, Start, Task};

/// Distances ahead of the car whose points are observed, m.
const PREVIEW_DISTANCES_M: [f32; 5] = [4.0, 8.0, 15.0, 25.0, 40.0];

/// Distances ahead of the car whose speeds are observed, m.
const SPEED_DISTANCES_M: [f32; 3] = [0.0, 15.0, 35.0];

/// Names of the observations before the previewed ones.
pub const LEADING_NAMES: [&str; 11] = [
    "lateral_offset/max_offset",
    "sin(heading_error)",
    "cos(heading_error)",
    "speed/30",
    "lateral_speed/10",
    "yaw_rate",
    "acceleration/10",
    "lateral_acceleration/10",
    "steer/max_steer",
    "previous_longitudinal",
    "previous_steer",
];

/// Path, limits and weights of the task.
#[derive(Clone, Debug)]
pub struct FollowPath {
    /// Path with its speeds.
    course: Course,
    /// Lateral offset beyond which an episode ends, m.
    max_offset: f32,
    /// Road-wheel angle of the steering demand 1, rad.
    max_steer: f32,
    /// Time of a step of the environment, s.
    step_time: f32,
    /// Numbers of samples of [`PREVIEW_DISTANCES_M`].
    preview_samples: [u32; PREVIEW_DISTANCES_M.len()],
    /// Numbers of samples of [`SPEED_DISTANCES_M`].
    speed_samples: [u32; SPEED_DISTANCES_M.len()],
}

/// Memory of a car on a course.
#[derive(Clone, Copy, Debug, Default)]
pub struct CourseMemory {
    /// Place of the car on the course.
    pub place: Place,
    /// Action of the last step.
    pub action: [f32; ACTION_COUNT],
}

impl FollowPath {
    /// Reward of leaving the path.
    const FAILURE_REWARD: f32 = -10.0;

    /// Creates the task on `course`, which has recommended speeds. Episodes end beyond the lateral offset `max_offset`
    /// (m). `max_steer` is the road-wheel angle of the steering demand 1 (rad); a step of the environment lasts
    /// `step_time` s.
    pub fn new(course: Course, max_offset: f32, max_steer: f32, step_time: f32) -> Self {
        let preview_samples = PREVIEW_DISTANCES_M.map(|distance| course.distance_in_samples(distance));
        let speed_samples = SPEED_DISTANCES_M.map(|distance| course.distance_in_samples(distance));
        Self { course, max_offset, max_steer, step_time, preview_samples, speed_samples }
    }

    /// Returns the names of the observations.
    pub fn names() -> Vec<String> {
        let previews = PREVIEW_DISTANCES_M.iter().map(|distance| format!("direction_of_point_{distance}_m_ahead"));
        let speeds = SPEED_DISTANCES_M.iter().map(|distance| format!("(path_speed_{distance}_m_ahead-speed)/10"));
        LEADING_NAMES.iter().map(ToString::to_string).chain(previews).chain(speeds).collect()
    }
}

/// Draws a start on `course`: at a random sample, at most 0.5 m beside the centre line, at most 0.1 rad off its
/// direction, at half to full recommended speed. Returns the start, and the memory of a car there.
pub fn begin_on(course: &Course, random: &mut Random) -> (Start, CourseMemory) {
    let samples = course.samples();
    let number = ((random.next_share() * samples.len() as f64) as usize).min(samples.len() - 1);
    let sample = samples[number];
    // Offset to the left of the centre line (m), then the angle from its direction (rad).
    let lateral = random.next_between(-0.5, 0.5);
    let turn = random.next_between(-0.1, 0.1) as f32;
    let speed = f64::from(sample.speed) * random.next_between(0.5, 1.0);
    let [dx, dy] = sample.direction;
    let position = [sample.position[0] - dy * lateral as f32, sample.position[1] + dx * lateral as f32];
    let placement = Placement {
        x: position[0].into(),
        y: position[1].into(),
        heading: libm::atan2f(dy, dx) + turn,
        speed: speed as f32,
        ..Placement::default()
    };
    let place = course.locate(position, number as u32);
    (placement.into(), CourseMemory { place, action: [0.0; ACTION_COUNT] })
}

/// Returns sine and cosine of the angle from `direction` (a unit vector) to the heading of the car, positive if the car
/// points to the left of `direction`.
#[inline(always)]
pub fn heading_error(motion: &Motion, direction: [f32; 2]) -> [f32; 2] {
    let ([fx, fy], [dx, dy]) = (motion.forward, direction);
    [dx * fy - dy * fx, dx * fx + dy * fy]
}

impl Task for FollowPath {
    type Memory = CourseMemory;

    fn observation_count(&self) -> usize {
        LEADING_NAMES.len() + PREVIEW_DISTANCES_M.len() + SPEED_DISTANCES_M.len()
    }

    fn begin(&self, random: &mut Random) -> (Start, CourseMemory) {
        begin_on(&self.course, random)
    }

    #[inline(always)]
    fn inputs(&self, action: [f32; ACTION_COUNT], _motion: &Motion, _memory: &mut CourseMemory) -> Inputs {
        Inputs::from_action(action, self.max_steer)
    }

    /// Ends the episode with the failure reward beyond the largest lateral offset, or for an overturned car. Otherwise
    /// the reward is the progress along the path over that at the recommended speed, at most 1, minus costs of lateral
    /// offset and of fast steering.
    #[inline(always)]
    fn advance(&self, action: [f32; ACTION_COUNT], motion: &Motion, memory: &mut CourseMemory) -> Outcome {
        let place = self.course.locate(motion.position, memory.place.sample);
        let progress = self.course.distance(&memory.place, &place);
        // Progress of a step at the recommended speed, m.
        let target = self.course.sample(&place).speed * self.step_time;
        let offset = place.lateral / self.max_offset;
        let steer_change = (action[1] - memory.action[1]).abs();
        *memory = CourseMemory { place, action };
        if offset.abs() > 1.0 || motion.is_overturned() {
            return Outcome { reward: Self::FAILURE_REWARD, is_terminated: true };
        }
        let reward = (progress / target).min(1.0) - 0.5 * offset * offset - 0.05 * steer_change;
        Outcome { reward, is_terminated: false }
    }

    fn failure_reward(&self) -> f32 {
        Self::FAILURE_REWARD
    }

    /// Writes the observations in the order of [`FollowPath::names`]: the leading ones; for each preview distance, the
    /// lateral position of the path point relative to the car over that distance; the differences of the recommended
    /// speeds ahead from the speed of the car.
    #[inline(always)]
    fn observe(&self, motion: &Motion, memory: &CourseMemory, observations: &mut [f32]) {
        let CourseMemory { place, action } = memory;
        let [sine, cosine] = heading_error(motion, self.course.sample(place).direction);
        let (leading, previews) = observations.split_at_mut(LEADING_NAMES.len());
        leading.copy_from_slice(&[
            place.lateral / self.max_offset,
            sine,
            cosine,
            motion.speed / 30.0,
            motion.lateral_speed / 10.0,
            motion.yaw_rate,
            motion.acceleration / 10.0,
            motion.lateral_acceleration / 10.0,
            motion.steer / self.max_steer,
            action[0],
            action[1],
        ]);
        let (points, speeds) = previews.split_at_mut(PREVIEW_DISTANCES_M.len());
        let [fx, fy] = motion.forward;
        for ((number, distance), count) in points.iter_mut().zip(PREVIEW_DISTANCES_M).zip(self.preview_samples) {
            let [x, y] = self.course.sample_ahead(place.sample, count).position;
            let offset = [x - motion.position[0], y - motion.position[1]];
            // Lateral component of the offset in the axes of the car, over the distance.
            *number = (fx * offset[1] - fy * offset[0]) / distance;
        }
        for (number, count) in speeds.iter_mut().zip(self.speed_samples) {
            *number = (self.course.sample_ahead(place.sample, count).speed - motion.speed) / 10.0;
        }
    }
}
