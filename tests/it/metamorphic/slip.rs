//! Slips in telemetry equal the sliding of the contact over the rolling speed, on any ground and with every tyre law,
//! in steady slip above walking pace.

use skidpad::core::WheelFrame;

use super::draw::Draw;
use super::{Outcome, Worst};

/// Largest difference of a slip, relative for slips above 1.
const TOLERANCE: f64 = 1e-3;

/// Rate of change below which a slip is steady (1/s).
const STEADY: f64 = 2e-3;

/// Duration for which slips are steady before the comparison (s).
const SETTLED: f64 = 0.2;

/// Largest slip (–) for which tyre deflections represent slips: `MAX_SLIP` of the core, less the effect of load
/// changes.
const LARGEST: f64 = 9.0;

/// Ratio of speed to √(g R) above which the contact patch rolls.
const ROLLS: f32 = 1.5;

pub fn check(draw: &Draw) -> Outcome {
    let draw = draw.alone().on_plane();
    let (mut world, mut worst, dt) = (draw.world(), Worst::default(), 1.0 / f64::from(draw.hz));
    let mut before = world.frame(0);
    let mut steady_since = vec![0.0; before.wheels.len()];
    let mut moved = vec![[f64::INFINITY; 2]; before.wheels.len()];
    for k in 0..draw.steps() {
        world.step(&draw.controls(k));
        let (frame, view) = (world.frame(0), world.car(0));
        for (i, now) in frame.wheels.iter().enumerate() {
            let contact = view.vehicle.expect("solves rows").wheel_contact(i);
            let (Some(contact), speed) = (contact, view.state.wheels[i].rolling_speed.abs()) else { continue };
            let [along, across] = contact.sliding_velocity.map(|sliding| f64::from(sliding / speed));
            let is_slow = speed < ROLLS * (9.81 * view.model.wheels()[i].radius).sqrt();
            let changes = [along - moved[i][0], across - moved[i][1]].iter().any(|change| change.abs() > STEADY * dt);
            if is_slow || changes || !is_steady(now, &before.wheels[i], dt) {
                steady_since[i] = frame.t_s;
            }
            moved[i] = [along, across];
            if frame.t_s < steady_since[i] + SETTLED || along.hypot(across) > LARGEST {
                continue;
            }
            for (what, told, slides) in
                [("slip_ratio", now.slip_ratio, -along), ("tan slip_angle", now.slip_angle_rad.tan(), across)]
            {
                worst.add((told - slides).abs(), TOLERANCE * slides.abs().max(1.0), || {
                    format!("wheel {i} at {:.2} s: {what} is told as {told:.5}, it slides with {slides:.5}", frame.t_s)
                })?;
            }
        }
        before = frame;
    }
    worst.found()
}

/// Returns true if slips and load of a wheel changed by little from `before` to `now`, `dt` s later.
fn is_steady(now: &WheelFrame, before: &WheelFrame, dt: f64) -> bool {
    let changed = [now.slip_ratio - before.slip_ratio, now.slip_angle_rad.tan() - before.slip_angle_rad.tan()];
    let loaded = now.load_n > 1.0 && (now.load_n / before.load_n - 1.0).abs() < 1e-3;
    loaded && changed.iter().all(|change| change.abs() < STEADY * dt)
}
