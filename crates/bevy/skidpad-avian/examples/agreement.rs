//! How far Avian's world agrees with skidpad's own: every shipped vehicle drives every standard manoeuvre.
//!
//! `cargo run --release -p skidpad-avian --example agreement -- PAGE` writes the page, with `--check` behind it compares.

use std::process::ExitCode;

use skidpad_lab::agreement::{JUDGED_HZ, acceptance, measure};

fn main() -> ExitCode {
    let asked: Vec<String> = std::env::args().skip(1).collect();
    let (page, check) = match &asked[..] {
        [page] => (page, false),
        [page, check] if check == "--check" => (page, true),
        _ => {
            eprintln!("PAGE or PAGE --check: the page to write, or to compare with");
            return ExitCode::FAILURE;
        }
    };
    let solvers = [skidpad_impulse::BACKEND, skidpad_constraint::BACKEND, skidpad_avian::BACKEND];
    let drive = |name: &str| {
        let model = skidpad_spec::load(name).map_err(|fault| fault.to_string())?.model;
        eprintln!("{name}");
        measure(&solvers, name, &model, &[JUDGED_HZ], &|_, _| {})
    };
    let runs: Result<Vec<_>, String> = skidpad_spec::shipped::names().map(drive).collect();
    let told = runs.map(|runs| {
        format!(
            "# Avian's world against skidpad's own\n\nWritten by the example `agreement` of `skidpad-avian`, not by hand. \
             [The other solvers](agreement.md) are compared there.\n\n{}",
            acceptance(&runs)
        )
    });
    let done = told.and_then(|told| match check {
        true if std::fs::read_to_string(page).is_ok_and(|found| found == told) => Ok(()),
        true => Err(format!("{page}: out of date")),
        false => std::fs::write(page, told).map_err(|fault| format!("{page}: {fault}")),
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}
