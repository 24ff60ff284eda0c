//! What is kept of cars from step to step, beside their states.

use bevy_ecs::prelude::*;
use skidpad_core::Vec3;
use skidpad_engines::{Faces, Stops, Track};

use crate::ground::Loaded;

/// What is kept of one car.
#[derive(Clone, Debug)]
pub(crate) struct CarSlot {
    pub chassis: Entity,
    pub track: Track,
    /// Velocity that the step ends with unless something else acts, m/s.
    pub ends: Vec3,
    /// What the wheels may meet in the coming step.
    pub near: Vec<Entity>,
    /// The joint that lets it and what tows it pass through each other, and the number of that.
    pub towed: Option<(u32, Entity)>,
    /// Bodies it tows or is towed by: its wheels do not stand on them.
    pub tied: Vec<Entity>,
}

/// What is used again from step to step.
#[derive(Default)]
pub(crate) struct Memory {
    /// Bodies under the wheels of this step.
    pub loaded: Vec<Loaded>,
    /// Those of the step before.
    pub before: Vec<Loaded>,
    pub faces: Faces<Entity>,
    /// Whether the world has been stepped.
    pub stepped: bool,
    pub stops: Stops,
}
