//! Rollover figures of cars without downforce do not exceed the limit of the rigid car, which is half the track over
//! the height of the centre of mass above the points of the tyre forces. External anti-roll bars, which push the
//! chassis without the ground, are put into the load path.

use skidpad::core::model::BarForcePath;
use skidpad::lab::closed_form::steady_state::rollover;

use super::draw::Draw;
use super::{NOT_APPLICABLE, Outcome, Worst};

/// Relative tolerance for cars that sink on their springs, and for the linearisation of the rows.
const TOLERANCE: f64 = 0.02;

pub fn check(draw: &Draw) -> Outcome {
    let mut parts = draw.parts().clone();
    parts.aero = Default::default();
    parts.bars.iter_mut().for_each(|bar| bar.force_path = BarForcePath::InLoadPath);
    let Some(draw) = draw.with_parts(parts) else { return NOT_APPLICABLE };
    let model = &draw.models[0];
    let half = model.wheels().iter().map(|wheel| wheel.contact.y.abs()).fold(0.0, f32::max);
    let lever = model.tyre_force_lever();
    if lever <= 0.0 {
        return NOT_APPLICABLE;
    }
    let rigid = 9.81 * f64::from(half) / lever;
    let Some(told) = rollover(model) else { return NOT_APPLICABLE };
    let found = told.lateral_acceleration.abs();
    let mut worst = Worst::default();
    worst.add(found, (1.0 + TOLERANCE) * rigid, || {
        format!("rollover is told at {found:.3} m/s², the rigid car's is {rigid:.3}")
    })?;
    worst.found()
}
