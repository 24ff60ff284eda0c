//! The `impulse` backend: per-wheel impulses from one velocity, in one sweep.
//!
//! `impulse` uses the coupling of Bullet's `btRaycastVehicle` (Bullet 3.24: compute the impulses of all wheels, then apply them)
//! without its defects. Impulses are warm-started, so that loads and height at rest are exact. Friction is the force of a
//! deflection that is kept from step to step, so that a car parks. Forces do not depend on the step length.
#![forbid(unsafe_code)]

use skidpad_core::{BackendInfo, Coupling};
use skidpad_world::CarWorld;

/// Entry for a list of backends.
pub const BACKEND_INFO: BackendInfo = BackendInfo {
    name: "impulse",
    about: "own world, one warm-started sweep of per-wheel impulses",
    peer: false,
    rows: true,
    build: |scene, cars, dt| Box::new(CarWorld::new("impulse", Coupling::OneSweep, scene, cars, dt)),
};
