//! Exports of a comparison: JSON with time histories, and a long CSV table of metrics.

use std::path::Path;

use serde_json::{Map, Value, json};
use skidpad::core::{Model, SolverInfo};
use skidpad::lab::channels::column_names;
use skidpad::lab::compare::Outcome;
use skidpad::lab::files::{STANDARD_OUTPUT, write_atomically};
use skidpad::lab::lost_control::LostControl;
use skidpad::lab::manoeuvre::standard_of;
use skidpad::lab::measured_log::MeasuredLog;
use skidpad::lab::metrics::to_json;
use skidpad::lab::selection::Selection;
use skidpad::lab::telemetry_files::TelemetryFormat;
use skidpad::lab::{Comparison, TimeStep, Trajectory};
use std::sync::Arc;

use crate::arguments::History;
use crate::errors::{BadArgument, Unwritable};
use crate::failure::{Failure, Result};
use crate::measured_log::deviations_json;
use crate::output::printable_path;

/// Returns the selection of `history` for a car of `model` on `solver`.
///
/// # Errors
/// Names every channel that the car does not have.
pub fn select_channels(history: &History, solver: &SolverInfo, model: &Arc<Model>) -> Result<Selection, BadArgument> {
    let header = column_names(solver, model);
    let every = history.every.map_or(1, |every| every as usize);
    Selection::new(&header, &history.channels, every).map_err(|unknown| BadArgument {
        argument: "--channels",
        found: unknown.join(", "),
        accepts: "names of `skidpad list channels`, with the wheel, hitch or shaft behind a point, such as load_n.1l"
            .into(),
    })
}

/// Returns the numerical health of a run as a JSON object: the worst step report, time and place at which the car left
/// the ground, and time and reason of a lost control (spin or rollover). The last two are `null` if they did not
/// happen.
pub fn health(trajectory: &Trajectory) -> Value {
    let (worst_report, off_scene) = (trajectory.worst_report(), trajectory.off_scene());
    json!({
        "not_finite": worst_report.not_finite,
        "not_converged": worst_report.not_converged,
        "most_iterations": worst_report.iterations,
        "largest_residual_mps": worst_report.residual,
        "left_ground": off_scene.map(|event| json!({ "t_s": event.t_s, "x_m": event.x_m, "y_m": event.y_m })),
        "lost_control": LostControl::find(trajectory).map(|lost| json!({ "t_s": lost.t_s, "reason": lost.text() })),
    })
}

/// Returns the JSON object of the comparisons of a `vehicle`, with an entry for each run: metrics, health, time
/// histories of the selected channels, and deviations from a measured `log`. `histories` are the selections of the
/// solvers, each with the name of its solver. If no channels are selected, histories are empty.
pub fn comparison_json(
    vehicle: &str,
    dt: TimeStep,
    comparisons: &[Comparison],
    histories: &[(&str, Selection)],
    log: Option<&MeasuredLog>,
) -> Value {
    let run_json = |comparison: &Comparison, outcome: &Outcome| {
        let selected = histories.iter().find(|(solver, _)| *solver == outcome.backend);
        let history = selected.map_or(json!({}), |(_, selection)| history_json(&outcome.trajectory, selection));
        json!({
            "manoeuvre": comparison.manoeuvre,
            "about": comparison.about,
            "standard": standard_of(comparison.manoeuvre),
            "solver": outcome.backend,
            "reference": outcome.peer,
            "metrics": to_json(&outcome.metrics),
            "incomplete": outcome.incomplete.map(|reason| reason.text()),
            "health": health(&outcome.trajectory),
            "history": history,
            "log_deviations": log.map(|log| deviations_json(log, &outcome.trajectory)),
        })
    };
    let runs: Vec<Value> = comparisons
        .iter()
        .flat_map(|comparison| comparison.outcomes.iter().map(move |outcome| run_json(comparison, outcome)))
        .collect();
    json!({ "vehicle": vehicle, "rate_hz": 1.0 / dt.seconds(), "runs": runs })
}

/// Returns an object that maps the selected channels of a run to their values in the selected rows. The object is empty
/// if all channels are selected, which is the default.
fn history_json(trajectory: &Trajectory, selection: &Selection) -> Value {
    if !selection.is_restricted() {
        return json!({});
    }
    let names = selection.pick(trajectory.header());
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    for frame in trajectory.rows().step_by(selection.every()) {
        for (column, value) in columns.iter_mut().zip(selection.pick(&frame.row())) {
            column.push(value);
        }
    }
    Value::Object(names.into_iter().zip(columns).map(|(name, values)| (name, json!(values))).collect::<Map<_, _>>())
}

/// Returns the metrics of `cars`, pairs of a label and comparisons, as CSV text with the columns standard, group,
/// metric, value, units, description. The group is the manoeuvre and the solver, such as `braking/impulse`, followed by
/// `/label` unless the label of the car is empty. A metric without a value has an empty cell.
pub fn metrics_csv(cars: &[(&str, &[Comparison])]) -> Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let write_failure = |error: csv::Error| Failure::from_error(error);
    writer.write_record(["standard", "group", "metric", "value", "units", "description"]).map_err(write_failure)?;
    let runs = cars.iter().flat_map(|(label, comparisons)| comparisons.iter().map(move |run| (*label, run)));
    for (label, comparison) in runs {
        for outcome in &comparison.outcomes {
            let separator = if label.is_empty() { "" } else { "/" };
            let group = format!("{}/{}{separator}{label}", comparison.manoeuvre, outcome.backend);
            for metric in &outcome.metrics {
                // Adding 0.0 turns −0 into 0.
                let value = metric.value.map_or_else(String::new, |value| (value + 0.0).to_string());
                let standard = standard_of(comparison.manoeuvre);
                let cells = [standard, &group, &metric.name, &value, metric.unit, &metric.label];
                writer.write_record(cells).map_err(write_failure)?;
            }
        }
    }
    let bytes = writer.into_inner().map_err(Failure::from_error)?;
    String::from_utf8(bytes).map_err(Failure::from_error)
}

/// Writes `text` to the file `path`, completely or not at all, or to the standard output for `-`.
pub fn write(path: &Path, text: &str) -> Result<(), Unwritable> {
    write_atomically(path, |out| out.write_all(text.as_bytes())).map_err(Unwritable::from)
}

/// Returns whether one of `paths` is the standard output.
pub fn uses_standard_output<'a>(paths: impl IntoIterator<Item = &'a Path>) -> bool {
    paths.into_iter().any(|path| path == Path::new(STANDARD_OUTPUT))
}

/// Returns the format of the telemetry file `path`, by its ending. CSV is only accepted if `accepts_csv`, and not with
/// the ending `.json`. `argument` names the argument of the path in errors.
///
/// # Errors
/// A format that this build cannot write, CSV where it is not accepted, or a JSON file.
pub fn telemetry_format(
    argument: &'static str,
    path: &Path,
    accepts_csv: bool,
) -> Result<TelemetryFormat, BadArgument> {
    let reject = |accepts: String| BadArgument { argument, found: printable_path(path), accepts };
    match TelemetryFormat::of_path(path).map_err(reject)? {
        TelemetryFormat::Csv if !accepts_csv => {
            Err(reject("a file that ends in `.parquet` or `.mcap`; `skidpad run` writes CSV".into()))
        }
        TelemetryFormat::Csv if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json")) => {
            Err(reject("a CSV file, such as `run.csv`; `--metrics-json` writes JSON".into()))
        }
        format => Ok(format),
    }
}
