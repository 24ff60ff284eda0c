//! Energy rises only by the drive. In neutral, only raw torques drive the car. Their energy in a step is at most
//! torque times the larger wheel spin at both ends of the step.

use skidpad::core::{Controls, State, Vec3};

use super::draw::Draw;
use super::manoeuvre::Manoeuvre;
use super::{Outcome, Violation, Worst};
use crate::step::energy::Audit;

/// Largest gain as a share of the largest kinetic energy. The audit and the step differ, because the step integrates
/// springs with their mean force.
const RISE: f64 = 1e-2;

/// Cosine of the tilt angle beyond which a car lies. Rays of a lying car find springs compressed without work.
const LIES: f32 = 0.6;

pub fn check(draw: &Draw) -> Outcome {
    let mut draw = draw.alone();
    // The audit uses standard gravity.
    draw.ground.gravity = 9.81;
    let manoeuvre = draw.manoeuvre.with(|key| key.throttle = 0.0);
    draw.manoeuvre = Manoeuvre { gear: Some(0), cruise: None, ..manoeuvre };
    draw.placement.gear = Some(0);
    let (scene, model) = (draw.ground.scene(), &draw.models[0]);
    let audit = match draw.ground.waves {
        Some(_) => Audit::by_compressions(model, &draw.solver),
        None => Audit::of_car(model, &draw.solver, &scene),
    };
    let mut world = draw.world();
    let mut largest = f64::from(model.mass() * model.wheels()[0].radius) * 9.81;
    let (mut least, mut given, mut worst) = (f64::INFINITY, 0.0, (0.0, 0));
    for k in 0..draw.steps() {
        let before = world.state(0).clone();
        let controls = draw.controls(k);
        let report = world.step(&controls);
        let after = world.state(0);
        if !after.is_finite() {
            let told = if report.not_finite { "reported" } else { "not reported" };
            return Err(Violation(format!("step {k} is not finite, {told}")));
        }
        given += raw_work([&before, after], &controls[0]) / f64::from(draw.hz);
        if (after.rotation * Vec3::Z).dot(scene.plane_normal()) < LIES {
            least = f64::INFINITY;
            continue;
        }
        largest = largest.max(0.5 * f64::from(model.mass() * after.velocity.length_squared())).max(given.abs());
        let rise = (audit.given_back(after) - given - least) / largest;
        if rise > worst.0 {
            worst = (rise, k);
        }
        least = least.min(audit.energy(after) - given);
    }
    let (rise, step) = worst;
    let mut worst = Worst::default();
    worst.add(rise, RISE, || format!("gains {rise:.2e} of its energy of motion by step {step}"))?;
    worst.found()
}

/// Returns an upper bound on the power of raw torques between two states (W).
fn raw_work([before, after]: [&State; 2], controls: &Controls) -> f64 {
    let each = controls.wheels.iter().enumerate();
    let power = each.map(|(i, wheel)| {
        let [first, second] = [before, after].map(|state| wheel.motor_torque * state.wheels[i].spin);
        f64::from(first.max(second))
    });
    power.sum()
}
