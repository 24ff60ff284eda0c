//! Readers of external bytes, run with the bodies of the fuzz targets: corpus, directed inputs and seeded mutations.

#[path = "../../fuzz/src/directed.rs"]
mod directed;
mod mutate;
#[path = "../../fuzz/src/readers.rs"]
mod readers;
#[path = "../../fuzz/src/seeds.rs"]
mod seeds;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use crate::step::random::Random;
use mutate::{Mutator, dictionary};
use readers::{READERS, Reader};

/// Returns the folder of the repository.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn find(name: &str) -> &'static Reader {
    READERS.iter().find(|reader| reader.name == name).expect("a name of `READERS`")
}

/// Runs `reader` on `bytes`. If it panics, the message contains the bytes, escaped as in a file of the corpus.
#[track_caller]
fn check(reader: &Reader, what: &str, bytes: &[u8]) {
    if catch_unwind(AssertUnwindSafe(|| (reader.read)(bytes))).is_err() {
        let shown = &bytes[..bytes.len().min(20_000)];
        panic!("{} on {what}, of {} bytes:\n{}", reader.name, bytes.len(), shown.escape_ascii());
    }
}

/// Size of directed inputs of several lines (bytes).
const DIRECTED_BYTES: usize = 8_000;

/// Size of directed inputs of one line (bytes). Faults beyond column 65,536 are shown in a window.
const ONE_LINE_BYTES: usize = 72_000;

/// Returns true if the bytes have fewer than ten line breaks, so that positions in them have large columns.
fn has_long_lines(bytes: &[u8]) -> bool {
    bytes.iter().filter(|&&byte| byte == b'\n').count() < 10
}

#[test]
fn corpus_and_directed_inputs_are_read() {
    for reader in &READERS {
        for (number, bytes) in seeds::corpus(reader, root()).iter().enumerate() {
            check(reader, &format!("input {number} of the corpus"), bytes);
        }
        for (name, bytes) in directed::inputs(reader.name, DIRECTED_BYTES) {
            check(reader, name, &bytes);
        }
        let large = directed::inputs(reader.name, ONE_LINE_BYTES);
        for (name, bytes) in large.iter().filter(|(_, bytes)| has_long_lines(bytes)) {
            check(reader, name, bytes);
        }
    }
}

/// Runs the reader `name` on `count` mutations of its seeds.
fn mutations_are_read(name: &str, count: usize) {
    let reader = find(name);
    let mutator = Mutator { seeds: seeds::seeds_of(reader, root()), dictionary: dictionary(root(), reader.dictionary) };
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    for number in 0..count {
        check(reader, &format!("mutation {number}"), &mutator.next(&mut random));
    }
}

/// Defines a test for each reader with its number of mutations. Readers that report many faults get fewer.
macro_rules! mutations {
    ($($name:ident: $count:expr),* $(,)?) => {
        /// Names of the readers with a mutation test.
        const TESTED: &[&str] = &[$(stringify!($name)),*];

        mod mutations {
            $(#[test] fn $name() { super::mutations_are_read(stringify!($name), $count); })*
        }
    };
}

mutations! {
    vehicle: 300,
    scene: 500,
    tyre: 500,
    controls: 2000,
    obj: 1000,
    gltf: 2000,
    picture: 2000,
    crg: 1000,
    bullet: 500,
    rapier: 500,
    godot: 500,
    unity: 500,
    jolt: 500,
    physx: 500,
    commonroad: 500,
    state: 2000,
    world: 2000,
    text: 300,
}

#[test]
fn every_reader_has_a_target_and_mutations() {
    let names: Vec<&str> = READERS.iter().map(|reader| reader.name).collect();
    assert_eq!(names, TESTED);
    let manifest = include_str!("../../fuzz/Cargo.toml");
    let targets =
        manifest.lines().filter_map(|line| line.strip_prefix("path = \"fuzz_targets/")?.strip_suffix(".rs\""));
    assert_eq!(names, targets.collect::<Vec<_>>());
    for name in names {
        let target = std::fs::read_to_string(root().join(format!("fuzz/fuzz_targets/{name}.rs"))).expect("a target");
        assert!(target.contains(&format!("skidpad_fuzz::read(\"{name}\", bytes)")), "{target}");
    }
}
