//! What the drivetrain writes in a step: rows of clutch, motors and couplings, and what the pedals ask.

use crate::assists::assist_log::Assist;
use crate::drivetrain::constraints::{DriveConstraint, Flywheel};
use crate::drivetrain::converter::ClutchLaw;
use crate::drivetrain::motor::MAX_MOTORS;
use crate::drivetrain::parameters::MAX_COUPLINGS;
use crate::lane::{Corners, Four};
use crate::model::Model;
use crate::step::coupling::Within;

/// The engine's row, the motors' and the couplings'.
pub(crate) const MOST_CONSTRAINTS: usize = 1 + MAX_MOTORS + MAX_COUPLINGS;

/// Workspace of the drivetrain, rebuilt every step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shafts {
    /// As many as the model has, and one.
    pub constraints: Box<[DriveConstraint]>,
    pub count: usize,
    pub dt: f32,
    pub engine: Option<Flywheel>,
    /// Capacity of a clutch that works by itself; `None` of any other. Only of cars whose assists change the drive.
    pub clutch_law: Option<ClutchLaw>,
    pub pull: PedalDemand,
    /// As many as the model has.
    pub motors: Box<[MotorStep]>,
    /// Who holds the motors back; `None` where assists have not been asked, whatever limits are left of an earlier step.
    pub limited_by: Option<Assist>,
    /// Assist that cuts the regeneration of the motors.
    pub regeneration_cut_by: Option<Assist>,
    /// Whether rows have been tried from what they carried in the last step.
    pub has_gone_on: bool,
    /// How blocks bound tyres.
    pub within: Within,
}

impl Shafts {
    /// Room for what turns the wheels of `model`.
    pub(crate) fn of(model: &Model) -> Self {
        let parts = model.parts();
        let motors = parts.motors.len();
        let rows = 1 + motors + parts.couplings.len();
        Self {
            constraints: vec![DriveConstraint::default(); rows].into(),
            motors: vec![MotorStep::default(); motors].into(),
            ..Self::default()
        }
    }

    /// Goes back to where `other` of the same model is, in the memory that is there.
    pub(crate) fn copy(&mut self, other: &Self) {
        let (mut constraints, mut motors) = self.take_room();
        constraints.clone_from(&other.constraints);
        motors.clone_from(&other.motors);
        *self = Self { constraints, motors, ..*other };
    }

    /// Forgets the last step.
    pub(crate) fn clear(&mut self) {
        let (mut constraints, mut motors) = self.take_room();
        constraints.fill(DriveConstraint::default());
        motors.fill(MotorStep::default());
        *self = Self { constraints, motors, ..Self::default() };
    }

    fn take_room(&mut self) -> (Box<[DriveConstraint]>, Box<[MotorStep]>) {
        (core::mem::take(&mut self.constraints), core::mem::take(&mut self.motors))
    }
}

/// What the pedals ask of the motors.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PedalDemand {
    pub throttle: f32,
    pub brake: f32,
    /// 1 forward, −1 in reverse, 0 in neutral.
    pub direction: f32,
}

/// A motor in a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MotorStep {
    /// Speed of its rotor at the start, rad/s.
    pub rotor: f32,
    pub limits: MotorLimits,
}

/// What assists want of a motor. Torques of the rotor, N m towards the drive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MotorLimits {
    /// What cruise control asks for, whatever the pedals say.
    pub cruise: Option<f32>,
    /// The most that traction or launch control leaves it, ≥ 0.
    pub most: f32,
    /// Least torque that a cut of the regeneration leaves it, ≤ 0.
    pub least: f32,
    /// Impulses that cruise control added, that traction or launch control took, and that a cut of the regeneration added, at the speed the
    /// motor was last evaluated at.
    pub changed: [f32; 3],
}

/// What turns and holds four wheels in a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DriveRows<W: Corners = Four> {
    /// Spin momentum before shafts, brake and tyre, N m s.
    pub momentum: W,
    /// Direct motor torque's angular impulse, part of `momentum`, N m s.
    pub motor: W,
    /// Largest angular impulse of the brake, N m s.
    pub brake: W,
    /// Angular impulse of the shafts, N m s.
    pub shaft: W,
}
