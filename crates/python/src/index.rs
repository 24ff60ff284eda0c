//! Numbers of cars and sizes as Python passes them.

use pyo3::exceptions::{PyIndexError, PyOverflowError};
use pyo3::prelude::*;

use crate::errors::value_error;

/// Number of a car, counted from 0. An integer out of the range of `usize`, such as a negative one, raises `IndexError`.
pub struct CarIndex(pub usize);

impl<'a, 'py> FromPyObject<'a, 'py> for CarIndex {
    type Error = PyErr;

    fn extract(value: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        value.extract::<usize>().map(Self).map_err(|error| {
            if error.is_instance_of::<PyOverflowError>(value.py()) {
                PyIndexError::new_err(format!("there is no car {}; cars are counted from 0", value.to_owned()))
            } else {
                error
            }
        })
    }
}

/// Returns the argument `name` as a number from 0 to `max`. Raises `ValueError` for other numbers.
pub fn count_within(name: &str, count: i64, max: usize) -> PyResult<usize> {
    let found = usize::try_from(count).ok().filter(|found| *found <= max);
    found.ok_or_else(|| value_error(format!("{name} is {count}, expected 0 to {max}")))
}
