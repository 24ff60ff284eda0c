//! Task: drift along a circle, counter-clockwise.

use skidpad::core::state::Placement;

use crate::environments::follow_path::heading_error;
use crate::environments::random::Random;
use crate::environments::task::{ACTION_COUNT, Inputs, Motion, Outcome, Start, Task};

/// Names of the observations.
pub const NAMES: [&str; 13] = [
    "radial_offset/max_offset",
    "sin(heading_error)",
    "cos(heading_error)",
    "speed/20",
    "lateral_speed/10",
    "sideslip_angle",
    "yaw_rate",
    "acceleration/10",
    "lateral_acceleration/10",
    "steer/max_steer",
    "engine_speed/600",
    "previous_longitudinal",
    "previous_steer",
];

/// Circle and limits of the task. The centre of the circle is the origin.
#[derive(Clone, Copy, Debug)]
pub struct DriftCircle {
    /// Radius of the circle, m.
    pub radius: f32,
    /// Radial offset beyond which an episode ends, m.
    pub max_offset: f32,
    /// Sideslip angle that earns the full reward, rad.
    pub target_sideslip: f32,
    /// Speed at the start, m/s.
    pub start_speed: f32,
    /// Road-wheel angle of the steering demand 1, rad.
    pub max_steer: f32,
}

impl DriftCircle {
    /// Reward of leaving the circle or of spinning.
    const FAILURE_REWARD: f32 = -10.0;

    /// Sideslip angle beyond which the car has spun, rad: 80°.
    const SPIN_ANGLE: f32 = 1.4;

    /// Speed along the circle that earns the full reward, m/s.
    const FULL_REWARD_SPEED: f32 = 4.0;

    /// Returns the radial offset of `position` (m, positive outside of the circle), and the direction of travel along
    /// the circle there, counter-clockwise.
    fn place(&self, [x, y]: [f32; 2]) -> (f32, [f32; 2]) {
        let distance = (x * x + y * y).sqrt();
        let inverse = 1.0 / distance.max(1e-3);
        (distance - self.radius, [-y * inverse, x * inverse])
    }

    /// Returns the sideslip angle, rad: negative if the car points to the left of its motion. 0 below 0.5 m/s.
    fn sideslip(motion: &Motion) -> f32 {
        if motion.speed.abs() + motion.lateral_speed.abs() < 0.5 {
            return 0.0;
        }
        libm::atan2f(motion.lateral_speed, motion.speed)
    }
}

impl Task for DriftCircle {
    /// Action of the last step.
    type Memory = [f32; ACTION_COUNT];

    fn observation_count(&self) -> usize {
        NAMES.len()
    }

    /// Draws a start at any angle on the circle, at most 1 m beside it, with 70 to 100 % of the start speed. Half of
    /// the episodes start with a drift: the car moves along the circle with its nose turned inwards by 0.4 to 1.2 of
    /// the target sideslip, and has the yaw rate of the circle. In the other half the car rolls forward without
    /// lateral speed and yaw rate, in a heading from 0.1 rad outwards to 0.3 rad inwards of the circle. Both start with
    /// the action 0. A policy thus finds the reward of a drift before it can begin one (X. B. Peng et al., DeepMimic,
    /// arXiv:1804.02717, section 6: reference state initialisation).
    fn begin(&self, random: &mut Random) -> (Start, Self::Memory) {
        // Place on the circle.
        let angle = random.next_between(0.0, core::f64::consts::TAU);
        let distance = f64::from(self.radius) + random.next_between(-1.0, 1.0);
        let speed = self.start_speed * random.next_between(0.7, 1.0) as f32;
        let is_drifting = random.next_share() < 0.5;
        // Angle from the direction of the circle to the heading, positive inwards, rad.
        let turn = if is_drifting {
            self.target_sideslip * random.next_between(0.4, 1.2) as f32
        } else {
            random.next_between(-0.1, 0.3) as f32
        };
        let placement = Placement {
            x: distance * libm::cos(angle),
            y: distance * libm::sin(angle),
            heading: (angle + core::f64::consts::FRAC_PI_2) as f32 + turn,
            speed,
            ..Placement::default()
        };
        if !is_drifting {
            return (placement.into(), [0.0; ACTION_COUNT]);
        }
        // The velocity has the direction of the circle; the car points inwards by `turn`.
        let start = Start {
            placement: Placement { speed: speed * libm::cosf(turn), ..placement },
            lateral_speed: -speed * libm::sinf(turn),
            yaw_rate: speed / distance as f32,
        };
        (start, [0.0; ACTION_COUNT])
    }

    #[inline(always)]
    fn inputs(&self, action: [f32; ACTION_COUNT], _motion: &Motion, _memory: &mut Self::Memory) -> Inputs {
        Inputs::from_action(action, self.max_steer)
    }

    /// Ends the episode with the failure reward beyond the largest radial offset, after a spin, or for an overturned
    /// car. Otherwise the reward is the product of three shares minus a cost of fast steering: speed along the circle
    /// (1 from [`Self::FULL_REWARD_SPEED`] on), drift (0.2 without sideslip, 1 at the target sideslip with the nose
    /// inwards), and closeness to the circle.
    #[inline(always)]
    fn advance(&self, action: [f32; ACTION_COUNT], motion: &Motion, memory: &mut Self::Memory) -> Outcome {
        let steer_change = (action[1] - memory[1]).abs();
        *memory = action;
        let (offset, direction) = self.place(motion.position);
        let offset = offset / self.max_offset;
        let sideslip = Self::sideslip(motion);
        if offset.abs() > 1.0 || sideslip.abs() > Self::SPIN_ANGLE || motion.is_overturned() {
            return Outcome { reward: Self::FAILURE_REWARD, is_terminated: true };
        }
        let [fx, fy] = motion.forward;
        // Velocity in the world, m/s.
        let velocity = [fx * motion.speed - fy * motion.lateral_speed, fy * motion.speed + fx * motion.lateral_speed];
        // Speed along the circle, m/s.
        let along = velocity[0] * direction[0] + velocity[1] * direction[1];
        let drift = (-sideslip / self.target_sideslip).clamp(0.0, 1.0);
        let motion_share = (along / Self::FULL_REWARD_SPEED).clamp(0.0, 1.0);
        let reward = motion_share * (0.2 + 0.8 * drift) * (1.0 - offset * offset) - 0.05 * steer_change;
        Outcome { reward, is_terminated: false }
    }

    fn failure_reward(&self) -> f32 {
        Self::FAILURE_REWARD
    }

    /// Writes the observations in the order of [`NAMES`].
    #[inline(always)]
    fn observe(&self, motion: &Motion, memory: &Self::Memory, observations: &mut [f32]) {
        let (offset, direction) = self.place(motion.position);
        let [sine, cosine] = heading_error(motion, direction);
        observations.copy_from_slice(&[
            offset / self.max_offset,
            sine,
            cosine,
            motion.speed / 20.0,
            motion.lateral_speed / 10.0,
            Self::sideslip(motion),
            motion.yaw_rate,
            motion.acceleration / 10.0,
            motion.lateral_acceleration / 10.0,
            motion.steer / self.max_steer,
            motion.engine_speed / 600.0,
            memory[0],
            memory[1],
        ]);
    }
}
