//! Cars of a batch: a fleet, or trains of a car and its trailer.

use std::sync::Arc;

use rayon::prelude::*;
use skidpad::core::state::Placement;
use skidpad::core::{CarId, Controls, Model, Scene, State};
use skidpad::fleet::{ACTION_COUNT, Fleet, FleetError, write_car_observations};
use skidpad::{Solver, World};

use crate::environments::task::{MOTION_QUANTITIES, Start, TRAILER_QUANTITIES};
use crate::threads::Threads;

/// Cars of a batch, and their trailers if they have any. Numbers count from 0.
pub enum Cars {
    /// Cars without trailers.
    Fleet(Box<Fleet>),
    /// Cars with a trailer each.
    Trains(Box<Trains>),
}

impl Cars {
    /// Creates cars whose steps write [`MOTION_QUANTITIES`].
    pub fn of_fleet(mut fleet: Fleet) -> Self {
        fleet.set_observations(&MOTION_QUANTITIES);
        Self::Fleet(Box::new(fleet))
    }

    /// Places a car at rest, rolling or sliding, with neutral controls and active; a trailer is in line behind the car.
    /// Writes the motion of the car, and of its trailer, into `row`.
    ///
    /// # Errors
    /// There is no such car, or a number of `start` is not finite.
    pub fn place(&mut self, car: usize, start: &Start, row: &mut [f32]) -> Result<(), FleetError> {
        match self {
            Self::Fleet(fleet) => {
                let Placement { x, y, heading, speed, .. } = start.placement;
                fleet.reset(&[car as u32], &[x, y, heading.into(), speed.into()])?;
                let mut state = fleet.state(car)?;
                if start.is_sliding() {
                    let centre = state.position;
                    start.add_sliding(&mut state, centre);
                    fleet.set_state(car, &state)?;
                }
                write_car_observations(&state, &MOTION_QUANTITIES, fleet.dt(), row);
                Ok(())
            }
            Self::Trains(trains) => trains.place(car, start, row),
        }
    }

    /// Sets the requested gear of a car; `None` leaves the choice to the gearbox. In a fleet, the other inputs of the
    /// car become neutral until [`Self::set_actions`] is called.
    ///
    /// # Errors
    /// There is no such car.
    pub fn set_gear(&mut self, car: usize, gear: Option<i8>) -> Result<(), FleetError> {
        match self {
            Self::Fleet(fleet) => fleet.set_controls(car, &Controls { gear, ..Controls::default() }),
            Self::Trains(trains) => {
                trains.get_mut(car)?.controls.gear = gear;
                Ok(())
            }
        }
    }

    /// Sets throttle, brake, handbrake (0 to 1) and road-wheel angle (rad) of all cars, shape `[cars, ACTION_COUNT]`.
    /// Gears stay.
    ///
    /// # Errors
    /// `actions` has another length.
    pub fn set_actions(&mut self, actions: &[f32]) -> Result<(), FleetError> {
        match self {
            Self::Fleet(fleet) => fleet.set_actions(actions),
            Self::Trains(trains) => {
                let shape = "[cars, 4]: throttle, brake, handbrake and steering angle of each car";
                check_length(actions.len(), trains.trains.len() * ACTION_COUNT, shape)?;
                for (train, action) in trains.trains.iter_mut().zip(actions.as_chunks::<ACTION_COUNT>().0) {
                    let controls = &mut train.controls;
                    [controls.throttle, controls.brake, controls.handbrake, controls.steer] = *action;
                }
                Ok(())
            }
        }
    }

    /// Sets whether a car is stepped.
    ///
    /// # Errors
    /// There is no such car.
    pub fn set_active(&mut self, car: usize, is_active: bool) -> Result<(), FleetError> {
        match self {
            Self::Fleet(fleet) => fleet.set_active(car, is_active),
            Self::Trains(trains) => {
                trains.get_mut(car)?.is_active = is_active;
                Ok(())
            }
        }
    }

    /// Writes whether each car is stepped, shape `[cars]`: false for cars taken out by [`Self::set_active`], and for
    /// cars whose motion became infinite or NaN.
    ///
    /// # Errors
    /// `active` has another length.
    pub fn write_active(&self, active: &mut [bool]) -> Result<(), FleetError> {
        match self {
            Self::Fleet(fleet) => fleet.write_active(active),
            Self::Trains(trains) => {
                check_length(active.len(), trains.trains.len(), "[cars]: whether each car is stepped")?;
                for (is_active, train) in active.iter_mut().zip(&trains.trains) {
                    *is_active = train.is_active;
                }
                Ok(())
            }
        }
    }

    /// Advances all active cars by `steps` steps on `threads`. Writes the motions of all cars into `rows`, car by car.
    ///
    /// # Errors
    /// `rows` has another length.
    pub fn step_into(&mut self, threads: &Threads, steps: u32, rows: &mut [f32]) -> Result<(), FleetError> {
        match self {
            Self::Fleet(fleet) => threads.run(|| fleet.step_into(steps, rows)),
            Self::Trains(trains) => {
                let expected = trains.trains.len() * Trains::ROW_LENGTH;
                check_length(rows.len(), expected, "[cars, quantities]: the motions of each car and trailer")?;
                trains.step_into(threads, steps, rows);
                Ok(())
            }
        }
    }

    /// Returns the state of a car, without that of its trailer.
    ///
    /// # Errors
    /// There is no such car.
    pub fn state(&self, car: usize) -> Result<State, FleetError> {
        match self {
            Self::Fleet(fleet) => fleet.state(car),
            Self::Trains(trains) => Ok(trains.get(car)?.state(Vehicle::Car).clone()),
        }
    }
}

/// Cars with a trailer each. Each train has a world of the solver `impulse` of its own.
pub struct Trains {
    trains: Vec<Train>,
    /// Models of car and trailer.
    models: [Arc<Model>; 2],
    scene: Scene,
}

/// Car with its trailer.
struct Train {
    world: World,
    /// Car and trailer.
    vehicles: [CarId; 2],
    /// Inputs of the driver.
    controls: Controls,
    /// Whether the train is stepped.
    is_active: bool,
}

/// Vehicle of a train.
#[derive(Clone, Copy)]
enum Vehicle {
    /// Towing car.
    Car = 0,
    /// Trailer.
    Trailer = 1,
}

/// Checks the length of an array with the shape `shape`.
///
/// # Errors
/// `found` is not `expected`.
fn check_length(found: usize, expected: usize, shape: &'static str) -> Result<(), FleetError> {
    if found == expected { Ok(()) } else { Err(FleetError::Length { found, expected, shape }) }
}

impl Trains {
    /// Number of quantities of a train: the motion of the car, then that of the trailer.
    const ROW_LENGTH: usize = MOTION_QUANTITIES.len() + TRAILER_QUANTITIES.len();

    /// Creates `count` trains of the `models` of car and trailer at the origin. Steps are `dt` s long.
    pub fn new(models: [Arc<Model>; 2], scene: &Scene, dt: f32, count: usize) -> Self {
        let new_train = |_| {
            let mut world = World::new(Solver::Impulse, scene, dt);
            let vehicles = models.each_ref().map(|model| world.spawn(model, Placement::default()));
            Train { world, vehicles, controls: Controls::default(), is_active: true }
        };
        let trains = (0..count).map(new_train).collect();
        Self { trains, models, scene: scene.clone() }
    }

    /// Returns the distance from the centre of mass of the car to that of the trailer in line on level ground, m.
    pub fn distance_in_line(models: &[Arc<Model>; 2]) -> f32 {
        let models: [&Model; 2] = models.each_ref().map(Arc::as_ref);
        let states = State::train_at_rest(&models, 0, &Scene::flat(), &Placement::default());
        let [car, trailer] = [0, 1].map(|vehicle| states.get(vehicle).map_or(0.0, |state| state.position.x));
        (car - trailer) as f32
    }

    /// Returns the train of a car. Fails if there is no such car.
    fn get(&self, car: usize) -> Result<&Train, FleetError> {
        self.trains.get(car).ok_or(FleetError::NoCar { car, len: self.trains.len() })
    }

    /// Returns the train of a car for changes. Fails if there is no such car.
    fn get_mut(&mut self, car: usize) -> Result<&mut Train, FleetError> {
        let len = self.trains.len();
        self.trains.get_mut(car).ok_or(FleetError::NoCar { car, len })
    }

    /// Places a train at `start` and writes its motion into `row`, as [`Cars::place`] says. The slide is added to both
    /// vehicles, which then move as one rigid body.
    fn place(&mut self, car: usize, start: &Start, row: &mut [f32]) -> Result<(), FleetError> {
        let models: [&Model; 2] = self.models.each_ref().map(Arc::as_ref);
        // States of car and trailer. The car is vehicle 0 of its world.
        let mut states = State::train_at_rest(&models, 0, &self.scene, &start.placement);
        if let (true, Some(centre)) = (start.is_sliding(), states.first().map(|state| state.position)) {
            states.iter_mut().for_each(|state| start.add_sliding(state, centre));
        }
        let train = self.get_mut(car)?;
        for (vehicle, state) in train.vehicles.iter().zip(&states) {
            // The states have the wheels of the models, and finite numbers for a finite placement.
            train.world.set_state(*vehicle, state).map_err(|_| FleetError::NotFinite)?;
        }
        (train.controls, train.is_active) = (Controls::default(), true);
        train.observe(row);
        Ok(())
    }

    /// Advances all active trains by `steps` steps, in parallel on `threads`, and writes the motions of all trains into
    /// `rows`, with [`Self::ROW_LENGTH`] numbers for each train. With one
    /// thread, all steps run on the calling thread, without a pool.
    fn step_into(&mut self, threads: &Threads, steps: u32, rows: &mut [f32]) {
        if threads.count() == 1 {
            self.trains
                .iter_mut()
                .zip(rows.chunks_exact_mut(Self::ROW_LENGTH))
                .for_each(|(train, row)| train.step(steps, row));
            return;
        }
        let trains = self.trains.par_iter_mut().zip(rows.par_chunks_exact_mut(Self::ROW_LENGTH));
        threads.run(|| trains.for_each(|(train, row)| train.step(steps, row)));
    }
}

impl Train {
    /// Returns the state of a vehicle.
    fn state(&self, vehicle: Vehicle) -> &State {
        self.world.simulation().car(self.vehicles[vehicle as usize].slot()).state
    }

    /// Advances the train by `steps` steps with its controls, unless it is inactive, and writes its motion into `row`.
    /// A train whose motion would not be finite becomes inactive and keeps its last state.
    fn step(&mut self, steps: u32, row: &mut [f32]) {
        for _ in 0..steps {
            if !self.is_active {
                break;
            }
            if let Ok(controls) = self.world.controls_mut(self.vehicles[Vehicle::Car as usize]) {
                controls.clone_from(&self.controls);
            }
            self.is_active = !self.world.step().not_finite;
        }
        self.observe(row);
    }

    /// Writes the motion into `row`: [`MOTION_QUANTITIES`] of the car, then [`TRAILER_QUANTITIES`] of the trailer.
    fn observe(&self, row: &mut [f32]) {
        let (car, trailer) = row.split_at_mut(MOTION_QUANTITIES.len());
        let dt = self.world.dt();
        write_car_observations(self.state(Vehicle::Car), &MOTION_QUANTITIES, dt, car);
        write_car_observations(self.state(Vehicle::Trailer), &TRAILER_QUANTITIES, dt, trailer);
    }
}
