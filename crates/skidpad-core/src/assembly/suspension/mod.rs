//! Rows of the suspension: struts, axle links, roll centres, wheels with an unsprung mass, and the wheel loads.

pub(crate) mod axle_links;
mod roll_centre;
pub(crate) mod strut;
mod unsprung;
