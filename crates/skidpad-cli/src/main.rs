//! The `skidpad` command: compares solvers and steps, runs manoeuvres, checks vehicle files.
//!
//! Here: arguments, names people type, tables, progress, exit codes. Not here: anything about cars; that is the
//! library's. Exit code 0 is success, 1 a fault in what was asked for or in a file, 2 a wrong command line.
#![forbid(unsafe_code)]

mod agreement;
mod arguments;
mod certify;
mod check;
mod compare;
mod fail;
mod import;
mod list;
mod output;
mod run;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Cli, Command};

fn main() -> miette::Result<ExitCode> {
    match Cli::parse().command {
        None => compare::compare(&arguments::Compare::standard()).map(|()| ExitCode::SUCCESS),
        Some(Command::Compare(asked)) => compare::compare(&asked).map(|()| ExitCode::SUCCESS),
        Some(Command::Certify(asked)) => certify::certify(&asked).map(|()| ExitCode::SUCCESS),
        Some(Command::Agreement(asked)) => agreement::agreement(&asked),
        Some(Command::Run(asked)) => run::run(&asked).map(|()| ExitCode::SUCCESS),
        Some(Command::Check(asked)) => check::check(&asked),
        Some(Command::Import(asked)) => import::import(&asked).map(|()| ExitCode::SUCCESS),
        Some(Command::List { what }) => list::list(what).map(|()| ExitCode::SUCCESS),
        Some(Command::Schema { of }) => list::schema(of).map(|()| ExitCode::SUCCESS),
    }
}
