//! skidpad vehicles in Bevy: a car is an entity and its wheels are its children. The physics world is a separate
//! plugin.
//!
//! ```
//! use bevy_app::prelude::*;
//! use bevy_ecs::prelude::*;
//! use bevy_transform::prelude::*;
//! use skidpad_bevy::{Car, CarInputs, CarPlugin, BuiltinWorldPlugin};
//! use skidpad_core::Scene;
//!
//! fn spawn(mut commands: Commands) {
//!     let model = skidpad_spec::load("corvette_c5").expect("a shipped car").model;
//!     commands.spawn((Car(model), Transform::from_xyz(0.0, 0.0, -20.0)));
//! }
//!
//! fn drive(mut cars: Query<&mut CarInputs>) {
//!     for mut car in &mut cars {
//!         car.throttle = 1.0;
//!     }
//! }
//!
//! let mut app = App::new();
//! app.add_plugins((bevy_time::TimePlugin, CarPlugin::default()))
//!     .add_plugins(BuiltinWorldPlugin { solver: skidpad_impulse::BACKEND_INFO, scene: Scene::flat() })
//!     .add_systems(Startup, spawn)
//!     .add_systems(Update, drive);
//! app.update();
//! ```
//!
//! Components use Bevy's axes: y up, −z is the forward direction of a car. The translation of a car's transform is the
//! point on the ground below its centre of mass at rest. A car at the height of the road therefore stands on the road.
//!
//! A tick runs these sets in the plugin's schedule: [`CarSystems::SyncCars`] (new cars, teleports),
//! [`CarSystems::Input`] (inputs to controls), [`CarSystems::Step`] (step of the world), [`CarSystems::Events`]
//! (signals and messages). Once a frame, after the fixed loop, [`CarSystems::Interpolate`] interpolates the transforms
//! of bodies and wheels between the last two ticks.
//!
//! A world is a plugin with a [`CarHost`]. [`PendingCars::sync`] inserts cars into it, [`CarIndices::controls`]
//! collects their controls, and [`CarMotion::update`] copies the result of a step. This crate contains skidpad's own
//! world ([`BuiltinWorldPlugin`]). The crates `skidpad-bevy-rapier` and `skidpad-avian` provide worlds of Rapier and
//! Avian.
#![forbid(unsafe_code)]

#[cfg(feature = "asset")]
mod asset;
#[cfg(feature = "own_world")]
mod builtin_world;
mod car;
mod fixed_loop;
#[cfg(feature = "gizmos")]
mod gizmos;
mod hitching;
mod interpolation;
mod motion;
mod plugin;
mod towing;
mod transforms;
mod world_adapter;

#[cfg(feature = "asset")]
pub use asset::{CarFile, CarFileFaults, CarFilePlugin, VehicleFile, VehicleFileError, VehicleLoader};
#[cfg(feature = "own_world")]
pub use builtin_world::{BuiltinWorld, BuiltinWorldPlugin};
pub use car::{
    Car, CarControls, CarDriver, CarEvent, CarInputs, CarSignals, GroundSurface, NoInterpolation, StepFault, Teleport,
    Wheel, WheelSignals,
};
#[cfg(feature = "gizmos")]
pub use gizmos::{CarGizmos, CarGizmosPlugin};
pub use motion::CarMotion;
pub use plugin::{CarPlugin, CarSystems};
pub use skidpad_core as core;
pub use skidpad_drive as drive;
pub use towing::{Dolly, DollyOf, TowedBy};
pub use transforms::{BEVY_AXES, start_state_at, transform_of};
pub use world_adapter::{CarHost, CarIndices, PendingCars};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
