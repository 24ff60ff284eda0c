//! What must hold for every solver: closed forms, invariants, agreement. One binary, so that it links once.

mod air;
mod assists;
mod bars;
mod boxes;
#[cfg(feature = "peers")]
mod bullet;
#[cfg(all(feature = "peers", feature = "impulse"))]
mod bullet_defects;
mod common;
mod commonroad;
#[cfg(all(feature = "impulse", feature = "constraint"))]
mod constraint;
mod convergence;
mod couplings;
mod dead_engine;
mod derived;
mod differentials;
mod doors;
mod energy;
mod entering;
mod fuzz;
mod gear_choice;
mod gearboxes;
#[cfg(all(feature = "rapier", feature = "impulse", feature = "constraint", feature = "deterministic"))]
mod golden;
mod handling;
#[cfg(any(feature = "impulse", feature = "constraint"))]
mod hull;
#[cfg(all(feature = "peers", feature = "impulse"))]
mod import;
mod landings;
mod load_transfer;
mod longitudinal;
mod moose;
mod motors;
mod multi_body;
mod numbers;
#[cfg(feature = "constraint")]
mod own_wheels;
mod parked;
mod passing;
mod peers;
mod published;
mod random;
mod random_cars;
#[cfg(feature = "rapier")]
mod rapier;
mod released;
mod same_bits;
mod saved;
mod scenes;
mod shafts;
mod signals;
mod snapshots;
mod solid_axles;
mod standing;
mod starts;
mod statics;
mod stopping;
mod survival;
mod suspension;
mod switch;
mod symmetry;
mod texts;
mod thrown;
mod tyre_laws;
mod wheels;
