//! Cargo arguments that several chores share.

/// Solvers that must build alone, with their tests and examples, and must give identical bits alone and together with
/// other solvers.
pub const SOLVER_FEATURES: [&str; 3] = ["rapier", "impulse", "constraint"];

/// Arguments that build the command `skidpad` and the examples with the features that tests of the workspace use, so
/// that dependencies are not rebuilt.
pub const PROGRAM_BUILD_ARGUMENTS: &str = "build --workspace --features skidpad/full --bin skidpad --examples --quiet";

/// Arguments that select the facade with other features. The package `others` keeps the features of third-party
/// packages equal to those of the workspace's tests, so that they are not rebuilt. It may hide a missing feature of a
/// dependency; `package::build_game` builds without it.
pub const FACADE_ARGUMENTS: &str = "--package skidpad --package others";
