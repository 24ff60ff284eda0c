//! Fuzz target of the reader `text`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: skidpad_fuzz::write_seeds("text"),
    |bytes: &[u8]| skidpad_fuzz::read("text", bytes)
);
