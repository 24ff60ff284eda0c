//! Vehicle dynamics of skidpad: the description of a car ([`Model`]), its dynamic state ([`State`]), the driver's
//! inputs ([`Controls`]), and a step, which solves soft, bounded impulse rows on a rigid body.
//!
//! This crate contains the stages of a step, the interface of solvers of these rows ([`coupling`]), the interface to a
//! rigid-body world ([`WorldPort`]) and the trait of all solvers ([`Simulation`]). It has no files, engines, clocks,
//! threads or serialisation formats.
//!
//! Conventions: SI units, ISO 8855 axes (x forward, y left, z up), steer, yaw rate and lateral
//! acceleration positive to the left, roll positive right side down, pitch positive nose down. The vehicle frame has
//! its origin at the centre of mass of the whole car at rest.
#![forbid(unsafe_code)]

mod aero;
mod assembly;
mod assist_log;
mod assists;
#[cfg(feature = "simd_batch")]
pub mod block;
mod channel;
mod chassis;
mod constants;
pub mod controls;
pub mod coupling;
mod drivetrain;
pub mod force_element;
pub mod ground;
mod hitch;
mod impulse_bounds;
pub mod model;
mod model_error;
pub mod port;
mod shape;
pub mod simulation;
pub mod state;
mod statics;
mod steering;
mod step;
mod step_report;
mod suspension;
pub mod telemetry;
mod traffic;
mod tyre_rows;
mod vehicle;
mod wheel;

pub use assist_log::{Assist, AssistLog, Contribution};
pub use channel::Channel;
pub use constants::{MAX_WHEELS, STANDARD_GRAVITY};
pub use controls::{Controls, WheelControls};
pub use force_element::{ChassisMotion, ExternalForce, ForceElement, ForceElementOutput};
pub use ground::boxes::FixedBox;
pub use ground::cells::{CellPatch, GridCell, TriangleVisitor};
pub use ground::free_body::{BodyMotion, FreeBody};
pub use ground::platform::{Platform, PlatformCourse, PlatformMotion, PlatformPath, PlatformPathFault, WayPoint};
pub use ground::rim_contact::collector::{CandidateTriangle, TriangleCollector};
pub use ground::rim_contact::wall::wall_contact;
pub use ground::rim_contact::{SmoothSurface, Triangle, ground_contact};
pub use ground::road::{Road, RoadClass};
pub use ground::scene::{Gust, Scene};
pub use ground::terrain::{HeightField, TerrainFault, TriangleMesh};
pub use hitch::joint::{gap_correction_share, gap_correction_velocity};
pub use model::{Model, ModelError, ModelParts};
pub use port::axes::WorldAxes;
pub use port::texture::SurfaceTexture;
pub use port::{
    BODYWORK_FRICTION, ChassisImpulse, ChassisState, Contact, DynamicBody, Ground, HullPoint, MAX_HULL_POINTS,
    PredictedMotion, Probe, Reaction, Rim, WorldPort,
};
pub use simulation::car_view::CarView;
pub use simulation::slots::{CarError, CarId, Occupancy, Slots};
pub use simulation::{CarStart, Clock, Simulation, SolverInfo};
pub use state::State;
pub use state::rest_pose::RestPose;
pub use state::saved::{LoadError, SaveError, SavedUnit};
pub use step_report::{ApiMisuse, StepReport};
pub use telemetry::frame::{Frame, HitchFrame, Shaft, WheelFrame};
pub use telemetry::pose::WheelPose;
pub use telemetry::signals::{EngineSignals, WheelContact};
pub use traffic::cars::Cars;
pub use traffic::contact_solver;
pub use traffic::level_of_detail::{LevelError, LevelOfDetail, LodDistances};
pub use vehicle::Vehicle;

pub use skidpad_simd as simd;
pub use skidpad_simd::math;
pub use skidpad_tyre as tyre;

pub use bevy_math::{DMat3, DQuat, DVec2, DVec3, Mat3, Quat, Vec2, Vec3};
