//! Fleet of cars of one model.

use core::fmt;
use core::ops::Range;
use std::sync::Arc;

use skidpad_core::state::Placement;
use skidpad_core::state::saved::{load_cars, save_cars};
use skidpad_core::telemetry::frame::Frame;
use skidpad_core::{Controls, Model, RestPose, Scene, State};

use crate::FleetError;
use crate::blocks::{CarStorage, new_lane_blocks};
use crate::environment::Environment;
use crate::lanes::Lanes;
use crate::observation::Observation;
use crate::worlds::SmallWorlds;

/// Numbers per car of [`Fleet::set_actions`]: throttle, brake, handbrake, steering angle.
pub const ACTION_COUNT: usize = 4;

/// Numbers per car of [`Fleet::reset`]: x, y, heading, forward speed.
pub const START_COUNT: usize = 4;

/// Cars of one model on the ground of a scene. Cars have the numbers 0 to `len() − 1` in the order in which they were
/// spawned, and do not collide with each other.
pub struct Fleet {
    model: Arc<Model>,
    scene: Scene,
    storage: Box<dyn CarStorage>,
    storage_kind: StorageKind,
    /// Number of cars.
    len: usize,
    /// Length of a step, s.
    dt: f32,
    /// Number of steps since the start.
    steps: u64,
    observations: Vec<Observation>,
    /// Observations of all cars, car by car.
    observation_values: Vec<f32>,
    /// Scratch state with the wheels of the model: template for copies, and buffer for states of cars to place.
    car_state: State,
    /// Cached static equilibrium in which cars of the model start.
    rest_pose: RestPose,
}

/// Kind of storage in which the cars of a fleet live.
#[derive(Clone, Debug, PartialEq)]
pub enum StorageKind {
    /// SIMD lanes, one per car.
    Lanes(Lanes),
    /// Small worlds of the solver `impulse`, because lanes do not support the model or the scene. The error is that of
    /// [`Fleet::with_lanes`].
    Worlds(Box<FleetError>),
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { len, dt, steps, observations, storage_kind, .. } = self;
        f.debug_struct("Fleet")
            .field("storage_kind", storage_kind)
            .field("len", len)
            .field("dt", dt)
            .field("steps", steps)
            .field("observations", observations)
            .finish_non_exhaustive()
    }
}

impl Fleet {
    /// Creates a fleet without cars, for cars of `model` on the ground of `scene`. Steps are `dt` s long and run on the
    /// threads of the present rayon pool.
    ///
    /// The cars live in the widest SIMD lanes of the processor if lanes support model and scene. Otherwise the cars
    /// live in small worlds of the solver `impulse`, which take several times as long. [`Fleet::storage_kind`] returns
    /// the kind, and the reason for small worlds.
    ///
    /// # Errors
    /// The model is a trailer, the scene has free bodies, or `dt` is not a finite number above 0.
    pub fn new(model: &Arc<Model>, scene: &Scene, dt: f32) -> Result<Self, FleetError> {
        // Reason why lanes cannot be used; all other errors, and success, are returned.
        let refused = match Self::with_lanes(model, scene, dt, Lanes::widest()) {
            Err(error @ (FleetError::Model(_) | FleetError::Scene(_))) => error,
            fleet_or_error => return fleet_or_error,
        };
        if model.parts().coupler.is_some() {
            return Err(FleetError::Trailer);
        }
        if !scene.free_bodies.is_empty() {
            return Err(FleetError::FreeBodies);
        }
        let worlds = Box::new(SmallWorlds::new(model, scene, dt));
        Ok(Self::with_storage(model, scene, dt, worlds, StorageKind::Worlds(Box::new(refused))))
    }

    /// Creates a fleet as [`Fleet::new`] does, in these `lanes`, for example to compare their speed.
    ///
    /// # Errors
    /// Model or scene have parts that lanes do not support, the processor does not have the lanes, or `dt` is not a
    /// finite number above 0.
    pub fn with_lanes(model: &Arc<Model>, scene: &Scene, dt: f32, lanes: Lanes) -> Result<Self, FleetError> {
        if !(dt.is_finite() && dt > 0.0) {
            return Err(FleetError::StepLength(dt));
        }
        let environment = Environment::new(model, scene)?;
        let blocks = new_lane_blocks(model, environment, lanes)?;
        Ok(Self::with_storage(model, scene, dt, blocks, StorageKind::Lanes(lanes)))
    }

    /// Creates a fleet of empty `storage`, which is of the kind `storage_kind`.
    fn with_storage(
        model: &Arc<Model>,
        scene: &Scene,
        dt: f32,
        storage: Box<dyn CarStorage>,
        storage_kind: StorageKind,
    ) -> Self {
        Self {
            model: Arc::clone(model),
            scene: scene.clone(),
            storage,
            storage_kind,
            len: 0,
            dt,
            steps: 0,
            observations: Vec::new(),
            observation_values: Vec::new(),
            car_state: State::at_rest(model, scene, &Placement::default()),
            rest_pose: RestPose::default(),
        }
    }

    /// Returns whether the cars live in SIMD lanes or in small worlds, and why not in lanes.
    pub fn storage_kind(&self) -> &StorageKind {
        &self.storage_kind
    }

    /// Appends a car of the fleet's model at `placement`, at rest or rolling, with neutral controls, active, at age 0.
    /// Returns its number. If there are observations, the new car's are 0 until the next step.
    pub fn spawn(&mut self, placement: &Placement) -> usize {
        self.rest_pose.place(&self.model, &self.scene, placement, &mut self.car_state);
        self.storage.push(self.len, &self.car_state);
        self.len += 1;
        self.observation_values.resize(self.len * self.observations.len(), 0.0);
        self.len - 1
    }

    /// Appends a car at each of `placements` on the threads of the present rayon pool, with the states that
    /// [`Fleet::spawn`] gives. Returns the numbers of the cars.
    pub fn spawn_all(&mut self, placements: &[Placement]) -> Range<usize> {
        let cars = self.len..self.len + placements.len();
        let first = cars.start;
        let (model, scene) = (&self.model, &self.scene);
        let place = |car: usize, rest_pose: &mut RestPose, state: &mut State| {
            rest_pose.place(model, scene, &placements[car - first], state);
        };
        self.storage.push_all(cars.clone(), &self.car_state, &place);
        self.len = cars.end;
        self.observation_values.resize(self.len * self.observations.len(), 0.0);
        cars
    }

    /// Replaces the model of a car, for domain randomisation. State, inputs, age and activity of the car do not change.
    /// Later resets place the car with this model.
    ///
    /// In lanes, `model` must have the layout of the fleet's model. These numbers may differ: mass and inertia; radius,
    /// inertia, brakes, rolling resistance and unsprung mass of wheels; springs, dampers and stops; rates of anti-roll
    /// bars; constants of tyres with simple curves (of the same law) or TMeasy; coefficients of the air; engine torque.
    /// Whatever the fleet's model does not have, such as a brake disc, a progressive spring or a side force, its cars
    /// do not have either. `model` itself is not kept: each number in which a car of the block of eight or sixteen cars
    /// differs takes four bytes for each car of the block. In small worlds only the number of wheels has to be equal.
    ///
    /// # Errors
    /// There is no such car, the model is a trailer, or other parts of the model differ. Nothing is changed then.
    pub fn set_model(&mut self, car: usize, model: &Arc<Model>) -> Result<(), FleetError> {
        self.check_car(car)?;
        if model.parts().coupler.is_some() {
            return Err(FleetError::Trailer);
        }
        self.storage.set_model(car, model).map_err(FleetError::Layout)
    }

    /// Returns the number of cars.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the fleet has no cars.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the model of the fleet.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// Returns the length of a step, s.
    pub fn dt(&self) -> f32 {
        self.dt
    }

    /// Returns the number of steps since the start.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Sets the inputs of a car until they are set again. Cars in lanes ignore raw inputs of wheels and cruise control.
    ///
    /// # Errors
    /// There is no such car.
    pub fn set_controls(&mut self, car: usize, controls: &Controls) -> Result<(), FleetError> {
        self.check_car(car)?;
        self.storage.set_controls(car, controls);
        Ok(())
    }

    /// Sets the pedals and the steering of all cars until they are set again. `actions` has the shape
    /// `[len(), ACTION_COUNT]`, row by row: throttle, brake and handbrake (0 to 1), and the mean road-wheel angle
    /// (rad, positive to the left). Gears and clutch pedals stay as they are. Numbers outside their range are clamped;
    /// numbers that are not finite count as 0.
    ///
    /// # Errors
    /// The array has another length.
    pub fn set_actions(&mut self, actions: &[f32]) -> Result<(), FleetError> {
        let expected = self.len * ACTION_COUNT;
        if actions.len() != expected {
            let shape = "[cars, 4]: throttle, brake, handbrake and steering angle of each car";
            return Err(FleetError::Length { found: actions.len(), expected, shape });
        }
        self.storage.set_actions(actions);
        Ok(())
    }

    /// Sets the quantities that each step writes, and their order; see [`Fleet::observations`]. All stored observations
    /// become 0 until the next step.
    pub fn set_observations(&mut self, observations: &[Observation]) {
        self.observations = observations.to_vec();
        self.observation_values.clear();
        self.observation_values.resize(self.len * observations.len(), 0.0);
    }

    /// Returns the observations of all cars after the last step, with the shape `[len(), number of observations]`, car
    /// by car. They are 0 before the first step. Observations of cars that are not stepped belong to their last state.
    pub fn observations(&self) -> &[f32] {
        &self.observation_values
    }

    /// Advances all active cars by `steps` steps, then writes the observations of all cars. With 0 steps only the
    /// observations of the present states are written, for example after a reset. A car whose motion would become
    /// infinite or NaN keeps its last state and becomes inactive; see [`Fleet::has_failed`]. Each block of cars (eight
    /// or sixteen) takes all steps before the next block, so that the block stays in the cache.
    pub fn step(&mut self, steps: u32) {
        self.storage.step(steps, self.dt, &self.observations, &mut self.observation_values);
        self.steps = self.steps.saturating_add(u64::from(steps));
    }

    /// Advances all active cars as [`Fleet::step`] does, and writes the observations into `observation_values` instead,
    /// with the shape `[len(), number of observations]`. [`Fleet::observations`] stays as it is. With 0 steps only the
    /// observations of the present states are written.
    ///
    /// # Errors
    /// The array has another length. Nothing is changed then.
    pub fn step_into(&mut self, steps: u32, observation_values: &mut [f32]) -> Result<(), FleetError> {
        let expected = self.len * self.observations.len();
        if observation_values.len() != expected {
            let shape = "[cars, observations]: the observations of each car";
            return Err(FleetError::Length { found: observation_values.len(), expected, shape });
        }
        self.storage.step(steps, self.dt, &self.observations, observation_values);
        self.steps = self.steps.saturating_add(u64::from(steps));
        Ok(())
    }

    /// Returns the state of a car.
    ///
    /// # Errors
    /// There is no such car.
    pub fn state(&self, car: usize) -> Result<State, FleetError> {
        self.check_car(car)?;
        let mut state = self.car_state.clone();
        self.storage.write_state(car, &mut state);
        Ok(state)
    }

    /// Sets the state of a car, which becomes active, at age 0 and not failed. The next step continues from this state.
    /// Parts of the state that cars of a fleet do not have are dropped, such as a towing vehicle. Inputs do not change.
    ///
    /// # Errors
    /// There is no such car, `state` has another number of wheels, or a number of it is not finite. Nothing is changed
    /// then.
    pub fn set_state(&mut self, car: usize, state: &State) -> Result<(), FleetError> {
        self.check_car(car)?;
        let (found, expected) = (state.wheels.len(), self.car_state.wheels.len());
        if found != expected {
            return Err(FleetError::Wheels { found, expected });
        }
        if !state.is_finite() {
            return Err(FleetError::NotFinite);
        }
        self.storage.set_state(car, state);
        Ok(())
    }

    /// Resets cars to a start, as [`Fleet::spawn`] and [`State::at_rest`] place them, each with its own model: at rest
    /// or rolling, with neutral controls, active, at age 0. `cars` are the numbers of the cars. `starts` has the shape
    /// `[cars.len(), START_COUNT]`, car by car: coordinates x and y in the plane of the ground (m), heading (rad,
    /// positive to the left) and forward speed (m/s). Observations remain those of the last step until the next
    /// [`Fleet::step`], which may have 0 steps.
    ///
    /// # Errors
    /// There is no such car, the array has another length, or a number is not finite. Nothing is changed then.
    pub fn reset(&mut self, cars: &[u32], starts: &[f64]) -> Result<(), FleetError> {
        cars.iter().try_for_each(|&car| self.check_car(car as usize))?;
        let (found, expected) = (starts.len(), cars.len() * START_COUNT);
        if found != expected {
            let shape = "[cars, 4]: x, y, heading and forward speed of each car";
            return Err(FleetError::Length { found, expected, shape });
        }
        if !starts.iter().all(|number| number.is_finite() && (*number as f32).is_finite()) {
            return Err(FleetError::NotFinite);
        }
        for (&car, start) in cars.iter().zip(starts.as_chunks::<START_COUNT>().0) {
            let car = car as usize;
            let [x, y, heading, speed] = *start;
            let placement = Placement { x, y, heading: heading as f32, speed: speed as f32, ..Placement::default() };
            // The cached equilibrium belongs to the model of the fleet; a car with another model needs its own.
            match self.storage.own_model(car) {
                None => self.rest_pose.place(&self.model, &self.scene, &placement, &mut self.car_state),
                Some(model) => RestPose::default().place(&model, &self.scene, &placement, &mut self.car_state),
            }
            self.storage.set_state(car, &self.car_state);
            self.storage.set_controls(car, &Controls::default());
        }
        Ok(())
    }

    /// Returns the telemetry of a car after the last step, with the number of steps times the step length as time.
    ///
    /// # Errors
    /// There is no such car.
    pub fn frame(&self, car: usize) -> Result<Frame, FleetError> {
        let state = self.state(car)?;
        let time = self.steps as f64 * f64::from(self.dt);
        let mut frame = Frame::default();
        let own_model = self.storage.own_model(car);
        let model = own_model.as_ref().unwrap_or(&self.model);
        // No towing vehicle.
        frame.update(model, &state, None, &self.storage.assist_log(car), time, self.dt);
        Ok(frame)
    }

    /// Sets whether a car is stepped. An inactive car keeps its state; its lane is computed without effect. Age and
    /// failure of the car do not change.
    ///
    /// # Errors
    /// There is no such car.
    pub fn set_active(&mut self, car: usize, is_active: bool) -> Result<(), FleetError> {
        self.check_car(car)?;
        self.storage.set_active(car, is_active);
        Ok(())
    }

    /// Writes whether each car is stepped into `active`, with the shape `[len()]`: false for cars that were taken out
    /// by [`Fleet::set_active`] and for those whose motion became infinite or NaN.
    ///
    /// # Errors
    /// The array has another length.
    pub fn write_active(&self, active: &mut [bool]) -> Result<(), FleetError> {
        if active.len() != self.len {
            let shape = "[cars]: whether each car is stepped";
            return Err(FleetError::Length { found: active.len(), expected: self.len, shape });
        }
        for (car, is_active) in active.iter_mut().enumerate() {
            *is_active = self.storage.is_active(car);
        }
        Ok(())
    }

    /// Returns the time that a car has been stepped since it was spawned or its state was set, s.
    ///
    /// # Errors
    /// There is no such car.
    pub fn age(&self, car: usize) -> Result<f64, FleetError> {
        self.check_car(car)?;
        Ok(f64::from(self.storage.age(car)) * f64::from(self.dt))
    }

    /// Returns the states of all cars, whether each car is stepped, the step length and the number of steps as bytes.
    /// The format is that of a world: a world of the solver `impulse` with the same cars loads them, too. Models,
    /// inputs, ages and failures are not saved.
    pub fn save(&self) -> Vec<u8> {
        let cars: Vec<(State, bool)> = (0..self.len)
            .map(|car| {
                // Has the right number of wheels; its content is overwritten.
                let mut state = self.car_state.clone();
                self.storage.write_state(car, &mut state);
                // The format stores whether the car is suspended, not whether it is stepped.
                (state, !self.storage.is_active(car))
            })
            .collect();
        save_cars(self.dt, self.steps, &cars)
    }

    /// Restores the states of all cars, whether they are stepped, and the number of steps from `bytes` of
    /// [`Fleet::save`], or of a world with the same cars and step length. Ages become 0, and no car counts as failed.
    /// Models and inputs do not change.
    ///
    /// # Errors
    /// The first difference between the bytes and this fleet. Nothing is changed then.
    pub fn load(&mut self, bytes: &[u8]) -> Result<(), FleetError> {
        let (steps, cars) = load_cars(self.dt, self.len, self.car_state.wheels.len(), bytes)?;
        for (car, (state, is_suspended)) in cars.iter().enumerate() {
            self.storage.set_state(car, state);
            self.storage.set_active(car, !is_suspended);
        }
        self.steps = steps;
        Ok(())
    }

    /// Returns the number of car-steps since the start in which a car left its SIMD lane and was solved alone, which
    /// costs several times as much. One car in one step counts 1. Small worlds return 0.
    pub fn rare_steps(&self) -> u64 {
        self.storage.rare_steps()
    }

    /// Returns whether a car is stepped.
    ///
    /// # Errors
    /// There is no such car.
    pub fn is_active(&self, car: usize) -> Result<bool, FleetError> {
        self.check_car(car)?;
        Ok(self.storage.is_active(car))
    }

    /// Returns whether the motion of a car became infinite or NaN; the car keeps the state before until its state is
    /// set.
    ///
    /// # Errors
    /// There is no such car.
    pub fn has_failed(&self, car: usize) -> Result<bool, FleetError> {
        self.check_car(car)?;
        Ok(self.storage.has_failed(car))
    }

    /// Returns an error if there is no car with this number.
    fn check_car(&self, car: usize) -> Result<(), FleetError> {
        if car < self.len { Ok(()) } else { Err(FleetError::NoCar { car, len: self.len }) }
    }
}
