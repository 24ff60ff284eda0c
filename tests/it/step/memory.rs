//! Memory: no allocation in a step or a rewind of an own world, and the size of a car.

use skidpad::core::{CarStart, Controls, Scene, SolverInfo, State, Vehicle, state::Placement};

use crate::common::own_code;
use crate::step::abreast::rough;

const CARS: usize = 16;
const HZ: f32 = 120.0;

/// Returns full throttle, a turn or the brakes, for 80 steps each.
fn controls(step: usize) -> Controls {
    match step % 240 {
        0..80 => Controls { throttle: 1.0, ..Controls::default() },
        80..160 => Controls { throttle: 0.3, steer: 0.1, ..Controls::default() },
        _ => Controls { brake: 1.0, steer: -0.05, ..Controls::default() },
    }
}

/// Returns the number of allocations in three seconds of cars of a shipped vehicle, after a second of driving, and in a
/// rewind of each.
fn allocations(solver: &SolverInfo, name: &str, scene: &Scene) -> u64 {
    let model = skidpad::spec::load(name).expect("shipped").model;
    // Every second car falls onto its wheels, at different headings.
    let placement = |car: usize| Placement {
        x: 15.0 * car as f64,
        speed: 3.0 * car as f32,
        heading: 0.2 * car as f32,
        height: if car.is_multiple_of(2) { 0.3 } else { 0.0 },
        ..Placement::default()
    };
    let starts: Vec<_> = (0..CARS).map(|car| CarStart { model: model.clone(), placement: placement(car) }).collect();
    let mut world = (solver.build_world)(scene, &starts, 1.0 / HZ);
    let mut all = vec![Controls::default(); CARS];
    let mut drive = |steps: core::ops::Range<usize>| {
        for step in steps {
            all.iter_mut().enumerate().for_each(|(car, own)| *own = controls(step + 10 * car));
            world.step(&all);
        }
    };
    drive(0..HZ as usize);
    let driving = allocation_counter::measure(|| drive(HZ as usize..4 * HZ as usize));
    let states: Vec<_> = (0..CARS).map(|car| world.state(car).clone()).collect();
    let rewinding = allocation_counter::measure(|| {
        for (car, state) in states.iter().enumerate() {
            world.set_state(car, state).expect("it fits");
        }
    });
    driving.count_total + rewinding.count_total
}

/// Own worlds do not allocate in steps and rewinds. Rapier's worlds are not checked.
#[test]
fn no_step_of_an_own_world_allocates() {
    let solvers = own_code().into_iter().filter(|solver| solver.name != "rapier");
    for solver in solvers {
        for name in skidpad::spec::shipped::names() {
            for (what, scene) in [("a slope", Scene::sloping(0.05)), ("boxes", rough())] {
                assert_eq!(allocations(&solver, name, &scene), 0, "{}, {name}, {what}", solver.name);
            }
        }
    }
}

/// A car without its model, which cars share: vehicle, state and rows.
#[test]
fn a_corvette_keeps_less_than_three_kilobytes() {
    let model = skidpad::spec::load("corvette_c5").expect("shipped").model;
    let state = State::at_rest(&model, &Scene::flat(), &Placement::default());
    let mut car = None;
    let own = allocation_counter::measure(|| car = Some(Vehicle::new(model.clone(), state.clone())));
    let bytes = size_of_val(&car) as i64 + own.bytes_current;
    assert!(bytes < 3 * 1024, "{bytes} bytes");
}
