//! Comparison with checked arguments: its manoeuvres, tables and reports.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use skidpad::core::SolverInfo;
use skidpad::lab::manoeuvre::{ManoeuvreEntry, catalogue};
use skidpad::lab::measured_log::MeasuredLog;
use skidpad::lab::report::{InputFile, Report};
use skidpad::lab::road_test::road_test_of_manoeuvres;
use skidpad::lab::{Comparison, Overrides, Procedure, TimeStep};
use skidpad::spec::LoadedVehicle;
use skidpad::spec::printable::one_line;

use crate::arguments::{Changes, Compare};
use crate::errors::{self, Unwritable};
use crate::export;
use crate::failure::{Failure, Result};
use crate::measured_log::deviation_table;
use crate::output::{TABLE_INDENT, Table, print, print_error, printable_path};
use crate::run::{SCENE_MANOEUVRE, assists_table, check_parameters, create_progress_bar, report_health, resolve_setup};

/// Returns the exit code of [`report_health`] for all runs of `comparisons`, after its warnings.
pub fn health_code(comparisons: &[Comparison]) -> ExitCode {
    let outcomes = comparisons.iter().flat_map(|comparison| &comparison.outcomes);
    report_health(outcomes.map(|outcome| (outcome.backend, outcome.peer, &outcome.trajectory, outcome.incomplete)))
}

/// Returns whether `names` stand for all manoeuvres.
pub fn is_all(names: &[String]) -> bool {
    matches!(names, [name] if name == ALL_MANOEUVRES)
}

/// Name that stands for all manoeuvres.
const ALL_MANOEUVRES: &str = "all";

/// Comparison with checked arguments.
pub struct Study<'a> {
    /// Arguments.
    pub arguments: &'a Compare,
    /// Vehicle with its changed fields.
    pub vehicle: LoadedVehicle,
    /// Step.
    pub dt: TimeStep,
    /// Changes of start and ground.
    pub overrides: Overrides,
    /// Solvers.
    pub backends: Vec<SolverInfo>,
    /// Files that the runs depend on.
    pub inputs: Vec<InputFile>,
    /// Measured log that is laid over the runs; `None` without one.
    pub log: Option<MeasuredLog>,
}

impl Study<'_> {
    /// Builds the manoeuvres of the arguments and checks their parameters and their start. Of all manoeuvres, those that do not accept the
    /// changed start are left out with a warning; of named ones they are an error.
    pub fn manoeuvres(&self) -> Result<Vec<Box<dyn Procedure>>> {
        let Compare { manoeuvre, changes, .. } = self.arguments;
        let build = |entry: &ManoeuvreEntry| -> Result<Box<dyn Procedure>> {
            let built = entry.build_standard(&self.overrides);
            resolve_setup(built.as_ref(), &self.vehicle.model, &self.overrides, changes, &[self.dt])?;
            Ok(built)
        };
        if !is_all(manoeuvre) {
            let names = manoeuvre_names(manoeuvre, changes);
            let entries = names.iter().map(|name| errors::find_manoeuvre(name)).collect::<Result<Vec<_>, _>>()?;
            check_parameters(&self.overrides, &entries)?;
            return entries.into_iter().map(build).collect();
        }
        check_parameters(&self.overrides, &catalogue().collect::<Vec<_>>())?;
        let mut accepted = Vec::new();
        for entry in catalogue() {
            match build(entry) {
                Ok(built) => accepted.push(built),
                Err(_) => print_error(&format!("warning: {} does not accept this start and is left out", entry.name)),
            }
        }
        Ok(accepted)
    }

    /// Prints `text`, unless an export uses the standard output, with which tables would mix.
    pub fn print_table(&self, text: &str) -> Result<()> {
        let has_tables = !export::uses_standard_output(export_paths(self.arguments).map(|(_, path)| path));
        if has_tables { print(text) } else { Ok(()) }
    }

    /// Prints the name of the vehicle and the step rate.
    pub fn print_title(&self) -> Result<()> {
        let name = one_line(&self.vehicle.spec.name);
        self.print_table(&format!("{name}, {:.1} Hz\n", 1.0 / self.dt.seconds()))
    }

    /// Simulates a manoeuvre on each solver with a progress bar, and prints its table.
    ///
    /// # Errors
    /// The temporary file with the telemetry could not be written or read.
    pub fn drive(&self, manoeuvre: &dyn Procedure) -> Result<Comparison> {
        // The progress sets the length.
        let progress_bar = create_progress_bar(0);
        progress_bar.set_message(manoeuvre.name());
        let model = Arc::clone(&self.vehicle.model);
        let comparison =
            skidpad::lab::compare(&self.backends, &model, manoeuvre, &self.overrides, self.dt, &|progress| {
                progress_bar.set_length(progress.total);
                progress_bar.set_position(progress.done);
            });
        progress_bar.finish_and_clear();
        for outcome in &comparison.outcomes {
            outcome.trajectory.check().map_err(Failure::from_error)?;
        }
        self.print_table(&comparison_table(&comparison))?;
        if let Some(log) = &self.log {
            let runs = comparison.outcomes.iter().map(|outcome| (outcome.backend, &outcome.trajectory));
            self.print_table(&deviation_table(log, runs))?;
        }
        Ok(comparison)
    }

    /// Writes the HTML report and the CSV table of `comparisons`, and prints their paths. Published figures of the
    /// manoeuvres are driven for the report.
    pub fn save_report(&self, comparisons: &[Comparison], [page_path, csv_path]: &[PathBuf; 2]) -> Result<()> {
        let solvers: Vec<SolverInfo> = self.backends.iter().filter(|info| !info.comparison_only).copied().collect();
        let manoeuvres: Vec<&str> = comparisons.iter().map(|comparison| comparison.manoeuvre).collect();
        let references = &self.vehicle.spec.references;
        let published = road_test_of_manoeuvres(&solvers, &self.vehicle.model, references, &manoeuvres, self.dt);
        let report = Report {
            vehicle: &self.vehicle.spec.name,
            description: &self.vehicle.spec.description,
            model: &self.vehicle.model,
            published: &published,
            backends: &self.backends,
            comparisons,
            inputs: &self.inputs,
            log: self.log.as_ref(),
        };
        report.save_html(page_path).map_err(Unwritable::from)?;
        report.save_csv(csv_path).map_err(Unwritable::from)?;
        self.print_table(&format!("\nreport   {}\nmetrics  {}\n", printable_path(page_path), printable_path(csv_path)))
    }
}

/// Returns the exports as pairs of argument and path: `--json` and `--metrics-csv`, those that are given.
pub fn export_paths(arguments: &Compare) -> impl Iterator<Item = (&'static str, &Path)> {
    let paths = [("--json", arguments.json.as_deref()), ("--metrics-csv", arguments.metrics_csv.as_deref())];
    paths.into_iter().filter_map(|(argument, path)| Some((argument, path?)))
}

/// Returns the manoeuvres `names`, unchecked. Without names returns step steer and braking, or [`SCENE_MANOEUVRE`] if
/// there is a scene.
pub fn manoeuvre_names(names: &[String], changes: &Changes) -> Vec<String> {
    match (names, &changes.scene) {
        ([], None) => ["step-steer", "braking"].map(String::from).into(),
        ([], Some(_)) => vec![SCENE_MANOEUVRE.into()],
        _ => names.to_vec(),
    }
}

/// Returns the table of a comparison: figures in rows, a column for each solver, and the spread between the solvers
/// that are no peers. Peers are marked with `*`. The tables of assists follow. A footnote explains `*` if there is a
/// peer. The title names and describes the manoeuvre.
fn comparison_table(comparison: &Comparison) -> String {
    // Right-aligned from column 1 on.
    let mut table = Table::new(1);
    // Heads of the columns.
    let column_heads = comparison
        .outcomes
        .iter()
        .map(|outcome| if outcome.peer { format!("{}*", outcome.backend) } else { outcome.backend.into() });
    // The column of the labels has no head.
    table.push_row(["".to_string(), "unit".into()].into_iter().chain(column_heads).chain(["spread".to_string()]));
    for row in comparison.rows() {
        let leading_cells = [row.metric.label.clone(), row.metric.unit.to_string()];
        table.push_row(leading_cells.into_iter().chain(row.texts.iter().cloned()).chain([row.spread.text()]));
    }
    let mut text = format!("\n{}: {}\n\n{}", comparison.manoeuvre, comparison.about, table.to_text(TABLE_INDENT));
    if comparison.outcomes.iter().any(|outcome| outcome.peer) {
        text.push_str("  * reference vehicle or variant, not counted in the spread\n");
    }
    for outcome in &comparison.outcomes {
        text.push_str(&assists_table(outcome.backend, &outcome.trajectory));
    }
    text
}

/// Returns the paths of the HTML report and the CSV table called `stem` in `folder`, after checking that they can be
/// written.
pub fn result_paths(folder: &Path, stem: &str) -> Result<[PathBuf; 2], Unwritable> {
    let paths = ["html", "csv"].map(|extension| folder.join(format!("{stem}.{extension}")));
    errors::check_writable(paths.iter().map(PathBuf::as_path))?;
    Ok(paths)
}

/// Returns the file stem of a report from the name or path of a vehicle and the manoeuvres, such as
/// `corvette_c5_step-steer_braking`.
pub fn file_stem(vehicle: &str, manoeuvres: &[String]) -> String {
    let name = Path::new(vehicle).file_stem().map_or_else(|| "vehicle".into(), |stem| stem.to_string_lossy());
    format!("{name}_{}", manoeuvres.join("_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_what_is_in_them() {
        let names = ["step-steer".to_string(), "braking".to_string()];
        assert_eq!(file_stem("corvette_c5", &names), "corvette_c5_step-steer_braking");
        assert_eq!(file_stem("my/cars/van.toml", &names[..1]), "van_step-steer");
    }
}
