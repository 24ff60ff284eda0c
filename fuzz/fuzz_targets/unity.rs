//! Fuzz target of the reader `unity`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: skidpad_fuzz::write_seeds("unity"),
    |bytes: &[u8]| skidpad_fuzz::read("unity", bytes)
);
