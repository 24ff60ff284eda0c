//! Parts of the coupling to physics engines that do not depend on the engine: rays and rims on shapes of parry, walls that stop
//! rims, bodies that move under wheels and yield, positions in 64 bits. `skidpad-rapier` and `skidpad-avian` share them.
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
