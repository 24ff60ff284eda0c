//! Interface between vehicles and a rigid-body world, and the interface that every solver implements.

pub mod axes;
pub mod boxes;
pub(crate) mod car_view;
pub mod cars;
pub mod contact_solver;
pub mod free_body;
pub mod level_of_detail;
pub(crate) mod line_search;
pub mod platform;
pub mod port;
pub mod road;
pub mod scene;
pub mod simulation;
pub mod slots;
pub(crate) mod stacked_vehicles;
mod supporting_body;
pub mod terrain;
pub mod texture;
mod trains;
mod unevenness;
