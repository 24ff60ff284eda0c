//! Tyre files and the tyres in them.

mod tables;
