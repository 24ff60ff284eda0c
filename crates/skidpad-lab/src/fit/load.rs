//! Reading of a fit: its description, vehicle and logs, with all faults at once.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use skidpad_core::{Model, SolverInfo};
use skidpad_spec::fields::{FieldError, FieldPath, FileFields};
use skidpad_spec::files::{self, FileKind};
use skidpad_spec::read::{FaultCollector, parse_toml};
use skidpad_spec::{FaultKind, Faults, Folders, LoadError, LoadedVehicle, Schema, shipped};

use crate::channels::column_names;
use crate::fit::description::{FigureDescription, FitDescription, LogDescription, ParameterDescription};
use crate::fit::least_squares::Parameter;
use crate::fit::log::FitLog;
use crate::fit::{Channel, Figure, Fit, Log};
use crate::manoeuvre::{self, Overrides};
use crate::run::TimeStep;
use crate::script::Script;
use crate::suggestions::nearest_name;

impl Fit {
    /// Reads the description at `path`, then the vehicle and the logs that it names. `solvers` are the solvers that the
    /// description can name.
    ///
    /// # Errors
    /// Returns an error for a file that cannot be read, the faults of the vehicle file, or the faults of the
    /// description and its logs. Faults in the format of the description are returned before the vehicle is read.
    pub fn load(path: &Path, solvers: &[SolverInfo]) -> Result<Self, LoadError> {
        let unreadable = |path: &Path, source| LoadError::UnreadableFile { path: path.to_owned(), source };
        let text = files::read_lossy(path, FileKind::Vehicle).map_err(|error| unreadable(path, error))?;
        let source_name = path.display().to_string();
        let mut collector = FaultCollector::default();
        let schema = Schema::for_type::<FitDescription>();
        let description: Option<FitDescription> =
            parse_toml(&text, &mut collector).and_then(|tree| collector.deserialize_tree(&text, &tree, &schema));
        let Some(description) = description.filter(|_| collector.faults.is_empty()) else {
            return Err(collector.into_faults(&source_name, &text).into());
        };
        let folder = path.parent().map_or_else(PathBuf::new, Path::to_owned);
        let vehicle = VehicleText::read(&description.vehicle, &folder)?;
        let mut loader = Loader { collector, folder };
        match loader.fit(&description, vehicle, solvers) {
            Some(fit) if loader.collector.faults.is_empty() => Ok(fit),
            _ => Err(loader.collector.into_faults(&source_name, &text).into()),
        }
    }
}

/// Vehicle file as text, with its model.
struct VehicleText {
    source_name: String,
    fields: FileFields,
    folders: Option<Folders>,
    model: Arc<Model>,
}

impl VehicleText {
    /// Reads the shipped vehicle with this `name`, or without such a vehicle the file at a path relative to `folder`.
    /// Tyre files are searched from the folder of that file.
    fn read(name: &str, folder: &Path) -> Result<Self, LoadError> {
        let (source_name, text, folders) = match shipped::find(name) {
            Some(text) => (format!("{name}.toml"), text.to_owned(), None),
            None => {
                let path = folder.join(name);
                let text = files::read_lossy(&path, FileKind::Vehicle)
                    .map_err(|source| LoadError::UnreadableFile { path: path.clone(), source })?;
                (path.display().to_string(), text, Some(Folders::from_file_path(&path)))
            }
        };
        let model = read_model(&source_name, &text, folders.as_ref())?;
        // A vehicle that was read is valid TOML.
        let unparsed = |error: FieldError| LoadError::UnreadableFile {
            path: PathBuf::from(&source_name),
            source: std::io::Error::new(std::io::ErrorKind::InvalidData, error.to_string()),
        };
        let fields = FileFields::parse(&text).map_err(unparsed)?;
        Ok(Self { source_name, fields, folders, model })
    }
}

/// Returns the model of the vehicle file `text`. Its tyre files are in `folders`; without folders they are the shipped
/// ones. `source_name` names the file in faults.
pub(super) fn read_model(source_name: &str, text: &str, folders: Option<&Folders>) -> Result<Arc<Model>, Faults> {
    let vehicle = match folders {
        Some(folders) => LoadedVehicle::read_in(folders.clone(), source_name, text)?,
        None => LoadedVehicle::read(source_name, text)?,
    };
    Ok(vehicle.model)
}

/// Reader of the parts of a fit, which collects their faults.
struct Loader {
    collector: FaultCollector,
    /// Folder of the description.
    folder: PathBuf,
}

impl Loader {
    /// Adds a fault at `path` of the description, whose value is `found`.
    fn add_fault(&mut self, path: &str, found: impl Into<String>, accepts: impl Into<String>) {
        let span = self.collector.nearest_span(path);
        self.collector.add_fault(FaultKind::OutOfRange, path.to_owned(), span, found, accepts, None);
    }

    /// Adds a fault of another file that `path` of the description names; `found` is a sentence about it.
    fn add_file_fault(&mut self, path: &str, found: impl Into<String>, accepts: impl Into<String>) {
        let span = self.collector.nearest_span(path);
        self.collector.add_fault(FaultKind::Contradiction, path.to_owned(), span, found, accepts, None);
    }

    /// Builds the fit from `description` and `vehicle`. Collects the faults of all parts; parts with faults are left
    /// out. The caller must therefore check the collected faults. `None` without a solver or a step length.
    fn fit(&mut self, description: &FitDescription, vehicle: VehicleText, solvers: &[SolverInfo]) -> Option<Fit> {
        let solver = solvers.iter().find(|info| info.name == description.solver);
        if solver.is_none() {
            let names: Vec<&str> = solvers.iter().map(|info| info.name).collect();
            self.add_fault("solver", format!("`{}`", description.solver), names.join(", "));
        }
        let dt = TimeStep::from_rate_hz(description.rate_hz);
        if let Err(accepts) = &dt {
            self.add_fault("rate_hz", description.rate_hz.to_string(), accepts);
        }
        if description.logs.is_empty() && description.figures.is_empty() {
            self.add_fault("logs", "empty", "at least one log or figure");
        }
        let parameters = description.parameters.iter().enumerate();
        let parameters =
            parameters.filter_map(|(i, parameter)| self.parameter(i, parameter, &vehicle.fields)).collect();
        let channel_names = solver.map(|solver| column_names(solver, &vehicle.model)).unwrap_or_default();
        let logs = description.logs.iter().enumerate();
        let logs = logs.filter_map(|(i, log)| self.log(i, log, &vehicle.model, &channel_names)).collect();
        let figures = description.figures.iter().enumerate();
        let figures = figures.filter_map(|(i, figure)| self.figure(i, figure)).collect();
        let VehicleText { source_name, fields, folders, .. } = vehicle;
        let vehicle_file = folders.is_some().then(|| PathBuf::from(&source_name));
        let log_files = description.logs.iter().map(|log| self.folder.join(&log.file));
        let input_files = vehicle_file.into_iter().chain(log_files).collect();
        Some(Fit {
            source_name,
            fields,
            folders,
            parameters,
            logs,
            figures,
            solver: *solver?,
            dt: dt.ok()?,
            input_files,
        })
    }

    /// Returns the parameter with the number `index` as field of the vehicle file and its bounds. Adds a fault and
    /// returns `None` if the path names no number of the file, `min` is not below `max`, or the start is not within
    /// both. The start is by default the value of the file.
    fn parameter(
        &mut self,
        index: usize,
        ParameterDescription { path, min, max, start }: &ParameterDescription,
        fields: &FileFields,
    ) -> Option<(FieldPath, Parameter)> {
        let key = |key: &str| format!("parameters[{index}].{key}");
        let field = fields.resolve(path).and_then(|field| fields.number(&field).map(|number| (field, number)));
        let (field, value) = match field {
            Ok(field) => field,
            Err(error) => {
                self.add_file_fault(&key("path"), error.to_string(), "the path of a number of the vehicle file");
                return None;
            }
        };
        if min >= max {
            self.add_fault(&key("max"), max.to_string(), format!("a number above `min`, {min}"));
            return None;
        }
        let start_value = start.unwrap_or(value);
        if !(*min..=*max).contains(&start_value) {
            let (key_name, found) = match start {
                Some(start) => ("start", start.to_string()),
                None => ("path", format!("{value} in the vehicle file")),
            };
            self.add_fault(&key(key_name), found, format!("a start from {min} to {max}; set `start`"));
            return None;
        }
        let name = field.to_string();
        Some((field, Parameter { name, start: start_value, min: *min, max: *max }))
    }

    /// Returns the log with the number `index`: its inputs as a script, and its measured channels. `None` after faults
    /// of the file or the inputs. A channel that is not one of `channel_names` (telemetry columns) adds a fault and is
    /// left out.
    fn log(&mut self, index: usize, log: &LogDescription, model: &Model, channel_names: &[String]) -> Option<Log> {
        let key = |key: &str| format!("logs[{index}].{key}");
        let path = self.folder.join(&log.file);
        let text = match files::read_lossy(&path, FileKind::Controls) {
            Ok(text) => text,
            Err(error) => {
                self.add_file_fault(&key("file"), format!("`{}`: {error}", path.display()), "a readable CSV file");
                return None;
            }
        };
        let measured_log = match FitLog::read(&text, log) {
            Ok(measured_log) => measured_log,
            Err(faults) => {
                let accepts = "a log without faults";
                faults.iter().for_each(|fault| {
                    self.add_file_fault(&key("file"), format!("`{}`: {fault}", path.display()), accepts)
                });
                return None;
            }
        };
        let script = match Script::parse(&measured_log.controls, model) {
            Ok(script) => script,
            Err(faults) => {
                let accepts = "inputs that a table of controls accepts; see `skidpad run --help`";
                faults.0.iter().for_each(|fault| {
                    self.add_file_fault(&key("inputs"), format!("a table of controls in which {fault}"), accepts)
                });
                return None;
            }
        };
        let channels = measured_log.series.into_iter().filter_map(|(series, deviation)| {
            let is_known = channel_names.contains(&series.channel);
            if !is_known {
                let accepts = nearest_name(&series.channel, channel_names.iter().map(String::as_str)).map_or_else(
                    || "a channel of `skidpad list channels`".to_owned(),
                    |nearest| format!("a channel of `skidpad list channels`, such as `{nearest}`"),
                );
                self.add_fault(&key("measured"), format!("unknown channel `{}`", series.channel), accepts);
            }
            is_known.then_some(Channel { series, deviation })
        });
        Some(Log {
            name: log.file.display().to_string(),
            script,
            initial_speed: log.initial_speed_mps,
            channels: channels.collect(),
        })
    }

    /// Returns the figure with the number `index`. Adds a fault and returns `None` for an unknown manoeuvre. An unknown
    /// metric is only found when the manoeuvre is driven.
    fn figure(&mut self, index: usize, figure: &FigureDescription) -> Option<Figure> {
        let entry = manoeuvre::by_name(&figure.manoeuvre);
        if entry.is_none() {
            let names: Vec<&str> = manoeuvre::catalogue().map(|entry| entry.name).collect();
            self.add_fault(&format!("figures[{index}].manoeuvre"), format!("`{}`", figure.manoeuvre), names.join(", "));
        }
        Some(Figure {
            procedure: entry?.build_standard(&Overrides::default()),
            metric: figure.metric.clone(),
            value: figure.value,
            deviation: figure.deviation,
        })
    }
}
