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
mod charts;
mod escape;
mod ground;
mod page;
mod plot;
mod rear_view;
mod step_size_report;

pub use rear_view::rear_view;
pub use step_size_report::StepSizeReport;

use std::io::{self, Write};
use std::path::Path;

use skidpad_core::{Model, SolverInfo};

use crate::compare::Comparison;
use crate::files::{WriteError, write_atomically};

/// Published figure of the real car.
#[derive(Clone, Debug, PartialEq)]
pub struct Published {
    /// Measured quantity.
    pub quantity: String,
    /// Value in `unit`.
    pub value: f64,
    /// Unit of the value.
    pub unit: String,
    /// Publication that states the value.
    pub source: String,
}

/// Content of a report.
#[derive(Clone, Copy, Debug)]
pub struct Report<'a> {
    /// Name of the vehicle, for people.
    pub vehicle: &'a str,
    /// Description of the vehicle.
    pub description: &'a str,
    /// Model of the vehicle.
    pub model: &'a Model,
    /// Published figures of the real car.
    pub published: &'a [Published],
    /// Solvers, in the order of the comparisons' results.
    pub backends: &'a [SolverInfo],
    /// Comparisons, one per manoeuvre.
    pub comparisons: &'a [Comparison],
}

impl Report<'_> {
    /// Returns the page as text.
    ///
    /// # Errors
    /// Returns an error if a plot cannot be drawn.
    pub fn html(&self) -> io::Result<String> {
        page::html(self)
    }

    /// Writes the page to `path`, completely or not at all.
    ///
    /// # Errors
    /// Returns an error if a plot cannot be drawn or the file cannot be written.
    pub fn save_html(&self, path: &Path) -> Result<(), WriteError> {
        write_atomically(path, |out| out.write_all(self.html()?.as_bytes()))
    }

    /// Writes every metric of every solver as rows `manoeuvre,metric,unit,backend,peer,value,spread_percent`. A
    /// metric without a value and a spread that is not expressed in % have empty cells. `peer` is 1 or 0; the
    /// spread is repeated in the rows of all solvers. Rows are ordered by manoeuvre, metric and solver. The writer is
    /// flushed at the end.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record(["manoeuvre", "metric", "unit", "backend", "peer", "value", "spread_percent"])?;
        // Adding 0.0 turns −0 into 0.
        let number_text = |value: Option<f64>| value.map_or_else(String::new, |number| (number + 0.0).to_string());
        for comparison in self.comparisons {
            for (i, row) in comparison.rows().iter().enumerate() {
                for outcome in &comparison.outcomes {
                    let (metric_name, unit) = (row.metric.name.as_str(), row.metric.unit);
                    let peer_text = if outcome.peer { "1" } else { "0" };
                    let value_text = number_text(outcome.metrics.get(i).and_then(|metric| metric.value));
                    let spread_text = number_text(row.spread.percent());
                    let cells = [
                        comparison.manoeuvre,
                        metric_name,
                        unit,
                        outcome.backend,
                        peer_text,
                        &value_text,
                        &spread_text,
                    ];
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
    use std::sync::Arc;

    use skidpad_core::{Assist, Contribution, DVec3, FixedBox, Scene, Vec3};

    use super::*;
    use crate::compare::compare;
    use crate::manoeuvre::{Overrides, Slalom};
    use crate::run::TimeStep;
    use crate::testing::{POINT_MASS, model, sampled};

    /// The page is complete, escapes the vehicle's name, has at least four drawings, contains no links, scripts or NaN,
    /// and is the same on each call. The CSV text has a row per metric and solver.
    #[test]
    fn a_report_is_whole_escaped_and_needs_nothing_from_outside() {
        let model = Arc::new(model());
        let backends = [POINT_MASS, SolverInfo { name: "second", comparison_only: true, ..POINT_MASS }];
        let dt = TimeStep::from_rate_hz(60.0).expect("valid");
        let comparison = compare(&backends, &model, &Slalom::default(), &Overrides::default(), dt, &|_| {});
        let report = Report {
            vehicle: "A <car> & \"more\"",
            description: "for tests",
            model: &model,
            published: &[],
            backends: &backends,
            comparisons: std::slice::from_ref(&comparison),
        };
        let html = report.html().expect("drawable");
        assert!(html.starts_with("<!doctype html>") && html.trim_end().ends_with("</html>"));
        assert!(html.contains("A &lt;car&gt; &amp; &quot;more&quot;"));
        assert!(html.matches("<svg").count() >= 4, "{}", html.matches("<svg").count());
        for outside in ["http://", "https://", "<script", "<link", "@import", "NaN", "inf\""] {
            let allowed = html.replace("http://www.w3.org/2000/svg", "");
            assert!(!allowed.contains(outside), "{outside}");
        }
        assert_eq!(html, report.html().expect("drawable"), "the same runs give the same bytes");
        let mut bytes = Vec::new();
        report.write_csv(&mut bytes).expect("a Vec takes everything");
        let text = String::from_utf8(bytes).expect("text");
        assert_eq!(text.lines().count(), 1 + 2 * comparison.rows().len());
    }

    /// The page of a run over a box contains the drawn ground, the floor, its colours and the height profile; the page
    /// of a run on a plane has none of them.
    #[test]
    fn ground_is_drawn_where_it_is_more_than_a_plane() {
        let model = Arc::new(model());
        let dt = TimeStep::from_rate_hz(60.0).expect("valid");
        let table = FixedBox::axis_aligned(DVec3::new(20.0, 0.0, 0.0), Vec3::new(4.0, 4.0, 0.5));
        let page = |boxes: Vec<FixedBox>| {
            let overrides = Overrides { scene: Some(Scene { boxes, ..Scene::flat() }), ..Overrides::default() };
            let comparison = compare(&[POINT_MASS], &model, &Slalom::default(), &overrides, dt, &|_| {});
            let comparisons = std::slice::from_ref(&comparison);
            let (vehicle, description) = ("", "");
            Report { vehicle, description, model: &model, published: &[], backends: &[POINT_MASS], comparisons }
                .html()
                .expect("drawable")
        };
        let (flat, with_table) = (page(Vec::new()), page(vec![table]));
        for of_ground in ["class=\"ground", "class=\"floor", "--low", "Height profile"] {
            assert!(with_table.contains(of_ground) && !flat.contains(of_ground), "{of_ground}");
        }
    }

    /// Assists are listed in the order of their columns, with dashes for solvers without them. The section is missing
    /// if no solver has an assist. An assist that did nothing is named below the table. Plots have their title, and
    /// names of solvers are escaped.
    #[test]
    fn what_assists_added_is_told_where_there_are_any() {
        let model = Arc::new(model());
        let backends = [POINT_MASS, SolverInfo { name: "<second>", ..POINT_MASS }];
        let dt = TimeStep::from_rate_hz(60.0).expect("valid");
        let mut comparison = compare(&backends, &model, &Slalom::default(), &Overrides::default(), dt, &|_| {});
        let page = |comparison: &Comparison| {
            let comparisons = std::slice::from_ref(comparison);
            let report = Report {
                vehicle: "",
                description: "",
                model: &model,
                published: &[],
                backends: &backends,
                comparisons,
            };
            report.html().expect("drawable")
        };
        assert!(!page(&comparison).contains("Contributions of assists"));
        let own = &mut comparison.outcomes[1].trajectory;
        let mut told = sampled(own.dt_s(), own.last().t_s, |t, frame| {
            let roll = if t > 2.0 { -2500.0 } else { 0.0 };
            let added = Contribution { moment: Vec3::new(roll, 0.0, 0.0), ..Contribution::default() };
            frame.assist_log = vec![(Assist::AntiLock, Contribution::default()), (Assist::RollInfluence, added)];
        });
        std::mem::swap(own, &mut told);
        let html = page(&comparison);
        for part in [
            "<h3>Contributions of assists and non-physical aids</h3>",
            "<tr><th scope=\"row\">roll influence: roll moment</th><td>N m</td><td class=\"number\">\u{2212}</td>",
            "<td class=\"number\">\u{2212}2500</td></tr>",
            "Without effect in this run: abs.",
            "Roll moment contributed by roll influence",
            "&lt;second&gt;</th>",
        ] {
            assert!(html.contains(part), "{part}\n{html}");
        }
        assert!(!html.contains("<second>"));
    }
}
