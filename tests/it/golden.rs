//! Digests of the bits of every trajectory. A refactoring must not change them.
//!
//! A commit that changes them states the change and its size (`INSTA_UPDATE=always cargo test --test it golden`). The
//! digests of `rapier` also change with Rapier's version.

use std::fmt::Write;

use skidpad::core::{Controls, Scene, SolverInfo, State, state::Placement};

use crate::common::{Drive, own_code};
use crate::step::survival::trial;

/// Number of random cars. They cover every tyre law, drivetrain, coupling and assist.
const CARS: u64 = 60;

/// Digest of no bytes: the offset basis of FNV-1a.
const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

/// Length of the header of saved bytes, their kind and version (bytes).
const HEADER: usize = 6;

/// Extends `digest` by the saved bytes of `state` without their header, with 64-bit FNV-1a. Returns the new digest.
fn mix(digest: u64, state: &State) -> u64 {
    state
        .to_bytes()
        .into_iter()
        .skip(HEADER)
        .fold(digest, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Returns the controls at time `t` (s): launch, slalom, a turn with the handbrake, braking to rest, reverse.
fn drive_through(t: f32) -> Controls {
    let wave = 4.0 * ((0.7 * t).fract() - 0.5).abs() - 1.0;
    match t {
        t if t < 1.5 => Controls { throttle: 1.0, ..Controls::default() },
        t if t < 3.0 => Controls { throttle: 0.4, steer: 0.06 * wave, ..Controls::default() },
        t if t < 3.5 => Controls { handbrake: 1.0, steer: 0.3, throttle: 0.2, ..Controls::default() },
        t if t < 5.0 => Controls { brake: 1.0, steer: -0.1, ..Controls::default() },
        _ => Controls { throttle: 0.5, steer: -0.2, gear: Some(-1), ..Controls::default() },
    }
}

fn of_shipped(solver: &SolverInfo, name: &str) -> u64 {
    const HZ: f32 = 120.0;
    let model = skidpad::spec::load(name).expect("shipped").model;
    let placement = Placement { speed: 8.0, heading: 0.3, ..Placement::default() };
    let mut car = Drive::new(solver, &model, &Scene::sloping(0.03), placement, HZ);
    (0..(6.0 * HZ) as usize).fold(EMPTY, |digest, step| {
        car.step(&drive_through(step as f32 / HZ));
        mix(digest, car.world.state(0))
    })
}

fn of_random(solver: &SolverInfo, seed: u64) -> u64 {
    let mut trial = trial(seed);
    let mut car = trial.begin(solver);
    (0..(2.0 * trial.hz) as usize).fold(EMPTY, |digest, step| {
        trial.change(&mut car, step);
        car.world.step(std::slice::from_ref(&trial.controls));
        mix(digest, car.world.state(0))
    })
}

fn table(cars: impl Iterator<Item = String>, digest: impl Fn(&SolverInfo, &str) -> u64) -> String {
    let solvers = own_code();
    let names: Vec<_> = solvers.iter().map(|solver| solver.name).collect();
    let mut table = format!("car: {}\n", names.join(" "));
    for car in cars {
        write!(table, "{car}:").expect("writing to a string");
        for solver in &solvers {
            write!(table, " {:016x}", digest(solver, &car)).expect("writing to a string");
        }
        table.push('\n');
    }
    table
}

/// Asserts that `table` equals the snapshot `name`. The file is the same for every test binary.
#[track_caller]
fn as_kept(name: &str, table: &str) {
    insta::with_settings!({ prepend_module_to_snapshot => false }, { insta::assert_snapshot!(name, table) });
}

#[test]
fn shipped_cars_keep_their_bits() {
    as_kept("golden_shipped_cars", &table(skidpad::spec::shipped::names().map(str::to_owned), of_shipped));
}

#[test]
fn random_cars_keep_their_bits() {
    let digest = |solver: &SolverInfo, seed: &str| of_random(solver, seed.parse().expect("a seed"));
    as_kept("golden_random_cars", &table((1..=CARS).map(|seed| seed.to_string()), digest));
}
