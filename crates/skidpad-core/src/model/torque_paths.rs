//! Torque flow: levers of rows between spins on the wheels.

use crate::drivetrain::motor::{MAX_MOTORS, Motor};
use crate::drivetrain::parameters::MAX_COUPLINGS;
use crate::drivetrain::parameters::TorqueCoupling;
use crate::model::parts::ModelParts;
use crate::model_error::ModelError;

/// Checks the numbers of couplings and motors, then couplings, motors and the powertrain of `parts`. Returns the first
/// violation.
pub(crate) fn check(parts: &ModelParts) -> Result<(), ModelError> {
    let wheel_count = parts.wheels.len();
    if parts.couplings.len() > MAX_COUPLINGS {
        return Err(ModelError::RuleViolated("a vehicle has at most 4 couplings"));
    }
    if parts.motors.len() > MAX_MOTORS {
        return Err(ModelError::RuleViolated("a vehicle has at most 8 motors"));
    }
    parts.couplings.iter().try_for_each(|coupling| coupling.check(wheel_count))?;
    parts.motors.iter().try_for_each(|motor| motor.check(wheel_count))?;
    parts.powertrain.check(wheel_count)
}

/// Part of the torques in a drivetrain that drives both sides of a coupling together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TorquePath {
    /// Share of that torque on the first side of an open coupling: as shared by the engine, or else by the first motor,
    /// that drives both sides; otherwise a half.
    pub first_share: f32,
    /// Part of each row's torque at the wheels that passes through the coupling. The part is 0 for a row that drives a
    /// single side, as a differential does not transmit that torque.
    pub row_shares: Box<[f32]>,
}

impl TorquePath {
    /// Builds the path through `coupling`. Each row between spins gets the sum of its levers (row speed per wheel
    /// speed) on the wheels of both sides, or 0 if it drives only one side. The first engine or motor row that drives
    /// both sides determines the share of the first side; without such a row it is a half.
    pub(crate) fn new(parts: &ModelParts, coupling: &TorqueCoupling) -> Self {
        // Sums of a row's levers on both sides; `None` if it drives only one of them.
        let side_sums = |levers: Box<[f32]>| {
            let [first, second] = [0, 1].map(|side| coupling.sides[side].iter().map(|&i| levers[i]).sum::<f32>());
            (first != 0.0 && second != 0.0).then_some([first, second])
        };
        // Engine, motors and couplings, in this order.
        let rows: Vec<Option<[f32; 2]>> = shaft_jacobians(parts).map(side_sums).collect();
        // Rows of engine and motors, without those of couplings.
        let sources = &rows[..rows.len() - parts.couplings.len()];
        let first_share = |sides: &[f32; 2]| sides[0] / (sides[0] + sides[1]);
        Self {
            first_share: sources.iter().flatten().next().map_or(0.5, first_share),
            row_shares: rows.iter().map(|sides| sides.map_or(0.0, |[first, second]| first + second)).collect(),
        }
    }
}

/// Returns the levers (Jacobian entries: row speed per wheel speed) of all wheels, one list per row between spins: the
/// propeller shaft of an engine (torque shares), the motors (1 / n for each of n wheels), the couplings (mean of the
/// first side less mean of the second). Levers of all other wheels are 0.
pub(crate) fn shaft_jacobians(parts: &ModelParts) -> impl Iterator<Item = Box<[f32]>> + '_ {
    let wheels = || 0..parts.wheels.len();
    let mean_lever = |wheel_indices: &[usize], i: usize| {
        if wheel_indices.contains(&i) { 1.0 / wheel_indices.len() as f32 } else { 0.0 }
    };
    let motor_levers = move |motor: &Motor| wheels().map(|i| mean_lever(&motor.wheels, i)).collect();
    let coupling_levers = move |coupling: &TorqueCoupling| {
        let [first, second] = &coupling.sides;
        wheels().map(|i| mean_lever(first, i) - mean_lever(second, i)).collect()
    };
    let propeller_shaft = parts.powertrain.engine().map(|drive| drive.torque_shares.clone());
    propeller_shaft
        .into_iter()
        .chain(parts.motors.iter().map(motor_levers))
        .chain(parts.couplings.iter().map(coupling_levers))
}
