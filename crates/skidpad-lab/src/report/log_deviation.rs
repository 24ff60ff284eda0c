//! Table of the deviations of the solvers from a measured log.

use std::fmt::Write as _;

use super::html_table::{Cell, Column, HtmlTable};
use super::runs::{SectionRuns, Source};
use crate::channels::channel_of_column;
use crate::measured_log::{Deviation, MeasuredLog};
use crate::trajectory::four_digits;

/// Appends a table of the deviations of the solvers from `log`, with a row for each of its channels. A cell contains
/// the root mean square of the differences and the largest difference. The last column is the number of compared
/// values. A channel without a value during the runs has no row. If no channel has one, a warning replaces the table.
pub fn append_deviations(page: &mut String, runs: &SectionRuns<'_>, log: &MeasuredLog) {
    page.push_str("<h3>Deviations from the measured log</h3>\n");
    let solvers: Vec<&Source<'_>> = runs.sources.iter().filter(|source| source.outcome.is_some()).collect();
    let outcomes = solvers.iter().filter_map(|source| source.outcome);
    let deviations: Vec<Vec<Deviation>> = outcomes.map(|outcome| log.deviations(&outcome.trajectory)).collect();
    let columns = solvers.iter().map(|source| Column::solver(&source.name, source.is_peer()));
    let columns = ["channel", "unit"].map(Column::text).into_iter().chain(columns).chain([Column::number("values")]);
    let mut table = HtmlTable::new(columns.collect());
    for series in &log.series {
        let found: Vec<Option<&Deviation>> =
            deviations.iter().map(|list| list.iter().find(|deviation| deviation.channel == series.channel)).collect();
        let Some(count) = found.iter().flatten().map(|deviation| deviation.count).max() else { continue };
        // Largest magnitude of the row, which determines the digits of all its cells.
        let largest = found.iter().flatten().fold(0.0, |peak: f64, deviation| peak.max(deviation.largest.abs()));
        let cells = found.into_iter().map(|deviation| match deviation {
            Some(deviation) => {
                let [rms, largest] = [deviation.rms, deviation.largest].map(|value| four_digits(value, largest));
                Cell::from(format!("{rms} / {largest}"))
            }
            None => "-".into(),
        });
        let unit = channel_of_column(&series.channel).map_or("-", |channel| channel.unit);
        let label: [Cell; 2] = [series.channel.as_str().into(), unit.into()];
        table.add_row(label.into_iter().chain(cells).chain([count.to_string().into()]));
    }
    if table.is_empty() {
        page.push_str("<p class=\"alarm\">The measured log has no values during the runs; set its start.</p>\n");
        return;
    }
    page.push_str(&table.html());
    put!(
        page,
        "<p class=\"note\">Simulated less measured, over the time that run and log have in common: root of the mean \
         square / difference of largest magnitude, with its sign. The run is interpolated at the times of the log.</p>\n"
    );
}
