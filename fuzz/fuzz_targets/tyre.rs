//! Fuzz target of the reader `tyre`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: skidpad_fuzz::write_seeds("tyre"),
    |bytes: &[u8]| skidpad_fuzz::read("tyre", bytes)
);
