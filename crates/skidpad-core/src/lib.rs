//! Vehicle dynamics of skidpad: the description of a car ([`Model`]), its dynamic state ([`State`]), the driver's inputs
//! ([`Controls`]), and a step, which solves soft, bounded impulse rows on a rigid body.
//!
//! This crate contains the stages of a step, the two couplings of the rows ([`SolverMode`]), the interface to a rigid-body world
//! ([`WorldPort`]) and the trait of all solvers ([`Simulation`]). It has no files, engines, clocks, threads or serialisation formats.
//!
//! Conventions: SI units, ISO 8855 axes (x forward, y left, z up), steer, yaw rate and lateral
//! acceleration positive to the left, roll positive right side down, pitch positive nose down. The vehicle frame has
//! its origin at the centre of mass of the whole car at rest.
#![forbid(unsafe_code)]

mod aero;
mod assists;
mod chassis;
mod constants;
pub mod controls;
mod drivetrain;
pub mod force_element;
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
mod wheel_groups;
pub mod world;

pub use assists::assist_log::{Assist, AssistLog, Contribution};
pub use constants::{MAX_WHEELS, STANDARD_GRAVITY};
pub use controls::{Controls, WheelControls};
pub use force_element::{ChassisMotion, ExternalForce, ForceElement, ForceElementOutput};
pub use hitch::joint::{gap_correction_share, gap_correction_velocity};
pub use model::{Model, ModelError, ModelParts};
pub use state::State;
pub use state::saved::{LoadError, SaveError, SavedUnit};
pub use step::solver_mode::{ApiMisuse, FrictionShape, SolverMode, StepReport};
pub use step::vehicle::Vehicle;
pub use telemetry::channel::Channel;
pub use telemetry::frame::{Frame, HitchFrame, Shaft, WheelFrame};
pub use telemetry::pose::WheelPose;
pub use telemetry::signals::{EngineSignals, WheelContact};
pub use wheel::rim_contact::collector::{CandidateTriangle, TriangleCollector};
pub use wheel::rim_contact::wall::wall_contact;
pub use wheel::rim_contact::{SmoothSurface, Triangle, ground_contact};
pub use world::axes::WorldAxes;
pub use world::boxes::FixedBox;
pub use world::car_view::CarView;
pub use world::cars::Cars;
pub use world::contact_solver;
pub use world::free_body::{BodyMotion, FreeBody};
pub use world::level_of_detail::{LevelError, LevelOfDetail, LodDistances};
pub use world::platform::{Platform, PlatformCourse, PlatformMotion, PlatformPath, PlatformPathFault, WayPoint};
pub use world::port::{
    BODYWORK_FRICTION, ChassisImpulse, ChassisState, Contact, DynamicBody, Ground, HullPoint, MAX_HULL_POINTS,
    PredictedMotion, Probe, Reaction, Rim, WorldPort,
};
pub use world::road::{Road, RoadClass};
pub use world::scene::{Gust, Scene};
pub use world::simulation::{CarStart, Clock, Simulation, SolverInfo};
pub use world::slots::{CarError, CarId, Occupancy, Slots};
pub use world::terrain::{GridCell, HeightField, TerrainFault, TriangleMesh, TriangleVisitor};
pub use world::texture::SurfaceTexture;

pub use bevy_math::{DMat3, DQuat, DVec2, DVec3, Mat3, Quat, Vec2, Vec3};
