//! Fuzz target of the reader `bullet`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: skidpad_fuzz::write_seeds("bullet"),
    |bytes: &[u8]| skidpad_fuzz::read("bullet", bytes)
);
