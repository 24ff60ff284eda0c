//! The command-line program `skidpad`: compares solvers and step lengths, runs manoeuvres, checks vehicle files.
//!
//! This crate contains arguments, name look-up, tables, progress bars and exit codes. The vehicle dynamics are in the
//! library.
//!
//! | exit code | meaning |
//! |---|---|
//! | 0 | success |
//! | 1 | fault in a request or in a file |
//! | 2 | wrong command line |
//! | 3 | a solver of skidpad did not solve every step, the car did not finish its course, failed FMVSS 126, spun, rolled over or left the ground of its scene, or a figure of a road test is outside its tolerance |
//! | 130 | ended by a signal |
#![forbid(unsafe_code)]
// These macros panic if the pipe is closed. The functions of `output` do not.
#![deny(clippy::print_stderr, clippy::print_stdout)]

mod agreement;
mod arguments;
mod capabilities;
mod certify;
mod check;
mod compare;
mod comparison_study;
mod errors;
mod export;
mod failure;
mod fit;
mod import;
mod interrupt;
mod list;
mod measured_log;
mod output;
mod road_test;
mod roots;
mod run;
mod separate_reports;
mod sweep;
mod trailers;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use arguments::{Cli, Command};
use failure::Result;
use output::print_error_report;

/// Exit code for a run in which a solver did not solve every step, or the car did not finish its course or left the
/// ground of its scene, and for a road test with a figure outside its tolerance.
const UNFINISHED_EXIT_CODE: u8 = 3;

/// Exit code for a wrong command line.
const COMMAND_LINE_EXIT_CODE: u8 = 2;

/// Exit code that shells use for a program that was interrupted from the keyboard.
const INTERRUPTED_EXIT_CODE: u8 = 130;

/// Runs the command of the command line and returns its exit code. A wrong command line and the failure of a command
/// are reported on the standard error. `--help` and `--version` print their text and end the program with success.
///
/// Handlers are installed first. An interrupt removes unfinished files and ends the program with
/// [`INTERRUPTED_EXIT_CODE`]; commands that can be resumed finish their present runs before.
fn main() -> ExitCode {
    interrupt::install_handler();
    handle_file_size_signal();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        // A wrong command line.
        Err(usage_error) if usage_error.use_stderr() => {
            print_error_report(usage_error.render().to_string().trim_end());
            return ExitCode::from(COMMAND_LINE_EXIT_CODE);
        }
        // The output of `--help` and `--version` is not an error.
        Err(help_request) => help_request.exit(),
    };
    match run_command(cli.command) {
        Ok(code) => code,
        Err(failure) => {
            print_error_report(&failure.report());
            ExitCode::FAILURE
        }
    }
}

/// Installs a handler for the signal of the file size limit, so that a write beyond the limit returns an error instead
/// of ending the program.
fn handle_file_size_signal() {
    #[cfg(unix)]
    {
        let signal = signal_hook::consts::SIGXFSZ;
        // If no handler can be set, the signal still ends the program.
        _ = signal_hook::flag::register(signal, std::sync::Arc::default());
    }
}

/// Runs a command, or the standard comparison without one.
fn run_command(command: Option<Command>) -> Result<ExitCode> {
    match command {
        None => compare::compare(&arguments::Compare::standard()),
        Some(Command::Compare(arguments)) => compare::compare(&arguments),
        Some(Command::Certify(arguments)) => certify::certify(&arguments),
        Some(Command::Agreement(arguments)) => agreement::agreement(&arguments),
        Some(Command::Run(arguments)) => run::run(&arguments),
        Some(Command::Sweep(arguments)) => sweep::sweep(&arguments),
        Some(Command::RoadTest(arguments)) => road_test::road_test(&arguments),
        Some(Command::Check(arguments)) => check::check(&arguments),
        Some(Command::Fit(arguments)) => fit::fit(&arguments),
        Some(Command::Import(arguments)) => import::import(&arguments).map(|()| ExitCode::SUCCESS),
        Some(Command::List { what }) => list::list(what).map(|()| ExitCode::SUCCESS),
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "skidpad", &mut script);
            output::print(&String::from_utf8_lossy(&script)).map(|()| ExitCode::SUCCESS)
        }
        Some(Command::Schema { of }) => list::schema(of).map(|()| ExitCode::SUCCESS),
    }
}
