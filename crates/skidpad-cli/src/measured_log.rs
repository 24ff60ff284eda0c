//! Measured logs that are laid over runs, and the tables of their deviations.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use skidpad::core::{Model, SolverInfo};
use skidpad::lab::Trajectory;
use skidpad::lab::channels::{channel_of_column, column_names};
use skidpad::lab::measured_log::{ColumnMap, Deviation, MeasuredLog};
use skidpad::lab::trajectory::four_digits;
use skidpad::spec::LoadError;
use skidpad::spec::files::{FileKind, read_lossy};

use crate::arguments::LogOptions;
use crate::errors::{FaultList, Unreadable};
use crate::failure::Result;
use crate::output::{TABLE_INDENT, TextTable, printable_path};

/// Reads the log of `options` for a car of `model`; `None` if no log is named. The channels are those of `solver`.
///
/// # Errors
/// Reports a file that cannot be read, or all faults of the columns or of the log.
pub fn load(options: &LogOptions, solver: &SolverInfo, model: &Arc<Model>) -> Result<Option<MeasuredLog>> {
    let Some(path) = &options.log else { return Ok(None) };
    let map = ColumnMap::parse("--log-columns", &options.log_columns.join(",")).map_err(LoadError::from)?;
    let name = printable_path(path);
    let text = read_lossy(path, FileKind::Controls).map_err(|source| Unreadable { path: name.clone(), source })?;
    let channels = column_names(solver, model);
    let log = MeasuredLog::read(&name, &text, &map, options.log_start_s, &channels);
    let with_name = |fault| format!("{name}: {fault}");
    Ok(Some(log.map_err(|faults| FaultList::new(faults.into_iter().map(with_name).collect()))?))
}

/// Returns a title and the table of the deviations of `runs`, pairs of a name and telemetry, from `log`. Each channel
/// has a row with the root mean square of the differences and the largest difference of each run. Channels that no run
/// shares with the log are left out. If there is none, a text replaces the table.
pub fn deviation_table(log: &MeasuredLog, runs: &[(String, &Trajectory)]) -> String {
    let runs: Vec<(&String, Vec<Deviation>)> =
        runs.iter().map(|(name, trajectory)| (name, log.deviations(trajectory))).collect();
    // Right-aligned from column 2 on.
    let mut table = TextTable::new(2);
    let heads = runs.iter().map(|(name, _)| format!("{name}, rms / largest"));
    table.push_row(["channel".to_string(), "unit".into()].into_iter().chain(heads));
    let mut is_empty = true;
    for series in &log.series {
        let find =
            |list: &'_ Vec<Deviation>| list.iter().find(|deviation| deviation.channel == series.channel).cloned();
        let found: Vec<Option<Deviation>> = runs.iter().map(|(_, list)| find(list)).collect();
        if found.iter().all(Option::is_none) {
            continue;
        }
        is_empty = false;
        // Largest magnitude of the row, which determines the digits of all its cells.
        let largest = found.iter().flatten().fold(0.0, |peak: f64, deviation| peak.max(deviation.largest.abs()));
        let cells = found.into_iter().map(|deviation| match deviation {
            Some(deviation) => {
                let [rms, largest] = [deviation.rms, deviation.largest].map(|value| four_digits(value, largest));
                format!("{rms} / {largest}")
            }
            None => "-".into(),
        });
        let unit = channel_of_column(&series.channel).map_or("-", |channel| channel.unit);
        table.push_row([series.channel.clone(), unit.into()].into_iter().chain(cells));
    }
    let title = format!("\n  deviations from {}, simulated less measured", log.name);
    if is_empty {
        return format!("{title}: none, the log has no values during the run; set --log-start-s\n");
    }
    // Indent of 2 more spaces than the table of metrics.
    format!("{title}\n{}", table.to_text(2 * TABLE_INDENT))
}

/// Returns an object that maps the channels of `log` to their deviations from `run`: `rms`, `largest` and the number of
/// `values`.
pub fn deviations_json(log: &MeasuredLog, run: &Trajectory) -> Value {
    let entries = log.deviations(run).into_iter().map(|Deviation { channel, rms, largest, count }| {
        (channel, json!({ "rms": rms, "largest": largest, "values": count }))
    });
    Value::Object(entries.collect::<Map<_, _>>())
}
