//! Convergence: differences from the result at 1000 Hz decrease with the step length, and are small at 60 Hz.

use skidpad::core::{Model, State, Vec2};

use super::draw::Draw;
use super::run::Run;
use super::{NOT_APPLICABLE, Outcome, Worst};

/// Largest difference of 60 Hz from 1000 Hz, as a share of the car's length plus its distance travelled.
const AT_60_HZ: f64 = 0.02;

/// Differences below this share of the length come from events between steps, such as shifts.
const FLOOR: f64 = 3e-3;

/// Largest share of the friction limit that wheels use. Sliding and its start are events between steps.
const GRIP_USED: f32 = 0.8;

/// Ratio of speed to √(g R) above which tyres roll.
const ROLLS: f32 = 2.0;

/// Largest share of a difference that may remain at twice the rate.
const LEFT: f64 = 0.8;

pub fn check(draw: &Draw) -> Outcome {
    let at = |hz: f32| Draw { hz, ..draw.clone() };
    let exact = at(1000.0).run();
    if !is_smooth(draw, &exact) || draw.rounding(at(1000.0).sensitivity(&exact)).is_none() {
        return NOT_APPLICABLE;
    }
    let length = draw.length();
    let way =
        |run: &Run| run.samples.windows(2).map(|pair| (pair[1].position - pair[0].position).length()).sum::<f64>();
    let allowed = AT_60_HZ * (length + way(&exact));
    let [at_30, at_60, at_240] = [30.0, 60.0, 240.0].map(|hz| draw.apart(&exact, &at(hz).run()));
    let told =
        || format!("{at_30:.2e}, {at_60:.2e}, {at_240:.2e} m from 1000 Hz at 30, 60, 240 Hz, {allowed:.2e} m allowed");
    let (floor, mut worst) = (FLOOR * length, Worst::default());
    worst.add(at_60, allowed, told)?;
    worst.add(at_60, LEFT * at_30 + floor, told)?;
    worst.add(at_240, LEFT * LEFT * at_60 + floor, told)?;
    worst.found()
}

/// Returns true if every wheel rolls below its friction limit in every sample of `run`, and no gear changes.
fn is_smooth(draw: &Draw, run: &Run) -> bool {
    let rolls = |state: &State, model: &Model| {
        (0..state.wheels.len()).all(|i| {
            let now = &state.wheels[i];
            let limit = model.tyre(i).friction_at(now.load).map(|mu| mu * now.load * draw.ground.grip);
            let used = Vec2::new(now.tyre[0] / limit[0], now.tyre[1] / limit[1]).length();
            let least = ROLLS * (draw.ground.gravity * model.wheels()[i].radius).sqrt();
            now.load > 0.0 && used < GRIP_USED && now.rolling_speed.abs() > least
        })
    };
    let shifts = run.samples.windows(2).any(|pair| pair[0].drive.gear != pair[1].drive.gear);
    let mut cars = run.samples.iter().skip(1).map(|state| (state, &draw.models[0]));
    let mut last = run.last.iter().zip(&draw.models);
    !shifts && cars.all(|(state, model)| rolls(state, model)) && last.all(|(state, model)| rolls(state, model))
}
