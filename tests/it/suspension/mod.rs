//! Springs, bars, loads, unsprung masses and axles.

pub mod bars;
pub mod landings;
pub mod lateral_compliance;
pub mod load_transfer;
pub mod multi_body;
#[cfg(feature = "constraint")]
pub mod own_wheels;
pub mod roll_centres;
pub mod solid_axles;
pub mod springs;
pub mod statics;
pub mod steering_compliance;

use std::sync::Arc;

use skidpad::core::{Controls, Frame, Model, SolverInfo};

use crate::common::{Drive, hold_speed};

/// Returns the frames in the last second of a steady left turn of about 0.2 g.
pub fn steady_turn(solver: &SolverInfo, model: &Arc<Model>) -> Vec<Frame> {
    let mut car = Drive::rolling(solver, model, 15.0, 240.0);
    let frames = car.run(6.0, |f| Controls {
        steer: 0.024,
        gear: Some(0),
        wheels: hold_speed(f, model, 15.0),
        ..Controls::default()
    });
    frames[frames.len() - 240..].to_vec()
}
