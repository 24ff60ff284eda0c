//! What must hold for every solver: closed forms, invariants, agreement. One binary, so that it links once; rooms as in the core.

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
