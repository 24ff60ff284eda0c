//! Struts, stops, anti-roll bars and heave springs, links about roll centres, and wheels that move on their own.

pub(crate) mod axle_links;
pub(crate) mod loads;
pub(crate) mod parameters;
mod roll_centre;
pub(crate) mod rows;
pub(crate) mod strut;
mod unsprung;
