//! `skidpad check`: every fault of a vehicle file, or the figures that follow from it and what is worth a look.

use std::process::ExitCode;

use miette::Report;
use serde_json::{Map, Value, json};
use skidpad::lab::Metric;
use skidpad::lab::figures::{Modes, lints, lists};
use skidpad::lab::metrics::to_json;
use skidpad::spec::Loaded;

use crate::arguments::Check;
use crate::output::{Table, print};

/// Checks each vehicle; fails if any has a fault.
pub fn check(asked: &Check) -> miette::Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    let mut objects = Map::new();
    for name in &asked.vehicles {
        match skidpad::spec::load(name) {
            Ok(loaded) if asked.json => {
                objects.insert(name.clone(), object(&loaded));
            }
            Ok(loaded) => print(&summary(name, &loaded))?,
            Err(error) => {
                code = ExitCode::FAILURE;
                eprintln!("{:?}", Report::new(error));
            }
        }
    }
    if asked.json {
        print(&format!("{:#}\n", Value::Object(objects)))?;
    }
    Ok(code)
}

/// What is worth a look, of the file and of the model.
fn worth_a_look(loaded: &Loaded) -> Vec<String> {
    loaded.notes.iter().map(ToString::to_string).chain(lints(&loaded.model)).collect()
}

fn summary(name: &str, loaded: &Loaded) -> String {
    let model = &loaded.model;
    let wheels = (0..model.wheels().len()).map(|i| model.wheel_name(i)).collect();
    let axles = (1..=model.parts().axles.len()).map(|number| number.to_string()).collect();
    let mut text = format!("{name}: {}, valid\n", loaded.spec.name);
    for table in [
        columns("wheel", wheels, &lists::wheels(model)),
        columns("axle", axles, &lists::axles(model)),
        columns("whole car", vec![String::new()], &[lists::car(model)]),
        steps(loaded),
    ] {
        text.push_str(&format!("\n{}", table.text(2)));
    }
    for lint in worth_a_look(loaded) {
        text.push_str(&format!("\n  worth a look: {lint}\n"));
    }
    text.push('\n');
    text
}

/// A row for each figure that some column has, a column for each list.
fn columns(title: &str, heads: Vec<String>, lists: &[Vec<Metric>]) -> Table {
    let mut table = Table::new(2);
    table.row([title.to_string(), "unit".into()].into_iter().chain(heads));
    let rows = lists.first().map_or(0, Vec::len);
    for row in (0..rows).filter(|&row| lists.iter().any(|list| list[row].value.is_some())) {
        let metric = &lists[0][row];
        let cells = lists.iter().map(|list| list[row].text());
        table.row([metric.label.clone(), metric.unit.to_string()].into_iter().chain(cells));
    }
    table
}

/// The longest stable step of each solver, and where it comes from.
fn steps(loaded: &Loaded) -> Table {
    let mut table = Table::new(usize::MAX);
    table.row(["solver", "longest stable step", "because"]);
    for backend in skidpad::backends() {
        let (step, why) = match stable_step_s(loaded, backend.peer) {
            Some(step) => (format!("{:.1} ms", step * 1e3), "springs and dampers are explicit: 2 (√(1 + ζ²) − ζ) / ω"),
            None => ("any".into(), "springs, tyres and shafts are implicit; for accuracy see `skidpad certify`"),
        };
        table.row([backend.name.to_string(), step, why.to_string()]);
    }
    table
}

/// Of a peer, which has explicit springs; skidpad's own solvers have no bound.
fn stable_step_s(loaded: &Loaded, peer: bool) -> Option<f64> {
    if peer { Modes::of(&loaded.model).map(|modes| modes.explicit_step_s) } else { None }
}

fn object(loaded: &Loaded) -> Value {
    let model = &loaded.model;
    let wheels = lists::wheels(model).into_iter().enumerate().map(|(i, list)| (model.wheel_name(i), to_json(&list)));
    let step = |peer| stable_step_s(loaded, peer).map(|step| step * 1e3);
    let stable = skidpad::backends().into_iter().map(|backend| (backend.name.to_string(), json!(step(backend.peer))));
    json!({
        "name": loaded.spec.name,
        "wheels": wheels.collect::<Map<_, _>>(),
        "axles": lists::axles(model).iter().map(|list| to_json(list)).collect::<Vec<_>>(),
        "car": to_json(&lists::car(model)),
        "longest_stable_step_ms": stable.collect::<Map<_, _>>(),
        "worth_a_look": worth_a_look(loaded),
    })
}
