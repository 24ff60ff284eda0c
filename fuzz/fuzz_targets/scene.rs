//! Fuzz target of the reader `scene`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: skidpad_fuzz::write_seeds("scene"),
    |bytes: &[u8]| skidpad_fuzz::read("scene", bytes)
);
