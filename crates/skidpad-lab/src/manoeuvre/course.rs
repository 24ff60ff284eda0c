//! Courses between cones along the x axis: whether a run came to the end of one.

use super::{Manoeuvre, Model};
use crate::trajectory::Trajectory;

/// How a run on a course ended, when it did not come to the end of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unfinished {
    /// How far the car came along the course, m.
    pub reached_m: f64,
    /// How long the course is, m.
    pub length_m: f64,
    /// Whether the run ended before its time: then it tells nothing of what the course asks.
    pub cut_short: bool,
}

impl Unfinished {
    /// Of a run of `manoeuvre` over a course of `length_m`; `None` where the car came to its end.
    pub(super) fn of(manoeuvre: &dyn Manoeuvre, model: &Model, trajectory: &Trajectory, length_m: f64) -> Option<Self> {
        let reached_m = trajectory.peak(0.0, |f| f.x_m).x_m;
        let cut_short = !trajectory.goes_on_to(manoeuvre.setup(model).duration_s);
        (reached_m < length_m).then_some(Self { reached_m, length_m, cut_short })
    }

    /// As the end of a sentence that begins with who drove.
    pub fn text(&self) -> String {
        let Self { reached_m, length_m, .. } = self;
        format!("did not finish the course: it came {reached_m:.1} m far, {length_m:.1} m are to be driven")
    }
}
