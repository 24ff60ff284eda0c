//! Cars that learn a task: episodes, resets and the arrays of a step.

use rayon::prelude::*;
use skidpad::core::State;
use skidpad::fleet::FleetError;

use crate::environments::cars::Cars;
use crate::environments::random::Random;
use crate::environments::task::{ACTION_COUNT, Inputs, Motion, Task};
use crate::threads::Threads;

/// Largest magnitude of an observation.
pub const MAX_OBSERVATION: f32 = 10.0;

/// Number of cars of a task of a thread.
const CARS_PER_TASK: usize = 256;

/// Time of the reset of a car whose episode has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Autoreset {
    /// The car is reset in the next step, which ignores its action and has the reward 0.
    NextStep,
    /// The car is reset in the step that ends the episode. Its last observations are stored separately.
    SameStep,
    /// The car is reset only by a call of [`Environments::reset`].
    Disabled,
}

/// Arrays that a step or a reset writes, one row or number per car.
pub struct Outputs<'a> {
    /// Observations, shape `[cars, observations]`.
    pub observations: &'a mut [f32],
    /// Rewards, shape `[cars]`.
    pub rewards: &'a mut [f32],
    /// Whether the episode ended because of the state of the car, shape `[cars]`.
    pub terminated: &'a mut [bool],
    /// Whether the episode ended because of its length, shape `[cars]`.
    pub truncated: &'a mut [bool],
}

/// Numbers of episodes and lengths.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Number of cars.
    pub car_count: usize,
    /// Number of steps of the simulation for each action.
    pub substeps: u32,
    /// Number of actions after which an episode is truncated.
    pub max_episode_steps: u32,
    /// Time of the reset after an episode.
    pub autoreset: Autoreset,
}

/// Position x and y (m) and heading (rad), world axes.
pub type Pose = [f32; 3];

/// Poses of a car and what belongs to it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Poses {
    /// Car.
    pub car: Pose,
    /// Goal of the car, or of its trailer if it has one.
    pub goal: Option<Pose>,
    /// Trailer.
    pub trailer: Option<Pose>,
}

/// Batch of cars of any task.
pub trait Environments: Send + Sync {
    /// Returns the state of a car.
    ///
    /// # Errors
    /// There is no such car.
    fn state(&self, car: usize) -> Result<State, FleetError>;

    /// Starts new episodes of the cars `selected`, and writes their observations; the observations of other cars stay.
    /// `seeds` has a new seed for each car that gets one; other cars continue their pseudo-random numbers. Rewards and
    /// flags of the selected cars become 0 and false.
    fn reset(&mut self, selected: &[bool], seeds: &[Option<u64>], outputs: Outputs<'_>) -> Result<(), FleetError>;

    /// Steps all cars with `actions`, shape `[cars, 2]`, and writes their `outputs`. Actions are clamped to −1 to 1;
    /// numbers that are not finite count as 0. Then resets cars whose episode ended, as the mode of [`Autoreset`] says.
    /// Returns true if any episode ended in this step.
    fn step(&mut self, actions: &[f32], outputs: Outputs<'_>) -> Result<bool, FleetError>;

    /// Returns the number of a car whose episode has ended and that was not reset; `None` if there is none.
    fn first_ended(&self) -> Option<usize>;

    /// Returns the observations at the end of the episodes that ended in the last step, shape `[cars, observations]`.
    /// Rows of other cars are meaningless. Written with [`Autoreset::SameStep`] only.
    fn final_observations(&self) -> &[f32];

    /// Returns the return and the number of steps of the last finished episode of a car; 0 before the first one.
    fn last_episode(&self, car: usize) -> (f64, u32);

    /// Returns the poses of a car, of its goal and of its trailer: x and y (m) and heading (rad), world axes. The goal
    /// is `None` for a task without goals, and the trailer `None` for a car without one.
    fn poses(&self, car: usize) -> Poses;
}

/// Data of a car besides its motion.
#[derive(Clone, Copy, Debug, Default)]
struct CarRecord<M> {
    memory: M,
    random: Random,
    action: [f32; ACTION_COUNT],
    gear: Option<i8>,
    /// Number of steps of the episode.
    length: u32,
    /// Sum of the rewards of the episode.
    episode_return: f64,
    /// Return and length of the last finished episode.
    last_episode: (f64, u32),
    /// Whether the episode has ended and the car was not reset.
    has_ended: bool,
    /// Whether the car is reset in this step instead of being stepped.
    is_starting: bool,
}

/// Batch of cars of the task `T`.
pub struct Batch<T: Task> {
    task: T,
    vehicles: Cars,
    threads: Threads,
    settings: Settings,
    cars: Vec<CarRecord<T::Memory>>,
    /// Motions of the cars, row by row.
    rows: Vec<f32>,
    /// Pedals and steering of the cars, row by row.
    inputs: Vec<f32>,
    /// Whether each car is stepped.
    active: Vec<bool>,
    final_observations: Vec<f32>,
}

impl<T: Task> Batch<T> {
    /// Creates the batch of cars of `task`. `vehicles` are `settings.car_count` cars, with trailers if the task needs
    /// them. No episode runs before the first reset.
    pub fn new(task: T, vehicles: Cars, threads: Threads, settings: Settings) -> Self {
        let count = settings.car_count;
        let final_count = if settings.autoreset == Autoreset::SameStep { count * task.observation_count() } else { 0 };
        Self {
            task,
            threads,
            settings,
            cars: vec![CarRecord { has_ended: true, ..CarRecord::default() }; count],
            rows: vec![0.0; count * T::ROW_LENGTH],
            inputs: vec![0.0; count * skidpad::fleet::ACTION_COUNT],
            active: vec![true; count],
            final_observations: vec![0.0; final_count],
            vehicles,
        }
    }

    /// Starts an episode of a car: draws its start, places it there with neutral controls, and writes its motion into
    /// `rows` and its `observations`. Clears all data of the car except its random numbers and the result of its last
    /// episode.
    fn begin_episode(&mut self, car: usize, observations: &mut [f32]) -> Result<(), FleetError> {
        let record = &mut self.cars[car];
        let (start, memory) = self.task.begin(&mut record.random);
        let (random, last_episode) = (record.random, record.last_episode);
        *record = CarRecord { memory, random, last_episode, ..CarRecord::default() };
        let row = &mut self.rows[car * T::ROW_LENGTH..(car + 1) * T::ROW_LENGTH];
        self.vehicles.place(car, &start, row)?;
        observe_clamped(&self.task, &Motion::from_row(row), &memory, observations);
        Ok(())
    }

    /// Converts `actions` to pedals, steering and gear of all cars by the task, and passes them to the cars. Starting
    /// cars (reset in this step) keep their inputs. Gears are only passed when they change.
    fn apply_actions(&mut self, actions: &[f32]) -> Result<(), FleetError> {
        let (actions, _) = actions.as_chunks::<ACTION_COUNT>();
        let rows = self.rows.chunks_exact(T::ROW_LENGTH);
        let (inputs, _) = self.inputs.as_chunks_mut::<{ skidpad::fleet::ACTION_COUNT }>();
        for (car, ((record, action), row)) in self.cars.iter_mut().zip(actions).zip(rows).enumerate() {
            if record.is_starting {
                continue;
            }
            record.action = action.map(|number| if number.is_finite() { number.clamp(-1.0, 1.0) } else { 0.0 });
            let motion = Motion::from_row(row);
            let Inputs { pedals_and_steer, gear } = self.task.inputs(record.action, &motion, &mut record.memory);
            inputs[car] = pedals_and_steer;
            if gear != record.gear {
                record.gear = gear;
                self.vehicles.set_gear(car, gear)?;
            }
        }
        self.vehicles.set_actions(&self.inputs)
    }

    /// Evaluates all cars that were stepped, and writes their rows of `outputs`: reward, flags and observations.
    /// Updates length and return of each episode, and marks ended episodes. A car whose motion is no longer finite has
    /// the failure reward of the task and is terminated. For starting cars, reward and flags become 0 and false, and
    /// the observations stay. Chunks of cars are evaluated in parallel on the threads.
    fn evaluate(&mut self, outputs: &mut Outputs<'_>) {
        let Self { task, cars, rows, active, threads, settings, .. } = self;
        let count = task.observation_count();
        let evaluate_car =
            |record: &mut CarRecord<T::Memory>, row: &[f32], is_active: bool, observations: &mut [f32]| {
                let motion = Motion::from_row(row);
                record.length += 1;
                let outcome = task.advance(record.action, &motion, &mut record.memory);
                // A car without a finite motion keeps its last state.
                let (reward, is_terminated) =
                    if is_active { (outcome.reward, outcome.is_terminated) } else { (task.failure_reward(), true) };
                let is_truncated = !is_terminated && record.length >= settings.max_episode_steps;
                record.episode_return += f64::from(reward);
                record.has_ended = is_terminated || is_truncated;
                if record.has_ended {
                    record.last_episode = (record.episode_return, record.length);
                }
                observe_clamped(task, &motion, &record.memory, observations);
                (reward, is_terminated, is_truncated)
            };
        let evaluate_chunk =
            |(cars, rows, active, observations, rewards, terminated, truncated): Chunk<'_, T::Memory>| {
                let rows = rows.chunks_exact(T::ROW_LENGTH).zip(observations.chunks_exact_mut(count));
                for (i, (record, (row, observations))) in cars.iter_mut().zip(rows).enumerate() {
                    (rewards[i], terminated[i], truncated[i]) = if record.is_starting {
                        (0.0, false, false)
                    } else {
                        evaluate_car(record, row, active[i], observations)
                    };
                }
            };
        let Outputs { observations, rewards, terminated, truncated } = outputs;
        if threads.count() == 1 {
            return evaluate_chunk((cars, rows, active, observations, rewards, terminated, truncated));
        }
        threads.run(|| {
            (
                cars.par_chunks_mut(CARS_PER_TASK),
                rows.par_chunks(CARS_PER_TASK * T::ROW_LENGTH),
                active.par_chunks(CARS_PER_TASK),
                observations.par_chunks_mut(CARS_PER_TASK * count),
                rewards.par_chunks_mut(CARS_PER_TASK),
                terminated.par_chunks_mut(CARS_PER_TASK),
                truncated.par_chunks_mut(CARS_PER_TASK),
            )
                .into_par_iter()
                .for_each(evaluate_chunk);
        });
    }

    /// Starts the episodes of all cars that are marked as starting, and writes their rows of `observations`.
    fn begin_episodes(&mut self, observations: &mut [f32]) -> Result<(), FleetError> {
        let count = self.task.observation_count();
        for (car, observations) in observations.chunks_exact_mut(count).enumerate() {
            if self.cars[car].is_starting {
                self.begin_episode(car, observations)?;
            }
        }
        Ok(())
    }
}

/// Rows of the cars of one chunk: data, motions, activity, observations, rewards, terminated and truncated flags.
type Chunk<'a, M> =
    (&'a mut [CarRecord<M>], &'a [f32], &'a [bool], &'a mut [f32], &'a mut [f32], &'a mut [bool], &'a mut [bool]);

/// Writes the observations of a car, clamped to ± [`MAX_OBSERVATION`]; NaN becomes 0.
#[inline(always)]
fn observe_clamped<T: Task>(task: &T, motion: &Motion, memory: &T::Memory, observations: &mut [f32]) {
    task.observe(motion, memory, observations);
    for number in observations {
        *number = if number.is_nan() { 0.0 } else { number.clamp(-MAX_OBSERVATION, MAX_OBSERVATION) };
    }
}

impl<T: Task> Environments for Batch<T> {
    fn state(&self, car: usize) -> Result<State, FleetError> {
        self.vehicles.state(car)
    }

    /// Marks exactly the `selected` cars as starting, seeds their random numbers, clears their rewards and flags, and
    /// starts their episodes.
    fn reset(&mut self, selected: &[bool], seeds: &[Option<u64>], outputs: Outputs<'_>) -> Result<(), FleetError> {
        for (car, record) in self.cars.iter_mut().enumerate() {
            record.is_starting = selected[car];
            if let Some(seed) = seeds[car].filter(|_| selected[car]) {
                record.random = Random::new(seed);
            }
            if selected[car] {
                (outputs.rewards[car], outputs.terminated[car], outputs.truncated[car]) = (0.0, false, false);
            }
        }
        self.begin_episodes(outputs.observations)
    }

    /// Steps the cars in this order: marks cars whose episode ended earlier as starting and takes them out of the step;
    /// applies the actions; advances the simulation; evaluates the stepped cars; with [`Autoreset::SameStep`] stores
    /// the observations of the ended episodes and marks these cars as starting; starts the episodes of all starting
    /// cars.
    fn step(&mut self, actions: &[f32], mut outputs: Outputs<'_>) -> Result<bool, FleetError> {
        // With `NextStep`, cars whose episode ended in the last step start a new one in this step.
        for car in 0..self.cars.len() {
            if self.cars[car].has_ended {
                self.cars[car].is_starting = true;
                self.vehicles.set_active(car, false)?;
            }
        }
        self.apply_actions(actions)?;
        self.vehicles.step_into(&self.threads, self.settings.substeps, &mut self.rows)?;
        self.vehicles.write_active(&mut self.active)?;
        self.evaluate(&mut outputs);
        let has_ended = self.cars.iter().any(|record| record.has_ended && !record.is_starting);
        if has_ended && self.settings.autoreset == Autoreset::SameStep {
            self.final_observations.copy_from_slice(outputs.observations);
            for record in &mut self.cars {
                record.is_starting = record.has_ended;
            }
        }
        self.begin_episodes(outputs.observations)?;
        Ok(has_ended)
    }

    fn first_ended(&self) -> Option<usize> {
        self.cars.iter().position(|record| record.has_ended)
    }

    fn final_observations(&self) -> &[f32] {
        &self.final_observations
    }

    fn last_episode(&self, car: usize) -> (f64, u32) {
        self.cars.get(car).map_or((0.0, 0), |record| record.last_episode)
    }

    /// Returns the poses after the last step or reset. A car that does not exist has a pose of zeros, and neither goal
    /// nor trailer.
    fn poses(&self, car: usize) -> Poses {
        let row = self.rows.chunks_exact(T::ROW_LENGTH).nth(car);
        let (Some(row), Some(record)) = (row, self.cars.get(car)) else { return Poses::default() };
        let motion = Motion::from_row(row);
        let pose = |[x, y]: [f32; 2], forward: [f32; 2]| [x, y, libm::atan2f(forward[1], forward[0])];
        Poses {
            car: pose(motion.position, motion.forward),
            goal: self.task.goal(&record.memory),
            trailer: motion.trailer.map(|trailer| pose(trailer.position, trailer.forward)),
        }
    }
}
