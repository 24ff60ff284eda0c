//! Fuzz target of the reader `controls`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: skidpad_fuzz::write_seeds("controls"),
    |bytes: &[u8]| skidpad_fuzz::read("controls", bytes)
);
