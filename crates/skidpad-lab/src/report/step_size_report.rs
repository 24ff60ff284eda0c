//! Report of step-size studies (certificates): the longest accurate step of every metric, and its value over the step.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::Path;

use serde_json::Value;
use skidpad_core::SolverInfo;

use super::escape::escape;
use super::figure::{Course, Figures, PlottedSource};
use super::html_table::{Cell, Column, HtmlTable};
use super::page::append_legend;
use super::page_frame::{page_end, page_start};
use super::plot::{Axis, Curve, Kind, Plot};
use super::table::PlotTable;
use crate::compare::POSITION_NOISE_MM;
use crate::files::{WriteError, write_atomically};
use crate::metrics::Metric;
use crate::order::Order;
use crate::rate_runs::SolverRuns;
use crate::step_size_study::{SolverSummary, StepLimit, StepSizeStudy, StudyRow};

/// Content of a report of step-size studies.
#[derive(Clone, Copy, Debug)]
pub struct StepSizeReport<'a> {
    /// Name of the vehicle, for people.
    pub vehicle: &'a str,
    /// Solvers, in the order of the results of the studies.
    pub backends: &'a [SolverInfo],
    /// Studies, one per manoeuvre.
    pub studies: &'a [StepSizeStudy],
}

/// Share of the accepted deviation that a metric must reach at some step to be drawn (–).
const MIN_DRAWN_DEVIATION: f64 = 0.1;

impl StepSizeReport<'_> {
    /// Returns the page as text: a title with the names of vehicle and manoeuvres, the header, and a section per
    /// manoeuvre.
    pub fn html(&self) -> String {
        let manoeuvre_names: Vec<&str> = self.studies.iter().map(|study| study.rate_runs.manoeuvre).collect();
        let mut page = page_start(&format!("{}: steps, {}", self.vehicle, manoeuvre_names.join(", ")));
        self.append_header(&mut page);
        let mut sections = Vec::new();
        for study in self.studies {
            sections.push(append_section(&mut page, study, sections.len()));
        }
        page.push_str(&page_end(sections));
        page
    }

    /// Writes the page to `path`, completely or not at all.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save_html(&self, path: &Path) -> Result<(), WriteError> {
        write_atomically(path, |out| out.write_all(self.html().as_bytes()))
    }

    /// Writes every metric of every solver and step as rows
    /// `manoeuvre,metric,unit,backend,peer,dt_s,value,gap_percent,holds_up_to_s,order`.
    ///
    /// `gap_percent` is the deviation from the value at the shortest step. It is empty if the values count as equal
    /// or one is missing. `holds_up_to_s` is empty if [`StepLimit`] is unknown, and 0 if only the shortest step keeps
    /// the metric. `order` is empty if none can be observed. A missing value is an empty cell, `peer` is 1 or 0. Rows
    /// are ordered by manoeuvre, metric, solver and step; step limit and order are repeated in the rows of all steps.
    /// The writer is flushed at the end.
    ///
    /// # Errors
    /// Returns the errors of `out`.
    pub fn write_csv(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        writer.write_record([
            "manoeuvre",
            "metric",
            "unit",
            "backend",
            "peer",
            "dt_s",
            "value",
            "gap_percent",
            "holds_up_to_s",
            "order",
        ])?;
        // Adding 0.0 turns −0 into 0.
        let number_text = |value: Option<f64>| value.map_or_else(String::new, |value| (value + 0.0).to_string());
        for study in self.studies {
            for row in &study.rows {
                for (solver_runs, verdict) in study.rate_runs.solvers.iter().zip(&row.verdicts) {
                    let peer_text = if solver_runs.peer { "1" } else { "0" };
                    let (metric_name, unit, step_limit_text) =
                        (&row.metric.name, row.metric.unit, number_text(verdict.step_limit.seconds()));
                    let order_text = match verdict.order {
                        Order::Observed(order) => order.to_string(),
                        Order::Unknown | Order::WithinNoise => String::new(),
                    };
                    for ((sample, value), deviation) in
                        solver_runs.samples.iter().zip(&verdict.values).zip(&verdict.deviations)
                    {
                        let deviation_text = number_text(deviation.and_then(|deviation| deviation.percent()));
                        let (dt_text, value_text) = (sample.dt_s.to_string(), number_text(*value));
                        let manoeuvre = study.rate_runs.manoeuvre;
                        writer.write_record([
                            manoeuvre,
                            metric_name,
                            unit,
                            solver_runs.backend,
                            peer_text,
                            &dt_text,
                            &value_text,
                            &deviation_text,
                            &step_limit_text,
                            &order_text,
                        ])?;
                    }
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

    /// Appends the header of the page: title, the range of steps and the accepted deviation of the first study, the
    /// legend of the solvers, the table of [`Self::append_totals`], and links to the sections. Without studies the
    /// steps are shown as 1 s and the deviation as 0.
    fn append_header(&self, page: &mut String) {
        put!(page, "<header>\n<h1>{}: step-size study</h1>\n", escape(self.vehicle));
        let step_lengths = self.studies.first().map_or(&[][..], |study| &study.rate_runs.steps_s);
        let (longest, shortest) =
            (step_lengths.first().copied().unwrap_or(1.0), step_lengths.last().copied().unwrap_or(1.0));
        let percent = self.studies.first().map_or(0.0, |study| study.within_percent);
        put!(
            page,
            "<p>One vehicle description, simulated by {} solvers with step lengths of {:.2} to {:.2} ms ({:.0} to {:.0} Hz). \
             A step length is accepted for a metric if this and every shorter step keep the metric within {percent} % of \
             the value that the same solver has at the shortest step.</p>\n",
            self.backends.len(),
            longest * 1e3,
            shortest * 1e3,
            1.0 / longest,
            1.0 / shortest
        );
        // No remark on peers.
        append_legend(page, self.backends, "");
        self.append_totals(page);
        page.push_str("<nav aria-label=\"Sections\"><ul>\n");
        for study in self.studies {
            let name = escape(study.rate_runs.manoeuvre);
            put!(page, "<li><a href=\"#{name}\">{name}</a></li>\n");
        }
        page.push_str("</ul></nav>\n</header>\n");
    }

    /// Appends a table with a row per manoeuvre and solver: longest step that keeps all metrics within the accepted
    /// deviation (ms), its rate (Hz), and the metrics that limit it. An unknown limit is shown as a minus sign, a limit
    /// at the shortest step as "none".
    fn append_totals(&self, page: &mut String) {
        let limited_by = Column { heading: "limited by".into(), class: "source" };
        let [longest, rate] = ["longest step", "rate"].map(Column::number);
        let [manoeuvre, solver] = ["manoeuvre", "solver"].map(Column::text);
        let mut table = HtmlTable::new(vec![manoeuvre, solver, longest, rate, limited_by]);
        for study in self.studies {
            for summary in study.solver_summaries() {
                table.add_row([
                    study.rate_runs.manoeuvre.into(),
                    summary.backend.into(),
                    summary.step_limit.text().into(),
                    rate_text(&summary).into(),
                    summary.limiting_metrics.join(", ").into(),
                ]);
            }
        }
        page.push_str(&table.html());
    }
}

/// Returns the rate of the step limit (Hz) as text; a hyphen if it is unknown or no step but the shortest holds.
fn rate_text(summary: &SolverSummary) -> String {
    summary.step_limit.seconds().filter(|dt| *dt > 0.0).map_or_else(|| "-".into(), |dt| format!("{:.0} Hz", 1.0 / dt))
}

/// Appends the section of one manoeuvre, and returns its data as section number `number` of the page. The order is:
/// description, table of step limits, warnings, plots of the metrics that depend on the step, names of the metrics that
/// are not drawn, table of all values. A solver has a warning for each step length at which a value was not finite or,
/// otherwise, at which the solver did not converge.
fn append_section(page: &mut String, study: &StepSizeStudy, number: usize) -> Value {
    let (name, about) = (escape(study.rate_runs.manoeuvre), escape(&study.rate_runs.about));
    put!(page, "<section id=\"{name}\">\n<h2>{name}</h2>\n<p>{about}</p>\n");
    append_step_limits(page, study);
    // Warnings of solvers.
    for solver_runs in &study.rate_runs.solvers {
        for sample in solver_runs
            .samples
            .iter()
            .filter(|sample| sample.worst_report.not_finite || sample.worst_report.not_converged)
        {
            let event =
                if sample.worst_report.not_finite { "had a value that was not finite" } else { "did not converge" };
            let (backend, dt) = (escape(solver_runs.backend), sample.dt_s * 1e3);
            put!(page, "<p class=\"alarm\">{backend} {event} at a step length of {dt:.2} ms.</p>\n");
        }
    }
    // Labels of the metrics that are not drawn.
    let mut undrawn_labels = Vec::new();
    let solvers = study.rate_runs.solvers.iter().map(|solver_runs| (solver_runs.backend, solver_runs.peer));
    let solvers = PlottedSource::solvers(solvers);
    // Step lengths (ms), in ascending order.
    let mut steps: Vec<(f64, usize)> =
        study.rate_runs.steps_s.iter().enumerate().map(|(i, dt)| (dt * 1e3, i)).collect();
    steps.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut table = PlotTable::new(steps.iter().map(|(step, _)| *step).collect());
    let sample_order: Vec<usize> = steps.into_iter().map(|(_, index)| index).collect();
    let mut figures = Figures::new(number, &solvers);
    page.push_str("<div class=\"charts\">\n");
    for row in &study.rows {
        match metric_plot(study, row, &mut table, &sample_order) {
            Some(plot) => figures.append(page, &table, &plot),
            None => undrawn_labels.push(row.metric.label.to_lowercase()),
        }
    }
    page.push_str("</div>\n");
    if !undrawn_labels.is_empty() {
        let min_percent = MIN_DRAWN_DEVIATION * study.within_percent;
        let undrawn_labels = escape(&undrawn_labels.join(", "));
        put!(
            page,
            "<p class=\"note\">Plots are omitted for metrics that change by less than {min_percent} % on every solver (reference vehicles not counted): {undrawn_labels}.</p>\n"
        );
    }
    append_values(page, study);
    page.push_str("</section>\n");
    figures.into_json(&table, Value::Null, Course::default())
}

/// Appends a table with a row per metric: label, unit, value of the first solver at the shortest step, then a column
/// per solver with the longest step that keeps the metric within the accepted deviation. A cell is marked if only the
/// shortest step keeps the metric. Cells of peers are less prominent. A note below explains the table.
fn append_step_limits(page: &mut String, study: &StepSizeStudy) {
    let solver_columns =
        study.rate_runs.solvers.iter().map(|solver_runs| Column::solver(solver_runs.backend, solver_runs.peer));
    let first_columns = [Column::text("longest accepted step"), Column::text("unit"), Column::number("value")];
    let mut table = HtmlTable::new(first_columns.into_iter().chain(solver_columns).collect());
    for row in &study.rows {
        let limits = row.verdicts.iter().map(|verdict| match verdict.step_limit {
            StepLimit::FinestOnly => Cell::marked(verdict.step_limit.text()),
            step_limit => step_limit.text().into(),
        });
        let label: [Cell; 3] = [row.metric.label.as_str().into(), row.metric.unit.into(), row.metric.text().into()];
        table.add_row(label.into_iter().chain(limits));
    }
    page.push_str(&table.html());
    put!(
        page,
        "<p class=\"note\">Value: {} at the shortest step. Percentages are compared in points; lengths \
         in mm that differ by at most {POSITION_NOISE_MM} mm and times that differ by less than half a step count as equal. “None”: \
         only the shortest step keeps the metric. Horizontal lines in plots mark a deviation of {} %. A dash marks a missing value or zero.</p>\n",
        escape(study.rate_runs.solvers.first().map_or("", |solver_runs| solver_runs.backend)),
        study.within_percent
    );
}

/// Builds the plot of a metric over the step length (ms), with a curve per solver. Horizontal lines mark the accepted
/// deviation from the first known value at the shortest step. `sample_order` contains the index of the sample of each
/// row of `table`, to which the columns are added. Steps without a value have no point.
///
/// Returns `None` if no step changes the metric by at least [`MIN_DRAWN_DEVIATION`] of the accepted deviation. Peers
/// count for this, and set the range of the axis, only if all solvers are peers.
fn metric_plot(study: &StepSizeStudy, row: &StudyRow, table: &mut PlotTable, sample_order: &[usize]) -> Option<Plot> {
    let solvers = &study.rate_runs.solvers;
    // Whether a solver counts: not a peer, unless there are only peers.
    let is_leading = |solver_runs: &SolverRuns| !solver_runs.peer || solvers.iter().all(|other| other.peer);
    let leading_deviations = row
        .verdicts
        .iter()
        .zip(solvers)
        .filter(|(_, solver_runs)| is_leading(solver_runs))
        .flat_map(|(verdict, _)| &verdict.deviations);
    let deviation_percents =
        leading_deviations.filter_map(|deviation| deviation.and_then(|deviation| deviation.percent()));
    if deviation_percents.fold(0.0, f64::max) < MIN_DRAWN_DEVIATION * study.within_percent {
        return None;
    }
    let label = row.metric.label.as_str();
    let axes = [Axis::new("step", "ms", 0.0), Axis::new(&label.to_lowercase(), row.metric.unit, 0.0)];
    let mut plot = Plot::new(label, Kind::Time, axes);
    plot.has_markers = true;
    for (solver, (verdict, solver_runs)) in row.verdicts.iter().zip(solvers).enumerate() {
        let values = sample_order.iter().map(|&sample| verdict.values[sample].unwrap_or(f64::NAN)).collect();
        let column = table.add(values, 0.0, None);
        let sets_range = is_leading(solver_runs);
        let part = String::new();
        plot.curves.push(Curve { source: solver, part, sets_range, is_separate: false, columns: [0, column] });
    }
    let reference = row.verdicts.iter().find_map(|verdict| verdict.reference);
    plot.levels = reference.map(|value| tolerance_band(&row.metric, value, study.within_percent)).unwrap_or_default();
    Some(plot)
}

/// Returns the limits of the range within `percent` of `reference`; percentage points for a metric in %.
fn tolerance_band(metric: &Metric, reference: f64, percent: f64) -> Vec<f64> {
    let half_width = if metric.unit == "%" { percent } else { reference.abs() * percent / 100.0 };
    vec![reference - half_width, reference + half_width]
}

/// Appends a collapsed table with a row per metric and solver: the value at each step and the order of convergence.
/// Every row repeats label and unit, then names the solver. Missing values are shown as a minus sign.
fn append_values(page: &mut String, study: &StepSizeStudy) {
    page.push_str("<details>\n<summary>Every value</summary>\n");
    let step_columns = study.rate_runs.steps_s.iter().map(|dt| Column::number(&format!("{:.2} ms", dt * 1e3)));
    let columns = ["metric", "unit", "solver"].map(Column::text).into_iter().chain(step_columns);
    let mut table = HtmlTable::new(columns.chain([Column::number("order")]).collect());
    for row in &study.rows {
        for (solver_runs, verdict) in study.rate_runs.solvers.iter().zip(&row.verdicts) {
            let label: [Cell; 3] =
                [row.metric.label.as_str().into(), row.metric.unit.into(), solver_runs.backend.into()];
            let values = verdict.values.iter().map(|value| Cell::from(row.metric.with_value(*value).text()));
            table.add_row(label.into_iter().chain(values).chain([verdict.order.text().into()]));
        }
    }
    page.push_str(&table.html());
    page.push_str("</details>\n");
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::Arc;

    use super::*;
    use crate::manoeuvre::{Braking, Overrides};
    use crate::rate_runs::run_rates;
    use crate::run::TimeStep;
    use crate::testing::{POINT_MASS, model};

    /// The page is complete, escapes the vehicle's name, has the levels of the accepted deviation, refers to nothing
    /// outside, and is the same on each call. The CSV text has a row per metric, solver and step.
    #[test]
    fn a_report_is_whole_and_has_a_row_for_every_value() {
        let backends = [POINT_MASS, SolverInfo { name: "second", comparison_only: true, ..POINT_MASS }];
        let steps = [30.0, 60.0, 240.0].map(|hz| TimeStep::from_rate_hz(hz).expect("valid"));
        let rate_runs =
            run_rates(&backends, &Arc::new(model()), &Braking::default(), &Overrides::default(), &steps, &|_| {
                ControlFlow::Continue(())
            });
        let certificate = StepSizeStudy::new(rate_runs, 2.0);
        let certificates = std::slice::from_ref(&certificate);
        let report = StepSizeReport { vehicle: "A <car>", backends: &backends, studies: certificates };
        let html = report.html();
        assert!(html.starts_with("<!doctype html>") && html.trim_end().ends_with("</html>"));
        assert!(html.contains("A &lt;car&gt;") && html.contains("\"markers\":true") && html.contains("\"levels\":["));
        for outside in ["src=", "href=\"http", "<link", "@import"] {
            assert!(!html.contains(outside), "{outside}");
        }
        assert_eq!(html, report.html(), "the same runs give the same bytes");
        let mut bytes = Vec::new();
        report.write_csv(&mut bytes).expect("a Vec takes everything");
        let text = String::from_utf8(bytes).expect("text");
        assert_eq!(text.lines().count(), 1 + 2 * 3 * certificate.rows.len());
    }
}
