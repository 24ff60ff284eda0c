//! Interface between vehicles and a rigid-body world, and the interface that every solver implements.

pub mod axes;
pub mod backend;
pub mod boxes;
pub(crate) mod car_view;
pub mod cars;
pub mod free_body;
pub mod level_of_detail;
pub(crate) mod line;
pub mod platform;
pub(crate) mod riders;
pub mod road;
pub mod scene;
pub mod seam;
pub mod slots;
pub mod supports;
pub mod terrain;
pub mod texture;
mod trains;
mod under;
mod unevenness;
