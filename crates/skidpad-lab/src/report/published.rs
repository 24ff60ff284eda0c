//! Tables of the published figures of the real car, beside the simulated ones.

use super::html_table::{Cell, Column, HtmlTable};
use super::verdict::marked_text;
use crate::road_test::{RoadTest, RoadTestRow};
use crate::verdict::Verdict;

/// Returns the column of the publications.
fn source_column() -> Column {
    Column { heading: "source".into(), class: "source" }
}

/// Returns whether a figure was driven: at least one solver has a value.
fn is_driven(row: &&RoadTestRow) -> bool {
    row.values.iter().any(Option::is_some)
}

/// Appends the published figures that were driven: published and simulated values, the largest deviation, the accepted
/// deviation and the verdict. Nothing if there are none.
pub fn append_driven_figures(page: &mut String, figures: &RoadTest) {
    if !figures.rows.iter().any(|row| is_driven(&row)) {
        return;
    }
    page.push_str("<h3>Published figures of the real car</h3>\n");
    let solvers = figures.solvers.iter().map(|name| Column::number(name));
    let [quantity, unit] = ["figure", "unit"].map(Column::text);
    let published = ["published", "accepted"].map(Column::number);
    let trailing = [Column::number("largest deviation"), Column::text("verdict"), source_column()];
    let mut table =
        HtmlTable::new([quantity, unit].into_iter().chain(published).chain(solvers).chain(trailing).collect());
    for row in figures.rows.iter().filter(is_driven) {
        let values = row.values.iter().map(|value| value.map_or("-".into(), |value| row.value_text(value)));
        let verdict = marked_text(row.verdict).to_owned();
        let source = format!("{} ({})", row.reference.source, row.provenance_text());
        let leading = [row.label(), row.unit_text(), row.value_text(row.reference.value), row.tolerance_text()];
        let trailing = [
            row.deviation_text().into(),
            if row.verdict == Verdict::Fail { Cell::marked(verdict) } else { Cell::strong(verdict) },
            source.into(),
        ];
        table.add_row(leading.into_iter().chain(values).map(Cell::from).chain(trailing));
    }
    page.push_str(&table.html());
    page.push_str(
        "<p class=\"note\">Each figure is driven under the conditions of its publication, which may differ from those of the \
         manoeuvres below. Figures of other manoeuvres: section “vehicle”.</p>\n",
    );
}

/// Appends a table of the published figures that were not driven, with their sources; nothing if there are none.
pub fn append_other_figures(page: &mut String, figures: &RoadTest) {
    let others: Vec<&RoadTestRow> = figures.rows.iter().filter(|row| !is_driven(row)).collect();
    if others.is_empty() {
        return;
    }
    page.push_str("<h3>Published figures that are not in this report</h3>\n");
    let [quantity, unit] = ["figure", "unit"].map(Column::text);
    let mut table = HtmlTable::new(vec![quantity, unit, Column::number("value"), source_column()]);
    for row in others {
        let reference = &row.reference;
        table.add_row([
            row.label().into(),
            row.unit_text().into(),
            reference.value.to_string().into(),
            reference.source.as_str().into(),
        ]);
    }
    page.push_str(&table.html());
}
