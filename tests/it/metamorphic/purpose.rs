//! An active assist does not impair its own purpose: stopping distance, distance from rest, error of the held speed,
//! sideslip angle in a fast turn.

use skidpad::core::ModelParts;
use skidpad::core::model::{AntiLock, Assists, TractionControl};
use skidpad::core::tyre::Conditions;

use super::draw::Draw;
use super::ground::GroundDraw;
use super::manoeuvre::{Key, Manoeuvre};
use super::run::Run;
use super::{NOT_APPLICABLE, Outcome, Violation, Worst};
use crate::assists::fitted;

pub fn check(draw: &Draw) -> Outcome {
    if draw.vehicle.starts_with("random") {
        return NOT_APPLICABLE;
    }
    let mut draw = draw.alone().on_plane();
    draw.ground = GroundDraw { slope: 0.2 * draw.ground.slope, gravity: 9.81, ..draw.ground };
    (draw.placement.heading, draw.kick) = (0.0, Default::default());
    let mut worst = Worst::default();
    for purpose in [stops, launches, holds_speed, turns] {
        purpose(&draw, &mut worst)?;
    }
    worst.found()
}

/// Duration of a drive (s).
const SECONDS: f64 = 5.0;

/// Drives the draw with these `assists`, with the inputs of `key` from the start, at an initial `speed` (m/s).
/// Returns `None` if the parts are invalid.
fn with(draw: &Draw, assists: Assists, key: Key, speed: f32, cruise: Option<f32>) -> Option<Run> {
    let mut changed = draw.with_parts(ModelParts { assists, ..draw.parts().clone() })?;
    changed.seconds = SECONDS;
    changed.manoeuvre = Manoeuvre { name: "purpose", keys: vec![key], gear: None, cruise };
    (changed.placement.speed, changed.placement.gear) = (speed, None);
    Some(changed.run())
}

fn quiet() -> Key {
    Key { at: 0.0, throttle: 0.0, brake: 0.0, handbrake: 0.0, steer: 0.0, wheels: Vec::new() }
}

/// Returns the slip of maximum longitudinal tyre force at the draw's grip, or at a grip of 1 if that is higher.
/// `None` if that slip is 0.4 or more, beyond the range of assists, or if a tyre does not creep.
fn best_slip(draw: &Draw) -> Option<f32> {
    let (model, grip) = (&draw.models[0], draw.ground.grip.max(1.0));
    let of = |i: usize| {
        let (tyre, road) = (model.tyre(i), Conditions { grip, ..Conditions::upright(model.static_load(i), 0.0) });
        let force = |slip: &f32| tyre.force([*slip, 0.0], &road).force[0];
        let slips = || (1..=1000).map(|k| k as f32 / 1000.0);
        let most = slips().map(|slip| force(&slip)).fold(0.0, f32::max);
        // Forces beyond the peak of a curve tyre differ by rounding.
        slips().find(|slip| force(slip) > 0.9999 * most).filter(|_| tyre.has_deflection_dynamics())
    };
    let best = (0..model.wheels().len()).map(of).collect::<Option<Vec<f32>>>()?.into_iter().fold(0.0, f32::max);
    (best < 0.4).then_some(best)
}

/// Returns the distance along x (m).
fn way(run: &Run) -> f64 {
    run.last[0].position.x - run.samples[0].position.x
}

fn stops(draw: &Draw, worst: &mut Worst) -> Result<(), Violation> {
    let Some(slip) = best_slip(draw) else { return Ok(()) };
    let speed = draw.random().between(6.0, 30.0);
    let abs = Assists { abs: Some(AntiLock { slip, ..fitted::ABS }), ..Assists::default() };
    let drive = |assists| with(draw, assists, Key { brake: 1.0, ..quiet() }, speed, None);
    let (Some(bare), Some(kept)) = (drive(Assists::default()), drive(abs)) else { return Ok(()) };
    let [bare, kept] = [way(&bare), way(&kept)];
    worst.add(kept, 1.03 * bare + 0.5, || {
        format!("brakes from {speed:.1} m/s: {kept:.2} m in 5 s with ABS, {bare:.2} m without")
    })
}

fn launches(draw: &Draw, worst: &mut Worst) -> Result<(), Violation> {
    let Some(slip) = best_slip(draw) else { return Ok(()) };
    let traction = Assists { traction: Some(TractionControl { slip, ..fitted::TRACTION }), ..Assists::default() };
    let drive = |assists| with(draw, assists, Key { throttle: 1.0, ..quiet() }, 0.0, None);
    let (Some(bare), Some(kept)) = (drive(Assists::default()), drive(traction)) else { return Ok(()) };
    let [bare, kept] = [unpressed_way(draw, &bare), way(&kept)];
    worst.add(0.95 * bare - 0.5, kept, || {
        format!("full throttle from rest: {kept:.2} m in 5 s with traction control, {bare:.2} m without")
    })
}

/// Returns the distance of a `run` (m) without the reaction of the wheels' angular momentum.
///
/// The moment that accelerates the wheels loads the rear axle. If the rear wheels spin and the front wheels roll, the
/// spinning wheels carry more load and pull more, by the share `ΔL / (t l N)`: spin momentum ΔL in the time t,
/// wheelbase l, static load N. The distance gained beyond that on the slope alone is larger by this share. Wheels
/// that keep their slip do not get this load.
fn unpressed_way(draw: &Draw, run: &Run) -> f64 {
    let (model, end) = (&draw.models[0], &run.last[0]);
    let fastest = run.samples.iter().map(|state| state.velocity.length()).fold(0.0, f32::max);
    let (mut loads, mut places, mut momentum) = ([0.0; 2], [0.0; 2], 0.0);
    for (i, (wheel, of)) in end.wheels.iter().zip(model.wheels()).enumerate() {
        let faster = wheel.spin - fastest / of.radius;
        let spins = faster * of.radius > 1.0;
        let load = f64::from(model.static_load(i));
        loads[usize::from(spins)] += load;
        places[usize::from(spins)] += load * f64::from(of.contact.x);
        momentum += f64::from(of.spin_inertia * faster.max(0.0));
    }
    if loads.contains(&0.0) {
        return way(run);
    }
    let base = places[0] / loads[0] - places[1] / loads[1];
    let pressed = momentum / (SECONDS * base);
    let gravity = f64::from(draw.ground.gravity * draw.ground.slope.sin());
    let rolled = -0.5 * gravity * SECONDS * SECONDS;
    (way(run) - rolled) * loads[1] / (loads[1] + pressed) + rolled
}

fn holds_speed(draw: &Draw, worst: &mut Worst) -> Result<(), Violation> {
    let random = &mut draw.random();
    let (speed, wanted) = (random.between(2.0, 20.0), random.between(2.0, 20.0));
    let cruise = Assists { cruise: fitted::all().cruise, ..Assists::default() };
    let drive = |assists| with(draw, assists, quiet(), speed, Some(wanted));
    let (Some(bare), Some(held)) = (drive(Assists::default()), drive(cruise)) else { return Ok(()) };
    let [bare, held] = [bare, held].map(|run| f64::from((run.last[0].velocity.length() - wanted).abs()));
    worst.add(held, bare + 0.5, || {
        format!("from {speed:.1} to {wanted:.1} m/s in 5 s: {held:.2} m/s off with cruise control, {bare:.2} without")
    })
}

fn turns(draw: &Draw, worst: &mut Worst) -> Result<(), Violation> {
    let random = &mut draw.random();
    let (speed, steer) = (random.between(8.0, 25.0), random.between(-0.15, 0.15));
    let stability = Assists { stability: fitted::all().stability, ..Assists::default() };
    let drive = |assists| with(draw, assists, Key { steer, ..quiet() }, speed, None);
    let (Some(bare), Some(kept)) = (drive(Assists::default()), drive(stability)) else { return Ok(()) };
    let [bare, kept] = [bare, kept].map(|run| run.samples.iter().map(sideslip).fold(0.0, f64::max));
    worst.add(kept, 1.1 * bare + 0.02, || {
        format!(
            "turns with {steer:.3} rad from {speed:.1} m/s: {kept:.3} rad of sideslip with stability control, {bare:.3} without"
        )
    })
}

/// Returns the absolute sideslip angle (rad), 0 below 3 m/s.
fn sideslip(state: &skidpad::core::State) -> f64 {
    let velocity = state.rotation.inverse() * state.velocity;
    if velocity.length() < 3.0 { 0.0 } else { f64::from(velocity.y.atan2(velocity.x).abs()) }
}
