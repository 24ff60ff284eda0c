//! skidpad vehicles in Bevy: a car is an entity and its wheels are its children. The physics world is a separate
//! plugin.
//!
//! ```
//! use bevy_app::prelude::*;
//! use bevy_ecs::prelude::*;
//! use bevy_transform::prelude::*;
//! use skidpad_bevy::{Car, CarInputs, CarPlugin, OwnWorldPlugin};
//! use skidpad_core::Scene;
//!
//! fn spawn(mut commands: Commands) {
//!     let model = skidpad_spec::load("corvette_c5").expect("a shipped car").model;
//!     commands.spawn((Car(model), Transform::from_xyz(0.0, 0.0, -20.0)));
//! }
//!
//! fn drive(mut cars: Query<&mut CarInputs>) {
//!     for mut car in &mut cars {
//!         car.accelerate = 1.0;
//!     }
//! }
//!
//! let mut app = App::new();
//! app.add_plugins((bevy_time::TimePlugin, CarPlugin::default()))
//!     .add_plugins(OwnWorldPlugin { solver: skidpad_impulse::BACKEND, scene: Scene::flat() })
//!     .add_systems(Startup, spawn)
//!     .add_systems(Update, drive);
//! app.update();
//! ```
//!
//! Components use Bevy's axes: y up, −z is the forward direction of a car. The translation of a car's transform is the
//! point on the ground below its centre of mass at rest. A car at the height of the road therefore stands on the road.
//!
//! A tick runs these sets in the plugin's schedule: [`CarSystems::Enter`] (new cars, teleports), [`CarSystems::Drive`]
//! (inputs to controls), [`CarSystems::Step`] (step of the world), [`CarSystems::Tell`] (signals and messages). Once a
//! frame, after the fixed loop, [`CarSystems::Follow`] interpolates the transforms of bodies and wheels between the
//! last two ticks.
//!
//! A world is a plugin with a [`CarHost`]. [`Arrivals::settle`] inserts cars into it, [`CarNumbers::controls`] collects
//! their controls, and [`CarMotion::read`] copies the result of a step. This crate contains skidpad's own world
//! ([`OwnWorldPlugin`]). The crates `skidpad-bevy-rapier` and `skidpad-avian` provide worlds of Rapier and Avian.
#![forbid(unsafe_code)]

#[cfg(feature = "asset")]
mod asset;
mod car;
mod follow;
#[cfg(feature = "gizmos")]
mod gizmos;
mod hitching;
mod motion;
#[cfg(feature = "own_world")]
mod own_world;
mod place;
mod plugin;
mod seam;
mod towing;

#[cfg(feature = "asset")]
pub use asset::{CarFile, CarFileFaults, CarFilePlugin, VehicleFile, VehicleFileError, VehicleLoader};
pub use car::{
    Car, CarControls, CarDriver, CarEvent, CarInputs, CarSignals, GroundSurface, NoInterpolation, StepFault, Teleport,
    Wheel, WheelSignals,
};
#[cfg(feature = "gizmos")]
pub use gizmos::{CarGizmos, CarGizmosPlugin};
pub use motion::CarMotion;
#[cfg(feature = "own_world")]
pub use own_world::{OwnWorld, OwnWorldPlugin};
pub use place::{AXES, start_at, transform_of};
pub use plugin::{CarPlugin, CarSystems};
pub use seam::{Arrivals, CarHost, CarNumbers};
pub use skidpad_core as core;
pub use skidpad_drive as drive;
pub use towing::{Dolly, DollyOf, TowedBy};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
