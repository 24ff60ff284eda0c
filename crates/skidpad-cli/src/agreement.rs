//! `skidpad agreement`: Markdown pages about the agreement of the solvers.

use std::process::ExitCode;

use skidpad::Solver;
use skidpad::lab::agreement::{
    AGREEMENT_RATE_HZ, COMPARED_VEHICLES, REQUIRED_RATES_HZ, SUMMARY_PAGE, VehicleRuns, faults, measure, pages,
    summary_page_start,
};
use skidpad::lab::files::write_atomically;
use skidpad::spec::files::{FileKind, read_lossy};

use crate::arguments::Agreement;
use crate::errors::Unwritable;
use crate::failure::{Failure, Result};
use crate::output::{print, print_error, printable_path};
use crate::run::{create_progress_bar, show_progress};

/// Simulates the compared manoeuvres with [`COMPARED_VEHICLES`] on every solver, then writes the summary page to
/// `--out` and the pages of the vehicles to `--details`. Prints each written path to the standard output.
///
/// The flag `--check` runs [`AGREEMENT_RATE_HZ`] only and writes nothing. Instead the start of the summary page in
/// `--out` is compared with the new results; a missing page counts as empty.
///
/// Prints each problem to the standard error: a spread above the accepted one without a reason, a stated reason that is
/// not needed, a page that is out of date. Returns the exit code for failure if there is a problem.
pub fn agreement(arguments: &Agreement) -> Result<ExitCode> {
    let rates_hz: &[f64] = if arguments.check { &[AGREEMENT_RATE_HZ] } else { &REQUIRED_RATES_HZ };
    let runs = COMPARED_VEHICLES.iter().map(|name| simulate_vehicle(name, rates_hz)).collect::<Result<Vec<_>>>()?;
    let mut problems = faults(&runs);
    if arguments.check {
        let path = arguments.out.join(SUMMARY_PAGE);
        // A page that cannot be read counts as empty.
        let current_text = read_lossy(&path, FileKind::Page).unwrap_or_default();
        let describe_stale_line = |line| format!("{}, line {line}: out of date", path.display());
        problems.extend(first_difference(&summary_page_start(&runs), &current_text).map(describe_stale_line));
    } else {
        for page in pages(&runs) {
            let folder = if page.file == SUMMARY_PAGE { &arguments.out } else { &arguments.details };
            let path = folder.join(&page.file);
            write_atomically(&path, |out| out.write_all(page.text.as_bytes())).map_err(Unwritable::from)?;
            print(&format!("{}\n", printable_path(&path)))?;
        }
    }
    for problem in &problems {
        print_error(problem);
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Simulates the compared manoeuvres with the shipped vehicle `name` at `rates_hz` (Hz), and the runs for the order of
/// convergence, without progress. The solvers are those of
/// [`skidpad::solvers`], and the variant of the constraint solver with separate unsprung masses. Shows a progress bar.
fn simulate_vehicle(name: &str, rates_hz: &[f64]) -> Result<VehicleRuns> {
    let vehicle = skidpad::spec::load(name)?;
    // The progress sets the length.
    let progress_bar = create_progress_bar(0);
    let solvers: Vec<_> = skidpad::solvers().into_iter().chain([Solver::ConstraintUnsprung.info()]).collect();
    let measured = measure(&solvers, name, &vehicle.model, rates_hz, &|manoeuvre, progress| {
        progress_bar.set_message(manoeuvre);
        show_progress(&progress_bar, progress)
    });
    progress_bar.finish_and_clear();
    let mut runs = measured.map_err(Failure::from_error)?;
    runs.measure_convergence(&solvers);
    Ok(runs)
}

/// Returns the number of the first line, counted from 1, in which `actual` differs from `expected`; `None` if `actual`
/// starts with `expected`.
fn first_difference(expected: &str, actual: &str) -> Option<usize> {
    if actual.starts_with(expected) {
        return None;
    }
    // Number of equal lines at the start.
    let equal_lines = expected.lines().zip(actual.lines()).take_while(|(a, b)| a == b).count();
    Some(equal_lines + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks equal, longer, different, shorter and empty texts against two lines.
    #[test]
    fn the_first_line_that_differs_is_told() {
        let cases = [
            ("one\ntwo\n", None),
            ("one\ntwo\nmore\n", None),
            ("one\n2\n", Some(2)),
            ("one\n", Some(2)),
            ("", Some(1)),
        ];
        for (found, line) in cases {
            assert_eq!(first_difference("one\ntwo\n", found), line);
        }
    }
}
