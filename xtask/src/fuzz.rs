//! Runs of the fuzz targets, and a table of the time and memory of readers on their worst known inputs.

use std::process::Command;

use crate::run::{Outcome, Steps, cargo, output, read, root, run};

/// Manifest of the fuzz targets.
pub const FUZZ_MANIFEST: &str = "fuzz/Cargo.toml";

/// Folder of the builds and of the found inputs.
const FUZZ_FOLDER: &str = "target/fuzz";

/// Target of the builds. With an explicit target cargo builds build scripts without the flags below.
const BUILD_TARGET: &str = "x86_64-unknown-linux-gnu";

/// Compiler flags of cargo-fuzz without a sanitizer, since nearly all code is safe.
const COVERAGE_FLAGS: &str = "--cfg fuzzing -Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
-Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
-Cllvm-args=-sanitizer-coverage-trace-compares -Cllvm-args=-simplifycfg-branch-fold-threshold=0 -Ccodegen-units=1";

/// Limits: time per input (s), memory of the process (MB), and maximum length of mutated inputs (bytes).
const LIBFUZZER_LIMITS: [&str; 3] = ["-timeout=5", "-rss_limit_mb=700", "-max_len=20000"];

/// Builds the fuzz targets with the nightly compiler and runs those whose names contain `reader`, one after the other,
/// each for `seconds`. Prints the number of inputs, the longest time of an input and the peak of memory. A target that
/// fails does not stop the others; the step fails then.
pub fn fuzz(steps: &mut Steps, reader: &str, seconds: u64) {
    let remedy = "The input is in the folder named above: copy it to fuzz/corpus, mend the reader, run again.";
    steps.step("fuzz", remedy, || {
        let arguments = "run nightly cargo build --release --bins --manifest-path";
        let mut build = Command::new("rustup");
        build.args(arguments.split(' ')).args([FUZZ_MANIFEST, "--target", BUILD_TARGET, "--target-dir", FUZZ_FOLDER]);
        build.current_dir(root()).env("RUSTFLAGS", COVERAGE_FLAGS);
        run(build)?;
        let asked = readers()?.into_iter().filter(|(name, _)| name.contains(reader));
        let failures: Vec<String> =
            asked.filter_map(|(name, dictionary)| run_target(&name, &dictionary, seconds).err()).collect();
        if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
    });
}

/// Runs the target `name` for `seconds` with the words of its `dictionary`, from its seeds and the inputs that earlier
/// runs found. Inputs that cause a failure are written to the folder `bad` of the target. Prints the statistics of the
/// run.
fn run_target(name: &str, dictionary: &str, seconds: u64) -> Outcome {
    let folder = root().join(FUZZ_FOLDER).join("run").join(name);
    let [found, seeds, bad] = ["found", "seeds", "bad"].map(|part| folder.join(part));
    for part in [&found, &seeds, &bad] {
        std::fs::create_dir_all(part).map_err(|error| format!("{}: {error}", part.display()))?;
    }
    let mut command = Command::new(root().join(FUZZ_FOLDER).join(BUILD_TARGET).join("release").join(name));
    command.env("SKIDPAD_SEEDS", &seeds).args([&found, &seeds]).args(LIBFUZZER_LIMITS).current_dir(root());
    command.arg(format!("-max_total_time={seconds}")).arg("-print_final_stats=1");
    command.arg(format!("-dict=fuzz/dictionaries/{dictionary}.dict"));
    command.arg(format!("-artifact_prefix={}/", bad.display()));
    // libFuzzer reports on the standard error.
    let [_, told] = output(command)?;
    // Lines of the statistics to print.
    let wanted = |line: &&str| ["executed_units", "slowest_unit", "peak_rss"].iter().any(|part| line.contains(part));
    told.lines().filter(wanted).for_each(|line| println!("{name}: {line}"));
    Ok(())
}

/// Measures every reader whose name contains `reader` on its worst known inputs. Prints a table with a row for each
/// input: time and peak memory per kilobyte, from the smallest to the largest size. There is no limit: a reader is
/// linear if the values of a row are equal.
pub fn linearity(steps: &mut Steps, reader: &str) {
    steps.step(
        "linearity",
        "A reader must not panic on its directed inputs; `cargo test --test it fuzz` says where it does.",
        || {
            run(cargo("bench --package skidpad --bench linearity --no-run"))?;
            for (name, _) in readers()?.into_iter().filter(|(name, _)| name.contains(reader)) {
                let [out, _] = output(cargo(&format!("bench --package skidpad --bench linearity --quiet -- {name}")))?;
                rows(&out).iter().for_each(|row| println!("| {name} | {row}"));
            }
            Ok(())
        },
    );
}

/// Formats the lines of one reader as rows of a table: name of the input, time per size (µs/kB), and memory per size
/// (kB/kB), each for all sizes in order.
///
/// A line of `measured` has the name of an input, its size (bytes), time (ns) and peak memory (bytes), separated by
/// tabs. Other lines are skipped.
fn rows(measured: &str) -> Vec<String> {
    let mut inputs: Vec<(&str, [Vec<String>; 2])> = Vec::new();
    for line in measured.lines() {
        let mut parts = line.split('\t');
        let name = parts.next().unwrap_or_default();
        let numbers: Vec<f64> = parts.filter_map(|part| part.parse().ok()).collect();
        let [bytes, nanoseconds, peak] = numbers[..] else { continue };
        let index = inputs.iter().position(|(known, _)| *known == name).unwrap_or_else(|| {
            inputs.push((name, Default::default()));
            inputs.len() - 1
        });
        let [times, memory] = &mut inputs[index].1;
        times.push(format!("{:.0}", nanoseconds / bytes));
        memory.push(format!("{:.0}", peak / bytes));
    }
    let row = |(name, [times, memory]): &(&str, [Vec<String>; 2])| {
        format!("{name} | {} | {} |", times.join(", "), memory.join(", "))
    };
    inputs.iter().map(row).collect()
}

/// Returns the names and dictionaries of the readers, from the source text of the fuzz crate: the first two quoted
/// texts after each `reader(`.
fn readers() -> Result<Vec<(String, String)>, String> {
    let text = read(&root().join("fuzz/src/readers.rs"))?;
    let entries = text.split("reader(\"").skip(1).filter_map(|entry| {
        let mut words = entry.split('"');
        // Parts between quotes: the name, the text between, the dictionary.
        Some((words.next()?.to_owned(), words.nth(1)?.to_owned()))
    });
    Ok(entries.collect())
}
