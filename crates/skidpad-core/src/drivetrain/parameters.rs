//! Parameters of powertrain and couplings.

use crate::drivetrain::engine::{Engine, Gearbox};
use crate::drivetrain::launch_device::LaunchDevice;
use crate::model_error::{ModelError, check_index, check_not_negative};

/// Maximum number of couplings of a car.
pub const MAX_COUPLINGS: usize = 4;

/// Source of the torque at the wheels.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Powertrain {
    /// No engine and no direct drive: only motors and raw torques turn the wheels.
    #[default]
    None,
    /// Direct drive: torque of each wheel at full throttle, N m, in wheel order. A negative gear reverses it.
    Direct(Box<[f32]>),
    /// Engine, clutch or converter, gearbox and open differentials.
    Engine(Box<EngineDrive>),
}

/// Parts of a drivetrain with an engine.
#[derive(Clone, Debug, PartialEq)]
pub struct EngineDrive {
    /// Combustion engine.
    pub engine: Engine,
    /// Clutch or converter between engine and gearbox.
    pub launch_device: LaunchDevice,
    /// Gear ratios and shift speeds.
    pub gearbox: Gearbox,
    /// Share of the propeller shaft's torque per wheel, in wheel order; the sum is 1. Differentials are open, apart
    /// from the car's couplings.
    pub torque_shares: Box<[f32]>,
}

/// Resistance against different speeds of two wheels or axles: the limiting part of a differential, or a coupling
/// between axles. The coupling carries torque from the faster side to the slower one; the torques of the sides differ
/// by twice that torque.
#[derive(Clone, Debug, PartialEq)]
pub struct TorqueCoupling {
    /// Wheels of the first and of the second side, whose mean speeds are compared.
    pub sides: [Box<[usize]>; 2],
    /// Friction torque, independent of the driving torque, N m, ≥ 0; infinite if locked.
    pub friction: f32,
    /// Torque bias driven and coasting, each ≥ 1: largest ratio of the slower side's torque to the faster one's, each
    /// relative to its share in an open differential (coasting: the inverse ratio). 1 adds nothing.
    pub bias: [f32; 2],
    /// Torque per speed difference, N m s/rad, ≥ 0.
    pub viscous: f32,
}

impl TorqueCoupling {
    /// Builds a coupling that locks both sides to a common speed.
    pub fn locked(sides: [Box<[usize]>; 2]) -> Self {
        Self { sides, friction: f32::INFINITY, bias: [1.0; 2], viscous: 0.0 }
    }

    /// Returns the largest torque before the coupling slips, N m, towards the first and towards the second side.
    /// `through_torque`: torque in N m that drives both sides together; `share`: its part on the first side of an open
    /// differential. A negative torque is one of coasting, with the bias of coasting. Each result is the friction
    /// torque plus the part c by the bias, which is 0 without torque.
    ///
    /// At the limit `(s T + c) / s = b (o T − c) / o` for a side of share s, the other's o = 1 − s, which gives
    /// `c = (b − 1) T s o / (o + b s)`; b is the torque bias ratio of Chocholek, "The development of a differential for
    /// the improvement of traction control" (IMechE C368/88, 1988), there for even splits.
    pub fn capacity(&self, through_torque: f32, share: f32) -> [f32; 2] {
        let bias = self.bias[usize::from(through_torque < 0.0)];
        let other_share = 1.0 - share;
        let bias_torque = (bias - 1.0) * through_torque.abs() * share * other_share;
        // Shares of the side that the coupling drives. When coasting, the faster side has more than its share of the
        // torque, so the shares are exchanged.
        let [first, second] = if through_torque < 0.0 { [other_share, share] } else { [share, other_share] };
        [first, second].map(|side_share| self.friction + bias_torque / (1.0 - side_share + bias * side_share))
    }

    /// Checks that both sides have wheels, all below the number `wheel_count` and none on both sides, that friction
    /// (also infinite) and viscous torque are not negative, and that both biases are at least 1. Returns the first
    /// violation.
    pub(crate) fn check(&self, wheel_count: usize) -> Result<(), ModelError> {
        for &wheel in self.sides.iter().flatten() {
            check_index("wheel of a coupling", wheel, wheel_count)?;
        }
        let has_common_wheel = self.sides[0].iter().any(|wheel| self.sides[1].contains(wheel));
        if has_common_wheel || self.sides.iter().any(|side| side.is_empty()) {
            return Err(ModelError::RuleViolated("a coupling needs two different sets of wheels"));
        }
        if self.friction != f32::INFINITY {
            check_not_negative("friction of a coupling", self.friction)?;
        }
        check_not_negative("viscous torque of a coupling", self.viscous)?;
        self.bias.iter().try_for_each(|bias| check_not_negative("torque bias ratio of a coupling - 1", bias - 1.0))
    }
}

impl Powertrain {
    /// Returns the drivetrain with an engine, or `None` if there is no engine.
    pub fn engine(&self) -> Option<&EngineDrive> {
        match self {
            Powertrain::Engine(drive) => Some(drive),
            _ => None,
        }
    }

    /// Checks the drive of a car with `wheel_count` wheels: direct torques, one for each wheel and none negative, or
    /// the parts of an engine's drivetrain. Returns the first violation.
    pub(crate) fn check(&self, wheel_count: usize) -> Result<(), ModelError> {
        match self {
            Powertrain::None => Ok(()),
            Powertrain::Direct(torques) if torques.len() != wheel_count => {
                Err(ModelError::RuleViolated("direct drive needs one torque for each wheel"))
            }
            Powertrain::Direct(torques) => torques.iter().try_for_each(|&t| check_not_negative("direct torque", t)),
            Powertrain::Engine(drive) => drive.check(wheel_count),
        }
    }
}

impl EngineDrive {
    /// Checks engine, launch device, gearbox and torque shares: one share for each of the `wheel_count` wheels, none
    /// negative, with a sum of 1 to 0.1 %. Returns the first violation.
    pub(crate) fn check(&self, wheel_count: usize) -> Result<(), ModelError> {
        let Self { engine, launch_device, gearbox, torque_shares: shares } = self;
        engine.check()?;
        launch_device.check(engine.idle_speed)?;
        gearbox.check()?;
        if shares.len() != wheel_count {
            return Err(ModelError::RuleViolated("the drivetrain needs one share for each wheel"));
        }
        shares.iter().try_for_each(|&s| check_not_negative("torque share", s))?;
        let sum: f32 = shares.iter().sum();
        if (sum - 1.0).abs() > 1e-3 {
            let part = "sum of torque shares".into();
            return Err(ModelError::OutOfRange { part, found: sum, accepts: "1" });
        }
        Ok(())
    }
}
