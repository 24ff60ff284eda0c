//! Drives a fleet of Corvettes at random pedals and steering, and prints time and memory of a car-step.
//!
//! Usage: `cargo run --release --features full --example fleet [CARS] [SECONDS] [LANES]`; 4096 cars and 10 s by default.
//! `LANES` is the number of a value of [`Lanes::ALL`]; by default those that a fleet selects.

use std::time::Instant;

use skidpad::fleet::{ACTION_COUNT, Fleet, Lanes, Observation};
use skidpad::prelude::*;

/// Length of a step, s.
const DT: f32 = 0.01;

/// Number of steps for which actions stay.
const STEPS_PER_ACTION: u32 = 4;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let cars: usize = arguments.next().map_or(Ok(4096), |text| text.parse())?;
    let seconds: f32 = arguments.next().map_or(Ok(10.0), |text| text.parse())?;
    let lanes: Option<usize> = arguments.next().map(|text| text.parse()).transpose()?;
    let lanes = lanes.and_then(|number| Lanes::ALL.get(number).copied()).unwrap_or_else(Lanes::widest);
    let model = skidpad::spec::load("corvette_c5")?.model;
    let mut fleet = Fleet::with_lanes(&model, &Scene::flat(), DT, lanes)?;
    println!("lanes: {lanes:?}");
    fleet.set_observations(&[Observation::ForwardSpeed, Observation::YawRate, Observation::UpZ]);
    let (bytes_before, start) = (resident_bytes(), Instant::now());
    let (columns, rows) = (|car| 10.0 * (car % 1000) as f64, |car| 10.0 * (car / 1000) as f64);
    let placements = (0..cars).map(|car| Placement { x: columns(car), y: rows(car), ..Placement::default() });
    fleet.spawn_all(&placements.collect::<Vec<_>>());
    println!("{cars} cars built in {:.2} s", start.elapsed().as_secs_f64());
    let mut actions = vec![0.0; cars * ACTION_COUNT];
    let mut random = Random(1);
    let (start, mut steps) = (Instant::now(), 0);
    while steps as f32 * DT < seconds {
        // New inputs four times a second.
        if steps % 25 < STEPS_PER_ACTION {
            for action in actions.chunks_mut(ACTION_COUNT) {
                let brake = if random.next_share() < 0.25 { random.next_share() } else { 0.0 };
                action.copy_from_slice(&[random.next_share(), brake, 0.0, 0.4 * random.next_share() - 0.2]);
            }
            fleet.set_actions(&actions)?;
        }
        fleet.step(STEPS_PER_ACTION);
        steps += STEPS_PER_ACTION;
    }
    let elapsed = start.elapsed().as_secs_f64();
    let car_steps = cars as f64 * f64::from(steps);
    let mean_speed = fleet.observations().chunks(3).map(|row| f64::from(row[0])).sum::<f64>() / cars as f64;
    println!("{steps} steps in {elapsed:.2} s: {:.0} ns per car-step", 1e9 * elapsed / car_steps);
    println!("{:.2} % of the car-steps alone", 100.0 * fleet.rare_steps() as f64 / car_steps);
    println!("mean speed {mean_speed:.2} m/s");
    if let (Some(before), Some(after)) = (bytes_before, resident_bytes()) {
        println!("{:.0} bytes per car", (after - before) / cars as f64);
    }
    Ok(())
}

/// Pseudo-random number generator with its seed.
struct Random(u64);

impl Random {
    /// Returns a number from 0 to 1: the upper bits of D. E. Knuth's linear congruential generator MMIX.
    fn next_share(&mut self) -> f32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 40) as f32 / (1 << 24) as f32
    }
}

/// Returns the resident memory of this process in bytes; `None` on systems without `/proc`.
fn resident_bytes() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse::<f64>().ok().map(|kilobytes| 1024.0 * kilobytes)
}
