//! `skidpad::drive` with every solver: scripted keys, poses drawn between steps, events and trailers hitched at run
//! time.

mod drawn;
mod heard;
mod keys;
mod towed;
