//! Parameters of hitches and couplers.

use crate::model_error::{ModelError, check_finite, check_not_negative, check_positive, check_positive_or_infinite};
use bevy_math::Vec3;

/// Hitch of a towing vehicle: its position, and its resistance to rotation of the trailer.
///
/// The default is a ball: it holds a point and resists no rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hitch {
    /// Position from the centre of mass, vehicle axes (m).
    pub point: Vec3,
    /// Roll stiffness against the trailer (N m/rad), ≥ 0; large for a fifth wheel.
    pub roll_rate: f32,
    /// Roll damping against the trailer (N m s/rad), ≥ 0.
    pub roll_damping: f32,
    /// Yaw damping against the trailer (N m s/rad), ≥ 0.
    pub yaw_damping: f32,
    /// Largest moment of dry friction against yaw of the trailer (N m), ≥ 0.
    pub yaw_friction: f32,
    /// Yaw angle of the trailer at its stop on either side (rad), > 0; infinite without a stop.
    pub largest_yaw: f32,
    /// Pitch angle of the trailer at its stop on either side (rad), > 0; infinite without a stop.
    pub largest_pitch: f32,
    /// Force at which the hitch breaks (N), > 0; infinite if it never breaks.
    pub breaking_force: f32,
    /// Mass of the trailer that rests on the hitch in the described pose (kg), ≥ 0. Static loads and springs include
    /// it. 0 for a vehicle that is described without its trailer, such as a car.
    pub carried_mass: f32,
}

impl Default for Hitch {
    /// Returns a ball at the centre of mass that never breaks and carries no mass.
    fn default() -> Self {
        Self {
            point: Vec3::ZERO,
            roll_rate: 0.0,
            roll_damping: 0.0,
            yaw_damping: 0.0,
            yaw_friction: 0.0,
            largest_yaw: f32::INFINITY,
            largest_pitch: f32::INFINITY,
            breaking_force: f32::INFINITY,
            carried_mass: 0.0,
        }
    }
}

/// Coupler of a trailer: the point that the hitch holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coupler {
    /// Position from the centre of mass, vehicle axes (m).
    pub point: Vec3,
    /// Actuation of the trailer's brakes, in addition to its own pedals.
    pub brakes: TrailerBrakes,
}

/// Actuation of the brakes of a trailer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum TrailerBrakes {
    /// Own controls of the trailer only.
    #[default]
    OwnControls,
    /// Foot brake and handbrake of the vehicle ahead, transmitted by air, wire or rods. If the vehicle ahead is a
    /// trailer, its own actuation applies here, too.
    Pedal,
    /// Overrun device. The value is the force with which the trailer pushes the vehicle ahead (N), > 0, at which the
    /// brake is fully applied. The brake grows in proportion to the force and follows it with a time constant of 0.2 s.
    /// The brake releases while the trailer is pushed backwards. The handbrake of the vehicle ahead applies that of the
    /// trailer.
    Overrun(f32),
}

/// Time constant with which the damper of an overrun brake follows the force (s). Without it, a brake that holds more
/// than its actuation force would be released and applied from step to step.
const OVERRUN_TIME_CONSTANT_S: f32 = 0.2;

/// Speed below which a trailer is at a standstill, as a share of walking pace.
const STANDSTILL_SPEED_SHARE: f32 = 0.1;

/// Returns true if a trailer rolls backwards (below −0.1 times walking pace), or is slower than 0.1 times walking pace
/// and pushed backwards (`push_force > driving_force`). An overrun device then releases the brake, as automatic
/// reversing brakes do. UN R13, annex 12, allows a residual drag of 8 % of the weight; this model has none.
///
/// The trailer rolls forward at `pace_ratio` times walking pace. The vehicle ahead holds the trailer back with
/// `push_force` N. The weight of the trailer and the air drive the trailer forward with `driving_force` N.
pub(crate) fn is_reversed(pace_ratio: f32, push_force: f32, driving_force: f32) -> bool {
    pace_ratio < -STANDSTILL_SPEED_SHARE || (pace_ratio < STANDSTILL_SPEED_SHARE && push_force > driving_force)
}

impl TrailerBrakes {
    /// Returns the steady share of the brake that an overrun device applies under a force of `push_force` N:
    /// `push_force` over the force of the full brake, limited to 0 to 1. Returns 0 for other brakes.
    pub(crate) fn steady_overrun(self, push_force: f32) -> f32 {
        match self {
            Self::Overrun(full_force) => (push_force / full_force).clamp(0.0, 1.0),
            Self::OwnControls | Self::Pedal => 0.0,
        }
    }

    /// Returns the share of the brake that the device applies after a step of `dt` s with the force `push_force` (N), 0
    /// to 1. `overrun` is the share before the step. The share follows [`TrailerBrakes::steady_overrun`] with a time
    /// constant of 0.2 s (backward Euler).
    pub(crate) fn next_overrun(self, overrun: f32, push_force: f32, dt: f32) -> f32 {
        overrun + (self.steady_overrun(push_force) - overrun) * (dt / (OVERRUN_TIME_CONSTANT_S + dt))
    }

    /// Returns the share of the trailer's foot brake that the vehicle ahead applies, 0 to 1: `pedal`, the brake pedal
    /// of its driver, or `overrun`, the share of the overrun device, or 0 if the trailer has own controls only.
    pub(crate) fn foot_brake_share(self, pedal: f32, overrun: f32) -> f32 {
        match self {
            Self::OwnControls => 0.0,
            Self::Pedal => pedal,
            Self::Overrun(_) => overrun,
        }
    }

    /// Returns the share of the trailer's handbrake, 0 to 1: that of the driver ahead, `handbrake`; 0 if the trailer
    /// has own controls only.
    pub(crate) fn handbrake_share(self, handbrake: f32) -> f32 {
        if self == Self::OwnControls { 0.0 } else { handbrake }
    }
}

impl Hitch {
    /// Checks the values: a finite point; stiffness, damping, friction and carried mass finite and ≥ 0; stops and
    /// breaking force > 0 or infinite.
    ///
    /// # Errors
    /// A [`ModelError`] with the name of the first invalid value.
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        check_finite("hitch: point", self.point)?;
        for (name, value) in [
            ("hitch: roll rate", self.roll_rate),
            ("hitch: roll damping", self.roll_damping),
            ("hitch: yaw damping", self.yaw_damping),
            ("hitch: yaw friction", self.yaw_friction),
            ("hitch: carried mass", self.carried_mass),
        ] {
            check_not_negative(name, value)?;
        }
        for (name, value) in [
            ("hitch: maximum yaw angle", self.largest_yaw),
            ("hitch: maximum pitch angle", self.largest_pitch),
            ("hitch: breaking force", self.breaking_force),
        ] {
            check_positive_or_infinite(name, value)?;
        }
        Ok(())
    }
}

impl Coupler {
    /// Checks that the point is finite, and that the force of a full overrun brake is finite and > 0.
    ///
    /// # Errors
    /// A [`ModelError`] with the name of the first invalid value.
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        check_finite("coupler: point", self.point)?;
        match self.brakes {
            TrailerBrakes::Overrun(full_force) => check_positive("coupler: overrun force of full braking", full_force),
            TrailerBrakes::OwnControls | TrailerBrakes::Pedal => Ok(()),
        }
    }
}
