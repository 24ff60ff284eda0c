//! Measures the cost of rollback: a remote car is predicted with the newest known controls. When the true controls
//! arrive, the world is restored to ten steps before and repeats these steps. The result is bit-identical.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use skidpad::core::{CarStart, Controls, Scene, Simulation, state::Placement};

/// Delay of the controls, steps.
const INPUT_DELAY_STEPS: usize = 10;
const STEP_COUNT: usize = 6000;
type Outcome<T> = Result<T, Box<dyn std::error::Error>>;
/// Saved world before each of the last steps, with the controls of the step.
type History = VecDeque<(Vec<u8>, Controls)>;

/// Returns the true controls of `step`.
fn true_controls(step: usize) -> Controls {
    Controls { throttle: 0.3, steer: [0.03, -0.03][step / 90 % 2], ..Controls::default() }
}

/// Restores the world before the first step of `history`, and repeats all its steps with `controls`.
fn rewind(world: &mut dyn Simulation, history: &mut History, controls: &Controls) -> Outcome<()> {
    world.load(&history[0].0)?;
    for (saved_world, step_controls) in history {
        world.save_into(saved_world)?;
        step_controls.clone_from(controls);
        world.step(std::slice::from_ref(step_controls));
    }
    Ok(())
}

/// Simulates with late controls. Returns the number of rewinds and the saved worlds of the last steps.
fn predict(world: &mut dyn Simulation) -> Outcome<(usize, History)> {
    let (mut history, mut rewind_count) = (History::new(), 0);
    for step in 0..STEP_COUNT {
        let newest_controls = true_controls(step.saturating_sub(INPUT_DELAY_STEPS));
        if history.len() == INPUT_DELAY_STEPS {
            if history[0].1 != newest_controls {
                rewind(world, &mut history, &newest_controls)?;
                rewind_count += 1;
            }
            history.pop_front();
        }
        history.push_back((world.save()?, newest_controls.clone()));
        world.step(&[newest_controls]);
    }
    Ok((rewind_count, history))
}

/// Measures ten plain steps and a rewind that repeats them; returns the shortest of 100 times of each, which other
/// programs disturb least.
fn measure_times(world: &mut dyn Simulation, history: &mut History, controls: &Controls) -> Outcome<[Duration; 2]> {
    let mut shortest_times = [Duration::MAX; 2];
    for _ in 0..100 {
        world.load(&history[0].0)?;
        let start_time = Instant::now();
        (0..INPUT_DELAY_STEPS).for_each(|_| _ = world.step(std::slice::from_ref(controls)));
        let plain_time = start_time.elapsed();
        rewind(world, history, controls)?;
        shortest_times = [shortest_times[0].min(plain_time), shortest_times[1].min(start_time.elapsed() - plain_time)];
    }
    Ok(shortest_times)
}

fn main() -> Outcome<()> {
    let placement = Placement { speed: 20.0, ..Placement::default() };
    let car = [CarStart { model: skidpad::spec::load("corvette_c5")?.model, placement }];
    for backend in skidpad::solvers().iter().filter(|backend| !backend.comparison_only) {
        let build_world = || (backend.build_world)(&Scene::flat(), &car, 1.0 / 120.0);
        let (mut reference_world, mut world) = (build_world(), build_world());
        (0..STEP_COUNT).for_each(|step| _ = reference_world.step(&[true_controls(step)]));
        let (rewind_count, mut history) = predict(world.as_mut())?;
        assert!(world.save()? == reference_world.save()?, "{}: not where it would have been", backend.name);
        let [plain_time, rewind_time] = measure_times(world.as_mut(), &mut history, &true_controls(STEP_COUNT))?;
        let cost = rewind_time.as_secs_f64() / plain_time.as_secs_f64() * INPUT_DELAY_STEPS as f64;
        println!("{:<11} {rewind_count} rewinds, the same bits; one costs {cost:.1} plain steps", backend.name);
    }
    Ok(())
}
