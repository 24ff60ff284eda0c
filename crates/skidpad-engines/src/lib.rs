//! What cars need in worlds of physics engines, whatever engine: rays and rims on shapes of parry, walls that stop rims, bodies that move
//! under wheels and give way, poses in 64 bits. `skidpad-rapier` and `skidpad-avian` share it.
#![forbid(unsafe_code)]

mod faces;
mod ground;
mod rays;
mod stops;
mod track;

pub use faces::{Faces, face};
pub use ground::{Meeting, Motion, Pushed};
pub use parry3d;
pub use rays::{Asked, beside, bounds, bounds_of, cast, is_one_plane, ray};
pub use stops::{BLOW, Held, Stops};
pub use track::{STILL, Track, pose_lag, resolution};
