//! Compares the solvers: one car and one steering input on every backend, with decreasing step lengths.
//!
//! The gap between skidpad's solvers converges to zero with the step length. A peer does not converge to them, since
//! its vehicle model differs.

use skidpad::core::{CarStart, Controls, DVec3, Scene, state::Placement};

/// Simulates `car` for 3 s at `rate` steps per second, with steering to the left after 0.5 s. Returns its position (m)
/// and yaw rate (rad/s).
fn drive(backend: &skidpad::core::SolverInfo, car: &CarStart, rate: u32) -> (DVec3, f64) {
    let mut world = (backend.build_world)(&Scene::flat(), std::slice::from_ref(car), 1.0 / rate as f32);
    for step in 0..3 * rate {
        let steer = if step >= rate / 2 { 0.03 } else { 0.0 };
        world.step(&[Controls { steer, ..Controls::coasting() }]);
    }
    (world.state(0).position, world.frame(0).yaw_rate_radps)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let placement = Placement { speed: 25.0, gear: Some(0), ..Placement::default() };
    let car = CarStart { model: skidpad::spec::load("bmw_320i_commonroad")?.model, placement };
    let backends = skidpad::backends();
    for rate in [60, 120, 240, 480, 960] {
        println!("{rate} steps per second");
        let mut ends = Vec::new();
        for backend in &backends {
            let (end, yaw_rate) = drive(backend, &car, rate);
            println!("  {:<14} x {:>7.3} m  y {:>7.3} m  yaw rate {yaw_rate:.4} rad/s", backend.name, end.x, end.y);
            if !backend.comparison_only {
                ends.push(end);
            }
        }
        let gaps = ends.iter().flat_map(|a| ends.iter().map(move |b| a.distance(*b)));
        println!("  largest gap between skidpad's own: {:.1} mm", 1e3 * gaps.fold(0.0, f64::max));
    }
    Ok(())
}
