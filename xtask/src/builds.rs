//! What several chores build.

/// Solvers that must build alone, with their tests and examples, and drive alone as they do beside the others.
pub const SOLVERS: [&str; 3] = ["rapier", "impulse", "constraint"];

/// The command and the examples as tests of the workspace build them, with the same features of their dependencies.
pub const PROGRAMS: &str = "build --workspace --bin skidpad --examples --quiet";

/// The facade with features of its own choice: of other people's packages it takes what all tests of the workspace have built. That a game
/// needs no more of them than it asks for is told by `package::game`.
pub const BESIDE_OTHERS: &str = "--package skidpad --package others";
