//! Fuzz target of the reader `gltf`.
#![no_main]

libfuzzer_sys::fuzz_target!(
    init: skidpad_fuzz::write_seeds("gltf"),
    |bytes: &[u8]| skidpad_fuzz::read("gltf", bytes)
);
