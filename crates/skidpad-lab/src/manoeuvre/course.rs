//! Courses along the x axis, and the check whether a run completed one.

use super::{Manoeuvre, Model, RUN_START_S};
use crate::trajectory::Trajectory;

/// Description of a run that did not complete its course.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct IncompleteCourse {
    /// Largest distance that the car reached along the course (m).
    pub reached_m: f64,
    /// Length of the course (m).
    pub length_m: f64,
    /// Whether the run ended before its planned duration. In this case it does not show whether the car can complete
    /// the course.
    pub cut_short: bool,
}

impl IncompleteCourse {
    /// Checks whether the centre of mass reached x = `length_m` (m) in a run of `manoeuvre`. Returns `None` if it did.
    /// Otherwise returns the largest x of the run. `cut_short` is then true if the run is shorter than the duration of
    /// [`Manoeuvre::setup`].
    pub(super) fn check(
        manoeuvre: &dyn Manoeuvre,
        model: &Model,
        trajectory: &Trajectory,
        length_m: f64,
    ) -> Option<Self> {
        let reached_m = trajectory.peak(RUN_START_S, |f| f.x_m).x_m;
        let cut_short = !trajectory.covers(manoeuvre.setup(model).duration_s);
        (reached_m < length_m).then_some(Self { reached_m, length_m, cut_short })
    }

    /// Formats the end of a sentence whose subject is the driven car or solver.
    pub fn text(&self) -> String {
        let Self { reached_m, length_m, .. } = self;
        format!("did not finish the course ({reached_m:.1} m of {length_m:.1} m)")
    }
}
