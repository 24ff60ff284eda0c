//! Ray-cast vehicles of other engines, fed from skidpad's descriptions: what skidpad's solvers are compared with, and what people drive
//! today. Peers agree with nobody; their defects are measured.
//!
//! [`bullet`] is Bullet's vehicle in Bullet's world step, reproduced; [`stock`] (feature `rapier`) is Rapier's own controller. Both are
//! driven by skidpad's drivetrain behind wheels that cannot slip ([`no_slip`]), and tell their tricks ([`ray_cast`]).
#![forbid(unsafe_code)]

pub mod bullet;
pub mod no_slip;
pub mod ray_cast;
#[cfg(feature = "rapier")]
pub mod stock;
