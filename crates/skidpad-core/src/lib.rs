//! The physics of skidpad: what a car *is* ([`Model`]), what it is *doing* ([`State`]), what the driver asks
//! ([`Controls`]) and one step of it, realised as soft, bounded impulse rows on a rigid body.
//!
//! Here: the stages of a step, the two couplings ([`Coupling`]), the seam to a rigid-body world ([`WorldPort`]) and
//! the contract every solver meets ([`Backend`]). Not here: files, engines, clocks, threads, serialisation formats.
//!
//! Conventions, everywhere: SI units, ISO 8855 axes (x forward, y left, z up), steer, yaw rate and lateral
//! acceleration positive to the left, roll positive right side down, pitch positive nose down. The vehicle frame has
//! its origin at the centre of mass of the whole car at rest.
#![forbid(unsafe_code)]

mod assists;
pub mod backend;
pub mod budget;
pub mod cars;
pub mod controls;
pub mod element;
pub mod frame;
pub mod lane;
pub mod level_of_detail;
mod linear;
pub mod math;
pub mod model;
pub mod no_slip;
mod pose;
pub mod ray_cast;
mod rest;
pub mod saved;
pub mod scene;
pub mod seam;
pub mod state;
pub mod tyre;
pub mod vehicle;

pub use backend::{Backend, BackendInfo, CarStart};
pub use budget::{Added, Assist, Budget};
pub use cars::Cars;
pub use controls::{Controls, WheelControls};
pub use element::{Action, Element, ForceElement, Motion};
pub use frame::{Channel, Frame, Shaft, WheelFrame};
pub use level_of_detail::{Distances, LevelError, LevelOfDetail};
pub use model::{Model, ModelError, ModelParts};
pub use pose::WheelPose;
pub use saved::{LoadError, SaveError};
pub use scene::{FixedBox, Gust, Scene};
pub use seam::{BODYWORK_FRICTION, Body, Contact, Ground, HULL_POINTS, HullPoint, Probe, Push, Reaction, WorldPort};
pub use state::State;
pub use vehicle::{Coupling, Friction, StepReport, Vehicle};

pub use bevy_math::{DMat3, DQuat, DVec3, Mat3, Quat, Vec2, Vec3};

/// Most wheels one vehicle may have; sizes the few arrays a step keeps on the stack.
pub const MAX_WHEELS: usize = 32;

/// Gravity the static loads of a [`Model`] are computed with, m/s².
pub const STANDARD_GRAVITY: f32 = 9.81;
