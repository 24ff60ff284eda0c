//! Worlds of many cars, and scenes.

mod contract;
pub mod entering;
mod jump;
mod kerbs;
pub mod scenes;
pub mod switch;
pub mod terrain;
pub mod traffic;
