//! `skidpad compare`: runs manoeuvres on several solvers, prints tables and writes a report.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use skidpad::core::SolverInfo;
use skidpad::lab::manoeuvre::catalogue;
use skidpad::lab::report::{InputFile, Published, Report};
use skidpad::lab::selection::Selection;
use skidpad::lab::{Comparison, Overrides, Procedure, TimeStep};
use skidpad::spec::printable::one_line;
use skidpad::spec::{LoadError, LoadedVehicle};

use crate::arguments::{Changes, Compare};
use crate::capabilities::capable_backends;
use crate::errors::{self, BadArgument, Unwritable};
use crate::export;
use crate::failure::{Failure, Result};
use crate::output::{TABLE_INDENT, Table, print, print_error, print_notes, printable_path};
use crate::roots::load_vehicle;
use crate::run::{
    SCENE_MANOEUVRE, assists_table, check_tyre_files, create_progress_bar, overrides_with_files, parse_time_step,
    report_health, resolve_setup,
};
use crate::separate_reports;

/// Simulates the manoeuvres on each solver, prints a table for each manoeuvre and writes the HTML report and the CSV
/// table. Returns the exit code of [`report_health`]. All arguments, files and output paths are checked before the
/// first run. With [`Compare::separate`] each manoeuvre has a report of its own.
pub fn compare(arguments: &Compare) -> Result<ExitCode> {
    let backends = select_solvers(&arguments.solvers)?;
    let vehicle = load_vehicle(&arguments.vehicle, &arguments.changes.roots, &arguments.vehicle_changes)?;
    print_notes(&vehicle);
    let dt = parse_time_step(&arguments.step)?;
    let (overrides, ground_files) = overrides_with_files(&arguments.changes, &vehicle.model)?;
    let inputs = input_files(arguments, &vehicle, &ground_files)?;
    let backends = capable_backends(backends, !arguments.solvers.is_empty(), &overrides)?;
    check_exports(arguments, &vehicle)?;
    let published = published_figures(&vehicle);
    let study = Study { arguments, vehicle, dt, overrides, backends, inputs, published };
    let manoeuvres = study.manoeuvres()?;
    let select_channels = |info| export::select_channels(&arguments.history, info, &study.vehicle.model, dt);
    let selections: Vec<Selection> = study.backends.iter().map(select_channels).collect::<Result<_, _>>()?;
    if arguments.separate || is_all(&arguments.manoeuvre) {
        if let Some((argument, path)) = export_paths(arguments).next() {
            let accepts =
                "named manoeuvres in one report, without `all`; separate reports have a CSV table each".into();
            return Err(BadArgument { argument, found: printable_path(path), accepts }.into());
        }
        return separate_reports::compare_separately(&study, &manoeuvres);
    }
    let names = manoeuvre_names(&arguments.manoeuvre, &arguments.changes);
    let paths = result_paths(&arguments.out, &file_stem(&arguments.vehicle, &names))?;
    study.print_title()?;
    let mut comparisons = Vec::new();
    for manoeuvre in &manoeuvres {
        comparisons.push(study.drive(manoeuvre.as_ref())?);
    }
    study.save_report(&comparisons, &paths)?;
    write_exports(arguments, &study.vehicle, dt, &comparisons, &selections)?;
    Ok(health_code(&comparisons))
}

/// Returns the exit code of [`report_health`] for all runs of `comparisons`, after its warnings.
pub fn health_code(comparisons: &[Comparison]) -> ExitCode {
    let outcomes = comparisons.iter().flat_map(|comparison| &comparison.outcomes);
    report_health(outcomes.map(|outcome| (outcome.backend, outcome.peer, &outcome.trajectory, outcome.incomplete)))
}

/// Returns whether `names` stand for all manoeuvres.
fn is_all(names: &[String]) -> bool {
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
    /// Published figures of the real car.
    published: Vec<Published>,
}

impl Study<'_> {
    /// Builds the manoeuvres of the arguments and checks their start. Of all manoeuvres, those that do not accept the
    /// changed start are left out with a warning; of named ones they are an error.
    fn manoeuvres(&self) -> Result<Vec<Box<dyn Procedure>>> {
        let Compare { manoeuvre, changes, .. } = self.arguments;
        let build = |name: &str| -> Result<Box<dyn Procedure>> {
            let built = errors::find_manoeuvre(name)?.build_standard(&self.overrides);
            resolve_setup(built.as_ref(), &self.vehicle.model, &self.overrides, changes, &[self.dt])?;
            Ok(built)
        };
        if !is_all(manoeuvre) {
            return manoeuvre_names(manoeuvre, changes).iter().map(|name| build(name)).collect();
        }
        let mut accepted = Vec::new();
        for entry in catalogue() {
            match build(entry.name) {
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
        Ok(comparison)
    }

    /// Writes the HTML report and the CSV table of `comparisons`, and prints their paths.
    pub fn save_report(&self, comparisons: &[Comparison], [page_path, csv_path]: &[PathBuf; 2]) -> Result<()> {
        let report = Report {
            vehicle: &self.vehicle.spec.name,
            description: &self.vehicle.spec.description,
            model: &self.vehicle.model,
            published: &self.published,
            backends: &self.backends,
            comparisons,
            inputs: &self.inputs,
        };
        report.save_html(page_path).map_err(Unwritable::from)?;
        report.save_csv(csv_path).map_err(Unwritable::from)?;
        self.print_table(&format!("\nreport   {}\nmetrics  {}\n", printable_path(page_path), printable_path(csv_path)))
    }
}

/// Returns the published figures of the real car.
fn published_figures(vehicle: &LoadedVehicle) -> Vec<Published> {
    let references = vehicle.spec.references.iter().map(|reference| Published {
        quantity: reference.quantity.clone(),
        value: reference.value,
        unit: reference.unit.clone(),
        source: reference.source.clone(),
    });
    references.collect()
}

/// Returns the files that the runs depend on, with their hashes: vehicle and trailers (shipped or on disk), their tyre
/// files, the scene and its ground files.
///
/// # Errors
/// A file cannot be read.
fn input_files(arguments: &Compare, vehicle: &LoadedVehicle, ground_files: &[PathBuf]) -> Result<Vec<InputFile>> {
    let read_file = |role: &'static str, path: &Path| {
        InputFile::read(role, path)
            .map_err(|source| LoadError::UnreadableFile { path: path.to_owned(), source })
            .map_err(Failure::from)
    };
    // A shipped name takes precedence over a path, as in `load_from`.
    let vehicle_file = |role: &'static str, name: &str| match skidpad::spec::shipped::find(name) {
        Some(text) => Ok(InputFile::new(role, name, text.as_bytes())),
        None => read_file(role, Path::new(name)),
    };
    let mut inputs = vec![vehicle_file("vehicle", &arguments.vehicle)?];
    for name in &arguments.changes.towing {
        inputs.push(vehicle_file("trailer", name)?);
    }
    for path in &vehicle.tyre_files {
        inputs.push(read_file("tyre", path)?);
    }
    if let Some(path) = &arguments.changes.scene {
        inputs.push(read_file("scene", path)?);
    }
    for path in ground_files {
        inputs.push(read_file("ground", path)?);
    }
    Ok(inputs)
}

/// Writes the exports that the arguments ask for.
fn write_exports(
    arguments: &Compare,
    vehicle: &LoadedVehicle,
    dt: TimeStep,
    comparisons: &[Comparison],
    selections: &[Selection],
) -> Result<()> {
    if let Some(path) = &arguments.json {
        let object = export::comparison_json(&vehicle.spec.name, dt, comparisons, selections);
        let text = serde_json::to_string_pretty(&object).map_err(Failure::from_error)?;
        export::write(path, &format!("{text}\n"))?;
    }
    if let Some(path) = &arguments.metrics_csv {
        export::write(path, &export::metrics_csv(comparisons)?)?;
    }
    Ok(())
}

/// Returns the exports as pairs of argument and path: `--json` and `--metrics-csv`, those that are given.
fn export_paths(arguments: &Compare) -> impl Iterator<Item = (&'static str, &Path)> {
    let paths = [("--json", arguments.json.as_deref()), ("--metrics-csv", arguments.metrics_csv.as_deref())];
    paths.into_iter().filter_map(|(argument, path)| Some((argument, path?)))
}

/// Checks that the exports can be written, and that none is the vehicle, one of its tyres, the scene or the other export.
fn check_exports(arguments: &Compare, vehicle: &LoadedVehicle) -> Result<()> {
    let inputs =
        [("the vehicle", Some(Path::new(&arguments.vehicle))), ("the scene", arguments.changes.scene.as_deref())];
    for (argument, path) in export_paths(arguments) {
        errors::check_not_overwriting(argument, path, &inputs)?;
        check_tyre_files(vehicle, (argument, path))?;
    }
    if let (Some(json), Some(csv)) = (&arguments.json, &arguments.metrics_csv) {
        errors::check_not_overwriting("--metrics-csv", csv, &[("the output of --json", Some(json))])?;
    }
    Ok(errors::check_writable(export_paths(arguments).map(|(_, path)| path))?)
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

/// Returns the solvers called `names` in this order, without repetitions; all solvers without variants if `names` is
/// empty. An unknown name is an error.
pub fn select_solvers(names: &[String]) -> Result<Vec<SolverInfo>> {
    if names.is_empty() {
        return Ok(skidpad::solvers());
    }
    let mut chosen: Vec<SolverInfo> = Vec::new();
    for name in names {
        let info = errors::find_solver(name)?;
        if !chosen.iter().any(|other| other.name == info.name) {
            chosen.push(info);
        }
    }
    Ok(chosen)
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

    /// Checks repeated names, no names, and a misspelt name, whose error names the known solver.
    #[test]
    fn backends_are_chosen_once_and_unknown_ones_refused() {
        let ask = |names: &[&str]| select_solvers(&names.iter().map(|n| n.to_string()).collect::<Vec<_>>());
        assert_eq!(ask(&["impulse", "impulse"]).expect("known").len(), 1);
        assert_eq!(ask(&[]).expect("all").len(), skidpad::solvers().len());
        let refused = format!("{:?}", ask(&["impulze"]).expect_err("unknown"));
        assert!(refused.contains("impulse"), "{refused}");
    }
}
