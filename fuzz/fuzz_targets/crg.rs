//! Fuzz target of the reader `crg`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: skidpad_fuzz::write_seeds("crg"),
    |bytes: &[u8]| skidpad_fuzz::read("crg", bytes)
);
