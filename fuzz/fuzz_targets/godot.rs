//! Fuzz target of the reader `godot`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: skidpad_fuzz::write_seeds("godot"),
    |bytes: &[u8]| skidpad_fuzz::read("godot", bytes)
);
