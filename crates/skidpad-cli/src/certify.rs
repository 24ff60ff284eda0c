//! `skidpad certify`: runs manoeuvres at several step rates, prints tables and writes a report.

use std::process::ExitCode;

use skidpad::lab::compare::POSITION_NOISE_MM;
use skidpad::lab::report::StepSizeReport;
use skidpad::lab::step_size_study::{SolverSummary, StepSizeStudy, StudyRow};
use skidpad::lab::{Procedure, TimeStep, run_rates};
use skidpad::spec::printable::one_line;

use crate::UNFINISHED_EXIT_CODE;
use crate::arguments::Certify;
use crate::capabilities::{capable_backends, check_named};
use crate::compare::select_solvers;
use crate::comparison_study::{manoeuvre_names, result_paths, vehicle_stem};
use crate::errors::{self, BadArgument, Unwritable};
use crate::failure::Result;
use crate::output::{TABLE_INDENT, TextTable, print, print_error, print_notes, printable_path};
use crate::roots::load_vehicle;
use crate::run::{check_parameters, create_progress_bar, read_overrides, resolve_setup, show_progress};

/// Maximum number of deciding figures per row of the table; the report lists all of them.
const MAX_NAMED_METRICS: usize = 1;

/// Simulates the manoeuvres on each solver at every rate, prints the tables and writes the HTML report and the CSV
/// table. Returns the exit code of [`report_health`].
///
/// All arguments, files and output paths are checked before the first run. The tables of a manoeuvre are printed after
/// its runs, the totals and the paths at the end. Notes about the vehicle are printed to the standard error.
pub fn certify(arguments: &Certify) -> Result<ExitCode> {
    let backends = select_solvers(&arguments.solvers)?;
    let vehicle = load_vehicle(&arguments.vehicle, &arguments.changes.roots, &arguments.vehicle_changes)?;
    print_notes(&vehicle);
    let steps = parse_rates(&arguments.rates_hz)?;
    let accepted_percent = check_deviation(arguments.within_percent)?;
    let overrides = read_overrides(&arguments.changes, &vehicle.model)?;
    let backends = capable_backends(backends, !arguments.solvers.is_empty(), &overrides)?;
    let names = manoeuvre_names(&arguments.manoeuvre, &arguments.changes);
    let mut manoeuvres: Vec<Box<dyn Procedure>> = Vec::new();
    let entries = names.iter().map(|name| errors::find_manoeuvre(name)).collect::<Result<Vec<_>, _>>()?;
    check_parameters(&overrides, &entries)?;
    for entry in entries {
        let manoeuvre = entry.build_standard(&overrides);
        let setup = resolve_setup(manoeuvre.as_ref(), &vehicle.model, &overrides, &arguments.changes, &steps)?;
        check_named(&arguments.solvers, &backends, manoeuvre.as_ref(), &setup)?;
        manoeuvres.push(manoeuvre);
    }
    // Such as `corvette_c5_certificate_step-steer_braking`.
    let stem = format!("{}_certificate_{}", vehicle_stem(&arguments.vehicle), names.join("_"));
    let [page_path, csv_path] = result_paths(&arguments.out, &stem)?;
    print(&format!(
        "{}: longest steps that keep each metric within {accepted_percent} % of its reference\n{}\n",
        one_line(&vehicle.spec.name),
        tolerance_line()
    ))?;
    let mut studies = Vec::new();
    for manoeuvre in &manoeuvres {
        // The progress sets the length.
        let progress_bar = create_progress_bar(0);
        progress_bar.set_message(manoeuvre.name());
        let rate_runs = run_rates(&backends, &vehicle.model, manoeuvre.as_ref(), &overrides, &steps, &|progress| {
            show_progress(&progress_bar, progress)
        });
        progress_bar.finish_and_clear();
        let study = StepSizeStudy::new(rate_runs, accepted_percent);
        print(&metric_tables(&study))?;
        studies.push(study);
    }
    print(&totals_table(&studies))?;
    let report = StepSizeReport { vehicle: &vehicle.spec.name, backends: &backends, studies: &studies };
    report.save_html(&page_path).map_err(Unwritable::from)?;
    report.save_csv(&csv_path).map_err(Unwritable::from)?;
    print(&format!("\nreport   {}\nmetrics  {}\n", printable_path(&page_path), printable_path(&csv_path)))?;
    Ok(report_health(&studies))
}

/// Returns the line about the fixed tolerances that apply besides the requested one; see [`skidpad::lab::Spread`].
fn tolerance_line() -> String {
    format!(
        "also accepted: lengths in mm within {POSITION_NOISE_MM} mm, times within half a step; values printed as 0 are not judged"
    )
}

/// Returns the step lengths of the rates (Hz) in the given order, without repetitions. Fails for a rate that
/// [`TimeStep`] does not accept, and for less than two different rates.
fn parse_rates(rates_hz: &[f64]) -> Result<Vec<TimeStep>, BadArgument> {
    let bad_argument = |found: String, accepts| BadArgument { argument: "--rates-hz", found, accepts };
    let mut steps = Vec::new();
    for &rate_hz in rates_hz {
        let dt = TimeStep::from_rate_hz(rate_hz).map_err(|accepts| bad_argument(rate_hz.to_string(), accepts))?;
        // Repeated rates are dropped.
        if !steps.contains(&dt) {
            steps.push(dt);
        }
    }
    if steps.len() < 2 {
        return Err(bad_argument("one rate".into(), "at least two different rates".into()));
    }
    Ok(steps)
}

/// Checks that the accepted deviation (%) is finite and above 0, and returns it.
fn check_deviation(percent: f64) -> Result<f64, BadArgument> {
    if percent > 0.0 && percent.is_finite() {
        return Ok(percent);
    }
    let accepts = "a finite number above 0".into();
    Err(BadArgument { argument: "--within-percent", found: percent.to_string(), accepts })
}

/// Returns the title of the manoeuvre and a table for each solver: metrics in rows, step rates in columns, then the
/// order of convergence and the longest step that keeps the metric. The head of the first column is the name of the
/// solver, with `(reference)` for a peer (a solver that only serves comparisons).
fn metric_tables(study: &StepSizeStudy) -> String {
    let rate_runs = &study.rate_runs;
    let mut text = format!("\n{}: {}\n", rate_runs.manoeuvre, rate_runs.about);
    for (solver_number, solver_runs) in rate_runs.solvers.iter().enumerate() {
        // Right-aligned from column 1 on.
        let mut table = TextTable::new(1);
        let rate_heads = solver_runs.samples.iter().map(|sample| format!("{:.0} Hz", 1.0 / sample.dt_s));
        let solver_head =
            if solver_runs.peer { format!("{} (reference)", solver_runs.backend) } else { solver_runs.backend.into() };
        table.push_row(
            [solver_head, "unit".into()]
                .into_iter()
                .chain(rate_heads)
                .chain(["order", "longest step"].map(String::from)),
        );
        for row in &study.rows {
            table.push_row(metric_cells(row, solver_number));
        }
        text.push_str(&format!("\n{}", table.to_text(TABLE_INDENT)));
    }
    text
}

/// Returns the cells of a metric in the table of solver number `solver_number`: label, unit, value at each rate, order
/// of convergence, longest step that keeps the metric.
fn metric_cells(row: &StudyRow, solver_number: usize) -> Vec<String> {
    let verdict = &row.verdicts[solver_number];
    let mut cells = vec![row.metric.label.clone(), row.metric.unit.to_string()];
    cells.extend(verdict.values.iter().map(|value| row.metric.with_value(*value).text()));
    cells.extend([verdict.order.text(), verdict.step_limit.text()]);
    cells
}

/// Prints a warning to the standard error for each solver and step length with an unsolved step (a value that is not
/// finite, or no convergence), with a car that left the ground of the scene, or with an unfinished course.
///
/// Returns [`UNFINISHED_EXIT_CODE`] if any car left the ground, or if a solver that is no peer has an unsolved step or
/// an unfinished course; otherwise success.
fn report_health(studies: &[StepSizeStudy]) -> ExitCode {
    let solvers = studies.iter().flat_map(|study| &study.rate_runs.solvers);
    let mut exit_code = ExitCode::SUCCESS;
    for solver_runs in solvers {
        for sample in &solver_runs.samples {
            let is_unsolved = sample.worst_report.not_finite || sample.worst_report.not_converged;
            if is_unsolved {
                let step_ms = sample.dt_s * 1e3;
                print_error(&format!(
                    "warning: {}, step length {step_ms:.2} ms: not every step was solved",
                    solver_runs.backend
                ));
            }
            if let Some(off_scene) = sample.off_scene {
                let [backend, reason] = [solver_runs.backend, &off_scene.text()];
                print_error(&format!("warning: {backend}, step length {:.2} ms: the car {reason}", sample.dt_s * 1e3));
            }
            if let Some(incomplete_course) = sample.incomplete {
                let [backend, reason] = [solver_runs.backend, &incomplete_course.text()];
                print_error(&format!("warning: {backend}, step length {:.2} ms: the car {reason}", sample.dt_s * 1e3));
            }
            // An unsolved step or an unfinished course of a peer is no failure.
            if sample.off_scene.is_some() || (is_unsolved || sample.incomplete.is_some()) && !solver_runs.peer {
                exit_code = ExitCode::from(UNFINISHED_EXIT_CODE);
            }
        }
    }
    exit_code
}

/// Returns the table of the longest step that keeps every metric, for each manoeuvre and solver, with the metrics that
/// limit it.
fn totals_table(studies: &[StepSizeStudy]) -> String {
    // No column is right-aligned.
    let mut table = TextTable::new(usize::MAX);
    table.push_row(["manoeuvre", "solver", "longest step", "limited by"]);
    for study in studies {
        for summary in study.solver_summaries() {
            let (manoeuvre, deciding_metrics) =
                (study.rate_runs.manoeuvre.to_string(), limiting_metrics_text(&summary));
            table.push_row([manoeuvre, summary.backend.to_string(), summary.step_limit.text(), deciding_metrics]);
        }
    }
    format!("\nLongest step that keeps every metric\n\n{}", table.to_text(TABLE_INDENT))
}

/// Returns the first [`MAX_NAMED_METRICS`] metrics that limit the step, and the number of further ones. The text is
/// empty if no metric limits the step.
fn limiting_metrics_text(summary: &SolverSummary) -> String {
    let named_metrics = summary.limiting_metrics.iter().take(MAX_NAMED_METRICS).cloned().collect::<Vec<_>>().join(", ");
    match summary.limiting_metrics.len().saturating_sub(MAX_NAMED_METRICS) {
        0 => named_metrics,
        remaining_count => format!("{named_metrics} and {remaining_count} more"),
    }
}
