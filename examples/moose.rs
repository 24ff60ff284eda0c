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
fn drive(backend: &SolverInfo, run: &LaneChange, model: &Arc<Model>) -> Trajectory {
    let setup = run.setup(model);
    let car = CarStart { model: Arc::clone(model), placement: setup.placement };
    let mut world = (backend.build_world)(&setup.scene, &[car], STEP_S as f32);
    let mut driver = run.driver(model);
    let mut driven = Trajectory::new(model, world.frame(0), STEP_S);
    for step in 0..(setup.duration_s / STEP_S) as u64 {
        let frame = world.frame(0);
        let now = DriverInput { step, dt_s: STEP_S, model, frame: &frame };
        if driver.finished(&now) || frame.roll_rad.abs() > 0.8 {
            break;
        }
        let report = world.step(&[driver.drive(&now)]);
        driven.push(world.frame(0), report);
    }
    driven
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let vehicle = arguments.next().unwrap_or_else(|| "corvette_c5".into());
    let fastest: f64 = arguments.next().map_or(Ok(60.0), |text| text.parse())?;
    let name = arguments.next().unwrap_or_else(|| "impulse".into());
    let backend = name.parse::<skidpad::Solver>()?.info();
    let described = skidpad::spec::load(&vehicle)?.model;
    std::fs::create_dir_all("target/skidpad")?;

    println!(
        "{vehicle} on {name}\n{:10} {:>5} {:>6} {:>9} {:>7} {:>7}",
        "bars", "km/h", "cones", "least", "lifted", "roll"
    );
    for (setting, factor, fades_in) in BAR_SETTINGS {
        let mut parts = described.parts().clone();
        for bar in &mut parts.bars {
            (bar.rate, bar.speed_range) = (bar.rate * factor, fades_in);
        }
        let model = Arc::new(Model::new(parts)?);
        let mut kmh = fastest;
        let (run, driven) = loop {
            let run = LaneChange { course: LaneChangeCourse::Obstacle, speed_mps: Some(kmh / 3.6) };
            let driven = drive(&backend, &run, &model);
            if driven.last().roll_rad.abs() <= 0.8 || kmh <= 20.0 {
                break (run, driven);
            }
            println!("{setting:10} {kmh:>5.0} fell over after {:.1} s: again, 10 km/h slower", driven.last().t_s);
            kmh -= 10.0;
        };
        let found = run.measure(&model, &driven);
        let [cones, least, lifted, roll] =
            [found.cones_hit, found.least_load_percent, found.wheels_lifted, found.peak_roll_deg]
                .map(Option::unwrap_or_default);
        println!("{setting:10} {kmh:>5.0} {cones:>6.0} {least:>7.1} % {lifted:>7.0} {roll:>6.2}°");
        let most = driven.peak(0.0, |f| f.roll_rad.abs());
        let title = format!("{vehicle}, bars: {setting}, {kmh:.0} km/h, after {:.2} s", most.t_s);
        std::fs::write(format!("target/skidpad/moose_{setting}.svg"), rear_view(&model, &most, &title)?)?;
    }
    println!("views from behind: target/skidpad/moose_*.svg");
    Ok(())
}
