//! How far Avian's world agrees with skidpad's own: every shipped vehicle drives every standard manoeuvre.
//!
//! `cargo run --release -p skidpad-avian --example agreement -- PAGE` writes the page, with `--check` behind it compares.

use std::panic::resume_unwind;
use std::process::ExitCode;
use std::thread::ScopedJoinHandle;

use skidpad_lab::agreement::{AGREEMENT_RATE_HZ, acceptance, measure};

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
    let solvers = [skidpad_impulse::BACKEND_INFO, skidpad_constraint::BACKEND_INFO, skidpad_avian::BACKEND_INFO];
    let drive = |name: &str| {
        let model = skidpad_spec::load(name).map_err(|fault| fault.to_string())?.model;
        eprintln!("{name}");
        measure(&solvers, name, &model, &[AGREEMENT_RATE_HZ], &|_, _| {})
    };
    // Avian's runs take most of the time, so that vehicles side by side keep processors busy, solvers of one do not.
    let runs: Result<Vec<_>, String> = std::thread::scope(|scope| {
        let (names, drive) = (skidpad_spec::shipped::names(), &drive);
        let started: Vec<_> = names.map(|name| scope.spawn(move || drive(name))).collect();
        let done = |run: ScopedJoinHandle<'_, _>| run.join().unwrap_or_else(|panic| resume_unwind(panic));
        started.into_iter().map(done).collect()
    });
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
