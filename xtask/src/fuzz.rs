//! Runs of the fuzz targets, and a table of the time and memory of readers on their worst known inputs.

use std::process::Command;

use crate::run::{Outcome, Steps, cargo, output, read_text, root, run};

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
    let remedy = "The input is in the folder named above: copy it to fuzz/corpus, fix the reader, run again.";
    steps.step("fuzz", remedy, || {
        let arguments = "run nightly cargo build --release --bins --manifest-path";
        let mut build = Command::new("rustup");
        build.args(arguments.split(' ')).args([FUZZ_MANIFEST, "--target", BUILD_TARGET, "--target-dir", FUZZ_FOLDER]);
        build.current_dir(root()).env("RUSTFLAGS", COVERAGE_FLAGS);
        run(build)?;
        let selected_readers = reader_names()?.into_iter().filter(|(name, _)| name.contains(reader));
        let failures: Vec<String> =
            selected_readers.filter_map(|(name, dictionary)| run_target(&name, &dictionary, seconds).err()).collect();
        if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
    });
}

/// Runs the target `name` for `seconds` with the words of its `dictionary`, from its seeds and the inputs that earlier
/// runs found, and prints the statistics. Creates the folders of found inputs, seeds and failures first. An input that
/// causes a failure is written to the folder `bad` of the target. A failure is an error that contains the output of the
/// target.
fn run_target(name: &str, dictionary: &str, seconds: u64) -> Outcome {
    let folder = root().join(FUZZ_FOLDER).join("run").join(name);
    let [corpus_folder, seed_folder, failure_folder] = ["found", "seeds", "bad"].map(|name| folder.join(name));
    for created_folder in [&corpus_folder, &seed_folder, &failure_folder] {
        std::fs::create_dir_all(created_folder).map_err(|error| format!("{}: {error}", created_folder.display()))?;
    }
    let mut command = Command::new(root().join(FUZZ_FOLDER).join(BUILD_TARGET).join("release").join(name));
    command
        // The target writes its seeds to this folder.
        .env("SKIDPAD_SEEDS", &seed_folder)
        .args([&corpus_folder, &seed_folder])
        .args(LIBFUZZER_LIMITS)
        .current_dir(root());
    command.arg(format!("-max_total_time={seconds}")).arg("-print_final_stats=1");
    command.arg(format!("-dict=fuzz/dictionaries/{dictionary}.dict"));
    command.arg(format!("-artifact_prefix={}/", failure_folder.display()));
    // libFuzzer reports on the standard error.
    let [_, stderr] = output(command)?;
    // Returns true for a line of the statistics to print.
    let is_statistic =
        |line: &&str| ["executed_units", "slowest_unit", "peak_rss"].iter().any(|key| line.contains(key));
    stderr.lines().filter(is_statistic).for_each(|line| println!("{name}: {line}"));
    Ok(())
}

/// Measures every reader whose name contains `reader` on its worst known inputs. Prints a row for each input: time and
/// peak memory per kilobyte, from the smallest to the largest size. There is no limit. A reader is linear if the values
/// of a row are equal for all sizes.
pub fn linearity(steps: &mut Steps, reader: &str) {
    steps.step(
        "linearity",
        "A reader must not panic on its directed inputs; `cargo test --test it fuzz` shows the place.",
        || {
            run(cargo("bench --package skidpad --bench linearity --no-run"))?;
            for (name, _) in reader_names()?.into_iter().filter(|(name, _)| name.contains(reader)) {
                let [stdout, _] =
                    output(cargo(&format!("bench --package skidpad --bench linearity --quiet -- {name}")))?;
                table_rows(&stdout).iter().for_each(|row| println!("| {name} | {row}"));
            }
            Ok(())
        },
    );
}

/// Formats the lines of one reader as rows of a table: name of the input, time per size (µs/kB), and memory per size
/// (kB/kB), each for all sizes in order.
///
/// A line of `output_lines` has the name of an input, its size (bytes), time (ns) and peak memory (bytes), separated by
/// tabs. Other lines are skipped. Inputs have the order of their first lines. Values are rounded to whole numbers.
fn table_rows(output_lines: &str) -> Vec<String> {
    let mut inputs: Vec<(&str, [Vec<String>; 2])> = Vec::new();
    for line in output_lines.lines() {
        let mut fields = line.split('\t');
        let name = fields.next().unwrap_or_default();
        let numbers: Vec<f64> = fields.filter_map(|field| field.parse().ok()).collect();
        let [bytes, nanoseconds, peak] = numbers[..] else { continue };
        // Row of this input; a new one is appended.
        let index = inputs.iter().position(|(known_name, _)| *known_name == name).unwrap_or_else(|| {
            inputs.push((name, Default::default()));
            inputs.len() - 1
        });
        let [times, memory] = &mut inputs[index].1;
        // ns per byte are µs per kB.
        times.push(format!("{:.0}", nanoseconds / bytes));
        memory.push(format!("{:.0}", peak / bytes));
    }
    let format_row = |(name, [times, memory]): &(&str, [Vec<String>; 2])| {
        format!("{name} | {} | {} |", times.join(", "), memory.join(", "))
    };
    inputs.iter().map(format_row).collect()
}

/// Returns the names and dictionaries of the readers, from the source text of the fuzz crate: the first two quoted
/// texts after each `reader(`. Entries without two quoted texts are skipped.
fn reader_names() -> Result<Vec<(String, String)>, String> {
    let text = read_text(&root().join("fuzz/src/readers.rs"))?;
    let entries = text.split("reader(\"").skip(1).filter_map(|entry| {
        let mut words = entry.split('"');
        // Parts between quotes: the name, the text between, the dictionary.
        Some((words.next()?.to_owned(), words.nth(1)?.to_owned()))
    });
    Ok(entries.collect())
}
