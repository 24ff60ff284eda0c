//! The `skidpad` command: compares solvers and steps, runs manoeuvres, checks vehicle files.
//!
//! Here: arguments, names people type, tables, progress, exit codes. Not here: anything about cars; that is the
//! library's. Exit code 0 is success, 1 a fault in what was asked for or in a file, 2 a wrong command line, 3 a run in which a solver
//! of skidpad's own did not solve every step or the car did not finish its course, or in which it left the ground of its scene, 130 an end
//! by signal.
#![forbid(unsafe_code)]
// These panic where the reader has gone; `output` has what does not.
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod able;
mod agreement;
mod arguments;
mod certify;
mod check;
mod compare;
mod fail;
mod failure;
mod import;
mod list;
mod output;
mod roots;
mod run;
mod towing;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Cli, Command};
use failure::Result;
use output::tell_report;

/// Of a run in which a solver did not solve every step, or the car did not finish its course or left the ground of its scene.
const UNFINISHED: u8 = 3;

/// Exit code for a wrong command line.
const WRONG_COMMAND_LINE: u8 = 2;

/// What shells give for a program ended from the keyboard.
const INTERRUPTED: i32 = 130;

fn main() -> ExitCode {
    // Without a handler an interrupt ends the program all the same, and leaves the files it was writing.
    _ = ctrlc::set_handler(|| {
        skidpad::lab::files::remove_unfinished();
        std::process::exit(INTERRUPTED);
    });
    report_size_limits();
    let asked = match Cli::try_parse() {
        Ok(asked) => asked,
        Err(fault) if fault.use_stderr() => {
            tell_report(fault.render().to_string().trim_end());
            return ExitCode::from(WRONG_COMMAND_LINE);
        }
        // Help and version.
        Err(told) => told.exit(),
    };
    match run_command(asked.command) {
        Ok(code) => code,
        Err(failure) => {
            tell_report(&failure.report());
            ExitCode::FAILURE
        }
    }
}

/// Lets a write beyond the file size limit of the shell fail with an error. Without a handler its signal ends the program.
fn report_size_limits() {
    #[cfg(unix)]
    {
        let signal = signal_hook::consts::SIGXFSZ;
        // Where no handler can be set, the signal ends the program as before.
        _ = signal_hook::flag::register(signal, std::sync::Arc::default());
    }
}

/// Runs a command, or the standard comparison without one.
fn run_command(command: Option<Command>) -> Result<ExitCode> {
    match command {
        None => compare::compare(&arguments::Compare::standard()),
        Some(Command::Compare(asked)) => compare::compare(&asked),
        Some(Command::Certify(asked)) => certify::certify(&asked),
        Some(Command::Agreement(asked)) => agreement::agreement(&asked),
        Some(Command::Run(asked)) => run::run(&asked),
        Some(Command::Check(asked)) => check::check(&asked),
        Some(Command::Import(asked)) => import::import(&asked).map(|()| ExitCode::SUCCESS),
        Some(Command::List { what }) => list::list(what).map(|()| ExitCode::SUCCESS),
        Some(Command::Schema { of }) => list::schema(of).map(|()| ExitCode::SUCCESS),
    }
}
