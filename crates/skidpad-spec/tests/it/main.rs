//! Tests of the vehicle file format from outside.

mod aero;
mod assists;
mod faults;
mod laws;
mod lints;
mod mutations;
mod scenes;
mod shipped;
mod tyres;
mod units;
