//! Positions in 64 bits of bodies that an engine moves in substeps with 32-bit coordinates.

use skidpad_core::{DVec3, Vec3};

/// Speed below which a chassis is at rest, m/s.
pub const REST_SPEED_MPS: f32 = 1e-3;

/// Returns the time by which poses lag velocities in a step of `dt` s, s: dt (n − 1) / 2n with n `substeps` (at least
/// 1; 0 counts as 1).
///
/// Forces act evenly over n substeps, each of which moves the pose with its own velocity. A change of velocity
/// therefore moves the pose as if it acted for the share θ = (n + 1) / 2n of the step. The lag is the rest, (1 − θ) dt.
pub fn pose_lag(dt: f32, substeps: usize) -> f32 {
    let substeps = substeps.max(1) as f32;
    dt * (substeps - 1.0) / (2.0 * substeps)
}

/// Returns the resolution of an engine's 32-bit coordinates at `position` (m), m.
pub fn resolution(position: Vec3) -> f32 {
    f32::EPSILON * position.abs().max_element()
}

/// Position of a body, both in 64 bits and as the engine stores it.
///
/// Engines add displacements of millimetres to 32-bit coordinates of many metres, which bends a path by 5 mm in 60 m at
/// 1 kHz. The 64-bit position only has the rounding error of each pose.
#[derive(Clone, Copy, Debug)]
pub struct PositionTracker {
    /// Position in 64 bits, world axes, m.
    exact_position: DVec3,
    /// Position that was last set in the engine, m.
    engine_position: Vec3,
}

impl PositionTracker {
    /// Creates the track of a body placed at `exact_position`, world axes, m.
    pub fn new(exact_position: DVec3) -> Self {
        Self { exact_position, engine_position: exact_position.as_vec3() }
    }

    /// Creates the track of a body at `exact_position` (m) that the engine has at `engine_position` (m).
    pub fn with_engine_position(exact_position: DVec3, engine_position: Vec3) -> Self {
        Self { exact_position, engine_position }
    }

    /// Returns the position that was last set in the engine, m, if the 64-bit position rounds to a different one.
    pub fn rounded_engine_position(&self) -> Option<Vec3> {
        (self.engine_position != self.exact_position.as_vec3()).then_some(self.engine_position)
    }

    /// Returns the 64-bit position of a body that the engine has at `engine_position`, m. This is the tracked 64-bit
    /// position if both differ by at most the last digit of a coordinate, as for a standing car. Otherwise the user
    /// moved the body, and `engine_position` is returned. The track does not change.
    pub fn position(&self, engine_position: Vec3) -> DVec3 {
        let engine_position = engine_position.as_dvec3();
        if (engine_position - self.exact_position).abs().max_element() > self.resolution_m() {
            engine_position
        } else {
            self.exact_position
        }
    }

    /// Returns the resolution of 32-bit coordinates at this position, m, at least that of 1 m.
    fn resolution_m(&self) -> f64 {
        f64::from(f32::EPSILON) * self.exact_position.abs().max_element().max(1.0)
    }

    /// Updates the position after a step of `dt` s that began with the velocity `start_velocity` and ended at
    /// `engine_position` (m) with `end_velocity` (m/s, world axes). `pose_lag` is the lag in s, as [`pose_lag`] returns
    /// it.
    ///
    /// The expected displacement is `start_velocity` · lag + `end_velocity` · (dt − lag). If the engine's displacement
    /// differs from it by at most four resolutions on each axis, the expected displacement is added to the 64-bit
    /// position. Otherwise something else (a contact, a joint) moved the body, and the engine's position is adopted for
    /// both positions. A resolution is that of 32-bit coordinates at the tracked position, at least that of 1 m.
    ///
    /// Returns the rounded 64-bit position that must be set in the engine, and stores it as the engine's position.
    /// Returns `None` if the engine's position must stay: after an adoption, and for a body at rest whose positions
    /// differ by at most one resolution on each axis. A body is at rest if it is slower than [`REST_SPEED_MPS`] along
    /// each axis.
    pub fn update(
        &mut self,
        engine_position: Vec3,
        [start_velocity, end_velocity]: [Vec3; 2],
        dt: f32,
        pose_lag: f32,
    ) -> Option<Vec3> {
        let displacement = (engine_position - self.engine_position).as_dvec3();
        let (v_start, v_end) = (start_velocity.as_dvec3(), end_velocity.as_dvec3());
        let expected_displacement = v_start * f64::from(pose_lag) + v_end * f64::from(dt - pose_lag);
        let resolution_m = self.resolution_m();
        // Four substeps, each rounded to half a unit in the last place of the coordinates, and the rounding of the
        // displacement.
        if (displacement - expected_displacement).abs().max_element() > 4.0 * resolution_m {
            *self = Self::new(engine_position.as_dvec3());
            return None;
        }
        self.exact_position += expected_displacement;
        self.engine_position = engine_position;
        // Whether the body is slower than REST_SPEED_MPS along each axis.
        let is_at_rest = expected_displacement.abs().max_element() < f64::from(REST_SPEED_MPS * dt);
        let position_error = (self.exact_position - self.engine_position.as_dvec3()).abs().max_element();
        // Any change of its pose, even of the last digit, keeps a body awake: a resting one is left alone.
        if is_at_rest && position_error <= resolution_m {
            return None;
        }
        self.engine_position = self.exact_position.as_vec3();
        Some(self.engine_position)
    }
}
