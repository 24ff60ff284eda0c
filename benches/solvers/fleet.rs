//! Fleets for the benches.

use std::sync::Arc;

use skidpad::core::model::Tyre;
use skidpad::core::{Controls, Model};
use skidpad::fleet::Fleet;

use crate::{ground, shared};

/// Returns a fleet of `count` Corvettes on `ground_name` (`field` or `mesh` for waves, otherwise a plane) with steps of `dt` s, each with its own mass (0.9 to 1.1 of the
/// described one) and grip (0.8 to 1.2). All start at the speed of the other benches, at part throttle.
pub fn varied_fleet(count: usize, ground_name: &str, dt: f32) -> Result<Fleet, Box<dyn std::error::Error>> {
    let model = skidpad::spec::load("corvette_c5")?.model;
    let mut fleet = Fleet::new(&model, &ground::scene(ground_name), dt)?;
    for (car, start) in shared::cars(count).iter().enumerate() {
        fleet.spawn(&start.placement);
        // Golden ratio: the shares of consecutive cars are spread evenly.
        let share = (0.618_034 * car as f32).fract();
        fleet.set_model(car, &varied_model(&model, 0.9 + 0.2 * share, 0.8 + 0.4 * (7.0 * share).fract())?)?;
        fleet.set_controls(car, &Controls { throttle: 0.2, ..Controls::default() })?;
    }
    Ok(fleet)
}

/// Returns `model` with mass and inertia times `mass`, and the friction of its tyres times `grip`.
fn varied_model(model: &Model, mass: f32, grip: f32) -> Result<Arc<Model>, Box<dyn std::error::Error>> {
    let mut parts = model.parts().clone();
    parts.mass *= mass;
    parts.inertia *= mass;
    for tyre in &mut parts.tyres {
        if let Tyre::Curve(curve) = tyre {
            curve.friction = curve.friction.map(|friction| friction * grip);
        }
    }
    Ok(Model::new(parts)?.into())
}
