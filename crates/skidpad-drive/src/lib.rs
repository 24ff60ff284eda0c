//! What every driving game needs around a car, without an engine: keys and sticks become pedals and steering ([`Driver`]),
//! frames become steps of fixed length ([`Ticks`]), states become poses to draw ([`Drawn`]) and events to hear ([`Watch`]),
//! a car is put back on its wheels ([`put_upright`]), and a trailer behind it ([`hitched`]).
//!
//! Nothing here is physics: all of it reads states and writes [`skidpad_core::Controls`].
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
