//! Tests that apply to every solver: closed forms, invariants and agreement. All are in one binary, which links once.
//! Folders correspond to those of the core.

mod aero;
mod assists;
mod chassis;
mod common;
mod drive;
mod drivetrain;
mod fuzz;
#[cfg(all(feature = "rapier", feature = "impulse", feature = "constraint", feature = "deterministic"))]
mod golden;
mod hitch;
mod manoeuvres;
#[cfg(all(feature = "rapier", feature = "impulse", feature = "constraint"))]
mod metamorphic;
mod peers;
#[cfg(feature = "rapier")]
mod rapier;
mod snapshots;
mod state;
mod step;
mod suspension;
mod telemetry;
mod texts;
mod tyre;
mod wheel;
mod world;
