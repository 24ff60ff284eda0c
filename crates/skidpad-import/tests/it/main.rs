//! Import of cars of other programs: known answers, faults, and random valid inputs.

mod faults;
mod known;
mod random;

use skidpad_import::{ImportOptions, ImportedVehicle, Source};

/// Returns the text of a file in `files/`.
macro_rules! given {
    ($name:literal) => {
        include_str!(concat!("files/", $name))
    };
}
use given;

/// Imports the car in `text`.
#[track_caller]
fn import(source: Source, text: &str) -> ImportedVehicle {
    match source.import("file", text, ImportOptions::default()) {
        Ok(imported) => imported,
        Err(faults) => panic!("{}", faults.render()),
    }
}
