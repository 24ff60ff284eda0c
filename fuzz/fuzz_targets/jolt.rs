//! Fuzz target of the reader `jolt`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: skidpad_fuzz::write_seeds("jolt"),
    |bytes: &[u8]| skidpad_fuzz::read("jolt", bytes)
);
