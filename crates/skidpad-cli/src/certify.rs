//! `skidpad certify`: runs manoeuvres at several step rates, prints tables and writes a report.

use std::process::ExitCode;

use skidpad::lab::certify::{Certificate, Row, Total};
use skidpad::lab::compare::CLOSED_MM;
use skidpad::lab::report::CertificateReport;
use skidpad::lab::{Manoeuvre, TimeStep, sweep};
use skidpad::spec::printable::one_line;

use crate::UNFINISHED;
use crate::able::able;
use crate::arguments::Certify;
use crate::compare::{backends, file_stem, manoeuvres_of, results};
use crate::fail::{self, BadArgument, Unwritable};
use crate::failure::Result;
use crate::output::{Table, print, shown, tell, tell_notes};
use crate::roots::vehicle;
use crate::run::{overrides, progress_bar, setup};

/// Maximum number of deciding figures per row of the table; the report lists all of them.
const MOST_NAMED: usize = 1;

/// Simulates the manoeuvres at every rate, prints the tables and writes the report.
pub fn certify(asked: &Certify) -> Result<ExitCode> {
    let backends = backends(&asked.backends)?;
    let vehicle = vehicle(&asked.vehicle, &asked.changes.roots)?;
    tell_notes(&vehicle);
    let steps = steps(&asked.rates_hz)?;
    let within = within(asked.within_percent)?;
    let overrides = overrides(&asked.changes, &vehicle.model)?;
    let backends = able(backends, !asked.backends.is_empty(), &overrides)?;
    let names = manoeuvres_of(&asked.manoeuvre, &asked.changes);
    let mut manoeuvres: Vec<Box<dyn Manoeuvre>> = Vec::new();
    for name in &names {
        let manoeuvre = fail::manoeuvre(name)?.standard(&overrides);
        setup(manoeuvre.as_ref(), &vehicle.model, &overrides, &asked.changes, &steps)?;
        manoeuvres.push(manoeuvre);
    }
    let stem = file_stem(&asked.vehicle, &[&["certificate".to_string()], &names[..]].concat());
    let [page, figures] = results(&asked.out, &stem)?;
    print(&format!("{}, steps that keep a figure within {within} %\n{}\n", one_line(&vehicle.spec.name), floors()))?;
    let mut certificates = Vec::new();
    for manoeuvre in &manoeuvres {
        let bar = progress_bar(0);
        bar.set_message(manoeuvre.name());
        let runs = sweep(&backends, &vehicle.model, manoeuvre.as_ref(), &overrides, &steps, &|progress| {
            bar.set_length(progress.total);
            bar.set_position(progress.done);
        });
        bar.finish_and_clear();
        let certificate = Certificate::of(runs, within);
        print(&tables(&certificate))?;
        certificates.push(certificate);
    }
    print(&totals(&certificates))?;
    let report = CertificateReport { vehicle: &vehicle.spec.name, backends: &backends, certificates: &certificates };
    report.save_html(&page).map_err(Unwritable::from)?;
    report.save_csv(&figures).map_err(Unwritable::from)?;
    print(&format!("\nreport   {}\nfigures  {}\n", shown(&page), shown(&figures)))?;
    Ok(health(&certificates))
}

/// Returns the line about the fixed tolerances that apply besides the requested one; see [`skidpad::lab::Spread`].
fn floors() -> String {
    format!(
        "figures in mm are kept within {CLOSED_MM} mm, too, times within half a step; what shows as 0 is not judged"
    )
}

fn steps(rates_hz: &[f64]) -> Result<Vec<TimeStep>, BadArgument> {
    let bad = |found: String, accepts| BadArgument { argument: "--rates-hz", found, accepts };
    let mut steps = Vec::new();
    for &rate in rates_hz {
        let dt = TimeStep::per_second(rate).map_err(|accepts| bad(rate.to_string(), accepts))?;
        if !steps.contains(&dt) {
            steps.push(dt);
        }
    }
    if steps.len() < 2 {
        return Err(bad("one rate".into(), "at least two different rates".into()));
    }
    Ok(steps)
}

fn within(percent: f64) -> Result<f64, BadArgument> {
    if percent > 0.0 && percent.is_finite() {
        return Ok(percent);
    }
    let accepts = "a finite number above 0".into();
    Err(BadArgument { argument: "--within-percent", found: percent.to_string(), accepts })
}

/// Returns one table per solver: figures in rows, rates in columns, then the order of convergence and the longest step
/// that keeps the figure.
fn tables(certificate: &Certificate) -> String {
    let sweep = &certificate.sweep;
    let mut text = format!("\n{}: {}\n", sweep.manoeuvre, sweep.about);
    for (number, rate_sweep) in sweep.rate_sweeps.iter().enumerate() {
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

fn cells(row: &Row, number: usize) -> Vec<String> {
    let verdict = &row.verdicts[number];
    let mut cells = vec![row.metric.label.clone(), row.metric.unit.to_string()];
    cells.extend(verdict.values.iter().map(|value| row.metric.with(*value).text()));
    cells.extend([verdict.order.text(), verdict.holds.text()]);
    cells
}

/// Prints warnings about unsolved steps, and about cars that left the ground of the scene or did not finish the course.
/// Returns the exit code; see [`crate::run::health`].
fn health(certificates: &[Certificate]) -> ExitCode {
    let rate_sweeps = certificates.iter().flat_map(|certificate| &certificate.sweep.rate_sweeps);
    let mut code = ExitCode::SUCCESS;
    for rate_sweep in rate_sweeps {
        for sample in &rate_sweep.samples {
            let not_solved = sample.worst.not_finite || sample.worst.not_converged;
            if not_solved {
                let step_ms = sample.dt_s * 1e3;
                tell(&format!("warning: {} did not solve every step of {step_ms:.2} ms", rate_sweep.backend));
            }
            if let Some(left) = sample.left_ground {
                let [backend, left] = [rate_sweep.backend, &left.text()];
                tell(&format!("warning: in steps of {:.2} ms on {backend} the car {left}", sample.dt_s * 1e3));
            }
            if let Some(unfinished) = sample.unfinished {
                let [backend, unfinished] = [rate_sweep.backend, &unfinished.text()];
                tell(&format!("warning: in steps of {:.2} ms on {backend} the car {unfinished}", sample.dt_s * 1e3));
            }
            if sample.left_ground.is_some() || (not_solved || sample.unfinished.is_some()) && !rate_sweep.peer {
                code = ExitCode::from(UNFINISHED);
            }
        }
    }
    code
}

fn totals(certificates: &[Certificate]) -> String {
    let mut table = Table::new(usize::MAX);
    table.row(["manoeuvre", "solver", "holds up to", "decided by"]);
    for certificate in certificates {
        for total in certificate.totals() {
            let (manoeuvre, decided) = (certificate.sweep.manoeuvre.to_string(), decided_by(&total));
            table.row([manoeuvre, total.backend.to_string(), total.holds.text(), decided]);
        }
    }
    format!("\nLongest step that keeps every figure\n\n{}", table.text(2))
}

fn decided_by(total: &Total) -> String {
    let named = total.decided_by.iter().take(MOST_NAMED).cloned().collect::<Vec<_>>().join(", ");
    match total.decided_by.len().saturating_sub(MOST_NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
