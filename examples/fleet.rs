//! Drives a fleet of Corvettes, and prints time and memory of a car-step.
//!
//! Usage: `cargo run --release --features full --example fleet [CARS] [SECONDS] [MODE] [LANES]`; 4096 cars, 10 s and
//! `random` by default. `LANES` is the number of a value of [`Lanes::ALL`]; by default those that a fleet selects.
//!
//! | mode | drive |
//! |---|---|
//! | `straight` | straight ahead at part throttle |
//! | `random` | random pedals and steering, drawn anew four times a second |
//! | `masked` | as `random`, with every eighth car taken out |
//! | `resets` | as `random`, with one car in a hundred put back to a start before each step |
//! | `varied` | as `random`, each car with a mass of its own |

use std::sync::Arc;
use std::time::Instant;

use skidpad::core::Model;
use skidpad::fleet::{ACTION_COUNT, Fleet, Lanes, Observation};
use skidpad::prelude::*;

/// Length of a step, s.
const DT: f32 = 0.01;

/// Number of steps for which actions stay.
const STEPS_PER_ACTION: u32 = 25;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let car_count: usize = arguments.next().map_or(Ok(4096), |text| text.parse())?;
    let seconds: f32 = arguments.next().map_or(Ok(10.0), |text| text.parse())?;
    let mode = arguments.next().unwrap_or_else(|| "random".into());
    let lanes: Option<usize> = arguments.next().map(|text| text.parse()).transpose()?;
    let lanes = lanes.and_then(|number| Lanes::ALL.get(number).copied()).unwrap_or_else(Lanes::widest);
    println!("{mode}, lanes: {lanes:?}");
    let bytes_before = resident_bytes();
    let mut fleet = build_fleet(car_count, lanes, &mode)?;
    let stepped_cars = if mode == "masked" { car_count - car_count.div_ceil(8) } else { car_count };
    let (mut actions, mut random) = (vec![0.0; car_count * ACTION_COUNT], Random(1));
    let steps_at_once = if mode == "resets" { 1 } else { 4 };
    let (start, mut steps) = (Instant::now(), 0);
    while steps as f32 * DT < seconds {
        if steps % STEPS_PER_ACTION < steps_at_once {
            for action in actions.chunks_mut(ACTION_COUNT) {
                action.copy_from_slice(&if mode == "straight" { [0.2, 0.0, 0.0, 0.0] } else { random.action() });
            }
            fleet.set_actions(&actions)?;
        }
        if mode == "resets" {
            let cars: Vec<u32> = (0..car_count as u32).filter(|car| (car + steps).is_multiple_of(100)).collect();
            let starts: Vec<f64> = cars.iter().flat_map(|car| [0.0, 10.0 * f64::from(*car), 0.0, 10.0]).collect();
            fleet.reset(&cars, &starts)?;
        }
        fleet.step(steps_at_once);
        steps += steps_at_once;
    }
    let elapsed = start.elapsed().as_secs_f64();
    let car_steps = stepped_cars as f64 * f64::from(steps);
    let mean_speed = fleet.observations().chunks(3).map(|row| f64::from(row[0])).sum::<f64>() / car_count as f64;
    println!("{steps} steps in {elapsed:.2} s: {:.0} ns per car-step", 1e9 * elapsed / car_steps);
    println!("{:.2} % of the car-steps alone", 100.0 * fleet.rare_steps() as f64 / car_steps);
    println!("mean speed {mean_speed:.2} m/s");
    if let (Some(before), Some(after)) = (bytes_before, resident_bytes()) {
        println!("{:.0} bytes per car", (after - before) / car_count as f64);
    }
    Ok(())
}

/// Builds the fleet of a mode and prints the time that this takes.
fn build_fleet(car_count: usize, lanes: Lanes, mode: &str) -> Result<Fleet, Box<dyn std::error::Error>> {
    let model = skidpad::spec::load("corvette_c5")?.model;
    let start = Instant::now();
    let mut fleet = Fleet::with_lanes(&model, &Scene::flat(), DT, lanes)?;
    fleet.set_observations(&[Observation::ForwardSpeed, Observation::YawRate, Observation::UpZ]);
    for car in 0..car_count {
        let (x, y) = (10.0 * (car % 1000) as f64, 10.0 * (car / 1000) as f64);
        fleet.spawn(&Placement { x, y, ..Placement::default() });
        if mode == "varied" {
            let mut parts = model.parts().clone();
            // From 0.9 to 1.1 of the described mass.
            parts.mass *= 0.9 + 0.2 * (car as f32 / car_count as f32);
            fleet.set_model(car, &Arc::new(Model::new(parts)?))?;
        }
        if mode == "masked" && car.is_multiple_of(8) {
            fleet.set_active(car, false)?;
        }
    }
    println!("{car_count} cars built in {:.2} s", start.elapsed().as_secs_f64());
    Ok(fleet)
}

/// Pseudo-random number generator with its seed.
struct Random(u64);

impl Random {
    /// Returns a number from 0 to 1: the upper bits of D. E. Knuth's linear congruential generator MMIX.
    fn next_share(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }

    /// Returns a random action: throttle, a brake in a quarter of the cases, no handbrake, steering angle.
    fn action(&mut self) -> [f32; ACTION_COUNT] {
        let brake = if self.next_share() < 0.25 { self.next_share() } else { 0.0 };
        [self.next_share(), brake, 0.0, 0.4 * self.next_share() - 0.2]
    }
}

/// Returns the resident memory of this process in bytes; `None` on systems without `/proc`.
fn resident_bytes() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| 1024.0 * kilobytes)
}
