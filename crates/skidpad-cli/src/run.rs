//! `skidpad run`: simulates one car on one solver and writes every step as CSV.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressStyle};
use skidpad::core::{Contribution, Model};
use skidpad::lab::compare::{Outcome, run_solver};
use skidpad::lab::files::{STANDARD_OUTPUT, write_atomically};
use skidpad::lab::lost_control::LostControl;
use skidpad::lab::manoeuvre::{ManoeuvreEntry, ParameterFault, START_OPTIONS, StartProperty, StartRejected};
use skidpad::lab::measured_log::MeasuredLog;
use skidpad::lab::metrics::{Metric, to_json};
use skidpad::lab::run::MAX_STEPS;
use skidpad::lab::telemetry_files::NamedRun;
use skidpad::lab::trajectory::four_digits;
use skidpad::lab::{Overrides, Procedure, Progress, Script, Setup, TimeStep, Trajectory};
use skidpad::spec::files::{self, FileKind};
use skidpad::spec::printable::one_line;
use skidpad::spec::{LoadedScene, LoadedVehicle};

use crate::UNFINISHED_EXIT_CODE;
use crate::arguments::{Changes, Run, Step};
use crate::capabilities::{capable_backends, check_capable};
use crate::errors::{self, BadArgument, BadControls, FaultList, SameFile, Unreadable, Unwritable};
use crate::export;
use crate::failure::{Failure, Result};
use crate::measured_log;
use crate::output::{TABLE_INDENT, TextTable, print, print_error, print_notes, print_old_keys, printable_path};
use crate::roots::{allowed_roots, load_vehicle};
use crate::trailers::{self, InputFiles};

/// Step rate without an option, Hz.
const DEFAULT_RATE_HZ: f64 = 240.0;

/// Manoeuvre that is driven on a scene if none is named.
pub const SCENE_MANOEUVRE: &str = "coast-scene";

/// Simulates one car on one solver, writes the telemetry file and, if it is named, the JSON file, and prints the
/// metrics of the manoeuvre. Returns the exit code of [`report_health`], for which reference vehicles count.
///
/// All arguments, files and output paths are checked before the run starts; the first fault ends the command. If an
/// output is the standard output, the metrics are printed to the standard error.
pub fn run(arguments: &Run) -> Result<ExitCode> {
    check_outputs(arguments)?;
    let format = export::telemetry_format("--out", &arguments.out, true)?;
    let backend = errors::find_solver(&arguments.solver)?;
    let vehicle = load_vehicle(&arguments.vehicle, &arguments.changes.roots, &arguments.vehicle_changes)?;
    for path in output_paths(arguments) {
        check_input_files(&tyre_files(&vehicle), path)?;
    }
    print_notes(&vehicle);
    let dt = parse_time_step(&arguments.step)?;
    let (overrides, files) = overrides_with_files(&arguments.changes, &vehicle.model)?;
    // The user has named the solver, so that a peer with trailers is an error.
    capable_backends(vec![backend], true, &overrides)?;
    for path in output_paths(arguments) {
        check_input_files(&files, path)?;
    }
    let manoeuvre = select_manoeuvre(arguments, &vehicle.model, &overrides)?;
    let setup = resolve_setup(manoeuvre.as_ref(), &vehicle.model, &overrides, &arguments.changes, &[dt])?;
    check_capable("--solver", &backend, manoeuvre.as_ref(), &setup)?;
    let selection = export::select_channels(&arguments.history, &backend, &vehicle.model)?;
    let log = measured_log::load(&arguments.log, &backend, &vehicle.model)?;
    errors::check_writable(output_paths(arguments).map(|(_, path)| path))?;
    let progress_bar = create_progress_bar(dt.steps(setup.duration_s) * u64::from(manoeuvre.max_runs()));
    let report_steps = |steps| {
        progress_bar.inc(steps);
        ControlFlow::Continue(())
    };
    let outcome = run_solver(&backend, &vehicle.model, manoeuvre.as_ref(), &overrides, dt, &report_steps);
    progress_bar.finish_and_clear();
    let Outcome { trajectory, metrics, .. } = &outcome;
    let (name, model) = (format!("{}/{}", manoeuvre.name(), backend.name), &*vehicle.model);
    let (towed, selection_of_run) = (&overrides.trailers[..], selection.clone());
    let named_run = NamedRun { name, model, towed, trajectory, selection: selection_of_run };
    format.save(&arguments.out, &[named_run]).map_err(Unwritable::from)?;
    if let Some(path) = &arguments.metrics_json {
        save_json(path, metrics, trajectory, log.as_ref())?;
    }
    let mut summary = format!(
        "{} on {}: {}\n\n",
        one_line(&vehicle.spec.name),
        backend.name,
        overrides.about_changed(manoeuvre.as_ref())
    );
    summary.push_str(&metrics_table(metrics));
    summary.push_str(&assists_table(backend.name, trajectory));
    if let Some(log) = &log {
        summary.push_str(&measured_log::deviation_table(log, &[(backend.name.to_owned(), trajectory)]));
    }
    let written_rows = trajectory.row_count().div_ceil(selection.every());
    summary.push_str(&format!("\n{written_rows} rows in {}\n", printable_path(&arguments.out)));
    if output_paths(arguments).any(|(_, path)| path == Path::new(STANDARD_OUTPUT)) {
        print_error(summary.trim_end());
    } else {
        print(&summary)?;
    }
    // The only solver decides the exit code even if it is a peer.
    Ok(report_health([&outcome], true))
}

/// Checks that no output is an input or the other output. The inputs are the vehicle, the trailers, the table of
/// controls, the scene, and the measured log. The name of a shipped vehicle counts as a path. Tyre and ground files are
/// checked after they are known.
fn check_outputs(arguments: &Run) -> Result<(), SameFile> {
    let mut inputs = vec![
        ("the vehicle", Some(Path::new(&arguments.vehicle))),
        ("the table of controls", arguments.controls.as_deref()),
        ("the scene", arguments.changes.scene.as_deref()),
        ("the measured log", arguments.log.log.as_deref()),
    ];
    inputs.extend(arguments.changes.towing.iter().map(|name| ("a trailer", Some(Path::new(name)))));
    errors::check_not_overwriting("--out", &arguments.out, &inputs)?;
    let Some(metrics_path) = &arguments.metrics_json else { return Ok(()) };
    errors::check_not_overwriting("--metrics-json", metrics_path, &inputs)?;
    errors::check_not_overwriting("--metrics-json", metrics_path, &[("the output of --out", Some(&arguments.out))])
}

/// Returns the outputs as pairs of argument and path: `--out`, then `--metrics-json` if it is given.
fn output_paths(arguments: &Run) -> impl Iterator<Item = (&'static str, &Path)> {
    let metrics_output = arguments.metrics_json.as_deref().map(|path| ("--metrics-json", path));
    [("--out", arguments.out.as_path())].into_iter().chain(metrics_output)
}

/// Returns the tyre files of a vehicle, which no output may overwrite.
pub fn tyre_files(vehicle: &LoadedVehicle) -> InputFiles {
    vehicle.tyre_files.iter().map(|file| ("a tyre of the vehicle", file.clone())).collect()
}

/// Checks that the output `path` of `argument` is none of `files`.
pub fn check_input_files(
    files: &[(&'static str, PathBuf)],
    (argument, path): (&'static str, &Path),
) -> Result<(), SameFile> {
    let inputs: Vec<_> = files.iter().map(|(role, file)| (*role, Some(file.as_path()))).collect();
    errors::check_not_overwriting(argument, path, &inputs)
}

/// Writes a JSON object that maps the names of the metrics to unrounded values, `null` for a metric without a value.
/// The key `health` has the object of [`export::health`], and with a measured `log` the key `log_deviations` has the
/// deviations. The file is complete or not written at all.
fn save_json(path: &Path, metrics: &[Metric], trajectory: &Trajectory, log: Option<&MeasuredLog>) -> Result<()> {
    let mut json_object = to_json(metrics);
    json_object["health"] = export::health(trajectory);
    if let Some(log) = log {
        json_object["log_deviations"] = measured_log::deviations_json(log, trajectory);
    }
    let text = serde_json::to_string_pretty(&json_object).map_err(Failure::from_error)?;
    Ok(write_atomically(path, |out| writeln!(out, "{text}")).map_err(Unwritable::from)?)
}

/// Returns a table with a row for each metric: label, rounded value, unit.
fn metrics_table(metrics: &[Metric]) -> String {
    // Right-aligned from column 1 on.
    let mut table = TextTable::new(1);
    for metric in metrics {
        table.push_row([metric.label.clone(), metric.text(), metric.unit.to_string()]);
    }
    table.to_text(TABLE_INDENT)
}

/// Returns a table of the assists and non-physical aids on a solver: name, share of the time in which each was active,
/// and the largest value of each of its contributions, or `nothing`. Returns an empty text if the vehicle has none.
/// `backend` is the name of the solver.
pub fn assists_table(backend: &str, trajectory: &Trajectory) -> String {
    let assist_uses = trajectory.assist_use();
    if assist_uses.is_empty() {
        return String::new();
    }
    // Right-aligned from column 1 on.
    let mut table = TextTable::new(1);
    for assist_use in &assist_uses {
        // Channels whose largest value is more than rounding error.
        let active_channels = Contribution::CHANNELS
            .iter()
            .enumerate()
            .filter(|(channel_index, _)| assist_use.is_reported(*channel_index));
        // The second argument is the value that determines the number of decimal places.
        let value_text = |value: f64| four_digits(value, value);
        let channel_texts: Vec<String> = active_channels
            .map(|(channel_index, channel)| format!("{} {}", channel.name, value_text(assist_use.peak[channel_index])))
            .collect();
        // Largest contributions as text.
        let contributions = if channel_texts.is_empty() { "nothing".into() } else { channel_texts.join(", ") };
        table.push_row([
            assist_use.assist.name().to_string(),
            format!("{:.1} % of the time", 100.0 * assist_use.share),
            contributions,
        ]);
    }
    format!(
        "\n  assists and non-physical aids on {backend}: share of the time active, largest contributions\n{}",
        // Indent of 4 spaces.
        table.to_text(4)
    )
}

/// Prints warnings about the results of `runs` to the standard error and returns the exit code. `judges_peers` states
/// whether reference vehicles count.
///
/// The code is [`UNFINISHED_EXIT_CODE`] if a car left the ground, or if a solver that counts had an unsolved step, an
/// unfinished course, a lost car or a failed test.
pub fn report_health<'a>(runs: impl IntoIterator<Item = &'a Outcome>, judges_peers: bool) -> ExitCode {
    let mut exit_code = ExitCode::SUCCESS;
    for Outcome { backend, peer, trajectory, metrics, incomplete, failed_test, .. } in runs {
        let worst_report = trajectory.worst_report();
        if worst_report.not_finite {
            print_error(&format!("warning: {backend}: a value was not finite; the last valid state was kept"));
        }
        if worst_report.not_converged {
            let (iterations, residual) = (worst_report.iterations, worst_report.residual);
            print_error(&format!(
                "warning: {backend}: not every step converged; maximum {iterations} iterations, maximum residual {residual:.1e} m/s"
            ));
        }
        // Time and place at which the car left the ground, and time at which it spun or rolled over.
        let (off_scene, lost) = (trajectory.off_scene(), LostControl::find(trajectory));
        let events = [off_scene.map(|event| event.text()), lost.map(|event| event.text())];
        let course = incomplete.map(|incomplete| incomplete.text());
        let test = failed_test.then(|| "failed the test".to_owned());
        for text in events.into_iter().chain([course, test]).flatten() {
            print_error(&format!("warning: {backend}: the car {text}"));
        }
        if !metrics.is_empty() && metrics.iter().all(|metric| metric.value.is_none()) {
            // Time of the last row, s.
            let end = trajectory.last().t_s;
            print_error(&format!(
                "warning: {backend}: no metric has a value; the run ended after {end:.2} s, before what the manoeuvre measures"
            ));
        }
        let is_unsolved = worst_report.not_finite || worst_report.not_converged;
        let has_failed = is_unsolved || incomplete.is_some() || lost.is_some() || *failed_test;
        if off_scene.is_some() || has_failed && (judges_peers || !peer) {
            exit_code = ExitCode::from(UNFINISHED_EXIT_CODE);
        }
    }
    exit_code
}

/// Returns the manoeuvre of the arguments: the table of controls if a file is named, otherwise the named standard
/// manoeuvre, or [`SCENE_MANOEUVRE`] without a name. A standard manoeuvre is built with the `overrides`, a table for
/// the `model`.
///
/// # Errors
/// An unknown manoeuvre, parameters that the manoeuvre does not accept (a table accepts none), an unreadable file, or
/// the faults of the table.
fn select_manoeuvre(arguments: &Run, model: &Model, overrides: &Overrides) -> Result<Box<dyn Procedure>> {
    // The command line requires a manoeuvre, a table or a scene.
    let Some(path) = arguments.controls.as_deref() else {
        let entry = errors::find_manoeuvre(arguments.manoeuvre.as_deref().unwrap_or(SCENE_MANOEUVRE))?;
        check_parameters(overrides, &[entry])?;
        return Ok(entry.build_standard(overrides));
    };
    check_parameters(overrides, &[])?;
    let file_name = path.display().to_string();
    let text = match files::read_lossy(path, FileKind::Controls) {
        Ok(text) => text,
        // `source` is the error of the operating system.
        Err(source) => return Err(Unreadable { path: file_name, source }.into()),
    };
    match Script::parse(&text, model) {
        Ok(script) => Ok(Box::new(script)),
        Err(faults) => Err(BadControls::new(&file_name, &text, faults).into()),
    }
}

/// Returns the step length of the arguments; 1/240 s by default.
pub fn parse_time_step(step: &Step) -> Result<TimeStep, BadArgument> {
    let rate_hz = step.rate_hz.unwrap_or(DEFAULT_RATE_HZ);
    match step.dt_s {
        Some(dt_s) => parse_step_length(dt_s),
        None => parse_step_rate(rate_hz),
    }
}

/// Returns the step length of `--dt-s` (s). The range is that of [`TimeStep`].
pub fn parse_step_length(dt_s: f64) -> Result<TimeStep, BadArgument> {
    TimeStep::new(dt_s).map_err(|accepts| BadArgument { argument: "--dt-s", found: dt_s.to_string(), accepts })
}

/// Returns the step length of `--rate-hz` (Hz). The range is that of [`TimeStep`].
pub fn parse_step_rate(rate_hz: f64) -> Result<TimeStep, BadArgument> {
    TimeStep::from_rate_hz(rate_hz).map_err(|accepts| BadArgument {
        argument: "--rate-hz",
        found: rate_hz.to_string(),
        accepts,
    })
}

/// Returns the changes of the arguments and of the scene file, in SI units. Arguments take precedence over the scene.
/// See [`overrides_with_files`] for printed notes and errors.
pub fn read_overrides(changes: &Changes, model: &Arc<Model>) -> Result<Overrides> {
    overrides_with_files(changes, model).map(|(overrides, _)| overrides)
}

/// Returns the changes of the arguments and of the scene file, in SI units, and the files that scene and trailers name:
/// tyres of the trailers and ground of the scene. Paths in the files of scene and trailers may also lead into the
/// folders of `--allow-root`.
///
/// Loads the scene and the trailers behind a car of `model`, and prints their notes and keys with old names.
///
/// Speed and heading of the scene apply if no argument states them; its start position always applies. A slope for a
/// scene without a plane is an error.
pub fn overrides_with_files(changes: &Changes, model: &Arc<Model>) -> Result<(Overrides, InputFiles)> {
    let roots = allowed_roots(&changes.roots)?;
    let loaded_scene = changes.scene.as_deref().map(|path| LoadedScene::load_from(path, roots)).transpose()?;
    let (trailers, mut input_files) = trailers::load_trailers(&changes.towing, model, &changes.roots)?;
    // Changes by arguments alone.
    let argument_overrides = Overrides { trailers, ..overrides_from_arguments(changes)? };
    let Some(LoadedScene { spec: scene_spec, scene, notes, old_keys, files }) = loaded_scene else {
        return Ok((argument_overrides, input_files));
    };
    input_files.extend(files.into_iter().map(|file| ("ground of the scene", file)));
    print_old_keys(&old_keys);
    for note in notes {
        print_error(&format!("warning: {note}"));
    }
    if let (Some(slope), false) = (changes.slope_deg, scene.has_plane) {
        let accepts = "scenes with a plane; the slope of other ground is set in its file".into();
        let found = format!("{slope} for a scene without a plane");
        Err(BadArgument { argument: "--slope-deg", found, accepts })?;
    }
    let overrides = Overrides {
        scene: Some(scene),
        start_m: scene_spec.start_m,
        initial_speed_mps: argument_overrides.initial_speed_mps.or(scene_spec.speed_mps),
        heading_rad: argument_overrides.heading_rad.or(scene_spec.heading_deg.map(f64::to_radians)),
        ..argument_overrides
    };
    Ok((overrides, input_files))
}

/// Returns the changes that need no file, in SI units: start, duration and parameters. The error names the first
/// argument out of the range of its [`StartOption`](skidpad::lab::manoeuvre::StartOption), or the first parameter
/// without a number. Names of parameters are not checked; see [`check_parameters`].
fn overrides_from_arguments(changes: &Changes) -> Result<Overrides, BadArgument> {
    // In the order of the options.
    let arguments = [
        ("--initial-speed-mps", changes.initial_speed_mps),
        ("--slope-deg", changes.slope_deg),
        ("--heading-deg", changes.heading_deg),
        ("--duration-s", changes.duration_s),
    ];
    let mut overrides = Overrides::default();
    for (option, (argument, value)) in START_OPTIONS.iter().zip(arguments) {
        let Some(number) = value else { continue };
        let reject = |accepts| BadArgument { argument, found: number.to_string(), accepts };
        option.set(&mut overrides, number).map_err(reject)?;
    }
    for text in &changes.parameter {
        let pair = text.split_once('=').and_then(|(name, value)| Some((name.trim(), value.trim().parse().ok()?)));
        let Some((name, value)) = pair else {
            let accepts = "a name and a number, such as radius_m=50; `skidpad list manoeuvres` has the names".into();
            return Err(BadArgument { argument: "--parameter", found: text.clone(), accepts });
        };
        overrides.parameters.set(name, value);
    }
    Ok(overrides)
}

/// Checks that the parameters of `overrides` are accepted by the manoeuvres of `entries`. The error lists all that are
/// not.
pub fn check_parameters(overrides: &Overrides, entries: &[&ManoeuvreEntry]) -> Result<(), FaultList> {
    let faults = overrides.parameters.faults(entries);
    let text = |fault: ParameterFault| format!("--parameter {fault}");
    if faults.is_empty() { Ok(()) } else { Err(FaultList::new(faults.into_iter().map(text).collect())) }
}

/// Returns start and duration of `manoeuvre` with the changes applied. The error names the argument or the key of the
/// scene that asked for the rejected change.
///
/// # Errors
/// The manoeuvre does not accept a change, the duration is not above 0, or a run with one of `steps` has more than
/// [`MAX_STEPS`] steps.
pub fn resolve_setup(
    manoeuvre: &dyn Procedure,
    model: &Model,
    overrides: &Overrides,
    changes: &Changes,
    steps: &[TimeStep],
) -> Result<Setup, BadArgument> {
    let setup = overrides.setup(manoeuvre, model).map_err(|StartRejected { change, found, accepts }| {
        // Whether an argument asked for the change, name of this argument, and key of the scene that asked otherwise.
        let (is_asked, option, scene_key) = match change {
            StartProperty::Speed => {
                (changes.initial_speed_mps.is_some(), "--initial-speed-mps", "`speed_mps` of the scene")
            }
            StartProperty::Heading => (changes.heading_deg.is_some(), "--heading-deg", "`heading_deg` of the scene"),
            StartProperty::Place => (false, "another scene", "`start_m` of the scene"),
            StartProperty::Ground => (true, if changes.scene.is_some() { "--scene" } else { "--slope-deg" }, ""),
        };
        // If the scene asked for the change, an argument can replace it.
        let (argument, alternative) =
            if is_asked { (option, String::new()) } else { (scene_key, format!(", or set {option}")) };
        BadArgument {
            argument,
            found: format!("a start {found}"),
            accepts: format!("{accepts}; remove this setting{alternative}"),
        }
    })?;
    steps.iter().try_for_each(|dt| check_duration(&setup, *dt))?;
    Ok(setup)
}

/// Checks that the duration is above 0 and has at most [`MAX_STEPS`] steps of `dt`.
fn check_duration(setup: &Setup, dt: TimeStep) -> Result<(), BadArgument> {
    let step_count = setup.duration_s / dt.seconds();
    if setup.duration_s > 0.0 && step_count <= MAX_STEPS as f64 {
        return Ok(());
    }
    let found = format!("{} s in steps of {} s", setup.duration_s, dt.seconds());
    let accepts = format!("a duration above 0 with at most {MAX_STEPS} steps; change --duration-s or --rate-hz");
    Err(BadArgument { argument: "duration", found, accepts })
}

/// Creates a progress bar with the elapsed time and the time left, on the standard error. `steps` is the number of
/// steps or runs at its end. The bar is only drawn on a terminal.
pub fn create_progress_bar(steps: u64) -> ProgressBar {
    let progress_bar = ProgressBar::new(steps);
    // The template is a valid constant. If it failed, the default style would remain.
    if let Ok(style) = ProgressStyle::with_template("{msg:12} [{bar:40}] {percent:>3} %  {elapsed}, {eta} left") {
        progress_bar.set_style(style.progress_chars("=> "));
    }
    progress_bar
}

/// Sets length and position of `progress_bar`. Returns `Continue`, because the command never stops its runs.
pub fn show_progress(progress_bar: &ProgressBar, progress: Progress) -> ControlFlow<()> {
    progress_bar.set_length(progress.total);
    progress_bar.set_position(progress.done);
    ControlFlow::Continue(())
}
