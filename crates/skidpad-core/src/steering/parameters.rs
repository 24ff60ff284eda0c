//! Limits of the steering, steering wheel and steering axes.

use crate::model_error::{ModelError, check_finite, check_not_negative, check_positive, check_positive_or_infinite};
use bevy_math::Vec3;
use core::f32::consts::{FRAC_PI_2, FRAC_PI_4};

/// Steering of the whole car.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Steering {
    /// Largest road-wheel angle in the middle of an axle with a ratio of 1 (rad), in (0, π/2).
    pub lock: f32,
    /// Largest rate of that angle (rad/s), > 0; infinite if unlimited.
    pub rate: f32,
    /// Overall steering ratio: steering-wheel angle per that angle (–), > 0; `None` if unknown. Manoeuvres and figures
    /// that are defined by steering-wheel angles and the torque at the steering wheel read it; steps do not.
    pub wheel_ratio: Option<f32>,
    /// Steering axes of the steered wheels; `None` if unknown. The torque at the steering wheel depends on them, which
    /// also needs the steering ratio, and the deflection of the linkage.
    pub kingpin: Option<Kingpin>,
    /// Compliance of the steering linkage; `None` if it is rigid. It needs the steering axes.
    pub compliance: Option<SteeringCompliance>,
    /// Share of the torque at the steering wheel that power steering supplies (–), 0 to below 1.
    pub assist_share: f32,
}

impl Steering {
    /// Checks lock, rate and ratio, the share of power steering, the steering axes and the compliance of the linkage.
    ///
    /// # Errors
    /// The first violation: a [`ModelError`] with the name of the value, or with the rule.
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        check_positive("steering lock", self.lock)?;
        check_positive("π/2 - steering lock", FRAC_PI_2 - self.lock)?;
        check_positive_or_infinite("steering rate", self.rate)?;
        if let Some(ratio) = self.wheel_ratio {
            check_positive("steering ratio", ratio)?;
        }
        check_not_negative("power steering share", self.assist_share)?;
        check_positive("1 - power steering share", 1.0 - self.assist_share)?;
        if let Some(kingpin) = self.kingpin {
            let lengths = Vec3::new(kingpin.trail, kingpin.scrub_radius, kingpin.pneumatic_trail);
            check_finite("trails and scrub radius", lengths)?;
            for angle in [kingpin.caster, kingpin.inclination] {
                check_positive("π/4 - angle of the kingpin", FRAC_PI_4 - angle.abs())?;
            }
        }
        if let Some(compliance) = self.compliance {
            check_positive("stiffness of the steering linkage", compliance.stiffness)?;
            check_not_negative("time constant of the steering linkage", compliance.time_constant)?;
            if self.kingpin.is_none() {
                return Err(ModelError::RuleViolated("a compliant steering linkage needs steering axes"));
            }
        }
        Ok(())
    }
}

/// Compliance of the steering linkage, with the steering wheel held: each steered wheel has a spring and a damper about
/// its steering axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SteeringCompliance {
    /// Moment about the steering axis of a wheel per deflection of this wheel (N m/rad), > 0.
    pub stiffness: f32,
    /// Time constant with which a wheel without moment returns (s), ≥ 0: damping over stiffness.
    pub time_constant: f32,
}

/// Steering axis (kingpin) of a wheel on the left side. The axis of a wheel on the right side is its mirror image.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Kingpin {
    /// Mechanical trail (m): distance by which the centre of contact is behind the point where the axis meets the
    /// ground.
    pub trail: f32,
    /// Scrub radius (m): distance by which the centre of contact is outside of the point where the axis meets the
    /// ground; negative if it is inside.
    pub scrub_radius: f32,
    /// Caster angle (rad), positive with the top leaning to the rear; between -π/4 and π/4.
    pub caster: f32,
    /// Inclination (rad), positive with the top leaning inwards; between -π/4 and π/4.
    pub inclination: f32,
    /// Pneumatic trail (m) of a rolling wheel: lever of the lateral force about the contact normal, in addition to the
    /// aligning moment of the tyre; 0 for tyres with an aligning moment. In reverse it is ahead of the centre of
    /// contact.
    pub pneumatic_trail: f32,
}
