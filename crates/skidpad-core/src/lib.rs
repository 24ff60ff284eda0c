//! Vehicle dynamics of skidpad: the description of a car ([`Model`]), its dynamic state ([`State`]), the driver's inputs
//! ([`Controls`]), and a step, which solves soft, bounded impulse rows on a rigid body.
//!
//! This crate contains the stages of a step, the two couplings of the rows ([`Coupling`]), the interface to a rigid-body world
//! ([`WorldPort`]) and the trait of all solvers ([`Backend`]). It has no files, engines, clocks, threads or serialisation formats.
//!
//! Conventions: SI units, ISO 8855 axes (x forward, y left, z up), steer, yaw rate and lateral
//! acceleration positive to the left, roll positive right side down, pitch positive nose down. The vehicle frame has
//! its origin at the centre of mass of the whole car at rest.
#![forbid(unsafe_code)]

mod aero;
mod assists;
mod banks;
mod chassis;
mod constants;
pub mod controls;
mod drivetrain;
pub mod element;
mod hitch;
pub mod instruction_set;
pub mod lane;
mod linear;
pub mod math;
pub mod model;
pub mod state;
mod statics;
mod steering;
mod step;
mod suspension;
pub mod telemetry;
pub mod tyre;
pub mod vectors;
mod wheel;
pub mod world;

pub use assists::assist_log::{Assist, AssistLog, Contribution};
pub use constants::{MAX_WHEELS, STANDARD_GRAVITY};
pub use controls::{Controls, WheelControls};
pub use element::{Action, Element, ForceElement, Motion};
pub use hitch::joint::{returned_gap, returned_share};
pub use model::{Model, ModelError, ModelParts};
pub use state::State;
pub use state::saved::{LoadError, Mover, SaveError};
pub use step::coupling::{Coupling, Friction, Misuse, StepReport};
pub use step::vehicle::Vehicle;
pub use telemetry::channel::Channel;
pub use telemetry::frame::{Frame, HitchFrame, Shaft, WheelFrame};
pub use telemetry::pose::WheelPose;
pub use telemetry::signals::{EngineSignals, WheelContact};
pub use wheel::envelope::feeler::{Feeler, Seen};
pub use wheel::envelope::wall::stop;
pub use wheel::envelope::{Smooth, Triangle, support};
pub use world::axes::Axes;
pub use world::backend::{Backend, BackendInfo, CarStart, Clock};
pub use world::boxes::FixedBox;
pub use world::car_view::CarView;
pub use world::cars::Cars;
pub use world::free_body::{BodyMotion, FreeBody};
pub use world::level_of_detail::{Distances, LevelError, LevelOfDetail};
pub use world::platform::{Course, Path, PathFault, Platform, PlatformMotion, WayPoint};
pub use world::road::{Road, RoadClass};
pub use world::scene::{Gust, Scene};
pub use world::seam::{
    BODYWORK_FRICTION, Body, Contact, Foreseen, Ground, HULL_POINTS, HullPoint, Probe, Push, Pushable, Reaction, Rim,
    WorldPort,
};
pub use world::slots::{CarError, CarId, Occupancy, Slots};
pub use world::supports;
pub use world::terrain::{Cell, HeightField, TerrainFault, TriangleMesh, TriangleVisitor};
pub use world::texture::Texture;

pub use bevy_math::{DMat3, DQuat, DVec2, DVec3, Mat3, Quat, Vec2, Vec3};
