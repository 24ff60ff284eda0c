//! The `impulse` backend: per-wheel impulses from one velocity, in one sweep.
//!
//! `impulse` uses the coupling of Bullet's `btRaycastVehicle` (Bullet 3.24: compute the impulses of all wheels, then apply them)
//! without its defects. Impulses are warm-started, so that loads and height at rest are exact. Friction is the force of a
//! deflection that is kept from step to step, so that a car parks. Forces do not depend on the step length.
#![forbid(unsafe_code)]

use skidpad_core::{SolverInfo, SolverMode};
use skidpad_world::CarWorld;

/// Entry for a list of backends.
pub const BACKEND_INFO: SolverInfo = SolverInfo {
    name: "impulse",
    description: "built-in world; a single warm-started pass of impulses per wheel",
    comparison_only: false,
    has_wheel_rows: true,
    build_world: |scene, cars, dt| Box::new(CarWorld::new("impulse", SolverMode::SinglePass, scene, cars, dt)),
};
