//! Reproduction of Bullet 3.24's `btRaycastVehicle` in Bullet's world step, as a peer for comparisons. Algorithm, order
//! and constants follow its description, with the resulting defects (measured in `docs/bullet_defects.md`).
//!
//! * [`Car`] is the vehicle in 64-bit numbers with Bullet's own inputs. Recorded float64 runs without chassis contact
//!   are reproduced up to round-off.
//! * [`BACKEND_INFO`] drives it from a skidpad model and [`skidpad_core::Controls`]. Between steps its motion is the
//!   [`skidpad_core::State`], with velocities and rotation in 32 bits, so that a copied state resumes bit-identically.
//! * [`Tuning`] contains Bullet's parameters, either from a model in their true units or Bullet's own numbers.
//!
//! Not reproduced: contacts of the chassis (replaced by those of skidpad's world), contacts between cars, collision
//! filters, deactivation, damping of the body (0 in Bullet by default), and Bullet's iterative ray cast against boxes.
//! Ray casts are exact here.
//!
//! The velocity that Bullet reports is the one after the vehicle's impulses and before gravity: a standing car moves
//! upwards at g dt. That velocity is kept, also in the state. The velocity that moves the car is the sum of it and
//! gravity times dt.

mod backend;
mod body;
mod car;
mod friction;
mod tuning;

pub use backend::{BACKEND_INFO, new_world};
pub use body::Body;
pub use car::{Car, Wheel, WheelInput};
pub use skidpad_world::Ground;
pub use tuning::{Tuning, WheelTuning};
