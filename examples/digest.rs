//! Prints digests of every backend in a mixed manoeuvre, one line per second, to compare builds bit by bit.
//!
//! `cargo run --example digest [threads]`; `cargo xtask determinism` compares the lines of several builds.

use std::sync::Arc;

use skidpad::core::{CarStart, Controls, DVec3, FixedBox, Model, Scene, SolverInfo, State, Vec3, state::Placement};

const STEPS_PER_SECOND: u32 = 120;
const DURATION_S: u32 = 8;
const CAR_COUNT: usize = 6;
const VEHICLE_NAMES: [&str; 3] = ["corvette_c5", "bmw_320i_commonroad", "truck_6x4"];

/// Returns the controls of `car`: launch, slalom, handbrake turn, braking, reverse; slightly different for each car.
fn car_controls(step: u32, car: usize) -> Controls {
    let t = step as f32 / STEPS_PER_SECOND as f32;
    let car_factor = 1.0 + 0.1 * car as f32;
    let triangle_wave = 4.0 * ((t * 0.7 * car_factor).fract() - 0.5).abs() - 1.0;
    match t {
        t if t < 2.0 => Controls { throttle: 1.0, ..Controls::default() },
        t if t < 4.0 => Controls { throttle: 0.4, steer: 0.06 * triangle_wave * car_factor, ..Controls::default() },
        t if t < 5.0 => Controls { handbrake: 1.0, steer: 0.3 * car_factor, throttle: 0.2, ..Controls::default() },
        t if t < 7.0 => Controls { brake: 1.0, steer: -0.1, ..Controls::default() },
        _ => Controls { throttle: 0.5, steer: -0.2, gear: Some(-1), ..Controls::default() },
    }
}

fn car_start(car: usize, model: &Arc<Model>) -> CarStart {
    let i = car as f32;
    let placement = Placement { y: 40.0 * car as f64, heading: 0.3 * i, speed: 4.0 * i, ..Placement::default() };
    CarStart { model: model.clone(), placement }
}

/// Updates a 64-bit FNV-1a `digest` with the `Debug` text of `state`, which has all fields with all their digits.
fn update_digest(digest: u64, state: &State) -> u64 {
    let bytes = format!("{state:?}").into_bytes();
    bytes.into_iter().fold(digest, |digest, byte| (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

/// Returns the digest of `backend` at the end of each second.
fn digests(backend: &SolverInfo, scene: &Scene, cars: &[CarStart]) -> Vec<u64> {
    let mut world = (backend.build_world)(scene, cars, 1.0 / STEPS_PER_SECOND as f32);
    let mut digest = 0xcbf2_9ce4_8422_2325;
    let mut second_digests = Vec::new();
    for step in 0..DURATION_S * STEPS_PER_SECOND {
        let controls: Vec<Controls> = (0..cars.len()).map(|car| car_controls(step, car)).collect();
        world.step(&controls);
        digest = (0..cars.len()).fold(digest, |digest, car| update_digest(digest, world.state(car)));
        if (step + 1) % STEPS_PER_SECOND == 0 {
            second_digests.push(digest);
        }
    }
    second_digests
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let thread_count: usize = std::env::args().nth(1).map_or(Ok(1), |text| text.parse())?;
    let load_model = |name: &&str| skidpad::spec::load(name).map(|car| car.model);
    let models = VEHICLE_NAMES.iter().map(load_model).collect::<Result<Vec<_>, _>>()?;
    let cars: Vec<CarStart> = (0..CAR_COUNT).map(|car| car_start(car, &models[car % models.len()])).collect();
    let ramp = FixedBox::axis_aligned(DVec3::new(60.0, 80.0, 5.3), Vec3::new(90.0, 400.0, 2.0)).rotated(0.0, -0.1, 0.0);
    let scenes = [("flat", Scene::flat()), ("slope", Scene { grip: 0.6, boxes: vec![ramp], ..Scene::sloping(0.1) })];
    let backends = skidpad::solvers();
    let jobs: Vec<_> = backends.iter().flat_map(|b| scenes.iter().map(move |(name, scene)| (b, name, scene))).collect();
    let mut lines: Vec<Vec<String>> = vec![Vec::new(); jobs.len()];
    let jobs_per_thread = jobs.len().div_ceil(thread_count.max(1)).max(1);
    std::thread::scope(|scope| {
        for (jobs, lines) in jobs.chunks(jobs_per_thread).zip(lines.chunks_mut(jobs_per_thread)) {
            scope.spawn(|| {
                for ((backend, ground, scene), lines) in jobs.iter().zip(lines) {
                    let seconds = digests(backend, scene, &cars).into_iter().enumerate();
                    *lines = seconds.map(|(i, d)| format!("{} {ground} {} s {d:016x}", backend.name, i + 1)).collect();
                }
            });
        }
    });
    println!("{}", lines.concat().join("\n"));
    Ok(())
}
