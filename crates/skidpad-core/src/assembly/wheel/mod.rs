//! Rows of the wheels: contacts with the ground, and the impulses of tyre, brake and shafts on a spin.

pub(crate) mod contact;
pub(crate) mod ground;
pub(crate) mod mean_contact;
pub(crate) mod spin_tyre_block;
