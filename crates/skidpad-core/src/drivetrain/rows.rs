//! Workspace of the drivetrain in a step: rows of clutch, motors and couplings, and the pedal demand.

use crate::assist_log::Assist;
use crate::drivetrain::constraints::{DriveConstraint, Flywheel};
use crate::drivetrain::launch_device::ClutchLaw;
use crate::drivetrain::motor::MAX_MOTORS;
use crate::drivetrain::parameters::MAX_COUPLINGS;
use crate::impulse_bounds::ImpulseBounds;
use skidpad_simd::lane::{F32x4, WheelLanes};

/// Maximum number of rows: one of the engine, those of the motors and of the couplings.
pub(crate) const MAX_CONSTRAINTS: usize = 1 + MAX_MOTORS + MAX_COUPLINGS;

/// Workspace of the drivetrain, rebuilt every step.
#[derive(Clone, Debug, Default)]
pub(crate) struct Shafts {
    /// Rows between spins (scalar constraints between the speeds of wheels and shafts): as many as the model has motors
    /// and couplings, and one for an engine.
    pub constraints: Box<[DriveConstraint]>,
    /// Number of rows in use in this step, without an engine one less than allocated.
    pub row_count: usize,
    /// Duration of the step, s.
    pub dt: f32,
    /// Engine side of the clutch; `None` without an engine.
    pub engine: Option<Flywheel>,
    /// Capacity of a clutch that works automatically; `None` for others. Set only for cars whose assists change the
    /// drive.
    pub clutch_law: Option<ClutchLaw>,
    /// Demand of the pedals on the motors.
    pub pedal_demand: PedalDemand,
    /// Motors of the model in this step.
    pub motors: Box<[MotorStep]>,
    /// Assist that limits the motors. `None`: no assist limits them in this step, and limits of an earlier step do not
    /// apply.
    pub limited_by: Option<Assist>,
    /// Assist that cuts the regeneration of the motors.
    pub regeneration_cut_by: Option<Assist>,
    /// Whether a solution from the impulses of the last step was already tried in this step.
    pub was_warm_started: bool,
    /// Friction bounds of the wheel blocks.
    pub impulse_bounds: ImpulseBounds,
}

impl Shafts {
    /// Allocates the workspace of a drivetrain: rows for one engine, `motor_count` motors and `coupling_count`
    /// couplings, with default values.
    pub(crate) fn new(motor_count: usize, coupling_count: usize) -> Self {
        let row_count = 1 + motor_count + coupling_count;
        Self {
            constraints: vec![DriveConstraint::default(); row_count].into(),
            motors: vec![MotorStep::default(); motor_count].into(),
            ..Self::default()
        }
    }

    /// Restores the workspace from `other` of the same model into the existing memory. Does not allocate.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        let (mut constraints, mut motors) = self.take_buffers();
        constraints.clone_from(&other.constraints);
        motors.clone_from(&other.motors);
        *self = Self { constraints, motors, ..*other };
    }

    /// Resets rows, motors and all other values to their defaults, in the existing memory; the numbers of rows and
    /// motors stay.
    pub(crate) fn clear(&mut self) {
        let (mut constraints, mut motors) = self.take_buffers();
        constraints.fill(DriveConstraint::default());
        motors.fill(MotorStep::default());
        *self = Self { constraints, motors, ..Self::default() };
    }

    /// Moves the boxes of rows and motors out of the workspace, so that their memory can be reused. Leaves empty boxes.
    fn take_buffers(&mut self) -> (Box<[DriveConstraint]>, Box<[MotorStep]>) {
        (core::mem::take(&mut self.constraints), core::mem::take(&mut self.motors))
    }
}

/// Demand of the pedals on the motors.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct PedalDemand {
    /// Throttle, 0 to 1.
    pub throttle: f32,
    /// Foot brake, 0 to 1.
    pub brake: f32,
    /// Driving direction: 1 forward, −1 in reverse, 0 in neutral.
    pub direction: f32,
}

/// State of a motor in a step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MotorStep {
    /// Speed of the rotor at the start of the step, rad/s.
    pub rotor_speed: f32,
    /// Limits by assists; valid only if [`Shafts::limited_by`] is set.
    pub limits: MotorLimits,
}

/// Limits that assists set for a motor. Torques of the rotor, N m, positive towards the drive.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MotorLimits {
    /// Torque set by cruise control, which replaces the demand of the pedals.
    pub cruise_torque: Option<f32>,
    /// Largest torque that traction or launch control allows, ≥ 0.
    pub max_torque: f32,
    /// Least torque that a cut of the regeneration allows, ≤ 0.
    pub min_torque: f32,
    /// Changes of the torque by cruise control, by traction or launch control (≤ 0), and by a cut of the regeneration
    /// (≥ 0), at the speed at which the motor was last evaluated.
    pub torque_changes: [f32; 3],
}

/// Angular momentum and impulses that turn and brake the wheels in a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct DriveRows<W: WheelLanes = F32x4> {
    /// Spin momentum before shafts, brake and tyre act, N m s.
    pub momentum: W,
    /// Angular impulse of the direct drive, part of `momentum`, N m s.
    pub motor: W,
    /// Largest angular impulse of the brake, N m s.
    pub(crate) brake: W,
    /// Angular impulse of the shafts, N m s.
    pub shaft: W,
}
