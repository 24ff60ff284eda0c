//! Properties of every step of every car: energy, bits, convergence, any input.

#[cfg(all(feature = "simd_batch", feature = "impulse", feature = "rapier"))]
pub mod abreast;
#[cfg(all(feature = "impulse", feature = "constraint"))]
pub mod constraint;
pub mod convergence;
pub mod energy;
pub mod fuzz;
#[cfg(all(feature = "simd_batch", feature = "impulse", feature = "rapier"))]
pub mod memory;
#[cfg(all(feature = "impulse", feature = "constraint"))]
pub mod own_solver;
pub mod random;
pub mod random_cars;
pub mod raw_torques;
pub mod same_bits;
pub mod survival;
pub mod symmetry;
pub mod turning;
