//! Tools and libraries that checks need in addition to a bare toolchain. They are queried before any build.

use std::process::{Command, Stdio};

use crate::python;
use crate::run::{Steps, cargo};

/// Libraries for the demo's sound and gamepads: name in pkg-config, Debian package.
const DEMO_LIBRARIES: [[&str; 2]; 2] = [["alsa", "libasound2-dev"], ["libudev", "libudev-dev"]];

/// Browser that the tests of the report start, also the name of its Debian package. See `crates/skidpad-cli/tests/report_page.rs`.
const BROWSER: &str = "chromium";

/// Prerequisites that this machine has.
#[derive(Clone, Copy)]
pub struct Prerequisites {
    /// Whether `cargo fmt` starts.
    pub rustfmt: bool,
    /// Whether `cargo clippy` starts.
    pub clippy: bool,
    /// Whether the libraries of the demo and of the package `bevy` are installed.
    pub demo: bool,
    /// Whether Python of a supported version is installed, with virtual environments.
    pub python: bool,
}

impl Prerequisites {
    /// Queries the machine. Registers in `steps` the checks that missing prerequisites leave out, with the commands
    /// that install them.
    pub fn query(steps: &mut Steps) -> Self {
        let [rustfmt, clippy] = ["fmt", "clippy"].map(|tool| can_start(&mut cargo(&format!("{tool} --version"))));
        for (is_installed, component, left_out_work) in [
            (rustfmt, "rustfmt", "the step `format`"),
            (clippy, "clippy", "lints, in the steps `clippy`, `features` and `bevy`"),
        ] {
            if !is_installed {
                steps.leave_out(left_out_work, &format!("rustup component add {component}"));
            }
        }
        // Debian packages of the libraries that the demo needs.
        let missing = missing_demo_packages();
        if !missing.is_empty() {
            let left_out_work = "lints of skidpad-demo and of the package `bevy`, in the step `bevy`";
            steps.leave_out(left_out_work, &install_command(&missing, is_root()));
        }
        if !can_start(Command::new(BROWSER).arg("--version")) {
            let left_out_work = "the tests `report_page`, which open a report in a browser";
            steps.leave_out(left_out_work, &install_command(&[BROWSER], is_root()));
        }
        let python = python::has_python();
        if !python {
            steps.leave_out("the step `python`: Python 3.11 or later with venv is missing", python::INSTALL_COMMAND);
        }
        Self { rustfmt, clippy, demo: missing.is_empty(), python }
    }
}

/// Returns the Debian packages that the demo needs and that are missing; all of them and `pkg-config` if there is no
/// pkg-config. The list is empty on systems other than Linux, which need none.
fn missing_demo_packages() -> Vec<&'static str> {
    if !cfg!(target_os = "linux") {
        return Vec::new();
    }
    // Whether pkg-config succeeds with these arguments.
    let pkg_config_succeeds = |arguments: &[&str]| can_start(Command::new("pkg-config").args(arguments));
    if !pkg_config_succeeds(&["--version"]) {
        return DEMO_LIBRARIES.map(|[_, package]| package).into_iter().chain(["pkg-config"]).collect();
    }
    let missing = DEMO_LIBRARIES.iter().filter(|[library, _]| !pkg_config_succeeds(&["--exists", library]));
    missing.map(|[_, package]| *package).collect()
}

/// Returns the command that installs `packages` on Debian and its relatives, with `sudo` unless `as_root`.
fn install_command(packages: &[&str], as_root: bool) -> String {
    let sudo = if as_root { "" } else { "sudo " };
    format!("{sudo}apt-get install -y {}", packages.join(" "))
}

/// Returns true if the user may install packages without `sudo`.
fn is_root() -> bool {
    let id_output = Command::new("id").arg("-u").output();
    id_output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// Returns true if `command` starts and succeeds.
fn can_start(command: &mut Command) -> bool {
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    status.is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_install_command_names_every_package() {
        let packages = ["libasound2-dev", "libudev-dev"];
        assert_eq!(install_command(&packages, true), "apt-get install -y libasound2-dev libudev-dev");
        assert_eq!(install_command(&packages, false), "sudo apt-get install -y libasound2-dev libudev-dev");
    }
}
