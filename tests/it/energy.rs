//! The mechanical energy of a car, counted from outside: what moves, what is lifted, what springs, stops and patches hold.

use skidpad::core::model::{BarCoupling, Strut};
use skidpad::core::{Mat3, Model, State};

use crate::common::GRAVITY;

/// Natural frequency of metal on metal on the mass a wheel carries, rad/s, and the largest speed with which it gives back.
const METAL: f64 = 70.0;
const METAL_RETURN: f64 = 2.0 * 0.7 * METAL;

/// Of `state` under gravity along −z, J.
pub fn mechanical(model: &Model, state: &State) -> f64 {
    let mass = f64::from(model.mass());
    let spin = Mat3::from_quat(state.rotation).transpose() * state.angular;
    let moving = 0.5 * mass * state.velocity.as_dvec3().length_squared();
    let turning = 0.5 * f64::from(spin.dot(*model.inertia() * spin));
    let travel = travels(model, state);
    let wheels: f64 = (0..state.wheels.len()).map(|i| of_wheel(model, state, i, travel[i])).sum();
    moving + turning + mass * GRAVITY * state.position.z + wheels + of_ties(model, &travel)
}

/// Compressions, m. A wheel without load is where its spring and its bars balance, which may be off the ground.
fn travels(model: &Model, state: &State) -> Vec<f64> {
    let mut travel: Vec<f64> = state.wheels.iter().map(|wheel| wheel.compression.into()).collect();
    for _ in 0..50 {
        for (i, wheel) in model.wheels().iter().enumerate().filter(|(i, _)| state.wheels[*i].load == 0.0) {
            let ties = ties(model).filter(|tie| tie.wheels.contains(&i));
            let (push, rate) = ties.fold((-f64::from(model.static_load(i)), 0.0), |(push, rate), tie| {
                let other = if tie.wheels[0] == i { tie.wheels[1] } else { tie.wheels[0] };
                (push - tie.way * tie.rate * travel[other], rate + tie.rate)
            });
            let hangs = wheel.strut.compression_under(push, rate).max(-f64::from(wheel.strut.droop_travel));
            travel[i] = hangs.max(state.wheels[i].compression.into());
        }
    }
    travel
}

struct Tie {
    wheels: [usize; 2],
    rate: f64,
    way: f64,
}

/// Anti-roll bars through the struts, and heave springs.
fn ties(model: &Model) -> impl Iterator<Item = Tie> {
    let parts = model.parts();
    let through = parts.bars.iter().filter(|bar| bar.coupling == BarCoupling::InLoadPath);
    let bars = through.map(|bar| Tie { wheels: bar.wheels, rate: bar.rate.into(), way: -1.0 });
    let heave = parts.heave_springs.iter();
    bars.chain(heave.map(|spring| Tie { wheels: spring.wheels, rate: 0.25 * f64::from(spring.rate), way: 1.0 }))
}

/// Spin, spring and patch of wheel `i`, J.
fn of_wheel(model: &Model, state: &State, i: usize, travel: f64) -> f64 {
    let (wheel, now) = (&model.wheels()[i], &state.wheels[i]);
    let spin = 0.5 * f64::from(wheel.spin_inertia) * f64::from(now.spin).powi(2);
    let stiffness = model.tyre(i).stiffness_at(now.load);
    let lengths = model.patch_lengths(i, now.load, 0.0);
    let patch = |k: usize| match now.load > 1.0 {
        true => 0.5 * f64::from(now.tyre[k]).powi(2) * f64::from(lengths[k] / stiffness[k]),
        false => 0.0,
    };
    let carried = f64::from(model.sprung()[i]);
    spin + of_strut(&wheel.strut, carried, travel) + patch(0) + patch(1)
}

/// Spring and stops at a compression, from the rest pose on, J.
fn of_strut(strut: &Strut, carried: f64, travel: f64) -> f64 {
    let [rate, rise] = [strut.rate, strut.rise].map(f64::from);
    let [bump, solid] = [strut.bump_travel, strut.bump_travel + strut.stop_travel].map(f64::from);
    let free = travel.min(solid);
    let spring = carried * GRAVITY * travel + 0.5 * rate * free * free + rise * free.powi(3) / 6.0;
    let force = rate * free + 0.5 * rise * free * free;
    let rubber = (free - bump).max(0.0);
    let metal = (travel - solid).max(0.0);
    // A spring up to the force that brings things out at 1 m/s, and that force beyond.
    let (stiff, most) = (carried * METAL * METAL, carried * METAL_RETURN);
    let knee = metal.min(most / stiff);
    let held = 0.5 * stiff * knee * knee + most * (metal - knee);
    spring + 0.5 * f64::from(strut.stop_rate) * (rubber * rubber + 2.0 * rubber * metal) + force * metal + held
}

/// Bars and heave springs, J.
fn of_ties(model: &Model, travel: &[f64]) -> f64 {
    ties(model).map(|tie| 0.5 * tie.rate * (travel[tie.wheels[0]] + tie.way * travel[tie.wheels[1]]).powi(2)).sum()
}
