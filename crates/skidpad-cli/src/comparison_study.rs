//! Comparison with checked arguments: its manoeuvres, tables and reports.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use skidpad::core::SolverInfo;
use skidpad::lab::change::MetricChange;
use skidpad::lab::compare::Outcome;
use skidpad::lab::manoeuvre::{ManoeuvreEntry, catalogue};
use skidpad::lab::measured_log::MeasuredLog;
use skidpad::lab::report::{InputFile, Report, ReportedCar};
use skidpad::lab::road_test::{RoadTest, road_test_of_manoeuvres};
use skidpad::lab::{Comparison, Overrides, Procedure, TimeStep, Trajectory};
use skidpad::spec::LoadedVehicle;
use skidpad::spec::printable::one_line;

use crate::arguments::{Changes, Compare};
use crate::capabilities::check_named;
use crate::errors::{self, Unwritable};
use crate::export;
use crate::failure::{Failure, Result};
use crate::measured_log::deviation_table;
use crate::output::{TABLE_INDENT, TextTable, print, print_error, printable_path};
use crate::run::{
    SCENE_MANOEUVRE, assists_table, check_parameters, create_progress_bar, report_health, resolve_setup, show_progress,
};

/// Prints the warnings of [`report_health`] about all runs of `comparisons`, and returns its exit code. Reference
/// vehicles do not count for the code.
pub fn health_code<'a>(comparisons: impl IntoIterator<Item = &'a Comparison>) -> ExitCode {
    report_health(comparisons.into_iter().flat_map(|comparison| &comparison.outcomes), false)
}

/// Returns whether `names` stand for all manoeuvres.
pub fn is_all(names: &[String]) -> bool {
    matches!(names, [name] if name == ALL_MANOEUVRES)
}

/// Name that stands for all manoeuvres.
const ALL_MANOEUVRES: &str = "all";

/// Car of a study.
pub struct StudyCar {
    /// Name of the shipped vehicle, or path of its file.
    pub name: String,
    /// Label that distinguishes the car from the other one; empty for one car.
    pub label: String,
    /// Vehicle with its changed fields.
    pub vehicle: LoadedVehicle,
    /// Changed fields, as `FIELD=VALUE`.
    pub changes: Vec<String>,
    /// Changes of start and ground, with the trailers.
    pub overrides: Overrides,
}

impl StudyCar {
    /// Returns the car as reports show it: label, name and description of the vehicle, model, changed fields, `name` as
    /// shipped name (or path of the file), and `comparisons`. Changes of start and ground are left out.
    fn reported<'a>(&'a self, comparisons: &'a [Comparison]) -> ReportedCar<'a> {
        ReportedCar {
            label: &self.label,
            vehicle: &self.vehicle.spec.name,
            description: &self.vehicle.spec.description,
            model: &self.vehicle.model,
            changes: &self.changes,
            shipped_name: &self.name,
            comparisons,
        }
    }
}

/// Comparison with checked arguments.
pub struct Study<'a> {
    /// Arguments.
    pub arguments: &'a Compare,
    /// Car.
    pub car: StudyCar,
    /// Car to compare with; `None` for one car.
    pub before: Option<StudyCar>,
    /// Step.
    pub dt: TimeStep,
    /// Solvers.
    pub backends: Vec<SolverInfo>,
    /// Files that the runs depend on.
    pub inputs: Vec<InputFile>,
    /// Measured log that is laid over the runs; `None` without one.
    pub log: Option<MeasuredLog>,
}

/// Runs of a study: a comparison for each manoeuvre.
#[derive(Default)]
pub struct StudyRuns {
    /// Runs of the car.
    pub car: Vec<Comparison>,
    /// Runs of the car to compare with; empty for one car.
    pub before: Vec<Comparison>,
}

impl StudyRuns {
    /// Adds the runs of a manoeuvre: those of the car, and of the car to compare with.
    pub fn push(&mut self, (car, before): (Comparison, Option<Comparison>)) {
        self.car.push(car);
        self.before.extend(before);
    }

    /// Iterates over the comparisons of all cars.
    pub fn comparisons(&self) -> impl Iterator<Item = &Comparison> {
        self.before.iter().chain(&self.car)
    }
}

impl Study<'_> {
    /// Builds the manoeuvres of the arguments, and checks their parameters, and the start and the solvers for every
    /// car. A named manoeuvre that does not accept the start or a named solver is an error. If all manoeuvres are
    /// driven, such a manoeuvre is left out with a warning.
    pub fn manoeuvres(&self) -> Result<Vec<Box<dyn Procedure>>> {
        let Compare { manoeuvre, changes, .. } = self.arguments;
        let build = |entry: &ManoeuvreEntry| -> Result<Box<dyn Procedure>> {
            let built = entry.build_standard(&self.car.overrides);
            for car in self.cars() {
                let setup = resolve_setup(built.as_ref(), &car.vehicle.model, &car.overrides, changes, &[self.dt])?;
                check_named(&self.arguments.solvers, &self.backends, built.as_ref(), &setup)?;
            }
            Ok(built)
        };
        if !is_all(manoeuvre) {
            let names = manoeuvre_names(manoeuvre, changes);
            let entries = names.iter().map(|name| errors::find_manoeuvre(name)).collect::<Result<Vec<_>, _>>()?;
            check_parameters(&self.car.overrides, &entries)?;
            return entries.into_iter().map(build).collect();
        }
        check_parameters(&self.car.overrides, &catalogue().collect::<Vec<_>>())?;
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

    /// Iterates over the cars: the one to compare with first, if there is one.
    pub fn cars(&self) -> impl Iterator<Item = &StudyCar> {
        self.before.iter().chain([&self.car])
    }

    /// Returns the stem of the file names of the report on `manoeuvres`, such as
    /// `corvette_c5_against_bmw_320i_mf_braking`. The part with `against` is missing for one car.
    pub fn file_stem(&self, manoeuvres: &[String]) -> String {
        let against =
            self.before.as_ref().map_or_else(String::new, |car| format!("_against_{}", vehicle_stem(&car.name)));
        format!("{}{against}_{}", vehicle_stem(&self.car.name), manoeuvres.join("_"))
    }

    /// Prints the names of the vehicles and the step rate.
    pub fn print_title(&self) -> Result<()> {
        let name = |car: &StudyCar| one_line(&car.vehicle.spec.name).into_owned();
        let against = self.before.as_ref().map_or_else(String::new, |car| {
            format!(" ({}) against {} ({})", one_line(&self.car.label), name(car), one_line(&car.label))
        });
        self.print_table(&format!("{}{against}, {:.1} Hz\n", name(&self.car), 1.0 / self.dt.seconds()))
    }

    /// Simulates a manoeuvre with each car on each solver with a progress bar, and prints its table and, with a
    /// measured log, the deviations from the log. Returns the runs of the car, and of the car to compare with (`None`
    /// for one car).
    ///
    /// # Errors
    /// The temporary file with the telemetry could not be written or read.
    pub fn drive(&self, manoeuvre: &dyn Procedure) -> Result<(Comparison, Option<Comparison>)> {
        let before = self.before.as_ref().map(|car| self.drive_car(car, manoeuvre)).transpose()?;
        let comparison = self.drive_car(&self.car, manoeuvre)?;
        self.print_table(&match (&before, &self.before) {
            (Some(before), Some(car)) => change_table([&car.label, &self.car.label], [before, &comparison]),
            _ => comparison_table(&comparison),
        })?;
        if let Some(log) = &self.log {
            let labelled = |label: &str, outcome: &Outcome| {
                if label.is_empty() { outcome.backend.to_owned() } else { format!("{label}, {}", outcome.backend) }
            };
            let pairs = before.iter().zip(&self.before).map(|(comparison, car)| (comparison, &car.label));
            let runs: Vec<(String, &Trajectory)> = pairs
                .chain([(&comparison, &self.car.label)])
                .flat_map(|(comparison, label)| {
                    comparison.outcomes.iter().map(move |outcome| (labelled(label, outcome), &outcome.trajectory))
                })
                .collect();
            self.print_table(&deviation_table(log, &runs))?;
        }
        Ok((comparison, before))
    }

    /// Simulates a manoeuvre of one car on each solver with a progress bar.
    ///
    /// # Errors
    /// The temporary file with the telemetry could not be written or read.
    fn drive_car(&self, car: &StudyCar, manoeuvre: &dyn Procedure) -> Result<Comparison> {
        // The progress sets the length.
        let progress_bar = create_progress_bar(0);
        progress_bar.set_message(manoeuvre.name());
        let model = &car.vehicle.model;
        let comparison =
            skidpad::lab::compare(&self.backends, model, manoeuvre, &car.overrides, self.dt, &|progress| {
                show_progress(&progress_bar, progress)
            });
        progress_bar.finish_and_clear();
        for outcome in &comparison.outcomes {
            outcome.trajectory.check().map_err(Failure::from_error)?;
        }
        Ok(comparison)
    }

    /// Writes the HTML report and the CSV table of `runs`, and prints their paths. For a report about one car, first
    /// drives the published figures that belong to the manoeuvres.
    pub fn save_report(&self, runs: &StudyRuns, [page_path, csv_path]: &[PathBuf; 2]) -> Result<()> {
        let before = self.before.as_ref().map(|car| car.reported(&runs.before));
        let published = if before.is_some() { RoadTest::default() } else { self.drive_published_figures(&runs.car) };
        let report = Report {
            car: self.car.reported(&runs.car),
            before,
            published: &published,
            backends: &self.backends,
            inputs: &self.inputs,
            log: self.log.as_ref(),
        };
        report.save_html(page_path).map_err(Unwritable::from)?;
        report.save_csv(csv_path).map_err(Unwritable::from)?;
        self.print_table(&format!("\nreport   {}\nmetrics  {}\n", printable_path(page_path), printable_path(csv_path)))
    }

    /// Drives the published figures that belong to the manoeuvres of `comparisons`, on the solvers that are no
    /// reference vehicles.
    fn drive_published_figures(&self, comparisons: &[Comparison]) -> RoadTest {
        let solvers: Vec<SolverInfo> = self.backends.iter().filter(|info| !info.comparison_only).copied().collect();
        let manoeuvres: Vec<&str> = comparisons.iter().map(|comparison| comparison.manoeuvre).collect();
        let LoadedVehicle { model, spec, .. } = &self.car.vehicle;
        road_test_of_manoeuvres(&solvers, model, &spec.references, &manoeuvres, self.dt)
    }
}

/// Returns the exports that are given as pairs of argument and path, in the order `--json`, `--metrics-csv`,
/// `--telemetry`.
pub fn export_paths(arguments: &Compare) -> impl Iterator<Item = (&'static str, &Path)> {
    let paths = [
        ("--json", arguments.json.as_deref()),
        ("--metrics-csv", arguments.metrics_csv.as_deref()),
        ("--telemetry", arguments.telemetry.as_deref()),
    ];
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

/// Returns the title and description of a manoeuvre, and its table: metrics in rows, a column for each solver, and the
/// spread. Peers (reference vehicles and variants) are marked with `*`, do not count in the spread, and are explained
/// by a footnote. The tables of the assists of each solver follow.
fn comparison_table(comparison: &Comparison) -> String {
    // Right-aligned from column 1 on.
    let mut table = TextTable::new(1);
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

/// Returns the table of the metrics of two cars with the labels `labels`, before and after a change. The columns are
/// the values on the first solver that is no peer, or otherwise on the first, their difference, the difference in %,
/// and the larger spread of the solvers of both cars.
fn change_table(labels: [&str; 2], [before, after]: [&Comparison; 2]) -> String {
    // Right-aligned from column 1 on.
    let mut table = TextTable::new(1);
    table.push_row(["", "unit", labels[0], labels[1], "difference", "%", "spread"]);
    let metrics =
        |comparison: &Comparison| comparison.main_outcome().map_or(Vec::new(), |outcome| outcome.metrics.clone());
    for change in MetricChange::list(&metrics(before), &metrics(after)) {
        let spread = Comparison::larger_spread([before, after], &change.before.name);
        table.push_row([
            change.before.label.clone(),
            change.before.unit.to_owned(),
            change.before.text(),
            change.after.text(),
            change.difference_text(),
            change.percent_text(),
            spread.text(),
        ]);
    }
    let solver = before.main_outcome().map_or("", |outcome| outcome.backend);
    let about = &after.about;
    format!("\n{}: {about}\n\n{}  values of {solver}\n", after.manoeuvre, table.to_text(TABLE_INDENT))
}

/// Returns the paths of the HTML report and the CSV table called `stem` in `folder`, after checking that they can be
/// written.
pub fn result_paths(folder: &Path, stem: &str) -> Result<[PathBuf; 2], Unwritable> {
    let paths = ["html", "csv"].map(|extension| folder.join(format!("{stem}.{extension}")));
    errors::check_writable(paths.iter().map(PathBuf::as_path))?;
    Ok(paths)
}

/// Returns the stem of file names for the vehicle called `name`, or for the vehicle file at this path; `vehicle` if the
/// path has no file name.
pub fn vehicle_stem(name: &str) -> String {
    Path::new(name).file_stem().map_or_else(|| "vehicle".into(), |stem| stem.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_after_what_is_in_them() {
        assert_eq!(vehicle_stem("corvette_c5"), "corvette_c5");
        assert_eq!(vehicle_stem("my/cars/van.toml"), "van");
    }
}
