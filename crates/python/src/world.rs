//! Worlds of cars that any solver steps.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use skidpad::core::state::Placement;
use skidpad::core::{CarId, Controls, Scene as CoreScene};
use skidpad::{Solver, World as CoreWorld};

use crate::car::Car;
use crate::errors::{unknown_name, value_error};
use crate::index::CarIndex;
use crate::scene::{Scene, core_scene};
use crate::state::State;

/// Steps of cars between two checks for an interrupt, which take at most some seconds.
const CAR_STEPS_PER_CHECK: usize = 20_000;

/// Returns the solver called `name`.
pub fn find_solver(name: &str) -> PyResult<Solver> {
    let known: Vec<&str> = Solver::ALL.iter().map(|solver| solver.name()).collect();
    name.parse().map_err(|_| unknown_name("solver", name, &known))
}

/// Returns the names of all solvers and variants.
#[pyfunction]
pub fn solvers() -> Vec<&'static str> {
    Solver::ALL.iter().map(|solver| solver.name()).collect()
}

/// World of cars of any models on one scene, stepped by one solver.
///
/// ```text
/// >>> world = skidpad.World("constraint", dt=0.005)
/// >>> number = world.spawn(skidpad.load("corvette_c5"), speed=20.0)
/// >>> world.controls(number, brake=1.0)
/// >>> world.step(100)
/// True
/// >>> world.frame(number)["vx_mps"] < 20.0
/// True
///
/// ```
#[pyclass(module = "skidpad")]
pub struct World {
    world: CoreWorld,
    scene: CoreScene,
    /// Solver that steps the cars.
    solver: Solver,
    /// Cars in the order of their numbers, with their names of channels.
    cars: Vec<(CarId, Vec<String>)>,
}

impl World {
    /// Returns the handle of the car with the number `car`. Fails with `IndexError` if there is no such car.
    fn find(&self, CarIndex(car): CarIndex) -> PyResult<CarId> {
        let found = self.cars.get(car).map(|(id, _)| *id);
        found.ok_or_else(|| {
            PyIndexError::new_err(format!("there is no car {car}; the world has {} cars", self.cars.len()))
        })
    }
}

#[pymethods]
impl World {
    /// Creates a world without cars. `solver` is one of `skidpad.solvers()`, `scene` a `Scene` (level dry ground without
    /// one), `dt` the length of a step in s.
    ///
    /// Raises `ValueError` for an unknown solver or a step length that is not finite or not above 0.
    #[new]
    #[pyo3(signature = (solver = "impulse", scene = None, dt = 0.01))]
    fn new(solver: &str, scene: Option<&Scene>, dt: f32) -> PyResult<Self> {
        let solver = find_solver(solver)?;
        if !(dt.is_finite() && dt > 0.0) {
            return Err(value_error(format!("the step length is {dt} s, expected a finite number above 0")));
        }
        let scene = core_scene(scene);
        Ok(Self { world: CoreWorld::new(solver, &scene, dt), scene, solver, cars: Vec::new() })
    }

    /// Adds a car and returns its number, counted from 0. Position in m, heading in rad (positive to the left of +x),
    /// forward speed in m/s, height of the wheels above the ground in m; `gear` −1, 0, 1…, or `None` for the choice of the
    /// gearbox.
    #[pyo3(signature = (car, *, x = 0.0, y = 0.0, heading = 0.0, speed = 0.0, height = 0.0, gear = None))]
    fn spawn(
        &mut self,
        car: &Car,
        x: f64,
        y: f64,
        heading: f32,
        speed: f32,
        height: f64,
        gear: Option<i8>,
    ) -> PyResult<usize> {
        if ![x, y, heading.into(), speed.into(), height].iter().all(|number| number.is_finite()) {
            return Err(value_error("position, heading, speed and height must be finite numbers"));
        }
        let id = self.world.spawn(car.model(), Placement { x, y, height, heading, speed, gear });
        // Names of the telemetry channels, which depend on the model only.
        let frame_header = self.world.frame(id).map_err(value_error)?.header(car.model());
        self.cars.push((id, frame_header));
        Ok(self.cars.len() - 1)
    }

    /// Sets the inputs of a car until they are set again: throttle, brake, handbrake and clutch pedal 0 to 1 (`None` for
    /// the automatic clutch), mean road-wheel angle `steer` in rad (positive to the left), `gear` −1, 0, 1… or `None` for
    /// the choice of the gearbox. Numbers outside their range are clamped; numbers that are not finite count as 0.
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
        let id = self.find(car)?;
        let controls = Controls { throttle, brake, handbrake, steer, clutch, gear, starter, ..Controls::default() };
        *self.world.controls_mut(id).map_err(value_error)? = controls;
        Ok(())
    }

    /// Advances all cars by `steps` steps. Other Python threads run in the meantime. Returns whether every step was
    /// solved. After an interrupt (Ctrl-C) the world has taken a part of the steps.
    #[pyo3(signature = (steps = 1))]
    fn step(&mut self, py: Python<'_>, steps: u32) -> PyResult<bool> {
        let most = (CAR_STEPS_PER_CHECK / self.cars.len().max(1)).max(1) as u32;
        let world = &mut self.world;
        let (mut left, mut is_solved) = (steps, true);
        while left > 0 {
            let count = left.min(most);
            is_solved &= py.detach(|| {
                // No step is left out after one that is not solved.
                (0..count).fold(true, |is_solved, _| {
                    let report = world.step();
                    is_solved && !(report.not_finite || report.not_converged)
                })
            });
            left -= count;
            if left > 0 {
                py.check_signals()?;
            }
        }
        Ok(is_solved)
    }

    /// Returns the state of a car.
    ///
    /// Raises `IndexError` if there is no such car.
    fn state(&self, car: CarIndex) -> PyResult<State> {
        Ok(self.world.car(self.find(car)?).map_err(value_error)?.state.clone().into())
    }

    /// Sets the state of a car; the next step continues from it.
    ///
    /// Raises `IndexError` if there is no such car, and `ValueError` if the state has another number of wheels or a number
    /// that is not finite.
    fn set_state(&mut self, car: CarIndex, state: &State) -> PyResult<()> {
        if !state.core().is_finite() {
            return Err(value_error("the state has a number that is not finite"));
        }
        let id = self.find(car)?;
        self.world.set_state(id, state.core()).map_err(value_error)
    }

    /// Returns the telemetry of a car after the last step: a dictionary from the names of channels to numbers; see
    /// `skidpad.channels()`.
    ///
    /// Raises `IndexError` if there is no such car.
    fn frame<'py>(&self, py: Python<'py>, car: CarIndex) -> PyResult<Bound<'py, PyDict>> {
        let number = car.0;
        let id = self.find(car)?;
        let frame = self.world.frame(id).map_err(value_error)?;
        let channels = PyDict::new(py);
        for (name, value) in self.cars[number].1.iter().zip(frame.row()) {
            channels.set_item(name, value)?;
        }
        Ok(channels)
    }

    /// Returns positions, headings and speeds of all cars as a new float64 array of shape [cars, 6]: x, y, z in m, heading
    /// in rad, forward speed in m/s, yaw rate in rad/s.
    fn poses<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut numbers = Vec::with_capacity(6 * self.cars.len());
        for (id, _) in &self.cars {
            let state = self.world.car(*id).map_err(value_error)?.state;
            let axis = state.rotation * skidpad::core::Vec3::X;
            let up = state.rotation * skidpad::core::Vec3::Z;
            let heading = libm::atan2(axis.y.into(), axis.x.into());
            let (speed, yaw_rate) = (state.velocity.dot(axis), state.angular_velocity.dot(up));
            let position = state.position;
            numbers.extend([position.x, position.y, position.z, heading, speed.into(), yaw_rate.into()]);
        }
        Ok(PyArray1::from_vec(py, numbers).reshape([self.cars.len(), 6])?.into_any())
    }

    /// Returns the complete state of the world as bytes, without inputs.
    ///
    /// Raises `ValueError` if the solver cannot save now.
    fn save<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.world.save().map_err(value_error)?))
    }

    /// Restores the bytes of `save` of a world with the same scene, cars and step length. Inputs stay as they are. Models,
    /// scene and solver are not part of the bytes: bytes of cars with the same number of wheels are loaded whatever their
    /// model, their ground and their solver.
    ///
    /// Raises `ValueError` for another number of cars or wheels, another step length, and damaged bytes with impossible
    /// values; nothing is changed then. The bytes have no checksum.
    fn load(&mut self, data: &[u8]) -> PyResult<()> {
        self.world.load(data).map_err(value_error)
    }

    /// Length of a step, s.
    #[getter]
    fn dt(&self) -> f32 {
        self.world.dt()
    }

    /// Time since the start, s.
    #[getter]
    fn time(&self) -> f64 {
        self.world.time()
    }

    fn __len__(&self) -> usize {
        self.cars.len()
    }

    fn __repr__(&self) -> String {
        let (solver, count, slope) = (self.solver, self.cars.len(), self.scene.slope.to_degrees());
        format!("<skidpad.World {solver}: {count} cars, slope {slope:.2}°, {:.3} s>", self.time())
    }
}
