//! Peers: ray-cast vehicles of other engines with parameters from skidpad's descriptions, for comparison with skidpad's
//! solvers. Ray-cast vehicles are in wide use. No agreement with peers is required; their defects are measured.
//!
//! [`bullet`] reproduces Bullet's vehicle in Bullet's world step. [`stock`] (feature `rapier`) is Rapier's own
//! controller. Both are driven by skidpad's drivetrain through wheels that cannot slip ([`no_slip`]), and both report
//! their non-physical forces ([`ray_cast`]).
#![forbid(unsafe_code)]

pub mod bullet;
pub mod no_slip;
pub mod ray_cast;
#[cfg(feature = "rapier")]
pub mod stock;
