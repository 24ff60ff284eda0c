//! Golden digests and batch tests of `it` in a small binary, which `cargo xtask mutants` builds for each mutant.
#![allow(dead_code, reason = "files of `it`, whose other tests need the rest")]

#[path = "it/common.rs"]
mod common;
#[path = "it/golden.rs"]
mod golden;
#[path = "it/assists"]
mod assists {
    pub mod fitted;
}
#[path = "it/step"]
mod step {
    pub mod abreast;
    pub mod energy;
    pub mod random;
    pub mod random_cars;
    pub mod survival;
}
