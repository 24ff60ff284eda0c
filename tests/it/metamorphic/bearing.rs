//! Wheel loads sum up to the mass times gravity plus acceleration along the ground's normal.

use skidpad::core::Vec3;
use skidpad::core::model::ProbeShape;

use super::draw::{Draw, OF_LIFTING_BEAMS, is_lifting_a_beam};
use super::{NOT_APPLICABLE, Outcome, Worst};

/// Largest difference as a share of the weight.
const TOLERANCE: f64 = 3e-3;

/// Number of impulses that a world adds to a 32-bit velocity in a step.
const ROUNDINGS: f64 = 16.0;

/// Cosine of the tilt angle beyond which bodywork may touch the ground.
const LEANS: f32 = 0.9;

pub fn check(draw: &Draw) -> Outcome {
    let draw = draw.alone().on_plane();
    // Unsprung masses have momentum of their own. The load of a rim probe is the force of the strut along its travel.
    let on_rims = draw.parts().wheels.iter().any(|wheel| wheel.probe != ProbeShape::Ray);
    if draw.solver.name == "constraint-unsprung" || on_rims {
        return NOT_APPLICABLE;
    }
    let Some(draw) = draw.on_wheels_alone() else { return NOT_APPLICABLE };
    let (normal, mass) = (draw.ground.scene().plane_normal(), f64::from(draw.models[0].mass()));
    let weight = mass * f64::from(draw.ground.gravity);
    let (mut world, mut worst) = (draw.world(), Worst::default());
    for k in 0..draw.steps() {
        let before = world.state(0).velocity;
        world.step(&draw.controls(k));
        let state = world.state(0);
        if (state.rotation * Vec3::Z).dot(normal) < LEANS || !state.is_finite() {
            return worst.found();
        }
        let carried: f64 = world.frame(0).wheels.iter().map(|wheel| wheel.load_n).sum();
        let rising = f64::from((state.velocity - before).dot(normal)) * f64::from(draw.hz);
        let expected = mass * rising + weight * f64::from(normal.z);
        let rounding = ROUNDINGS * 1.2e-7 * f64::from(state.velocity.length() + 1.0) * mass * f64::from(draw.hz);
        let tolerance = if is_lifting_a_beam(draw.parts(), state) { OF_LIFTING_BEAMS } else { TOLERANCE };
        worst.add((carried - expected).abs(), tolerance * weight + rounding, || {
            format!("step {k}: wheels carry {carried:.1} N, the motion takes {expected:.1} N")
        })?;
    }
    worst.found()
}
