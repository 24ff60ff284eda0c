//! skidpad vehicles in Bevy.
