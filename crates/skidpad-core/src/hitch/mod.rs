//! What ties a trailer to the vehicle that tows it.

pub(crate) mod joint;
pub(crate) mod parameters;
pub(crate) mod state;
