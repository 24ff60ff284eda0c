//! Drives a car: `cargo run --example drive [vehicle] [solver]`
//!
//! Full throttle to 100 km/h, a lane change to the left, full braking. Prints telemetry twice a second.

use skidpad::prelude::*;

const STEP_S: f32 = 1.0 / 120.0;

/// Returns the controls at the time `t` (s). `is_fast_enough` releases the throttle.
fn driver_controls(t: f64, is_fast_enough: bool) -> Controls {
    let steer = match t {
        t if (6.0..7.0).contains(&t) => 0.02,
        t if (7.0..8.0).contains(&t) => -0.02,
        _ => 0.0,
    };
    let brake = if t >= 9.0 { 1.0 } else { 0.0 };
    let throttle = if t >= 9.0 || is_fast_enough { 0.0 } else { 1.0 };
    Controls { throttle, brake, steer, ..Controls::default() }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let vehicle = arguments.next().unwrap_or_else(|| "corvette_c5".into());
    let solver_name = arguments.next().unwrap_or_else(|| "impulse".into());

    let solver: Solver = solver_name.parse()?;
    let mut world = World::new(solver, &Scene::flat(), STEP_S);
    let car = world.spawn(&skidpad::spec::load(&vehicle)?.model, Placement::default());

    println!("{vehicle} on {solver}: {}", solver.info().description);
    println!("{:>6} {:>8} {:>8} {:>8} {:>5} {:>9} {:>9}", "t s", "x m", "y m", "km/h", "gear", "ax m/s²", "ay m/s²");
    for step in 0..=1560 {
        let frame = world.frame(car)?;
        if step % 60 == 0 {
            let (t, speed_kmh) = (frame.t_s, frame.vx_mps * 3.6);
            let (x, y, ax, ay) = (frame.x_m, frame.y_m, frame.ax_mps2, frame.ay_mps2);
            println!("{t:>6.1} {x:>8.2} {y:>8.2} {speed_kmh:>8.1} {:>5} {ax:>9.2} {ay:>9.2}", frame.gear);
        }
        *world.controls_mut(car)? = driver_controls(frame.t_s, frame.vx_mps * 3.6 > 100.0);
        world.step();
    }
    Ok(())
}
