//! What the suspension writes in a step: strut, axle links and load of four wheels.

use crate::lane::{Corners, Four};
use crate::linear::SpatialVector;

/// Gain of ground under a wheel at its droop stop, in masses carried, and of hulls: leaves a thousandth of the speed, and f32 still solves it.
pub(crate) const SOLIDITY: f32 = 1e3;

/// The chassis velocity that loads lead to, and whether the rows have the loads of just that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loaded<C = f32> {
    pub velocity: SpatialVector<C>,
    pub in_rows: bool,
}

/// Load rows of four wheels.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LoadRows<W: Corners = Four> {
    pub axle_links: AxleLinkRows<W>,
    pub strut: StrutStep<W>,
    pub load_target: W,
    /// Speed along the normal before the loads, m/s.
    pub warm_speed: W,
    pub load_gain: W,
    /// The load that keeps the wheel from leaving the ground before the step ends, for wheels at their droop stop.
    pub droop_target: W,
    pub droop_gain: W,
    /// Wheels that press, and those whose droop stop takes part of the spring.
    pub load_active: W::Mask,
    pub at_droop_stop: W::Mask,
    /// Load, N s, and how it falls with the speed at which the wheel parts from the ground, kg.
    pub load: W,
    pub load_slope: W,
    /// Share of it that presses on the ground: links take the rest, or add to it, by the side forces of the tyres; see
    /// [`crate::suspension::roll_centre`].
    pub pressing_share: W,
    /// Share of what the links of a beam take from the body at the wheel's end that this end has: 1, or less where its strut carries
    /// less than they take.
    pub beam_share: W,
    /// Load less what axle links add to it, as its linearisation has it, N s.
    pub told: W,
}

/// The step of spring and damper that a strut's row is made of.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StrutStep<W: Corners = Four> {
    /// Compression at the start of the step, in step with the velocity, m; below the droop stop for a wheel that has yet to
    /// meet the ground.
    pub start: W,
    /// Half way, as far as the rate at the start makes it, m.
    pub middle: W,
    /// Impulse of what the strut carries at rest, N s.
    pub weight: W,
    /// What the strut moves: what the wheel carries, or a wheel on its own, kg.
    pub mass: W,
    /// Impulse at no rate at the end, before what the damper adds there, N s.
    pub held: W,
    /// What the spring adds to it per rate at the end, N s per m/s.
    pub spring: W,
    /// Rate of the spring, N/m.
    pub rate: W,
    /// Factor on the damper that the midpoint rule takes back.
    pub stiffening: W,
    /// Slope of the damper where it was taken, N s/m.
    pub damping: W,
}

/// What axle links add to the struts of four wheels.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AxleLinkRows<W: Corners = Four> {
    /// Travels that the axle links see, m: in the middle of the step, as far as the rates at its start make it.
    pub travel: W,
    /// Ends that hang, lifted off the ground by the axle link, and the impulse of all axle links that lifts them, N s.
    pub lifted: W::Mask,
    pub lifting: W,
    /// Of the bars to the opposite wheel, part of `rate`, N/m.
    pub bar_rate: W,
    /// Of the axle links through the strut at the speeds seen, along the contact normal or the travel of a wheel on its own, N s.
    pub impulse: W,
    /// Travel rates of wheels on their own at which that is, m/s.
    pub seen: W,
    /// At the wheel's own compression and the other's, and at the other's jounce rate, N.
    pub force: W,
    /// How the force answers the wheel's own compression, N/m, and jounce rate, N s/m.
    pub rate: W,
    pub damping: W,
    /// What heave springs to the opposite wheel have of these.
    pub heave: [W; 2],
}

/// What a bank of wheels that move on their own needs beside its rows. Only theirs have it: it is a fifth of a car's rows.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UnsprungMotion<W: Corners = Four> {
    /// Jounce rate against the chassis before and after the step, m/s.
    pub rate: W,
    pub next_rate: W,
    /// The wheel's share in the chassis' motion.
    pub heave: SpatialVector<W>,
    /// What the wheel weighs along its travel, kg; the sideways motion of its beam included, and what that has of the other wheel's.
    pub mass: W,
    pub shared: W,
    /// How the impulses of axle links answer the travel rate of the wheel, and that of the opposite one, kg.
    pub axle_links: [W; 2],
    /// Impulse of the tyre along the travel, N s.
    pub lift: W,
    /// Least travel rate, which takes it to the droop stop, m/s.
    pub slowest: W,
    /// Compression of the ground against the chassis in the middle of the step, as far as its rate at the start makes it, m, and
    /// that rate, m/s, and the share of the step in which the strut can reach it: what bars beside the struts see.
    pub ground: W,
    pub ground_rate: W,
    pub ground_share: W,
    pub tyre: TyreStep<W>,
    pub scrub: Scrub<W>,
}

/// How links lead wheels on their own sideways.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scrub<W: Corners = Four> {
    /// What it adds to the speeds of the patches over the ground, along and across, m/s.
    pub speed: [W; 2],
    /// By how much travel rates answer what tyres push to the left by, 1/kg.
    pub answer: W,
    /// By how much that of the opposite wheel does, where axle links hand it on.
    pub handed: W,
    /// By how much the load falls with the travel rate, kg.
    pub pressing: W,
}

/// The step of a tyre's vertical spring, along the travel.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct TyreStep<W: Corners = Four> {
    /// How far it is squashed at the start, from where it carries nothing, m, and how fast, m/s.
    pub squash: W,
    pub rate: W,
    /// Force of all that damps per sum of the rates at both ends, N s/m, and by how much more it counts the rate at the end, N: that is held
    /// to what does not push along the way.
    pub damping: W,
    pub late: W,
}
