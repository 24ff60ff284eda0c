//! How far Avian's world agrees with skidpad's own: every shipped vehicle drives every standard manoeuvre.
//!
//! `cargo run --release -p skidpad-avian --example agreement -- PAGE` writes the page, with `--check` behind it compares.

use std::panic::resume_unwind;
use std::process::ExitCode;
use std::thread::ScopedJoinHandle;

use skidpad_lab::agreement::{AGREEMENT_RATE_HZ, acceptance, measure};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (page, is_check) = match &arguments[..] {
        [page] => (page, false),
        [page, flag] if flag == "--check" => (page, true),
        _ => {
            eprintln!("PAGE or PAGE --check: the page to write, or to compare with");
            return ExitCode::FAILURE;
        }
    };
    let solvers = [skidpad_impulse::BACKEND_INFO, skidpad_constraint::BACKEND_INFO, skidpad_avian::BACKEND_INFO];
    let measure_vehicle = |name: &str| {
        let model = skidpad_spec::load(name).map_err(|fault| fault.to_string())?.model;
        eprintln!("{name}");
        measure(&solvers, name, &model, &[AGREEMENT_RATE_HZ], &|_, _| {}) // no progress report
    };
    // Avian's runs take most of the time, so that vehicles side by side keep processors busy, solvers of one do not.
    let runs: Result<Vec<_>, String> = std::thread::scope(|scope| {
        let (names, measure_vehicle) = (skidpad_spec::shipped::names(), &measure_vehicle);
        let threads: Vec<_> = names.map(|name| scope.spawn(move || measure_vehicle(name))).collect();
        let join = |run: ScopedJoinHandle<'_, _>| run.join().unwrap_or_else(|panic| resume_unwind(panic));
        threads.into_iter().map(join).collect()
    });
    let text = runs.map(|runs| {
        format!(
            "# Avian's world against skidpad's own\n\nWritten by the example `agreement` of `skidpad-avian`, not by hand. \
             [The other solvers](agreement.md) are compared there.\n\n{}",
            acceptance(&runs)
        )
    });
    let result = text.and_then(|text| match is_check {
        true if std::fs::read_to_string(page).is_ok_and(|written| written == text) => Ok(()),
        true => Err(format!("{page}: out of date")),
        false => std::fs::write(page, text).map_err(|fault| format!("{page}: {fault}")),
    });
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("{fault}");
            ExitCode::FAILURE
        }
    }
}
