//! Suspension: struts, stops, anti-roll bars, heave springs, roll centre links and unsprung masses.

pub(crate) mod axle_links;
pub(crate) mod loads;
pub(crate) mod parameters;
mod roll_centre;
pub(crate) mod rows;
pub(crate) mod strut;
mod unsprung;
