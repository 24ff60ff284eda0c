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
    vehicles: Vec<(String, Arc<Model>)>,
    trailer: Arc<Model>,
    vehicle: usize,
    solver: usize,
}

impl Garage {
    /// Loads every shipped vehicle, with `vehicle` (a name or a file) first, and selects `solver`. An unknown solver
    /// selects the first one.
    ///
    /// # Errors
    /// The faults of a vehicle file that cannot be loaded, as text.
    pub fn new(vehicle: &str, solver: &str) -> Result<Self, String> {
        let load = |name: &str| skidpad_spec::load(name).map(|loaded| loaded.model).map_err(|fault| fault.to_string());
        let mut vehicles = vec![(vehicle.to_owned(), load(vehicle)?)];
        for name in skidpad_spec::shipped::names().filter(|name| *name != vehicle) {
            vehicles.push((name.to_owned(), load(name)?));
        }
        let solver = SELECTABLE_SOLVERS.iter().position(|known| known.name == solver).unwrap_or(0);
        Ok(Self { vehicles, trailer: load("caravan")?, vehicle: 0, solver })
    }

    pub fn solver(&self) -> SolverInfo {
        SELECTABLE_SOLVERS[self.solver]
    }

    /// Returns the solver of the ghost: the one after the current solver.
    pub fn next_solver(&self) -> SolverInfo {
        SELECTABLE_SOLVERS[(self.solver + 1) % SELECTABLE_SOLVERS.len()]
    }

    pub fn vehicle(&self) -> &str {
        &self.vehicles[self.vehicle].0
    }

    fn model(&self) -> Arc<Model> {
        self.vehicles[self.vehicle].1.clone()
    }
}

pub fn plugin(app: &mut App) {
    app.add_systems(Startup, enter)
        .add_systems(Update, (change_solver, change_vehicle, change_trailer, reset_cars, toggle_time_scale, shift));
}

fn is_pressed(presses: &mut MessageReader<Press>, press: Press) -> bool {
    presses.read().filter(|pressed| **pressed == press).count() % 2 == 1
}

fn enter(mut commands: Commands, garage: Res<Garage>, start: Res<StartPlace>) {
    commands.spawn((PlayerCar, Car(garage.model()), start.0, Visibility::default()));
}

fn change_solver(mut pressed: MessageReader<Press>, mut garage: ResMut<Garage>, mut world: ResMut<BuiltinWorld>) {
    if is_pressed(&mut pressed, Press::Solver) {
        garage.solver = (garage.solver + 1) % SELECTABLE_SOLVERS.len();
        world.change_solver(garage.solver());
    }
}

/// Replaces the driven vehicle by the next one, with the pose and forward speed of the last. Despawns trailers.
fn change_vehicle(
    mut pressed: MessageReader<Press>,
    mut commands: Commands,
    mut garage: ResMut<Garage>,
    cars: Query<(Entity, &Car, &CarMotion), With<PlayerCar>>,
    trailers: Query<Entity, With<TowedBy>>,
) {
    let Ok((entity, car, motion)) = cars.single() else { return };
    if !is_pressed(&mut pressed, Press::Vehicle) {
        return;
    }
    garage.vehicle = (garage.vehicle + 1) % garage.vehicles.len();
    let before = motion.state();
    let place = transform_of(&car.0, &Pose { position: before.position, rotation: before.rotation });
    let model = garage.model();
    let mut state = start_state_at(&model, &place);
    let along = (before.rotation.inverse() * before.velocity).x;
    state.velocity = state.rotation * skidpad_core::Vec3::X * along;
    for (wheel, of) in state.wheels.iter_mut().zip(model.wheels()) {
        wheel.spin = along / of.radius;
    }
    commands.entity(entity).try_despawn();
    trailers.iter().for_each(|trailer| commands.entity(trailer).try_despawn());
    commands.spawn((PlayerCar, Car(model), place, Visibility::default(), Teleport::ToState(Box::new(state))));
}

fn change_trailer(
    mut pressed: MessageReader<Press>,
    mut commands: Commands,
    garage: Res<Garage>,
    cars: Query<(Entity, &Car, &Transform), With<PlayerCar>>,
    trailers: Query<Entity, With<TowedBy>>,
) {
    let Ok((car, of, place)) = cars.single() else { return };
    if !is_pressed(&mut pressed, Press::Trailer) {
        return;
    }
    if trailers.is_empty() && of.0.parts().hitch.is_some() {
        commands.spawn((Car(garage.trailer.clone()), *place, Visibility::default(), TowedBy(car)));
    } else {
        trailers.iter().for_each(|trailer| commands.entity(trailer).try_despawn());
    }
}

fn reset_cars(
    mut pressed: MessageReader<Press>,
    mut commands: Commands,
    start: Res<StartPlace>,
    cars: Query<Entity, With<PlayerCar>>,
) {
    for press in pressed.read() {
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

fn toggle_time_scale(mut pressed: MessageReader<Press>, mut time: ResMut<Time<Virtual>>) {
    for press in pressed.read() {
        match press {
            Press::Slow if time.relative_speed() < 1.0 => time.set_relative_speed(1.0),
            Press::Slow => time.set_relative_speed(SLOW_MOTION_SCALE),
            Press::Pause if time.is_paused() => time.unpause(),
            Press::Pause => time.pause(),
            _ => {}
        }
    }
}

fn shift(mut pressed: MessageReader<Press>, mut cars: Query<(&Car, &CarMotion, &mut CarDriver), With<PlayerCar>>) {
    let Ok((car, motion, mut driver)) = cars.single_mut() else { return };
    let driver: &mut PlayerController = &mut driver.0;
    for press in pressed.read() {
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
