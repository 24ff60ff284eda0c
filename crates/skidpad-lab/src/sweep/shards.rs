//! Shards: runs of a part of a sweep, and their files.
//!
//! A file has one line of JSON with format, manifest, number of the shard, columns and the hash of the rest, which is a
//! table in CSV.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value as Json, json};

use super::error::SweepError;
use super::parameter::Value;
use super::plan::{FORMAT, PlannedRun, Sweep};
use super::table::{CellType, Column, Role, RunTable};
use crate::canonical_json::sha256;
use crate::files::write_atomically;
use crate::metrics::Metric;

/// Columns before the parameters.
const RUN_COLUMNS: [(&str, CellType); 4] =
    [("id", CellType::Text), ("run", CellType::Integer), ("sample", CellType::Integer), ("solver", CellType::Text)];
/// Columns behind the metrics.
pub(super) const HEALTH_COLUMNS: [(&str, CellType); 5] = [
    ("not_finite", CellType::Flag),
    ("not_converged", CellType::Flag),
    ("left_ground", CellType::Text),
    ("incomplete", CellType::Text),
    ("fault", CellType::Text),
];
/// Number of digits of the hash of the manifest in the name of a file.
const NAME_DIGITS: usize = 12;
/// Ending of the names of shards.
pub(super) const SHARD_ENDING: &str = "shard";

/// Results of a run that was simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct RunResults {
    /// Metrics.
    pub metrics: Vec<Metric>,
    /// Whether a value was not finite.
    pub not_finite: bool,
    /// Whether a step did not converge.
    pub not_converged: bool,
    /// Time and place at which the car left the ground; empty if it did not.
    pub left_ground: String,
    /// Reason why the car did not finish its course; empty if it did.
    pub incomplete: String,
}

/// Run with its results, or with the fault that prevented it.
#[derive(Clone, Debug, PartialEq)]
pub struct FinishedRun {
    /// Run.
    pub plan: PlannedRun,
    /// Results, or the text of the fault.
    pub results: Result<RunResults, String>,
}

/// State of the file of a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShardState {
    /// No file.
    Missing,
    /// File that cannot be read, or lacks runs.
    Torn,
    /// File with all runs.
    Complete,
}

/// Content of the file of a shard.
pub(super) struct ShardFile {
    /// Format of the file.
    format: String,
    /// Hash of the manifest.
    manifest: String,
    /// Table of the runs; `None` if it is torn.
    pub table: Option<RunTable>,
}

impl ShardFile {
    /// Reads the file at `path`; `None` if it cannot be read, or if its first line, the header, is torn or lacks a key.
    /// The table is `None` if the hash in the header does not fit to the rest, or if the rest is no table with the
    /// columns of the header.
    pub fn read(path: &Path) -> Option<Self> {
        let bytes = std::fs::read(path).ok()?;
        let line_end = bytes.iter().position(|byte| *byte == b'\n')?;
        let (line, rest) = (&bytes[..line_end], &bytes[line_end + 1..]);
        let header: Json = serde_json::from_slice(line).ok()?;
        let text = |key: &str| header.get(key)?.as_str().map(str::to_owned);
        let is_intact = text("sha256")? == sha256(rest);
        let table = if is_intact { RunTable::read(header.get("columns")?, rest) } else { None };
        Some(Self { format: text("format")?, manifest: text("manifest")?, table })
    }

    /// Returns the fault of a file of another format or of another sweep than `sweep`; `None` if the file belongs to
    /// `sweep`. `path` is the path of the file, for the text.
    pub fn fault(&self, sweep: &Sweep, path: &Path) -> Option<String> {
        let path = path.display();
        if self.format != FORMAT {
            return Some(format!(
                "{path} is no shard of the format `{FORMAT}`, but of `{}`; move it away",
                self.format
            ));
        }
        let short = |hash: &str| hash.chars().take(NAME_DIGITS).collect::<String>();
        let (found, own) = (short(&self.manifest), short(sweep.hash()));
        (self.manifest != sweep.hash())
            .then(|| format!("{path} belongs to the sweep {found}, not to {own}; move it away"))
    }
}

impl Sweep {
    /// Returns the path of the file of a shard; its name contains the hash of the manifest.
    pub fn shard_path(&self, index: u64, folder: &Path) -> PathBuf {
        let hash: String = self.hash().chars().take(NAME_DIGITS).collect();
        folder.join(format!("shard-{index:06}-{hash}.{SHARD_ENDING}"))
    }

    /// Returns the state of the file of the shard `index` in `folder`. The file is complete if its identifiers are
    /// those of the planned runs. It is torn if it cannot be read or has another number of runs.
    ///
    /// # Errors
    /// Returns an error if the file belongs to another sweep, or has as many runs, but with other identifiers.
    pub fn shard_state(&self, index: u64, folder: &Path) -> Result<ShardState, SweepError> {
        let path = self.shard_path(index, folder);
        if !path.exists() {
            return Ok(ShardState::Missing);
        }
        let Some(file) = ShardFile::read(&path) else { return Ok(ShardState::Torn) };
        if let Some(fault) = file.fault(self, &path) {
            return Err(SweepError::one(fault));
        }
        let Some(table) = file.table else { return Ok(ShardState::Torn) };
        let found: Vec<&str> = table.rows.iter().filter_map(|row| row.first()).map(String::as_str).collect();
        let expected: Vec<String> = self.shard(index).map(|number| self.run(number).id).collect();
        if found.len() != expected.len() {
            return Ok(ShardState::Torn);
        }
        if found != expected {
            let path = path.display();
            let remedy = "remove it, or use one platform for all shards";
            return Err(SweepError::one(format!("{path} has other runs than this program plans: {remedy}")));
        }
        Ok(ShardState::Complete)
    }

    /// Writes the file of a shard with all its `runs`, completely or not at all: a line of JSON (format, hash of the
    /// manifest, number of the shard, SHA-256 of the rest, columns), then the table as CSV. Replaces an existing file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, if a metric has several units, or if a parameter has the name of
    /// a column of results.
    pub(super) fn write_shard(&self, index: u64, runs: &[FinishedRun], folder: &Path) -> Result<(), SweepError> {
        let table = self.shard_table(runs)?;
        let mut csv_text = Vec::new();
        let path = self.shard_path(index, folder);
        let unwritten = |reason| crate::files::WriteError { path: path.clone(), reason };
        table.write_csv(&mut csv_text).map_err(unwritten)?;
        let header = json!({
            "format": FORMAT,
            "manifest": self.hash(),
            "shard": index,
            "sha256": sha256(&csv_text),
            "columns": table.columns_json(),
        });
        write_atomically(&path, |out| {
            writeln!(out, "{header}")?;
            out.write_all(&csv_text)
        })?;
        Ok(())
    }

    /// Returns the table of the finished `runs` of a shard, a row for each run. The columns are those of the run, the
    /// parameters, the metrics of any of the runs, and the health.
    ///
    /// # Errors
    /// Returns an error if a metric has several units, or if a parameter has the name of a column of results.
    pub fn shard_table(&self, runs: &[FinishedRun]) -> Result<RunTable, SweepError> {
        let metrics = metric_columns(runs)?;
        let mut columns: Vec<Column> =
            RUN_COLUMNS.iter().map(|(name, cell_type)| Column::new(name, Role::Run, *cell_type)).collect();
        columns.extend(self.parameters().iter().map(|entry| {
            let mut column = Column::new(&entry.name, Role::Parameter, value_type(&entry.parameter.typical_value()));
            column.unit = entry.target.unit();
            column
        }));
        columns.extend(metrics.iter().cloned());
        columns.extend(HEALTH_COLUMNS.iter().map(|(name, cell_type)| Column::new(name, Role::Health, *cell_type)));
        let mut names = std::collections::BTreeSet::new();
        let repeated = columns.iter().filter(|column| !names.insert(column.name.as_str()));
        let faults: Vec<String> = repeated
            .map(|column| format!("`{}` is a parameter and a column of results; write its whole path", column.name))
            .collect();
        if !faults.is_empty() {
            return Err(SweepError::Faults(faults));
        }
        let rows = runs.iter().map(|run| self.row(run, &metrics)).collect();
        Ok(RunTable { columns, rows })
    }

    /// Returns the row of a run. Its cells are: identifier, number of the run, number of the sample, name of the
    /// solver; values of the parameters; values of `metrics`, the columns of metrics of the table; `not_finite`,
    /// `not_converged`, `left_ground`, `incomplete`, `fault`.
    ///
    /// A metric without a value is an empty cell. The fault of a run with results is empty. For a run with a fault all
    /// cells of metrics and health are empty, except for the last one with the fault.
    fn row(&self, run: &FinishedRun, metrics: &[Column]) -> Vec<String> {
        let PlannedRun { number, id, sample, solver, values } = &run.plan;
        let mut row = vec![id.clone(), number.to_string(), sample.to_string(), self.solvers()[*solver].name.into()];
        row.extend(values.iter().map(value_text));
        let results = run.results.as_ref().ok();
        let metric_values: BTreeMap<&str, Option<f64>> = results
            .map(|results| results.metrics.iter().map(|metric| (metric.name.as_str(), metric.value)).collect())
            .unwrap_or_default();
        row.extend(metrics.iter().map(|column| {
            let value = metric_values.get(column.name.as_str()).copied().flatten();
            value.map_or_else(String::new, number_text)
        }));
        match &run.results {
            Ok(RunResults { not_finite, not_converged, left_ground, incomplete, .. }) => row.extend([
                not_finite.to_string(),
                not_converged.to_string(),
                left_ground.clone(),
                incomplete.clone(),
                String::new(),
            ]),
            Err(fault) => row.extend([String::new(), String::new(), String::new(), String::new(), fault.clone()]),
        }
        row
    }
}

/// Returns the columns of all metrics of `runs`, in the order of their first occurrence.
///
/// # Errors
/// Returns an error if a metric has several units.
fn metric_columns(runs: &[FinishedRun]) -> Result<Vec<Column>, SweepError> {
    let mut columns: Vec<Column> = Vec::new();
    for metric in runs.iter().filter_map(|run| run.results.as_ref().ok()).flat_map(|results| &results.metrics) {
        match columns.iter().find(|column| column.name == metric.name) {
            None => {
                let mut column = Column::new(&metric.name, Role::Metric, CellType::Number);
                (column.unit, column.label) = (metric.unit.into(), metric.label.clone());
                columns.push(column);
            }
            Some(column) if column.unit != metric.unit => {
                let (name, units) = (&metric.name, [column.unit.as_str(), metric.unit].join(" and "));
                return Err(SweepError::one(format!("metric `{name}` has the units {units} in one sweep")));
            }
            Some(_) => {}
        }
    }
    Ok(columns)
}

/// Returns the type of a column with values such as `value`.
fn value_type(value: &Value) -> CellType {
    match value {
        Value::Flag(_) => CellType::Flag,
        Value::Integer(_) => CellType::Integer,
        Value::Number(_) => CellType::Number,
        Value::Text(_) => CellType::Text,
    }
}

/// Returns the cell of a value.
fn value_text(value: &Value) -> String {
    match value {
        Value::Flag(flag) => flag.to_string(),
        Value::Integer(integer) => integer.to_string(),
        Value::Number(number) => number_text(*number),
        Value::Text(text) => text.clone(),
    }
}

/// Returns a number with all its digits; −0 becomes 0.
fn number_text(number: f64) -> String {
    (number + 0.0).to_string()
}
