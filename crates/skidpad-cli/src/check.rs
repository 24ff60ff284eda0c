//! `skidpad check`: prints every fault of a vehicle file, or the figures derived from it and notes about unusual
//! values.

use std::process::ExitCode;

use serde_json::{Map, Value, json};
use skidpad::core::Model;
use skidpad::lab::Metric;
use skidpad::lab::closed_form::modes::{Mode, Modes};
use skidpad::lab::closed_form::{lints, lists, sway, train};
use skidpad::lab::metrics::to_json;
use skidpad::spec::LoadedVehicle;
use skidpad::spec::printable::one_line;

use crate::arguments::Check;
use crate::failure::{Result, report};
use crate::output::{Table, print, print_error_report};
use crate::roots::allowed_roots;
use crate::trailers::load_trailers;

/// Checks each vehicle, with the trailers of `--towing` behind it. Prints a summary of each, or one JSON object of all
/// with `--json`. Prints the faults of a vehicle file to the standard error and continues; the exit code is then that
/// for failure. A fault of a folder or of a trailer ends the command.
pub fn check(asked: &Check) -> Result<ExitCode> {
    let mut code = ExitCode::SUCCESS;
    let mut objects = Map::new();
    let roots = allowed_roots(&asked.roots)?;
    for name in &asked.vehicles {
        match skidpad::spec::load_from(name, roots) {
            Ok(loaded) => {
                let trailers = load_trailers(&asked.towing, &loaded.model, &asked.roots)?;
                let towed = trailers.iter().map(|unit| &unit.model);
                let train: Vec<&Model> = [&loaded.model].into_iter().chain(towed).map(AsRef::as_ref).collect();
                if asked.json {
                    objects.insert(name.clone(), vehicle_json(&loaded, &train));
                } else {
                    print(&summary(name, &loaded, &train))?;
                }
            }
            Err(error) => {
                code = ExitCode::FAILURE;
                print_error_report(&report(&error));
            }
        }
    }
    if asked.json {
        print(&format!("{:#}\n", Value::Object(objects)))?;
    }
    Ok(code)
}

/// Returns the notes about the file, and the lints of the model: unusual values that are accepted.
fn warnings(loaded: &LoadedVehicle) -> Vec<String> {
    loaded.notes.iter().map(ToString::to_string).chain(lints(&loaded.model)).collect()
}

/// Returns the text about a vehicle without faults: name, tables of its dolly, wheels, axles, whole car, trailers,
/// longest stable steps and damping ratios, then the warnings. Empty tables are omitted. If the vehicle tows trailers,
/// wheels, axles and car are those under the load on its hitch. `train` is the vehicle and its trailers, from the
/// front.
fn summary(name: &str, loaded: &LoadedVehicle, train: &[&Model]) -> String {
    let mut text = format!("{}: {}, valid\n", one_line(name), one_line(&loaded.spec.name));
    let mut tables: Vec<Table> = loaded.dolly.iter().flat_map(|dolly| dolly_tables(dolly)).collect();
    let towing = train::with_hitch_load(train);
    // Addition to the titles of the tables.
    let of = if towing.is_some() { ", with what rests on its hitch" } else { "" };
    tables.extend(wheels_and_axles(towing.as_ref().unwrap_or(&loaded.model), of));
    tables.push(columns(
        &format!("whole car{of}"),
        vec![String::new()],
        &[car_metrics(&loaded.model, towing.as_ref())],
    ));
    tables.extend([trailers_table(train), stable_steps_table(loaded), damping_table(loaded)]);
    for table in tables.into_iter().filter(|table| !table.is_empty()) {
        text.push_str(&format!("\n{}", table.text(2)));
    }
    for lint in warnings(loaded) {
        text.push_str(&format!("\n  worth a look: {}\n", one_line(&lint)));
    }
    text.push('\n');
    text
}

/// Returns the tables of the wheels (by name) and of the axles (by number from the front) of one vehicle unit. `of` is
/// appended to their titles.
fn wheels_and_axles(model: &Model, of: &str) -> [Table; 2] {
    let wheels = (0..model.wheels().len()).map(|i| model.wheel_name(i)).collect();
    let axles = (1..=model.parts().axles.len()).map(|number| number.to_string()).collect();
    [
        columns(&format!("wheel{of}"), wheels, &lists::wheels(model)),
        columns(&format!("axle{of}"), axles, &lists::axles(model)),
    ]
}

/// Returns the tables of a dolly below its trailer. They omit modes and rollover figures, which a dolly alone does not
/// have.
fn dolly_tables(model: &Model) -> [Table; 3] {
    let [wheels, axles] = wheels_and_axles(model, " of the dolly");
    [wheels, axles, columns("dolly", vec![String::new()], &[lists::towing(model)])]
}

/// Returns the figures of a car. If it is loaded by trailers (`towing`), returns only the figures that are valid under
/// this load.
fn car_metrics(model: &Model, towing: Option<&Model>) -> Vec<Metric> {
    let Some(loaded) = towing else { return lists::car(model) };
    lists::car(loaded).into_iter().filter(|metric| train::is_valid_with_trailers(&metric.name)).collect()
}

/// Returns the figures of sway (lateral oscillation of the train) and of the train, which is listed from the front; an
/// empty list without trailers.
fn train_metrics(train: &[&Model]) -> Vec<Metric> {
    if train.len() < 2 { Vec::new() } else { [sway::list(train), train::list(train)].concat() }
}

/// Returns the table of the figures of a vehicle with its trailers; an empty table without trailers.
fn trailers_table(train: &[&Model]) -> Table {
    match train_metrics(train) {
        list if list.is_empty() => Table::new(2),
        list => columns("with its trailers", vec![String::new()], &[list]),
    }
}

/// Returns a table with a column for each list and a row for each figure that has a value in at least one list. The
/// header has `title`, the unit, and `heads`, one for each list. All lists have the same figures in the same order.
fn columns(title: &str, heads: Vec<String>, lists: &[Vec<Metric>]) -> Table {
    // Right-aligned from column 2 on, after label and unit.
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

/// Returns the table of the longest stable step of each solver, ms, with the reason; `any` for solvers that are stable
/// at every step.
fn stable_steps_table(loaded: &LoadedVehicle) -> Table {
    // No column is right-aligned.
    let mut table = Table::new(usize::MAX);
    table.row(["solver", "longest stable step", "because"]);
    for backend in skidpad::solvers() {
        let (step, why) = match stable_step_s(loaded, backend.comparison_only) {
            Some(step) => (format!("{:.1} ms", step * 1e3), "springs and dampers are explicit: 2 (√(1 + ζ²) − ζ) / ω"),
            None => ("any".into(), "springs, tyres and shafts are implicit; for accuracy see `skidpad certify`"),
        };
        table.row([backend.name.to_string(), step, why.to_string()]);
    }
    table
}

/// Step rates at which damping ratios are printed, Hz.
const RATES_HZ: [f64; 4] = [30.0, 60.0, 120.0, 240.0];

/// Relative change of a damping ratio up to which it is not printed.
const DAMPING_TOLERANCE: f64 = 0.03;

/// Returns each mode with its damping ratio from the description and the ratios that result from steps at [`RATES_HZ`].
/// A ratio is `None` if the mode reverses within one step. The list is empty if the springs cannot hold the car
/// upright.
fn damping_ratios(loaded: &LoadedVehicle) -> Vec<(&'static str, f64, [Option<f64>; 4])> {
    let Some(modes) = Modes::of(&loaded.model) else { return Vec::new() };
    // Damping ratios of all modes in steps, by rate.
    let found = RATES_HZ.map(|hz| Modes::damping_in_steps(&loaded.model, 1.0 / hz));
    let asked = [
        ("heave", modes.heave),
        ("pitch", modes.pitch),
        ("roll, tyres creep", modes.roll),
        ("roll, tyres hold", modes.roll_fixed_contacts),
    ];
    // `k` is the index of the mode in the results of `Modes::damping_in_steps`.
    let row = |(k, (name, mode)): (usize, (&'static str, Mode))| {
        (name, mode.damping_ratio, found.map(|ratios| ratios.and_then(|ratios| ratios[k])))
    };
    asked.into_iter().enumerate().map(row).collect()
}

/// Returns the table of the damping ratios that the step length changes by more than [`DAMPING_TOLERANCE`] at any rate
/// of [`RATES_HZ`]; an empty table if there are none. Undamped modes are left out. A ratio of a mode that reverses
/// within one step is `-`.
fn damping_table(loaded: &LoadedVehicle) -> Table {
    // Right-aligned from column 1 on.
    let mut table = Table::new(1);
    // Whether the damping ratio in steps, `left`, is close to that of the description, `asked`.
    let kept =
        |asked: f64, left: &Option<f64>| left.is_some_and(|left| (left - asked).abs() <= DAMPING_TOLERANCE * asked);
    let changed: Vec<_> = damping_ratios(loaded)
        .into_iter()
        .filter(|(_, asked, left)| *asked > 0.0 && !left.iter().all(|left| kept(*asked, left)))
        .collect();
    if changed.is_empty() {
        return table;
    }
    let rates = RATES_HZ.map(|hz| format!("at {hz:.0} Hz"));
    table.row(["damping ratio".to_string(), "asked".into()].into_iter().chain(rates));
    for (name, asked, left) in changed {
        let cells = left.map(|left| left.map_or("-".into(), |left| format!("{left:.3}")));
        table.row([name.to_string(), format!("{asked:.3}")].into_iter().chain(cells));
    }
    table
}

/// Returns the longest stable step of a peer, whose springs are explicit, s. Returns `None` for skidpad's solvers,
/// which are stable at any step, and if the springs cannot hold the car upright.
fn stable_step_s(loaded: &LoadedVehicle, peer: bool) -> Option<f64> {
    if peer { Modes::of(&loaded.model).map(|modes| modes.explicit_step_s) } else { None }
}

/// Returns the figures of every wheel by its name.
fn wheels_json(model: &Model) -> Map<String, Value> {
    let lists = lists::wheels(model).into_iter().enumerate();
    lists.map(|(i, list)| (model.wheel_name(i), to_json(&list))).collect()
}

/// Returns the figures of every axle, from the front.
fn axles_json(model: &Model) -> Vec<Value> {
    lists::axles(model).iter().map(|list| to_json(list)).collect()
}

/// Returns the figures of a dolly: wheels, axles, and the figures of towing.
fn dolly_json(model: &Model) -> Value {
    json!({ "wheels": wheels_json(model), "axles": axles_json(model), "whole": to_json(&lists::towing(model)) })
}

/// Returns the figures of [`summary`] as a JSON object, unrounded: name, dolly (or `null`), wheels, axles, car, train,
/// damping ratios of all modes and rates, longest stable steps (ms, `null` for any) and warnings.
fn vehicle_json(loaded: &LoadedVehicle, train: &[&Model]) -> Value {
    let towing = train::with_hitch_load(train);
    let model = towing.as_ref().unwrap_or(&loaded.model);
    // Longest stable step, ms.
    let step = |peer| stable_step_s(loaded, peer).map(|step| step * 1e3);
    let stable =
        skidpad::solvers().into_iter().map(|backend| (backend.name.to_string(), json!(step(backend.comparison_only))));
    let damping = damping_ratios(loaded).into_iter().map(|(name, asked, left)| {
        let steps = RATES_HZ.iter().zip(left).map(|(hz, left)| (format!("at_{hz:.0}_hz"), json!(left)));
        (name.to_string(), Value::Object([("asked".to_string(), json!(asked))].into_iter().chain(steps).collect()))
    });
    json!({
        "name": loaded.spec.name,
        "dolly": loaded.dolly.as_ref().map(|dolly| dolly_json(dolly)),
        "wheels": wheels_json(model),
        "axles": axles_json(model),
        "car": to_json(&car_metrics(&loaded.model, towing.as_ref())),
        "train": to_json(&train_metrics(train)),
        "damping_ratio": damping.collect::<Map<_, _>>(),
        "longest_stable_step_ms": stable.collect::<Map<_, _>>(),
        "worth_a_look": warnings(loaded),
    })
}
