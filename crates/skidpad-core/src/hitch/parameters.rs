//! Hitches and couplers: where vehicles are tied together, and what that resists.

use crate::model::error::{ModelError, finite, not_negative, positive, positive_or_infinite};
use bevy_math::Vec3;

/// Where a vehicle tows another one, and how the two may turn against each other.
///
/// The default is a ball: it holds a point and resists no turn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hitch {
    /// From the centre of mass, vehicle axes, m.
    pub point: Vec3,
    /// Moment against roll of the trailer, N m/rad, ≥ 0; that of a fifth wheel is large.
    pub roll_rate: f32,
    /// Damping of that roll, N m s/rad, ≥ 0.
    pub roll_damping: f32,
    /// Damping of the yaw of the trailer against the vehicle, N m s/rad, ≥ 0.
    pub yaw_damping: f32,
    /// Largest moment of dry friction against that yaw, N m, ≥ 0.
    pub yaw_friction: f32,
    /// Angle of yaw at which the trailer meets its stop on either side, rad, > 0; infinite without one.
    pub largest_yaw: f32,
    /// The same of pitch.
    pub largest_pitch: f32,
    /// Force at which the hitch breaks, N, > 0; infinite if it never does.
    pub breaking_force: f32,
    /// Mass of the trailer that rests on it where the vehicle stands as described, kg, ≥ 0: static loads and springs count it. 0 of a
    /// vehicle that is described without its trailer, as cars are.
    pub carried_mass: f32,
}

impl Default for Hitch {
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

/// Where a trailer is towed: the point that its hitch holds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Coupler {
    /// From the centre of mass, vehicle axes, m.
    pub point: Vec3,
    /// What presses the brakes of the trailer beside its own pedals.
    pub brakes: TrailerBrakes,
}

/// What presses the brakes of a trailer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum TrailerBrakes {
    /// Nothing but the trailer's own controls.
    #[default]
    Own,
    /// The foot brake of the vehicle ahead, as by air, wire or rods; its handbrake too. Ahead may be a trailer: then what presses that one's.
    Pedal,
    /// The force with which the trailer runs up on the vehicle ahead, N, > 0: from none of the brake at no force to all of it at
    /// this one, which a damper lets follow with a time constant of 0.2 s. The brake releases while the trailer is pushed backwards.
    /// The handbrake of the vehicle ahead is the trailer's too, as a driver pulls both.
    Overrun(f32),
}

/// Time constant with which the damper of an overrun brake lets it follow the force, s. Without one a brake that holds more than
/// presses it would be let go and pressed from step to step.
const OVERRUN_RESPONSE: f32 = 0.2;

/// Speed below which a trailer stands, as a share of a walking pace.
const STANDSTILL_PACE: f32 = 0.1;

/// Returns true if a trailer rolls backwards, or stands and is about to. An overrun device then releases the brake, as automatic reversing
/// brakes do. UN R13, annex 12, allows a residual drag of 8 % of the weight; here there is none.
///
/// The trailer rolls forward at `paces` walking paces. The vehicle ahead holds the trailer back with `push` N. The weight of the trailer
/// and the air drive the trailer forward with `driven` N.
pub(crate) fn is_reversed(paces: f32, push: f32, driven: f32) -> bool {
    paces < -STANDSTILL_PACE || (paces < STANDSTILL_PACE && push > driven)
}

impl TrailerBrakes {
    /// Share of the brake that an overrun device comes to press under a force of `push` N; 0 of other brakes.
    pub(crate) fn run_up(self, push: f32) -> f32 {
        match self {
            Self::Overrun(full) => (push / full).clamp(0.0, 1.0),
            Self::Own | Self::Pedal => 0.0,
        }
    }

    /// Share that it presses after a step of `dt` s in which it is pushed with `push` N, having pressed `overrun` before.
    pub(crate) fn followed(self, overrun: f32, push: f32, dt: f32) -> f32 {
        overrun + (self.run_up(push) - overrun) * (dt / (OVERRUN_RESPONSE + dt))
    }

    /// Share of the foot brake of a trailer that its overrun device presses by `overrun`, behind a vehicle whose driver brakes with `pedal`.
    pub(crate) fn pressed(self, pedal: f32, overrun: f32) -> f32 {
        match self {
            Self::Own => 0.0,
            Self::Pedal => pedal,
            Self::Overrun(_) => overrun,
        }
    }

    /// Share of the handbrake of a trailer behind a vehicle whose driver pulls `handbrake`.
    pub(crate) fn pulled(self, handbrake: f32) -> f32 {
        if self == Self::Own { 0.0 } else { handbrake }
    }
}

impl Hitch {
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        finite("hitch: point", self.point)?;
        for (name, value) in [
            ("hitch: roll rate", self.roll_rate),
            ("hitch: roll damping", self.roll_damping),
            ("hitch: yaw damping", self.yaw_damping),
            ("hitch: yaw friction", self.yaw_friction),
            ("hitch: mass it carries", self.carried_mass),
        ] {
            not_negative(name, value)?;
        }
        for (name, value) in [
            ("hitch: largest yaw", self.largest_yaw),
            ("hitch: largest pitch", self.largest_pitch),
            ("hitch: breaking force", self.breaking_force),
        ] {
            positive_or_infinite(name, value)?;
        }
        Ok(())
    }
}

impl Coupler {
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        finite("coupler: point", self.point)?;
        match self.brakes {
            TrailerBrakes::Overrun(full) => positive("coupler: overrun force of the full brake", full),
            TrailerBrakes::Own | TrailerBrakes::Pedal => Ok(()),
        }
    }
}
