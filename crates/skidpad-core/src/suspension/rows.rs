//! What the suspension writes in a step: strut, ties and load of four wheels.

use crate::lane::{Four, FourMask};
use crate::linear::SpatialVector;

/// Gain of ground under a wheel at its droop stop, in masses carried, and of hulls: leaves a thousandth of the speed, and f32 still solves it.
pub(crate) const SOLIDITY: f32 = 1e3;

/// Load rows of four wheels.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LoadRows {
    pub tied: Tied,
    pub strut: StrutStep,
    pub load_target: Four,
    /// Speed along the normal before the loads, m/s.
    pub warm_speed: Four,
    pub load_gain: Four,
    /// The load that keeps the wheel from leaving the ground before the step ends, for wheels at their droop stop.
    pub droop_target: Four,
    pub droop_gain: Four,
    /// Wheels that press, and those whose droop stop takes part of the spring.
    pub pressing: FourMask,
    pub hanging: FourMask,
    /// Load, N s, and how it falls with the speed at which the wheel parts from the ground, kg.
    pub load: Four,
    pub load_slope: Four,
    /// Load less what ties add to it, as its linearisation has it, N s.
    pub told: Four,
}

/// The step of spring and damper that a strut's row is made of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StrutStep {
    /// Compression at the start of the step, in step with the velocity, m; below the droop stop for a wheel that has yet to
    /// meet the ground.
    pub start: Four,
    /// Half way, as far as the rate at the start makes it, m.
    pub middle: Four,
    /// Impulse of what the strut carries at rest, N s.
    pub weight: Four,
    /// What the strut moves: what the wheel carries, or a wheel on its own, kg.
    pub mass: Four,
    /// Impulse at no rate at the end, before what the damper adds there, N s.
    pub held: Four,
    /// What the spring adds to it per rate at the end, N s per m/s.
    pub spring: Four,
    /// Rate of the spring, N/m.
    pub rate: Four,
    /// Factor on the damper that the midpoint rule takes back.
    pub stiffening: Four,
    /// Slope of the damper where it was taken, N s/m.
    pub damping: Four,
}

/// What ties add to the struts of four wheels.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tied {
    /// Travels that the ties see, m: in the middle of the step, as far as the rates at its start make it.
    pub travel: [f32; 4],
    /// Ends that hang, lifted off the ground by the tie, and the impulse of all ties that lifts them, N s.
    pub lifted: FourMask,
    pub lifting: Four,
    /// Rate of the bars to the wheel across, part of `rate`, N/m.
    pub across: [f32; 4],
    /// Of the ties through the strut at the speeds seen, along the contact normal or the travel of a wheel on its own, N s.
    pub impulse: [f32; 4],
    /// Travel rates of wheels on their own at which that is, m/s.
    pub seen: Four,
    /// At the wheel's own compression and the other's, and at the other's jounce rate, N.
    pub force: [f32; 4],
    /// How the force answers the wheel's own compression, N/m, and jounce rate, N s/m.
    pub rate: [f32; 4],
    pub damping: [f32; 4],
}

/// What a bank of wheels that move on their own needs beside its rows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Travel {
    /// Whether the wheels of this step move on their own.
    pub own: bool,
    /// Jounce rate against the chassis before and after the step, m/s.
    pub rate: Four,
    pub next_rate: Four,
    /// The wheel's share in the chassis' motion.
    pub heave: SpatialVector<Four>,
    /// What the wheel weighs along its travel, kg; the sideways motion of its beam included, and what that has of the other wheel's.
    pub mass: Four,
    pub shared: Four,
    /// Impulse of the tyre along the travel, N s.
    pub lift: Four,
    /// Least travel rate, which takes it to the droop stop, m/s.
    pub slowest: Four,
    /// Compression of the ground against the chassis in the middle of the step, as far as its rate at the start makes it, m, and
    /// that rate, m/s, and the share of the step in which the strut can reach it: what bars beside the struts see.
    pub ground: Four,
    pub ground_rate: Four,
    pub ground_share: Four,
    pub tyre: TyreStep,
}

/// The step of a tyre's vertical spring, along the travel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TyreStep {
    /// How far it is squashed at the start, from where it carries nothing, m, and how fast, m/s.
    pub squash: Four,
    pub rate: Four,
    /// Force at the rate at the start, N, and per rate at the end, N s/m, of all that damps.
    pub begun: Four,
    pub damping: Four,
}
