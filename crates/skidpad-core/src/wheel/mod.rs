//! Wheels: ground contact, and the joint solve of spin, brake and tyre.

pub(crate) mod along_way;
pub(crate) mod block;
pub(crate) mod contact;
pub(crate) mod disc;
pub(crate) mod envelope;
pub(crate) mod ground;
pub(crate) mod pack;
pub(crate) mod parameters;
pub(crate) mod rows;
pub(crate) mod state;
