//! Hitches: connections between trailers and the vehicles that tow them.

pub(crate) mod joint;
pub(crate) mod parameters;
pub(crate) mod state;
