//! A trailer behind the vehicle that is to tow it.

use skidpad_core::state::{Placement, Tow};
use skidpad_core::{Model, Scene, State, Vec3};

/// A trailer of `model` in line behind a vehicle of the model `ahead` in `state`, whose number in the world is `number`, hitched to it: as
/// [`State::train_at_rest`] puts it on level ground, turned and moving with the vehicle. `None` if one of them has nothing to be
/// hitched by.
pub fn hitched(ahead: &Model, state: &State, number: u32, model: &Model) -> Option<State> {
    let speed = (state.rotation.inverse() * state.velocity).dot(Vec3::X);
    let placement = Placement { speed, ..Placement::default() };
    let train: [State; 2] =
        State::train_at_rest(&[ahead, model], number, &Scene::flat(), &placement).try_into().ok()?;
    let [first, behind] = train;
    let tow = behind.tow?;
    let turn = (state.rotation * first.rotation.inverse()).normalize();
    let arm = turn * (behind.position - first.position).as_vec3();
    let velocity = state.velocity + state.angular.cross(arm);
    Some(State {
        position: state.position + arm.as_dvec3(),
        rotation: (turn * behind.rotation).normalize(),
        velocity,
        previous_velocity: velocity,
        angular: state.angular,
        tow: Some(Tow { force: turn * tow.force, ..tow }),
        ..behind
    })
}
