//! Tracks: closed centre lines with widths.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use numpy::{Ix2, PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use skidpad::spec::files::{FileKind, read_text};
use skidpad::spec::printable::one_line;

use crate::arrays::{check_array, readable};
use crate::course::{CentrePoint, Course, DistanceField, RangeTable, read_csv, without_repeats};
use crate::errors::{VehicleError, value_error};

/// Closed track: a centre line, driven in the order of its points, with the widths beside it.
///
/// Immutable. Pickles contain the points.
///
/// ```text
/// >>> import numpy as np
/// >>> angle = np.linspace(0.0, 2 * np.pi, 100, endpoint=False)
/// >>> widths = np.full(100, 4.0)
/// >>> points = np.column_stack([50 * np.cos(angle), 50 * np.sin(angle), widths, widths])
/// >>> 313.0 < skidpad.Track(points).length < 315.0
/// True
///
/// ```
#[pyclass(frozen, module = "skidpad", name = "Track")]
#[derive(Clone, Debug)]
pub struct PyTrack {
    points: Vec<CentrePoint>,
    course: Course,
    /// Distances to the borders, computed when they are needed first.
    field: OnceLock<Arc<DistanceField>>,
    /// Table of ranges, computed when it is needed first.
    ranges: OnceLock<Arc<RangeTable>>,
}

impl PyTrack {
    /// Returns the sampled course.
    pub fn course(&self) -> &Course {
        &self.course
    }

    /// Creates the track through `points` without repeated ones.
    fn from_points(points: &[CentrePoint]) -> Result<Self, String> {
        let points = without_repeats(points);
        let course = Course::new(&points)?;
        Ok(Self { points, course, field: OnceLock::new(), ranges: OnceLock::new() })
    }

    /// Returns the distances to the borders on a grid, computed at the first call.
    fn field(&self) -> &Arc<DistanceField> {
        self.field.get_or_init(|| Arc::new(DistanceField::new(&self.course)))
    }

    /// Returns the table of the distances to the borders, computed at the first call up to `range` (m). Later calls
    /// return that table for any `range`.
    pub fn ranges(&self, py: Python<'_>, range: f32) -> Arc<RangeTable> {
        py.detach(|| {
            Arc::clone(self.ranges.get_or_init(|| Arc::new(RangeTable::new(&self.course, self.field(), range))))
        })
    }
}

#[pymethods]
impl PyTrack {
    /// Creates a track from a float64 array of shape [points, 4]: x, y, width to the right and width to the left of the
    /// centre line, all in m. The last point is followed by the first one. A point less than 1 cm from the one before
    /// repeats it and is left out, and so is a last point that repeats the first one.
    ///
    /// Raises `ValueError` for another shape, numbers that are not finite, widths that are not above 0, fewer than four
    /// different points, and tracks shorter than 8 m; `TypeError` for an object that is no float64 array.
    #[new]
    fn new(points: &Bound<'_, PyAny>) -> PyResult<Self> {
        let points = readable::<f64, Ix2>("points", points)?;
        let shape = points.shape();
        if shape.get(1) != Some(&4) {
            return Err(value_error(format!("points has the shape {shape:?}, expected [n, 4]")));
        }
        check_array("points", &*points, &[points.len() / 4, 4])?;
        let (rows, _) = points.as_slice()?.as_chunks::<4>();
        let is_valid = |row: &&[f64; 4]| row.iter().all(|number| number.abs() <= 1e5) && row[2] > 0.0 && row[3] > 0.0;
        if let Some(number) = rows.iter().position(|row| !is_valid(&row)) {
            return Err(value_error(format!(
                "point {number} is {:?}, but must have numbers of a magnitude of at most 1e5 m and widths above 0",
                rows[number]
            )));
        }
        let to_point = |[x, y, right, left]: &[f64; 4]| CentrePoint { position: [*x, *y], right: *right, left: *left };
        let points: Vec<CentrePoint> = rows.iter().map(to_point).collect();
        Self::from_points(&points).map_err(value_error)
    }

    /// Loads a track from a CSV file with the columns `x_m,y_m,w_tr_right_m,w_tr_left_m`. Lines that start with `#` are
    /// skipped. Repeated points are left out as by the constructor.
    ///
    /// Raises `VehicleError` with every fault and its `file:line`, and `OSError` with the path if the file cannot be
    /// read or is not UTF-8.
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        let name = one_line(&path.display().to_string()).to_string();
        let text = read_text(&path, FileKind::Import)
            .map_err(|error| std::io::Error::new(error.kind(), format!("{name}: {error}")))?;
        let points = read_csv(&text).map_err(|faults| {
            let lines: Vec<String> =
                faults.iter().map(|fault| format!("{name}:{}: {}", fault.line, fault.message)).collect();
            VehicleError::new_err(lines.join("\n"))
        })?;
        Self::from_points(&points).map_err(|reason| VehicleError::new_err(format!("{name}: {reason}")))
    }

    /// Points of the centre line without repeated ones, a new float64 array of shape [points, 4] as for the
    /// constructor.
    #[getter]
    fn points<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let to_row = |point: &CentrePoint| [point.position[0], point.position[1], point.right, point.left];
        PyArray1::from_iter(py, self.points.iter().flat_map(to_row)).reshape([self.points.len(), 4])
    }

    /// Length of the centre line, m.
    #[getter]
    fn length(&self) -> f32 {
        self.course.length()
    }

    /// Samples of the centre line about 1 m apart, a new float32 array of shape [samples, 7]: x and y in m, direction of
    /// travel x and y, curvature in 1/m (positive to the left), width to the right and to the left in m.
    #[getter]
    fn samples<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let samples = self.course.samples();
        let numbers = samples.iter().flat_map(|sample| {
            let ([x, y], [dx, dy]) = (sample.position, sample.direction);
            [x, y, dx, dy, sample.curvature, sample.right, sample.left]
        });
        PyArray1::from_iter(py, numbers).reshape([samples.len(), 7])
    }

    /// Returns the distances to the nearest border on a grid, for pictures: a float32 array of shape [rows, columns] in m,
    /// positive on the track, the position (x, y) of its first number in m, and the distance of the numbers in m. Rows are
    /// along x.
    fn distance_field<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyArray2<f32>>, [f32; 2], f32)> {
        let field = py.detach(|| self.field());
        let ([columns, rows], origin, cell) = field.grid();
        Ok((PyArray1::from_slice(py, field.distances()).reshape([rows, columns])?, origin, cell))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.points == other.points
    }

    fn __repr__(&self) -> String {
        format!("<skidpad.Track of {:.0} m>", self.length())
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyTuple>)> {
        // Pickling: the constructor called with the points restores the track.
        Ok((py.get_type::<Self>().into_any(), (self.points(py)?,).into_pyobject(py)?))
    }
}
