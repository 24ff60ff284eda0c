//! Tyre files and their tyres.

mod files;
mod fit;
mod properties;
mod tables;
