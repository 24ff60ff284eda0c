//! Selection of vehicle, trailer and solver while driving.

use bevy::prelude::*;
use skidpad_bevy::{BuiltinWorld, Car, CarDriver, CarMotion, Teleport, TowedBy, start_state_at, transform_of};
use skidpad_core::{Model, SolverInfo};
use skidpad_drive::{PlayerController, Pose, Shifting};
use std::sync::Arc;

use crate::player_input::{PlayerCar, Press};
use crate::scenery::StartPlace;

/// Solvers that the player can choose.
pub const SELECTABLE_SOLVERS: [SolverInfo; 3] =
    [skidpad_impulse::BACKEND_INFO, skidpad_constraint::BACKEND_INFO, skidpad_rapier::BACKEND_INFO];

/// Available vehicles, and the current choice of vehicle and solver.
#[derive(Resource, Clone, Debug)]
pub struct Garage {
    /// Name and model of each vehicle.
    vehicles: Vec<(String, Arc<Model>)>,
    /// Trailer that any vehicle with a hitch can tow.
    trailer: Arc<Model>,
    /// Index of the driven vehicle.
    vehicle: usize,
    /// Index of the solver in [`SELECTABLE_SOLVERS`].
    solver: usize,
}

impl Garage {
    /// Loads every shipped vehicle, with `vehicle` (a name or a file) first, and selects `solver`. An unknown solver
    /// selects the first one. The trailer is the shipped `caravan`.
    ///
    /// # Errors
    /// The faults of a vehicle file that cannot be loaded, as text.
    pub fn new(vehicle: &str, solver: &str) -> Result<Self, String> {
        let load = |name: &str| skidpad_spec::load(name).map(|loaded| loaded.model).map_err(|fault| fault.to_string());
        let mut vehicles = vec![(vehicle.to_owned(), load(vehicle)?)];
        // The first vehicle is not listed twice.
        for name in skidpad_spec::shipped::names().filter(|name| *name != vehicle) {
            vehicles.push((name.to_owned(), load(name)?));
        }
        let solver = SELECTABLE_SOLVERS.iter().position(|info| info.name == solver).unwrap_or(0);
        Ok(Self { vehicles, trailer: load("caravan")?, vehicle: 0, solver })
    }

    /// Returns the current solver.
    pub fn solver(&self) -> SolverInfo {
        SELECTABLE_SOLVERS[self.solver]
    }

    /// Returns the solver of the ghost: the one after the current solver.
    pub fn next_solver(&self) -> SolverInfo {
        SELECTABLE_SOLVERS[(self.solver + 1) % SELECTABLE_SOLVERS.len()]
    }

    /// Returns the name of the driven vehicle.
    pub fn vehicle(&self) -> &str {
        &self.vehicles[self.vehicle].0
    }

    /// Returns the model of the driven vehicle.
    fn model(&self) -> Arc<Model> {
        self.vehicles[self.vehicle].1.clone()
    }
}

/// Adds the driven car and the keys that change vehicle, trailer, solver, place, speed of time and gear.
pub fn plugin(app: &mut App) {
    app.add_systems(Startup, spawn_player_car).add_systems(
        Update,
        (change_solver, change_vehicle, change_trailer, reset_cars, toggle_time_scale, change_gear),
    );
}

/// Returns whether the unread presses contain `press` an odd number of times, since two presses cancel each other.
/// Marks all presses as read.
fn is_pressed(presses: &mut MessageReader<Press>, press: Press) -> bool {
    presses.read().filter(|unread| **unread == press).count() % 2 == 1
}

/// Spawns the driven car at the start.
fn spawn_player_car(mut commands: Commands, garage: Res<Garage>, start: Res<StartPlace>) {
    commands.spawn((PlayerCar, Car(garage.model()), start.0, Visibility::default()));
}

/// Selects the next solver when its key is pressed (the first one after the last), and moves all cars with their states
/// into a world of that solver.
fn change_solver(mut presses: MessageReader<Press>, mut garage: ResMut<Garage>, mut world: ResMut<BuiltinWorld>) {
    if is_pressed(&mut presses, Press::Solver) {
        garage.solver = (garage.solver + 1) % SELECTABLE_SOLVERS.len();
        world.change_solver(garage.solver());
    }
}

/// Replaces the driven vehicle by the next one when its key is pressed, the first after the last. Despawns trailers.
///
/// The new vehicle starts on its wheels at the ground point, heading and tilt of the old one, with its forward speed
/// and rolling wheels (rim speed = forward speed). Lateral velocity, rotation and gear are not kept. Does nothing
/// without exactly one driven car; presses then stay unread.
fn change_vehicle(
    mut presses: MessageReader<Press>,
    mut commands: Commands,
    mut garage: ResMut<Garage>,
    cars: Query<(Entity, &Car, &CarMotion), With<PlayerCar>>,
    trailers: Query<Entity, With<TowedBy>>,
) {
    let Ok((entity, car, motion)) = cars.single() else { return };
    if !is_pressed(&mut presses, Press::Vehicle) {
        return;
    }
    garage.vehicle = (garage.vehicle + 1) % garage.vehicles.len();
    // State of the old vehicle.
    let old_state = motion.state();
    let transform = transform_of(&car.0, &Pose { position: old_state.position, rotation: old_state.rotation });
    let model = garage.model();
    let mut state = start_state_at(&model, &transform);
    // Forward speed, m/s.
    let forward_speed = (old_state.rotation.inverse() * old_state.velocity).x;
    state.velocity = state.rotation * skidpad_core::Vec3::X * forward_speed;
    // Rolling without slip: ω = v / r.
    for (wheel, wheel_model) in state.wheels.iter_mut().zip(model.wheels()) {
        wheel.spin = forward_speed / wheel_model.radius;
    }
    commands.entity(entity).try_despawn();
    trailers.iter().for_each(|trailer| commands.entity(trailer).try_despawn());
    commands.spawn((PlayerCar, Car(model), transform, Visibility::default(), Teleport::ToState(Box::new(state))));
}

/// Spawns the trailer behind the driven car when its key is pressed and the car has a hitch but no trailer. Otherwise
/// the key despawns all trailers. An even number of presses has no effect.
fn change_trailer(
    mut presses: MessageReader<Press>,
    mut commands: Commands,
    garage: Res<Garage>,
    cars: Query<(Entity, &Car, &Transform), With<PlayerCar>>,
    trailers: Query<Entity, With<TowedBy>>,
) {
    let Ok((entity, car, transform)) = cars.single() else { return };
    if !is_pressed(&mut presses, Press::Trailer) {
        return;
    }
    if trailers.is_empty() && car.0.parts().hitch.is_some() {
        commands.spawn((Car(garage.trailer.clone()), *transform, Visibility::default(), TowedBy(entity)));
    } else {
        trailers.iter().for_each(|trailer| commands.entity(trailer).try_despawn());
    }
}

/// Teleports the driven car for each press: to the start, or upright where it is. Trailers are placed behind it by the
/// plugin.
fn reset_cars(
    mut presses: MessageReader<Press>,
    mut commands: Commands,
    start: Res<StartPlace>,
    cars: Query<Entity, With<PlayerCar>>,
) {
    for press in presses.read() {
        let teleport = match press {
            Press::Reset => Teleport::To(start.0),
            Press::Upright => Teleport::Upright,
            _ => continue,
        };
        cars.iter().for_each(|car| _ = commands.entity(car).try_insert(teleport.clone()));
    }
}

/// Speed of slow motion relative to real time.
const SLOW_MOTION_SCALE: f32 = 0.2;

/// Toggles slow motion ([`SLOW_MOTION_SCALE`]) and pause for each press of their keys. Any speed of time below 1 counts
/// as slow motion.
fn toggle_time_scale(mut presses: MessageReader<Press>, mut time: ResMut<Time<Virtual>>) {
    for press in presses.read() {
        match press {
            Press::Slow if time.relative_speed() < 1.0 => time.set_relative_speed(1.0),
            Press::Slow => time.set_relative_speed(SLOW_MOTION_SCALE),
            Press::Pause if time.is_paused() => time.unpause(),
            Press::Pause => time.pause(),
            _ => {}
        }
    }
}

/// Changes the gear of the driven car for each press: toggles between automatic and manual shifting (which starts in
/// the current gear), shifts up or down.
fn change_gear(
    mut presses: MessageReader<Press>,
    mut cars: Query<(&Car, &CarMotion, &mut CarDriver), With<PlayerCar>>,
) {
    let Ok((car, motion, mut driver)) = cars.single_mut() else { return };
    let driver: &mut PlayerController = &mut driver.0;
    for press in presses.read() {
        match press {
            Press::Manual if driver.shifting == Shifting::Automatic => {
                driver.shifting = Shifting::Manual(motion.state().drive.gear)
            }
            Press::Manual => driver.shifting = Shifting::Automatic,
            Press::GearUp => driver.shift_up(&car.0),
            Press::GearDown => driver.shift_down(),
            _ => {}
        }
    }
}
