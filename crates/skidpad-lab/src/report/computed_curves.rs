//! Plots of the curves that a procedure computes from its runs, such as a gain over frequency.

use serde_json::Value;

use super::figure::{Course, Figures, Line, PlottedSource};
use super::plot::{Axis, Curve, Kind, Plot};
use super::runs::SectionRuns;
use super::table::PlotTable;
use crate::quantity::{ComputedCurve, CurveAxis};

/// Name of the closed form in keys and labels.
const CLOSED_FORM_NAME: &str = "single-track model";

/// Appends a plot for each title of the computed curves of `runs`, in the order in which the sources have them first.
/// The closed form of each car is drawn in the same plots. Returns the data of the plots as section number `number` of
/// the page; `None` without curves. This section has a table of its own, whose rows are the numbers of the points of a
/// curve.
pub fn append_computed_curves(page: &mut String, runs: &SectionRuns<'_>, number: usize) -> Option<Value> {
    let curves = || runs.sources.iter().filter_map(|source| source.outcome).flat_map(|outcome| &outcome.curves);
    curves().next()?;
    let closed_forms = || runs.cars.iter().map(|car| &car.comparison.closed_form_curves);
    let row_count = curves().chain(closed_forms().flatten()).map(|curve| curve.points.len()).max()?;
    let mut titled: Vec<&ComputedCurve> = Vec::new();
    for curve in curves() {
        if titled.iter().all(|other| other.title != curve.title) {
            titled.push(curve);
        }
    }
    let closed_form_name = |label: &str| match label {
        "" => CLOSED_FORM_NAME.to_owned(),
        label => format!("{label}, {CLOSED_FORM_NAME}"),
    };
    let names: Vec<String> = runs.cars.iter().map(|car| closed_form_name(car.label)).collect();
    let mut plotted = runs.plotted_sources();
    plotted.extend(names.iter().map(|name| PlottedSource { name, is_peer: true, line: Line::ClosedForm }));
    // Curves of each plotted source, and whether it is a closed form.
    let curves_of_sources: Vec<(&[ComputedCurve], bool)> = (runs.sources.iter())
        .map(|source| (source.outcome.map_or(&[][..], |outcome| &outcome.curves), false))
        .chain(closed_forms().map(|curves| (&curves[..], true)))
        .collect();
    let mut table = PlotTable::new((0..row_count).map(|row| row as f64).collect());
    let mut figures = Figures::new(number, &plotted);
    page.push_str("<div class=\"charts\">\n");
    for first in titled {
        let plot = plot_of_title(first, &curves_of_sources, &plotted, &mut table);
        figures.append(page, &table, &plot);
    }
    page.push_str("</div>\n");
    let mut data = figures.into_json(&table, Value::Null, Course::default());
    // Rows are numbered points, not times.
    data["order"] = "point".into();
    Some(data)
}

/// Builds the plot of all curves with the title of `first`, from which it has its axes and markers. Adds the columns of
/// the curves to `table`. A closed form is drawn even if it coincides with another curve. Peers and closed forms do not
/// set the range.
fn plot_of_title(
    first: &ComputedCurve,
    curves_of_sources: &[(&[ComputedCurve], bool)],
    plotted: &[PlottedSource<'_>],
    table: &mut PlotTable,
) -> Plot {
    let axis = |axis: &CurveAxis| Axis::new(axis.label, axis.unit, axis.min_span);
    let mut plot = Plot::new(first.title, Kind::Diagram, [axis(&first.x), axis(&first.y)]);
    plot.has_markers = first.has_markers;
    for (source, (curves, is_separate)) in curves_of_sources.iter().enumerate() {
        let Some(curve) = curves.iter().find(|curve| curve.title == first.title) else { continue };
        let columns = [0, 1].map(|k| {
            let values = curve.points.iter().map(|point| point[k]).collect();
            table.add(values, [first.x, first.y][k].min_span, None)
        });
        let (part, sets_range) = (String::new(), !plotted[source].is_peer);
        plot.curves.push(Curve { source, part, sets_range, is_separate: *is_separate, columns });
    }
    plot
}

#[cfg(test)]
mod tests {
    use super::super::runs::CarRuns;
    use super::*;
    use crate::compare::{Comparison, Outcome};
    use crate::testing::{comparison, model, sampled};

    /// Curves of one title share a plot with the closed form, curves of different lengths and a solver without curves are
    /// allowed, and nothing is appended without curves.
    #[test]
    fn curves_of_one_title_share_a_plot() {
        let axis = CurveAxis { label: "frequency", unit: "Hz", min_span: 0.1 };
        let curve = |title, points: &[[f64; 2]]| ComputedCurve {
            title,
            x: axis,
            y: axis,
            points: points.to_vec(),
            has_markers: false,
        };
        let outcome = |curves| Outcome {
            backend: "solver",
            peer: false,
            trajectory: sampled(0.1, 1.0, |_, _| {}),
            metrics: Vec::new(),
            incomplete: None,
            failed_test: false,
            curves,
        };
        let long =
            vec![curve("gain", &[[0.2, 1.0], [1.0, 2.0], [3.0, 0.5]]), curve("phase", &[[0.2, 0.0], [3.0, -90.0]])];
        let model = model();
        let append = |page: &mut String, outcomes, number| {
            let closed_form_curves = vec![curve("phase", &[[0.2, -1.0], [3.0, -80.0]])];
            let comparison = Comparison { closed_form_curves, ..comparison(outcomes) };
            let cars = [CarRuns { label: "", model: &model, comparison: &comparison }];
            let runs = SectionRuns::new(&cars, None);
            append_computed_curves(page, &runs, number)
        };
        let outcomes = vec![outcome(long), outcome(vec![curve("gain", &[[0.2, 1.5]])]), outcome(Vec::new())];
        let mut page = String::new();
        let data = append(&mut page, outcomes, 4).expect("curves");
        let curve_count = |plot: usize| data["plots"][plot]["curves"].as_array().map(Vec::len);
        assert_eq!((curve_count(0), curve_count(1), curve_count(2)), (Some(2), Some(2), None));
        assert_eq!(data["solvers"][3]["line"], "c");
        assert_eq!(data["rows"].as_u64(), Some(3));
        assert_eq!(page.matches("data-section=\"4\"").count(), 2);
        assert_eq!(append(&mut page, vec![outcome(Vec::new())], 5), None);
    }
}
