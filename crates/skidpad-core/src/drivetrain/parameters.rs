//! How torque reaches the wheels, and what ties their speeds together.

use crate::drivetrain::converter::LaunchDevice;
use crate::drivetrain::engine::{Engine, Gearbox};
use crate::model::error::{ModelError, not_negative, within};

/// Most couplings one car may have.
pub const MAX_COUPLINGS: usize = 4;

/// What turns the wheels.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Powertrain {
    /// Nothing but raw torques.
    #[default]
    None,
    /// Torque straight at the wheels: throttle times N m, per wheel in wheel order; negative gear reverses it.
    Direct(Box<[f32]>),
    /// Engine, clutch or converter, gearbox and open differentials.
    Engine(Box<EngineDrive>),
}

/// The parts of a drivetrain with an engine.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineDrive {
    /// Source of the torque.
    pub engine: Engine,
    /// Between engine and gearbox.
    pub launch_device: LaunchDevice,
    /// Ratios.
    pub gearbox: Gearbox,
    /// Share of the propeller shaft's torque per wheel, in wheel order; they sum to 1. Open differentials, but for the
    /// car's couplings.
    pub shares: Box<[f32]>,
}

/// What keeps two wheels, or two axles, from turning at different speeds: the limiting part of a differential, or a
/// coupling between axles. It carries torque from the faster side to the slower one; the sides' torques differ by twice as much.
#[derive(Clone, Debug, PartialEq)]
pub struct Coupling {
    /// The two sets of wheels whose mean speeds it compares.
    pub sides: [Box<[usize]>; 2],
    /// Torque it carries by friction whatever is driven through it, N m, ≥ 0; infinite when locked.
    pub friction: f32,
    /// Torque bias driven and coasting, each ≥ 1: the slower side gets at most that many times the faster one's torque,
    /// each as a multiple of its share of an open differential (coasting, the faster side's). 1 adds nothing.
    pub bias: [f32; 2],
    /// Torque it carries per difference of the speeds, N m s/rad, ≥ 0.
    pub viscous: f32,
}

impl Coupling {
    /// One that holds both sides at one speed.
    pub fn locked(sides: [Box<[usize]>; 2]) -> Self {
        Self { sides, friction: f32::INFINITY, bias: [1.0; 2], viscous: 0.0 }
    }

    /// Torque it carries before it slips, N m, towards the first and towards the second side, while a torque of `through`
    /// N m drives both sides together and `share` of it goes to the first one when nothing holds.
    ///
    /// At the limit `(s T + c) / s = b (o T − c) / o` for a side of share s, the other's o = 1 − s, which gives
    /// `c = (b − 1) T s o / (o + b s)`; b is the torque bias ratio of Chocholek, "The development of a differential for the
    /// improvement of traction control" (IMechE C368/88, 1988), there for even splits.
    pub fn capacity(&self, through: f32, share: f32) -> [f32; 2] {
        let bias = self.bias[usize::from(through < 0.0)];
        let other = 1.0 - share;
        let gained = (bias - 1.0) * through.abs() * share * other;
        // Coasting it is the faster side that has more than its share of the torque.
        let [first, second] = if through < 0.0 { [other, share] } else { [share, other] };
        [first, second].map(|gains| self.friction + gained / (1.0 - gains + bias * gains))
    }

    pub(crate) fn check(&self, wheels: usize) -> Result<(), ModelError> {
        for &wheel in self.sides.iter().flatten() {
            within("wheel of a coupling", wheel, wheels)?;
        }
        let twice = self.sides[0].iter().any(|wheel| self.sides[1].contains(wheel));
        if twice || self.sides.iter().any(|side| side.is_empty()) {
            return Err(ModelError::Wheels("a coupling needs two different sets of wheels"));
        }
        if self.friction != f32::INFINITY {
            not_negative("friction of a coupling", self.friction)?;
        }
        not_negative("viscous torque of a coupling", self.viscous)?;
        self.bias.iter().try_for_each(|bias| not_negative("torque bias of a coupling less 1", bias - 1.0))
    }
}

impl Powertrain {
    /// The engine's drivetrain, if there is one.
    pub fn engine(&self) -> Option<&EngineDrive> {
        match self {
            Powertrain::Engine(drive) => Some(drive),
            _ => None,
        }
    }

    pub(crate) fn check(&self, wheels: usize) -> Result<(), ModelError> {
        match self {
            Powertrain::None => Ok(()),
            Powertrain::Direct(torques) if torques.len() != wheels => {
                Err(ModelError::Wheels("direct drive needs one torque for each wheel"))
            }
            Powertrain::Direct(torques) => torques.iter().try_for_each(|&t| not_negative("direct torque", t)),
            Powertrain::Engine(drive) => drive.check(wheels),
        }
    }
}

impl EngineDrive {
    pub(crate) fn check(&self, wheels: usize) -> Result<(), ModelError> {
        let Self { engine, launch_device, gearbox, shares } = self;
        engine.check()?;
        launch_device.check(engine.idle)?;
        gearbox.check()?;
        if shares.len() != wheels {
            return Err(ModelError::Wheels("the drivetrain needs one share for each wheel"));
        }
        shares.iter().try_for_each(|&s| not_negative("torque share", s))?;
        let sum: f32 = shares.iter().sum();
        if (sum - 1.0).abs() > 1e-3 {
            let part = "sum of torque shares".into();
            return Err(ModelError::OutOfRange { part, found: sum, accepts: "1" });
        }
        Ok(())
    }
}
