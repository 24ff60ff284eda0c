//! Telemetry files in the formats of other programs: CSV, Parquet with units, MCAP for Foxglove.

#[cfg(feature = "mcap")]
mod mcap;
#[cfg(feature = "parquet")]
mod parquet;

use std::path::Path;

use skidpad_core::Model;

use crate::files::{WriteError, write_atomically};
use crate::selection::Selection;
use crate::trajectory::Trajectory;
use crate::units::TowedUnit;

/// Format of a telemetry file, by the ending of its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TelemetryFormat {
    /// Comma-separated values of one run; every ending that is no other format.
    Csv,
    /// Apache Parquet, `.parquet`: a table of all runs with unit and meaning of each column. Needs the feature `parquet`.
    Parquet,
    /// MCAP, `.mcap`: channels of each run for Foxglove and Rerun. Needs the feature `mcap`.
    Mcap,
}

/// Run with its name in a file of several runs.
#[derive(Clone, Debug)]
pub struct NamedRun<'a> {
    /// Name, such as `braking/impulse`.
    pub name: String,
    /// Model of the car.
    pub model: &'a Model,
    /// Towed units, from the front; empty without trailers.
    pub towed: &'a [TowedUnit],
    /// Telemetry of the car and of its towed units.
    pub trajectory: &'a Trajectory,
    /// Selected columns and rows of the car.
    pub selection: Selection,
}

#[cfg(any(feature = "mcap", feature = "parquet"))]
impl NamedRun<'_> {
    /// Returns the names of the selected columns.
    fn columns(&self) -> Vec<String> {
        self.selection.pick(self.trajectory.header())
    }

    /// Returns the run of the car, then a run for each of its towed units, from the front. Their names end with that of
    /// the unit, such as `braking/impulse/trailer1`. A towed unit has those of the selected columns that its own
    /// telemetry has.
    fn vehicles(&self) -> Vec<NamedRun<'_>> {
        let car = Self { towed: &[], ..self.clone() };
        let towed = self.towed.iter().zip(self.trajectory.trailers()).map(|(unit, (name, trajectory))| NamedRun {
            name: format!("{}/{}", self.name, name.key()),
            model: &unit.model,
            towed: &[],
            trajectory,
            selection: self.selection.for_header(self.trajectory.header(), trajectory.header()),
        });
        [car].into_iter().chain(towed).collect()
    }

    /// Iterates over the selected rows.
    fn rows(&self) -> impl Iterator<Item = std::borrow::Cow<'_, skidpad_core::Frame>> {
        self.trajectory.rows().step_by(self.selection.every())
    }
}

impl TelemetryFormat {
    /// Returns the format of the file `path` by its ending, in any case.
    ///
    /// # Errors
    /// Returns what is accepted if this build cannot write the format.
    pub fn of_path(path: &Path) -> Result<Self, String> {
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_lowercase());
        let format = match ending.as_deref() {
            Some("parquet") => Self::Parquet,
            Some("mcap") => Self::Mcap,
            _ => Self::Csv,
        };
        let (is_built, feature) = match format {
            Self::Csv => (true, ""),
            Self::Parquet => (cfg!(feature = "parquet"), "parquet"),
            Self::Mcap => (cfg!(feature = "mcap"), "mcap"),
        };
        if is_built { Ok(format) } else { Err(format!("a CSV file, or a build with `--features {feature}`")) }
    }

    /// Writes `runs` to the file `path`, completely or not at all. A CSV file contains only the first run, with its towed
    /// units in columns of their own. In the other formats each towed unit is a run of its own.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, or if this build cannot write the format.
    pub fn save(self, path: &Path, runs: &[NamedRun<'_>]) -> Result<(), WriteError> {
        write_atomically(path, |out| match self {
            Self::Csv => runs.iter().take(1).try_for_each(|run| run.trajectory.write_selected_csv(&run.selection, out)),
            #[cfg(feature = "parquet")]
            Self::Parquet => out.write_all(&parquet::bytes(&vehicles(runs))?),
            #[cfg(feature = "mcap")]
            Self::Mcap => out.write_all(&mcap::bytes(&vehicles(runs))?),
            #[cfg(not(all(feature = "parquet", feature = "mcap")))]
            _ => Err(std::io::Error::new(std::io::ErrorKind::Unsupported, "the format is not part of this build")),
        })
    }
}

/// Returns a run for each vehicle of `runs`; see [`NamedRun::vehicles`].
#[cfg(any(feature = "mcap", feature = "parquet"))]
fn vehicles<'a>(runs: &'a [NamedRun<'_>]) -> Vec<NamedRun<'a>> {
    runs.iter().flat_map(NamedRun::vehicles).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the run `name` of `trajectory`, without towed units, with every fifth row of `columns`. Panics if a column
    /// is unknown.
    #[cfg(any(feature = "mcap", feature = "parquet"))]
    pub fn named_run<'a>(name: &str, model: &'a Model, trajectory: &'a Trajectory, columns: &[&str]) -> NamedRun<'a> {
        let columns: Vec<String> = columns.iter().map(|column| (*column).to_owned()).collect();
        let selection = Selection::new(trajectory.header(), &columns, 5).expect("known columns");
        NamedRun { name: name.into(), model, towed: &[], trajectory, selection }
    }

    /// Each towed unit is a run of its own, with its name and the selected columns and rows.
    #[cfg(any(feature = "mcap", feature = "parquet"))]
    #[test]
    fn towed_units_are_runs() {
        use crate::testing::{model, sampled};
        use crate::units::UnitName;
        use std::sync::Arc;

        let trailer = TowedUnit::from(Arc::new(model()));
        let towed = [trailer];
        let names = UnitName::name_all(&towed);
        let car = sampled(0.1, 1.0, |_, frame| frame.x_m = 5.0)
            .with_trailers(names.into_iter().map(|name| (name, sampled(0.1, 1.0, |_, frame| frame.x_m = 1.0))));
        let columns = ["t_s", "x_m"].map(String::from);
        let selection = Selection::new(car.header(), &columns, 2).expect("known");
        let model = model();
        let run =
            NamedRun { name: "braking/impulse".into(), model: &model, towed: &towed, trajectory: &car, selection };
        let runs = run.vehicles();
        let names: Vec<&str> = runs.iter().map(|run| run.name.as_str()).collect();
        assert_eq!(names, ["braking/impulse", "braking/impulse/trailer1"]);
        for (run, x_m) in runs.iter().zip([5.0, 1.0]) {
            assert_eq!(run.columns(), columns);
            let rows: Vec<f64> = run.rows().map(|frame| run.selection.pick(&frame.row())[1]).collect();
            assert_eq!(rows, [x_m; 6]);
        }
    }

    /// The ending selects the format; formats that are not part of the build are refused with the feature to add.
    #[test]
    fn endings_select_the_format() {
        let format = |path: &str| TelemetryFormat::of_path(Path::new(path));
        assert_eq!([format("run.csv"), format("-"), format("run")], [const { Ok(TelemetryFormat::Csv) }; 3]);
        for (path, is_built, expected) in [
            ("a/run.PARQUET", cfg!(feature = "parquet"), TelemetryFormat::Parquet),
            ("run.mcap", cfg!(feature = "mcap"), TelemetryFormat::Mcap),
        ] {
            match format(path) {
                Ok(format) => assert!(is_built && format == expected, "{path}"),
                Err(accepts) => assert!(!is_built && accepts.contains("--features"), "{accepts}"),
            }
        }
    }
}
