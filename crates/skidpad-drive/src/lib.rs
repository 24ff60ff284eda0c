//! Engine-independent parts of a driving game around a car: keys and sticks to pedals and steering ([`Driver`]), frames to steps
//! of fixed length ([`Ticks`]), states to poses for drawing ([`Drawn`]) and to events ([`Watch`]). A car can be placed upright on
//! its wheels ([`put_upright`]), and trailers behind a vehicle ([`hitched`]).
//!
//! This crate contains no physics: it reads states and writes [`skidpad_core::Controls`].
#![forbid(unsafe_code)]

mod direction;
mod drawn;
mod driver;
mod hitched;
mod input;
mod ticks;
mod upright;
mod watch;

pub use direction::{AutoReverse, Direction, Pedals, stands};
pub use drawn::{Drawn, Pose};
pub use driver::{Driver, Gears};
pub use hitched::hitched;
pub use input::{Inputs, Keys, Shaper, Shaping, largest_steer};
pub use ticks::Ticks;
pub use upright::{looks_down, put_upright, upright_on};
pub use watch::{Event, Watch, skid_intensity};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
