//! The solver `impulse`: per-wheel impulses from one velocity, in one sweep ([`Sweep`]).
//!
//! `impulse` uses the coupling of Bullet's `btRaycastVehicle` (Bullet 3.24: compute the impulses of all wheels, then
//! apply them) without its defects. Impulses are warm-started, so that loads and height at rest are exact. Friction is
//! the force of a deflection that is kept from step to step, so that a car parks. Forces do not depend on the step
//! length.
#![forbid(unsafe_code)]

mod sweep;

pub use sweep::Sweep;

/// Entry for a list of solvers: the sweep in the built-in world.
#[cfg(feature = "world")]
pub const BACKEND_INFO: skidpad_core::SolverInfo = skidpad_core::SolverInfo {
    name: "impulse",
    description: "built-in world; a single warm-started pass of impulses per wheel",
    comparison_only: false,
    has_wheel_rows: true,
    build_world: |scene, cars, dt| Box::new(skidpad_world::CarWorld::new("impulse", &Sweep, scene, cars, dt)),
};
