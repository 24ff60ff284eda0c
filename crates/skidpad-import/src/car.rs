//! The car between source and vehicle file: SI units, x forward, y left, z up, any origin, each number with its story.

use crate::engine::GameEngine;
use skidpad_spec::spec::{Friction, Inertia, Peers, Relaxation, Tyre};

/// A number, and what the source says of it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Said {
    pub value: f64,
    pub from: String,
}

pub(crate) fn said(value: f64, from: impl Into<String>) -> Said {
    Said { value, from: from.into() }
}

/// A box aligned with the car.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Solid {
    pub centre: [f64; 3],
    pub size: [f64; 3],
}

impl Solid {
    pub fn volume(&self) -> f64 {
        self.size.iter().product()
    }
}

/// Where a wheel touches level ground when the car stands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Contact {
    /// The spring is slack with the contact point at this height; the car sinks into it.
    SlackAt(f64),
    /// The source says the height at rest, whatever the spring.
    RestsAt(f64),
}

/// A quantity over the compression from full droop, m: linear between points that rise and constant beyond them, 0 without any.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct OverJounce(pub Vec<[f64; 2]>);

impl OverJounce {
    pub fn at(&self, jounce: f64) -> f64 {
        let above = self.0.partition_point(|point| point[0] <= jounce);
        let (Some(low), Some(high)) = (above.checked_sub(1).map(|i| self.0[i]), self.0.get(above)) else {
            return self.0.get(above.saturating_sub(1)).map_or(0.0, |end| end[1]);
        };
        low[1] + (high[1] - low[1]) * (jounce - low[0]) / (high[0] - low[0])
    }
}

/// Angles of one wheel, rad.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Guided {
    /// Positive to the left.
    pub toe: OverJounce,
    /// Positive with the top to the right.
    pub camber: OverJounce,
}

/// Where the forces of a tyre act.
#[derive(Clone, Debug)]
pub(crate) enum ForcePoint {
    /// By so much above the ground, m.
    AboveGround(Said),
    /// At heights of the body, in the source's place, m.
    OnBody(OverJounce),
}

/// A wheel with its suspension.
#[derive(Clone, Debug)]
pub(crate) struct Corner {
    /// Where the source says it.
    pub path: String,
    /// Forward and left, m.
    pub at: [f64; 2],
    pub contact: Contact,
    /// Height of the contact point at full bump and at full droop, m, and where they come from.
    pub range: [f64; 2],
    pub range_from: String,
    pub radius: Said,
    pub spin_inertia: Said,
    /// N/m, N s/m.
    pub rate: Said,
    pub bump: Said,
    pub rebound: Said,
    pub tyre: Tyre,
    pub tyre_from: String,
    /// Share of the steering's angle.
    pub steer: f64,
    /// Each N m.
    pub brake: Said,
    pub handbrake: Said,
    pub motor: Said,
    /// Anti-roll bar to the other wheel of the axle, N/m.
    pub bar: Said,
    /// Mass of its own and vertical rate of the tyre, kg and N/m.
    pub unsprung: Option<[Said; 2]>,
    /// Whether it sits on a beam with the other wheel of its axle.
    pub solid: bool,
    /// Height of the roll centre of its axle above the ground, m; `None` at it.
    pub roll_centre: Option<Said>,
    /// Lateral rate and damping of its axle, N/m and N s/m; `None` where it is rigid.
    pub lateral: Option<[Said; 2]>,
    /// Where tyre forces act; `None` at the ground.
    pub force_point: Option<ForcePoint>,
    /// Toe and camber over the travel; `None` where they are 0 all over it.
    pub guided: Option<Guided>,
    /// Rolling resistance per load and speed, s/m.
    pub rolling: Option<Said>,
}

/// A car.
#[derive(Clone, Debug)]
pub(crate) struct Car {
    pub name: String,
    pub about: String,
    pub mass: Said,
    /// Centre of mass.
    pub centre: [f64; 3],
    pub centre_from: String,
    /// Absent: from `boxes`, by volume.
    pub inertia: Option<(Inertia, String)>,
    pub boxes: Vec<Solid>,
    /// Absent: around the boxes, else estimated from the wheels.
    pub hull: Option<Solid>,
    pub wheels: Vec<Corner>,
    /// Largest steering angle, degrees.
    pub lock: Said,
    /// degrees/s.
    pub steer_rate: Option<Said>,
    /// Drives the wheels in proportion to their `motor`. Absent: those are torques straight at the wheels.
    pub engine: Option<GameEngine>,
    pub peers: Option<Peers>,
}

/// Volume-weighted centre of boxes of one density; `None` without any.
pub(crate) fn centre_of(boxes: &[Solid]) -> Option<[f64; 3]> {
    let sum: f64 = boxes.iter().map(Solid::volume).sum();
    let mean = |i: usize| boxes.iter().map(|b| b.volume() * b.centre[i]).sum::<f64>() / sum;
    (sum > 0.0).then(|| [mean(0), mean(1), mean(2)])
}

/// The same relaxation length along and across, m.
pub(crate) fn relaxation(length: f64) -> Relaxation {
    Relaxation { relaxation_along_m: length, relaxation_across_m: length }
}

/// Friction along and across at every load.
pub(crate) fn friction([friction_along, friction_across]: [f64; 2]) -> Friction {
    Friction { friction_along, friction_across, load_sensitivity: 0.0, nominal_load_n: None }
}
