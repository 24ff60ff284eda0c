//! Functions that the fuzz targets share. `README.md` explains how to run the targets.
#![forbid(unsafe_code)]

pub mod directed;
pub mod readers;
pub mod seeds;

use std::path::Path;

use readers::{READERS, Reader};

/// Passes `bytes` to the reader called `name`.
///
/// # Panics
/// No reader has this name, or an invariant of the reader is violated.
pub fn read(name: &str, bytes: &[u8]) {
    (find_reader(name).read)(bytes);
}

/// Writes the seeds of the reader called `name` to the folder in the environment variable `SKIDPAD_SEEDS`. Does nothing
/// if the variable is not set.
///
/// # Panics
/// No reader has this name, or the folder cannot be written.
pub fn write_seeds(name: &str) {
    let Some(folder) = std::env::var_os("SKIDPAD_SEEDS") else { return };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    std::fs::create_dir_all(&folder).expect("writable");
    for (number, bytes) in seeds::seeds_of(find_reader(name), &root).into_iter().enumerate() {
        std::fs::write(Path::new(&folder).join(format!("seed_{number}")), bytes).expect("writable");
    }
}

/// Returns the reader called `name`. Panics if there is none.
fn find_reader(name: &str) -> &'static Reader {
    READERS.iter().find(|reader| reader.name == name).expect("a name of `READERS`")
}
