//! Fleets: very many cars of one model.

use numpy::{Ix1, Ix2, PyArray1, PyArray2};
use pyo3::exceptions::{PyIndexError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use skidpad::core::state::Placement;
use skidpad::core::{Controls, Scene as CoreScene};
use skidpad::fleet::{ACTION_COUNT, Fleet as CoreFleet, FleetError, Observation, START_COUNT, StorageKind};

use crate::arrays::{array_of, check_array, readable, writeable};
use crate::car::Car;
use crate::errors::{unknown_name, value_error};
use crate::index::{CarIndex, count_within};
use crate::scene::{Scene, core_scene};
use crate::state::State;
use crate::threads::{MAX_THREADS, Threads};

/// Names of the quantities that a fleet can write, without those of wheels.
const QUANTITIES: [(&str, Observation); 14] = [
    ("x", Observation::X),
    ("y", Observation::Y),
    ("z", Observation::Z),
    ("forward_x", Observation::ForwardX),
    ("forward_y", Observation::ForwardY),
    ("up_z", Observation::UpZ),
    ("speed", Observation::ForwardSpeed),
    ("lateral_speed", Observation::LateralSpeed),
    ("yaw_rate", Observation::YawRate),
    ("acceleration", Observation::ForwardAcceleration),
    ("lateral_acceleration", Observation::LateralAcceleration),
    ("steer", Observation::Steer),
    ("engine_speed", Observation::EngineSpeed),
    ("gear", Observation::Gear),
];

/// Quantity of the wheel with a number.
type WheelQuantity = fn(u8) -> Observation;

/// Names of the quantities of a wheel, which the number of the wheel follows.
const WHEEL_QUANTITIES: [(&str, WheelQuantity); 3] = [
    ("wheel_spin_", Observation::WheelSpin),
    ("wheel_load_", Observation::WheelLoad),
    ("compression_", Observation::Compression),
];

/// Quantities that a fleet writes by default.
const DEFAULT_QUANTITIES: [&str; 8] =
    ["x", "y", "forward_x", "forward_y", "speed", "lateral_speed", "yaw_rate", "steer"];

/// Largest number of cars of a fleet. They take about 9 GB.
pub const MAX_CARS: usize = 1 << 24;

/// Steps of cars between two checks for an interrupt, which take at most some seconds.
const CAR_STEPS_PER_CHECK: usize = 4_000_000;

/// Returns the quantity called `name` of a car with `wheel_count` wheels. The name of a wheel quantity ends with the
/// number of the wheel.
fn find_quantity(name: &str, wheel_count: usize) -> PyResult<Observation> {
    if let Some((_, quantity)) = QUANTITIES.iter().find(|(known, _)| *known == name) {
        return Ok(*quantity);
    }
    let wheels = || (0..=u8::MAX).take(wheel_count);
    for (prefix, quantity) in WHEEL_QUANTITIES {
        let number = name.strip_prefix(prefix);
        if let Some(wheel) = number.and_then(|number| wheels().find(|wheel| wheel.to_string() == number)) {
            return Ok(quantity(wheel));
        }
    }
    let wheel_names =
        WHEEL_QUANTITIES.iter().flat_map(|(prefix, _)| wheels().map(move |wheel| format!("{prefix}{wheel}")));
    let wheel_names: Vec<String> = wheel_names.collect();
    let known: Vec<&str> =
        QUANTITIES.iter().map(|(name, _)| *name).chain(wheel_names.iter().map(String::as_str)).collect();
    Err(unknown_name("observation", name, &known))
}

/// Returns the exception of an error of a fleet: `IndexError` for a number without a car, otherwise `ValueError`.
pub fn fleet_error(error: FleetError) -> PyErr {
    match error {
        FleetError::NoCar { .. } => PyIndexError::new_err(error.to_string()),
        error => value_error(error),
    }
}

/// Creates a fleet of `count` cars of `car` at the origin, at rest, for `threads`. Steps are `dt` s long. Fails with
/// `RuntimeError` if the threads cannot be started, otherwise with the exception of the fleet.
pub fn new_fleet(car: &Car, scene: &CoreScene, dt: f32, count: usize, threads: &Threads) -> PyResult<CoreFleet> {
    let create = || {
        let mut fleet = CoreFleet::new(car.model(), scene, dt)?;
        fleet.spawn_all(&vec![Placement::default(); count]);
        Ok(fleet)
    };
    threads.create(create).map_err(PyRuntimeError::new_err)?.map_err(fleet_error)
}

/// Very many cars of one model, stepped together on all threads with the bits of the solver `impulse`. Cars do not collide
/// with each other. A car moves the same in any fleet and on any number of threads. `storage` says whether the cars are in
/// SIMD lanes.
///
/// ```text
/// >>> import numpy as np
/// >>> fleet = skidpad.Fleet(skidpad.load("corvette_c5"), num_cars=100, observations=["x", "speed"])
/// >>> fleet.set_actions(np.tile(np.float32([0.5, 0.0, 0.0, 0.0]), (100, 1)))
/// >>> observations = fleet.step(200)
/// >>> observations.shape, bool((observations[:, 1] > 1.0).all())
/// ((100, 2), True)
///
/// ```
#[pyclass(module = "skidpad")]
pub struct Fleet {
    fleet: CoreFleet,
    threads: Threads,
    names: Vec<String>,
}

#[pymethods]
impl Fleet {
    /// Creates a fleet of `num_cars` cars at the origin, at rest. `dt` is the length of a step in s, `threads` the number
    /// of threads (0: all processors). `observations` are the names of the columns that `step` writes: `x`, `y`, `z` in m,
    /// `forward_x`, `forward_y`, `up_z`, `speed`, `lateral_speed` in m/s, `yaw_rate` in rad/s, `acceleration`,
    /// `lateral_acceleration` in m/s², `steer` in rad, `engine_speed` in rad/s, `gear`, and for a wheel i from 0
    /// `wheel_spin_i` in rad/s, `wheel_load_i` in N, `compression_i` in m.
    ///
    /// Raises `ValueError` for a trailer, a scene with free bodies, an unknown observation, a wheel that the car does not
    /// have, a step length that is not above 0, more than 16,777,216 cars and more than 1,024 threads.
    #[new]
    #[pyo3(signature = (car, scene = None, dt = 0.01, num_cars = 1, *, observations = None, threads = 0))]
    fn new(
        py: Python<'_>,
        car: &Car,
        scene: Option<&Scene>,
        dt: f32,
        num_cars: i128,
        observations: Option<Vec<String>>,
        threads: i128,
    ) -> PyResult<Self> {
        let num_cars = count_within("num_cars", num_cars, 0..=MAX_CARS)?;
        let threads = count_within("threads", threads, 0..=MAX_THREADS)?;
        let names = observations.unwrap_or_else(|| DEFAULT_QUANTITIES.map(String::from).into());
        let quantities =
            names.iter().map(|name| find_quantity(name, car.model().wheels().len())).collect::<PyResult<Vec<_>>>()?;
        let threads = Threads::new(threads).map_err(PyRuntimeError::new_err)?;
        let scene = core_scene(scene);
        let mut fleet = py.detach(|| new_fleet(car, &scene, dt, num_cars, &threads))?;
        fleet.set_observations(&quantities);
        Ok(Self { fleet, threads, names })
    }

    /// Sets pedals and steering of all cars until they are set again. `actions` is a C-contiguous float32 array of shape
    /// [cars, 4]: throttle, brake and handbrake (0 to 1) and mean road-wheel angle (rad, positive to the left). Numbers
    /// outside their range are clamped; numbers that are not finite count as 0.
    ///
    /// Raises `ValueError` for another shape, and `TypeError` for another type of numbers.
    fn set_actions(&mut self, actions: &Bound<'_, PyAny>) -> PyResult<()> {
        let actions = readable::<f32, Ix2>("actions", actions)?;
        check_array("actions", &*actions, &[self.fleet.len(), ACTION_COUNT])?;
        self.fleet.set_actions(actions.as_slice()?).map_err(fleet_error)
    }

    /// Sets the inputs of one car as `World.controls` does, with gear and clutch pedal.
    ///
    /// Raises `IndexError` if there is no such car.
    #[pyo3(signature = (car, *, throttle = 0.0, brake = 0.0, handbrake = 0.0, steer = 0.0, clutch = None, gear = None, starter = false))]
    fn controls(
        &mut self,
        car: CarIndex,
        throttle: f32,
        brake: f32,
        handbrake: f32,
        steer: f32,
        clutch: Option<f32>,
        gear: Option<i8>,
        starter: bool,
    ) -> PyResult<()> {
        let controls = Controls { throttle, brake, handbrake, steer, clutch, gear, starter, ..Controls::default() };
        self.fleet.set_controls(car.0, &controls).map_err(fleet_error)
    }

    /// Advances all active cars by `steps` steps and writes the observations into `out`, a C-contiguous float32 array of
    /// shape [cars, observations], or into a new array. Returns the array. Other Python threads run in the meantime. A car
    /// whose motion becomes infinite or NaN keeps its last state and becomes inactive. With 0 steps only the observations
    /// of the present states are written. After an interrupt (Ctrl-C) the cars have taken a part of the steps.
    ///
    /// Raises `ValueError` if `out` has another shape or is read-only, and `TypeError` for another type of numbers.
    #[pyo3(signature = (steps = 1, out = None))]
    fn step<'py>(
        &mut self,
        py: Python<'py>,
        steps: u32,
        out: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let shape = [self.fleet.len(), self.names.len()];
        // `false`: row by row (C order).
        let array = match out {
            Some(out) => array_of::<f32, Ix2>("out", out)?.clone(),
            None => PyArray2::zeros(py, shape, false),
        };
        check_array("out", &array, &shape)?;
        let mut rows = writeable("out", &array)?;
        let rows = rows.as_slice_mut()?;
        let (fleet, threads) = (&mut self.fleet, &self.threads);
        // At most 4 million steps, which a u32 holds.
        let most = (CAR_STEPS_PER_CHECK / fleet.len().max(1)).max(1) as u32;
        let mut left = steps;
        loop {
            let count = left.min(most);
            py.detach(|| threads.run(|| fleet.step_into(count, rows))).map_err(fleet_error)?;
            left -= count;
            if left == 0 {
                return Ok(array);
            }
            py.check_signals()?;
        }
    }

    /// Places the cars with the numbers `indices` (int64, shape [k]) at `starts` (float64, shape [k, 4]: x and y in m,
    /// heading in rad, forward speed in m/s), with neutral inputs. They become active.
    ///
    /// Raises `ValueError` for another shape or a number that is not finite, `TypeError` for another type of numbers, and
    /// `IndexError` if there is no such car. Nothing is changed then.
    fn reset(&mut self, py: Python<'_>, indices: &Bound<'_, PyAny>, starts: &Bound<'_, PyAny>) -> PyResult<()> {
        let (indices, starts) = (readable::<i64, Ix1>("indices", indices)?, readable::<f64, Ix2>("starts", starts)?);
        check_array("indices", &*indices, &[indices.len()?])?;
        let indices = indices.as_slice()?;
        check_array("starts", &*starts, &[indices.len(), START_COUNT])?;
        let starts = starts.as_slice()?;
        let count = self.fleet.len();
        let to_car = |index: &i64| u32::try_from(*index).ok().filter(|car| (*car as usize) < count);
        let cars: Option<Vec<u32>> = indices.iter().map(to_car).collect();
        let cars = cars.ok_or_else(|| {
            PyIndexError::new_err(format!(
                "indices has a number without a car; the fleet has {count} cars, counted from 0"
            ))
        })?;
        let fleet = &mut self.fleet;
        py.detach(|| fleet.reset(&cars, starts)).map_err(fleet_error)
    }

    /// Sets the model of one car, for domain randomisation: masses, inertia, springs, dampers, brakes, tyre constants,
    /// aerodynamics and engine torque may differ from the car of the fleet; in small worlds all but the number of wheels.
    ///
    /// Raises `ValueError` with the other differences, and `IndexError` if there is no such car.
    fn set_model(&mut self, index: CarIndex, car: &Car) -> PyResult<()> {
        self.fleet.set_model(index.0, car.model()).map_err(fleet_error)
    }

    /// Returns the state of one car.
    ///
    /// Raises `IndexError` if there is no such car.
    fn state(&self, car: CarIndex) -> PyResult<State> {
        Ok(self.fleet.state(car.0).map_err(fleet_error)?.into())
    }

    /// Sets the state of one car, which becomes active.
    ///
    /// Raises `IndexError` if there is no such car, and `ValueError` for another number of wheels or a number that is not
    /// finite.
    fn set_state(&mut self, car: CarIndex, state: &State) -> PyResult<()> {
        self.fleet.set_state(car.0, state.core()).map_err(fleet_error)
    }

    /// Returns the telemetry of one car: a dictionary from the names of channels to numbers.
    ///
    /// Raises `IndexError` if there is no such car.
    fn frame<'py>(&self, py: Python<'py>, car: CarIndex) -> PyResult<Bound<'py, PyDict>> {
        let frame = self.fleet.frame(car.0).map_err(fleet_error)?;
        let channels = PyDict::new(py);
        for (name, value) in frame.header(self.fleet.model()).iter().zip(frame.row()) {
            channels.set_item(name, value)?;
        }
        Ok(channels)
    }

    /// Sets which cars are stepped: a bool array of shape [cars].
    ///
    /// Raises `ValueError` for another shape, and `TypeError` for an array of another type.
    fn set_active(&mut self, mask: &Bound<'_, PyAny>) -> PyResult<()> {
        let mask = readable::<bool, Ix1>("mask", mask)?;
        check_array("mask", &*mask, &[self.fleet.len()])?;
        for (car, is_active) in mask.as_slice()?.iter().enumerate() {
            self.fleet.set_active(car, *is_active).map_err(fleet_error)?;
        }
        Ok(())
    }

    /// Returns which cars are stepped, as a new bool array of shape [cars]: false for cars taken out by `set_active` and
    /// for those whose motion became infinite or NaN.
    fn active<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let mut active = vec![false; self.fleet.len()];
        self.fleet.write_active(&mut active).map_err(fleet_error)?;
        Ok(PyArray1::from_vec(py, active))
    }

    /// Returns the states of all cars as bytes. A world of the solver `impulse` with the same cars loads them, too.
    fn save<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.fleet.save())
    }

    /// Restores the bytes of `save` of a fleet or world with the same cars and step length. Models and scene are not part of
    /// the bytes: bytes of cars with the same number of wheels are loaded whatever their model and their ground.
    ///
    /// Raises `ValueError` for another number of cars or wheels, another step length, and damaged bytes with impossible
    /// values; nothing is changed then. The bytes have no checksum.
    fn load(&mut self, data: &[u8]) -> PyResult<()> {
        self.fleet.load(data).map_err(fleet_error)
    }

    /// Names of the columns of the observations.
    #[getter]
    fn observation_names(&self) -> Vec<String> {
        self.names.clone()
    }

    /// Length of a step, s.
    #[getter]
    fn dt(&self) -> f32 {
        self.fleet.dt()
    }

    /// Number of steps since the start.
    #[getter]
    fn steps(&self) -> u64 {
        self.fleet.steps()
    }

    /// Place of the cars: `lanes` for SIMD lanes, or `worlds: ` with the reasons why lanes do not support the car or the
    /// scene. Small worlds take several times as long.
    #[getter]
    fn storage(&self) -> String {
        match self.fleet.storage_kind() {
            StorageKind::Lanes(_) => "lanes".to_owned(),
            StorageKind::Worlds(reason) => format!("worlds: {reason}"),
        }
    }

    /// Number of threads.
    #[getter]
    fn threads(&self) -> usize {
        self.threads.count()
    }

    fn __len__(&self) -> usize {
        self.fleet.len()
    }

    fn __repr__(&self) -> String {
        let (count, dt, threads) = (self.fleet.len(), self.fleet.dt(), self.threads.count());
        format!("<skidpad.Fleet of {count} cars, step {dt} s, {threads} threads>")
    }
}
