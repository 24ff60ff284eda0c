//! Fuzz target of the reader `world`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: skidpad_fuzz::write_seeds("world"),
    |bytes: &[u8]| skidpad_fuzz::read("world", bytes)
);
