//! Cars in a Bevy app without a window.

mod app;
mod files;
mod frames;
mod guests;
mod life;
mod towing;
