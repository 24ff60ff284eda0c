//! Tyre files and the tyres in them.

mod properties;
mod tables;
