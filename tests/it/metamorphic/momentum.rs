//! Contact forces of the wheels and gravity equal the rate of change of a car's momentum in every step.

use skidpad::core::{DVec3, Vec3};

use super::draw::{Draw, OF_LIFTING_BEAMS, is_lifting_a_beam};
use super::{NOT_APPLICABLE, Outcome, Worst};

/// Largest missing force as a share of the weight.
const TOLERANCE: f64 = 2e-3;

/// Number of impulses that a world adds to a 32-bit velocity in a step.
const ROUNDINGS: f64 = 16.0;

/// Cosine of the tilt angle beyond which bodywork may touch the ground.
const LEANS: f32 = 0.9;

pub fn check(draw: &Draw) -> Outcome {
    let draw = draw.alone().on_plane();
    // The state does not contain the momentum of unsprung masses.
    if draw.solver.name == "constraint-unsprung" {
        return NOT_APPLICABLE;
    }
    let Some(draw) = draw.on_wheels_alone() else { return NOT_APPLICABLE };
    let (scene, mass) = (draw.ground.scene(), f64::from(draw.models[0].mass()));
    let weight = mass * f64::from(draw.ground.gravity);
    let (mut world, mut worst) = (draw.world(), Worst::default());
    for k in 0..draw.steps() {
        let before = world.state(0).velocity;
        world.step(&draw.controls(k));
        let view = world.car(0);
        let (state, vehicle) = (view.state, view.vehicle.expect("solves rows"));
        if (state.rotation * Vec3::Z).dot(scene.plane_normal()) < LEANS || !state.is_finite() {
            return worst.found();
        }
        let contacts = (0..draw.models[0].wheels().len()).filter_map(|i| vehicle.wheel_contact(i));
        let pushed: DVec3 = contacts.map(|contact| contact.force.as_dvec3()).sum();
        let change = (state.velocity.as_dvec3() - before.as_dvec3()) * mass * f64::from(draw.hz);
        let missing = (change - pushed - DVec3::NEG_Z * weight).length();
        // Rounding of 32-bit velocities, divided by the length of a step.
        let rounding = ROUNDINGS * 1.2e-7 * f64::from(state.velocity.length() + 1.0) * mass * f64::from(draw.hz);
        let tolerance = if is_lifting_a_beam(draw.parts(), state) { OF_LIFTING_BEAMS } else { TOLERANCE };
        worst.add(missing, tolerance * weight + rounding, || {
            format!("step {k}: {:.2e} of the weight is missing", missing / weight)
        })?;
    }
    worst.found()
}
