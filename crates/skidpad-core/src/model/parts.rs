//! Parts of a model.

use crate::aero::parameters::Aero;
use crate::assists::parameters::Assists;
use crate::drivetrain::motor::Motor;
use crate::drivetrain::parameters::{Powertrain, TorqueCoupling};
use crate::force_element::ExternalForce;
use crate::hitch::parameters::{Coupler, Hitch};
use crate::shape::Hull;
use crate::steering::parameters::Steering;
use crate::suspension::parameters::{AntiRollBar, HeaveSpring};
use crate::wheel::parameters::{Axle, Wheel};
use bevy_math::Mat3;
use skidpad_tyre::parameters::Tyre;

/// Parameters of the ray-cast vehicles of other engines. skidpad's own solvers do not read them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RaycastReference {
    /// Lever arm of side impulses over the height of the centre of mass: 1 at the ground, as in a real car; 0 at the
    /// height of the centre of mass, where they cause no roll. Rapier's controller always uses 0.1.
    pub roll_influence: f32,
    /// Largest force of one suspension, N, > 0; infinite without a limit.
    pub largest_suspension_force: f32,
}

impl Default for RaycastReference {
    /// Returns the roll influence that Bullet's constructor sets, and no limit of the force.
    fn default() -> Self {
        Self { roll_influence: 0.1, largest_suspension_force: f32::INFINITY }
    }
}

/// Parts of a [`crate::Model`]. The default has no parts; a valid model needs mass, inertia, wheels, axles, tyres,
/// steering and a hull.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelParts {
    /// Mass of the whole car, wheels included, kg, > 0.
    pub mass: f32,
    /// Inertia about the centre of mass, vehicle axes, kg m², positive definite.
    pub inertia: Mat3,
    /// Height of the centre of mass above level ground at rest, m, > 0.
    pub centre_height: f32,
    /// Wheels, axle by axle from the front, left before right.
    pub wheels: Vec<Wheel>,
    /// Axles from the front.
    pub axles: Vec<Axle>,
    /// Tyres; each wheel has the index of its tyre.
    pub tyres: Vec<Tyre>,
    /// Anti-roll bars. Default: none.
    pub bars: Vec<AntiRollBar>,
    /// Heave springs. Default: none.
    pub heave_springs: Vec<HeaveSpring>,
    /// Limits of the steering.
    pub steering: Steering,
    /// Powertrain that turns the wheels.
    pub powertrain: Powertrain,
    /// Electric motors, with or without an engine. Maximum: 8. Default: none.
    pub motors: Vec<Motor>,
    /// Couplings that limit speed differences between wheels or axles, for any powertrain. Maximum: 4. Default: none.
    pub couplings: Vec<TorqueCoupling>,
    /// Drag and downforce.
    pub aero: Aero,
    /// Collision box.
    pub hull: Hull,
    /// Parameters of other engines, for comparisons.
    pub raycast_reference: RaycastReference,
    /// Assists and tricks. Default: none.
    pub assists: Assists,
    /// Hitch that tows a trailer. Default: none.
    pub hitch: Option<Hitch>,
    /// Coupler by which the vehicle is towed. Default: none.
    pub coupler: Option<Coupler>,
    /// Force elements of the user. Vehicle files have none. Default: none.
    pub external_forces: Vec<ExternalForce>,
}
