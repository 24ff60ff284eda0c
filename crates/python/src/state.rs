//! States of single cars.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};
use skidpad::core::State as CoreState;

use crate::errors::value_error;

/// Complete motion of a car. World axes have z up; vehicle axes are x forward, y left, z up. States are immutable. Two
/// states are equal if their bytes are, so that 0 differs from −0.
///
/// ```text
/// >>> world = skidpad.World()
/// >>> number = world.spawn(skidpad.load("corvette_c5"), speed=10.0)
/// >>> state = world.state(number)
/// >>> len(state.to_bytes()), skidpad.State.from_bytes(state.to_bytes()) == state
/// (417, True)
///
/// ```
#[pyclass(frozen, module = "skidpad")]
#[derive(Clone, Debug)]
pub struct State {
    state: Arc<CoreState>,
}

impl From<CoreState> for State {
    fn from(state: CoreState) -> Self {
        Self { state: Arc::new(state) }
    }
}

impl State {
    /// Returns the state of the simulation.
    pub fn core(&self) -> &CoreState {
        &self.state
    }
}

#[pymethods]
impl State {
    /// Reads a state from the bytes of `to_bytes`. `wheels` is the number of wheels of the car.
    ///
    /// Raises `ValueError` for bytes of another format, version or number of wheels.
    #[staticmethod]
    #[pyo3(signature = (data, wheels = 4))]
    fn from_bytes(data: &[u8], wheels: usize) -> PyResult<Self> {
        Ok(CoreState::from_bytes(data, wheels).map_err(value_error)?.into())
    }

    /// Returns the state as bytes: 417 for four wheels.
    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.state.to_bytes())
    }

    /// Position of the centre of mass (x, y, z), world, m.
    #[getter]
    fn position(&self) -> (f64, f64, f64) {
        self.state.position.into()
    }

    /// Rotation from vehicle axes to world axes, a unit quaternion (x, y, z, w).
    #[getter]
    fn rotation(&self) -> (f32, f32, f32, f32) {
        self.state.rotation.into()
    }

    /// Heading: angle of the forward direction from +x in the plane z = 0, rad, positive to the left.
    #[getter]
    fn heading(&self) -> f32 {
        let forward = self.state.rotation * skidpad::core::Vec3::X;
        libm::atan2f(forward.y, forward.x)
    }

    /// Velocity of the centre of mass (x, y, z), world, m/s.
    #[getter]
    fn velocity(&self) -> (f32, f32, f32) {
        self.state.velocity.into()
    }

    /// Angular velocity (x, y, z), world, rad/s.
    #[getter]
    fn angular_velocity(&self) -> (f32, f32, f32) {
        self.state.angular_velocity.into()
    }

    /// Mean road-wheel angle that the steering has reached, rad, positive to the left.
    #[getter]
    fn steer(&self) -> f32 {
        self.state.steer
    }

    /// Engaged gear: −1, 0, 1…
    #[getter]
    fn gear(&self) -> i8 {
        self.state.drive.gear
    }

    /// Speed of the crankshaft, rad/s.
    #[getter]
    fn engine_speed(&self) -> f32 {
        self.state.drive.engine_speed
    }

    /// Spin rates of the wheels, rad/s.
    #[getter]
    fn wheel_spins(&self) -> Vec<f32> {
        self.state.wheels.iter().map(|wheel| wheel.spin).collect()
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.state.to_bytes() == other.state.to_bytes()
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.state.to_bytes().hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let (position, speed) = (self.state.position, self.state.velocity.length());
        let (x, y, heading) = (position.x, position.y, self.heading());
        format!("<skidpad.State at ({x:.2}, {y:.2}) m, heading {heading:.3} rad, {speed:.2} m/s>")
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        // Pickling: `from_bytes` called with these arguments restores the state.
        let from_bytes = py.get_type::<Self>().getattr("from_bytes")?;
        Ok((from_bytes, (self.to_bytes(py), self.state.wheels.len()).into_pyobject(py)?))
    }
}
