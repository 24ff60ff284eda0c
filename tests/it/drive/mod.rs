//! `skidpad::drive` on every solver: what scripted keys do, what is drawn between steps, what is heard.

mod drawn;
mod heard;
mod keys;
mod towed;
