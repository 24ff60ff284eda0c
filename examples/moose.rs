//! Compares settings of the anti-roll bars in a moose test: `cargo run --release --example moose [vehicle] [km/h]
//! [backend]`
//!
//! Drives the course of ISO 3888-2 with each setting, and writes a report with the replay of the run, which shows the
//! car from behind with its wheel loads and the forces of the bars. After a rollover the run is repeated at a lower
//! speed.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use skidpad::core::Model;
use skidpad::lab::manoeuvre::{LaneChange, LaneChangeCourse};
use skidpad::lab::report::{Report, ReportedCar};
use skidpad::lab::road_test::RoadTest;
use skidpad::lab::{Overrides, TimeStep, compare};

const RATE_HZ: f64 = 240.0;
/// Roll angle above which the car has rolled over (rad).
const ROLLOVER_RAD: f64 = 0.8;
/// Settings of the bars: name, factor on every rate, speeds between which the bars fade in (m/s).
const BAR_SETTINGS: [(&str, f32, [f32; 2]); 4] =
    [("none", 0.0, [0.0; 2]), ("auto", 1.0, [5.0, 15.0]), ("described", 1.0, [0.0; 2]), ("twice", 2.0, [0.0; 2])];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let vehicle = arguments.next().unwrap_or_else(|| "corvette_c5".into());
    let first_speed_kmh: f64 = arguments.next().map_or(Ok(60.0), |text| text.parse())?;
    let solver_name = arguments.next().unwrap_or_else(|| "impulse".into());
    let backend = solver_name.parse::<skidpad::Solver>()?.info();
    let described_model = skidpad::spec::load(&vehicle)?.model;
    let dt = TimeStep::from_rate_hz(RATE_HZ)?;

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
        let (lane_change, comparison) = loop {
            let lane_change = LaneChange { course: LaneChangeCourse::Obstacle, speed_mps: Some(speed_kmh / 3.6) };
            let comparison =
                compare(&[backend], &model, &lane_change, &Overrides::default(), dt, &|_| ControlFlow::Continue(()));
            let run = &comparison.outcomes[0].trajectory;
            let rollover_time = run.first_crossing_up(ROLLOVER_RAD, 0.0, |f| f.roll_rad.abs());
            match rollover_time.filter(|_| speed_kmh > 20.0) {
                None => break (lane_change, comparison),
                Some(time) => {
                    println!("{setting:10} {speed_kmh:>5.0} fell over after {time:.1} s: again, 10 km/h slower")
                }
            }
            speed_kmh -= 10.0;
        };
        let metrics = lane_change.measure(&model, &comparison.outcomes[0].trajectory);
        let [cones, least_load, lifted_wheels, roll] =
            [metrics.cones_hit, metrics.least_load_percent, metrics.wheels_lifted, metrics.peak_roll_deg]
                .map(Option::unwrap_or_default);
        println!("{setting:10} {speed_kmh:>5.0} {cones:>6.0} {least_load:>7.1} % {lifted_wheels:>7.0} {roll:>6.2}°");
        let title = format!("{vehicle}, bars: {setting}, {speed_kmh:.0} km/h");
        let comparisons = &[comparison];
        let (label, description, changes, shipped_name) = ("", "", &[][..], "");
        let car =
            ReportedCar { label, vehicle: &title, description, model: &model, changes, shipped_name, comparisons };
        let (published, backends) = (&RoadTest::default(), &[backend]);
        let report = Report { car, before: None, published, backends, inputs: &[], log: None };
        report.save_html(Path::new(&format!("target/skidpad/moose_{setting}.html")))?;
    }
    println!("reports with replays: target/skidpad/moose_*.html");
    Ok(())
}
