//! Measures a reader on its worst known inputs in five sizes, for `cargo xtask linearity`.
//!
//! `linearity READER` prints a line for each size and input: name, size (bytes), time (ns) and peak of allocated bytes,
//! separated by tabs.

#[path = "../fuzz/src/directed.rs"]
mod directed;
#[path = "../fuzz/src/readers.rs"]
#[expect(dead_code, reason = "seeds and dictionaries are for fuzzing")]
mod readers;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// Approximate sizes of the inputs, bytes.
const INPUT_SIZES_BYTES: [usize; 5] = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];

/// Time of a read above which larger inputs of the same name are skipped. A quadratic reader would take 100 times as
/// long for the next size.
const MAX_READ_TIME: Duration = Duration::from_secs(20);

fn main() {
    let reader_name = std::env::args().nth(1).unwrap_or_default();
    let Some(reader) = readers::READERS.iter().find(|reader| reader.name == reader_name) else {
        println!("readers are measured by `cargo xtask linearity`");
        return;
    };
    // The first call fills static tables of the reader, which are not counted.
    (reader.read)(b"");
    let mut slow_inputs = BTreeSet::new();
    for size in INPUT_SIZES_BYTES {
        for (name, bytes) in directed::inputs(reader.name, size) {
            if slow_inputs.contains(name) {
                continue;
            }
            let [time, peak_bytes] = measure(reader.read, &bytes);
            println!("{name}\t{}\t{}\t{peak_bytes}", bytes.len(), time);
            if u128::from(time) > MAX_READ_TIME.as_nanos() {
                slow_inputs.insert(name);
            }
        }
    }
}

/// Returns time (ns) and peak of allocated bytes of a reader on `bytes`: the minimum of up to three runs. A run above
/// 0.5 s is the last.
fn measure(read: fn(&[u8]), bytes: &[u8]) -> [u64; 2] {
    let mut minimum = [u64::MAX; 2];
    for _ in 0..3 {
        let start = Instant::now();
        let allocations = allocation_counter::measure(|| read(bytes));
        let nanoseconds = u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
        minimum = [minimum[0].min(nanoseconds), minimum[1].min(allocations.bytes_max)];
        if nanoseconds > 500_000_000 {
            break;
        }
    }
    minimum
}
