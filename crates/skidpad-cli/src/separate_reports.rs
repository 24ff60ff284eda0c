//! Comparisons with one report for each manoeuvre, which can be resumed.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::{Value, json};
use skidpad::lab::Procedure;
use skidpad::lab::canonical_json::hash_of;
use skidpad::spec::files::{FileKind, read_lossy};

use crate::comparison_study::{Study, StudyRuns, health_code, result_paths};
use crate::errors::check_writable;
use crate::export;
use crate::failure::Result;
use crate::interrupt::{self, Deferral};
use crate::output::{print_error, printable_path};
use crate::{INTERRUPTED_EXIT_CODE, UNFINISHED_EXIT_CODE};

/// Files of one manoeuvre.
struct Files {
    /// HTML report and CSV table.
    report: [PathBuf; 2],
    /// Record that the report is complete: the hash of everything it depends on, and the exit code.
    record: PathBuf,
}

/// Simulates each of `manoeuvres` on each solver, and writes its report and then its record as soon as it is driven.
/// Manoeuvres whose reports are complete, with the same inputs and options, are left out.
///
/// An interrupt ends the command before the next manoeuvre, with [`INTERRUPTED_EXIT_CODE`]. Otherwise returns
/// [`UNFINISHED_EXIT_CODE`] if a run of any manoeuvre, also of one left out, was not healthy.
pub fn compare_separately(study: &Study<'_>, manoeuvres: &[Box<dyn Procedure>]) -> Result<ExitCode> {
    let files = manoeuvres.iter().map(|manoeuvre| report_files(study, manoeuvre.name())).collect::<Result<Vec<_>>>()?;
    check_writable(files.iter().map(|files| files.record.as_path()))?;
    study.print_title()?;
    let deferral = Deferral::new();
    let mut is_healthy = true;
    for (number, (manoeuvre, files)) in manoeuvres.iter().zip(&files).enumerate() {
        if interrupt::is_requested() {
            print_error("stopped; all reports are complete. Run the command again to continue.");
            return Ok(ExitCode::from(INTERRUPTED_EXIT_CODE));
        }
        let place = format!("{} of {}", number + 1, manoeuvres.len());
        let hash = hash_of(&report_inputs(study, manoeuvre.name()));
        if let Some(was_healthy) = read_record(files, &hash) {
            let page = printable_path(&files.report[0]);
            study.print_table(&format!("\n{} ({place}): complete before\nreport   {page}\n", manoeuvre.name()))?;
            is_healthy &= was_healthy;
            continue;
        }
        study.print_table(&format!("\n{} ({place})\n", manoeuvre.name()))?;
        let mut runs = StudyRuns::default();
        runs.push(study.drive(manoeuvre.as_ref())?);
        study.save_report(&runs, &files.report)?;
        let is_run_healthy = health_code(runs.comparisons()) == ExitCode::SUCCESS;
        is_healthy &= is_run_healthy;
        export::write(&files.record, &format!("{:#}\n", json!({ "hash": hash, "healthy": is_run_healthy })))?;
    }
    drop(deferral);
    Ok(if is_healthy { ExitCode::SUCCESS } else { ExitCode::from(UNFINISHED_EXIT_CODE) })
}

/// Returns the files of the manoeuvre `name` in the folder `--out`, after checking that the report can be written. The
/// record is not checked.
fn report_files(study: &Study<'_>, name: &str) -> Result<Files> {
    let out: &Path = &study.arguments.out;
    let stem = study.file_stem(&[name.to_owned()]);
    Ok(Files { report: result_paths(out, &stem)?, record: out.join(format!("{stem}.done.json")) })
}

/// Returns everything that the report of the manoeuvre `name` depends on: version, input files with their hashes,
/// changed fields, start, car to compare with, log, solvers, step length and name.
fn report_inputs(study: &Study<'_>, name: &str) -> Value {
    let inputs = study.inputs.iter().map(|input| json!([input.role, input.name, input.sha256]));
    let solvers = study.backends.iter().map(|info| info.name);
    json!({
        "skidpad": env!("CARGO_PKG_VERSION"),
        "inputs": inputs.collect::<Value>(),
        "set": study.arguments.vehicle_changes.set,
        "start": format!("{:?}", study.arguments.changes),
        "against": study.arguments.against,
        "log": format!("{:?}", study.arguments.log),
        "solvers": solvers.collect::<Value>(),
        "step": study.dt.seconds(),
        "manoeuvre": name,
    })
}

/// Returns whether the runs of a complete report were healthy. `None` if a file of the report or the record is missing,
/// or if the record has another `hash`.
fn read_record(files: &Files, hash: &str) -> Option<bool> {
    if !files.report.iter().all(|path| path.is_file()) {
        return None;
    }
    let record: Value = serde_json::from_str(&read_lossy(&files.record, FileKind::Page).ok()?).ok()?;
    if record["hash"] == json!(hash) { record["healthy"].as_bool() } else { None }
}
