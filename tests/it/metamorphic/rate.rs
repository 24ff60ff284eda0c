//! Longer steps do the same less exactly: what differs from 1000 Hz falls as steps get shorter, and is small at 60 Hz.

use skidpad::core::{Model, State, Vec2};

use super::draw::Draw;
use super::run::Run;
use super::{NOT_APPLICABLE, Outcome, Worst};

/// Share of the length of the car and of its way that 60 Hz may differ by from 1000 Hz.
const AT_60_HZ: f64 = 0.02;

/// Differences below this share of the length are those of events, such as a shift, that fall between steps.
const FLOOR: f64 = 3e-3;

/// Share of their grip that wheels use at most: sliding, and what starts it, fall between steps.
const GRIP_USED: f32 = 0.8;

/// Speed over √(g R) above which tyres roll.
const ROLLS: f32 = 2.0;

/// Share that is left of a difference at a rate twice as high, at most.
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

/// Returns true if every wheel rolls below its limit in every sample of `run`, in one gear.
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
