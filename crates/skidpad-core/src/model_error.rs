//! Errors of vehicle models, and checks of the ranges of their numbers.

use bevy_math::Vec3;

/// Reason why parts do not form a valid vehicle.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// Number that is not finite or outside its range.
    #[error("{part} is {found}, but must be {accepts}")]
    OutOfRange {
        /// Name of the number.
        part: String,
        /// Value of the number.
        found: f32,
        /// Accepted range.
        accepts: &'static str,
    },
    /// Wheels that cannot carry the car.
    #[error("the centre of mass is outside the footprint of the wheels, so that the springs cannot support the car")]
    Unsupported,
    /// Violated rule of wheels, axles or drivetrain.
    #[error("{0}")]
    RuleViolated(&'static str),
    /// Index past the end of its list.
    #[error("{part} refers to number {index} of a list of {length}")]
    IndexOutOfRange {
        /// Name of the reference.
        part: String,
        /// Value of the index.
        index: usize,
        /// Length of the list.
        length: usize,
    },
}

/// Checks that all components of `found` are finite; the error names `part` and the first that is not.
pub(crate) fn check_finite(part: &str, found: Vec3) -> Result<(), ModelError> {
    let Some(found) = found.to_array().into_iter().find(|number| !number.is_finite()) else { return Ok(()) };
    Err(ModelError::OutOfRange { part: part.into(), found, accepts: "a finite number" })
}

/// Checks that `found` is finite and at least 0; the error names `part`. NaN fails.
pub(crate) fn check_not_negative(part: &str, found: f32) -> Result<(), ModelError> {
    if found >= 0.0 && found.is_finite() {
        return Ok(());
    }
    let part = part.into();
    Err(ModelError::OutOfRange { part, found, accepts: "a finite number, 0 or more" })
}

/// Checks that `found` is finite and above 0; the error names `part`. NaN fails.
pub(crate) fn check_positive(part: &str, found: f32) -> Result<(), ModelError> {
    if found > 0.0 && found.is_finite() {
        return Ok(());
    }
    let part = part.into();
    Err(ModelError::OutOfRange { part, found, accepts: "a finite number above 0" })
}

/// Checks that `found` is above 0, infinity included; the error names `part`. NaN fails.
pub(crate) fn check_positive_or_infinite(part: &str, found: f32) -> Result<(), ModelError> {
    if found > 0.0 {
        return Ok(());
    }
    let part = part.into();
    Err(ModelError::OutOfRange { part, found, accepts: "a number above 0, or infinite" })
}

/// Checks that `index` is below `length`; the error names `part`.
pub(crate) fn check_index(part: &str, index: usize, length: usize) -> Result<(), ModelError> {
    if index < length {
        return Ok(());
    }
    Err(ModelError::IndexOutOfRange { part: part.into(), index, length })
}
