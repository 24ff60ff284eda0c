//! Springs, bars, loads, wheels and axles on their own.

pub mod bars;
pub mod landings;
pub mod load_transfer;
pub mod multi_body;
#[cfg(feature = "constraint")]
pub mod own_wheels;
pub mod roll_centres;
pub mod solid_axles;
pub mod springs;
pub mod statics;
