//! Runs of all solvers, and a measured log, in one table: a column for each quantity and source.

use std::borrow::Cow;

use skidpad_core::{Frame, Model};

use super::figure::{Line, PlottedSource};
use super::plot::{Axis, Curve, Kind, Plot};
use super::table::PlotTable;
use crate::compare::{Comparison, Outcome};
use crate::measured_log::MeasuredLog;
use crate::quantity::Quantity;
use crate::trajectory::Trajectory;

/// Maximum number of rows of a run that are examined. Longer runs are examined in even steps.
const MAX_EXAMINED_ROWS: usize = 20_000;

/// Name of a measured log in keys and labels.
pub const LOG_NAME: &str = "measured";

/// Vehicle of a run: the car, or a towed unit counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Driven car.
    Car,
    /// Towed unit.
    Towed(usize),
}

/// Car of a section, with its runs.
#[derive(Clone, Copy, Debug)]
pub struct CarRuns<'a> {
    /// Name of the car before the names of its solvers; empty if the section has one car.
    pub label: &'a str,
    /// Model of the car.
    pub model: &'a Model,
    /// Compared runs.
    pub comparison: &'a Comparison,
}

/// Source of curves: the run of a solver, or a measured log.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// Name for keys and labels.
    pub name: String,
    /// Number of the car in the section.
    pub car: usize,
    /// Model of the car.
    pub model: &'a Model,
    /// Result of the run; `None` for a measured log.
    pub outcome: Option<&'a Outcome>,
}

impl Source<'_> {
    /// Returns whether the source is the run of a reference vehicle or a variant.
    pub fn is_peer(&self) -> bool {
        self.outcome.is_some_and(|outcome| outcome.peer)
    }

    /// Returns whether the source is a measured log.
    pub fn is_measured(&self) -> bool {
        self.outcome.is_none()
    }
}

/// Sources of a section with the table of their values. Column 0 of the table is the time (s).
pub struct SectionRuns<'a> {
    /// Cars, at least one. All are driven by the same manoeuvre on the same ground.
    pub cars: &'a [CarRuns<'a>],
    /// Sources in the order of their lines: the solvers, each with all cars, and last a measured log.
    pub sources: Vec<Source<'a>>,
    /// Values of all runs.
    pub table: PlotTable,
    /// Examined rows of the car of each source.
    frames: Vec<Vec<Cow<'a, Frame>>>,
    /// Examined rows of each towed unit of each source.
    towed: Vec<Vec<Vec<Cow<'a, Frame>>>>,
    /// Columns of quantities that were added, by the vehicle and the key of the quantity.
    added: Vec<(Unit, String, Vec<usize>)>,
}

impl<'a> SectionRuns<'a> {
    /// Reads the rows of `cars` (at least one). If the longest run has more than [`MAX_EXAMINED_ROWS`] rows, every n-th
    /// row is examined, with the same n for all runs. A measured log is interpolated at the times of these rows and
    /// becomes the last source. Without any run the log is left out.
    pub fn new(cars: &'a [CarRuns<'a>], log: Option<&MeasuredLog>) -> Self {
        let mut sources = solver_sources(cars);
        let trajectories: Vec<&Trajectory> =
            sources.iter().filter_map(|source| Some(&source.outcome?.trajectory)).collect();
        let longest = trajectories.iter().map(|trajectory| trajectory.row_count()).max().unwrap_or(0);
        let stride = longest.div_ceil(MAX_EXAMINED_ROWS).max(1);
        let mut frames: Vec<Vec<_>> =
            trajectories.iter().map(|trajectory| trajectory.rows().step_by(stride).collect()).collect();
        let mut towed: Vec<Vec<Vec<_>>> = trajectories
            .iter()
            .map(|trajectory| {
                let units = trajectory.trailers().iter();
                units.map(|(_, trailer)| trailer.rows().step_by(stride).collect()).collect()
            })
            .collect();
        let row_count = frames.iter().map(Vec::len).max().unwrap_or(0);
        let times: Vec<f64> = (0..row_count).map(|row| (row * stride) as f64 * cars[0].comparison.dt_s).collect();
        if let (Some(log), Some(run)) = (log, trajectories.first()) {
            frames.push(log.frames(run.header(), run.first(), &times).into_iter().map(Cow::Owned).collect());
            towed.push(vec![Vec::new(); cars[0].comparison.trailers.len()]);
            sources.push(Source { name: LOG_NAME.into(), car: 0, model: cars[0].model, outcome: None });
        }
        Self { cars, sources, table: PlotTable::new(times), frames, towed, added: Vec::new() }
    }

    /// Returns the runs of the first car, whose manoeuvre and ground are those of all cars.
    pub fn comparison(&self) -> &'a Comparison {
        self.cars[0].comparison
    }

    /// Returns the number of the source that others are compared with: the first solver that is not a peer, otherwise
    /// the first source.
    pub fn reference(&self) -> usize {
        self.sources.iter().position(|source| !source.is_peer() && !source.is_measured()).unwrap_or(0)
    }

    /// Returns the sources as figures show them. Solvers have numbered lines.
    pub fn plotted_sources(&self) -> Vec<PlottedSource<'_>> {
        let plotted = |(number, source): (usize, &'_ Source<'a>)| {
            let line = if source.is_measured() { Line::Measured } else { Line::Numbered(number) };
            (line, source.is_peer())
        };
        let lines: Vec<(Line, bool)> = self.sources.iter().enumerate().map(plotted).collect();
        let sources = self.sources.iter().zip(lines);
        sources.map(|(source, (line, is_peer))| PlottedSource { name: &source.name, is_peer, line }).collect()
    }

    /// Returns the examined rows of `unit` of source number `source`. A measured log has none for towed units.
    pub fn frames(&self, source: usize, unit: Unit) -> &[Cow<'a, Frame>] {
        match unit {
            Unit::Car => &self.frames[source],
            Unit::Towed(index) => &self.towed[source][index],
        }
    }

    /// Adds a column for each source with `value` of each row of `unit`, and returns the numbers of these columns. A
    /// value that is missing or not finite is NaN.
    ///
    /// `key` names the quantity. If `unit` and `key` were added before, nothing is added, and the earlier columns are
    /// returned. `min_span` is the smallest visible range. For a towed unit, `value` receives the model of its car.
    pub fn add(
        &mut self,
        unit: Unit,
        key: &str,
        min_span: f64,
        value: impl Fn(&Model, &Frame) -> Option<f64>,
    ) -> Vec<usize> {
        if let Some((.., columns)) =
            self.added.iter().find(|(added_unit, added_key, _)| *added_unit == unit && added_key == key)
        {
            return columns.clone();
        }
        let values = |(number, source): (usize, &Source<'a>)| -> Vec<f64> {
            let finite = |frame: &Cow<'_, Frame>| {
                value(source.model, frame).filter(|value| value.is_finite()).unwrap_or(f64::NAN)
            };
            self.frames(number, unit).iter().map(finite).collect()
        };
        let all_values: Vec<Vec<f64>> = self.sources.iter().enumerate().map(values).collect();
        let columns = self.add_values(all_values, min_span);
        self.added.push((unit, key.to_owned(), columns.clone()));
        columns
    }

    /// Adds a column for each source, and returns the numbers of these columns in the order of the sources.
    /// `all_values` contains the values of each source. `min_span` is the smallest visible range, in the unit of the
    /// values. The column of the reference source is added first. The other columns refer to it, so that the page
    /// stores only their differences.
    pub fn add_values(&mut self, all_values: Vec<Vec<f64>>, min_span: f64) -> Vec<usize> {
        let reference = self.reference();
        let mut columns = vec![0; all_values.len()];
        let mut all_values: Vec<Option<Vec<f64>>> = all_values.into_iter().map(Some).collect();
        // The reference comes first, because a column refers to earlier columns only.
        let order = [reference].into_iter().chain((0..all_values.len()).filter(|&source| source != reference));
        for source in order.collect::<Vec<_>>() {
            let Some(values) = all_values.get_mut(source).and_then(Option::take) else { continue };
            let reference_column = (source != reference).then(|| columns[reference]);
            columns[source] = self.table.add(values, min_span, reference_column);
        }
        columns
    }

    /// Adds a column for each source with `quantity` of the car, and returns their numbers.
    pub fn add_quantity(&mut self, quantity: &Quantity) -> Vec<usize> {
        self.add(Unit::Car, quantity.label, quantity.min_span, quantity.value)
    }

    /// Returns a curve for each source. `x` and `y` are the numbers of its columns in the order of the sources. `part`
    /// is the part of the car, empty for the whole car. Sources without any value have no curve. Curves of peers do not
    /// set the range, and the curve of a measured log is always drawn.
    pub fn curves(&self, part: &str, x: &[usize], y: &[usize]) -> Vec<Curve> {
        let has_values = |column: usize| self.table.values(column).iter().any(|value| !value.is_nan());
        let sources = self.sources.iter().enumerate();
        sources
            .filter(|(number, _)| has_values(x[*number]) && has_values(y[*number]))
            .map(|(number, source)| Curve {
                source: number,
                part: part.into(),
                sets_range: !source.is_peer(),
                is_separate: source.is_measured(),
                columns: [x[number], y[number]],
            })
            .collect()
    }

    /// Returns the plot of the columns `y` over time, with a curve for each source. `axis` is the axis of y.
    pub fn time_plot(&self, title: &str, axis: Axis, y: &[usize]) -> Plot {
        let mut plot = Plot::new(title, Kind::Time, [Axis::new("time", "s", 0.0), axis]);
        plot.curves = self.curves("", &vec![0; y.len()], y);
        plot
    }
}

/// Returns the sources of all solvers: for each solver all cars that have its result. With several cars, the label of
/// the car precedes the name of the solver.
fn solver_sources<'a>(cars: &'a [CarRuns<'a>]) -> Vec<Source<'a>> {
    let solver_count = cars.iter().map(|car| car.comparison.outcomes.len()).max().unwrap_or(0);
    let source = |solver: usize, (number, car): (usize, &'a CarRuns<'a>)| {
        let outcome = car.comparison.outcomes.get(solver)?;
        let name = if car.label.is_empty() {
            outcome.backend.to_owned()
        } else {
            format!("{}, {}", car.label, outcome.backend)
        };
        Some(Source { name, car: number, model: car.model, outcome: Some(outcome) })
    };
    (0..solver_count).flat_map(|solver| cars.iter().enumerate().filter_map(move |car| source(solver, car))).collect()
}
