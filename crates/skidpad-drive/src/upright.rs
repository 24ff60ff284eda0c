//! A car back on its wheels.

use skidpad_core::{Backend, Contact, Model, Probe, State, Vec3};

/// How far above the car's centre of mass the ground is looked for, m, and how far below that.
const ABOVE: f32 = 1.0;
const DEEP: f32 = 1000.0;

/// Puts car `car` of `world` on its wheels where it is, at rest, headed as it was, on the ground below it; whether there was any.
/// Without ground, and in worlds that do not tell of theirs, it stays where it is in the air, upright.
///
/// Everything else of its state is that of a fresh car: engine, gear, brakes, patches.
pub fn put_upright(world: &mut dyn Backend, car: usize) -> bool {
    let probe = looks_down(car, world.state(car));
    let mut met = [None];
    world.probe(&[probe], &mut met);
    let upright = upright_on(world.model(car), world.state(car), &probe, met[0].as_ref());
    world.set_state(car, &upright);
    met[0].is_some()
}

/// What car `car` in `state` asks its world for to find the ground below it.
pub fn looks_down(car: usize, state: &State) -> Probe {
    Probe {
        car,
        position: state.position,
        offset: Vec3::Z * ABOVE,
        direction: Vec3::NEG_Z,
        reach: ABOVE + DEEP,
        rim: None,
    }
}

/// A car of `model` upright at rest where it is in `state`, on the ground that `probe` met, or in the air.
pub fn upright_on(model: &Model, state: &State, probe: &Probe, met: Option<&Contact>) -> State {
    let ahead = state.rotation * Vec3::X;
    let heading = skidpad_core::math::atan2(ahead.y, ahead.x);
    match met {
        Some(contact) => State::upright_at(model, probe.at(contact.distance), contact.normal, heading),
        None => State { position: state.position, ..State::upright_at(model, state.position, Vec3::Z, heading) },
    }
}
