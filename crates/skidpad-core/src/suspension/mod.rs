//! Suspension: struts, stops, anti-roll bars, heave springs, roll centre links and unsprung masses.

pub(crate) mod parameters;
pub(crate) mod rows;
