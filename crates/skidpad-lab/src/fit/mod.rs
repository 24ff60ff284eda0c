//! Fits of vehicle parameters to measured logs and published figures.

pub mod least_squares;
