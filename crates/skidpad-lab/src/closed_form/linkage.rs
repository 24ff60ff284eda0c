//! Compliance steer: angles by which side forces deflect a compliant steering linkage.

use skidpad_core::Model;
use skidpad_core::model::SteeringCompliance;
use skidpad_core::tyre::Conditions;

use super::cornering_stiffness;

/// Lateral slip at which the aligning moment per side force of a tyre is evaluated (–): small against its peak slip.
const SMALL_SLIP: f32 = 1e-3;

/// Returns the deflection of wheel `i` (rad, positive to the left) under the side force `side_force` (N, positive to
/// the left) and the aligning moment `aligning_moment` of its tyre (N m). The moments of load and longitudinal force
/// are neglected. Returns 0 for a rigid linkage, and for a wheel that is not steered.
pub(super) fn deflection(model: &Model, i: usize, side_force: f64, aligning_moment: f64) -> f64 {
    let steering = &model.parts().steering;
    let Some((compliance, kingpin)) = steering.compliance.zip(steering.kingpin) else { return 0.0 };
    if model.parts().axles[model.wheels()[i].axle].steer_ratio == 0.0 {
        return 0.0;
    }
    let [caster, inclination] = [kingpin.caster, kingpin.inclination].map(|angle| f64::from(angle).tan());
    // Vertical component of the unit vector along the steering axis.
    let vertical = 1.0 / (1.0 + caster * caster + inclination * inclination).sqrt();
    let trail = f64::from(kingpin.trail + kingpin.pneumatic_trail);
    let deflection = vertical * (aligning_moment - trail * side_force) / f64::from(compliance.stiffness);
    let most = f64::from(SteeringCompliance::MAX_DEFLECTION);
    deflection.clamp(-most, most)
}

/// Returns the next estimate of the deflection of wheel `i` (rad), after the `previous` one, with the force and moment
/// that the tyre had then; see [`deflection`]. The change is divided by `1 + C c` with the cornering stiffness C and the
/// angle per force c, so that the estimates converge also where the force of a wheel falls with its deflection.
pub(super) fn next_deflection(model: &Model, i: usize, previous: f64, side_force: f64, aligning_moment: f64) -> f64 {
    let gain = cornering_stiffness(model, i).unwrap_or(0.0) * angle_per_force(model, i).max(0.0);
    previous + (deflection(model, i, side_force, aligning_moment) - previous) / (1.0 + gain)
}

/// Returns the angle by which the side force of wheel `i` reduces its road-wheel angle, per side force at small slips
/// and the static load (rad/N), positive for a trail behind the contact.
pub(super) fn angle_per_force(model: &Model, i: usize) -> f64 {
    let (slip, conditions) = ([0.0, SMALL_SLIP], Conditions::upright(model.static_load(i), 1.0));
    // Differences of both directions, which leave out forces and moments at zero slip (ply steer, conicity).
    let [left, right] = [1.0, -1.0].map(|sign| slip.map(|slip| slip * sign));
    let force = model.tyre_force(i, left, &conditions).force[1] - model.tyre_force(i, right, &conditions).force[1];
    let moment = model.tyre_moments(i, left, &conditions).aligning - model.tyre_moments(i, right, &conditions).aligning;
    if force == 0.0 { 0.0 } else { -deflection(model, i, 1.0, f64::from(moment) / f64::from(force)) }
}
