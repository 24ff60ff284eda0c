//! Vehicles of other engines, and conversion of cars to and from them.

#[cfg(feature = "peers")]
pub mod bullet;
#[cfg(all(feature = "peers", feature = "impulse"))]
pub mod bullet_defects;
#[cfg(all(feature = "peers", feature = "impulse"))]
pub mod import;
pub mod told;
