//! Ranges of the numbers that Python passes to a batch.

use std::ops::RangeInclusive;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use skidpad::spec::printable::one_line;

use crate::errors::{unknown_name, value_error};

/// Largest number of cars of a batch.
pub const MAX_NUM_ENVS: usize = 1_000_000;

/// Largest number of steps of the simulation for each action.
pub const MAX_SUBSTEPS: u32 = 10_000;

/// Number that a keyword sets, with its accepted range. All results of a step are finite for numbers in the range.
pub struct Limits {
    name: &'static str,
    range: RangeInclusive<f64>,
    unit: &'static str,
}

/// Length of a step of the simulation.
pub const DT: Limits = Limits { name: "dt", range: 0.0001..=1.0, unit: "s" };

/// Road-wheel angle of the steering demand 1.
pub const MAX_STEER: Limits = Limits { name: "max_steer", range: 0.01..=1.5, unit: "rad" };

/// Largest recommended speed of a course.
pub const MAX_SPEED: Limits = Limits { name: "max_speed", range: 0.1..=200.0, unit: "m/s" };

/// Lateral acceleration of the recommended speeds.
pub const MAX_LATERAL_ACCELERATION: Limits =
    Limits { name: "max_lateral_acceleration", range: 0.1..=100.0, unit: "m/s²" };

/// Longitudinal acceleration of the recommended speeds.
pub const MAX_LONGITUDINAL_ACCELERATION: Limits =
    Limits { name: "max_longitudinal_acceleration", range: 0.1..=100.0, unit: "m/s²" };

/// Offset from a path or circle beyond which an episode ends.
pub const MAX_OFFSET: Limits = Limits { name: "max_offset", range: 0.1..=1000.0, unit: "m" };

/// Radius of the drift circle. Starts are up to 1 m inside of it, where the circle must be wider than a point.
pub const RADIUS: Limits = Limits { name: "radius", range: 2.0..=10_000.0, unit: "m" };

/// Sideslip angle that earns the full reward.
pub const TARGET_SIDESLIP: Limits = Limits { name: "target_sideslip", range: 0.01..=1.5, unit: "rad" };

/// Speed at the start of a drift.
pub const START_SPEED: Limits = Limits { name: "start_speed", range: 0.1..=100.0, unit: "m/s" };

/// Largest distance of a goal from the start.
pub const GOAL_DISTANCE: Limits = Limits { name: "goal_distance", range: 0.1..=1000.0, unit: "m" };

/// Distance from the goal that counts as parked.
pub const DISTANCE_TOLERANCE: Limits = Limits { name: "distance_tolerance", range: 0.001..=100.0, unit: "m" };

/// Heading error that counts as parked.
pub const HEADING_TOLERANCE: Limits = Limits { name: "heading_tolerance", range: 0.001..=3.2, unit: "rad" };

/// Articulation angle beyond which an episode ends.
pub const MAX_ARTICULATION: Limits = Limits { name: "max_articulation", range: 0.01..=3.2, unit: "rad" };

impl Limits {
    /// Returns `number` if it is in the range. Otherwise fails with name, `found` as the number in Python, and range.
    fn check(&self, number: Option<f64>, found: &str) -> PyResult<f32> {
        let (name, unit) = (self.name, self.unit);
        let (low, high) = (self.range.start(), self.range.end());
        number.filter(|number| self.range.contains(number)).map(|number| number as f32).ok_or_else(|| {
            value_error(format!("{name} is {}, but must be a number from {low} to {high} {unit}", one_line(found)))
        })
    }

    /// Returns `number` if it is in the range. Fails with name, number and range otherwise.
    pub fn check_number(&self, number: f64) -> PyResult<f32> {
        self.check(Some(number), &format!("{number:?}"))
    }
}

/// Numbers of a task by name, with the names that were used.
pub struct Parameters<'a, 'py> {
    given: Option<&'a Bound<'py, PyDict>>,
    used: Vec<&'static str>,
}

impl<'a, 'py> Parameters<'a, 'py> {
    /// Creates the numbers that are `given`, none of them used.
    pub fn new(given: Option<&'a Bound<'py, PyDict>>) -> Self {
        Self { given, used: Vec::new() }
    }

    /// Returns the number with the name of `limits`, or `default` if it is not given. Stores the name as used.
    ///
    /// # Errors
    /// Returns `ValueError` for a number out of range, and for an object that is no number.
    pub fn number(&mut self, limits: &Limits, default: f32) -> PyResult<f32> {
        self.used.push(limits.name);
        let Some(value) = self.given.map(|given| given.get_item(limits.name)).transpose()?.flatten() else {
            return Ok(default);
        };
        limits.check(value.extract().ok(), &value.repr()?.to_string_lossy())
    }

    /// Checks that every given name was used. The error lists the used names.
    pub fn check_all_used(&self) -> PyResult<()> {
        for name in self.given.into_iter().flat_map(|given| given.keys()) {
            let name: String = name.extract()?;
            if !self.used.contains(&name.as_str()) {
                return Err(unknown_name("parameter", &name, &self.used));
            }
        }
        Ok(())
    }
}
