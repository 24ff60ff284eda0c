//! Worlds of many cars, and scenes.

pub mod entering;
mod jump;
mod platforms;
mod proving_ground;
pub mod scenes;
pub mod switch;
pub mod terrain;
mod textures;
pub mod traffic;
