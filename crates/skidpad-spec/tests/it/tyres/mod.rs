//! Tyre files and the tyres in them.

mod files;
mod fit;
mod properties;
mod tables;
