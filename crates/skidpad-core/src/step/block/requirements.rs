//! Models whose cars a block can step.

use core::fmt::{self, Display};

use crate::assist_log::Assist;
use crate::drivetrain::launch_device::LaunchDevice;
use crate::model::Model;
use crate::model::wheel_pack::WheelPack;

/// Requirement of a block that a model does not meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Requirement {
    /// Every axle has two wheels, in order from the front, left before right.
    TwoWheelsPerAxle,
    /// Wheels probe the ground with rays, not with rims.
    WheelsOnRays,
    /// Roll centres are on the ground.
    RollCentresOnGround,
    /// Axles are laterally rigid.
    RigidAxles,
    /// The steering linkage is rigid.
    RigidSteering,
    /// Anti-roll bars connect the struts of one axle, at a rate that does not depend on the speed, and there are no
    /// heave springs.
    BarsWithinAxles,
    /// No assist, trick or force element except ABS.
    NoAssist(Assist),
    /// ABS controls each wheel, without select-low control of an axle.
    AbsOfEachWheel,
    /// No electric motors.
    NoMotors,
    /// No couplings and differentials with a torque.
    NoCouplings,
    /// The engine has a clutch, not a torque converter.
    ClutchInsteadOfConverter,
    /// The vehicle is not a trailer.
    NoTrailer,
}

impl Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TwoWheelsPerAxle => f.write_str("every axle must have two wheels, left before right"),
            Self::WheelsOnRays => f.write_str("wheels must probe the ground with rays, not with rims"),
            Self::RollCentresOnGround => f.write_str("roll centres must be on the ground"),
            Self::RigidAxles => f.write_str("axles must be laterally rigid"),
            Self::RigidSteering => f.write_str("the steering linkage must be rigid"),
            Self::BarsWithinAxles => {
                f.write_str("anti-roll bars must connect the struts of one axle, at a rate that does not depend on the speed; heave springs are not supported")
            }
            Self::NoAssist(assist) => write!(f, "`{}` is not supported; ABS is the only assist", assist.name()),
            Self::AbsOfEachWheel => f.write_str("ABS must control each wheel; select-low control of an axle is not supported"),
            Self::NoMotors => f.write_str("electric motors are not supported"),
            Self::NoCouplings => f.write_str("couplings and differentials with a torque are not supported"),
            Self::ClutchInsteadOfConverter => f.write_str("the engine must have a clutch, not a torque converter"),
            Self::NoTrailer => f.write_str("trailers are not supported"),
        }
    }
}

/// Returns the requirements of a block that `model` does not meet; empty if a block can step its cars. The last entries
/// are one [`Requirement::NoAssist`] for each assist of the model except ABS.
pub fn unmet_requirements(model: &Model) -> Vec<Requirement> {
    let parts = model.parts();
    let has_group = |condition: &dyn Fn(&WheelPack) -> bool| model.wheel_packs().iter().any(condition);
    let is_consecutive =
        model.wheel_packs().iter().enumerate().all(|(group_index, group)| group.is_consecutive_from(4 * group_index));
    let has_converter =
        parts.powertrain.engine().is_some_and(|drive| !matches!(drive.launch_device, LaunchDevice::Clutch(_)));
    let mut unmet = Vec::new();
    for (requirement, is_violated) in [
        (Requirement::TwoWheelsPerAxle, !is_consecutive),
        (Requirement::WheelsOnRays, model.has_rims()),
        (Requirement::RollCentresOnGround, has_group(&|group| group.roll_centre_links.is_some())),
        (Requirement::RigidAxles, model.has_lateral_compliance()),
        (Requirement::RigidSteering, parts.steering.compliance.is_some()),
        (Requirement::BarsWithinAxles, !model.separate_axle_links().is_empty()),
        (Requirement::AbsOfEachWheel, parts.assists.abs.is_some_and(|anti_lock| anti_lock.has_select_low())),
        (Requirement::NoMotors, !parts.motors.is_empty()),
        (Requirement::NoCouplings, !parts.couplings.is_empty()),
        (Requirement::ClutchInsteadOfConverter, has_converter),
        (Requirement::NoTrailer, parts.coupler.is_some()),
    ] {
        if is_violated {
            unmet.push(requirement);
        }
    }
    // ABS is the only assist that a block supports.
    let is_unsupported = |assist: &&Assist| !matches!(assist, Assist::AntiLock);
    unmet.extend(model.assists().iter().filter(is_unsupported).map(|assist| Requirement::NoAssist(*assist)));
    unmet
}
