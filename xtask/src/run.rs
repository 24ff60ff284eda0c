//! Commands and steps, with elapsed time, processor time and a remedy for failures.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

/// Result of a step; the error is the reason as text.
pub type Outcome = Result<(), String>;

/// Finished steps of a chore.
#[derive(Default)]
pub struct Steps {
    finished: Vec<Step>,
    /// Pairs of a check that was left out and the command that installs its prerequisite.
    left_out: Vec<[String; 2]>,
}

/// Finished step with its times.
struct Step {
    name: &'static str,
    /// Elapsed time.
    elapsed: Duration,
    /// Processor time summed over all processors; `None` if unknown.
    processor: Option<Duration>,
    /// Reason of the failure; `None` for success.
    failure: Option<String>,
}

impl Steps {
    /// Prints that `work` is left out because of a missing prerequisite, with the command that installs it. The summary
    /// repeats the message.
    pub fn leave_out(&mut self, work: &str, install: &str) {
        println!("{}", left_out(work, install));
        self.left_out.push([work.to_owned(), install.to_owned()]);
    }

    /// Prints `name`, runs `work` as step `name`, prints its times and stores the result. If `work` fails, prints the
    /// reason and `remedy`, one sentence. The chore continues in either case. Processor time is that of commands that
    /// ended during the step.
    pub fn step(&mut self, name: &'static str, remedy: &str, work: impl FnOnce() -> Outcome) {
        println!("\n=== {name}");
        let (start, start_processor_time) = (Instant::now(), processor_time());
        let failure = work().err();
        let elapsed = start.elapsed();
        let processor = start_processor_time
            .and_then(|start_processor_time| Some(processor_time()?.saturating_sub(start_processor_time)));
        if let Some(reason) = &failure {
            println!("{reason}\n--- {name} failed. {remedy}");
        }
        println!("--- {name}: {}", times_text(elapsed, processor));
        self.finished.push(Step { name, elapsed, processor, failure });
    }

    /// Prints the table of steps with their times and results, their total, the checks that were left out, and in the
    /// last line the numbers of passed, failed and left out ones. Returns the exit code for failure if a step failed.
    pub fn finish(self) -> ExitCode {
        println!();
        for Step { name, elapsed, processor, failure } in &self.finished {
            let result = if failure.is_none() { "ok" } else { "FAILED" };
            println!("{name:<32} {}  {result}", times_text(*elapsed, *processor));
        }
        let total = self.finished.iter().map(|step| step.elapsed).sum();
        // `None` if the time of any step is unknown.
        let processor = self.finished.iter().map(|step| step.processor).sum();
        println!("{:<32} {}", "total", times_text(total, processor));
        let failed_count = self.finished.iter().filter(|step| step.failure.is_some()).count();
        for [work, install] in &self.left_out {
            println!("{}", left_out(work, install));
        }
        let left_out_text =
            if self.left_out.is_empty() { String::new() } else { format!(", {} left out", self.left_out.len()) };
        println!("{} passed, {failed_count} failed{left_out_text}", self.finished.len() - failed_count);
        if failed_count == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Returns the message about a check that was left out.
fn left_out(work: &str, install: &str) -> String {
    format!("left out: {work}. To include: {install}")
}

/// Formats the elapsed time and, if known, the processor time, s.
fn times_text(elapsed: Duration, processor: Option<Duration>) -> String {
    let processor = processor.map_or_else(String::new, |time| format!(" {:>7.1} s of a processor", time.as_secs_f64()));
    format!("{:>7.1} s{processor}", elapsed.as_secs_f64())
}

/// Returns the processor time of all commands that have ended, user and system together; `None` on systems other than
/// Linux.
fn processor_time() -> Option<Duration> {
    // The unit is 0.01 s on every kernel (`man 5 proc`: `cutime`, `cstime`).
    const TICKS_PER_SECOND: f64 = 100.0;
    let stat = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name of the program is in brackets and may contain spaces. Behind it, field 3 is the first one, and 13 fields
    // precede `cutime`, which is field 16.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(13);
    let mut next_ticks = || fields.next()?.parse::<f64>().ok();
    // `cutime` and `cstime`, the next two fields.
    Some(Duration::from_secs_f64((next_ticks()? + next_ticks()?) / TICKS_PER_SECOND))
}

/// Returns the folder of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().map_or_else(|| PathBuf::from("."), Path::to_path_buf)
}

/// Reads a text file. The error contains the path.
pub fn read_text(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a text file and creates its folder. The error contains the path.
pub fn write_text(path: &Path, text: &str) -> Outcome {
    let folder = path.parent().map_or(Ok(()), std::fs::create_dir_all);
    folder.and_then(|()| std::fs::write(path, text)).map_err(|error| format!("{}: {error}", path.display()))
}

/// Returns a command that runs `cargo` with `arguments`, separated by spaces, in the folder of the workspace. The
/// variable `CARGO` names the program, otherwise it is `cargo`. Variables that `cargo run` sets for xtask are removed.
pub fn cargo(arguments: &str) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(arguments.split_whitespace()).current_dir(root());
    // `cargo run` sets these variables for xtask. Build scripts of other packages must not inherit them.
    for name in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_PKG_NAME"] {
        command.env_remove(name);
    }
    command
}

/// Returns a command that runs the debug program at `program_path` below `target/debug`: the command `skidpad` or an
/// example. The program must have been built with the tests of a workspace. `cargo run` of one package would rebuild
/// dependencies with other features.
pub fn built_program(program_path: &str) -> Command {
    let mut command = Command::new(root().join("target/debug").join(program_path));
    command.current_dir(root());
    command
}

/// Prints `command`, runs it with its output on the terminal, and waits. A command that does not start or ends without
/// success is an error.
pub fn run(mut command: Command) -> Outcome {
    print_command(&command);
    let status = command.status().map_err(|error| format!("{} does not start: {error}", command_line(&command)))?;
    if status.success() { Ok(()) } else { Err(format!("{} ended with {status}", command_line(&command))) }
}

/// Installs `version` of `cargo-<tool>` if no version is installed. The tool is built in debug, and its installation is
/// announced.
pub fn install(tool: &str, version: &str) -> Outcome {
    let mut version_command = cargo(&format!("{tool} --version"));
    version_command.stdout(Stdio::null()).stderr(Stdio::null());
    if version_command.status().is_ok_and(|status| status.success()) {
        return Ok(());
    }
    println!("cargo-{tool} is not installed; building {version} once, which takes some minutes.");
    // A debug build takes half the time, and the tool runs for a second in either build.
    run(cargo(&format!("install cargo-{tool} --locked --debug --quiet --version {version}")))
}

/// Prints `command`, runs it without input and returns its standard output and standard error as text. A command that
/// fails is an error, which contains both.
pub fn output(mut command: Command) -> Result<[String; 2], String> {
    print_command(&command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("{} does not start: {error}", command_line(&command)))?;
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if output.status.success() {
        return Ok([stdout, stderr]);
    }
    Err(format!("{} ended with {}\n{stdout}{stderr}", command_line(&command), output.status))
}

/// Prints the command line after a `$`.
fn print_command(command: &Command) {
    println!("$ {}", command_line(command));
}

/// Returns the command line: name of the program without its folder, and the arguments, separated by spaces and not
/// quoted. Environment variables are not shown.
fn command_line(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}
