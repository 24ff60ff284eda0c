//! `skidpad certify`: runs manoeuvres at several step rates, prints tables and writes a report.

use std::process::ExitCode;

use skidpad::lab::compare::POSITION_NOISE_MM;
use skidpad::lab::report::StepSizeReport;
use skidpad::lab::step_size_study::{SolverSummary, StepSizeStudy, StudyRow};
use skidpad::lab::{Manoeuvre, TimeStep, sweep};
use skidpad::spec::printable::one_line;

use crate::UNFINISHED_EXIT_CODE;
use crate::arguments::Certify;
use crate::capabilities::capable_backends;
use crate::compare::{backends, file_stem, result_paths, selected_manoeuvres};
use crate::errors::{self, BadArgument, Unwritable};
use crate::failure::Result;
use crate::output::{Table, print, print_error, print_notes, printable_path};
use crate::roots::load_vehicle;
use crate::run::{overrides, progress_bar, setup};

/// Maximum number of deciding figures per row of the table; the report lists all of them.
const MAX_NAMED_METRICS: usize = 1;

/// Simulates the manoeuvres on each solver at every rate, prints the tables and writes the HTML report and the CSV
/// table. Returns the exit code of [`health`]. All arguments, files and output paths are checked before the first run.
pub fn certify(asked: &Certify) -> Result<ExitCode> {
    let backends = backends(&asked.backends)?;
    let vehicle = load_vehicle(&asked.vehicle, &asked.changes.roots)?;
    print_notes(&vehicle);
    let steps = parse_rates(&asked.rates_hz)?;
    // Accepted deviation, %.
    let within = check_deviation(asked.within_percent)?;
    let overrides = overrides(&asked.changes, &vehicle.model)?;
    let backends = capable_backends(backends, !asked.backends.is_empty(), &overrides)?;
    let names = selected_manoeuvres(&asked.manoeuvre, &asked.changes);
    let mut manoeuvres: Vec<Box<dyn Manoeuvre>> = Vec::new();
    for name in &names {
        let manoeuvre = errors::find_manoeuvre(name)?.build_standard(&overrides);
        setup(manoeuvre.as_ref(), &vehicle.model, &overrides, &asked.changes, &steps)?;
        manoeuvres.push(manoeuvre);
    }
    let stem = file_stem(&asked.vehicle, &[&["certificate".to_string()], &names[..]].concat());
    let [page, figures] = result_paths(&asked.out, &stem)?;
    print(&format!(
        "{}, steps that keep a figure within {within} %\n{}\n",
        one_line(&vehicle.spec.name),
        tolerance_line()
    ))?;
    let mut certificates = Vec::new();
    for manoeuvre in &manoeuvres {
        // The progress sets the length.
        let bar = progress_bar(0);
        bar.set_message(manoeuvre.name());
        let runs = sweep(&backends, &vehicle.model, manoeuvre.as_ref(), &overrides, &steps, &|progress| {
            bar.set_length(progress.total);
            bar.set_position(progress.done);
        });
        bar.finish_and_clear();
        let certificate = StepSizeStudy::new(runs, within);
        print(&tables(&certificate))?;
        certificates.push(certificate);
    }
    print(&totals(&certificates))?;
    let report = StepSizeReport { vehicle: &vehicle.spec.name, backends: &backends, studies: &certificates };
    report.save_html(&page).map_err(Unwritable::from)?;
    report.save_csv(&figures).map_err(Unwritable::from)?;
    print(&format!("\nreport   {}\nfigures  {}\n", printable_path(&page), printable_path(&figures)))?;
    Ok(health(&certificates))
}

/// Returns the line about the fixed tolerances that apply besides the requested one; see [`skidpad::lab::Spread`].
fn tolerance_line() -> String {
    format!(
        "figures in mm are kept within {POSITION_NOISE_MM} mm, too, times within half a step; what shows as 0 is not judged"
    )
}

/// Returns the step lengths of the rates (Hz) in the given order, without repetitions. Fails for a rate that
/// [`TimeStep`] does not accept, and for less than two different rates.
fn parse_rates(rates_hz: &[f64]) -> Result<Vec<TimeStep>, BadArgument> {
    let bad = |found: String, accepts| BadArgument { argument: "--rates-hz", found, accepts };
    let mut steps = Vec::new();
    for &rate in rates_hz {
        let dt = TimeStep::from_rate_hz(rate).map_err(|accepts| bad(rate.to_string(), accepts))?;
        if !steps.contains(&dt) {
            steps.push(dt);
        }
    }
    if steps.len() < 2 {
        return Err(bad("one rate".into(), "at least two different rates".into()));
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

/// Returns the title of the manoeuvre and one table per solver: figures in rows, rates in columns, then the order of
/// convergence and the longest step that keeps the figure.
fn tables(certificate: &StepSizeStudy) -> String {
    let sweep = &certificate.sweep;
    let mut text = format!("\n{}: {}\n", sweep.manoeuvre, sweep.about);
    for (number, rate_sweep) in sweep.rate_sweeps.iter().enumerate() {
        // Right-aligned from column 1 on.
        let mut table = Table::new(1);
        let rates = rate_sweep.samples.iter().map(|s| format!("{:.0} Hz", 1.0 / s.dt_s));
        let name = if rate_sweep.peer { format!("{} (peer)", rate_sweep.backend) } else { rate_sweep.backend.into() };
        table.row([name, "unit".into()].into_iter().chain(rates).chain(["order", "holds up to"].map(String::from)));
        for row in &certificate.rows {
            table.row(cells(row, number));
        }
        text.push_str(&format!("\n{}", table.text(2)));
    }
    text
}

/// Returns the cells of a figure in the table of solver `number`: label, unit, value at each rate, order of
/// convergence, longest step.
fn cells(row: &StudyRow, number: usize) -> Vec<String> {
    let verdict = &row.verdicts[number];
    let mut cells = vec![row.metric.label.clone(), row.metric.unit.to_string()];
    cells.extend(verdict.values.iter().map(|value| row.metric.with_value(*value).text()));
    cells.extend([verdict.order.text(), verdict.step_limit.text()]);
    cells
}

/// Prints a warning to the standard error for each solver and rate with an unsolved step (a value that is not finite,
/// or no convergence), with a car that left the ground of the scene, or with an unfinished course. Returns the exit
/// code by the rules of [`crate::run::health`].
fn health(certificates: &[StepSizeStudy]) -> ExitCode {
    let rate_sweeps = certificates.iter().flat_map(|certificate| &certificate.sweep.rate_sweeps);
    let mut code = ExitCode::SUCCESS;
    for rate_sweep in rate_sweeps {
        for sample in &rate_sweep.samples {
            let not_solved = sample.worst_report.not_finite || sample.worst_report.not_converged;
            if not_solved {
                let step_ms = sample.dt_s * 1e3;
                print_error(&format!("warning: {} did not solve every step of {step_ms:.2} ms", rate_sweep.backend));
            }
            if let Some(left) = sample.off_scene {
                let [backend, left] = [rate_sweep.backend, &left.text()];
                print_error(&format!("warning: in steps of {:.2} ms on {backend} the car {left}", sample.dt_s * 1e3));
            }
            if let Some(unfinished) = sample.incomplete {
                let [backend, unfinished] = [rate_sweep.backend, &unfinished.text()];
                print_error(&format!(
                    "warning: in steps of {:.2} ms on {backend} the car {unfinished}",
                    sample.dt_s * 1e3
                ));
            }
            if sample.off_scene.is_some() || (not_solved || sample.incomplete.is_some()) && !rate_sweep.peer {
                code = ExitCode::from(UNFINISHED_EXIT_CODE);
            }
        }
    }
    code
}

/// Returns the table of the longest step that keeps every figure, for each manoeuvre and solver, with the deciding
/// figures.
fn totals(certificates: &[StepSizeStudy]) -> String {
    // No column is right-aligned.
    let mut table = Table::new(usize::MAX);
    table.row(["manoeuvre", "solver", "holds up to", "decided by"]);
    for certificate in certificates {
        for total in certificate.solver_summaries() {
            let (manoeuvre, decided) = (certificate.sweep.manoeuvre.to_string(), decided_by(&total));
            table.row([manoeuvre, total.backend.to_string(), total.step_limit.text(), decided]);
        }
    }
    format!("\nLongest step that keeps every figure\n\n{}", table.text(2))
}

/// Returns the first [`MAX_NAMED_METRICS`] figures that limit the step, and the number of further ones.
fn decided_by(total: &SolverSummary) -> String {
    let named = total.limiting_metrics.iter().take(MAX_NAMED_METRICS).cloned().collect::<Vec<_>>().join(", ");
    match total.limiting_metrics.len().saturating_sub(MAX_NAMED_METRICS) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
