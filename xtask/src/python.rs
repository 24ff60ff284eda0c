//! Step `python`: builds the Python package in a virtual environment and runs its tests.

use std::path::PathBuf;
use std::process::Command;

use crate::run::{Outcome, Steps, cargo, output, root, run};

/// Folder of the package.
const PACKAGE_FOLDER: &str = "crates/python";

/// Arguments that select the workspace of the package. It shares the target folder of the first workspace, so that
/// common packages are built once.
const CARGO_ARGUMENTS: &str = "--manifest-path crates/python/Cargo.toml --target-dir target --locked --quiet";

/// Command that installs what [`has_python`] searches for on Debian and its relatives.
pub const INSTALL_COMMAND: &str = "apt-get install -y python3 python3-venv";

/// Returns whether `python3` starts, is of version 3.11 or later and can create virtual environments.
pub fn has_python() -> bool {
    let program = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))";
    let output = Command::new("python3").args(["-c", program]).output();
    output.is_ok_and(|output| output.status.success())
}

/// Lints the package, builds it without link-time optimisation in a virtual environment in `target/python`, and runs its
/// tests. Leaves the step out if the pinned Python packages cannot be installed, for example without a network.
/// `has_clippy` says whether clippy is installed.
pub fn check_python(steps: &mut Steps, has_clippy: bool) {
    if let Err(error) = install_requirements() {
        println!("{error}");
        let work = "the step `python`: the Python packages of crates/python/requirements.txt cannot be installed";
        return steps.leave_out(work, "connect to PyPI, or set PIP_INDEX_URL");
    }
    steps.step("python", "Run the command named above in crates/python.", || {
        if has_clippy {
            run(cargo(&format!("clippy {CARGO_ARGUMENTS} --all-targets -- -D warnings")))?;
        }
        run(python_command(&format!(
            "-m maturin develop --quiet --profile dev --manifest-path {PACKAGE_FOLDER}/Cargo.toml --target-dir target --locked"
        )))?;
        let mut tests = python_command("-m pytest --quiet");
        tests.arg(PACKAGE_FOLDER);
        run(tests)
    });
}

/// Creates the virtual environment if it is missing, and installs the pinned packages into it.
fn install_requirements() -> Outcome {
    if !program_path().exists() {
        let mut create = Command::new("python3");
        create.args(["-m", "venv", "target/python"]).current_dir(root());
        output(create)?;
    }
    let install = format!("-m pip install --quiet --disable-pip-version-check -r {PACKAGE_FOLDER}/requirements.txt");
    output(python_command(&install)).map(|_| ())
}

/// Returns the path of the Python program of the virtual environment.
fn program_path() -> PathBuf {
    root().join("target/python").join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
}

/// Returns a command that runs the Python program of the virtual environment with `arguments`, separated by spaces, in
/// the folder of the workspace.
fn python_command(arguments: &str) -> Command {
    let mut command = Command::new(program_path());
    command.args(arguments.split_whitespace()).current_dir(root()).env("VIRTUAL_ENV", root().join("target/python"));
    // `cargo run` sets these variables for xtask. Build scripts of other packages must not inherit them.
    for name in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_PKG_NAME", "PYTHONPATH"] {
        command.env_remove(name);
    }
    command
}
