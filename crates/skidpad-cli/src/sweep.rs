//! `skidpad sweep`: runs a manoeuvre with varied fields, in shards that can be resumed.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use skidpad::core::SolverInfo;
use skidpad::lab::files::write_atomically;
use skidpad::lab::report::SweepReport;
use skidpad::lab::sweep::{Execution, ExecutionReport, RunTable, Sweep, SweepError};
use skidpad::spec::printable::one_line;

use crate::INTERRUPTED_EXIT_CODE;
use crate::arguments::{Part, Sweep as Arguments, SweepOptions};
use crate::errors::{BadArgument, FaultList, Unwritable, check_writable};
use crate::failure::{Failure, Result};
use crate::interrupt::{self, Deferral};
use crate::output::{print, print_error, printable_path};
use crate::run::create_progress_bar;

/// Source name of a description by options in fault reports.
const OPTIONS_NAME: &str = "options of the sweep";

/// Simulates the missing runs of a sweep, merges all shards, and writes tables and page. With `--merge` nothing is
/// simulated; with `--shard` of several parts nothing is merged. The description and the output paths are checked
/// before the first run. Returns [`INTERRUPTED_EXIT_CODE`] if the sweep was stopped.
pub fn sweep(arguments: &Arguments) -> Result<ExitCode> {
    let sweep = load(arguments)?;
    let paths = ResultPaths::new(&arguments.out);
    check_writable(paths.all())?;
    print(&introduction(&sweep))?;
    if !arguments.merge {
        let report = execute(&sweep, arguments)?;
        print(&format!("{}\n", summary(&report)))?;
        if report.is_stopped {
            print_error("stopped; all files are complete. Run the command again to continue.");
            return Ok(ExitCode::from(INTERRUPTED_EXIT_CODE));
        }
    }
    if arguments.shard.is_some_and(|part| part.count > 1) {
        return Ok(ExitCode::SUCCESS);
    }
    let table = sweep.merge(&arguments.out).map_err(to_failure)?;
    paths.write(&sweep, &table)?;
    print(&format!(
        "\n{} runs\npage     {}\ntable    {}\ncolumns  {}\n",
        table.rows.len(),
        printable_path(&paths.page),
        printable_path(&paths.table),
        printable_path(&paths.columns)
    ))?;
    Ok(ExitCode::SUCCESS)
}

/// Loads the sweep of the file, or of the options.
fn load(arguments: &Arguments) -> Result<Sweep> {
    let solvers: Vec<SolverInfo> = skidpad::solvers().into_iter().chain(skidpad::solver_variants()).collect();
    let sweep = match &arguments.file {
        Some(file) => Sweep::load(file, &solvers),
        None => Sweep::read(OPTIONS_NAME, &description_toml(&arguments.options)?, Path::new(""), &solvers),
    };
    sweep.map_err(to_failure)
}

/// Returns the description of a sweep in TOML that is equivalent to the options. Options that are not given have no
/// key, except for the vehicle.
///
/// # Errors
/// A value of `--vary` without `=`.
fn description_toml(options: &SweepOptions) -> Result<String, BadArgument> {
    let mut lines = Vec::new();
    // Texts in JSON are texts in TOML.
    let quote = |text: &str| serde_json::Value::from(text).to_string();
    let quote_all = |texts: &[String]| texts.iter().map(|text| quote(text)).collect::<Vec<_>>().join(", ");
    lines.push(format!("car = {}", quote(options.vehicle.as_deref().unwrap_or("corvette_c5"))));
    lines.extend(options.manoeuvre.as_ref().map(|name| format!("manoeuvre = {}", quote(name))));
    if !options.solvers.is_empty() {
        lines.push(format!("solvers = [{}]", quote_all(&options.solvers)));
    }
    lines.extend(options.rate_hz.map(|rate| format!("rate = {rate:?}")));
    let integers = [("samples", options.samples), ("seed", options.seed), ("shard_size", options.shard_size)];
    lines.extend(integers.iter().filter_map(|(key, value)| Some(format!("{key} = {}", (*value)?))));
    lines.extend(options.scene.as_ref().map(|path| format!("scene = {}", quote(&path.to_string_lossy()))));
    if !options.towing.is_empty() {
        lines.push(format!("towing = [{}]", quote_all(&options.towing)));
    }
    lines.push("[parameters]".into());
    for assignment in &options.vary {
        let Some((name, values)) = assignment.split_once('=') else {
            let accepts = "FIELD=VALUES, such as mass=1400,1500,1600".into();
            return Err(BadArgument { argument: "--vary", found: format!("`{assignment}`"), accepts });
        };
        lines.push(format!("{} = {}", quote(name.trim()), values_text(values.trim())));
    }
    lines.push(String::new());
    Ok(lines.join("\n"))
}

/// Returns the values of an option `--vary` in TOML. A list or a table in braces is kept. Otherwise `values` are items
/// between commas, which become a list; items that are neither numbers, flags nor quoted texts become texts.
fn values_text(values: &str) -> String {
    if values.starts_with(['{', '[']) {
        return values.to_owned();
    }
    let item_text = |item: &str| {
        let item = item.trim();
        let is_plain = item.parse::<f64>().is_ok() || matches!(item, "true" | "false") || item.starts_with('"');
        if is_plain { item.to_owned() } else { serde_json::Value::from(item).to_string() }
    };
    format!("[{}]", values.split(',').map(item_text).collect::<Vec<_>>().join(", "))
}

/// Returns a line with vehicle, manoeuvre, rate, number of runs and shards, and the start of the hash of a sweep.
fn introduction(sweep: &Sweep) -> String {
    let (runs, shards) = (sweep.run_count(), sweep.shard_count());
    let hash: String = sweep.hash().chars().take(12).collect();
    format!(
        "{}, {}, {:.1} Hz: {runs} runs in {shards} shards, sweep {hash}\n",
        one_line(sweep.vehicle_name()),
        sweep.manoeuvre_name(),
        sweep.rate_hz()
    )
}

/// Simulates those shards of part `--shard` that are not complete, with a progress bar. Without this option the part is
/// the whole sweep. The first interrupt stops after the present runs; a second one ends the program.
fn execute(sweep: &Sweep, arguments: &Arguments) -> Result<ExecutionReport> {
    let Part { number, count } = arguments.shard.unwrap_or(Part { number: 1, count: 1 });
    // Part number i has every `count`-th shard, from the i-th on.
    let shards: Vec<u64> = (0..sweep.shard_count()).filter(|index| index % count == number - 1).collect();
    // The progress sets the length.
    let progress_bar = create_progress_bar(0);
    progress_bar.set_message(sweep.manoeuvre_name());
    let deferral = Deferral::new();
    let report = sweep.execute(&Execution {
        folder: &arguments.out,
        shards: &shards,
        threads: arguments.threads.map_or(0, |threads| threads as usize),
        progress: &|progress| {
            progress_bar.set_length(progress.total);
            progress_bar.set_position(progress.done);
        },
        is_stopped: &interrupt::is_requested,
    });
    drop(deferral);
    progress_bar.finish_and_clear();
    report.map_err(to_failure)
}

/// Returns the result of an execution as one line: numbers of written and of complete shards and, if there are any, of
/// replaced torn shards and of runs with a fault.
fn summary(report: &ExecutionReport) -> String {
    let ExecutionReport { kept, written, torn, faulty_runs, .. } = report;
    let mut text = format!("{written} shards written, {kept} were complete");
    if *torn > 0 {
        text.push_str(&format!(", {torn} replaced that were torn"));
    }
    if *faulty_runs > 0 {
        text.push_str(&format!("; {faulty_runs} runs have a fault: see the column `fault`"));
    }
    text
}

/// Paths of the results in the folder of a sweep.
struct ResultPaths {
    /// Table of all runs, CSV.
    table: PathBuf,
    /// Columns of the table with units, CSV.
    columns: PathBuf,
    /// Page with plots, HTML.
    page: PathBuf,
}

impl ResultPaths {
    /// Returns the paths in `folder`.
    fn new(folder: &Path) -> Self {
        let [table, columns, page] = ["sweep.csv", "sweep_columns.csv", "sweep.html"].map(|name| folder.join(name));
        Self { table, columns, page }
    }

    /// Iterates over all paths.
    fn all(&self) -> impl Iterator<Item = &Path> {
        [&self.table, &self.columns, &self.page].into_iter().map(PathBuf::as_path)
    }

    /// Writes the files of `table`, each completely or not at all.
    fn write(&self, sweep: &Sweep, table: &RunTable) -> Result<(), Unwritable> {
        write_atomically(&self.table, |out| table.write_csv(out))?;
        write_atomically(&self.columns, |out| table.write_columns_csv(out))?;
        SweepReport { sweep, table }.save_html(&self.page)?;
        Ok(())
    }
}

/// Returns the failure of an error of a sweep.
fn to_failure(error: SweepError) -> Failure {
    match error {
        SweepError::Load(error) => error.into(),
        SweepError::Write(error) => Unwritable::from(error).into(),
        SweepError::Faults(faults) => FaultList::new(faults).into(),
        SweepError::Folder { .. } => Failure::from_error(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers, flags and quoted texts stay; other items are quoted. Lists and tables stay as they are.
    #[test]
    fn options_are_a_description() {
        assert_eq!(values_text("1, 2.5,true"), "[1, 2.5, true]");
        assert_eq!(values_text("rear,\"front\""), "[\"rear\", \"front\"]");
        assert_eq!(values_text("{uniform=[1,2]}"), "{uniform=[1,2]}");
        let options = SweepOptions {
            vehicle: None,
            manoeuvre: Some("braking".into()),
            vary: vec!["axles[0].track_m=1.5,1.6".into()],
            solvers: vec!["impulse".into(), "constraint".into()],
            rate_hz: Some(60.0),
            samples: None,
            seed: Some(7),
            shard_size: None,
            scene: None,
            towing: Vec::new(),
        };
        let expected = "car = \"corvette_c5\"\nmanoeuvre = \"braking\"\nsolvers = [\"impulse\", \"constraint\"]\n\
                        rate = 60.0\nseed = 7\n[parameters]\n\"axles[0].track_m\" = [1.5, 1.6]\n";
        assert_eq!(description_toml(&options).expect("valid"), expected);
        assert!(description_toml(&SweepOptions { vary: vec!["mass".into()], ..options }).is_err());
    }
}
