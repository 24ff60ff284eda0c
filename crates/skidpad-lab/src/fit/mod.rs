//! Fits of vehicle parameters to measured logs and published figures.
//!
//! [`Fit::load`] reads a description (TOML) that names a vehicle, fields of its file with bounds, and data: logs of
//! measured drives, whose inputs drive the simulated car, and figures of standard manoeuvres. [`Fit::run`] returns the
//! values with the least sum of squares, their confidence intervals, and the parameters that the data cannot identify.

pub mod description;
pub mod least_squares;
mod load;
mod log;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::{Value, json};
use skidpad_core::{Model, SolverInfo};
use skidpad_spec::fields::{FieldError, FieldPath, FileFields};
use skidpad_spec::{Faults, Folders};

use crate::fit::least_squares::{FitFailure, Parameter, Residuals, Solution, solve};
use crate::manoeuvre::{Manoeuvre, Overrides, Procedure};
use crate::measured_log::{Series, differences};
use crate::parallel::run_in_parallel;
use crate::run::{TimeStep, simulate};
use crate::runner::execute;
use crate::script::Script;

/// Fit that was read and checked.
#[derive(Debug)]
pub struct Fit {
    /// Name of the vehicle file in reports.
    source_name: String,
    /// Vehicle file.
    fields: FileFields,
    /// Folders of the tyre files of the vehicle; `None` for a shipped one.
    folders: Option<Folders>,
    /// Fields to estimate, with their bounds.
    parameters: Vec<(FieldPath, Parameter)>,
    logs: Vec<Log>,
    figures: Vec<Figure>,
    solver: SolverInfo,
    dt: TimeStep,
    /// Vehicle file and logs on disk.
    input_files: Vec<PathBuf>,
}

/// Measured log.
#[derive(Debug)]
struct Log {
    /// Name of its file.
    name: String,
    /// Inputs of the driver.
    script: Script,
    /// Forward speed at the start (m/s).
    initial_speed: f64,
    channels: Vec<Channel>,
}

/// Measured channel of a log.
#[derive(Debug)]
struct Channel {
    series: Series,
    /// Standard deviation of the values.
    deviation: f64,
}

/// Published figure.
#[derive(Debug)]
struct Figure {
    procedure: Box<dyn Procedure>,
    /// Name of the metric, with its unit.
    metric: String,
    /// Published value.
    value: f64,
    /// Standard deviation of the value.
    deviation: f64,
}

/// Reason why a car could not be compared with the data.
#[derive(Clone, Debug, thiserror::Error)]
pub enum EvaluationError {
    /// Description that is not valid with the values of the search.
    #[error("the vehicle is not valid with {values}; narrow the bounds:\n{faults}")]
    Vehicle {
        /// Values of the parameters.
        values: String,
        /// Faults of the description.
        faults: String,
    },
    /// Field that could not be set.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// Drive whose numbers became infinite or NaN.
    #[error("the car did not stay finite in `{0}`; narrow the bounds")]
    NotFinite(String),
    /// Metric that the manoeuvre does not have, or that has no value.
    #[error("`{manoeuvre}` has no value of `{metric}`; its metrics are {known}")]
    Metric {
        /// Name of the manoeuvre.
        manoeuvre: String,
        /// Name of the metric.
        metric: String,
        /// Names of the metrics of the manoeuvre.
        known: String,
    },
}

/// Reason why a fit has no result.
#[derive(Clone, Debug, thiserror::Error)]
pub enum FitError {
    /// Car that could not be compared with the data.
    #[error(transparent)]
    Evaluation(#[from] EvaluationError),
    /// Fewer measured values than parameters.
    #[error("there are fewer measured values than parameters; add data or remove parameters")]
    TooFewValues,
    /// Difference from the data that is infinite or NaN.
    #[error("a difference from the data is not finite; narrow the bounds")]
    NotFinite,
}

/// Agreement with one measured channel or figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// Name of the log, or of the manoeuvre.
    pub source: String,
    /// Name of the channel or metric, with its unit.
    pub quantity: String,
    /// Root of the mean square of the differences, in the unit of the quantity, at the start and at the estimates.
    pub rms: [f64; 2],
}

/// Result of a fit.
#[derive(Clone, Debug, PartialEq)]
pub struct FitResult {
    /// Estimates and what the data identify.
    pub solution: Solution,
    /// Agreement with each measured channel and figure.
    pub agreement: Vec<Agreement>,
    /// Text of the vehicle file with the estimates; comments and all other fields are kept.
    pub vehicle_text: String,
}

impl Fit {
    /// Returns the vehicle file and the logs, as far as they are files on disk.
    pub fn input_files(&self) -> impl Iterator<Item = &Path> {
        self.input_files.iter().map(PathBuf::as_path)
    }

    /// Estimates the parameters, then drives the car at the start values and at the estimates once more for the
    /// agreement with the data. `progress` is called with the number of cars that were compared with all data so far.
    ///
    /// # Errors
    /// Returns an error if a car cannot be compared with the data, a difference from the data is not finite, or if
    /// there are fewer measured values than parameters.
    pub fn run(&self, progress: &mut dyn FnMut(usize)) -> Result<FitResult, FitError> {
        let parameters: Vec<Parameter> = self.parameters.iter().map(|(_, parameter)| parameter.clone()).collect();
        let mut evaluator = Evaluator { fit: self, cars: 0, progress };
        let solution = solve(&parameters, &mut evaluator).map_err(|failure| match failure {
            FitFailure::Evaluation(error) => FitError::Evaluation(error),
            FitFailure::TooFewResiduals => FitError::TooFewValues,
            FitFailure::NotFinite => FitError::NotFinite,
        })?;
        let values: Vec<f64> = solution.estimates.iter().map(|estimate| estimate.value).collect();
        let starts: Vec<f64> = parameters.iter().map(|parameter| parameter.start).collect();
        let agreement = self.agreement([&starts, &values])?;
        let vehicle_text = self.vehicle_text(&values).map_err(EvaluationError::Field)?;
        Ok(FitResult { solution, agreement, vehicle_text })
    }

    /// Returns the vehicle file with the `values` of the parameters.
    fn vehicle_text(&self, values: &[f64]) -> Result<String, FieldError> {
        let mut fields = self.fields.clone();
        for ((path, _), value) in self.parameters.iter().zip(values) {
            fields.set(path, &value.to_string())?;
        }
        Ok(fields.text().to_owned())
    }

    /// Returns the model with the `values` of the parameters.
    ///
    /// # Errors
    /// Returns an error that lists the values if the vehicle is not valid with them.
    fn model(&self, values: &[f64]) -> Result<Arc<Model>, EvaluationError> {
        let text = self.vehicle_text(values)?;
        load::read_model(&self.source_name, &text, self.folders.as_ref()).map_err(|faults: Faults| {
            let named = self
                .parameters
                .iter()
                .zip(values)
                .map(|((_, parameter), value)| format!("{} = {value}", parameter.name));
            EvaluationError::Vehicle { values: named.collect::<Vec<_>>().join(", "), faults: faults.to_text() }
        })
    }

    /// Returns the differences from the data with the `values` of the parameters, simulated minus measured, in the
    /// units of the data. There is a list for each channel of each log, then one list with one value for each figure.
    /// Logs and figures are simulated in parallel.
    fn differences(&self, values: &[f64]) -> Result<Vec<Vec<f64>>, EvaluationError> {
        let model = self.model(values)?;
        let run_job = |job: usize| match self.logs.get(job) {
            Some(log) => self.log_differences(log, &model),
            None => self.figure_difference(&self.figures[job - self.logs.len()], &model).map(|value| vec![vec![value]]),
        };
        let results = run_in_parallel(self.logs.len() + self.figures.len(), &run_job);
        Ok(results.into_iter().collect::<Result<Vec<_>, _>>()?.concat())
    }

    /// Drives the inputs of `log` from its initial speed and returns the differences of each channel: simulated minus
    /// measured.
    ///
    /// # Errors
    /// Returns an error if the run did not stay finite.
    fn log_differences(&self, log: &Log, model: &Arc<Model>) -> Result<Vec<Vec<f64>>, EvaluationError> {
        let mut setup = Manoeuvre::setup(&log.script, model);
        setup.placement.speed = log.initial_speed as f32;
        let mut driver = log.script.driver(model);
        let trajectory =
            simulate(&self.solver, model, &setup, driver.as_mut(), self.dt, &mut |_, _| ControlFlow::Continue(()));
        if trajectory.worst_report().not_finite {
            return Err(EvaluationError::NotFinite(log.name.clone()));
        }
        // The description was checked to name only channels that the run has.
        Ok(differences(&trajectory, log.channels.iter().map(|channel| &channel.series)).into_iter().flatten().collect())
    }

    /// Executes the procedure of `figure` and returns the difference of its metric: simulated minus published.
    ///
    /// # Errors
    /// Returns an error with the names of all metrics if the procedure has no value of this metric.
    fn figure_difference(&self, figure: &Figure, model: &Arc<Model>) -> Result<f64, EvaluationError> {
        let (procedure, overrides) = (figure.procedure.as_ref(), Overrides::default());
        let metrics =
            execute(&self.solver, model, procedure, &overrides, self.dt, &|_| ControlFlow::Continue(())).metrics;
        let value = metrics.iter().find(|metric| metric.name == figure.metric).and_then(|metric| metric.value);
        value.map(|value| value - figure.value).ok_or_else(|| EvaluationError::Metric {
            manoeuvre: procedure.name().into(),
            metric: figure.metric.clone(),
            known: metrics.iter().map(|metric| metric.name.as_str()).collect::<Vec<_>>().join(", "),
        })
    }

    /// Returns names (source, quantity) and standard deviations of the lists of [`Fit::differences`].
    fn quantities(&self) -> Vec<([&str; 2], f64)> {
        let channels = self.logs.iter().flat_map(|log| {
            log.channels.iter().map(|channel| ([&*log.name, &*channel.series.channel], channel.deviation))
        });
        let figures = self.figures.iter().map(|figure| ([figure.procedure.name(), &*figure.metric], figure.deviation));
        channels.chain(figures).collect()
    }

    /// Returns the agreement with each channel and figure at two sets of values: start and estimates. The agreement is
    /// the root of the mean square of the differences.
    fn agreement(&self, values: [&[f64]; 2]) -> Result<Vec<Agreement>, EvaluationError> {
        let [at_start, at_end] = [self.differences(values[0])?, self.differences(values[1])?];
        let rms = |list: &[f64]| (list.iter().map(|d| d * d).sum::<f64>() / list.len() as f64).sqrt();
        let lists = at_start.iter().zip(&at_end);
        let agreement = self.quantities().into_iter().zip(lists).map(|(([source, quantity], _), (start, end))| {
            Agreement { source: source.into(), quantity: quantity.into(), rms: [rms(start), rms(end)] }
        });
        Ok(agreement.collect())
    }
}

/// Differences of a fit in units of their standard deviation, for the minimiser.
struct Evaluator<'a> {
    fit: &'a Fit,
    /// Number of evaluated cars.
    cars: usize,
    progress: &'a mut dyn FnMut(usize),
}

impl Residuals for Evaluator<'_> {
    type Error = EvaluationError;

    fn count(&self) -> usize {
        let points = self.fit.logs.iter().flat_map(|log| &log.channels).map(|channel| channel.series.points.len());
        points.sum::<usize>() + self.fit.figures.len()
    }

    /// Writes the differences of all channels and figures, each over its standard deviation, into `residuals`. Reports
    /// the number of evaluated cars.
    fn evaluate(&mut self, values: &[f64], residuals: &mut [f64]) -> Result<(), EvaluationError> {
        let differences = self.fit.differences(values)?;
        let deviations = self.fit.quantities().into_iter().map(|(_, deviation)| deviation);
        let weighted = differences.iter().zip(deviations).flat_map(|(list, d)| list.iter().map(move |value| value / d));
        residuals.iter_mut().zip(weighted).for_each(|(residual, value)| *residual = value);
        self.cars += 1;
        (self.progress)(self.cars);
        Ok(())
    }
}

impl FitResult {
    /// Returns the result as an object with the keys `parameters`, `unidentified`, `correlations`, `agreement`,
    /// `evaluations` and `has_converged`. A parameter without an interval has `null`.
    pub fn to_json(&self) -> Value {
        let solution = &self.solution;
        let parameter = |estimate: &least_squares::Estimate| {
            json!({
                "path": estimate.parameter.name,
                "start": estimate.parameter.start,
                "value": estimate.value,
                "interval_95": estimate.interval.map(|half| [estimate.value - half, estimate.value + half]),
                "is_at_bound": estimate.is_at_bound,
                "is_identified": estimate.is_identified,
            })
        };
        let shares = |combination: &Vec<(String, f64)>| {
            combination.iter().map(|(name, share)| json!({ "path": name, "share_of_range": share })).collect::<Vec<_>>()
        };
        let quantity = |agreement: &Agreement| {
            let Agreement { source, quantity, rms: [start, end] } = agreement;
            json!({ "source": source, "quantity": quantity, "rms_at_start": start, "rms": end })
        };
        json!({
            "parameters": solution.estimates.iter().map(parameter).collect::<Vec<_>>(),
            "unidentified": solution.unidentified.iter().map(shares).collect::<Vec<_>>(),
            "correlations": solution.correlations,
            "agreement": self.agreement.iter().map(quantity).collect::<Vec<_>>(),
            "evaluations": solution.evaluations,
            "has_converged": solution.has_converged,
        })
    }
}
