//! Checks of NumPy arrays.

use numpy::ndarray::Dimension;
use numpy::{Element, PyArray, PyArrayDescrMethods, PyArrayMethods, PyReadonlyArray, PyReadwriteArray, PyUntypedArray};
use numpy::{PyUntypedArrayMethods, dtype};
use pyo3::exceptions::PyTypeError;
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

/// Returns `value`, which errors call `name`, as an array of `T` with the number of dimensions of `D`.
///
/// Raises `TypeError` for an object that is no array and for another type of numbers, and `ValueError` for another number
/// of dimensions.
pub fn array_of<'a, 'py, T: Element, D: Dimension>(
    name: &str,
    value: &'a Bound<'py, PyAny>,
) -> PyResult<&'a Bound<'py, PyArray<T, D>>> {
    if let Ok(array) = value.cast::<PyArray<T, D>>() {
        return Ok(array);
    }
    let wanted = dtype::<T>(value.py());
    let Ok(array) = value.cast::<PyUntypedArray>() else {
        let kind = value.get_type().name()?;
        return Err(PyTypeError::new_err(format!("{name} is a {kind}, expected a NumPy array of {wanted}")));
    };
    if !array.dtype().is_equiv_to(&wanted) {
        return Err(PyTypeError::new_err(format!(
            "{name} has numbers of the type {}, expected {wanted}",
            array.dtype()
        )));
    }
    let dimensions = D::NDIM.unwrap_or_default();
    Err(value_error(format!("{name} has the shape {:?}, expected {dimensions} dimensions", array.shape())))
}

/// Returns read access to the array `value`. Raises the errors of [`array_of`], and `ValueError` for an array that is
/// being written.
pub fn readable<'py, T: Element, D: Dimension>(
    name: &str,
    value: &Bound<'py, PyAny>,
) -> PyResult<PyReadonlyArray<'py, T, D>> {
    array_of(name, value)?.try_readonly().map_err(|error| value_error(format!("{name}: {error}")))
}

/// Returns write access to `array`, which errors call `name`. Raises `ValueError` for a read-only array and one that is
/// in use.
pub fn writeable<'py, T: Element, D: Dimension>(
    name: &str,
    array: &Bound<'py, PyArray<T, D>>,
) -> PyResult<PyReadwriteArray<'py, T, D>> {
    array.try_readwrite().map_err(|error| value_error(format!("{name}: {error}")))
}
