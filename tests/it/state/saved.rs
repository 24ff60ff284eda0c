//! States as bytes: exact size, identical bits in the same world, a fresh world and another process, and no panic on invalid
//! bytes.

use std::path::Path;

use proptest::prelude::*;
use skidpad::core::{
    CarStart, Controls, LoadError, Quat, Scene, Simulation, SolverInfo, State, Vec3, state::Placement, state::saved,
};

use crate::chassis::thrown::among_boxes;
use crate::common::{Drive, Simplify, c5, own_code, shipped, solvers};
use crate::step::fuzz::wild_controls;
use crate::step::random::Random;

/// Builds a world with a Corvette and a truck, 40 m apart, at 60 Hz.
fn two_cars(solver: &SolverInfo, scene: &Scene) -> Box<dyn Simulation> {
    let cars = [("corvette_c5", 20.0), ("truck_6x4", 10.0)].map(|(name, speed)| CarStart {
        model: shipped(name).model(),
        placement: Placement { y: 4.0 * f64::from(speed), speed, ..Placement::default() },
    });
    (solver.build_world)(scene, &cars, 1.0 / 60.0)
}

fn slalom(step: u64, car: usize) -> Controls {
    let t = step as f32 / 60.0;
    let brake = if step % 200 >= 150 { 0.6 } else { 0.0 };
    Controls { throttle: 0.7, brake, steer: 0.08 * (t * 1.7 + car as f32).sin(), ..Controls::default() }
}

/// Steps `world` until it has taken `end` steps since its start.
fn drive(world: &mut dyn Simulation, end: u64) {
    while world.steps() < end {
        let step = world.steps();
        world.step(&[slalom(step, 0), slalom(step, 1)]);
    }
}

fn saved(world: &dyn Simulation) -> Vec<u8> {
    world.save().expect("no hull touches anything")
}

/// The sizes of a saved car and of a saved world. A new field requires a higher `saved::CAR_VERSION`.
#[test]
fn a_car_takes_417_bytes_and_a_world_little_more_than_its_cars() {
    for solver in solvers() {
        let world = two_cars(&solver, &Scene::flat());
        let sizes = [0, 1].map(|car| world.state(car).to_bytes().len());
        assert_eq!((sizes, saved::CAR_VERSION), ([417, 417 + 2 * 65], 6), "{}: four wheels and six", solver.name);
        assert_eq!(saved(world.as_ref()).len(), 6 + 16 + (5 + 417 - 6) + (5 + 547 - 6), "{}", solver.name);
    }
}

#[test]
fn a_saved_world_resumes_bit_for_bit() {
    for solver in skidpad::solvers() {
        let mut world = two_cars(&solver, &Scene::sloping(0.05));
        drive(world.as_mut(), 150);
        let early = saved(world.as_ref());
        drive(world.as_mut(), 400);
        let late = saved(world.as_ref());
        let mut fresh = two_cars(&solver, &Scene::sloping(0.05));
        for (which, world) in [("the same", &mut world), ("a fresh", &mut fresh)] {
            world.load(&early).expect("bytes of such a world");
            assert_eq!(saved(world.as_ref()), early, "{} in {which} world", solver.name);
            drive(world.as_mut(), 400);
            assert_eq!(saved(world.as_ref()), late, "{} in {which} world", solver.name);
        }
    }
}

/// Rapier's f32 position of a standing body may differ in the last digit from the rounded position of the car. A world saves
/// this position, and a loaded world restores it. Positions farther away are refused.
#[cfg(feature = "rapier")]
#[test]
fn a_standing_body_is_loaded_where_its_engine_had_it() {
    let rapier = solvers().into_iter().find(|solver| solver.name == "rapier").expect("the feature");
    let mut car = Drive::new(&rapier, &c5().model(), &Scene::sloping(0.1), Placement::default(), 240.0);
    car.run(1.0, |_| Controls::coasting());
    let beside = (0..2400).find_map(|_| {
        car.step(&Controls { handbrake: 1.0, ..Controls::coasting() });
        car.world.engine_position(0)
    });
    let beside = beside.expect("a creeping place in 64 bits");
    let bytes = saved(car.world.as_ref());
    let mut fresh = Drive::new(&rapier, &c5().model(), &Scene::sloping(0.1), Placement::default(), 240.0);
    fresh.world.load(&bytes).expect("bytes of such a world");
    assert_eq!(fresh.world.engine_position(0), Some(beside));
    assert_eq!(saved(fresh.world.as_ref()), bytes);
    let far = with(&bytes, bytes.len() - 4, &(beside.z + 1e-3).to_le_bytes());
    let text = fresh.world.load(&far).expect_err("a millimetre is no rounding").to_string();
    assert!(
        text.starts_with("car 0, place: the value is 0.00")
            && text.ends_with("two units in the last place of the car's position"),
        "{text}"
    );
    assert_eq!(saved(fresh.world.as_ref()), bytes, "and nothing changed");
}

/// Environment variable with the folder of the saved worlds. It is set when the test below starts this program again.
const FOLDER: &str = "SKIDPAD_RESUME_IN";

/// A world that a process saves to a file is resumed by another process, which saves the final state.
#[test]
fn another_process_resumes_the_same_bits() {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return resume_in(Path::new(&folder));
    }
    let folder = std::env::temp_dir().join(format!("skidpad_resume_{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder to write to");
    for solver in own_code() {
        let mut world = two_cars(&solver, &Scene::flat());
        drive(world.as_mut(), 150);
        std::fs::write(folder.join(solver.name), saved(world.as_ref())).expect("a file to write to");
    }
    let program = std::env::current_exe().expect("this program");
    let mut command = std::process::Command::new(program);
    command.args(["--exact", "state::saved::another_process_resumes_the_same_bits"]).env(FOLDER, &folder);
    let output = command.output().expect("this program starts again");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    for solver in own_code() {
        let mut world = two_cars(&solver, &Scene::flat());
        drive(world.as_mut(), 400);
        let resumed = std::fs::read(folder.join(solver.name)).expect("what the other process wrote");
        assert_eq!(resumed, saved(world.as_ref()), "{}", solver.name);
    }
    std::fs::remove_dir_all(&folder).expect("the folder goes");
}

fn resume_in(folder: &Path) {
    for solver in own_code() {
        let file = folder.join(solver.name);
        let mut world = two_cars(&solver, &Scene::flat());
        world.load(&std::fs::read(&file).expect("what the first process wrote")).expect("a saved world");
        drive(world.as_mut(), 400);
        std::fs::write(&file, saved(world.as_ref())).expect("a file to write to");
    }
}

/// A world saved with a solver can be loaded with another solver. The states are identical; the trajectories differ
/// afterwards.
#[test]
fn a_world_moves_to_another_solver() {
    for from in solvers() {
        let mut world = two_cars(&from, &Scene::flat());
        drive(world.as_mut(), 150);
        for to in solvers() {
            let mut other = two_cars(&to, &Scene::flat());
            other.load(&saved(world.as_ref())).expect("solvers share their states");
            assert_eq!(saved(other.as_ref()), saved(world.as_ref()), "{} to {}", from.name, to.name);
        }
    }
}

/// Returns a copy of `bytes` in which `by` replaces the bytes from `at` on.
fn with(bytes: &[u8], at: usize, by: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + by.len()].copy_from_slice(by);
    bytes
}

#[test]
fn what_is_not_a_saved_car_says_why() {
    let state = State::at_rest(&c5().model(), &Scene::flat(), &Placement::default());
    let good = state.to_bytes();
    assert_eq!(State::from_bytes(&good, 4).as_ref(), Ok(&state));
    let says = |bytes: &[u8], wheels: usize, text: &str| {
        assert_eq!(State::from_bytes(bytes, wheels).map_err(|e| e.to_string()), Err(text.to_owned()));
    };
    says(b"", 4, "the data have 0 bytes, but 417 are required");
    says(&good[..416], 4, "the data have 416 bytes, but 417 are required");
    says(&[&good[..], b"!"].concat(), 4, "the data have 418 bytes, but 417 are required");
    says(&with(&good, 0, b"\x89PNG"), 4, "the data start with \\x89PNG, but a saved car starts with skpC");
    says(&with(&good, 4, &[2, 0]), 4, "the data have version 2, but this build reads version 6");
    says(&good, 6, "car 0: the data have 4 wheels, but this car has 6");
    let nan = f64::NAN.to_le_bytes();
    says(&with(&good, 6, &nan), 4, "car 0, position: the value is NaN, but must be a finite number");
    let tilt = 2f32.to_le_bytes();
    says(
        &with(&good, 6 + 24, &tilt),
        4,
        "car 0, rotation: the value is 2.2360680103302, but must be a vector of length 1 within 0.001",
    );
    let infinite = f32::INFINITY.to_le_bytes();
    // Offset of the third wheel's tyre force: chassis 80, drivetrain 70, number of wheels 1, two wheels of 65, and 24 bytes.
    let force = 6 + 80 + 70 + 1 + 2 * 65 + 24;
    says(&with(&good, force, &infinite), 4, "car 0, wheel 2, tyre: the value is inf, but must be a finite number");
    says(&with(&good, 416, &[7]), 4, "car 0, wheel 3, contact: the value is 7, but must be 0 or 1");
}

#[test]
fn what_is_not_a_saved_world_says_why_and_changes_nothing() {
    for solver in skidpad::solvers() {
        let mut world = two_cars(&solver, &Scene::flat());
        let good = saved(world.as_ref());
        drive(world.as_mut(), 3);
        let before = saved(world.as_ref());
        let mut says = |bytes: &[u8], text: &str| {
            assert_eq!(world.load(bytes).map_err(|e| e.to_string()), Err(text.to_owned()), "{}", solver.name);
            assert_eq!(saved(world.as_ref()), before, "{} after {text}", solver.name);
        };
        says(&with(&good, 0, b"skpC"), "the data start with skpC, but a saved world starts with skpW");
        says(&with(&good, 4, &[9, 1]), "the data have version 265, but this build reads version 8");
        let step = 0.005f32.to_le_bytes();
        says(&with(&good, 6, &step), "the data have a step of 0.005 s, but this world has a step of 0.016666668 s");
        says(&with(&good, 18, &[3]), "the data have 3 car slots, but this world has 2");
        says(&with(&good, 22 + 5 + 80 + 70, &[6]), "car 0: the data have 6 wheels, but this car has 4");
        says(&with(&good, 26, &[9]), "car 0, suspended, towed, placed or empty: the value is 9, but must be 0 to 8");
        // The second car is invalid after a valid first car.
        let nan = f64::NAN.to_le_bytes();
        says(&with(&good, 22 + 2 * 5 + 411, &nan), "car 1, position: the value is NaN, but must be a finite number");
        for length in 0..good.len() {
            let found = world.load(&good[..length]);
            assert_eq!(found, Err(LoadError::Length { found: length, expected: good.len() }), "{}", solver.name);
        }
        assert_eq!(saved(world.as_ref()), before, "{} after too few bytes", solver.name);
    }
}

/// Negative loads, shares above 1 and magnitudes that no motion has are refused. The message names the field.
#[test]
fn a_number_no_step_leaves_is_refused() {
    let state = State::at_rest(&c5().model(), &Scene::flat(), &Placement::default());
    let refused = |change: &dyn Fn(&mut State), text: &str| {
        let mut wrong = state.clone();
        change(&mut wrong);
        let found = State::from_bytes(&wrong.to_bytes(), 4).map_err(|e| e.to_string());
        assert!(found.as_ref().is_err_and(|found| found.contains(text)), "{found:?} for {text}");
    };
    refused(&|s| s.wheels[1].load = -3.4e38, "car 0, wheel 1, load: the value is -33999999");
    refused(&|s| s.wheels[1].load = -1.0, "car 0, wheel 1, load: the value is -1, but must be a number from 0 to 1e12");
    refused(
        &|s| s.wheels[3].rolling = 1.5,
        "car 0, wheel 3, rolling: the value is 1.5, but must be a number from 0 to 1",
    );
    refused(&|s| s.wheels[0].lean = -2.0, "car 0, wheel 0, lean: the value is -2");
    refused(&|s| s.wheels[0].disc = -1.0, "car 0, wheel 0, disc: the value is -1");
    refused(&|s| s.drive.since_shift = -1.0, "car 0, since_shift: the value is -1");
    refused(&|s| s.velocity.y = 1e13, "car 0, velocity: the value is 9999999827968, but must be a number within ±1e12");
}

/// Every state that is accepted, also at the ends of its ranges, drives on with finite numbers.
#[test]
fn what_is_let_in_drives_on() {
    let mut faults = Vec::new();
    for solver in own_code() {
        let mut car = crate::common::Drive::rolling(&solver, &c5().model(), 20.0, 60.0);
        car.run(0.5, |_| slalom(0, 0));
        let good = car.world.state(0).to_bytes();
        for at in 6..good.len() - 3 {
            for value in [f32::MAX, -f32::MAX, 1e30, -1e30, 0.99e12, -0.99e12, -1.0] {
                let Ok(state) = State::from_bytes(&with(&good, at, &value.to_le_bytes()), 4) else { continue };
                car.world.set_state(0, &state).expect("it fits");
                let wrong = (0..3).find(|step| {
                    car.step(&slalom(*step, 0));
                    !car.world.state(0).is_finite()
                });
                faults.extend(wrong.map(|step| format!("{}: byte {at} of {value}, step {step}", solver.name)));
            }
        }
    }
    assert!(faults.is_empty(), "{}\n{}", faults.len(), faults.join("\n"));
}

/// Loading a saved world with a wrong byte is an error, or the cars drive on with finite states. Nothing panics.
#[test]
fn wrong_bytes_never_panic() {
    for solver in skidpad::solvers() {
        let mut random = Random(0x9E37_79B9_7F4A_7C15);
        let mut world = two_cars(&solver, &Scene::sloping(0.1));
        drive(world.as_mut(), 30);
        let good = saved(world.as_ref());
        for _ in 0..2000 {
            let at = random.between(0.0, good.len() as f32) as usize;
            let wrong = with(&good, at.min(good.len() - 1), &[random.between(0.0, 256.0) as u8]);
            if world.load(&wrong).is_ok() {
                world.step(&[slalom(0, 0), slalom(0, 1)]);
                // Rapier's own controller is not part of this project; its states may become NaN.
                let finite = (0..2).all(|car| world.state(car).is_finite());
                assert!(finite || solver.name == "rapier-stock", "{} byte {at}", solver.name);
            }
        }
    }
}

/// A hull on the ground: own worlds store nothing of a contact and can be saved. `rapier` stores contact forces and reports
/// an error.
#[cfg(feature = "rapier")]
#[test]
fn rapier_does_not_save_a_hull_that_touches() {
    for solver in solvers() {
        let mut car = crate::common::Drive::rolling(&solver, &c5().model(), 0.0, 60.0);
        let mut state = car.world.state(0).clone();
        state.rotation = skidpad::core::Quat::from_rotation_x(3.0);
        state.position.z = 0.9;
        car.world.set_state(0, &state).expect("it fits");
        car.run(2.0, |_| Controls::coasting());
        let text = "rapier, car 0: the hull has a contact, and Rapier keeps the contact forces for its next step; the world would not resume bit-identically";
        let expected = if solver.name == "rapier" { Err(text.to_owned()) } else { Ok(22 + 5 + 411) };
        assert_eq!(car.world.save().map(|bytes| bytes.len()).map_err(|e| e.to_string()), expected);
        assert_eq!(State::from_bytes(&car.world.state(0).to_bytes(), 4).as_ref(), Ok(car.world.state(0)));
    }
}

/// Steps `world` with each of `controls` and returns the states as bytes. Ends at the first step after which the world
/// cannot be saved.
fn follow(world: &mut dyn Simulation, controls: &[Controls]) -> Vec<Vec<u8>> {
    let mut states = Vec::new();
    for asked in controls {
        world.step(std::slice::from_ref(asked));
        states.push(world.state(0).to_bytes());
        if world.save().is_err() {
            // The order in which Rapier solves several contacts depends on the history of its world.
            states.pop();
            break;
        }
    }
    states
}

/// Returns whether `a` and `b` are equal over the length of the shorter one.
fn alike(a: &[Vec<u8>], b: &[Vec<u8>]) -> bool {
    a.iter().zip(b).all(|(a, b)| a == b)
}

/// A car that rolls over by a radian per step can be saved and loaded: the axles, turned to the end of the step, lean by no
/// more than a right angle.
#[test]
fn a_car_that_rolls_over_fast_is_saved() {
    for solver in own_code() {
        for lean in [0.3, 0.6, 0.9, 1.2] {
            let mut car = Drive::new(&solver, &c5().model(), &Scene::flat(), Placement::default(), 20.0);
            let mut state = car.world.state(0).clone();
            (state.rotation, state.angular_velocity) = (Quat::from_rotation_x(lean), Vec3::X * 20.0);
            state.position.z = 0.6;
            car.world.set_state(0, &state).expect("it fits");
            car.step(&Controls::coasting());
            if let Ok(bytes) = car.world.save() {
                let loaded = car.world.load(&bytes);
                assert!(loaded.is_ok(), "{} at {lean} rad: {loaded:?}", solver.name);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    /// The next step depends on the state alone. A world saved at any step, in any pose and under any controls, repeats its
    /// bits after other steps, and so does a fresh world. For `rapier` this ends when a hull touches something.
    #[test]
    fn any_step_rewinds_to_the_same_bits(seed in 1u64.., first in 1usize..150, then in 1usize..60) {
        rewinds(seed, first, then)?;
    }
}

/// Drives a random car among boxes for `first` steps, saves it and steps `then` more. Compares these with steps after a
/// load, in the same world and in a fresh one.
fn rewinds(seed: u64, first: usize, then: usize) -> Result<(), TestCaseError> {
    for solver in own_code() {
        let mut random = Random(seed);
        let mut car = among_boxes(&solver, &mut random);
        let mut held = Controls::default();
        let mut controls = |random: &mut Random| {
            if random.between(0.0, 1.0) < 0.2 {
                held = wild_controls(random);
            }
            held.clone()
        };
        let mut list = |steps: usize| (0..steps).map(|_| controls(&mut random)).collect::<Vec<_>>();
        let (before, after, elsewhere) = (list(first), list(then), list(20));
        before.iter().for_each(|asked| {
            car.step(asked);
        });
        let Ok(bytes) = car.world.save() else { continue };
        let went_on = follow(car.world.as_mut(), &after);
        elsewhere.iter().for_each(|asked| {
            car.step(asked);
        });
        car.world.load(&bytes).expect("a saved world");
        let again = follow(car.world.as_mut(), &after);
        prop_assert!(alike(&again, &went_on), "{} in the same world", solver.name);
        let mut fresh = among_boxes(&solver, &mut Random(seed));
        fresh.world.load(&bytes).expect("a saved world");
        let elsewhere = follow(fresh.world.as_mut(), &after);
        prop_assert!(alike(&elsewhere, &went_on), "{} in a fresh world", solver.name);
        let all = solver.name == "rapier" || elsewhere.len() == then;
        prop_assert!(all, "{} can always be saved", solver.name);
    }
    Ok(())
}

/// A standing body a last digit off its position rewinds exactly. Rapier keeps the offset, and an impact reveals it.
#[test]
fn a_standing_body_a_digit_aside_rewinds() {
    rewinds(7_129_600_686_737_457_536, 124, 16).expect("the same bits");
}

/// A hull that hits a box after an impact, where no wheel is near the box, rewinds exactly: a continued world and a loaded
/// one detect it.
#[test]
fn a_hull_that_lands_beside_its_wheels_rewinds() {
    rewinds(13_551_680_501_420_956_254, 46, 1).expect("the same bits");
}
