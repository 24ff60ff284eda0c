//! `skidpad run`: simulates one car on one solver and writes every step as CSV.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use indicatif::{ProgressBar, ProgressStyle};
use serde_json::json;
use skidpad::core::{Contribution, Model};
use skidpad::lab::files::{STANDARD_OUTPUT, write_atomically};
use skidpad::lab::manoeuvre::{IncompleteCourse, StartProperty, StartRejected};
use skidpad::lab::metrics::{Metric, to_json};
use skidpad::lab::trajectory::four_digits;
use skidpad::lab::{Manoeuvre, Overrides, Script, Setup, TimeStep, Trajectory, simulate};
use skidpad::spec::files::{self, FileKind};
use skidpad::spec::printable::one_line;
use skidpad::spec::{LoadedScene, LoadedVehicle};

use crate::UNFINISHED_EXIT_CODE;
use crate::arguments::{Changes, Run, Step};
use crate::capabilities::capable_backends;
use crate::errors::{self, BadArgument, BadControls, SameFile, Unreadable, Unwritable};
use crate::failure::{Failure, Result};
use crate::output::{Table, print, print_error, print_notes, printable_path};
use crate::roots::{allowed_roots, load_vehicle};
use crate::trailers;

/// Maximum number of steps of one run. Telemetry is stored in a temporary file, about 0.5 kB per step.
const MAX_STEPS: u64 = 4_000_000;

/// Manoeuvre that is driven on a scene if none is named.
pub const SCENE_MANOEUVRE: &str = "roll";

/// Simulates one car on one solver, writes the CSV file and the JSON file if one is named, and prints the figures of
/// the manoeuvre. Returns the exit code of [`health`].
///
/// All arguments, files and output paths are checked before the run starts; the first fault ends the command. If an
/// output is the standard output, the figures are printed to the standard error.
pub fn run(asked: &Run) -> Result<ExitCode> {
    check_outputs(asked)?;
    let backend = errors::find_backend(&asked.backend)?;
    let vehicle = load_vehicle(&asked.vehicle, &asked.changes.roots)?;
    for path in outputs(asked) {
        check_tyre_files(&vehicle, path)?;
    }
    print_notes(&vehicle);
    let dt = time_step(&asked.step)?;
    let (overrides, ground) = overrides_with_files(&asked.changes, &vehicle.model)?;
    // The user has named the solver, so that a peer with trailers is an error.
    capable_backends(vec![backend], true, &overrides)?;
    let ground: Vec<_> = ground.iter().map(|file| ("ground of the scene", Some(file.as_path()))).collect();
    for (argument, path) in outputs(asked) {
        errors::check_not_overwriting(argument, path, &ground)?;
    }
    let manoeuvre = manoeuvre(asked, &vehicle.model, &overrides)?;
    let setup = setup(manoeuvre.as_ref(), &vehicle.model, &overrides, &asked.changes, &[dt])?;
    errors::check_writable(outputs(asked).map(|(_, path)| path))?;
    let bar = progress_bar(dt.steps(setup.duration_s));
    let mut driver = manoeuvre.driver(&vehicle.model);
    let trajectory = simulate(&backend, &vehicle.model, &setup, driver.as_mut(), dt, &mut |done, _| {
        // Every 256th step, since drawing the bar takes time.
        if done % 256 == 0 {
            bar.set_position(done);
        }
    });
    bar.finish_and_clear();
    let metrics = manoeuvre.metrics_of_train(&vehicle.model, &trajectory);
    trajectory.save_csv(&asked.out).map_err(Unwritable::from)?;
    if let Some(path) = &asked.metrics_json {
        save_json(path, &metrics, &trajectory)?;
    }
    let mut text = format!(
        "{} on {}: {}\n\n",
        one_line(&vehicle.spec.name),
        backend.name,
        overrides.about_changed(manoeuvre.as_ref())
    );
    text.push_str(&metrics_table(&metrics));
    text.push_str(&assists_table(backend.name, &trajectory));
    text.push_str(&format!("\n{} rows in {}\n", trajectory.row_count(), printable_path(&asked.out)));
    if outputs(asked).any(|(_, path)| path == Path::new(STANDARD_OUTPUT)) {
        print_error(text.trim_end());
    } else {
        print(&text)?;
    }
    let unfinished = manoeuvre.incomplete_reason(&vehicle.model, &trajectory);
    // `false`: the only solver decides the exit code even if it is a peer.
    Ok(health([(backend.name, false, &trajectory, unfinished)]))
}

/// Checks that no output is an input or the other output.
fn check_outputs(asked: &Run) -> Result<(), SameFile> {
    let inputs = [
        ("the vehicle", Some(Path::new(&asked.vehicle))),
        ("the table of controls", asked.controls.as_deref()),
        ("the scene", asked.changes.scene.as_deref()),
    ];
    errors::check_not_overwriting("--out", &asked.out, &inputs)?;
    let Some(metrics) = &asked.metrics_json else { return Ok(()) };
    errors::check_not_overwriting("--metrics-json", metrics, &inputs)?;
    errors::check_not_overwriting("--metrics-json", metrics, &[("what --out writes", Some(&asked.out))])
}

/// Returns the outputs as pairs of argument and path: `--out`, then `--metrics-json` if it is given.
fn outputs(asked: &Run) -> impl Iterator<Item = (&'static str, &Path)> {
    let metrics = asked.metrics_json.as_deref().map(|path| ("--metrics-json", path));
    [("--out", asked.out.as_path())].into_iter().chain(metrics)
}

/// Checks that the output `path` of `argument` is not a tyre file of the vehicle.
pub fn check_tyre_files(vehicle: &LoadedVehicle, (argument, path): (&'static str, &Path)) -> Result<(), SameFile> {
    let tyres: Vec<_> = vehicle.tyre_files.iter().map(|file| ("a tyre of the vehicle", Some(file.as_path()))).collect();
    errors::check_not_overwriting(argument, path, &tyres)
}

/// Writes a JSON object that maps the names of the figures with units to unrounded values, with `null` for figures
/// without a value. The key `health` contains the worst step report of the run and the time and place where the car
/// left the ground, or `null`.
fn save_json(path: &Path, metrics: &[Metric], trajectory: &Trajectory) -> Result<()> {
    let (mut object, worst) = (to_json(metrics), trajectory.worst_report());
    // Time and place at which the car left the ground.
    let left = trajectory.off_scene();
    object["health"] = json!({
        "not_finite": worst.not_finite,
        "not_converged": worst.not_converged,
        "most_iterations": worst.iterations,
        "largest_residual_mps": worst.residual,
        "left_ground": left.map(|left| json!({ "t_s": left.t_s, "x_m": left.x_m, "y_m": left.y_m })),
    });
    let text = serde_json::to_string_pretty(&object).map_err(Failure::from_error)?;
    Ok(write_atomically(path, |out| writeln!(out, "{text}")).map_err(Unwritable::from)?)
}

/// Returns a table with a row for each figure: label, value with rounding, unit.
fn metrics_table(metrics: &[Metric]) -> String {
    // Right-aligned from column 1 on.
    let mut table = Table::new(1);
    for metric in metrics {
        table.row([metric.label.clone(), metric.text(), metric.unit.to_string()]);
    }
    // Indented by two spaces.
    table.text(2)
}

/// Returns a table of the assists and tricks on a solver: name, share of the time in which each was active, and the
/// largest value of each of its contributions, or `nothing`. A trick is an aid without a physical counterpart. Returns
/// an empty text if the model has none.
pub fn assists_table(backend: &str, trajectory: &Trajectory) -> String {
    let help = trajectory.assist_use();
    if help.is_empty() {
        return String::new();
    }
    // Right-aligned from column 1 on.
    let mut table = Table::new(1);
    for own in &help {
        // Channels whose largest value is more than rounding error.
        let told = Contribution::CHANNELS.iter().enumerate().filter(|(k, _)| own.is_reported(*k));
        let text = |value: f64| four_digits(value, value);
        let texts: Vec<String> = told.map(|(k, channel)| format!("{} {}", channel.name, text(own.peak[k]))).collect();
        // Largest contributions as text.
        let most = if texts.is_empty() { "nothing".into() } else { texts.join(", ") };
        table.row([own.assist.name().to_string(), format!("{:.1} % of the time", 100.0 * own.share), most]);
    }
    format!("\n  assists and tricks on {backend}, with the largest of what they added\n{}", table.text(4))
}

/// Prints warnings about `runs` to the standard error and returns the exit code. A run is a tuple of solver, whether it
/// is a peer, trajectory, and reason for not finishing the course.
///
/// The code is [`UNFINISHED_EXIT_CODE`] if a car left the ground, or if a solver that is not a peer had an unsolved step or an
/// unfinished course.
pub fn health<'a>(
    runs: impl IntoIterator<Item = (&'a str, bool, &'a Trajectory, Option<IncompleteCourse>)>,
) -> ExitCode {
    let mut code = ExitCode::SUCCESS;
    for (backend, peer, trajectory, unfinished) in runs {
        let worst = trajectory.worst_report();
        if worst.not_finite {
            print_error(&format!("warning: {backend} met a number that is not finite; the last good state was kept"));
        }
        if worst.not_converged {
            let (iterations, residual) = (worst.iterations, worst.residual);
            print_error(&format!(
                "warning: {backend} stopped at {iterations} iterations in some step, residual {residual:.1e} m/s"
            ));
        }
        // Time and place at which the car left the ground.
        let left = trajectory.off_scene();
        if let Some(left) = left {
            print_error(&format!("warning: on {backend} the car {}", left.text()));
        }
        if let Some(unfinished) = unfinished {
            print_error(&format!("warning: on {backend} the car {}", unfinished.text()));
        }
        if left.is_some() || (worst.not_finite || worst.not_converged || unfinished.is_some()) && !peer {
            code = ExitCode::from(UNFINISHED_EXIT_CODE);
        }
    }
    code
}

/// Returns the manoeuvre that the arguments ask for: the table of controls if a file is named, otherwise the named
/// standard manoeuvre, or [`SCENE_MANOEUVRE`] without a name. The error lists the known manoeuvres or the faults of the
/// table.
fn manoeuvre(asked: &Run, model: &Model, overrides: &Overrides) -> Result<Box<dyn Manoeuvre>> {
    // The command line requires a manoeuvre, a table or a scene.
    let Some(path) = asked.controls.as_deref() else {
        return Ok(
            errors::find_manoeuvre(asked.manoeuvre.as_deref().unwrap_or(SCENE_MANOEUVRE))?.build_standard(overrides)
        );
    };
    let name = path.display().to_string();
    let text = match files::read_lossy(path, FileKind::Controls) {
        Ok(text) => text,
        Err(source) => return Err(Unreadable { path: name, source }.into()),
    };
    match Script::parse(&text, model) {
        Ok(script) => Ok(Box::new(script)),
        Err(faults) => Err(BadControls::new(&name, &text, faults).into()),
    }
}

/// Returns the step length of the arguments: `--dt-s` if it is given, otherwise the inverse of `--rate-hz`; 1/240 s by
/// default. The range is that of [`TimeStep`].
pub fn time_step(step: &Step) -> Result<TimeStep, BadArgument> {
    // `accepts` is the accepted range as text.
    let bad = |argument, found: f64, accepts| BadArgument { argument, found: found.to_string(), accepts };
    match (step.dt_s, step.rate_hz) {
        (Some(dt), _) => TimeStep::new(dt).map_err(|accepts| bad("--dt-s", dt, accepts)),
        (None, rate) => {
            let rate = rate.unwrap_or(240.0);
            TimeStep::from_rate_hz(rate).map_err(|accepts| bad("--rate-hz", rate, accepts))
        }
    }
}

/// Returns the changes of the arguments and the scene file, in SI units. Arguments take precedence over the scene.
/// Prints the notes about the scene.
pub fn overrides(changes: &Changes, model: &Arc<Model>) -> Result<Overrides> {
    overrides_with_files(changes, model).map(|(overrides, _)| overrides)
}

/// Returns the result of [`overrides`] and the files of the ground that the scene names. Loads the scene and the
/// trailers. A slope for a scene without a plane is an error.
fn overrides_with_files(changes: &Changes, model: &Arc<Model>) -> Result<(Overrides, Vec<PathBuf>)> {
    let roots = allowed_roots(&changes.roots)?;
    let loaded = changes.scene.as_deref().map(|path| LoadedScene::load_from(path, roots)).transpose()?;
    // Changes by arguments alone.
    let asked = Overrides {
        trailers: trailers::load_trailers(&changes.towing, model, &changes.roots)?,
        ..overrides_from_arguments(changes)?
    };
    let Some(LoadedScene { spec: file, scene, notes, files }) = loaded else { return Ok((asked, Vec::new())) };
    for note in notes {
        print_error(&format!("worth a look: {note}"));
    }
    if let (Some(slope), false) = (changes.slope_deg, scene.has_plane) {
        let accepts = "scenes with a plane, whose slope it is; other ground has its own".into();
        let found = format!("{slope} for a scene without a plane");
        Err(BadArgument { argument: "--slope-deg", found, accepts })?;
    }
    let overrides = Overrides {
        scene: Some(scene),
        start_m: file.start_m,
        initial_speed_mps: asked.initial_speed_mps.or(file.speed_mps),
        heading_rad: asked.heading_rad.or(file.heading_deg.map(f64::to_radians)),
        ..asked
    };
    Ok((overrides, files))
}

/// Returns the changes of the arguments without files, in SI units. Checks the ranges, ends included: speed −200 to 200
/// m/s, slope −89° to 89°, heading −360° to 360°, duration 1e-6 to 1e6 s. The error names the first argument out of its
/// range.
fn overrides_from_arguments(changes: &Changes) -> Result<Overrides, BadArgument> {
    // Checks that a value, if it is given, is in a range with both ends.
    let within = |argument, value: Option<f64>, low: f64, high: f64, unit| match value {
        Some(v) if !(low..=high).contains(&v) => Err(BadArgument {
            argument,
            found: v.to_string(),
            accepts: format!("a number from {low} to {high} {unit}"),
        }),
        value => Ok(value),
    };
    Ok(Overrides {
        initial_speed_mps: within("--initial-speed-mps", changes.initial_speed_mps, -200.0, 200.0, "m/s")?,
        slope_rad: within("--slope-deg", changes.slope_deg, -89.0, 89.0, "degrees")?.map(f64::to_radians),
        heading_rad: within("--heading-deg", changes.heading_deg, -360.0, 360.0, "degrees")?.map(f64::to_radians),
        duration_s: within("--duration-s", changes.duration_s, 1e-6, 1e6, "seconds")?,
        ..Overrides::default()
    })
}

/// Returns start and duration of `manoeuvre` with the changes applied.
///
/// # Errors
/// The manoeuvre does not accept a change, the duration is not above 0, or a run with one of `steps` has more than
/// [`MAX_STEPS`] steps.
pub fn setup(
    manoeuvre: &dyn Manoeuvre,
    model: &Model,
    overrides: &Overrides,
    changes: &Changes,
    steps: &[TimeStep],
) -> Result<Setup, BadArgument> {
    let setup = overrides.setup(manoeuvre, model).map_err(|StartRejected { change, found, accepts }| {
        // Whether an argument asked for the change, its name, and the key of the scene that else did.
        let (is_asked, option, key) = match change {
            StartProperty::Speed => {
                (changes.initial_speed_mps.is_some(), "--initial-speed-mps", "`speed_mps` of the scene")
            }
            StartProperty::Heading => (changes.heading_deg.is_some(), "--heading-deg", "`heading_deg` of the scene"),
            StartProperty::Place => (false, "another scene", "`start_m` of the scene"),
        };
        let (argument, other) = if is_asked { (option, String::new()) } else { (key, format!(", or give {option}")) };
        BadArgument { argument, found: format!("a start {found}"), accepts: format!("{accepts}; leave it out{other}") }
    })?;
    steps.iter().try_for_each(|dt| check_duration(&setup, *dt))?;
    Ok(setup)
}

/// Checks that the duration is above 0 and has at most [`MAX_STEPS`] steps of `dt`.
fn check_duration(setup: &Setup, dt: TimeStep) -> Result<(), BadArgument> {
    let steps = setup.duration_s / dt.seconds();
    if setup.duration_s > 0.0 && steps <= MAX_STEPS as f64 {
        return Ok(());
    }
    let found = format!("{} s in steps of {} s", setup.duration_s, dt.seconds());
    let accepts = format!("a duration above 0 of at most {MAX_STEPS} steps; see --duration-s and --dt-s");
    Err(BadArgument { argument: "duration", found, accepts })
}

/// Creates a progress bar over `steps` steps on the standard error. It is only drawn on a terminal.
pub fn progress_bar(steps: u64) -> ProgressBar {
    let bar = ProgressBar::new(steps);
    // The template is a valid constant. If it failed, the default style would remain.
    if let Ok(style) = ProgressStyle::with_template("{msg:12} [{bar:40}] {percent:>3} %  {elapsed}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}
