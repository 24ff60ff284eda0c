//! Bullet 3.24's `btRaycastVehicle` in Bullet's world step, reproduced from its description: algorithm, order and
//! constants, with the defects that follow from them (measured in `docs/bullet_defects.md`). A peer for comparisons.
//!
//! * [`Car`] is the vehicle in 64-bit numbers with Bullet's own inputs. Against recorded float64 runs without chassis
//!   contact it is exact to round-off.
//! * [`BACKEND`] drives it from a skidpad model and [`skidpad_core::Controls`]; between steps its motion is the
//!   [`skidpad_core::State`], velocities and rotation in 32 bits, so that a copied state resumes bit for bit.
//! * [`Tuning`] holds Bullet's parameters: from a model by their true units, or Bullet's own numbers.
//!
//! Not reproduced: contacts of the chassis (the own world's take their place), car-to-car contacts, collision filters,
//! deactivation, damping of the body (0 in Bullet by default), and Bullet's iterative ray against boxes: rays are exact
//! here.
//!
//! The velocity Bullet reports is the one after the vehicle pushed and before gravity pulls: a standing car has g dt
//! upwards. It is kept, in the state too. The velocity that moves the car is that plus gravity times dt.

mod backend;
mod body;
mod car;
mod friction;
mod tuning;

pub use backend::{BACKEND, world};
pub use body::Body;
pub use car::{Car, Wheel, WheelInput};
pub use skidpad_world::Ground;
pub use tuning::{Tuning, WheelTuning};
