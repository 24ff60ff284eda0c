//! Ground of a scene: plane, boxes, height fields, meshes, moving platforms and free bodies, and the contact of a wheel
//! rim with their triangles.

pub mod boxes;
pub(crate) mod cells;
pub mod free_body;
pub mod platform;
pub mod rim_contact;
pub mod road;
pub mod scene;
pub mod terrain;
mod unevenness;
