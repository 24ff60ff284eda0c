//! Reports: a self-contained HTML file for people, and a CSV file with the same metrics for programs.
//!
//! A report does not depend on the clock or the machine: identical runs produce identical bytes.

/// Appends formatted text to a string, which cannot fail.
macro_rules! put {
    ($page:expr, $($format:tt)*) => {{
        let write_result = write!($page, $($format)*);
        debug_assert!(write_result.is_ok());
    }};
}

mod assist_log;
mod change_tables;
mod computed_curves;
mod escape;
mod figure;
mod ground;
mod html_table;
mod log_deviation;
mod manifest;
mod page;
mod page_frame;
mod plot;
mod plots;
mod published;
mod replay;
mod runs;
mod step_size_report;
mod sweep_report;
mod table;
mod verdict;

pub use manifest::InputFile;
pub use step_size_report::StepSizeReport;
pub use sweep_report::SweepReport;

use std::io::{self, Write};
use std::path::Path;

use skidpad_core::{Model, SolverInfo};

use crate::change::MetricChange;
use crate::compare::Comparison;
use crate::files::{WriteError, write_atomically};
use crate::measured_log::MeasuredLog;
use crate::road_test::RoadTest;

/// Car of a report.
#[derive(Clone, Copy, Debug)]
pub struct ReportedCar<'a> {
    /// Short name that distinguishes the car from the other one of the report, such as `before`.
    pub label: &'a str,
    /// Name of the vehicle, for people.
    pub vehicle: &'a str,
    /// Description of the vehicle.
    pub description: &'a str,
    /// Model of the vehicle.
    pub model: &'a Model,
    /// Changed fields of the vehicle file, as `FIELD=VALUE`.
    pub changes: &'a [String],
    /// Name of the shipped vehicle; other names have no known reasons for deviations.
    pub shipped_name: &'a str,
    /// Comparisons, one per manoeuvre.
    pub comparisons: &'a [Comparison],
}

/// Content of a report.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// Car.
    pub car: ReportedCar<'a>,
    /// Car that `car` is compared with, driven in the same manoeuvres by the same solvers; `None` for one car.
    pub before: Option<ReportedCar<'a>>,
    /// Published figures of the real car; those that were driven are shown beside their simulated values.
    pub published: &'a RoadTest,
    /// Solvers, in the order of the comparisons' results.
    pub backends: &'a [SolverInfo],
    /// Files that the runs depend on.
    pub inputs: &'a [InputFile],
    /// Measured log that is laid over the plots; `None` without one.
    pub log: Option<&'a MeasuredLog>,
}

impl Report<'_> {
    /// Returns the page as text.
    pub fn html(&self) -> String {
        page::html(self)
    }

    /// Writes the page to `path`, completely or not at all.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save_html(&self, path: &Path) -> Result<(), WriteError> {
        write_atomically(path, |out| out.write_all(self.html().as_bytes()))
    }

    /// Iterates over the cars: the one to compare with first, if there is one.
    pub fn cars(&self) -> impl Iterator<Item = &ReportedCar<'_>> {
        self.before.iter().chain([&self.car])
    }

    /// Writes a row for each metric of each solver, with the columns
    /// `manoeuvre,metric,unit,backend,peer,value,spread_percent`. Rows are ordered by manoeuvre, metric and solver.
    /// `peer` is 1 or 0. The spread is repeated in the rows of all solvers. A metric without a value and a spread that
    /// is not expressed in % have empty cells.
    ///
    /// A report about two cars has the value of the car in `value`, followed by the columns `before` (value of the
    /// other car), `difference` and `difference_percent`. The writer is flushed at the end.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        let columns = ["manoeuvre", "metric", "unit", "backend", "peer", "value", "spread_percent"].into_iter();
        let change_columns = ["before", "difference", "difference_percent"].into_iter();
        writer.write_record(columns.chain(change_columns.filter(|_| self.before.is_some())))?;
        // Adding 0.0 turns −0 into 0.
        let number_text = |value: Option<f64>| value.map_or_else(String::new, |number| (number + 0.0).to_string());
        for (number, comparison) in self.car.comparisons.iter().enumerate() {
            for (i, row) in comparison.rows().iter().enumerate() {
                for (solver, outcome) in comparison.outcomes.iter().enumerate() {
                    let after = row.metric.with_value(outcome.metrics.get(i).and_then(|metric| metric.value));
                    let mut cells = vec![
                        comparison.manoeuvre.to_owned(),
                        row.metric.name.clone(),
                        row.metric.unit.to_owned(),
                        outcome.backend.to_owned(),
                        if outcome.peer { "1" } else { "0" }.to_owned(),
                        number_text(after.value),
                        number_text(row.spread.percent()),
                    ];
                    if let Some(car) = &self.before {
                        let metrics = car.comparisons.get(number).and_then(|other| other.outcomes.get(solver));
                        let metrics = metrics.map_or(&[][..], |outcome| &outcome.metrics);
                        let before = metrics.iter().find(|metric| metric.name == row.metric.name);
                        let before = before.cloned().unwrap_or_else(|| after.with_value(None));
                        let change = MetricChange { before, after };
                        let numbers = [change.before.value, change.difference(), change.percent()];
                        cells.extend(numbers.map(number_text));
                    }
                    writer.write_record(cells)?;
                }
            }
        }
        writer.flush()
    }

    /// Writes the CSV file `path`, completely or not at all.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save_csv(&self, path: &Path) -> Result<(), WriteError> {
        write_atomically(path, |out| self.write_csv(out))
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Arc;

    use skidpad_core::model::{Powertrain, Wheel};
    use skidpad_core::{Assist, Contribution, DVec3, FixedBox, Scene, Vec3};

    use super::*;
    use crate::compare::compare;
    use crate::manoeuvre::{Overrides, Slalom};
    use crate::run::TimeStep;
    use crate::testing::{POINT_MASS, model, sampled};

    /// Builds the page of the test car on `backends` without published figures and inputs.
    fn page(vehicle: &str, model: &Model, backends: &[SolverInfo], comparison: &Comparison) -> String {
        let comparisons = std::slice::from_ref(comparison);
        let description = "for tests";
        let car = ReportedCar { label: "", vehicle, description, model, changes: &[], shipped_name: "", comparisons };
        let published = &RoadTest::default();
        Report { car, before: None, published, backends, inputs: &[], log: None }.html()
    }

    /// Returns the data of a page.
    fn page_data(html: &str) -> serde_json::Value {
        let (_, after_start) = html.split_once("id=\"report-data\">").expect("data");
        let (data, _) = after_start.split_once("</script>").expect("an end");
        serde_json::from_str(data).expect("JSON")
    }

    /// The page is complete, escapes names of vehicle and solvers, refers to nothing outside, and is the same on each
    /// call. It has data for each figure. The CSV text has a row per metric and solver.
    #[test]
    fn a_report_is_whole_escaped_and_needs_nothing_from_outside() {
        let model = Arc::new(model());
        let backends = [POINT_MASS, SolverInfo { name: "</script><b>", comparison_only: true, ..POINT_MASS }];
        let dt = TimeStep::from_rate_hz(60.0).expect("valid");
        let comparison =
            compare(&backends, &model, &Slalom::default(), &Overrides::default(), dt, &|_| ControlFlow::Continue(()));
        let html = page("A <car> & \"more\"", &model, &backends, &comparison);
        assert!(html.starts_with("<!doctype html>") && html.trim_end().ends_with("</html>"));
        assert!(html.contains("A &lt;car&gt; &amp; &quot;more&quot;") && !html.contains("</script><b>"));
        for outside in ["src=", "href=\"http", "<link", "@import", "url(", "fetch(", "XMLHttpRequest", "import("] {
            assert!(!html.contains(outside), "{outside}");
        }
        let data = page_data(&html);
        let plots = data["sections"][0]["plots"].as_array().expect("plots").len();
        assert!(plots >= 4 && html.matches("<figure").count() == plots, "{plots}");
        assert_eq!(data["sections"][0]["plots"][0]["kind"], "map");
        assert_eq!(data["sections"][0]["solvers"][1]["name"], "</script><b>");
        assert_eq!(html, page("A <car> & \"more\"", &model, &backends, &comparison), "the same runs, other bytes");
        let mut bytes = Vec::new();
        let comparisons = std::slice::from_ref(&comparison);
        let car = ReportedCar {
            label: "",
            vehicle: "",
            description: "",
            model: &model,
            changes: &[],
            shipped_name: "",
            comparisons,
        };
        let published = &RoadTest::default();
        let report = Report { car, before: None, published, backends: &backends, inputs: &[], log: None };
        report.write_csv(&mut bytes).expect("a Vec takes everything");
        let text = String::from_utf8(bytes).expect("text");
        assert_eq!(text.lines().count(), 1 + 2 * comparison.rows().len());
    }

    /// The page of a run over a box has a picture of the ground and a height profile; the page of a run on a plane has
    /// neither.
    #[test]
    fn ground_is_drawn_where_it_is_more_than_a_plane() {
        let model = Arc::new(model());
        let dt = TimeStep::from_rate_hz(60.0).expect("valid");
        let table = FixedBox::axis_aligned(DVec3::new(20.0, 0.0, 0.0), Vec3::new(4.0, 4.0, 0.5));
        let has_ground = |boxes: Vec<FixedBox>| {
            let overrides = Overrides { scene: Some(Scene { boxes, ..Scene::flat() }), ..Overrides::default() };
            let comparison =
                compare(&[POINT_MASS], &model, &Slalom::default(), &overrides, dt, &|_| ControlFlow::Continue(()));
            let html = page("", &model, &[POINT_MASS], &comparison);
            [page_data(&html)["sections"][0]["ground"].is_object(), html.contains("Height profile")]
        };
        assert_eq!([has_ground(Vec::new()), has_ground(vec![table])], [[false; 2], [true; 2]]);
    }

    /// A page about two cars has a line for each car and solver, and a table with the differences of all metrics. A car
    /// with more wheels is compared in what both have. The CSV text has the differences.
    #[test]
    fn two_cars_share_plots_and_have_differences() {
        let model = Arc::new(model());
        let mut parts = model.parts().clone();
        let further_back =
            |wheel: &Wheel| Wheel { axle: 2, contact: wheel.contact - Vec3::new(1.0, 0.0, 0.0), ..*wheel };
        parts.mass = 1200.0;
        parts.axles.push(parts.axles[1]);
        let rear_wheels: Vec<_> = parts.wheels[2..].iter().map(further_back).collect();
        parts.wheels.extend(rear_wheels);
        parts.powertrain = Powertrain::Direct(vec![0.0; 6].into());
        let longer = Arc::new(Model::new(parts).expect("valid"));
        let dt = TimeStep::from_rate_hz(60.0).expect("valid");
        let drive = |model| {
            [compare(&[POINT_MASS], model, &Slalom::default(), &Overrides::default(), dt, &|_| {
                ControlFlow::Continue(())
            })]
        };
        let (first, second) = (drive(&model), drive(&longer));
        let car = |label, model, comparisons| ReportedCar {
            label,
            vehicle: "A car",
            description: "",
            model,
            changes: &[],
            shipped_name: "",
            comparisons,
        };
        let (before, car) = (Some(car("old", &model, &first)), car("new", &longer, &second));
        let published = &RoadTest::default();
        let report = Report { car, before, published, backends: &[POINT_MASS], inputs: &[], log: None };
        let html = report.html();
        let data = page_data(&html);
        let names: Vec<&str> =
            (0..2).filter_map(|number| data["sections"][0]["solvers"][number]["name"].as_str()).collect();
        assert_eq!(names, ["old, point-mass", "new, point-mass"]);
        assert_eq!(data["sections"][0]["replay"]["cars"][1]["wheels"].as_array().map(Vec::len), Some(6));
        let cell = "data-heading=\"difference, %\">+20.00 %</td>";
        assert!(html.contains("data-heading=\"new\">1200") && html.contains(cell), "{html:.20000}");
        let mut bytes = Vec::new();
        report.write_csv(&mut bytes).expect("a Vec takes everything");
        let text = String::from_utf8(bytes).expect("text");
        assert!(
            text.starts_with("manoeuvre,metric,unit,backend,peer,value,spread_percent,before,difference,"),
            "{text}"
        );
    }

    /// Solvers with equal runs are drawn once, and their key states the difference. A plot without changes is named
    /// instead of drawn.
    #[test]
    fn equal_solvers_share_a_curve_and_no_plot_is_empty() {
        let model = Arc::new(model());
        let backends = [POINT_MASS, SolverInfo { name: "second", ..POINT_MASS }];
        let dt = TimeStep::from_rate_hz(60.0).expect("valid");
        let comparison =
            compare(&backends, &model, &Slalom::default(), &Overrides::default(), dt, &|_| ControlFlow::Continue(()));
        let html = page("", &model, &backends, &comparison);
        let data = page_data(&html);
        for plot in data["sections"][0]["plots"].as_array().expect("plots") {
            let curves = plot["curves"].as_array().expect("curves");
            assert!(curves.iter().all(|curve| curve["members"].as_array().map(Vec::len) == Some(2)), "{plot}");
        }
        assert!(html.contains("point-mass = second (equal)"));
        // The point mass does not roll, and the second car is where the first is.
        let note = html.split("Plots without changes are omitted: ").nth(1).expect("a note");
        assert!(
            note.contains("roll, right side down, pitch, nose down, height")
                && note.contains("distance from the car of point-mass"),
            "{note:.300}"
        );
        assert!(html.contains("✓ pass"));
    }

    /// Assists are listed in the order of their columns, with dashes for solvers without them. The section is missing
    /// if no solver has an assist. An assist that did nothing is named below the table. Plots have their title, and
    /// names of solvers are escaped.
    #[test]
    fn what_assists_added_is_told_where_there_are_any() {
        let model = Arc::new(model());
        let backends = [POINT_MASS, SolverInfo { name: "<second>", ..POINT_MASS }];
        let dt = TimeStep::from_rate_hz(60.0).expect("valid");
        let mut comparison =
            compare(&backends, &model, &Slalom::default(), &Overrides::default(), dt, &|_| ControlFlow::Continue(()));
        assert!(!page("", &model, &backends, &comparison).contains("Contributions of assists"));
        let own = &mut comparison.outcomes[1].trajectory;
        let mut told = sampled(own.dt_s(), own.last().t_s, |t, frame| {
            let roll = if t > 2.0 { -2500.0 } else { 0.0 };
            let added = Contribution { moment: Vec3::new(roll, 0.0, 0.0), ..Contribution::default() };
            frame.assist_log = vec![(Assist::AntiLock, Contribution::default()), (Assist::RollInfluence, added)];
        });
        std::mem::swap(own, &mut told);
        let html = page("", &model, &backends, &comparison);
        for part in [
            "<h3>Contributions of assists and non-physical aids</h3>",
            "<tr><th scope=\"row\">roll influence: roll moment</th><td class=\"\" data-heading=\"unit\">N m</td>\
             <td class=\"number\" data-heading=\"point-mass, mean\">\u{2212}</td>",
            "<td class=\"number\" data-heading=\"&lt;second&gt;, largest\">\u{2212}2500</td></tr>",
            "Without effect in this run: abs.",
            "Roll moment contributed by roll influence",
            "&lt;second&gt;, mean</th>",
        ] {
            assert!(html.contains(part), "{part}\n{html:.20000}");
        }
        assert!(!html.contains("<second>"));
    }
}
