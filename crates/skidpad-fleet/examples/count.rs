//! Steps a fleet of Corvettes and prints the time of a car-step.
//!
//! Usage: `count CARS STEPS SUBSTEPS straight|random`.

use std::time::Instant;

use skidpad_core::Scene;
use skidpad_core::state::Placement;
use skidpad_fleet::Fleet;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [cars, steps, substeps, controls] = arguments.as_slice() else {
        return Err("usage: count CARS STEPS SUBSTEPS straight|random".into());
    };
    let (cars, steps, substeps): (usize, u32, u32) = (cars.parse()?, steps.parse()?, substeps.parse()?);
    let model = skidpad_spec::load("corvette_c5")?.model;
    let mut fleet = Fleet::new(&model, &Scene::flat(), 0.01)?;
    for car in 0..cars {
        fleet.spawn(&Placement { y: 10.0 * car as f64, speed: 20.0, ..Placement::default() });
    }
    let mut seed = 1u64;
    let mut share = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f32 / (1 << 24) as f32
    };
    let mut actions: Vec<f32> = (0..cars).flat_map(|_| [0.2, 0.0, 0.0, 0.0]).collect();
    fleet.set_actions(&actions)?;
    let mut seconds = 0.0;
    for step in 0..steps {
        if controls == "random" && step % 25 == 0 {
            for action in actions.chunks_mut(4) {
                let brake = if share() < 0.25 { share() } else { 0.0 };
                action.copy_from_slice(&[share(), brake, 0.0, 0.4 * share() - 0.2]);
            }
            fleet.set_actions(&actions)?;
        }
        let start = Instant::now();
        fleet.step(substeps);
        seconds += start.elapsed().as_secs_f64();
    }
    let car_steps = cars as f64 * f64::from(steps * substeps);
    let rare_share = 100.0 * fleet.rare_steps() as f64 / car_steps;
    let x = fleet.state(0)?.position.x;
    println!("{:.1} ns per car-step, {rare_share:.2} % of them alone; car 0 at {x:.3} m", 1e9 * seconds / car_steps);
    Ok(())
}
