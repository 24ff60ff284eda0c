//! Automatic gearboxes on slopes: they keep the gear that they find and start in the launch gear, and the car does
//! not roll back.

use std::sync::Arc;

use skidpad::core::{Controls, Frame, Model, Scene, state::Placement};
use skidpad::lab::DriverInput;
use skidpad::lab::closed_form::{drive_force, resistance};
use skidpad::lab::driver::PedalSpeedController;

use crate::common::{Drive, GRAVITY, Simplify, on_rows, own_code, shipped};
use crate::hitch::lasting::RIGS;
use crate::hitch::rigs;

/// Step of the search for the highest speed (m/s).
const SPEED_STEP: f64 = 0.1;
/// Number of drives of each car on slopes.
const DRAWS: u32 = 60;
/// Angle of the steepest slope (rad).
const STEEPEST: f64 = 20.0 * std::f64::consts::PI / 180.0;
/// Tick rate (Hz).
const HZ: f32 = 60.0;

/// Returns the names of the shipped cars with stepped gearboxes.
fn stepped() -> impl Iterator<Item = &'static str> {
    skidpad::spec::shipped::names().filter(|name| {
        let engine = shipped(name);
        engine.powertrain.engine().is_some_and(|drive| drive.gearbox.cvt.is_none())
    })
}

/// Returns the resistance of all `models` at `speed` (m/s) on a `slope` (rad), N.
fn against(models: &[Arc<Model>], slope: f64, speed: f64) -> f64 {
    let weight: f64 = models.iter().map(|model| f64::from(model.mass()) * GRAVITY).sum();
    models.iter().map(|model| resistance(model, speed)).sum::<f64>() + weight * slope.sin()
}

/// Returns the highest gear in which the drive force of the first of `models` exceeds `reserve` times the resistance,
/// or `None`.
fn gear_for(models: &[Arc<Model>], slope: f64, speed: f64, reserve: f64) -> Option<i8> {
    let gears = models[0].parts().powertrain.engine().expect("an engine").gearbox.forward.len() as i8;
    (1..=gears).rev().find(|gear| drive_force(&models[0], speed, *gear) > reserve * against(models, slope, speed))
}

/// Returns the highest speed at which the drive force of some gear exceeds the resistance (m/s), 0 without any.
fn highest_speed(models: &[Arc<Model>], slope: f64) -> f64 {
    let mut speeds = (1..1000).map(|k| f64::from(k) * SPEED_STEP);
    speeds.rfind(|speed| gear_for(models, slope, *speed, 1.0).is_some()).unwrap_or(0.0)
}

/// Drives the first of `models`, which tows the others, for 40 s on a `slope` (rad) from `speed` (m/s) on, at that
/// speed or at full throttle. Returns its frames.
fn drive(models: &[Arc<Model>], slope: f64, speed: f64, full_throttle: bool) -> Vec<Frame> {
    let solver = own_code().into_iter().find(|solver| solver.name == "impulse").expect("a solver");
    // An automatic arrives in no higher gear, because it shifts up only with this reserve.
    let gear = Some(gear_for(models, slope, speed, 1.15).unwrap_or(1));
    let placement = Placement { speed: speed as f32, gear, ..Placement::default() };
    let towed: f64 = models[1..].iter().map(|model| f64::from(model.mass()) * GRAVITY * slope.sin()).sum();
    let mut world = rigs::train_from(&solver, models, &Scene::sloping(slope as f32), &placement, HZ);
    let (mut frames, mut holder) = (vec![world.frame(0)], PedalSpeedController::default());
    for step in 0..(40.0 * HZ) as u64 {
        let frame = &frames[frames.len() - 1];
        let input = DriverInput { step, dt_s: (1.0 / HZ).into(), model: &models[0], frame };
        let full = Controls { throttle: 1.0, ..Controls::default() };
        let mut held = holder.controls(&input, speed);
        // The driver model includes the slope force of the car but not that of its trailers.
        held.throttle += (towed / drive_force(&models[0], frame.vx_mps, (frame.gear as i8).max(1)).max(1.0)) as f32;
        held.throttle = held.throttle.min(1.0);
        world.step(&[if full_throttle { full } else { held }]);
        frames.push(world.frame(0));
    }
    frames
}

fn shifts(frames: &[Frame]) -> usize {
    frames.windows(2).filter(|pair| pair[0].gear != pair[1].gear).count()
}

/// Returns a description of the fault if there is more than one shift after 20 s, or if the car rolls back.
fn fault(models: &[Arc<Model>], slope: f64, speed: f64, full_throttle: bool) -> Option<String> {
    let frames = drive(models, slope, speed, full_throttle);
    let late = shifts(&frames[frames.len() / 2..]);
    let slowest = frames.iter().map(|frame| frame.vx_mps).fold(f64::INFINITY, f64::min);
    let holds = if full_throttle { "full throttle from" } else { "holds" };
    // The wind-up of a tyre moves a standing car back by some mm/s.
    (late > 1 || slowest < -0.01).then(|| {
        let (all, degrees) = (shifts(&frames), slope.to_degrees());
        format!(
            "{holds} {speed:.1} m/s on {degrees:.1} degrees: {all} shifts, {late} after 20 s, slowest {slowest:.2} m/s"
        )
    })
}

/// Asserts that a train has no fault on evenly drawn slopes up to 20 degrees and speeds from 2 m/s to 0.9 of the
/// highest one. Every fourth drive is at full throttle.
fn settles(names: &[&str]) {
    let models = rigs::shipped(names);
    let mut faults = Vec::new();
    for draw in 0..DRAWS {
        // Additive low-discrepancy sequence in two dimensions: steps 1/p and 1/p² with p³ = p + 1.
        let [u, v] = [0.754_877_67, 0.569_840_29].map(|step| (0.5 + step * f64::from(draw)).fract());
        let slope = u * STEEPEST;
        let highest = 0.9 * highest_speed(&models, slope);
        if highest >= 2.0 {
            faults.extend(fault(&models, slope, 2.0 + v * (highest - 2.0), draw % 4 == 3));
        }
    }
    assert!(faults.is_empty(), "{names:?}: {} faults\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn cars_keep_their_gear_on_slopes() {
    stepped().for_each(|name| settles(&[name]));
}

#[test]
fn cars_with_trailers_keep_their_gear_on_slopes() {
    RIGS.iter().for_each(|names| settles(names));
}

/// Regression cases of hunting: a truck at full throttle on 13 degrees, and a 4Runner at 8 m/s on 3 degrees.
#[test]
fn the_reported_cars_keep_their_gear() {
    let cases = [("truck_6x4", 13.0f64, 2.0, true), ("toyota_4runner", 3.0, 8.0, false)];
    for (name, degrees, speed, full_throttle) in cases {
        assert_eq!(fault(&rigs::shipped(&[name]), degrees.to_radians(), speed, full_throttle), None, "{name}");
    }
}

/// A car braked to rest is in first gear within 0.05 s, and starts in it.
#[test]
fn a_car_that_stops_is_in_its_launch_gear() {
    for name in stepped() {
        let model = shipped(name).model();
        for solver in on_rows() {
            for hz in [30.0, 240.0] {
                let mut car = Drive::rolling(&solver, &model, 15.0, hz);
                let braked = car.run(6.0, |_| Controls { brake: 1.0, ..Controls::default() });
                let stop = braked.iter().find(|frame| frame.vx_mps < 0.01).expect("it stops").t_s;
                let ready =
                    braked.iter().find(|frame| frame.t_s >= stop && frame.gear == 1.0).map(|frame| frame.t_s - stop);
                let what = format!("{name} {} {hz} Hz", solver.name);
                assert!(ready.is_some_and(|time| time < 0.05), "{what}: {ready:?} s after its stop");
                let away = car.run(3.0, |_| Controls { throttle: 1.0, ..Controls::default() });
                assert!(away[0].gear == 1.0 && away[away.len() - 1].vx_mps > 0.5, "{what}: starts in {}", away[0].gear);
            }
        }
    }
}

/// A car at part throttle shifts up from first gear.
#[test]
fn a_car_at_part_throttle_shifts_up() {
    for name in stepped().filter(|name| *name != "truck_6x4") {
        let solver = own_code().into_iter().find(|solver| solver.name == "impulse").expect("a solver");
        let mut car = Drive::new(&solver, &shipped(name).model(), &Scene::flat(), Placement::default(), HZ);
        let last = car.run(40.0, |_| Controls { throttle: 0.25, ..Controls::default() }).pop().expect("frames");
        assert!(last.gear >= 2.0, "{name}: gear {} at {} m/s", last.gear, last.vx_mps);
    }
}
