//! HTML page of a comparison: summary, a section for each manoeuvre, the vehicle, limitations, and the manifest.

use std::fmt::Write as _;

use serde_json::Value;
use skidpad_core::SolverInfo;

use super::assist_log::AssistLogs;
use super::change_tables::{append_changes, append_vehicle_changes};
use super::computed_curves::append_computed_curves;
use super::escape::escape;
use super::figure::{Course, Figures, Line};
use super::ground;
use super::html_table::{Cell, Column, HtmlTable};
use super::log_deviation::append_deviations;
use super::manifest::append_manifest;
use super::page_frame::{page_end, page_start};
use super::plots::{build_plots, driven_area};
use super::published::{append_driven_figures, append_other_figures};
use super::replay::replay;
use super::runs::{CarRuns, LOG_NAME, SectionRuns};
use super::verdict::{Judgement, marked_text};
use super::{Report, ReportedCar};
use crate::agreement::{AGREEMENT_RATE_HZ, MAX_LIMIT_SPREAD_PERCENT, MAX_SPREAD_PERCENT};
use crate::closed_form::{lints, lists};
use crate::compare::{Comparison, POSITION_NOISE_MM};
use crate::friction::GRIP_LIMIT_UTILISATION;
use crate::metrics::Metric;
use crate::verdict::Verdict;

/// Judgements of a car, one for each manoeuvre.
type Judgements = Vec<Judgement>;

/// Returns the page of a report: header with summary, a section per manoeuvre, sections on the vehicle and the known
/// limitations, manifest, and the data and scripts of the plots. The title of the page names vehicles and manoeuvres.
pub fn html(report: &Report<'_>) -> String {
    let manoeuvre_names: Vec<&str> = report.car.comparisons.iter().map(|comparison| comparison.manoeuvre).collect();
    let mut page = page_start(&format!("{}: {}", title(report), manoeuvre_names.join(", ")));
    let judge = |car: &ReportedCar<'_>| -> Judgements {
        let comparisons = car.comparisons.iter();
        comparisons.map(|comparison| Judgement::new(comparison, car.model, car.shipped_name)).collect()
    };
    let judgements: Vec<Judgements> = report.cars().map(judge).collect();
    append_header(&mut page, report, &judgements);
    let mut sections: Vec<Value> = Vec::new();
    for number in 0..report.car.comparisons.len() {
        append_section(&mut page, report, number, &judgements, &mut sections);
    }
    append_vehicle_section(&mut page, report);
    append_limitations(&mut page);
    append_manifest(&mut page, report);
    page.push_str(&page_end(sections));
    page
}

/// Returns the heading of a report: the name of the vehicle, or of both vehicles if they differ. A report about a
/// change of one vehicle is called `before and after a change`.
fn title(report: &Report<'_>) -> String {
    match &report.before {
        None => report.car.vehicle.to_owned(),
        Some(before) if before.vehicle == report.car.vehicle => {
            format!("{}, before and after a change", before.vehicle)
        }
        Some(before) => format!("{} compared with {}", report.car.vehicle, before.vehicle),
    }
}

/// Returns ` (label)` for a car of a report about two cars; an empty text for one car.
fn label_text(report: &Report<'_>, car: &ReportedCar<'_>) -> String {
    if report.before.is_some() { format!(" ({})", car.label) } else { String::new() }
}

/// Appends the header: names and descriptions of the vehicles, changed fields, summary, published figures that were
/// driven, legend, and links to the sections. Parts without content are left out. All external text is escaped.
fn append_header(page: &mut String, report: &Report<'_>, judgements: &[Judgements]) {
    put!(page, "<header>\n<h1>{}</h1>\n", escape(&title(report)));
    append_paragraph_per_car(page, report, |car| car.description.to_owned());
    append_paragraph_per_car(page, report, |car| match car.changes {
        [] => String::new(),
        changes => format!("Changed fields: {}", changes.join(", ")),
    });
    append_summary(page, report, judgements);
    append_driven_figures(page, report.published);
    page.push_str("<dl class=\"legend\">\n");
    append_source_keys(page, report);
    page.push_str("</dl>\n");
    page.push_str("</header>\n<nav aria-label=\"Sections\"><ul>\n");
    for comparison in report.car.comparisons {
        let name = escape(comparison.manoeuvre);
        put!(page, "<li><a href=\"#{name}\">{name}</a></li>\n");
    }
    for (id, name) in [("vehicle", "vehicle"), ("limits", "limits"), ("manifest", "run manifest")] {
        put!(page, "<li><a href=\"#{id}\">{name}</a></li>\n");
    }
    page.push_str("</ul></nav>\n");
}

/// Appends a paragraph with the `text` of each car, behind the label of the car. If the texts of all cars are equal,
/// appends one paragraph without a label. An empty text has no paragraph.
fn append_paragraph_per_car(page: &mut String, report: &Report<'_>, text: impl Fn(&ReportedCar<'_>) -> String) {
    let texts: Vec<(String, &ReportedCar<'_>)> = report.cars().map(|car| (text(car), car)).collect();
    let are_equal = texts.windows(2).all(|pair| pair[0].0 == pair[1].0);
    let count = if are_equal { 1 } else { texts.len() };
    for (text, car) in texts.iter().take(count).filter(|(text, _)| !text.is_empty()) {
        let label = if are_equal { String::new() } else { format!("{}: ", escape(car.label)) };
        put!(page, "<p>{label}{}</p>\n", escape(text));
    }
}

/// Appends the summary: a row for each manoeuvre and car with the verdict, the largest spread and its metric, the
/// accepted spread, the use of friction and the number of warnings. A note states the rule of the verdict.
fn append_summary(page: &mut String, report: &Report<'_>, judgements: &[Judgements]) {
    let columns = ["manoeuvre", "solvers agree", "largest spread", "metric with the largest spread", "accepted"];
    let numbers = ["largest use of friction", "warnings"];
    let columns = columns.map(Column::text).into_iter().chain(numbers.map(Column::number));
    let mut table = HtmlTable::new(columns.collect());
    for (number, comparison) in report.car.comparisons.iter().enumerate() {
        for (car, judgements) in report.cars().zip(judgements) {
            let name = format!("{}{}", comparison.manoeuvre, label_text(report, car));
            add_summary_row(&mut table, name, &judgements[number]);
        }
    }
    page.push_str("<h2 id=\"summary\">summary</h2>\n");
    page.push_str(&table.html());
    // Length of a step (s).
    let step_length = report.car.comparisons.first().map_or(0.0, |comparison| comparison.dt_s);
    let grip_limit_percent = 100.0 * GRIP_LIMIT_UTILISATION;
    let vehicles = if report.before.is_some() { "Two vehicle descriptions" } else { "One vehicle description" };
    put!(
        page,
        "<p class=\"note\">{vehicles}, simulated by {} solvers with a step length of {:.6} s ({:.1} Hz); \
         the driver is the same for every solver. Pass: every metric with a spread in % agrees within \
         {MAX_SPREAD_PERCENT}\u{a0}%, or within {MAX_LIMIT_SPREAD_PERCENT}\u{a0}% if a tyre uses more than {grip_limit_percent:.0}\u{a0}% of its \
         friction, or has a known reason, and every run was completed. The limits were set for {AGREEMENT_RATE_HZ} Hz; longer steps differ \
         more. Reference vehicles are not judged.</p>\n",
        report.backends.len(),
        step_length,
        1.0 / step_length.max(1e-9)
    );
}

/// Adds the row of the manoeuvre `name` to the table of the summary. A failed verdict is marked. Without a known
/// spread, spread and metric are dashes.
fn add_summary_row(table: &mut HtmlTable, name: String, judgement: &Judgement) {
    let verdict = marked_text(judgement.verdict).to_owned();
    let row = judgement.largest_spread.map(|index| &judgement.rows[index]);
    table.add_row([
        name.into(),
        if judgement.verdict == Verdict::Fail { Cell::marked(verdict) } else { Cell::strong(verdict) },
        row.map_or_else(|| "–".into(), |row| row.spread.text().into()),
        row.map_or_else(|| "–".into(), |row| row.metric.label.as_str().into()),
        format!("{} %", judgement.accepted_percent).into(),
        format!("{:.0} %", judgement.friction * 100.0).into(),
        judgement.alarms.len().to_string().into(),
    ]);
}

/// Appends the legend of the solvers: line sample, name and description of each. `peer_remark` is added to the
/// description of peers (solvers that only serve comparisons); it is not escaped.
pub fn append_legend(page: &mut String, backends: &[SolverInfo], peer_remark: &str) {
    page.push_str("<dl class=\"legend\">\n");
    append_solver_keys(page, backends, peer_remark);
    page.push_str("</dl>\n");
}

/// Appends an entry for each solver: a line sample, the name and the description. `peer_remark` is added to the
/// description of peers; it is not escaped.
fn append_solver_keys(page: &mut String, backends: &[SolverInfo], peer_remark: &str) {
    for (solver_number, info) in backends.iter().enumerate() {
        let remark = if info.comparison_only { peer_remark } else { "" };
        let (name, about) = (escape(info.name), escape(info.description));
        let sample = Line::Numbered(solver_number).sample();
        put!(page, "<div><dt>{sample} {name}</dt><dd>{about}{remark}</dd></div>\n");
    }
}

/// Appends an entry for each source of curves, in the order of [`SectionRuns::sources`]. With one car the sources are
/// the solvers with their descriptions; peers are marked as not counted in the spread. With two cars they are both cars
/// on the first solver, then both on the next, each with vehicle and solver. Last is the measured log with its file and
/// the number of its channels.
fn append_source_keys(page: &mut String, report: &Report<'_>) {
    if report.before.is_none() {
        append_solver_keys(page, report.backends, ", not counted in the spread");
    }
    // Empty with one car, whose entries are those of the solvers.
    let cars: Vec<&ReportedCar<'_>> = report.cars().filter(|_| report.before.is_some()).collect();
    for (solver_number, info) in report.backends.iter().enumerate() {
        for (car_number, car) in cars.iter().enumerate() {
            let sample = Line::Numbered(solver_number * cars.len() + car_number).sample();
            let (label, name) = (escape(car.label), escape(info.name));
            let (vehicle, about) = (escape(car.vehicle), escape(info.description));
            put!(page, "<div><dt>{sample} {label}, {name}</dt><dd>{vehicle}; {about}</dd></div>\n");
        }
    }
    if let Some(log) = report.log {
        let (sample, name, count) = (Line::Measured.sample(), escape(&log.name), log.series.len());
        put!(page, "<div><dt>{sample} {LOG_NAME}</dt><dd>measured log {name}, {count} channels</dd></div>\n");
    }
}

/// Appends the section of manoeuvre number `manoeuvre`. The order is: beginning with verdict and warnings, replay,
/// plots of computed curves, plots of the runs, titles of omitted plots, table of metrics (with two cars of their
/// changes), deviations from the measured log, table of assists.
///
/// Adds the data of the replay and of the plots of the runs to `sections`, then the data of the computed curves as a
/// section of its own.
fn append_section(
    page: &mut String,
    report: &Report<'_>,
    manoeuvre: usize,
    judgements: &[Judgements],
    sections: &mut Vec<Value>,
) {
    let number = sections.len();
    append_section_head(page, report, manoeuvre, judgements);
    // Label of a car; empty in a report about one car.
    let label = |car: &ReportedCar<'_>| if report.before.is_some() { car.label.to_owned() } else { String::new() };
    let labels: Vec<String> = report.cars().map(label).collect();
    let cars: Vec<CarRuns<'_>> = report
        .cars()
        .zip(&labels)
        .map(|(car, label)| CarRuns { label, model: car.model, comparison: &car.comparisons[manoeuvre] })
        .collect();
    let comparison = cars[0].comparison;
    let mut runs = SectionRuns::new(&cars, report.log);
    // `build_plots`, `plots`, `replay` and `driven_area` each add the columns that they need to `runs.table`.
    let mut plots = build_plots(&mut runs);
    let assist_logs = AssistLogs::new(&runs);
    plots.plots.extend(assist_logs.plots(&mut runs));
    let replay = replay(&mut runs);
    let [x, y] = driven_area(&mut runs);
    let ground = ground::picture(&comparison.scene, x, y).unwrap_or(Value::Null);
    // After all calls that add columns, because `plotted` borrows `runs`.
    let plotted = runs.plotted_sources();
    put!(page, "<div class=\"replay\" data-section=\"{number}\"></div>\n");
    // The data of the computed curves follow those of this section.
    let curve_data = append_computed_curves(page, &runs, number + 1);
    page.push_str("<div class=\"charts\">\n");
    let mut figures = Figures::new(number, &plotted);
    for plot in &plots.plots {
        figures.append(page, &runs.table, plot);
    }
    page.push_str("</div>\n");
    if !plots.omitted.is_empty() {
        let omitted_titles = escape(&plots.omitted.join(", ").to_lowercase());
        put!(page, "<p class=\"note\">Plots without changes are omitted: {omitted_titles}.</p>\n");
    }
    match &cars[..] {
        [before, after] => append_changes(page, [before.label, after.label], [before.comparison, after.comparison]),
        _ => append_comparison_table(page, comparison, &judgements[0][manoeuvre]),
    }
    if let Some(log) = report.log {
        append_deviations(page, &runs, log);
    }
    assist_logs.append_table(page, &runs);
    page.push_str("</section>\n");
    sections.push(figures.into_json(&runs.table, replay, Course { ground, cones: comparison.cones.clone() }));
    sections.extend(curve_data);
}

/// Appends the beginning of the section of manoeuvre number `manoeuvre`: heading with the verdicts, descriptions,
/// warnings and known deviations.
fn append_section_head(page: &mut String, report: &Report<'_>, manoeuvre: usize, judgements: &[Judgements]) {
    let name = escape(report.car.comparisons[manoeuvre].manoeuvre);
    let cars: Vec<(&ReportedCar<'_>, &Judgement)> =
        report.cars().zip(judgements).map(|(car, judgements)| (car, &judgements[manoeuvre])).collect();
    let verdict = |(car, judgement): &(&ReportedCar<'_>, &Judgement)| {
        marked_text(judgement.verdict).to_owned() + &label_text(report, car)
    };
    let verdicts: Vec<String> = cars.iter().map(verdict).collect();
    let verdicts = escape(&verdicts.join(", "));
    put!(page, "<section id=\"{name}\">\n<h2>{name} <span class=\"verdict\">{verdicts}</span></h2>\n");
    append_paragraph_per_car(page, report, |car| car.comparisons[manoeuvre].about.clone());
    for (car, judgement) in &cars {
        let label = escape(&label_text(report, car));
        for alarm in &judgement.alarms {
            put!(page, "<p class=\"alarm\">{}{label}</p>\n", escape(alarm));
        }
        for (reason, labels) in &judgement.reasons {
            let (labels, explanation) = (escape(&labels.join(", ")), escape(reason.explanation));
            put!(
                page,
                "<p class=\"note\">Known deviation, not counted in the verdict{label}: {labels}. {explanation}</p>\n"
            );
        }
    }
}

/// Appends the table of metrics with a column per solver and the spread, followed by a note that defines the spread.
/// A spread above the accepted one is marked.
fn append_comparison_table(page: &mut String, comparison: &Comparison, judgement: &Judgement) {
    let solvers = comparison.outcomes.iter().map(|outcome| Column::solver(outcome.backend, outcome.peer));
    let columns = ["metric", "unit"].map(Column::text).into_iter().chain(solvers).chain([Column::number("spread")]);
    let mut table = HtmlTable::new(columns.collect());
    let accepted = judgement.accepted_percent;
    for row in &judgement.rows {
        let spread = row.spread.text();
        let is_marked = row.spread.percent().is_some_and(|percent| percent > accepted);
        let spread = if is_marked { Cell::marked(format!("▲ {spread}")) } else { spread.into() };
        let values = row.texts.iter().map(|text| Cell::from(text.as_str()));
        let label: [Cell; 2] = [row.metric.label.as_str().into(), row.metric.unit.into()];
        table.add_row(label.into_iter().chain(values).chain([spread]));
    }
    page.push_str(&table.html());
    put!(
        page,
        "<p class=\"note\">Spread: (largest − smallest) / |mean| of the solvers, without reference vehicles; for \
         percentages the difference in points; ▲ marks more than the accepted {accepted} %. Lengths in mm that differ by \
         at most {POSITION_NOISE_MM} mm and times that differ by less than half a step count as equal. A dash marks a \
         missing value or a mean that rounds to zero.</p>\n"
    );
}

/// Appends the section on the vehicle: tables of the closed-form figures of each axle and of the vehicle, or of their
/// changes with two cars. Below are the notes of [`lints`] (unusual values) as warnings, and the published figures that
/// were not driven, if there are any.
fn append_vehicle_section(page: &mut String, report: &Report<'_>) {
    page.push_str("<section id=\"vehicle\">\n<h2>vehicle</h2>\n");
    page.push_str("<p>Quantities derived from the description, without simulation.</p>\n");
    if let Some(before) = &report.before {
        append_vehicle_changes(page, [before, &report.car]);
    } else {
        let axle_metrics = lists::axles(report.car.model);
        let axles: Vec<Column> = (1..=axle_metrics.len()).map(|axle| Column::number(&format!("axle {axle}"))).collect();
        append_metric_table(page, "metric", axles, &axle_metrics);
        append_metric_table(page, "vehicle", vec![Column::number("value")], &[lists::car(report.car.model)]);
    }
    for car in report.cars() {
        let label = escape(&label_text(report, car));
        for lint in lints(car.model) {
            put!(page, "<p class=\"note\">Warning{label}: {}.</p>\n", escape(&lint));
        }
    }
    append_other_figures(page, report.published);
    page.push_str("</section>\n");
}

/// Appends a table with a row per metric and a column per list of `lists`. All lists must contain the same metrics in
/// the same order; labels and units are those of the first list. `title` is the heading of the labels. `columns` are
/// the columns of the lists.
fn append_metric_table(page: &mut String, title: &str, columns: Vec<Column>, lists: &[Vec<Metric>]) {
    let mut table = HtmlTable::new([title, "unit"].map(Column::text).into_iter().chain(columns).collect());
    for row in 0..lists.first().map_or(0, Vec::len) {
        let metric = &lists[0][row];
        let values = lists.iter().map(|metrics| Cell::from(metrics[row].text()));
        let label: [Cell; 2] = [metric.label.as_str().into(), metric.unit.into()];
        table.add_row(label.into_iter().chain(values));
    }
    page.push_str(&table.html());
}

/// Limitations that a reader must know to judge the results.
const KNOWN_LIMITATIONS: &[&str] = &[
    "All metrics are those of the model, not of the real car. Published data are shown for comparison; the model was not \
     fitted to them in this report.",
    "A wheel has one ground contact, found by a ray unless the description defines a rim. Toe and camber follow the \
     description. Steered wheels turn about the vertical axis through the contact; offsets of the steering axis act on the \
     steering wheel and on a compliant linkage only.",
    "Springs act along the vertical axis of the car. Lateral forces roll the body about the roll centres of the \
     description (default: at ground level). There is no anti-dive geometry.",
    "Tyre models: simple curves and TMeasy have no aligning torque; no model has temperature or wear.",
    "The closed forms under “vehicle” assume linear tyres, rigid wheels and small angles. Agreement is expected only \
     within these assumptions.",
    "The built-in solvers are of second order in the step length, `rapier` of first order. A spread that does not \
     decrease with the step length indicates an error.",
    "Driver models read the telemetry once per step. Closed-loop control (speed, path) feeds the errors of a solver back.",
    "Reference vehicles solve different equations from the same description and need not agree with the solvers.",
];

/// Appends the section with [`KNOWN_LIMITATIONS`] as a list and the sign conventions in a note below. The section has
/// the id that the header links to.
fn append_limitations(page: &mut String) {
    page.push_str("<section id=\"limits\">\n<h2>limits</h2>\n<ul>\n");
    for limitation in KNOWN_LIMITATIONS {
        put!(page, "<li>{}</li>\n", escape(limitation));
    }
    page.push_str("</ul>\n");
    page.push_str(
        "<p class=\"note\">Axes and signs by ISO 8855: x forward, y left, z up; left turns, roll to the right and pitch \
         nose down are positive.</p>\n</section>\n",
    );
}
