//! `skidpad agreement`: how far the solvers agree, as pages of Markdown.

use std::process::ExitCode;

use miette::IntoDiagnostic;
use skidpad::lab::agreement::{DRIVEN_HZ, Page, Runs, faults, measure, pages};
use skidpad::lab::files::write_atomically;

use crate::arguments::Agreement;
use crate::output::print;
use crate::run::progress_bar;

/// The mode that differs on purpose: its figures stand beside the closed forms of the difference.
const OWN_WHEELS: &str = "constraint-unsprung";

/// Drives everything, then writes or checks the pages; fails when solvers part further than is accepted.
pub fn agreement(asked: &Agreement) -> miette::Result<ExitCode> {
    let runs = skidpad::spec::shipped::names().map(drive).collect::<miette::Result<Vec<_>>>()?;
    let mut problems = faults(&runs);
    for page in pages(&runs) {
        let path = asked.out.join(&page.file);
        if !asked.check {
            write_atomically(&path, |out| out.write_all(page.text.as_bytes())).into_diagnostic()?;
            print(&format!("{}\n", path.display()))?;
        } else if let Some(line) = first_difference(&page, &std::fs::read_to_string(&path).unwrap_or_default()) {
            problems.push(format!("{}, line {line}: out of date", path.display()));
        }
    }
    for problem in &problems {
        eprintln!("{problem}");
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn drive(name: &str) -> miette::Result<Runs> {
    let vehicle = skidpad::spec::load(name)?;
    let bar = progress_bar(0);
    let solvers: Vec<_> = skidpad::backends().into_iter().chain(skidpad::backend(OWN_WHEELS)).collect();
    let found = measure(&solvers, name, &vehicle.model, &DRIVEN_HZ, &|manoeuvre, progress| {
        bar.set_message(manoeuvre);
        bar.set_length(progress.total);
        bar.set_position(progress.done);
    });
    bar.finish_and_clear();
    found.map_err(miette::Report::msg)
}

/// Number of the first line in which the file differs from the page.
fn first_difference(page: &Page, found: &str) -> Option<usize> {
    if page.text == found {
        return None;
    }
    let same = page.text.lines().zip(found.lines()).take_while(|(a, b)| a == b).count();
    Some(same + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_told() {
        let page = Page { file: "a.md".into(), text: "one\ntwo\n".into() };
        for (found, line) in [("one\ntwo\n", None), ("one\n2\n", Some(2)), ("one\n", Some(2)), ("", Some(1))] {
            assert_eq!(first_difference(&page, found), line);
        }
    }
}
