//! Parts of the coupling to physics engines that do not depend on the engine: rays and rims on shapes of parry, walls
//! that stop rims, bodies that move under wheels and yield, positions in 64 bits. `skidpad-rapier` and `skidpad-avian`
//! share them.
#![forbid(unsafe_code)]

mod ground;
mod position_tracker;
mod rays;
mod rim_walls;
mod wheel_triangles;

pub use ground::{DynamicGroundBody, GroundBodyMotion, GroundContact};
pub use parry3d;
pub use position_tracker::{PositionTracker, REST_SPEED_MPS, pose_lag, resolution};
pub use rays::{
    ProbePurpose, all_probe_bounds, cast_from_outside, is_plane_at_most, neighbour_ray, probe_bounds, probe_ray,
};
pub use rim_walls::{IMPACT_SPEED_MPS, RimWallImpulse, RimWalls};
pub use wheel_triangles::{WheelTriangles, triangle_corners};
