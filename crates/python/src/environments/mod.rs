//! Environments for learning: cars with a task, computed over arrays.

mod batch;
mod cars;
mod drift_circle;
mod follow_path;
mod limits;
mod parking;
mod random;
mod task;
mod track;
mod trailer_parking;

use std::sync::Arc;

use numpy::{Ix1, Ix2, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::arrays::{array_of, check_array, readable};
use crate::car::Car;
use crate::course::Course;
use crate::environments::batch::{Autoreset, Batch, Environments, Outputs, Pose, Poses, Settings};
use crate::environments::cars::{Cars, Trains};
use crate::environments::drift_circle::DriftCircle;
use crate::environments::follow_path::FollowPath;
use crate::environments::limits::{MAX_NUM_ENVS, MAX_SUBSTEPS, Parameters};
use crate::environments::parking::Parking;
use crate::environments::task::{ACTION_COUNT, Task};
use crate::environments::track::{RAY_RANGE_M, Track};
use crate::environments::trailer_parking::TrailerParking;
use crate::errors::{unknown_name, value_error};
use crate::fleet::{fleet_error, new_fleet};
use crate::index::{CarIndex, count_within};
use crate::scene::{Scene, core_scene};
use crate::state::State;
use crate::threads::{MAX_THREADS, Threads};
use crate::track::PyTrack;

/// Names of the tasks.
const TASK_NAMES: [&str; 5] = ["follow_path", "track", "drift_circle", "parking", "trailer_parking"];

/// Names and values of the modes of automatic resets.
const AUTORESET_MODES: [(&str, Autoreset); 3] =
    [("next_step", Autoreset::NextStep), ("same_step", Autoreset::SameStep), ("disabled", Autoreset::Disabled)];

/// Arrays of a batch in Python, which every step writes.
struct Arrays {
    observations: Py<PyArray2<f32>>,
    rewards: Py<PyArray1<f32>>,
    terminated: Py<PyArray1<bool>>,
    truncated: Py<PyArray1<bool>>,
}

/// Batch of cars with a task, whose observations, rewards, flags and resets are computed in Rust. The class `VectorEnv`
/// of the package makes Gymnasium environments of it.
#[pyclass(module = "skidpad._core")]
pub struct EnvironmentBatch {
    batch: Box<dyn Environments>,
    arrays: Arrays,
    settings: Settings,
    names: Vec<String>,
    /// Whether each car was reset at least once.
    started: Vec<bool>,
    /// Whether all cars were reset at least once.
    is_started: bool,
}

/// Fleet with everything that a batch needs besides its task.
struct BatchParts {
    car: Car,
    /// Trailer of each car.
    trailer: Option<Car>,
    scene: skidpad::core::Scene,
    dt: f32,
    threads: Threads,
    settings: Settings,
}

impl BatchParts {
    /// Creates the batch of cars without trailers for `task`. Fails if a trailer is given.
    fn build<T: Task>(self, py: Python<'_>, task: T) -> PyResult<Box<dyn Environments>> {
        let Self { car, trailer, scene, dt, threads, settings } = self;
        if trailer.is_some() {
            return Err(value_error("only the task `trailer_parking` has trailers"));
        }
        let fleet = py.detach(|| new_fleet(&car, &scene, dt, settings.car_count, &threads))?;
        Ok(Box::new(Batch::new(task, Cars::of_fleet(fleet), threads, settings)))
    }

    /// Creates the batch of cars with trailers. `new_task` creates the task from the distance between the centres of
    /// mass of car and trailer in line, m.
    ///
    /// # Errors
    /// There is no trailer, or it cannot be hitched to the car.
    fn build_with_trailers<T: Task>(
        self,
        py: Python<'_>,
        new_task: impl FnOnce(f32) -> T,
    ) -> PyResult<Box<dyn Environments>> {
        let Self { car, trailer, scene, dt, threads, settings } = self;
        let trailer = trailer.ok_or_else(|| value_error("this task needs a trailer"))?;
        // Car (0) and trailer (1).
        let models = [car.model(), trailer.model()].map(Arc::clone);
        if models[0].parts().coupler.is_some() || models[0].parts().hitch.is_none() {
            return Err(value_error("the car must have a `[hitch]` and no `[coupler]`"));
        }
        if models[1].parts().coupler.is_none() {
            return Err(value_error("the trailer has no `[coupler]`"));
        }
        let distance = Trains::distance_in_line(&models);
        let trains = py.detach(|| Trains::new(models, &scene, dt, settings.car_count));
        Ok(Box::new(Batch::new(new_task(distance), Cars::Trains(Box::new(trains)), threads, settings)))
    }
}

/// Returns the course of `track` with recommended speeds by the parameters `max_speed` (m/s) and the largest
/// accelerations (m/s²). Fails without a track.
fn course_with_speeds(track: Option<&PyTrack>, parameters: &mut Parameters<'_, '_>) -> PyResult<Course> {
    let max_speed = parameters.number(&limits::MAX_SPEED, 20.0)?;
    let lateral = parameters.number(&limits::MAX_LATERAL_ACCELERATION, 4.0)?;
    let longitudinal = parameters.number(&limits::MAX_LONGITUDINAL_ACCELERATION, 3.0)?;
    Ok(track.ok_or_else(missing_track)?.course().clone().with_speeds(max_speed, lateral, longitudinal))
}

/// Returns the exception for a task without its track.
fn missing_track() -> PyErr {
    value_error("this task needs a track")
}

/// Returns the goal distance and the tolerances of a task that parks, from the parameters or their defaults.
fn parking_task(parameters: &mut Parameters<'_, '_>, max_steer: f32) -> PyResult<Parking> {
    Ok(Parking {
        goal_distance: parameters.number(&limits::GOAL_DISTANCE, 12.0)?,
        distance_tolerance: parameters.number(&limits::DISTANCE_TOLERANCE, 0.5)?,
        heading_tolerance: parameters.number(&limits::HEADING_TOLERANCE, 0.15)?,
        max_steer,
    })
}

/// Creates the batch of the task called `name` from `parts`. Returns it with the names of its observations. Fails for
/// an unknown task, and for given parameters that the task does not use.
fn build_batch(
    py: Python<'_>,
    name: &str,
    track: Option<&PyTrack>,
    parameters: &mut Parameters<'_, '_>,
    parts: BatchParts,
) -> PyResult<(Box<dyn Environments>, Vec<String>)> {
    let owned = |names: &[&str]| names.iter().map(ToString::to_string).collect();
    let step_time = parts.dt * parts.settings.substeps as f32;
    let is_parking = name == "parking" || name == "trailer_parking";
    let max_steer = parameters.number(&limits::MAX_STEER, if is_parking { 0.6 } else { 0.4 })?;
    match name {
        "follow_path" => {
            let max_offset = parameters.number(&limits::MAX_OFFSET, 4.0)?;
            let course = course_with_speeds(track, parameters)?;
            parameters.check_all_used()?;
            let task = FollowPath::new(course, max_offset, max_steer, step_time);
            Ok((parts.build(py, task)?, FollowPath::names()))
        }
        "track" => {
            let course = course_with_speeds(track, parameters)?;
            parameters.check_all_used()?;
            let ranges = track.map(|track| track.ranges(py, RAY_RANGE_M)).ok_or_else(missing_track)?;
            Ok((parts.build(py, Track::new(course, ranges, max_steer))?, Track::names()))
        }
        "drift_circle" => {
            let task = DriftCircle {
                radius: parameters.number(&limits::RADIUS, 15.0)?,
                max_offset: parameters.number(&limits::MAX_OFFSET, 6.0)?,
                target_sideslip: parameters.number(&limits::TARGET_SIDESLIP, 0.5)?,
                start_speed: parameters.number(&limits::START_SPEED, 8.0)?,
                max_steer,
            };
            parameters.check_all_used()?;
            Ok((parts.build(py, task)?, owned(&drift_circle::NAMES)))
        }
        "parking" => {
            let task = parking_task(parameters, max_steer)?;
            parameters.check_all_used()?;
            Ok((parts.build(py, task)?, owned(&parking::NAMES)))
        }
        "trailer_parking" => {
            let parking = parking_task(parameters, max_steer)?;
            let max_articulation = parameters.number(&limits::MAX_ARTICULATION, 1.2)?;
            parameters.check_all_used()?;
            let new_task = |trailer_distance| TrailerParking { parking, trailer_distance, max_articulation };
            Ok((parts.build_with_trailers(py, new_task)?, TrailerParking::names()))
        }
        _ => Err(unknown_name("task", name, &TASK_NAMES)),
    }
}

#[pymethods]
impl EnvironmentBatch {
    /// Creates `num_envs` cars of `car` with the task `task`: `follow_path`, `track`, `drift_circle`, `parking` or
    /// `trailer_parking`, whose cars tow a `trailer` each. `num_envs` is at most 1,000,000, `substeps` at most 10,000
    /// and `threads` at most 1024. `parameters` are the numbers of the task. `buffers` has the C-contiguous arrays
    /// `observations` (float32, shape [cars, observations]), `rewards` (float32), `terminals` and `truncations` (bool),
    /// each of shape [cars]; without it new arrays are created.
    ///
    /// Raises `ValueError` for unknown names and numbers out of range, and if a fleet does not support car or scene.
    #[new]
    #[pyo3(signature = (task, car, num_envs, *, trailer = None, scene = None, track = None, dt = 0.01, substeps = 4, max_episode_steps = 1000, autoreset = "next_step", threads = 0, buffers = None, parameters = None))]
    fn new(
        py: Python<'_>,
        task: &str,
        car: &Car,
        num_envs: i128,
        trailer: Option<&Car>,
        scene: Option<&Scene>,
        track: Option<&PyTrack>,
        dt: f64,
        substeps: i128,
        max_episode_steps: i128,
        autoreset: &str,
        threads: i128,
        buffers: Option<&Bound<'_, PyDict>>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let car_count = count_within("num_envs", num_envs, 1..=MAX_NUM_ENVS)?;
        let substeps = count_within("substeps", substeps, 1..=MAX_SUBSTEPS)?;
        let max_episode_steps = count_within("max_episode_steps", max_episode_steps, 1..=u32::MAX)?;
        let threads = count_within("threads", threads, 0..=MAX_THREADS)?;
        let dt = limits::DT.check_number(dt)?;
        let mode = AUTORESET_MODES.iter().find(|(name, _)| *name == autoreset);
        let Some((_, autoreset)) = mode else {
            return Err(unknown_name("autoreset mode", autoreset, &AUTORESET_MODES.map(|(name, _)| name)));
        };
        let settings = Settings { car_count, substeps, max_episode_steps, autoreset: *autoreset };
        let threads = Threads::new(threads).map_err(PyRuntimeError::new_err)?;
        let (car, trailer, scene) = (car.clone(), trailer.cloned(), core_scene(scene));
        let parts = BatchParts { car, trailer, scene, dt, threads, settings };
        let mut parameters = Parameters::new(parameters);
        let (batch, names) = build_batch(py, task, track, &mut parameters, parts)?;
        let arrays = Arrays::new(py, buffers, car_count, names.len())?;
        Ok(Self { batch, arrays, settings, names, started: vec![false; car_count], is_started: false })
    }

    /// Starts new episodes of the cars in the bool array `mask` of shape [cars], of all cars without one. `seeds` has a new
    /// seed (uint64) or `None` for each car; a car without a new seed continues its own pseudo-random numbers. Writes the
    /// observations of these cars, and sets their rewards and flags to 0 and false.
    ///
    /// Raises `ValueError` for another shape.
    #[pyo3(signature = (seeds, mask = None))]
    fn reset(&mut self, py: Python<'_>, seeds: Vec<Option<u64>>, mask: Option<Vec<bool>>) -> PyResult<()> {
        let count = self.settings.car_count;
        let selected = mask.unwrap_or_else(|| vec![true; count]);
        if selected.len() != count || seeds.len() != count {
            let lengths = format!("{} and {}", selected.len(), seeds.len());
            return Err(value_error(format!("mask and seeds have the lengths {lengths}, expected {count}")));
        }
        let (batch, arrays) = (&mut self.batch, &self.arrays);
        arrays.write(py, |outputs| batch.reset(&selected, &seeds, outputs))?.map_err(fleet_error)?;
        if !self.is_started {
            self.started.iter_mut().zip(selected).for_each(|(is_started, is_selected)| *is_started |= is_selected);
            self.is_started = self.started.iter().all(|is_started| *is_started);
        }
        Ok(())
    }

    /// Steps all cars with `actions`, a C-contiguous float32 array of shape [cars, 2]: longitudinal and steering demand, −1
    /// to 1. Writes the arrays. Other Python threads run in the meantime. Returns whether an episode ended.
    ///
    /// Raises `ValueError` for another shape, `TypeError` for another type, and `RuntimeError` before every car was
    /// reset, and for a car whose episode has ended if automatic resets are disabled.
    fn step(&mut self, py: Python<'_>, actions: &Bound<'_, PyAny>) -> PyResult<bool> {
        let actions = readable::<f32, Ix2>("actions", actions)?;
        check_array("actions", &*actions, &[self.settings.car_count, ACTION_COUNT])?;
        self.check_can_step()?;
        let actions = actions.as_slice()?;
        let (batch, arrays) = (&mut self.batch, &self.arrays);
        arrays.write(py, |outputs| batch.step(actions, outputs))?.map_err(fleet_error)
    }

    /// Observations of all cars after the last step or reset, float32, shape [cars, observations]. The same array is
    /// written by every step.
    #[getter]
    fn observations(&self, py: Python<'_>) -> Py<PyArray2<f32>> {
        self.arrays.observations.clone_ref(py)
    }

    /// Rewards of the last step, float32, shape [cars]. The same array is written by every step.
    #[getter]
    fn rewards(&self, py: Python<'_>) -> Py<PyArray1<f32>> {
        self.arrays.rewards.clone_ref(py)
    }

    /// Whether each episode ended by the state of its car, bool, shape [cars]. The same array is written by every step.
    #[getter]
    fn terminated(&self, py: Python<'_>) -> Py<PyArray1<bool>> {
        self.arrays.terminated.clone_ref(py)
    }

    /// Whether each episode ended by its length, bool, shape [cars]. The same array is written by every step.
    #[getter]
    fn truncated(&self, py: Python<'_>) -> Py<PyArray1<bool>> {
        self.arrays.truncated.clone_ref(py)
    }

    /// Returns the last observations of the episodes that ended in the last step, a new float32 array of shape [cars,
    /// observations]. Rows of other cars are meaningless. Only with the mode `same_step`.
    fn final_observations<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let numbers = self.batch.final_observations();
        PyArray1::from_slice(py, numbers).reshape([numbers.len() / self.names.len(), self.names.len()])
    }

    /// Returns (sums of the rewards, numbers of steps) of the last finished episode of each car: a float64 and an int64
    /// array of shape [cars], 0 before the first one.
    fn last_episodes<'py>(&self, py: Python<'py>) -> (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<i64>>) {
        let episodes = (0..self.settings.car_count).map(|car| self.batch.last_episode(car));
        let (returns, lengths): (Vec<f64>, Vec<i64>) =
            episodes.map(|(episode_return, length)| (episode_return, i64::from(length))).unzip();
        (PyArray1::from_vec(py, returns), PyArray1::from_vec(py, lengths))
    }

    /// Returns the poses (x and y in m, heading in rad) of a car, of its goal and of its trailer; `None` without one.
    ///
    /// Raises `IndexError` if there is no such car.
    fn poses(&self, car: CarIndex) -> PyResult<(Pose, Option<Pose>, Option<Pose>)> {
        let car = car.0;
        if car >= self.settings.car_count {
            return Err(PyIndexError::new_err(format!("there is no car {car}")));
        }
        let Poses { car, goal, trailer } = self.batch.poses(car);
        Ok((car, goal, trailer))
    }

    /// Returns the state of a car.
    ///
    /// Raises `IndexError` if there is no such car.
    fn state(&self, car: CarIndex) -> PyResult<State> {
        Ok(self.batch.state(car.0).map_err(fleet_error)?.into())
    }

    /// Names of the observations of a car, with their scales.
    #[getter]
    fn observation_names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Number of cars.
    #[getter]
    fn num_envs(&self) -> usize {
        self.settings.car_count
    }
}

impl EnvironmentBatch {
    /// Checks that every car was reset, and with disabled automatic resets that no episode has ended.
    fn check_can_step(&self) -> PyResult<()> {
        if !self.is_started {
            let car = self.started.iter().position(|is_started| !is_started).unwrap_or_default();
            let text = format!("car {car} was never reset; call reset() before the first step()");
            return Err(PyRuntimeError::new_err(text));
        }
        let is_disabled = self.settings.autoreset == Autoreset::Disabled;
        let Some(car) = is_disabled.then(|| self.batch.first_ended()).flatten() else { return Ok(()) };
        Err(PyRuntimeError::new_err(if self.settings.car_count == 1 {
            "the episode has ended; call reset() before the next step()".to_owned()
        } else {
            format!(
                "the episode of car {car} has ended; reset it before the next step with options={{\"reset_mask\": mask}}"
            )
        }))
    }
}

impl Arrays {
    /// Returns the arrays in `buffers`, or new arrays without buffers, for `count` cars with `length` observations
    /// each. Fails if an array is missing in `buffers`, or has another type or shape.
    fn new(py: Python<'_>, buffers: Option<&Bound<'_, PyDict>>, count: usize, length: usize) -> PyResult<Self> {
        let Some(buffers) = buffers else {
            // `false`: row by row (C order).
            return Ok(Self {
                observations: PyArray2::zeros(py, [count, length], false).unbind(),
                rewards: PyArray1::zeros(py, [count], false).unbind(),
                terminated: PyArray1::zeros(py, [count], false).unbind(),
                truncated: PyArray1::zeros(py, [count], false).unbind(),
            });
        };
        let find = |name: &str| {
            let array = buffers.get_item(name)?;
            array.ok_or_else(|| value_error(format!("buffers have no array `{name}`")))
        };
        let flags = |name: &str| -> PyResult<Py<PyArray1<bool>>> {
            let found = find(name)?;
            let array = array_of::<bool, Ix1>(name, &found)?;
            check_array(name, array, &[count])?;
            Ok(array.clone().unbind())
        };
        let (observations, rewards) = (find("observations")?, find("rewards")?);
        let observations = array_of::<f32, Ix2>("observations", &observations)?;
        check_array("observations", observations, &[count, length])?;
        let rewards = array_of::<f32, Ix1>("rewards", &rewards)?;
        check_array("rewards", rewards, &[count])?;
        Ok(Self {
            observations: observations.clone().unbind(),
            rewards: rewards.clone().unbind(),
            terminated: flags("terminals")?,
            truncated: flags("truncations")?,
        })
    }

    /// Runs `work`, which writes the arrays, while other Python threads run. Returns the result of `work`.
    ///
    /// # Errors
    /// An array is borrowed by other native code, is read-only or is not contiguous.
    fn write<R: Send>(&self, py: Python<'_>, work: impl FnOnce(Outputs<'_>) -> R + Send) -> PyResult<R> {
        let mut observations = self.observations.bind(py).try_readwrite()?;
        let mut rewards = self.rewards.bind(py).try_readwrite()?;
        let mut terminated = self.terminated.bind(py).try_readwrite()?;
        let mut truncated = self.truncated.bind(py).try_readwrite()?;
        let outputs = Outputs {
            observations: observations.as_slice_mut()?,
            rewards: rewards.as_slice_mut()?,
            terminated: terminated.as_slice_mut()?,
            truncated: truncated.as_slice_mut()?,
        };
        Ok(py.detach(|| work(outputs)))
    }
}
