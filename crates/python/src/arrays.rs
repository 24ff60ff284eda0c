//! Checks of NumPy arrays.

use numpy::PyUntypedArrayMethods;
use pyo3::prelude::*;

use crate::errors::value_error;

/// Checks that `array`, which errors call `name`, has the shape `expected` and is C-contiguous: row by row without gaps.
pub fn check_array<'py>(name: &str, array: &impl PyUntypedArrayMethods<'py>, expected: &[usize]) -> PyResult<()> {
    if array.shape() != expected {
        return Err(value_error(format!("{name} has the shape {:?}, expected {expected:?}", array.shape())));
    }
    if !array.is_c_contiguous() {
        return Err(value_error(format!("{name} is not C-contiguous; use numpy.ascontiguousarray")));
    }
    Ok(())
}
