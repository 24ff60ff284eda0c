//! HTML page around the plots.

use std::fmt::Write as _;
use std::io;

use skidpad_core::SolverInfo;

use super::assist_log::AssistLogs;
use super::charts::{Chart, draw_charts};
use super::escape::escape;
use super::plot::LINE_STYLE_COUNT;
use super::{Published, Report};
use crate::closed_form::{lints, lists};
use crate::compare::{Comparison, MetricRow, POSITION_NOISE_MM};
use crate::metrics::Metric;

/// Style sheet of all pages.
const PAGE_STYLE: &str = include_str!("style.css");

/// Spread above which a metric is marked (%).
const MARKED_SPREAD_PERCENT: f64 = 2.0;

/// Returns the page of a report: header, one section per manoeuvre, section on the vehicle, known limitations. The
/// title of the page names vehicle and manoeuvres.
///
/// # Errors
/// Returns an error if a plot cannot be drawn.
pub fn html(report: &Report<'_>) -> io::Result<String> {
    let manoeuvre_names: Vec<&str> = report.comparisons.iter().map(|comparison| comparison.manoeuvre).collect();
    let mut page = page_start(&format!("{}: {}", report.vehicle, manoeuvre_names.join(", ")));
    append_header(&mut page, report);
    for comparison in report.comparisons {
        append_section(&mut page, report, comparison)?;
    }
    append_vehicle_section(&mut page, report);
    append_limitations(&mut page, report);
    page.push_str(PAGE_END);
    Ok(page)
}

/// Returns the beginning of a page, up to its first content. Escapes `title`.
pub fn page_start(title: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>{}</title>\n<style>\n{PAGE_STYLE}</style>\n\
         </head>\n<body>\n<main>\n",
        escape(title)
    )
}

/// End of every page.
pub const PAGE_END: &str = "</main>\n</body>\n</html>\n";

/// Appends the header: name and description of the vehicle (the latter if there is one), number of solvers and step of
/// the first comparison (0 s without one), legend, links to the sections of the manoeuvres, the vehicle and the limits.
/// All external text is escaped.
fn append_header(page: &mut String, report: &Report<'_>) {
    put!(page, "<header>\n<h1>{}</h1>\n", escape(report.vehicle));
    if !report.description.is_empty() {
        put!(page, "<p>{}</p>\n", escape(report.description));
    }
    // Length of a step (s).
    let step_length = report.comparisons.first().map_or(0.0, |comparison| comparison.dt_s);
    put!(
        page,
        "<p>One vehicle description, simulated by {} solvers with a step length of {:.6} s ({:.1} Hz). The driver is the same \
         for every solver.</p>\n",
        report.backends.len(),
        step_length,
        1.0 / step_length.max(1e-9)
    );
    append_legend(page, report.backends, ", not counted in the spread");
    page.push_str("<nav aria-label=\"Sections\"><ul>\n");
    for comparison in report.comparisons {
        let name = escape(comparison.manoeuvre);
        put!(page, "<li><a href=\"#{name}\">{name}</a></li>\n");
    }
    page.push_str("<li><a href=\"#vehicle\">vehicle</a></li>\n<li><a href=\"#limits\">limits</a></li>\n</ul></nav>\n");
    page.push_str("</header>\n");
}

/// Appends the list of solvers with their line styles. `peer_remark` is the remark added to peers. Each entry has a
/// line sample, the name and the description. The remark is not escaped.
pub fn append_legend(page: &mut String, backends: &[SolverInfo], peer_remark: &str) {
    page.push_str("<dl class=\"legend\">\n");
    for (solver_number, info) in backends.iter().enumerate() {
        let remark = if info.comparison_only { peer_remark } else { "" };
        let (name, about) = (escape(info.name), escape(info.description));
        put!(page, "<div><dt>{} {name}</dt><dd>{about}{remark}</dd></div>\n", line_sample(solver_number));
    }
    page.push_str("</dl>\n");
}

/// Returns a sample of the line style of solver `solver_number` as SVG.
pub fn line_sample(solver_number: usize) -> String {
    let style_number = solver_number % LINE_STYLE_COUNT;
    format!(
        "<svg class=\"swatch\" viewBox=\"0 0 180 40\" aria-hidden=\"true\">\
         <path d=\"M0 20H180\" fill=\"none\" stroke-width=\"10\" class=\"line s{style_number}\"/></svg>"
    )
}

/// Appends the section of one manoeuvre: description, table of metrics, warnings (left the ground, course not
/// completed, numbers not finite, iterations not converged), table of assists, plots, and the titles of the plots
/// that are omitted.
///
/// # Errors
/// Returns an error if a plot cannot be drawn.
fn append_section(page: &mut String, report: &Report<'_>, comparison: &Comparison) -> io::Result<()> {
    let name = escape(comparison.manoeuvre);
    put!(page, "<section id=\"{name}\">\n<h2>{name}</h2>\n<p>{}</p>\n", escape(&comparison.about));
    append_comparison_table(page, comparison);
    // Warnings of each solver.
    for outcome in &comparison.outcomes {
        let worst_report = outcome.trajectory.worst_report();
        let off_scene_text = outcome.trajectory.off_scene().map(|off_scene| off_scene.text());
        for reason in
            off_scene_text.into_iter().chain(outcome.incomplete.map(|incomplete_course| incomplete_course.text()))
        {
            put!(page, "<p class=\"alarm\">{}: the car {reason}.</p>\n", escape(outcome.backend));
        }
        if worst_report.not_finite {
            put!(page, "<p class=\"alarm\">{}: a value was not finite.</p>\n", escape(outcome.backend));
        }
        if worst_report.not_converged {
            put!(
                page,
                "<p class=\"alarm\">{}: not every step converged; maximum {} iterations, maximum residual {:.1e} m/s.</p>\n",
                escape(outcome.backend),
                worst_report.iterations,
                worst_report.residual
            );
        }
    }
    // Table of assists; their plots follow those of the channels.
    let assist_logs = AssistLogs::new(comparison);
    assist_logs.append_table(page, comparison);
    let mut charts = draw_charts(comparison, report.model)?;
    charts.charts.extend(assist_logs.draw_charts(comparison)?);
    page.push_str("<div class=\"charts\">\n");
    for chart in &charts.charts {
        append_chart(page, chart, comparison.outcomes.iter().map(|outcome| outcome.backend));
    }
    page.push_str("</div>\n");
    if !charts.omitted.is_empty() {
        let omitted_titles = charts.omitted.join(", ").to_lowercase();
        put!(page, "<p class=\"note\">Plots without changes are omitted: {omitted_titles}.</p>\n");
    }
    page.push_str("</section>\n");
    Ok(())
}

/// Appends a plot with its heading and a key of its lines. `backends` lists the names of all solvers in order; a solver
/// has a key only if its line style occurs in the drawing or its line is outside the plot. The key of a solver whose
/// line leaves the plot has a remark. Line styles repeat after [`LINE_STYLE_COUNT`] solvers.
pub fn append_chart<'a>(page: &mut String, chart: &Chart, backends: impl Iterator<Item = &'a str>) {
    let class = if chart.is_full_width { " class=\"wide\"" } else { "" };
    put!(page, "<figure{class}>\n<figcaption>{} <span class=\"keys\">", escape(&chart.title));
    for (solver_number, backend) in backends.enumerate() {
        let is_drawn = chart.svg.contains(&format!("line s{}\"", solver_number % LINE_STYLE_COUNT));
        let remark = match (is_drawn, chart.clipped_solvers.contains(&solver_number)) {
            (true, false) => "",
            (true, true) => " (partly outside the plot)",
            (false, true) => " (outside the plot)",
            // A solver without a line has no key.
            (false, false) => continue,
        };
        put!(page, "<span>{} {}{remark}</span> ", line_sample(solver_number), escape(backend));
    }
    put!(page, "</span></figcaption>\n{}</figure>\n", chart.svg);
}

/// Appends the table of metrics with a column per solver and the spread, followed by a note that defines the spread.
/// Columns of peers have a class of their own; cells are those of [`append_comparison_row`].
fn append_comparison_table(page: &mut String, comparison: &Comparison) {
    page.push_str("<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">metric</th><th scope=\"col\">unit</th>");
    for outcome in &comparison.outcomes {
        let class = if outcome.peer { "number peer" } else { "number" };
        put!(page, "<th scope=\"col\" class=\"{class}\">{}</th>", escape(outcome.backend));
    }
    page.push_str("<th scope=\"col\" class=\"number\">spread</th></tr></thead>\n<tbody>\n");
    for row in comparison.rows() {
        append_comparison_row(page, comparison, &row);
    }
    // Note below the table.
    put!(
        page,
        "</tbody></table></div>\n<p class=\"note\">Spread: (largest − smallest) / |mean| of the solvers, without reference vehicles; for percentages the difference \
             in points; ▲ marks more than {MARKED_SPREAD_PERCENT} %. Lengths in mm that differ by at most {POSITION_NOISE_MM} mm and times that differ by less than half a step count \
                  as equal. A dash marks a missing value or a mean that rounds to zero.</p>\n"
    );
}

/// Appends one metric as a row of the table. A spread above [`MARKED_SPREAD_PERCENT`] is marked. The row has the label,
/// the unit, a text per solver and the spread. Hyphens become minus signs.
fn append_comparison_row(page: &mut String, comparison: &Comparison, row: &MetricRow) {
    let (label, unit) = (escape(&row.metric.label), escape(row.metric.unit));
    put!(page, "<tr><th scope=\"row\">{label}</th><td>{unit}</td>");
    for (outcome, text) in comparison.outcomes.iter().zip(&row.texts) {
        let class = if outcome.peer { "number peer" } else { "number" };
        put!(page, "<td class=\"{class}\">{}</td>", text.replace('-', "\u{2212}"));
    }
    let is_marked = row.spread.percent().is_some_and(|percent| percent > MARKED_SPREAD_PERCENT);
    let (class, mark) = if is_marked { ("number marked", "▲ ") } else { ("number", "") };
    put!(page, "<td class=\"{class}\">{mark}{}</td></tr>\n", escape(&row.spread.text()));
}

/// Appends the section on the vehicle: tables with the closed-form figures of each axle and of the car, the notes of
/// [`lints`] as warnings, and the published figures if there are any.
fn append_vehicle_section(page: &mut String, report: &Report<'_>) {
    let axle_metrics = lists::axles(report.model);
    page.push_str("<section id=\"vehicle\">\n<h2>vehicle</h2>\n<p>Quantities derived from the description, without simulation.</p>\n");
    let column_heads: Vec<String> = (1..=axle_metrics.len()).map(|axle_number| format!("axle {axle_number}")).collect();
    append_metric_table(page, "metric", &column_heads, &axle_metrics);
    append_metric_table(page, "vehicle", &["value".into()], &[lists::car(report.model)]);
    for lint in lints(report.model) {
        put!(page, "<p class=\"note\">Warning: {}.</p>\n", escape(&lint));
    }
    append_published_figures(page, report.published);
    page.push_str("</section>\n");
}

/// Appends a table with a row per metric and a column per list of `columns`. All lists must contain the same metrics;
/// labels and units are those of the first list. `title` is the heading of the labels, `column_heads` those of the
/// lists. Titles are not escaped.
fn append_metric_table(page: &mut String, title: &str, column_heads: &[String], columns: &[Vec<Metric>]) {
    put!(page, "<div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">{title}</th><th scope=\"col\">unit</th>");
    for column_head in column_heads {
        put!(page, "<th scope=\"col\" class=\"number\">{column_head}</th>");
    }
    page.push_str("</tr></thead>\n<tbody>\n");
    for row in 0..columns.first().map_or(0, Vec::len) {
        let metric = &columns[0][row];
        let (label, unit) = (escape(&metric.label), escape(metric.unit));
        put!(page, "<tr><th scope=\"row\">{label}</th><td>{unit}</td>");
        for metrics in columns {
            put!(page, "<td class=\"number\">{}</td>", metrics[row].text().replace('-', "\u{2212}"));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</tbody></table></div>\n");
}

/// Appends the table of published figures with their sources; nothing if there are none. Underscores in quantities
/// become spaces. All texts are escaped.
fn append_published_figures(page: &mut String, figures: &[Published]) {
    if figures.is_empty() {
        return;
    }
    page.push_str("<h3>Published data of the real car</h3>\n<div class=\"scroll\"><table>\n<thead><tr>");
    page.push_str(
        "<th scope=\"col\">quantity</th><th scope=\"col\">unit</th><th scope=\"col\" class=\"number\">value</th>",
    );
    page.push_str("<th scope=\"col\">source</th></tr></thead>\n<tbody>\n");
    for figure in figures {
        let (quantity, unit) = (escape(&figure.quantity.replace('_', " ")), escape(&figure.unit));
        let (value, source) = (figure.value, escape(&figure.source));
        put!(page, "<tr><th scope=\"row\">{quantity}</th><td>{unit}</td><td class=\"number\">{value}</td>");
        put!(page, "<td class=\"source\">{source}</td></tr>\n");
    }
    page.push_str("</tbody></table></div>\n");
}

/// Limitations that a reader must know to judge the results.
const KNOWN_LIMITATIONS: &[&str] = &[
    "All metrics are those of the model, not of the real car. Published data are shown for comparison; the model was not \
     fitted to them in this report.",
    "A wheel has one ground contact, found by a ray unless the description defines a rim. Toe and camber follow the \
     description; there is no kingpin offset and no compliance steer.",
    "Springs act along the vertical axis of the car. Lateral forces roll the body about the roll centres of the \
     description (default: at ground level). There is no anti-dive geometry.",
    "Tyre models: simple curves and TMeasy have no aligning torque; no model has temperature or wear.",
    "The closed forms under “vehicle” assume linear tyres, rigid wheels and small angles. Agreement is expected only \
     within these assumptions.",
    "All solvers are first-order accurate in the step length. Half the step length should give half the spread; a \
     spread that does not decrease indicates an error.",
    "Driver models read the telemetry once per step. Closed-loop control (speed, path) feeds the errors of a solver back.",
    "Reference vehicles solve different equations from the same description and need not agree with the solvers.",
];

/// Appends the section with [`KNOWN_LIMITATIONS`], the version and the sign conventions. The limitations are a list;
/// version, names of the manoeuvres and conventions are in a note below. The section has the id that the header links
/// to.
fn append_limitations(page: &mut String, report: &Report<'_>) {
    page.push_str("<section id=\"limits\">\n<h2>limits</h2>\n<ul>\n");
    for limitation in KNOWN_LIMITATIONS {
        put!(page, "<li>{}</li>\n", escape(limitation));
    }
    page.push_str("</ul>\n");
    let manoeuvre_names: Vec<&str> = report.comparisons.iter().map(|comparison| comparison.manoeuvre).collect();
    put!(
        page,
        "<p class=\"note\">skidpad {} · {} · axes and signs by ISO 8855: x forward, y left, z up; left turns, roll to the \
         right and pitch nose down are positive.</p>\n</section>\n",
        env!("CARGO_PKG_VERSION"),
        escape(&manoeuvre_names.join(", "))
    );
}

#[cfg(test)]
mod tests {
    use super::super::charts::draw_chart;
    use super::super::plot::{Plot, Series};
    use super::*;

    /// The key of a plot marks lines that leave the plot partly or completely, and names no solver without a line.
    #[test]
    fn the_key_marks_lines_that_leave_the_plot() {
        let line = |solver_number: usize, sets_range: bool, heights: [f64; 4]| Series {
            solver_number,
            sets_range,
            points: heights.into_iter().enumerate().map(|(i, y)| (i as f64, y)).collect(),
        };
        let plot = Plot {
            series: vec![
                line(0, true, [0.0, 1.0, 0.0, 1.0]),
                line(1, false, [0.5, 0.5, 9.0, 9.0]),
                line(2, false, [9.0, 9.0, 9.0, 9.0]),
                line(3, false, [0.5, 0.5, 0.5, 0.5]),
            ],
            ..Plot::default()
        };
        let mut page = String::new();
        append_chart(
            &mut page,
            &draw_chart("Pitch", &plot).expect("drawable"),
            ["leader", "partly", "fully", "inside", "absent"].into_iter(),
        );
        for key in ["leader</span>", "partly (partly outside the plot)<", "fully (outside the plot)<", "inside</span>"]
        {
            assert!(page.contains(key), "{key}\n{page}");
        }
        assert!(!page.contains("absent"), "{page}");
    }
}
