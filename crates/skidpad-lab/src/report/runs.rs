//! Runs of all solvers in one table: a column for each quantity and solver.

use std::borrow::Cow;

use skidpad_core::{Frame, Model};

use super::plot::{Axis, Curve, Kind, Plot};
use super::table::Table;
use crate::compare::Comparison;
use crate::quantity::Quantity;

/// Maximum number of rows of a run that are examined. Longer runs are examined in even steps.
const MAX_EXAMINED_ROWS: usize = 20_000;

/// Vehicle of a run: the car, or a towed unit counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Driven car.
    Car,
    /// Towed unit.
    Towed(usize),
}

/// Runs of a comparison with the table of their values. Column 0 of the table is the time (s).
pub struct Runs<'a> {
    /// Compared runs.
    pub comparison: &'a Comparison,
    /// Model of the car.
    pub model: &'a Model,
    /// Values of all runs.
    pub table: Table,
    /// Examined rows of the car of each solver.
    cars: Vec<Vec<Cow<'a, Frame>>>,
    /// Examined rows of each towed unit of each solver.
    towed: Vec<Vec<Vec<Cow<'a, Frame>>>>,
    /// Columns of quantities that were added, by the vehicle and the key of the quantity.
    added: Vec<(Unit, String, Vec<usize>)>,
}

impl<'a> Runs<'a> {
    /// Reads the rows of `comparison`.
    pub fn new(comparison: &'a Comparison, model: &'a Model) -> Self {
        let row_count = |outcome: &crate::compare::Outcome| outcome.trajectory.row_count();
        let longest = comparison.outcomes.iter().map(row_count).max().unwrap_or(0);
        let stride = longest.div_ceil(MAX_EXAMINED_ROWS).max(1);
        let outcomes = || comparison.outcomes.iter();
        let cars: Vec<Vec<_>> = outcomes().map(|outcome| outcome.trajectory.rows().step_by(stride).collect()).collect();
        let towed = outcomes()
            .map(|outcome| {
                let units = outcome.trajectory.trailers().iter();
                units.map(|(_, trajectory)| trajectory.rows().step_by(stride).collect()).collect()
            })
            .collect();
        let row_count = cars.iter().map(Vec::len).max().unwrap_or(0);
        let times = (0..row_count).map(|row| (row * stride) as f64 * comparison.dt_s).collect();
        Self { comparison, model, table: Table::new(times), cars, towed, added: Vec::new() }
    }

    /// Returns the number of the solver that other solvers are compared with: the first that is not a peer, otherwise
    /// the first.
    pub fn reference(&self) -> usize {
        self.comparison.outcomes.iter().position(|outcome| !outcome.peer).unwrap_or(0)
    }

    /// Returns the examined rows of `unit` on solver number `solver`.
    pub fn frames(&self, solver: usize, unit: Unit) -> &[Cow<'a, Frame>] {
        match unit {
            Unit::Car => &self.cars[solver],
            Unit::Towed(index) => &self.towed[solver][index],
        }
    }

    /// Adds a column for each solver with `value` of each row of `unit`, and returns their numbers. `key` names the
    /// quantity; a key that was added before returns its columns. `min_span` is the smallest visible range.
    pub fn add(&mut self, unit: Unit, key: &str, min_span: f64, value: impl Fn(&Frame) -> Option<f64>) -> Vec<usize> {
        if let Some((.., columns)) =
            self.added.iter().find(|(added_unit, added_key, _)| *added_unit == unit && added_key == key)
        {
            return columns.clone();
        }
        let values = |solver| -> Vec<f64> {
            let finite = |frame: &Cow<'_, Frame>| value(frame).filter(|value| value.is_finite()).unwrap_or(f64::NAN);
            self.frames(solver, unit).iter().map(finite).collect()
        };
        let all_values: Vec<Vec<f64>> = (0..self.cars.len()).map(values).collect();
        let columns = self.add_values(all_values, min_span);
        self.added.push((unit, key.to_owned(), columns.clone()));
        columns
    }

    /// Adds a column with the values of each solver, and returns their numbers.
    pub fn add_values(&mut self, all_values: Vec<Vec<f64>>, min_span: f64) -> Vec<usize> {
        let reference = self.reference();
        let mut columns = vec![0; all_values.len()];
        let mut all_values: Vec<Option<Vec<f64>>> = all_values.into_iter().map(Some).collect();
        // The reference comes first, because a column refers to earlier columns only.
        let order = [reference].into_iter().chain((0..all_values.len()).filter(|&solver| solver != reference));
        for solver in order.collect::<Vec<_>>() {
            let Some(values) = all_values.get_mut(solver).and_then(Option::take) else { continue };
            let reference_column = (solver != reference).then(|| columns[reference]);
            columns[solver] = self.table.add(values, min_span, reference_column);
        }
        columns
    }

    /// Adds a column for each solver with `quantity` of the car, and returns their numbers.
    pub fn add_quantity(&mut self, quantity: &Quantity) -> Vec<usize> {
        let (model, value) = (self.model, quantity.value);
        self.add(Unit::Car, quantity.label, quantity.min_span, |frame| value(model, frame))
    }

    /// Returns a curve for each solver from its columns of x and y. Solvers without any value have no curve.
    pub fn curves(&self, part: &str, x: &[usize], y: &[usize]) -> Vec<Curve> {
        let has_values = |column: usize| self.table.values(column).iter().any(|value| !value.is_nan());
        let outcomes = self.comparison.outcomes.iter().enumerate();
        outcomes
            .filter(|(solver, _)| has_values(x[*solver]) && has_values(y[*solver]))
            .map(|(solver, outcome)| Curve {
                solver,
                part: part.into(),
                sets_range: !outcome.peer,
                columns: [x[solver], y[solver]],
            })
            .collect()
    }

    /// Returns the plot of the columns `y` over time, a curve for each solver.
    pub fn time_plot(&self, title: &str, axis: Axis, y: &[usize]) -> Plot {
        let mut plot = Plot::new(title, Kind::Time, [Axis::new("time", "s", 0.0), axis]);
        plot.curves = self.curves("", &vec![0; y.len()], y);
        plot
    }
}
