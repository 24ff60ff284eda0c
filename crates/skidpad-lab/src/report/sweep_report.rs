//! Page of a sweep: parameters, statistics of the metrics, and a plot of each metric over each parameter.

use std::fmt::Write as _;
use std::path::Path;

use serde_json::Value;

use super::escape::escape;
use super::figure::{Course, Figures, PlottedSource};
use super::html_table::{Cell, Column, HtmlTable};
use super::page::append_legend;
use super::page_frame::{page_end, page_start};
use super::plot::{Axis, Curve, Kind, Plot};
use super::table::{PlotTable, rounded, value_range};
use crate::files::{WriteError, write_atomically};
use crate::sweep::{CellType, NamedParameter, Role, RunTable, Sweep};

/// Smallest range of an axis, as a share of the largest magnitude of its values (–). Smaller changes count as none.
const MIN_RELATIVE_CHANGE: f64 = 1e-4;
/// Largest number of different faults that the page shows.
const MAX_SHOWN_FAULTS: usize = 20;
/// Largest number of texts or flags that an axis explains.
const MAX_NAMED_VALUES: usize = 12;

/// Content of the page of a sweep.
#[derive(Clone, Copy, Debug)]
pub struct SweepReport<'a> {
    /// Sweep.
    pub sweep: &'a Sweep,
    /// Table of all its runs, in their order.
    pub table: &'a RunTable,
}

/// Values of a parameter as an axis.
struct ParameterAxis {
    axis: Axis,
    /// Column of the table of the page.
    column: usize,
}

impl SweepReport<'_> {
    /// Returns the page as text: header with solvers, parameters and faults, then plots, statistics and manifest.
    pub fn html(&self) -> String {
        let sweep = self.sweep;
        let title = format!("{}: sweep of {}", sweep.vehicle_name(), sweep.manoeuvre_name());
        let mut page = page_start(&title);
        put!(page, "<header>\n<h1>{}</h1>\n", escape(&title));
        put!(
            page,
            "<p>{}. {} runs at {:.1} Hz; samples and grids are combined on each solver.</p>\n",
            escape(sweep.manoeuvre_about()),
            sweep.run_count(),
            sweep.rate_hz()
        );
        append_legend(&mut page, sweep.solvers(), "");
        self.append_parameters(&mut page);
        self.append_faults(&mut page);
        page.push_str("</header>\n");
        let section = self.append_plots(&mut page);
        self.append_statistics(&mut page);
        self.append_manifest(&mut page);
        page.push_str(&page_end(vec![section]));
        page
    }

    /// Writes the page to `path`, completely or not at all.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn save_html(&self, path: &Path) -> Result<(), WriteError> {
        write_atomically(path, |out| out.write_all(self.html().as_bytes()))
    }

    /// Appends a table of the parameters with their values and units.
    fn append_parameters(&self, page: &mut String) {
        let mut table = HtmlTable::new(["parameter", "values", "unit"].map(Column::text).into());
        for NamedParameter { name, target, parameter } in self.sweep.parameters() {
            let values = parameter.to_json().to_string();
            let values = values.trim_matches(['{', '}']).replace('"', "");
            table.add_row([name.as_str().into(), values.into(), target.unit().into()]);
        }
        if !table.is_empty() {
            page.push_str(&table.html());
        }
    }

    /// Appends a warning for each different fault, with the number of runs that have it. Only the first
    /// [`MAX_SHOWN_FAULTS`] faults are shown, followed by the number of further ones.
    fn append_faults(&self, page: &mut String) {
        let Some(column) = self.table.column("fault") else { return };
        let mut faults: Vec<(&str, usize)> = Vec::new();
        for text in self.table.rows.iter().map(|row| row[column].as_str()).filter(|text| !text.is_empty()) {
            match faults.iter_mut().find(|(known, _)| *known == text) {
                Some((_, count)) => *count += 1,
                None => faults.push((text, 1)),
            }
        }
        for (text, count) in faults.iter().take(MAX_SHOWN_FAULTS) {
            put!(page, "<p class=\"alarm\">{count} runs without results: {}</p>\n", escape(text));
        }
        if faults.len() > MAX_SHOWN_FAULTS {
            put!(page, "<p class=\"alarm\">{} further faults</p>\n", faults.len() - MAX_SHOWN_FAULTS);
        }
    }

    /// Returns the values of a column of the runs of solver number `solver`, one for each point and sample. NaN
    /// replaces a cell that is no number. Texts and flags are replaced by their places in `names`. Rows of the solvers
    /// alternate in the table of the sweep.
    fn values(&self, column: usize, solver: usize, names: &[&str]) -> Vec<f64> {
        let solver_count = self.sweep.solvers().len();
        let rows = self.table.rows.iter().skip(solver).step_by(solver_count);
        let value = |text: &String| match names.iter().position(|name| name == text) {
            Some(place) => place as f64,
            None => text.parse().unwrap_or(f64::NAN),
        };
        rows.map(|row| value(&row[column])).collect()
    }

    /// Returns the axis of each parameter with at least two different values, and adds its column to `table`. Texts and
    /// flags are numbered in the order of their first occurrence, and the label of the axis explains the numbers.
    /// Texts and flags beyond [`MAX_NAMED_VALUES`] have no value.
    fn parameter_axes(&self, table: &mut PlotTable) -> Vec<ParameterAxis> {
        let mut axes = Vec::new();
        for column in self.table.columns_with_role(Role::Parameter) {
            let entry = &self.table.columns[column];
            let mut names: Vec<&str> = Vec::new();
            if matches!(entry.cell_type, CellType::Text | CellType::Flag) {
                for row in &self.table.rows {
                    if !names.contains(&row[column].as_str()) && names.len() < MAX_NAMED_VALUES {
                        names.push(&row[column]);
                    }
                }
            }
            let explained = names.iter().enumerate().map(|(place, name)| format!("{place} = {name}"));
            let explained = explained.collect::<Vec<_>>().join(", ");
            let label = if names.is_empty() { entry.name.clone() } else { format!("{} ({explained})", entry.name) };
            let unit = if entry.unit.is_empty() { "-" } else { &entry.unit };
            let values = self.values(column, 0, &names);
            let (low, high) = value_range(values.iter().copied());
            if high > low {
                let column = table.add(values, 0.0, None);
                axes.push(ParameterAxis { axis: Axis::new(&label, unit, 0.0), column });
            }
        }
        axes
    }

    /// Appends the section of plots: one for each metric and parameter over which the metric changes, with a marker for
    /// each point and a curve for each solver. Then appends the names of metrics without any plot, and the number of
    /// shown points if some are left out. Returns the data of the section. Points are joined by lines only if the sweep
    /// varies a single grid, because points of several parameters or of samples have no order.
    fn append_plots(&self, page: &mut String) -> Value {
        let solvers = self.sweep.solvers();
        let plotted = PlottedSource::solvers(solvers.iter().map(|info| (info.name, info.comparison_only)));
        let point_count = self.table.rows.len() / solvers.len().max(1);
        let mut table = PlotTable::new((0..point_count).map(|point| point as f64).collect());
        let axes = self.parameter_axes(&mut table);
        let is_one_grid =
            axes.len() == 1 && self.sweep.parameters().iter().all(|entry| entry.parameter.grid().is_some());
        let mut figures = Figures::new(0, &plotted);
        let mut unchanged = Vec::new();
        page.push_str("<section id=\"plots\">\n<h2>metrics over parameters</h2>\n<div class=\"charts\">\n");
        for metric in self.table.columns_with_role(Role::Metric) {
            let entry = &self.table.columns[metric];
            let columns: Vec<usize> =
                (0..solvers.len()).map(|solver| table.add(self.values(metric, solver, &[]), 0.0, None)).collect();
            let all_values = columns.iter().flat_map(|column| table.values(*column)).copied();
            let (low, high) = value_range(all_values);
            // The axis spans at least this; changes up to half of it are rounding and have no plot.
            let min_span = MIN_RELATIVE_CHANGE * low.abs().max(high.abs());
            let mut is_drawn = false;
            for ParameterAxis { axis, column } in &axes {
                let y_axis = Axis::new(&entry.title().to_lowercase(), &entry.unit, min_span);
                let kind = if is_one_grid { Kind::Diagram } else { Kind::Scatter };
                let title = format!("{} over {}", entry.title(), axis.label);
                let mut plot = Plot::new(&title, kind, [axis.clone(), y_axis]);
                plot.has_markers = true;
                plot.curves = (columns.iter().enumerate())
                    .map(|(solver, y)| Curve {
                        source: solver,
                        part: String::new(),
                        // Peers may be far off; they set the range only if there is no other solver.
                        sets_range: !plotted[solver].is_peer || plotted.iter().all(|solver| solver.is_peer),
                        is_separate: false,
                        columns: [*column, *y],
                    })
                    .collect();
                if plot.has_changes(&table) {
                    figures.append(page, &table, &plot);
                    is_drawn = true;
                }
            }
            if !is_drawn {
                unchanged.push(entry.title().to_lowercase());
            }
        }
        page.push_str("</div>\n");
        if !unchanged.is_empty() {
            let names = escape(&unchanged.join(", "));
            put!(page, "<p class=\"note\">Plots without changes are omitted: {names}.</p>\n");
        }
        if point_count > table.visible_rows().len() {
            let count = table.visible_rows().len();
            put!(page, "<p class=\"note\">The plots show {count} of {point_count} points.</p>\n");
        }
        page.push_str("</section>\n");
        figures.into_json(&table, Value::Null, Course::default())
    }

    /// Appends a table of the metrics of each solver: number of values, mean, standard deviation, smallest and largest
    /// value.
    fn append_statistics(&self, page: &mut String) {
        page.push_str("<section id=\"statistics\">\n<h2>statistics</h2>\n");
        let numbers = ["values", "mean", "standard deviation", "smallest", "largest"].map(Column::number);
        let columns = ["metric", "unit", "solver"].map(Column::text).into_iter().chain(numbers);
        let mut table = HtmlTable::new(columns.collect());
        for metric in self.table.columns_with_role(Role::Metric) {
            let entry = &self.table.columns[metric];
            for (solver, info) in self.sweep.solvers().iter().enumerate() {
                let values = self.values(metric, solver, &[]).into_iter().filter(|value| value.is_finite());
                let statistics = statistics_cells(&values.collect::<Vec<_>>());
                let label: [Cell; 3] = [entry.title().into(), entry.unit.as_str().into(), info.name.into()];
                table.add_row(label.into_iter().chain(statistics));
            }
        }
        page.push_str(&table.html());
        page.push_str("</section>\n");
    }

    /// Appends a table with the hash of the manifest and each of its entries.
    fn append_manifest(&self, page: &mut String) {
        page.push_str("<section id=\"manifest\">\n<h2>run manifest</h2>\n");
        let mut table = HtmlTable::new(vec![Column::text("item"), Column::text("value")]);
        table.add_row(["hash".into(), self.sweep.hash().into()]);
        for (key, value) in self.sweep.manifest().as_object().into_iter().flatten() {
            table.add_row([key.as_str().into(), value.to_string().into()]);
        }
        page.push_str(&table.html());
        page.push_str("</section>\n");
    }
}

/// Returns the cells of the statistics of `values`: number, mean, standard deviation of the sample, smallest and
/// largest value; "-" where there is none.
fn statistics_cells(values: &[f64]) -> [Cell; 5] {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0);
    let (low, high) = value_range(values.iter().copied());
    let text =
        |value: f64, is_known: bool| -> Cell { if is_known { rounded(value).to_string().into() } else { "-".into() } };
    let (has_mean, has_deviation) = (!values.is_empty(), values.len() > 1);
    [
        values.len().to_string().into(),
        text(mean, has_mean),
        text(variance.sqrt(), has_deviation),
        text(low, has_mean),
        text(high, has_mean),
    ]
}
