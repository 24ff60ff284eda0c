//! Data that is stored for cars from step to step in addition to their states.

use bevy_ecs::prelude::*;
use skidpad_core::Vec3;
use skidpad_engines::{PositionTracker, RimWalls, WheelTriangles};

use crate::ground::WheelLoadedBody;

/// Data of one car in addition to its vehicle.
#[derive(Clone, Debug)]
pub(crate) struct CarSlot {
    /// Entity of the chassis.
    pub chassis: Entity,
    /// Position of the centre of mass in 64 bits, world axes.
    pub position_tracker: PositionTracker,
    /// Velocity at the end of the step by gravity, users and wheels, if no contact or joint acts, world axes, m/s.
    pub end_velocity: Vec3,
    /// Colliders that the wheels may touch in the coming step.
    pub near_colliders: Vec<Entity>,
    /// Slot of the vehicle that tows this car, and the joint that disables collisions between the two; `None` if it is
    /// not towed.
    pub tow_joint: Option<(u32, Entity)>,
    /// Bodies of vehicles that the car tows or that tow it. Its wheels do not stand on them.
    pub hitched_bodies: Vec<Entity>,
}

/// Buffers and data of all cars, kept from step to step.
#[derive(Default)]
pub(crate) struct CarBuffers {
    /// Bodies under the wheels of this step.
    pub loaded_bodies: Vec<WheelLoadedBody>,
    /// Bodies under the wheels of the step before.
    pub last_loaded_bodies: Vec<WheelLoadedBody>,
    /// Buffer for the triangles near a wheel with a rim.
    pub wheel_triangles: WheelTriangles<Entity>,
    /// Whether the world has been stepped.
    pub has_stepped: bool,
    /// Contact points that stop rims in this step.
    pub rim_walls: RimWalls,
}
