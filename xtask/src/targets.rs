//! Comparison of the `digest` example between targets. An emulator runs programs that the processor cannot run.

use std::path::PathBuf;
use std::process::Command;

use crate::builds::PROGRAM_BUILD_ARGUMENTS;
use crate::determinism::{compare_digests, digests};
use crate::run::{Outcome, Steps, built_program, cargo, output, read_text, root, run, write_text};

/// Target to compare with the host.
struct Target {
    /// Target triple of the compiler.
    name: &'static str,
    /// Prefix of cargo's environment variables for the target.
    variable: &'static str,
    /// Emulator that runs programs of the target on x86-64; `None` if the processor runs them.
    emulator: Option<&'static str>,
}

/// Targets that are compared: 64-bit ARM in an emulator, and 32-bit x86.
const COMPARED_TARGETS: [Target; 2] = [
    Target {
        name: "aarch64-unknown-linux-musl",
        variable: "CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL",
        emulator: Some("qemu-aarch64-static"),
    },
    Target { name: "i686-unknown-linux-musl", variable: "CARGO_TARGET_I686_UNKNOWN_LINUX_MUSL", emulator: None },
];

/// Manifest of a package with the example alone, without the dependencies of the workspace's tests and benches, which
/// contain C code.
const EXAMPLE_MANIFEST: &str = r#"[package]
name = "digest"
version = "0.0.0"
edition = "2024"

[[bin]]
name = "digest"
path = "../../examples/digest.rs"

[dependencies.skidpad]
path = "../.."
default-features = false
features = ["rapier", "impulse", "simd_batch", "constraint", "peers", "serde", "deterministic"]

[workspace]
"#;

/// Compiler flags that link with the linker and the libraries of the Rust toolchain.
const LINKER_FLAGS: &str = "-C linker=rust-lld -C linker-flavor=ld.lld -C link-self-contained=yes";

/// Builds and runs the digests on other targets, and compares them line by line with those of the host.
pub fn targets(steps: &mut Steps) {
    for target in &COMPARED_TARGETS {
        let remedy = "A step depends on the target: search for std float functions, sizes of usize, or a different order of sums.";
        steps.step(target.name, remedy, || compare(target));
    }
}

/// Builds the digests for `target`, and compares their number and every line with those of the test build of the host,
/// on one thread. Writes the package of the example to `target/targets`, with the versions of the workspace. If the
/// standard library of the target or its emulator is missing, the error names the command that installs it.
fn compare(target: &Target) -> Outcome {
    if !has_standard_library(target.name)? {
        return Err(format!("the standard library of the target is missing: rustup target add {}", target.name));
    }
    run(cargo(PROGRAM_BUILD_ARGUMENTS))?;
    // On one thread.
    let expected = digests(built_program("examples/digest"), 1)?;
    let package_folder = root().join("target/targets");
    write_text(&package_folder.join("Cargo.toml"), EXAMPLE_MANIFEST)?;
    write_text(&package_folder.join("Cargo.lock"), &read_text(&root().join("Cargo.lock"))?)?;
    // Builds only the example and the library.
    let mut build = cargo(&format!("build --quiet --manifest-path target/targets/Cargo.toml --target {}", target.name));
    build.env(format!("{}_RUSTFLAGS", target.variable), LINKER_FLAGS);
    run(build)?;
    let program_path = package_folder.join("target").join(target.name).join("debug/digest");
    let found = digests(launch(target, program_path), 1).map_err(|error| {
        format!("{error}\n{} runs it: apt-get install -y qemu-user-static", target.emulator.unwrap_or("the kernel"))
    })?;
    if found.len() != expected.len() {
        return Err(format!("{} digests, but {} on {}", expected.len(), found.len(), target.name));
    }
    compare_digests(&expected, &found, target.name)?;
    println!("{} digests are equal on {}", found.len(), target.name);
    Ok(())
}

/// Returns whether the toolchain has the standard library of `target`.
fn has_standard_library(target: &str) -> Result<bool, String> {
    let mut rustc = Command::new("rustc");
    rustc.args(["--print", "target-libdir", "--target", target]).current_dir(root());
    let [folder, _] = output(rustc)?;
    Ok(PathBuf::from(folder.trim()).is_dir())
}

/// Returns a command that runs `program_path`, in the emulator of the target if it has one.
fn launch(target: &Target, program_path: PathBuf) -> Command {
    match target.emulator {
        Some(emulator) => {
            let mut command = Command::new(emulator);
            command.arg(program_path);
            command
        }
        None => Command::new(program_path),
    }
}
