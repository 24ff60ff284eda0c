//! Bodies that an engine moves in substeps, in coordinates of 32 bits.

use skidpad_core::{DVec3, Vec3};

/// Speed below which a chassis stands, m/s.
pub const STILL: f32 = 1e-3;

/// Time by which poses run behind velocities in a step of `dt` s, s: forces act evenly over n substeps, each moving the pose with its own
/// velocity, so θ = (n + 1) / 2n.
pub fn pose_lag(dt: f32, substeps: usize) -> f32 {
    let substeps = substeps.max(1) as f32;
    dt * (substeps - 1.0) / (2.0 * substeps)
}

/// To how many m an engine knows a `position` (m).
pub fn resolution(position: Vec3) -> f32 {
    f32::EPSILON * position.abs().max_element()
}

/// Where a body is: as its engine has it, and in 64 bits.
///
/// Engines add steps of millimetres to coordinates of many metres in 32 bits, which bends a path by 5 mm in 60 m at 1 kHz;
/// here only the rounding of each pose is left.
#[derive(Clone, Copy, Debug)]
pub struct Track {
    exact: DVec3,
    /// What the engine was left with.
    shown: Vec3,
}

impl Track {
    /// A body that is put at `exact`, m, in the world's axes.
    pub fn new(exact: DVec3) -> Self {
        Self { exact, shown: exact.as_vec3() }
    }

    /// A body at `exact`, m, that its engine has at `shown`, m.
    pub fn placed(exact: DVec3, shown: Vec3) -> Self {
        Self { exact, shown }
    }

    /// What its engine was left with, m, if the position in 64 bits rounds to another one.
    pub fn place(&self) -> Option<Vec3> {
        (self.shown != self.exact.as_vec3()).then_some(self.shown)
    }

    /// Position of a body whose engine has it at `shown`, m. Elsewhere only if the user moved it, by more than its last digit: a standing
    /// car's may be off by that.
    pub fn position(&self, shown: Vec3) -> DVec3 {
        let shown = shown.as_dvec3();
        if (shown - self.exact).abs().max_element() > self.digit() { shown } else { self.exact }
    }

    /// What the last digit of a pose in 32 bits is worth, m.
    fn digit(&self) -> f64 {
        f64::from(f32::EPSILON) * self.exact.abs().max_element().max(1.0)
    }

    /// Follows a body through a step of `dt` s that began with the velocity `before` and ended at `shown` with `velocity`: by the sum of its
    /// substeps in 64 bits, if that is where its engine put it up to rounding, and by the engine's own displacement if anything else (a
    /// contact, a joint) moved it. Where the engine has to put it, if elsewhere.
    pub fn follow(&mut self, shown: Vec3, [before, velocity]: [Vec3; 2], dt: f32, pose_lag: f32) -> Option<Vec3> {
        let moved = (shown - self.shown).as_dvec3();
        let (old, new) = (before.as_dvec3(), velocity.as_dvec3());
        let expected = old * f64::from(pose_lag) + new * f64::from(dt - pose_lag);
        let digit = self.digit();
        // Four substeps, each rounded to half a unit in the last place of the coordinates, and the displacement's own.
        if (moved - expected).abs().max_element() > 4.0 * digit {
            *self = Self::new(shown.as_dvec3());
            return None;
        }
        self.exact += expected;
        self.shown = shown;
        let stands = expected.abs().max_element() < f64::from(STILL * dt);
        let apart = (self.exact - self.shown.as_dvec3()).abs().max_element();
        // A change of its pose, even of the last digit, keeps a body awake.
        if stands && apart <= digit {
            return None;
        }
        self.shown = self.exact.as_vec3();
        Some(self.shown)
    }
}
