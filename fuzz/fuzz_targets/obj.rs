//! Fuzz target of the reader `obj`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: skidpad_fuzz::write_seeds("obj"),
    |bytes: &[u8]| skidpad_fuzz::read("obj", bytes)
);
