//! Compares the solvers: one car and one steering input in the world of every solver, with decreasing step lengths.
//!
//! The gap between skidpad's solvers converges to zero with the step length. A reference vehicle does not converge to
//! them, since its vehicle model differs.

use std::sync::Arc;

use skidpad::core::CarError;
use skidpad::prelude::*;

/// Simulates a car of `model` for 3 s at `rate_hz` steps per second, with steering to the left after 0.5 s. Returns its
/// position (m) and yaw rate (rad/s).
fn drive(solver: Solver, model: &Arc<Model>, rate_hz: u32) -> Result<(DVec3, f64), CarError> {
    let mut world = World::new(solver, &Scene::flat(), 1.0 / rate_hz as f32);
    let car = world.spawn(model, Placement { speed: 25.0, gear: Some(0), ..Placement::default() });
    *world.controls_mut(car)? = Controls::coasting();
    for step in 0..3 * rate_hz {
        world.controls_mut(car)?.steer = if step >= rate_hz / 2 { 0.03 } else { 0.0 };
        world.step();
    }
    Ok((world.car(car)?.state.position, world.frame(car)?.yaw_rate_radps))
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let model = skidpad::spec::load("bmw_320i_commonroad")?.model;
    for rate_hz in [60, 120, 240, 480, 960] {
        println!("{rate_hz} steps per second");
        let mut end_positions = Vec::new();
        for solver in Solver::ALL.iter().copied().filter(|solver| !solver.is_variant()) {
            let (end_position, yaw_rate) = drive(solver, &model, rate_hz)?;
            println!(
                "  {solver:<14} x {:>7.3} m  y {:>7.3} m  yaw rate {yaw_rate:.4} rad/s",
                end_position.x, end_position.y
            );
            if !solver.info().comparison_only {
                end_positions.push(end_position);
            }
        }
        let distances = end_positions.iter().flat_map(|a| end_positions.iter().map(move |b| a.distance(*b)));
        println!("  largest gap between skidpad's solvers: {:.1} mm", 1e3 * distances.fold(0.0, f64::max));
    }
    Ok(())
}
