//! Seeds: initial inputs of fuzzing and of the tests of the workspace.

use std::path::Path;

use super::directed;
use super::readers::{Reader, saved};

/// Size of the directed inputs, bytes.
const DIRECTED_BYTES: usize = 4096;

/// Maximum size of a file that is a seed, bytes.
const MAX_BYTES: u64 = 20_000;

/// Returns the seeds of `reader` in the repository at `root`: its corpus, the files in [`Reader::seeds`], saved bytes
/// for the readers of states and worlds, and directed inputs of 4 kB.
///
/// # Panics
/// A file cannot be read.
pub fn seeds_of(reader: &Reader, root: &Path) -> Vec<Vec<u8>> {
    let mut seeds = corpus(reader, root);
    for path in reader.seeds {
        seeds.extend(files(&root.join(path)));
    }
    match reader.name {
        "state" => seeds.push(saved()[0].clone()),
        "world" => seeds.push(saved()[1].clone()),
        _ => {}
    }
    seeds.extend(directed::inputs(reader.name, DIRECTED_BYTES).into_iter().map(|(_, bytes)| bytes));
    seeds
}

/// Returns the corpus of `reader`.
pub fn corpus(reader: &Reader, root: &Path) -> Vec<Vec<u8>> {
    files(&root.join("fuzz/corpus").join(reader.name))
}

/// Returns the contents of the file at `path`, or of the files in the folder at `path` in the order of their paths.
/// Folders in it and files above [`MAX_BYTES`] are left out, as is a path that does not exist.
fn files(path: &Path) -> Vec<Vec<u8>> {
    let mut paths = match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
        Err(_) => vec![path.to_owned()],
    };
    paths.sort();
    let is_seed = |path: &&std::path::PathBuf| {
        path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() <= MAX_BYTES)
    };
    paths.iter().filter(is_seed).map(|path| std::fs::read(path).expect("readable")).collect()
}
