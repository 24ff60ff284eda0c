//! Tests of the vehicle file format from outside.

mod assists;
mod faults;
mod import;
mod laws;
mod mutations;
mod scenes;
mod shipped;
mod tyres;
mod units;
