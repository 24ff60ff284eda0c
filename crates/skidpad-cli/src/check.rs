//! `skidpad check`: every fault of a vehicle file, or the figures that follow from it.

use std::process::ExitCode;

use miette::Report;
use skidpad::lab::figures::{AxleFigures, Figures, lints};
use skidpad::spec::Loaded;

use crate::output::{Table, print};

/// Checks each vehicle; fails if any has a fault.
pub fn check(vehicles: &[String]) -> miette::Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    for name in vehicles {
        match skidpad::spec::load(name) {
            Ok(loaded) => print(&summary(name, &loaded))?,
            Err(error) => {
                code = ExitCode::FAILURE;
                eprintln!("{:?}", Report::new(error));
            }
        }
    }
    Ok(code)
}

fn summary(name: &str, loaded: &Loaded) -> String {
    let figures = Figures::of(&loaded.model);
    let mut text = format!("{name}: {}, valid\n\n", loaded.spec.name);
    text.push_str(&wheels(loaded).text(2));
    text.push('\n');
    text.push_str(&axles(&figures.axles).text(2));
    text.push('\n');
    text.push_str(&car(&figures).text(2));
    for lint in lints(&loaded.model) {
        text.push_str(&format!("\n  worth a look: {lint}\n"));
    }
    text.push('\n');
    text
}

fn wheels(loaded: &Loaded) -> Table {
    let model = &loaded.model;
    let mut table = Table::new(1);
    let each = |f: &dyn Fn(usize) -> String| (0..model.wheels().len()).map(f).collect::<Vec<_>>();
    let row = |label: &str, cells: Vec<String>| [label.to_string()].into_iter().chain(cells).collect::<Vec<_>>();
    table.row(row("wheel", each(&|i| model.wheel_name(i))));
    table.row(row("static load, N", each(&|i| format!("{:.1}", model.static_load(i)))));
    table.row(row("sag, mm", each(&|i| format!("{:.1}", model.static_load(i) / model.wheels()[i].strut.rate * 1e3))));
    table
}

fn axles(axles: &[AxleFigures]) -> Table {
    let mut table = Table::new(1);
    let mut row = |label: &str, f: &dyn Fn(&AxleFigures) -> String| {
        table.row([label.to_string()].into_iter().chain(axles.iter().map(f)));
    };
    row("axle ahead of the centre of mass, m", &|a| format!("{:.3}", a.x_m));
    row("track, m", &|a| format!("{:.3}", a.track_m));
    row("load, N", &|a| format!("{:.0}", a.load_n));
    row("ride frequency, Hz", &|a| format!("{:.3}", a.ride_hz));
    row("damping ratio in bump", &|a| format!("{:.3}", a.bump_damping_ratio));
    row("damping ratio in rebound", &|a| format!("{:.3}", a.rebound_damping_ratio));
    let stiffness = |a: &AxleFigures| a.cornering_stiffness_n_per_rad.map_or("-".into(), |c| format!("{c:.0}"));
    row("cornering stiffness, N/rad", &stiffness);
    table
}

fn car(figures: &Figures) -> Table {
    let mut table = Table::new(1);
    let mut row = |label: &str, value: Option<f64>, digits: usize| {
        table.row([label.to_string(), value.map_or("-".into(), |v| format!("{v:.digits$}"))]);
    };
    let bicycle = figures.bicycle;
    row("mass, kg", Some(figures.mass_kg), 1);
    row("wheelbase, m", Some(figures.wheelbase_m), 3);
    row("roll gradient, deg/g", figures.roll_gradient.map(|r| (r * 9.81).to_degrees()), 3);
    row("understeer gradient, deg/g", bicycle.map(|b| (b.understeer * 9.81).to_degrees()), 4);
    row("understeer gradient, rad/(m/s²)", bicycle.map(|b| b.understeer), 7);
    row("characteristic speed, m/s", bicycle.and_then(|b| b.characteristic_speed_mps()), 2);
    row("critical speed, m/s", bicycle.and_then(|b| b.critical_speed_mps()), 2);
    row("rigid rollover threshold t/2h, g", figures.rollover_g, 3);
    row("top speed, m/s", figures.top_speed_mps, 2);
    table
}
