//! `skidpad compare`: runs manoeuvres on several solvers, prints tables and writes a report.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use skidpad::core::SolverInfo;
use skidpad::lab::report::InputFile;
use skidpad::lab::selection::Selection;
use skidpad::lab::telemetry_files::NamedRun;
use skidpad::lab::{Comparison, Overrides};
use skidpad::spec::{LoadError, LoadedVehicle};

use crate::arguments::{Compare, VehicleChanges};
use crate::capabilities::capable_backends;
use crate::comparison_study::{
    Study, StudyCar, StudyRuns, export_paths, health_code, is_all, manoeuvre_names, result_paths, vehicle_stem,
};
use crate::errors::{self, BadArgument, Unwritable};
use crate::export;
use crate::failure::{Failure, Result};
use crate::measured_log;
use crate::output::{print_notes, printable_path};
use crate::roots::load_vehicle;
use crate::run::{check_input_files, overrides_with_files, parse_time_step, tyre_files};
use crate::separate_reports;
use crate::trailers::load_trailers;

/// Largest number of solvers with `--against`: each of their curves, for both cars, has a line of its own.
const MAX_SOLVERS_OF_TWO_CARS: usize = 3;

/// Simulates the manoeuvres on each solver, prints a table for each manoeuvre, and writes the HTML report, the CSV
/// table and the exports. Returns the exit code of [`health_code`]. All arguments, files and output paths are checked
/// before the first run.
///
/// The car of [`Compare::against`] (`before`), if there is one, is driven in the same way. Each manoeuvre has a report
/// of its own if [`Compare::separate`] is set or all manoeuvres are driven; `--json`, `--metrics-csv` and `--telemetry`
/// are errors then.
pub fn compare(arguments: &Compare) -> Result<ExitCode> {
    let backends = solvers_of(arguments)?;
    let vehicle = load_vehicle(&arguments.vehicle, &arguments.changes.roots, &arguments.vehicle_changes)?;
    print_notes(&vehicle);
    let dt = parse_time_step(&arguments.step)?;
    let (overrides, files) = overrides_with_files(&arguments.changes, &vehicle.model)?;
    let before = arguments.against.as_ref().map(|name| load_other_car(arguments, name, &overrides)).transpose()?;
    let inputs = input_files(arguments, &vehicle, before.as_ref(), &files)?;
    let backends = capable_backends(backends, !arguments.solvers.is_empty(), &overrides)?;
    check_exports(arguments, [&vehicle].into_iter().chain(before.as_ref().map(|car| &car.vehicle)), &files)?;
    if let Some(path) = &arguments.telemetry {
        export::telemetry_format("--telemetry", path, false)?;
    }
    // The channels of the first solver are those that the log may have.
    let log = match backends.first() {
        Some(solver) => measured_log::load(&arguments.log, solver, &vehicle.model)?,
        None => None,
    };
    let [label, label_before] = car_labels(arguments);
    let (name, changes) = (arguments.vehicle.clone(), arguments.vehicle_changes.set.clone());
    let car = StudyCar { name, label, vehicle, changes, overrides };
    let before = before.map(|car| StudyCar { label: label_before, ..car });
    let study = Study { arguments, car, before, dt, backends, inputs, log };
    let manoeuvres = study.manoeuvres()?;
    let select_channels = |info: &SolverInfo| {
        Ok((info.name, export::select_channels(&arguments.history, info, &study.car.vehicle.model)?))
    };
    let selections: Vec<(&str, Selection)> = study.backends.iter().map(select_channels).collect::<Result<_>>()?;
    if arguments.separate || is_all(&arguments.manoeuvre) {
        if let Some((argument, path)) = export_paths(arguments).next() {
            let accepts =
                "named manoeuvres in one report, without `all`; separate reports have a CSV table each".into();
            return Err(BadArgument { argument, found: printable_path(path), accepts }.into());
        }
        return separate_reports::compare_separately(&study, &manoeuvres);
    }
    let names = manoeuvre_names(&arguments.manoeuvre, &arguments.changes);
    let paths = result_paths(&arguments.out, &study.file_stem(&names))?;
    study.print_title()?;
    let mut runs = StudyRuns::default();
    for manoeuvre in &manoeuvres {
        runs.push(study.drive(manoeuvre.as_ref())?);
    }
    study.save_report(&runs, &paths)?;
    write_exports(&study, &runs, &selections)?;
    Ok(health_code(runs.comparisons()))
}

/// Returns the solvers of the arguments. With two cars reference vehicles are left out unless they are named.
///
/// # Errors
/// An unknown solver, or more than [`MAX_SOLVERS_OF_TWO_CARS`] with two cars.
fn solvers_of(arguments: &Compare) -> Result<Vec<SolverInfo>> {
    let mut backends = select_solvers(&arguments.solvers)?;
    if arguments.against.is_none() {
        return Ok(backends);
    }
    if arguments.solvers.is_empty() {
        backends.retain(|info| !info.comparison_only);
    }
    if backends.len() > MAX_SOLVERS_OF_TWO_CARS {
        let accepts = format!("at most {MAX_SOLVERS_OF_TWO_CARS} solvers with --against");
        return Err(BadArgument { argument: "--solvers", found: arguments.solvers.join(", "), accepts }.into());
    }
    Ok(backends)
}

/// Loads the vehicle `name` of `--against`, without the changes of `--set`, and prints its notes. The car has the start
/// and ground of `overrides`; the trailers of `--towing` are loaded again behind it. It has no label yet.
fn load_other_car(arguments: &Compare, name: &str, overrides: &Overrides) -> Result<StudyCar> {
    let vehicle = load_vehicle(name, &arguments.changes.roots, &VehicleChanges::default())?;
    print_notes(&vehicle);
    let (trailers, _) = load_trailers(&arguments.changes.towing, &vehicle.model, &arguments.changes.roots)?;
    let overrides = Overrides { trailers, ..overrides.clone() };
    Ok(StudyCar { name: name.to_owned(), label: String::new(), vehicle, changes: Vec::new(), overrides })
}

/// Returns the labels of the car and of the car of `--against`: their file stems, or `after` and `before` if these are
/// equal.
fn car_labels(arguments: &Compare) -> [String; 2] {
    let Some(against) = &arguments.against else { return [String::new(), String::new()] };
    let labels = [&arguments.vehicle, against].map(|name| vehicle_stem(name));
    if labels[0] == labels[1] { ["after", "before"].map(String::from) } else { labels }
}

/// Returns the files that the runs depend on, with their hashes: vehicles and trailers (shipped or on disk), tyre files
/// of the vehicles, the scene, `files` (those that trailers and scene name), and the measured log.
///
/// # Errors
/// A file cannot be read.
fn input_files(
    arguments: &Compare,
    vehicle: &LoadedVehicle,
    before: Option<&StudyCar>,
    files: &[(&'static str, PathBuf)],
) -> Result<Vec<InputFile>> {
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
    if let Some(before) = before {
        inputs.push(vehicle_file("vehicle before", &before.name)?);
    }
    for name in &arguments.changes.towing {
        inputs.push(vehicle_file("trailer", name)?);
    }
    for path in vehicle.tyre_files.iter().chain(before.iter().flat_map(|before| &before.vehicle.tyre_files)) {
        inputs.push(read_file("tyre", path)?);
    }
    if let Some(path) = &arguments.changes.scene {
        inputs.push(read_file("scene", path)?);
    }
    for (role, path) in files {
        inputs.push(read_file(role, path)?);
    }
    if let Some(path) = &arguments.log.log {
        inputs.push(read_file("measured log", path)?);
    }
    Ok(inputs)
}

/// Writes those of the exports `--json`, `--metrics-csv` and `--telemetry` that are given. With two cars the JSON
/// object has the runs of the other car under the key `against`.
fn write_exports(study: &Study<'_>, runs: &StudyRuns, selections: &[(&str, Selection)]) -> Result<()> {
    if let Some(path) = &study.arguments.json {
        let log = study.log.as_ref();
        let runs_of = |car: &StudyCar, comparisons| {
            export::comparison_json(&car.vehicle.spec.name, study.dt, comparisons, selections, log)
        };
        let mut object = runs_of(&study.car, &runs.car);
        if let Some(before) = &study.before {
            object["against"] = runs_of(before, &runs.before);
        }
        let text = serde_json::to_string_pretty(&object).map_err(Failure::from_error)?;
        export::write(path, &format!("{text}\n"))?;
    }
    if let Some(path) = &study.arguments.metrics_csv {
        let before = study.before.iter().map(|car| (car.label.as_str(), &runs.before[..]));
        let cars: Vec<(&str, &[Comparison])> = before.chain([(study.car.label.as_str(), &runs.car[..])]).collect();
        export::write(path, &export::metrics_csv(&cars)?)?;
    }
    if let Some(path) = &study.arguments.telemetry {
        let format = export::telemetry_format("--telemetry", path, false)?;
        format.save(path, &named_runs(study, runs, selections)).map_err(Unwritable::from)?;
    }
    Ok(())
}

/// Returns the runs of all cars for a telemetry file, those of the car to compare with first. A name is
/// `manoeuvre/solver`, followed by `/label` if there are two cars. `selections` are the selected channels of each
/// solver; a solver without one is left out.
fn named_runs<'a>(study: &'a Study<'_>, runs: &'a StudyRuns, selections: &'a [(&str, Selection)]) -> Vec<NamedRun<'a>> {
    let before = study.before.iter().map(|car| (car, &runs.before));
    let mut named = Vec::new();
    for (car, comparisons) in before.chain([(&study.car, &runs.car)]) {
        for comparison in comparisons {
            for outcome in &comparison.outcomes {
                let Some((_, selection)) = selections.iter().find(|(solver, _)| *solver == outcome.backend) else {
                    continue;
                };
                let separator = if car.label.is_empty() { "" } else { "/" };
                let name = format!("{}/{}{separator}{}", comparison.manoeuvre, outcome.backend, car.label);
                named.push(NamedRun {
                    name,
                    model: &car.vehicle.model,
                    towed: &comparison.trailers,
                    trajectory: &outcome.trajectory,
                    selection: selection.clone(),
                });
            }
        }
    }
    named
}

/// Checks that the exports can be written. No export may be the vehicle, the vehicle of `--against`, a trailer, the
/// scene, the log, a tyre file of one of the `vehicles`, one of `files` (those that trailers and scene name), or
/// another export.
fn check_exports<'a>(
    arguments: &Compare,
    vehicles: impl Iterator<Item = &'a LoadedVehicle> + Clone,
    files: &[(&'static str, PathBuf)],
) -> Result<()> {
    let mut inputs = vec![
        ("the vehicle", Some(Path::new(&arguments.vehicle))),
        ("the vehicle of --against", arguments.against.as_deref().map(Path::new)),
        ("the scene", arguments.changes.scene.as_deref()),
        ("the measured log", arguments.log.log.as_deref()),
    ];
    inputs.extend(arguments.changes.towing.iter().map(|name| ("a trailer", Some(Path::new(name)))));
    for (argument, path) in export_paths(arguments) {
        errors::check_not_overwriting(argument, path, &inputs)?;
        vehicles.clone().try_for_each(|vehicle| check_input_files(&tyre_files(vehicle), (argument, path)))?;
        check_input_files(files, (argument, path))?;
    }
    let (json, csv) = (arguments.json.as_deref(), arguments.metrics_csv.as_deref());
    let others = [("the output of --json", json), ("the output of --metrics-csv", csv)];
    if let Some(csv) = csv {
        errors::check_not_overwriting("--metrics-csv", csv, &others[..1])?;
    }
    if let Some(telemetry) = &arguments.telemetry {
        errors::check_not_overwriting("--telemetry", telemetry, &others)?;
    }
    Ok(errors::check_writable(export_paths(arguments).map(|(_, path)| path))?)
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

#[cfg(test)]
mod tests {
    use super::*;

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
