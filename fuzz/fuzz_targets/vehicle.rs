//! Fuzz target of the reader `vehicle`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: skidpad_fuzz::write_seeds("vehicle"),
    |bytes: &[u8]| skidpad_fuzz::read("vehicle", bytes)
);
