//! Tests of the vehicle file format from outside.

mod faults;
mod laws;
mod mutations;
mod scenes;
mod shipped;
mod tyres;
mod units;
