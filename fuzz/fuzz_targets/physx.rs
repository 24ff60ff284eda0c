//! Fuzz target of the reader `physx`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: skidpad_fuzz::write_seeds("physx"),
    |bytes: &[u8]| skidpad_fuzz::read("physx", bytes)
);
