//! An assist without an occasion to act changes no bit.

use skidpad::core::Assist;
use skidpad::core::model::Assists;

use super::draw::Draw;
use super::manoeuvre::{Key, Manoeuvre};
use super::{Outcome, Worst};
use crate::assists::fitted;

/// Name of an assist, the function that selects it, and the function that removes its occasion to act from the
/// controls.
type Idle = (&'static str, fn(&Assists) -> Assists, fn(&mut Key));

const IDLE: [Idle; 5] = [
    ("abs", |all| Assists { abs: all.abs, ..Assists::default() }, |key| key.brake = 0.0),
    ("traction", |all| Assists { traction: all.traction, ..Assists::default() }, |key| key.throttle = 0.0),
    ("launch", |all| Assists { launch: all.launch, ..Assists::default() }, |key| key.throttle = 0.0),
    ("cruise", |all| Assists { cruise: all.cruise, ..Assists::default() }, |_| ()),
    (
        "speed steering",
        |all| Assists { speed_steering: all.speed_steering, ..Assists::default() },
        |key| key.steer = 0.0,
    ),
];

/// Returns true if the assist log shows a change of motor torque by anti-lock brakes in any step.
fn cuts_regeneration(draw: &Draw) -> bool {
    let mut world = draw.world();
    (0..draw.steps()).any(|k| {
        world.step(&draw.controls(k));
        let log = world.frame(0).assist_log;
        log.iter().any(|(assist, added)| *assist == Assist::AntiLock && added.engine_torque != 0.0)
    })
}

pub fn check(draw: &Draw) -> Outcome {
    let mut worst = Worst::default();
    for (name, assist, calm) in IDLE {
        let manoeuvre = Manoeuvre { cruise: None, ..draw.manoeuvre.with(calm) };
        let with = |assists: Assists| {
            let parts = skidpad::core::ModelParts { assists, ..draw.parts().clone() };
            let changed = draw.with_parts(parts)?;
            Some(Draw { manoeuvre: manoeuvre.clone(), ..changed })
        };
        let (Some(bare), Some(fitted)) = (with(Assists::default()), with(assist(&fitted::all()))) else { continue };
        // Motors brake wheels without the pedal. Anti-lock brakes reduce that if wheels would lock, so the assist is
        // not idle.
        if name == "abs" && !fitted.parts().motors.is_empty() && cuts_regeneration(&fitted) {
            continue;
        }
        let (bare, fitted) = (bare.run(), fitted.run());
        worst.require(bare.samples == fitted.samples, || {
            format!("{name} has nothing to do and changes the drive by {:.2e} m", draw.apart(&bare, &fitted))
        })?;
    }
    worst.found()
}
