//! Fleets: very many cars of one model that are stepped together in SIMD lanes, for learning, traffic and Monte Carlo runs.
//!
//! A [`Fleet`] stores the states of its cars permanently in blocks of eight or sixteen, one car per SIMD lane. A step runs the
//! stages of a single car on all lanes at once, with the bits of the solver `impulse`: a car moves the same alone in a
//! world, in any place of a fleet, and on any number of threads. Cars of a fleet do not collide with each other.
//!
//! ```
//! use skidpad_core::state::Placement;
//! use skidpad_core::Scene;
//! use skidpad_fleet::{Fleet, Observation};
//!
//! let model = skidpad_spec::load("corvette_c5")?.model;
//! let mut fleet = Fleet::new(&model, &Scene::flat(), 0.01)?;
//! fleet.set_observations(&[Observation::ForwardSpeed, Observation::YawRate]);
//! for row in 0..100 {
//!     fleet.spawn(&Placement { y: 10.0 * f64::from(row), speed: 20.0, ..Placement::default() });
//! }
//! // Throttle, brake, handbrake and steering angle of each car.
//! let actions: Vec<f32> = (0..fleet.len()).flat_map(|_| [0.3, 0.0, 0.0, 0.02]).collect();
//! fleet.set_actions(&actions)?;
//! fleet.step(100);
//! let yaw_rate = fleet.observations()[1];
//! assert!(yaw_rate > 0.1, "the first car turns left");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod block;
mod blocks;
mod environment;
mod error;
mod field_patches;
mod fleet;
mod hulls;
mod lanes;
mod observation;
mod terrain_rays;
mod uneven_ground;
mod worker;
mod worlds;

pub use error::FleetError;
pub use fleet::{ACTION_COUNT, Fleet, START_COUNT, StorageKind};
pub use lanes::Lanes;
pub use observation::{Observation, write_car_observations};
pub use skidpad_core::block::Requirement;
