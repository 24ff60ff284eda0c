//! Cars of other programs: known answers by hand, faults, and every valid input.

mod faults;
mod known;
mod random;

use skidpad_import::{Imported, Options, Source};

/// The text of a file of `files/`.
macro_rules! given {
    ($name:literal) => {
        include_str!(concat!("files/", $name))
    };
}
use given;

/// The car in `text`.
#[track_caller]
fn import(source: Source, text: &str) -> Imported {
    match source.import("file", text, Options::default()) {
        Ok(imported) => imported,
        Err(faults) => panic!("{}", faults.render()),
    }
}
