//! Numbers of cars and sizes as Python passes them.

use std::fmt::Display;
use std::ops::RangeInclusive;

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

/// Returns the argument `name` if it is in `range`. Raises `ValueError` for other numbers.
pub fn count_within<T: TryFrom<i128> + PartialOrd + Display>(
    name: &str,
    count: i128,
    range: RangeInclusive<T>,
) -> PyResult<T> {
    let found = T::try_from(count).ok().filter(|found| range.contains(found));
    let (least, greatest) = (range.start(), range.end());
    found.ok_or_else(|| value_error(format!("{name} is {count}, but must be {least} to {greatest}")))
}
