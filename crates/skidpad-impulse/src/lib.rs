//! The `impulse` backend: per-wheel impulses from one velocity, in one sweep.
//!
//! `impulse` keeps the coupling of Bullet's `btRaycastVehicle` (Bullet 3.24: compute every wheel's impulse, then apply
//! all) and leaves its defects behind: impulses are warm-started, so loads and height at rest are exact; friction is the
//! force of a deflection that is kept from step to step, so a car parks; forces do not depend on the tick rate.
#![forbid(unsafe_code)]

use skidpad_core::{BackendInfo, Coupling};
use skidpad_world::CarWorld;

/// Entry for a list of backends.
pub const BACKEND: BackendInfo = BackendInfo {
    name: "impulse",
    about: "own world, one warm-started sweep of per-wheel impulses",
    peer: false,
    rows: true,
    build: |scene, cars, dt| Box::new(CarWorld::new("impulse", Coupling::OneSweep, scene, cars, dt)),
};
