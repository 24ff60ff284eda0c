//! Engine-independent parts of a driving game around a car: keys and sticks to pedals and steering
//! ([`PlayerController`]), frames to steps of fixed length ([`FixedTimestep`]), states to poses for drawing
//! ([`PoseInterpolator`]) and to events ([`EventDetector`]). A car can be placed upright on its wheels
//! ([`reset_upright`]), and trailers behind a vehicle ([`place_trailers_behind`]).
//!
//! This crate contains no physics: it reads states and writes [`skidpad_core::Controls`].
#![forbid(unsafe_code)]

mod direction;
mod event_detector;
mod fixed_timestep;
mod input;
mod player_controller;
mod pose_interpolator;
mod trailers;
mod upright;

pub use direction::{AutoReverse, Direction, Pedals, is_stationary};
pub use event_detector::{Event, EventDetector, skid_intensity};
pub use fixed_timestep::FixedTimestep;
pub use input::{InputFilter, InputShaping, Inputs, Keys, max_useful_steer};
pub use player_controller::{PlayerController, Shifting};
pub use pose_interpolator::{Pose, PoseInterpolator};
pub use trailers::place_trailers_behind;
pub use upright::{downward_probe, reset_upright, upright_state_on};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
