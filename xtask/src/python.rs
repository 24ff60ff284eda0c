//! Steps of the Python package: builds it in virtual environments and runs its tests.

use std::path::PathBuf;
use std::process::Command;

use crate::run::{Outcome, Steps, output, root, run};
use crate::tidy;

/// Folder of the package.
const PACKAGE_FOLDER: &str = "crates/python";

/// Features of the tested build. All other packages are those that the tests of the workspace build.
const BUILD_FEATURES: &str = "--no-default-features --features shared_build";

/// Command that installs what [`has_python`] searches for on Debian and its relatives.
pub const INSTALL_COMMAND: &str = "apt-get install -y python3 python3-venv";

/// Remedy of all steps of the package.
const REMEDY: &str = "Run the command named above in crates/python.";

/// Virtual environment with pinned packages.
struct Environment {
    /// Folder relative to that of the workspace.
    folder: &'static str,
    /// File with the versions of its packages, in [`PACKAGE_FOLDER`].
    requirements: &'static str,
}

/// Environment of the step `python`.
const MAIN: Environment = Environment { folder: "target/python", requirements: "requirements.txt" };

/// Environment with Ray and JAX.
const EXTRAS: Environment = Environment { folder: "target/python-extras", requirements: "requirements-extras.txt" };

/// Environment with the version of Gymnasium that RLlib requires.
const RLLIB: Environment = Environment { folder: "target/python-rllib", requirements: "requirements-rllib.txt" };

/// Returns whether `python3` starts, is of version 3.11 or later and can create virtual environments.
pub fn has_python() -> bool {
    let program = "import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))";
    let output = Command::new("python3").args(["-c", program]).output();
    output.is_ok_and(|output| output.status.success())
}

/// Builds the package without link-time optimisation in a virtual environment, and runs its tests. Leaves the step out
/// if the pinned Python packages cannot be installed, for example without a network.
pub fn check_python(steps: &mut Steps) {
    check_in(steps, "python", &MAIN, || {
        check_shared_packages()?;
        MAIN.build_package()?;
        MAIN.run_tests(&[])
    });
}

/// Runs two steps, each with a build of the package in a virtual environment of its own. The first step runs the tests
/// that need Ray or JAX, with both packages in one environment. The second step runs all tests of the
/// reinforcement-learning environments and of the physics with the version of Gymnasium that RLlib requires.
pub fn check_extras(steps: &mut Steps) {
    check_in(steps, "python: Ray and JAX", &EXTRAS, || {
        EXTRAS.build_package()?;
        EXTRAS.run_tests(&["-m", "ray or jax", "--durations=0"])
    });
    check_in(steps, "python: Gymnasium of RLlib", &RLLIB, || {
        RLLIB.build_package()?;
        RLLIB.run_tests(&["tests/test_environments.py", "tests/test_physics.py"])
    });
}

/// Runs `work` as step `name` in `environment`. Leaves the step out if its packages cannot be installed.
fn check_in(steps: &mut Steps, name: &'static str, environment: &Environment, work: impl FnOnce() -> Outcome) {
    if let Err(error) = environment.install_requirements() {
        println!("{error}");
        let requirements = environment.requirements;
        let work =
            format!("the step `{name}`: the Python packages of crates/python/{requirements} cannot be installed");
        return steps.leave_out(&work, "connect to PyPI, or set PIP_INDEX_URL");
    }
    steps.step(name, REMEDY, work);
}

/// Checks that the build of the Python package has all other packages with the features of the tests of the workspace,
/// so that the builds of these packages are shared. The error lists the packages that differ.
fn check_shared_packages() -> Outcome {
    let problems = tidy::rebuilt_packages(
        &format!("--package skidpad-python {BUILD_FEATURES} --edges normal,build"),
        "--workspace --features skidpad/full --edges normal,build,dev",
        tidy::SharedPackages::AllExcept(&["skidpad-python", "others"]),
    )?;
    if problems.is_empty() { Ok(()) } else { Err(problems.join("\n")) }
}

impl Environment {
    /// Creates the environment if it is missing, and installs its pinned packages.
    fn install_requirements(&self) -> Outcome {
        if !self.program_path().exists() {
            let mut create = Command::new("python3");
            create.args(["-m", "venv", self.folder]).current_dir(root());
            output(create)?;
        }
        let file = format!("{PACKAGE_FOLDER}/{}", self.requirements);
        output(self.python(&format!("-m pip install --quiet --disable-pip-version-check -r {file}"))).map(|_| ())
    }

    /// Builds the package and installs a link to its sources in the environment.
    fn build_package(&self) -> Outcome {
        let arguments = format!("--manifest-path {PACKAGE_FOLDER}/Cargo.toml --locked {BUILD_FEATURES}");
        run(self.python(&format!("-m maturin develop --quiet --profile dev {arguments}")))
    }

    /// Runs the tests of the package in its folder with `arguments` of pytest.
    fn run_tests(&self, arguments: &[&str]) -> Outcome {
        let mut tests = self.python("-m pytest --quiet");
        tests.args(arguments).current_dir(root().join(PACKAGE_FOLDER));
        run(tests)
    }

    /// Returns the path of the Python program of the environment.
    fn program_path(&self) -> PathBuf {
        root().join(self.folder).join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" })
    }

    /// Returns a command that runs the Python program of the environment with `arguments`, separated by spaces, in the
    /// folder of the workspace.
    fn python(&self, arguments: &str) -> Command {
        let mut command = Command::new(self.program_path());
        command.args(arguments.split_whitespace()).current_dir(root()).env("VIRTUAL_ENV", root().join(self.folder));
        // `cargo run` sets these variables for xtask. Build scripts of other packages must not inherit them.
        for name in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_PKG_NAME", "PYTHONPATH"] {
            command.env_remove(name);
        }
        command
    }
}
