//! Tables of a report about two cars: metrics before and after a change, with their differences.

use std::fmt::Write as _;

use super::ReportedCar;
use super::html_table::{Cell, Column, HtmlTable};
use crate::change::MetricChange;
use crate::closed_form::lists;
use crate::compare::Comparison;
use crate::metrics::Metric;

/// Returns an empty table of metrics with the columns of both cars (their labels), the difference and its percentage,
/// followed by `further`.
fn change_table(title: &str, labels: [&str; 2], further: Option<Column>) -> HtmlTable {
    let numbers = labels.into_iter().chain(["difference", "difference, %"]).map(Column::number);
    HtmlTable::new([title, "unit"].map(Column::text).into_iter().chain(numbers).chain(further).collect())
}

/// Returns the cells of a change: label and unit of the metric, its values before and after, difference and percentage.
fn change_cells(change: &MetricChange) -> [Cell; 6] {
    [
        change.before.label.as_str().into(),
        change.before.unit.into(),
        change.before.text().into(),
        change.after.text().into(),
        change.difference_text().into(),
        change.percent_text().into(),
    ]
}

/// Appends the table of the metrics of both cars in one manoeuvre, with the larger spread of the solvers of both cars,
/// and a note. The values of each car are those on its first solver that is not a reference vehicle, or on the first of
/// all. The note names this solver of `before`, and states to which value percentages refer. `labels` are the labels of
/// the cars. Appends nothing if `before` has no solver.
pub fn append_changes(page: &mut String, labels: [&str; 2], [before, after]: [&Comparison; 2]) {
    let Some(solver) = before.main_outcome() else { return };
    let metrics =
        |comparison: &Comparison| comparison.main_outcome().map_or(Vec::new(), |outcome| outcome.metrics.clone());
    let mut table = change_table("metric", labels, Some(Column::number("largest spread of the solvers")));
    for change in MetricChange::list(&metrics(before), &metrics(after)) {
        let spread = Comparison::larger_spread([before, after], &change.before.name);
        table.add_row(change_cells(&change).into_iter().chain([spread.text().into()]));
    }
    page.push_str(&table.html());
    put!(
        page,
        "<p class=\"note\">Values of the solver {}. Percentages refer to the value of “{}”; the difference of a metric in % \
         is in points. A difference below the spread of the solvers is not significant.</p>\n",
        super::escape::escape(solver.backend),
        super::escape::escape(labels[0])
    );
}

/// Appends tables of closed-form figures of both cars with their differences: a table for each axle that both cars
/// have, then one for the vehicle.
pub fn append_vehicle_changes(page: &mut String, [before, after]: [&ReportedCar<'_>; 2]) {
    let labels = [before.label, after.label];
    let axles = lists::axles(before.model).into_iter().zip(lists::axles(after.model));
    for (number, (before, after)) in axles.enumerate() {
        append_list(page, &format!("axle {}", number + 1), labels, [&before, &after]);
    }
    append_list(page, "vehicle", labels, [&lists::car(before.model), &lists::car(after.model)]);
}

/// Appends the table of two lists of metrics with the heading `title`.
fn append_list(page: &mut String, title: &str, labels: [&str; 2], [before, after]: [&[Metric]; 2]) {
    let mut table = change_table(title, labels, None);
    MetricChange::list(before, after).iter().for_each(|change| table.add_row(change_cells(change)));
    page.push_str(&table.html());
}
