//! Tyre files and the tyres in them.

mod files;
mod fit;
mod mutations;
mod properties;
mod tables;
