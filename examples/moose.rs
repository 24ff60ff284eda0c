//! What do anti-roll bars do in a moose test? `cargo run --release --example moose [vehicle] [km/h] [backend]`
//!
//! Drives the course of ISO 3888-2 with one setting of the bars after the other: none, fading in with speed, as
//! described, twice as stiff. Prints what happened, and draws the car from behind where it rolls most, with its centre of
//! mass, the load of every wheel and the force of every bar, as `target/skidpad/moose_<setting>.svg`. A car that falls
//! over is put back at the start and goes again, slower.

use std::f64::consts::FRAC_PI_4;
use std::path::Path;
use std::sync::Arc;

use plotters::prelude::*;
use skidpad::core::{Backend, CarStart, Frame, Model};
use skidpad::lab::driver::Now;
use skidpad::lab::manoeuvre::{Course, LaneChange, LaneChangeMetrics, Manoeuvre};
use skidpad::lab::run::TimeStep;
use skidpad::lab::trajectory::Trajectory;

type Failure = Box<dyn std::error::Error>;

/// Name, factor of every rate, speeds between which the bars fade in, m/s.
const SETTINGS: [(&str, f32, [f32; 2]); 4] =
    [("none", 0.0, [0.0; 2]), ("auto", 1.0, [5.0, 15.0]), ("described", 1.0, [0.0; 2]), ("twice", 2.0, [0.0; 2])];

fn with_bars(model: &Model, factor: f32, fades_in: [f32; 2]) -> Result<Arc<Model>, Failure> {
    let mut parts = model.parts().clone();
    for bar in &mut parts.bars {
        (bar.rate, bar.fades_in) = (bar.rate * factor, fades_in);
    }
    Ok(Arc::new(Model::new(parts)?))
}

/// Drives to the end of the course, or until the car leans like one that will not come back.
fn drive(world: &mut dyn Backend, run: &LaneChange, dt_s: f64) -> Trajectory {
    let model = Arc::clone(world.model(0));
    let (mut driver, longest) = (run.driver(&model), run.setup(&model).duration_s);
    let mut driven = Trajectory::new(&model, world.frame(0), dt_s);
    for step in 0.. {
        let frame = world.frame(0);
        let now = Now { step, dt_s, model: &model, frame: &frame };
        if driver.finished(&now) || fell_over(&frame) || now.time_s() > longest {
            break;
        }
        let report = world.step(&[driver.drive(&now)]);
        driven.push(world.frame(0), report);
    }
    driven
}

fn fell_over(frame: &Frame) -> bool {
    frame.roll_rad.abs() > FRAC_PI_4
}

/// Runs the course until the car stays on its wheels: the speed, the figures and the moment it rolls most.
fn runs(world: &mut dyn Backend, kmh: f64, dt_s: f64) -> (f64, LaneChangeMetrics, Frame) {
    let start = world.state(0).clone();
    let mut kmh = kmh;
    loop {
        let run = LaneChange { course: Course::Obstacle, speed_mps: Some(kmh / 3.6) };
        let driven = drive(world, &run, dt_s);
        if !fell_over(driven.last()) || kmh <= 20.0 {
            let most = driven.peak(0.0, |f| f.roll_rad.abs()).clone();
            return (kmh, run.measure(world.model(0), &driven), most);
        }
        println!("  fell over after {:.1} s at {kmh:.0} km/h: back to the start, 10 km/h slower", driven.last().t_s);
        kmh -= 10.0;
        let mut again = start.clone();
        again.velocity *= (kmh / 3.6) as f32 / start.velocity.length();
        again.previous_velocity = again.velocity;
        for (wheel, of) in again.wheels.iter_mut().zip(world.model(0).wheels()) {
            (wheel.spin, wheel.rolling_speed) = (again.velocity.length() / of.radius, again.velocity.length());
        }
        world.set_state(0, &again);
        world.set_steps(0);
    }
}

/// The car from behind: left is left.
fn draw(model: &Model, frame: &Frame, title: &str, path: &Path) -> Result<(), Failure> {
    let root = SVGBackend::new(path, (760, 480)).into_drawing_area();
    root.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&root)
        .caption(title, ("sans-serif", 18))
        .margin(12)
        .build_cartesian_2d(-1.9..1.9, -0.5..1.9)?;
    let (parts, tilt) = (model.parts(), frame.roll_rad);
    let height = f64::from(parts.centre_height);
    // From the vehicle frame (left, up) to the picture (right, up): a positive roll angle lowers the right side.
    let place =
        |left: f64, up: f64| (-left * tilt.cos() + up * tilt.sin(), height + up * tilt.cos() + left * tilt.sin());
    let [wide, high] = [parts.hull.half_extents.y, parts.hull.half_extents.z].map(f64::from);
    let middle = f64::from(parts.hull.centre.z);
    let body = [(wide, -high), (wide, high), (-wide, high), (-wide, -high)].map(|(left, up)| place(left, middle + up));
    chart.draw_series([Polygon::new(body, BLUE.mix(0.15).filled())])?;
    chart.draw_series([PathElement::new([(-1.9, 0.0), (1.9, 0.0)], BLACK.stroke_width(2))])?;
    let words = |text: String, at: (f64, f64), colour: &RGBColor| {
        Text::new(text, at, ("sans-serif", 15).into_font().color(colour))
    };
    for (i, (wheel, now)) in model.wheels().iter().zip(&frame.wheels).enumerate() {
        let (at, shift) = (-f64::from(wheel.contact.y), 0.12 * (wheel.axle as f64) - 0.06);
        let base = (at + shift, 0.0);
        let tip = (base.0, now.load_n / f64::from(model.static_load(i)) * 0.35);
        chart.draw_series([PathElement::new([base, tip], GREEN.stroke_width(6))])?;
        let below = (base.0 - 0.2, -0.08 - 0.09 * wheel.axle as f64);
        chart.draw_series([words(format!("{} {:.0} N", model.wheel_name(i), now.load_n), below, &BLACK)])?;
    }
    for (number, bar) in parts.bars.iter().enumerate() {
        let [left, right] = bar.wheels.map(|i| frame.wheels[i].compression_m);
        let force = f64::from(bar.rate_at(frame.vx_mps as f32)) * (left - right);
        let text = format!("bar {}: {force:.0} N on the left wheel, {:.0} N on the right", number + 1, -force);
        chart.draw_series([words(text, (-1.8, 1.75 - 0.11 * number as f64), &RED)])?;
    }
    chart.draw_series([Circle::new(place(0.0, 0.0), 6, RED.filled())])?;
    chart.draw_series([words("centre of mass".into(), place(-0.08, 0.02), &RED)])?;
    Ok(root.present()?)
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let vehicle = arguments.next().unwrap_or_else(|| "corvette_c5".into());
    let kmh: f64 = arguments.next().map_or(Ok(60.0), |text| text.parse())?;
    let name = arguments.next().unwrap_or_else(|| "impulse".into());
    let backend = skidpad::backend(&name).ok_or_else(|| format!("there is no backend `{name}`"))?;
    let described = skidpad::spec::load(&vehicle)?.model;
    let dt_s = TimeStep::per_second(240.0)?.seconds();
    let folder = Path::new("target/skidpad");
    std::fs::create_dir_all(folder)?;

    println!("{vehicle} on {name}");
    println!("{:<10} {:>5} {:>6} {:>11} {:>7} {:>10}", "bars", "km/h", "cones", "least load", "lifted", "peak roll");
    for (setting, factor, fades_in) in SETTINGS {
        let model = with_bars(&described, factor, fades_in)?;
        let setup = LaneChange { course: Course::Obstacle, speed_mps: Some(kmh / 3.6) }.setup(&model);
        let car = CarStart { model: Arc::clone(&model), placement: setup.placement };
        let mut world = (backend.build)(&setup.scene, &[car], dt_s as f32);
        let (driven_at, found, most) = runs(world.as_mut(), kmh, dt_s);
        let value = |figure: Option<f64>| figure.unwrap_or(0.0);
        println!(
            "{setting:<10} {driven_at:>5.0} {:>6.0} {:>9.1} % {:>7.0} {:>9.2}°",
            value(found.cones_hit),
            value(found.least_load_percent),
            value(found.wheels_lifted),
            value(found.peak_roll_deg)
        );
        let title = format!(
            "{vehicle}, bars: {setting}, {driven_at:.0} km/h, t = {:.2} s, roll {:.1}°",
            most.t_s,
            most.roll_rad.to_degrees()
        );
        draw(&model, &most, &title, &folder.join(format!("moose_{setting}.svg")))?;
    }
    println!("\nviews from behind: {}", folder.join("moose_*.svg").display());
    Ok(())
}
