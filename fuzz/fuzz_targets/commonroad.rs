//! Fuzz target of the reader `commonroad`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: skidpad_fuzz::write_seeds("commonroad"),
    |bytes: &[u8]| skidpad_fuzz::read("commonroad", bytes)
);
