//! Fixed-length steps for frames of any length.

/// Counter of the steps due in a frame. Use one per world.
///
/// ```
/// let mut timestep = skidpad_drive::FixedTimestep::new(1.0 / 60.0);
/// let due = timestep.advance(0.040);
/// assert_eq!(due, 2);
/// assert!((timestep.alpha() - 0.4).abs() < 1e-6);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixedTimestep {
    /// Game time per real time: 1, less in slow motion, 0 in a pause. Negative and non-finite values count as 0.
    pub time_scale: f64,
    /// Maximum number of steps per frame, ≥ 1. The rest is dropped, so that a slow machine does not fall further and
    /// further behind.
    pub max_steps_per_frame: u32,
    /// Length of a step, s.
    dt: f64,
    /// Time that is not covered by steps yet, s, less than a step.
    remaining_time: f64,
}

impl FixedTimestep {
    /// Creates a counter of steps of `dt` s, at normal speed and with at most 8 steps per frame.
    ///
    /// # Panics
    ///
    /// If `dt` is not above 0 and finite.
    pub fn new(dt: f32) -> Self {
        assert!(dt > 0.0 && dt.is_finite(), "the step length must be above 0, but is {dt} s");
        Self { time_scale: 1.0, max_steps_per_frame: 8, dt: f64::from(dt), remaining_time: 0.0 }
    }

    /// Returns the number of steps to take in a frame that begins `elapsed` s after the last one. Adds the time,
    /// multiplied by [`FixedTimestep::time_scale`], to the remainder and takes all whole steps out of it. Steps beyond
    /// [`FixedTimestep::max_steps_per_frame`] (at least 1) are dropped, not kept for the next frame. Negative and
    /// non-finite products count as 0.
    pub fn advance(&mut self, elapsed: f64) -> u32 {
        let scaled_time = elapsed * self.time_scale;
        if scaled_time.is_finite() && scaled_time > 0.0 {
            self.remaining_time += scaled_time;
        }
        let due_steps = (self.remaining_time / self.dt).floor();
        self.remaining_time -= due_steps * self.dt;
        (due_steps as u32).min(self.max_steps_per_frame.max(1))
    }

    /// Returns the time of the frame after its last step, as a share of a step, 0 to 1. The share is the weight for
    /// interpolation between the last two states.
    pub fn alpha(&self) -> f32 {
        ((self.remaining_time / self.dt) as f32).clamp(0.0, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks over 1000 frames of 3 to 25 ms that steps plus remainder are the passed time.
    #[test]
    fn no_time_is_lost_or_made() {
        let (mut timestep, mut steps, mut passed) = (FixedTimestep::new(1.0 / 64.0), 0, 0.0);
        for frame in 0..1000 {
            let elapsed = 0.003 + 0.022 * f64::from((frame * 37) % 100) / 100.0;
            passed += elapsed;
            steps += timestep.advance(elapsed);
            let shown = (f64::from(steps) + f64::from(timestep.alpha())) / 64.0;
            assert!((shown - passed).abs() < 1e-6, "{shown} s for {passed} s");
        }
    }

    /// Checks that a pause and a time scale of NaN take no steps, that slow motion scales time, that steps above the
    /// maximum are dropped, and that negative and infinite times count as 0.
    #[test]
    fn pauses_slow_motion_and_long_frames() {
        let mut timestep = FixedTimestep::new(0.01);
        timestep.time_scale = 0.0;
        assert_eq!(timestep.advance(1.0), 0);
        timestep.time_scale = f64::NAN;
        assert_eq!(timestep.advance(1.0), 0);
        timestep.time_scale = 0.25;
        assert_eq!(timestep.advance(0.0801), 2);
        timestep.time_scale = 1.0;
        assert_eq!((timestep.advance(10.0), timestep.advance(0.0)), (8, 0), "what cannot be made up for is dropped");
        assert_eq!(timestep.advance(-1.0) + timestep.advance(f64::INFINITY), 0);
    }
}
