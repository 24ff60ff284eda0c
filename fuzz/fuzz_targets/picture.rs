//! Fuzz target of the reader `picture`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: skidpad_fuzz::write_seeds("picture"),
    |bytes: &[u8]| skidpad_fuzz::read("picture", bytes)
);
