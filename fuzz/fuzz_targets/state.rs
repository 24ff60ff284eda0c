//! Fuzz target of the reader `state`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: skidpad_fuzz::write_seeds("state"),
    |bytes: &[u8]| skidpad_fuzz::read("state", bytes)
);
