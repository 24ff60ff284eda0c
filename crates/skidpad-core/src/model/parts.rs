//! Everything a model is made of.

use crate::aero::parameters::Aero;
use crate::assists::parameters::Assists;
use crate::drivetrain::motor::Motor;
use crate::drivetrain::parameters::{Coupling, Powertrain};
use crate::element::Element;
use crate::hitch::parameters::{Coupler, Hitch};
use crate::steering::parameters::Steering;
use crate::suspension::parameters::{AntiRollBar, HeaveSpring};
use crate::tyre::parameters::Tyre;
use crate::wheel::parameters::{Axle, Wheel};
use bevy_math::{Mat3, Vec3};

/// The box that stands for the body in collisions, aligned with the vehicle frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hull {
    /// Vehicle frame (origin at the centre of mass), m.
    pub centre: Vec3,
    /// m, each > 0.
    pub half_extents: Vec3,
}

/// What ray-cast vehicles of other engines need beside the car itself. skidpad's own solvers never read it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Peers {
    /// Share of the height of the centre of mass at which side impulses act: 1 at the ground, as in a real car, 0 at the
    /// centre's height, where they roll nothing. Rapier's controller has 0.1 whatever stands here.
    pub roll_influence: f32,
    /// Largest force of one suspension, N, > 0; infinite when unbounded.
    pub largest_suspension_force: f32,
}

impl Default for Peers {
    /// The roll influence Bullet's constructor sets, and forces without bound.
    fn default() -> Self {
        Self { roll_influence: 0.1, largest_suspension_force: f32::INFINITY }
    }
}

/// Everything a [`crate::Model`] is made of. The default is nothing at all, for the parts a car does not have; it has to get mass, inertia,
/// wheels, axles, tyres, steering and a hull before it is one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelParts {
    /// Whole car, wheels included, kg, > 0.
    pub mass: f32,
    /// About the centre of mass, vehicle axes, kg m², positive definite.
    pub inertia: Mat3,
    /// Height of the centre of mass above level ground at rest, m, > 0.
    pub centre_height: f32,
    /// Axle by axle from the front, left before right.
    pub wheels: Vec<Wheel>,
    /// From the front.
    pub axles: Vec<Axle>,
    /// Shared by wheels through an index.
    pub tyres: Vec<Tyre>,
    /// Any number; none by default.
    pub bars: Vec<AntiRollBar>,
    /// Any number; none by default.
    pub heave_springs: Vec<HeaveSpring>,
    /// Limits of the steering.
    pub steering: Steering,
    /// What turns the wheels.
    pub powertrain: Powertrain,
    /// Electric motors, beside an engine or alone; at most 8, none by default.
    pub motors: Vec<Motor>,
    /// What limits differences of speed between wheels or axles, whatever drives them; at most 4, none by default.
    pub couplings: Vec<Coupling>,
    /// Drag and downforce.
    pub aero: Aero,
    /// Collision box.
    pub hull: Hull,
    /// For peers in comparisons.
    pub peers: Peers,
    /// Helpers and tricks; none by default.
    pub assists: Assists,
    /// Where it tows; nothing by default.
    pub hitch: Option<Hitch>,
    /// Where it is towed; nowhere by default.
    pub coupler: Option<Coupler>,
    /// Forces of one's own; none by default, and none from files.
    pub elements: Vec<Element>,
}
