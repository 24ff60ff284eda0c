//! Distant cars do not change a bit of a car: another car from the start on, seven copies of the car, and a car that
//! is added and removed.

use skidpad::core::{CarStart, Controls, State, state::Placement};

use super::draw::Draw;
use super::run::apart;
use super::{Outcome, Violation, Worst};
use crate::common::{Simplify, c5};

pub fn check(draw: &Draw) -> Outcome {
    let draw = draw.on_plane();
    let (alone, mut worst) = (draw.run().last, Worst::default());
    let far = |model, k: usize| {
        let placement = Placement { y: 500.0 + 50.0 * k as f64, heading: 0.0, ..draw.placement };
        CarStart { model, placement }
    };
    let mut one = draw.world();
    one.insert(&far(c5().model(), 0));
    let mut alike = draw.world();
    (0..7).for_each(|k| _ = alike.insert(&far(draw.models[0].clone(), k)));
    for (what, world) in [("another car", one), ("seven cars alike", alike)] {
        same(&draw, what, &alone, &draw.run_from(world).last, &mut worst)?;
    }
    let (mut visited, mut visitor) = (draw.world(), None);
    for k in 0..draw.steps() {
        let share = k as f64 / draw.steps() as f64;
        if k == draw.steps() / 4 {
            visitor = Some(visited.insert(&far(c5().model(), 0)));
        }
        if k == draw.steps() / 2 {
            visited.remove(visitor.take().expect("it came before")).expect("it is there");
        }
        let mut controls = draw.controls(k);
        controls.push(Controls { throttle: share as f32, ..Controls::default() });
        visited.step(&controls);
    }
    let last: Vec<State> = (0..draw.models.len()).map(|car| visited.state(car).clone()).collect();
    same(&draw, "a car that comes and leaves", &alone, &last, &mut worst)?;
    worst.found()
}

fn same(draw: &Draw, what: &str, alone: &[State], beside: &[State], worst: &mut Worst) -> Result<(), Violation> {
    let apart: f64 = alone.iter().zip(beside).map(|(a, b)| apart(a, b, draw.length())).fold(0.0, f64::max);
    let what = || format!("{what} far away: {apart:.2e} m apart");
    if draw.solver.name != "rapier" {
        return worst.require(alone == beside, what);
    }
    // Rapier numbers bodies by age and solves contacts in that order.
    match draw.rounding(draw.sensitivity(&draw.run())) {
        Some(rounding) => worst.add(apart, rounding, what),
        None => Ok(()),
    }
}
