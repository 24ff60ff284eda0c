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
type Past = VecDeque<(Vec<u8>, Controls)>;

/// Returns the true controls of `step`.
fn true_controls(step: usize) -> Controls {
    Controls { throttle: 0.3, steer: [0.03, -0.03][step / 90 % 2], ..Controls::default() }
}

/// Restores the world before the first step of `past`, and repeats all its steps with `controls`.
fn rewind(world: &mut dyn Simulation, past: &mut Past, controls: &Controls) -> Outcome<()> {
    world.load(&past[0].0)?;
    for (before, asked) in past {
        world.save_into(before)?;
        asked.clone_from(controls);
        world.step(std::slice::from_ref(asked));
    }
    Ok(())
}

/// Simulates with late controls. Returns the number of rewinds and the saved worlds of the last steps.
fn predict(world: &mut dyn Simulation) -> Outcome<(usize, Past)> {
    let (mut past, mut rewinds) = (Past::new(), 0);
    for step in 0..STEP_COUNT {
        let newest = true_controls(step.saturating_sub(INPUT_DELAY_STEPS));
        if past.len() == INPUT_DELAY_STEPS {
            if past[0].1 != newest {
                rewind(world, &mut past, &newest)?;
                rewinds += 1;
            }
            past.pop_front();
        }
        past.push_back((world.save()?, newest.clone()));
        world.step(&[newest]);
    }
    Ok((rewinds, past))
}

/// Measures ten plain steps and a rewind that repeats them; returns the shortest of 100 times of each, which other
/// programs disturb least.
fn times(world: &mut dyn Simulation, past: &mut Past, controls: &Controls) -> Outcome<[Duration; 2]> {
    let mut shortest = [Duration::MAX; 2];
    for _ in 0..100 {
        world.load(&past[0].0)?;
        let start = Instant::now();
        (0..INPUT_DELAY_STEPS).for_each(|_| _ = world.step(std::slice::from_ref(controls)));
        let plain = start.elapsed();
        rewind(world, past, controls)?;
        shortest = [shortest[0].min(plain), shortest[1].min(start.elapsed() - plain)];
    }
    Ok(shortest)
}

fn main() -> Outcome<()> {
    let placement = Placement { speed: 20.0, ..Placement::default() };
    let car = [CarStart { model: skidpad::spec::load("corvette_c5")?.model, placement }];
    for backend in skidpad::solvers().iter().filter(|backend| !backend.comparison_only) {
        let build = || (backend.build_world)(&Scene::flat(), &car, 1.0 / 120.0);
        let (mut truth, mut world) = (build(), build());
        (0..STEP_COUNT).for_each(|step| _ = truth.step(&[true_controls(step)]));
        let (rewinds, mut past) = predict(world.as_mut())?;
        assert!(world.save()? == truth.save()?, "{}: not where it would have been", backend.name);
        let [ten, again] = times(world.as_mut(), &mut past, &true_controls(STEP_COUNT))?;
        let cost = again.as_secs_f64() / ten.as_secs_f64() * INPUT_DELAY_STEPS as f64;
        println!("{:<11} {rewinds} rewinds, the same bits; one costs {cost:.1} plain steps", backend.name);
    }
    Ok(())
}
