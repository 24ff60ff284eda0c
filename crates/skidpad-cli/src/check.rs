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
use crate::failure::Result;
use crate::output::{TABLE_INDENT, TextTable, print, print_error_report};
use crate::roots::{allowed_roots, load_vehicle};
use crate::trailers::load_trailers;

/// Checks each vehicle, with the trailers of `--towing` behind it. Prints a summary of each vehicle, or with `--json`
/// one object of all vehicles at the end.
///
/// A fault of a vehicle file, or of a change by `--set`, is printed to the standard error; the next vehicle follows, and
/// the exit code is that for failure. A folder of `--allow-root` that does not exist ends the command before the first
/// vehicle. A fault of a trailer ends the command, too. Notes about trailers are printed to the standard error.
pub fn check(arguments: &Check) -> Result<ExitCode> {
    let mut exit_code = ExitCode::SUCCESS;
    let mut vehicle_objects = Map::new();
    allowed_roots(&arguments.roots)?;
    for name in &arguments.vehicles {
        match load_vehicle(name, &arguments.roots, &arguments.vehicle_changes) {
            Ok(vehicle) => {
                let (trailers, _) = load_trailers(&arguments.towing, &vehicle.model, &arguments.roots)?;
                let trailer_models = trailers.iter().map(|unit| &unit.model);
                let train: Vec<&Model> =
                    [&vehicle.model].into_iter().chain(trailer_models).map(AsRef::as_ref).collect();
                if arguments.json {
                    vehicle_objects.insert(name.clone(), vehicle_json(&vehicle, &train));
                } else {
                    print(&summary(name, &vehicle, &train))?;
                }
            }
            Err(error) => {
                exit_code = ExitCode::FAILURE;
                print_error_report(&error.report());
            }
        }
    }
    if arguments.json {
        print(&format!("{:#}\n", Value::Object(vehicle_objects)))?;
    }
    Ok(exit_code)
}

/// Returns the notes about the file, and the lints of the model: unusual values that are accepted.
fn warnings(vehicle: &LoadedVehicle) -> Vec<String> {
    vehicle.notes.iter().map(ToString::to_string).chain(lints(&vehicle.model)).collect()
}

/// Returns the text about a vehicle without faults: name, tables of dolly, wheels, axles, vehicle, figures over speed,
/// trailers, longest stable steps and damping ratios, then keys with old names and warnings. Empty tables are omitted.
/// `train` is the vehicle and its trailers, from the front.
///
/// If the vehicle tows trailers, wheels, axles and vehicle are those under the load on its hitch, as the titles of
/// these tables state.
fn summary(name: &str, vehicle: &LoadedVehicle, train: &[&Model]) -> String {
    let mut text = format!("{}: {}, valid\n", one_line(name), one_line(&vehicle.spec.name));
    let mut tables: Vec<TextTable> = vehicle.dolly.iter().flat_map(|dolly| dolly_tables(dolly)).collect();
    let hitch_loaded_model = train::with_hitch_load(train);
    // Addition to the titles of the tables.
    let title_suffix = if hitch_loaded_model.is_some() { ", under its hitch load" } else { "" };
    tables.extend(wheels_and_axles(hitch_loaded_model.as_ref().unwrap_or(&vehicle.model), title_suffix));
    tables.push(column_table(
        &format!("vehicle{title_suffix}"),
        // One column of values without a head.
        vec![String::new()],
        &[car_metrics(&vehicle.model, hitch_loaded_model.as_ref())],
    ));
    tables.extend([speed_table(train), trailers_table(train), stable_steps_table(vehicle), damping_table(vehicle)]);
    for table in tables.into_iter().filter(|table| !table.is_empty()) {
        text.push_str(&format!("\n{}", table.to_text(TABLE_INDENT)));
    }
    if !vehicle.old_keys.is_empty() {
        let warning = vehicle.old_keys.to_string().replace('\n', "\n  ");
        text.push_str(&format!("\n  warning: {warning}\n"));
    }
    for lint in warnings(vehicle) {
        text.push_str(&format!("\n  warning: {}\n", one_line(&lint)));
    }
    text.push('\n');
    text
}

/// Returns the tables of the wheels (by name) and of the axles (by number from the front) of one vehicle unit.
/// `title_suffix` is appended to their titles.
fn wheels_and_axles(model: &Model, title_suffix: &str) -> [TextTable; 2] {
    let wheels = (0..model.wheels().len()).map(|i| model.wheel_name(i)).collect();
    let axles = (1..=model.parts().axles.len()).map(|number| number.to_string()).collect();
    [
        column_table(&format!("wheel{title_suffix}"), wheels, &lists::wheels(model)),
        column_table(&format!("axle{title_suffix}"), axles, &lists::axles(model)),
    ]
}

/// Returns the tables of a dolly below its trailer. They omit modes and rollover figures, which a dolly alone does not
/// have.
fn dolly_tables(model: &Model) -> [TextTable; 3] {
    let [wheels, axles] = wheels_and_axles(model, " of the dolly");
    // The third table has one column of values without a head.
    [wheels, axles, column_table("dolly", vec![String::new()], &[lists::towing(model)])]
}

/// Returns the metrics of a vehicle. With `hitch_loaded_model`, the model under the load of its trailers, returns the
/// metrics of that model, without those that are only valid for the vehicle alone.
fn car_metrics(model: &Model, hitch_loaded_model: Option<&Model>) -> Vec<Metric> {
    let Some(loaded_model) = hitch_loaded_model else { return lists::car(model) };
    lists::car(loaded_model).into_iter().filter(|metric| train::is_valid_with_trailers(&metric.name)).collect()
}

/// Returns the metrics of sway (lateral oscillation of the train), then those of the train, which is listed from the
/// front. The list is empty without trailers.
fn train_metrics(train: &[&Model]) -> Vec<Metric> {
    if train.len() < 2 { Vec::new() } else { [sway::list(train), train::list(train)].concat() }
}

/// Returns the table of the metrics at each of [`lists::LISTED_SPEEDS_MPS`]. The table is empty for a vehicle with
/// trailers, or if its tyres have no stiffness.
fn speed_table(train: &[&Model]) -> TextTable {
    let heads = lists::LISTED_SPEEDS_MPS.map(|speed| format!("{speed} m/s"));
    match train {
        [model] => match lists::over_speed(model) {
            // An empty table; 2 is the first right-aligned column.
            figures if figures.is_empty() => TextTable::new(2),
            figures => column_table("speed", heads.into(), &figures),
        },
        _ => TextTable::new(2),
    }
}

/// Returns the table of [`train_metrics`]: sway and train. The table is empty without trailers.
fn trailers_table(train: &[&Model]) -> TextTable {
    match train_metrics(train) {
        // An empty table; 2 is the first right-aligned column.
        metrics if metrics.is_empty() => TextTable::new(2),
        // One column of values without a head.
        metrics => column_table("with trailers", vec![String::new()], &[metrics]),
    }
}

/// Returns a table with a column for each list and a row for each figure that has a value in at least one list. The
/// header has `title`, the unit, and `column_heads`, one for each list. All lists have the same figures in the same
/// order.
fn column_table(title: &str, column_heads: Vec<String>, metric_lists: &[Vec<Metric>]) -> TextTable {
    // Right-aligned from column 2 on, after label and unit.
    let mut table = TextTable::new(2);
    table.push_row([title.to_string(), "unit".into()].into_iter().chain(column_heads));
    let row_count = metric_lists.first().map_or(0, Vec::len);
    for row in (0..row_count).filter(|&row| metric_lists.iter().any(|metrics| metrics[row].value.is_some())) {
        let metric = &metric_lists[0][row];
        let cells = metric_lists.iter().map(|metrics| metrics[row].text());
        table.push_row([metric.label.clone(), metric.unit.to_string()].into_iter().chain(cells));
    }
    table
}

/// Returns the table of the longest stable step of each solver with the reason: a step length in ms, `any` for solvers
/// that are stable at every step, or `-` if it is unknown.
fn stable_steps_table(vehicle: &LoadedVehicle) -> TextTable {
    // No column is right-aligned.
    let mut table = TextTable::new(usize::MAX);
    table.push_row(["solver", "longest stable step", "reason"]);
    for backend in skidpad::solvers() {
        let (step, reason) = match StableStep::new(vehicle, backend.comparison_only) {
            StableStep::UpTo(step) => {
                (format!("{:.1} ms", step * 1e3), "explicit springs and dampers: 2 (√(1 + ζ²) − ζ) / ω")
            }
            StableStep::Any => ("any".into(), "implicit springs, tyres and shafts; for accuracy see `skidpad certify`"),
            StableStep::Unknown => (
                "-".into(),
                "explicit springs and dampers, but no modes: the springs alone do not hold the unit upright",
            ),
        };
        table.push_row([backend.name.to_string(), step, reason.to_string()]);
    }
    table
}

/// Step rates at which damping ratios are printed, Hz.
const RATES_HZ: [f64; 4] = [30.0, 60.0, 120.0, 240.0];

/// Relative change of a damping ratio up to which it is not printed.
const DAMPING_TOLERANCE: f64 = 0.03;

/// Returns the modes heave, pitch, roll with rolling tyres (which creep sideways freely), and roll with stationary
/// tyres (fixed contact points). Each has its name, its damping ratio from the description, and the ratios that remain
/// in steps at [`RATES_HZ`]. A ratio in steps is `None` if the motion of the mode reverses within one step. The list is
/// empty if the springs cannot hold the vehicle upright.
fn damping_ratios(vehicle: &LoadedVehicle) -> Vec<(&'static str, f64, [Option<f64>; 4])> {
    let Some(modes) = Modes::new(&vehicle.model) else { return Vec::new() };
    // Damping ratios of all modes in steps, by rate.
    let ratios_by_rate = RATES_HZ.map(|hz| Modes::damping_in_steps(&vehicle.model, 1.0 / hz));
    let named_modes = [
        ("heave", modes.heave),
        ("pitch", modes.pitch),
        ("roll, tyres rolling", modes.roll),
        ("roll, tyres stationary", modes.roll_fixed_contacts),
    ];
    // `mode_index` is the index of the mode in the results of `Modes::damping_in_steps`.
    let mode_row = |(mode_index, (name, mode)): (usize, (&'static str, Mode))| {
        (name, mode.damping_ratio, ratios_by_rate.map(|ratios| ratios.and_then(|ratios| ratios[mode_index])))
    };
    named_modes.into_iter().enumerate().map(mode_row).collect()
}

/// Returns the table of the modes whose damping ratio changes by more than [`DAMPING_TOLERANCE`] in steps at any of
/// [`RATES_HZ`], with the ratios of [`damping_ratios`]. A mode that reverses within one step counts as changed, and its
/// ratio is `-`. Undamped modes are left out. The table is empty if there is no such mode.
fn damping_table(vehicle: &LoadedVehicle) -> TextTable {
    // Right-aligned from column 1 on.
    let mut table = TextTable::new(1);
    // Whether the damping ratio in steps, `step_ratio`, is close to that of the description, `damping_ratio`.
    let is_close = |damping_ratio: f64, step_ratio: &Option<f64>| {
        step_ratio.is_some_and(|step_ratio| (step_ratio - damping_ratio).abs() <= DAMPING_TOLERANCE * damping_ratio)
    };
    // Name, ratio of the description, ratios in steps, of each mode that the step changes.
    let changed_modes: Vec<_> = damping_ratios(vehicle)
        .into_iter()
        .filter(|(_, damping_ratio, step_ratios)| {
            *damping_ratio > 0.0 && !step_ratios.iter().all(|step_ratio| is_close(*damping_ratio, step_ratio))
        })
        .collect();
    if changed_modes.is_empty() {
        return table;
    }
    let rates = RATES_HZ.map(|hz| format!("at {hz:.0} Hz"));
    table.push_row(["damping ratio".to_string(), "specified".into()].into_iter().chain(rates));
    for (name, damping_ratio, step_ratios) in changed_modes {
        let cells =
            step_ratios.map(|step_ratio| step_ratio.map_or("-".into(), |step_ratio| format!("{step_ratio:.3}")));
        table.push_row([name.to_string(), format!("{damping_ratio:.3}")].into_iter().chain(cells));
    }
    table
}

/// Steps of a solver that are stable.
enum StableStep {
    /// Every step: implicit springs and dampers.
    Any,
    /// Steps up to this length, s: explicit springs and dampers.
    UpTo(f64),
    /// Unknown steps: the springs and dampers are explicit, but the unit has no modes, because its springs alone do not
    /// hold it upright. Trailers with one axle are such units.
    Unknown,
}

impl StableStep {
    /// Computes the stable steps of a solver for `vehicle`. The springs of peers are explicit, those of skidpad's
    /// solvers implicit.
    fn new(vehicle: &LoadedVehicle, is_peer: bool) -> Self {
        if !is_peer {
            return Self::Any;
        }
        Modes::new(&vehicle.model).map_or(Self::Unknown, |modes| Self::UpTo(modes.explicit_step_s))
    }

    /// Returns the longest stable step in ms, `null` for any step, and the text `unknown`.
    fn to_json(&self) -> Value {
        match self {
            Self::Any => Value::Null,
            Self::UpTo(step) => json!(step * 1e3),
            Self::Unknown => json!("unknown"),
        }
    }
}

/// Returns the figures of every wheel by its name.
fn wheels_json(model: &Model) -> Map<String, Value> {
    let lists = lists::wheels(model).into_iter().enumerate();
    lists.map(|(i, metrics)| (model.wheel_name(i), to_json(&metrics))).collect()
}

/// Returns the figures of every axle, from the front.
fn axles_json(model: &Model) -> Vec<Value> {
    lists::axles(model).iter().map(|metrics| to_json(metrics)).collect()
}

/// Returns the figures of a dolly: wheels, axles, and the figures of towing.
fn dolly_json(model: &Model) -> Value {
    json!({ "wheels": wheels_json(model), "axles": axles_json(model), "whole": to_json(&lists::towing(model)) })
}

/// Returns the metrics of [`speed_table`] as a JSON object with the speeds in m/s as keys; an empty object with
/// trailers.
fn speeds_json(train: &[&Model]) -> Value {
    let [model] = train else { return json!({}) };
    let speeds = lists::LISTED_SPEEDS_MPS.iter().map(ToString::to_string);
    Value::Object(speeds.zip(lists::over_speed(model).iter().map(|metrics| to_json(metrics))).collect())
}

/// Returns the content of [`summary`] as a JSON object with unrounded metrics: name, dolly (or `null`), wheels, axles,
/// car, metrics over speed, train, damping ratios of all modes and rates, longest stable steps
/// ([`StableStep::to_json`]), warnings, and keys with old names. If the vehicle tows trailers, wheels and axles are
/// those under the load on its hitch, and the car has the metrics of [`car_metrics`].
fn vehicle_json(vehicle: &LoadedVehicle, train: &[&Model]) -> Value {
    let hitch_loaded_model = train::with_hitch_load(train);
    let model = hitch_loaded_model.as_ref().unwrap_or(&vehicle.model);
    let stable_steps = skidpad::solvers()
        .into_iter()
        .map(|backend| (backend.name.to_string(), StableStep::new(vehicle, backend.comparison_only).to_json()));
    let damping_ratios_json = damping_ratios(vehicle).into_iter().map(|(name, damping_ratio, step_ratios)| {
        // Ratios in steps by key, such as `at_30_hz`.
        let steps =
            RATES_HZ.iter().zip(step_ratios).map(|(hz, step_ratio)| (format!("at_{hz:.0}_hz"), json!(step_ratio)));
        (
            name.to_string(),
            Value::Object([("specified".to_string(), json!(damping_ratio))].into_iter().chain(steps).collect()),
        )
    });
    json!({
        "name": vehicle.spec.name,
        "dolly": vehicle.dolly.as_ref().map(|dolly| dolly_json(dolly)),
        "wheels": wheels_json(model),
        "axles": axles_json(model),
        "car": to_json(&car_metrics(&vehicle.model, hitch_loaded_model.as_ref())),
        "over_speed": speeds_json(train),
        "train": to_json(&train_metrics(train)),
        "damping_ratio": damping_ratios_json.collect::<Map<_, _>>(),
        "longest_stable_step_ms": stable_steps.collect::<Map<_, _>>(),
        "warnings": warnings(vehicle),
        "old_keys": vehicle.old_keys.lines().collect::<Vec<_>>(),
    })
}
