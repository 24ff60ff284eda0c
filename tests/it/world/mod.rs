//! Worlds of many cars, and scenes.

pub mod entering;
mod jump;
mod platforms;
pub mod scenes;
pub mod switch;
pub mod terrain;
pub mod traffic;
