//! Worlds of many cars, and scenes.

mod bodies;
mod clock;
mod contract;
pub mod entering;
mod handles;
mod jump;
mod kerbs;
mod planks;
mod platforms;
mod proving_ground;
mod riding;
pub mod scenes;
mod soak;
pub mod switch;
pub mod terrain;
mod textures;
pub mod traffic;
