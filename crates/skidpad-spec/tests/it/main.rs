//! Tests of the vehicle file format from outside.

mod aero;
mod any_text;
mod assists;
mod elsewhere;
mod faults;
#[cfg(feature = "terrain_files")]
mod ground;
mod laws;
mod lints;
mod mutations;
mod old_keys;
mod scenes;
mod shipped;
mod tyres;
mod units;
