//! Fuzz target of the reader `rapier`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: skidpad_fuzz::write_seeds("rapier"),
    |bytes: &[u8]| skidpad_fuzz::read("rapier", bytes)
);
