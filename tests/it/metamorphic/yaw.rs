//! Results on level ground do not depend on the heading.

use skidpad::core::{DVec3, Quat, State};

use super::draw::Draw;
use super::ground::GroundDraw;
use super::run::Run;
use super::{Outcome, same_but_for_rounding};

pub fn check(draw: &Draw) -> Outcome {
    let level = Draw { ground: GroundDraw { slope: 0.0, waves: None, ..draw.ground }, ..draw.clone() };
    let turn = draw.random().between(0.3, 3.0);
    let mut turned = level.clone();
    turned.placement.heading += turn;
    let (run, other) = (level.run(), turned.run());
    let back = Run { samples: other.samples.iter().map(|state| turned_by(state, -turn)).collect(), ..other };
    same_but_for_rounding(&level, "another heading on level ground", [&run, &back])
}

fn turned_by(state: &State, angle: f32) -> State {
    let (turn, mut turned) = (Quat::from_rotation_z(angle), state.clone());
    let (sin, cos) = f64::from(angle).sin_cos();
    let DVec3 { x, y, z } = state.position;
    turned.position = DVec3::new(cos * x - sin * y, sin * x + cos * y, z);
    turned.rotation = turn * state.rotation;
    (turned.velocity, turned.angular_velocity) = (turn * state.velocity, turn * state.angular_velocity);
    turned
}
