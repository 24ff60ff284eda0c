//! Compares settings of the anti-roll bars in a moose test: `cargo run --release --example moose [vehicle] [km/h]
//! [backend]`
//!
//! Drives the course of ISO 3888-2 with each setting, and draws the car from behind at its largest roll angle. After a
//! rollover the run is repeated at a lower speed.

use std::sync::Arc;

use skidpad::core::{CarStart, Model, SolverInfo};
use skidpad::lab::driver::DriverInput;
use skidpad::lab::manoeuvre::{LaneChange, LaneChangeCourse, Manoeuvre};
use skidpad::lab::{report::rear_view, trajectory::Trajectory};

const STEP_S: f64 = 1.0 / 240.0;
/// Settings of the bars: name, factor on every rate, speeds between which the bars fade in (m/s).
const BAR_SETTINGS: [(&str, f32, [f32; 2]); 4] =
    [("none", 0.0, [0.0; 2]), ("auto", 1.0, [5.0, 15.0]), ("described", 1.0, [0.0; 2]), ("twice", 2.0, [0.0; 2])];

/// Simulates the run until the course ends or the roll angle exceeds 0.8 rad, which is a rollover.
fn drive(backend: &SolverInfo, lane_change: &LaneChange, model: &Arc<Model>) -> Trajectory {
    let setup = lane_change.setup(model);
    let car = CarStart { model: Arc::clone(model), placement: setup.placement };
    let mut world = (backend.build_world)(&setup.scene, &[car], STEP_S as f32);
    let mut driver = lane_change.driver(model);
    let mut trajectory = Trajectory::new(model, world.frame(0), STEP_S);
    for step in 0..(setup.duration_s / STEP_S) as u64 {
        let frame = world.frame(0);
        let input = DriverInput { step, dt_s: STEP_S, model, frame: &frame };
        if driver.finished(&input) || frame.roll_rad.abs() > 0.8 {
            break;
        }
        let report = world.step(&[driver.drive(&input)]);
        trajectory.push(world.frame(0), report);
    }
    trajectory
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let vehicle = arguments.next().unwrap_or_else(|| "corvette_c5".into());
    let first_speed_kmh: f64 = arguments.next().map_or(Ok(60.0), |text| text.parse())?;
    let solver_name = arguments.next().unwrap_or_else(|| "impulse".into());
    let backend = solver_name.parse::<skidpad::Solver>()?.info();
    let described_model = skidpad::spec::load(&vehicle)?.model;
    std::fs::create_dir_all("target/skidpad")?;

    println!(
        "{vehicle} on {solver_name}\n{:10} {:>5} {:>6} {:>9} {:>7} {:>7}",
        "bars", "km/h", "cones", "least", "lifted", "roll"
    );
    for (setting, rate_factor, fade_in_speeds) in BAR_SETTINGS {
        let mut parts = described_model.parts().clone();
        for bar in &mut parts.bars {
            (bar.rate, bar.speed_range) = (bar.rate * rate_factor, fade_in_speeds);
        }
        let model = Arc::new(Model::new(parts)?);
        let mut speed_kmh = first_speed_kmh;
        let (lane_change, run) = loop {
            let lane_change = LaneChange { course: LaneChangeCourse::Obstacle, speed_mps: Some(speed_kmh / 3.6) };
            let run = drive(&backend, &lane_change, &model);
            if run.last().roll_rad.abs() <= 0.8 || speed_kmh <= 20.0 {
                break (lane_change, run);
            }
            println!("{setting:10} {speed_kmh:>5.0} fell over after {:.1} s: again, 10 km/h slower", run.last().t_s);
            speed_kmh -= 10.0;
        };
        let metrics = lane_change.measure(&model, &run);
        let [cones, least_load, lifted_wheels, roll] =
            [metrics.cones_hit, metrics.least_load_percent, metrics.wheels_lifted, metrics.peak_roll_deg]
                .map(Option::unwrap_or_default);
        println!("{setting:10} {speed_kmh:>5.0} {cones:>6.0} {least_load:>7.1} % {lifted_wheels:>7.0} {roll:>6.2}°");
        let peak_frame = run.peak(0.0, |f| f.roll_rad.abs());
        let title = format!("{vehicle}, bars: {setting}, {speed_kmh:.0} km/h, after {:.2} s", peak_frame.t_s);
        std::fs::write(format!("target/skidpad/moose_{setting}.svg"), rear_view(&model, &peak_frame, &title)?)?;
    }
    println!("views from behind: target/skidpad/moose_*.svg");
    Ok(())
}
