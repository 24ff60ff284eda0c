//! `skidpad fit`: estimates fields of a vehicle file from measured logs and published figures.

use std::path::Path;
use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};
use skidpad::lab::files::write_atomically;
use skidpad::lab::fit::least_squares::{Estimate, Solution};
use skidpad::lab::fit::{Fit, FitResult};

use crate::UNFINISHED_EXIT_CODE;
use crate::arguments::Fit as Arguments;
use crate::errors::{self, Unwritable};
use crate::failure::{Failure, Result};
use crate::output::{TABLE_INDENT, TextTable, print, print_error, printable_path};

/// Number of significant digits of an interval.
const INTERVAL_DIGITS: i32 = 2;

/// Largest number of decimal places of an estimate.
const MAX_DECIMALS: i32 = 9;

/// Estimates the parameters of a description of a fit, and prints the result of [`summary`]. Writes the vehicle file
/// with the estimates, and a JSON file, if they are named. No output may be an input or the other output; this is
/// checked before the search.
///
/// Returns [`UNFINISHED_EXIT_CODE`] with a warning if the search ended without convergence. The files are written in
/// this case, too.
pub fn fit(arguments: &Arguments) -> Result<ExitCode> {
    let outputs = [("--out", arguments.out.as_deref()), ("--json", arguments.json.as_deref())];
    let outputs = || outputs.into_iter().filter_map(|(argument, path)| Some((argument, path?)));
    for (argument, path) in outputs() {
        errors::check_not_overwriting(argument, path, &[("the description of the fit", Some(&arguments.file))])?;
    }
    if let (Some(out), Some(json)) = (&arguments.out, &arguments.json) {
        errors::check_not_overwriting("--json", json, &[("the output of --out", Some(out))])?;
    }
    let solvers: Vec<_> = skidpad::solvers().into_iter().chain(skidpad::solver_variants()).collect();
    let fit = Fit::load(&arguments.file, &solvers)?;
    for (argument, path) in outputs() {
        let inputs: Vec<_> = fit.input_files().map(|file| ("an input of the fit", Some(file))).collect();
        errors::check_not_overwriting(argument, path, &inputs)?;
    }
    errors::check_writable(outputs().map(|(_, path)| path))?;
    let spinner = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {pos} cars simulated  {elapsed}") {
        spinner.set_style(style);
    }
    let result = fit.run(&mut |cars| spinner.set_position(cars as u64)).map_err(Failure::from_error)?;
    spinner.finish_and_clear();
    if let Some(path) = &arguments.out {
        write(path, &result.vehicle_text)?;
    }
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&result.to_json()).map_err(Failure::from_error)?;
        write(path, &format!("{text}\n"))?;
    }
    print(&summary(arguments, &result))?;
    if result.solution.has_converged {
        return Ok(ExitCode::SUCCESS);
    }
    print_error("warning: the search ended without convergence; narrow the bounds, or start closer to the solution");
    Ok(ExitCode::from(UNFINISHED_EXIT_CODE))
}

/// Writes `text` to the file at `path`; the file is complete or not written at all.
fn write(path: &Path, text: &str) -> Result<()> {
    Ok(write_atomically(path, |out| out.write_all(text.as_bytes())).map_err(Unwritable::from)?)
}

/// Returns the printed result, in this order: number of simulated cars, table of the parameters (start, estimate, 95 %
/// interval), combinations of parameters that the data do not identify, pairs of parameters that depend on each other,
/// table of the differences from each quantity (root mean square at the start and at the estimates), root mean square
/// of all differences in standard deviations, and the path of the written vehicle file if `--out` names one.
fn summary(arguments: &Arguments, result: &FitResult) -> String {
    let solution = &result.solution;
    let mut text = format!("{} cars simulated\n\n{}", solution.evaluations, parameter_table(solution));
    for combination in &solution.unidentified {
        let members: Vec<String> = combination.iter().map(|(name, share)| format!("{share:+.2} {name}")).collect();
        text.push_str(&format!(
            "\n  The data do not identify this combination (shares of the ranges): {}\n",
            members.join(", ")
        ));
    }
    for (first, second, correlation) in &solution.correlations {
        text.push_str(&format!("\n  {first} and {second} depend on each other: correlation {correlation:+.3}\n"));
    }
    let mut table = TextTable::new(2);
    table.push_row(["source", "quantity", "rms at the start", "rms"]);
    for agreement in &result.agreement {
        let [start, end] = agreement.rms.map(|rms| format!("{rms:.3e}"));
        table.push_row([agreement.source.clone(), agreement.quantity.clone(), start, end]);
    }
    text.push_str(&format!("\n{}", table.to_text(TABLE_INDENT)));
    let deviations = format!("{:.2} standard deviations", solution.rms);
    text.push_str(&format!(
        "\n  Differences have a root mean square of {deviations} ({:.2} at the start).\n",
        solution.start_rms
    ));
    if let Some(path) = &arguments.out {
        text.push_str(&format!("\nvehicle  {}\n", printable_path(path)));
    }
    text
}

/// Returns the table of the parameters: start, estimate and 95 % interval. Without an interval the cell states that the
/// estimate is at its bound, or that the parameter is not identified.
fn parameter_table(solution: &Solution) -> String {
    let mut table = TextTable::new(1);
    table.push_row(["parameter", "start", "estimate", "95 % interval"]);
    for estimate in &solution.estimates {
        let decimals = decimals(estimate);
        let interval = match estimate.interval {
            Some(interval) => format!("± {interval:.decimals$}"),
            None if estimate.is_at_bound => "at its bound".into(),
            None => "not identified".into(),
        };
        let start = estimate.parameter.start.to_string();
        table.push_row([estimate.parameter.name.clone(), start, format!("{:.decimals$}", estimate.value), interval]);
    }
    table.to_text(TABLE_INDENT)
}

/// Returns the number of decimal places that shows [`INTERVAL_DIGITS`] digits of the interval, or four of the value
/// without an interval.
fn decimals(estimate: &Estimate) -> usize {
    let (size, digits) = match estimate.interval {
        Some(interval) => (interval, INTERVAL_DIGITS),
        None => (estimate.value.abs(), 4),
    };
    let exponent = if size > 0.0 { size.log10().floor() as i32 } else { 0 };
    usize::try_from((digits - 1 - exponent).clamp(0, MAX_DECIMALS)).unwrap_or(0)
}
