//! Wheels: ground contact, and the joint solve of spin, brake and tyre.

pub(crate) mod contact;
pub(crate) mod disc;
pub(crate) mod ground;
pub(crate) mod mean_contact;
pub(crate) mod pack;
pub(crate) mod parameters;
pub(crate) mod rim_contact;
pub(crate) mod rows;
pub(crate) mod spin_tyre_block;
pub(crate) mod state;
