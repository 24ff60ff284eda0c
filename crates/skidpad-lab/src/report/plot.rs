//! Plot: its curves, the ranges of its axes, curves that coincide, and its description for the page.

use core::ops::Range;

use serde_json::{Value, json};

use super::table::{PlotTable, rounded, value_range};

/// Distance beyond the leading range up to which other curves extend the plot, as a share of that range (–).
const MAX_RANGE_EXTENSION: f64 = 0.5;
/// Largest difference of curves that are drawn as one, as a share of the range of the axis (–). At 250 px this is
/// half of the width of a line.
const MAX_COINCIDENCE_SHARE: f64 = 0.005;
/// Margin beyond the values at each end of an axis, as a share of their range (–).
const RANGE_MARGIN: f64 = 0.06;

/// Axis of a plot.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Quantity, without unit.
    pub label: String,
    /// Unit; "-" without unit.
    pub unit: String,
    /// Smallest range, so that noise does not fill the plot.
    pub min_span: f64,
}

impl Axis {
    /// Creates an axis.
    pub fn new(label: &str, unit: &str, min_span: f64) -> Self {
        Self { label: label.into(), unit: unit.into(), min_span }
    }
}

/// Curve of one source.
#[derive(Clone, Debug)]
pub struct Curve {
    /// Number of the source, such as a solver, which selects colour and dashes.
    pub source: usize,
    /// Part of the car, such as a wheel; empty for the car. Only curves of one part can coincide.
    pub part: String,
    /// Whether the curve determines the range of the axes. Other curves are clipped if they exceed it by far.
    pub sets_range: bool,
    /// Whether the curve is drawn even if it coincides with another, such as that of a measured log.
    pub is_separate: bool,
    /// Columns of x and y in the table.
    pub columns: [usize; 2],
}

/// Kind of a plot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// Quantities over column 0 of the table.
    #[default]
    Time,
    /// Quantities over other quantities.
    Diagram,
    /// Quantities over other quantities, as points without lines.
    Scatter,
    /// Quantities over other quantities with the same scale on both axes.
    EqualScales,
    /// Positions seen from above.
    Map,
}

/// Content of a plot.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Heading.
    pub title: String,
    /// Kind of the plot.
    pub kind: Kind,
    /// Axes x and y.
    pub axes: [Axis; 2],
    /// Whether the plot has the full width.
    pub is_wide: bool,
    /// Whether every point of a curve is marked.
    pub has_markers: bool,
    /// Values of horizontal lines, which are always inside the range.
    pub levels: Vec<f64>,
    /// Columns of x and y of the ground below the cars, whose area is filled.
    pub floor: Option<[usize; 2]>,
    /// Curves of the sources.
    pub curves: Vec<Curve>,
}

/// Curve that is drawn, for one or several sources.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnCurve {
    /// Numbers of the curves that coincide, the drawn one first.
    pub members: Vec<usize>,
    /// Largest difference in y between the drawn curve and a member, in the unit of y.
    pub difference: f64,
    /// Value farthest outside the range of y; `None` if the curve is inside.
    pub outlier: Option<Outlier>,
    /// Whether no point of the curve is inside the range of y.
    pub is_outside: bool,
}

/// Value of a curve outside the range of y, in the unit of y.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outlier {
    pub value: f64,
    /// Distance from the range, above 0.
    pub distance: f64,
}

impl Plot {
    /// Creates a plot without curves.
    pub fn new(title: &str, kind: Kind, axes: [Axis; 2]) -> Self {
        Self {
            title: title.into(),
            kind,
            axes,
            is_wide: kind == Kind::Map,
            has_markers: false,
            levels: Vec::new(),
            floor: None,
            curves: Vec::new(),
        }
    }

    /// Returns whether the plot shows a change. A curve that sets the range must vary by more than half of the smallest
    /// range of an axis: of y for a plot over time, of either axis for a map. For other plots each axis needs such a
    /// curve.
    pub fn has_changes(&self, table: &PlotTable) -> bool {
        let changes_along = |axis: usize| {
            self.leading_curves().any(|curve| {
                let (low, high) = value_range(table.values(curve.columns[axis]).iter().copied());
                high - low > 0.5 * self.axes[axis].min_span
            })
        };
        match self.kind {
            Kind::Time => changes_along(1),
            Kind::Map => changes_along(0) || changes_along(1),
            Kind::Diagram | Kind::Scatter | Kind::EqualScales => changes_along(0) && changes_along(1),
        }
    }

    /// Iterates over the curves that set the range of the axes; over all curves if none does.
    fn leading_curves(&self) -> impl Iterator<Item = &Curve> {
        let has_leader = self.curves.iter().any(|curve| curve.sets_range);
        self.curves.iter().filter(move |curve| curve.sets_range || !has_leader)
    }

    /// Computes the range of an axis (0: x, 1: y).
    ///
    /// The range covers the leading curves (see [`Self::leading_curves`]), the floor, and for y the levels. Other
    /// curves extend an end of the range that they exceed by at most [`MAX_RANGE_EXTENSION`] of the range; beyond that
    /// they are clipped. The range is then widened about its middle to the smallest range of the axis, and by
    /// [`RANGE_MARGIN`] at each end. The time axis has no margin unless points are marked.
    pub fn range(&self, table: &PlotTable, axis: usize) -> Range<f64> {
        let axis_values = |curve: &Curve| table.values(curve.columns[axis]).iter().copied();
        let floor = self.floor.iter().flat_map(|columns| table.values(columns[axis]).iter().copied());
        let levels = self.levels.iter().copied().filter(|_| axis == 1);
        let (low, high) = value_range(self.leading_curves().flat_map(axis_values).chain(floor).chain(levels));
        let span = (high - low).max(self.axes[axis].min_span);
        let others = self.curves.iter().filter(|curve| !curve.sets_range).flat_map(axis_values);
        let (lowest, highest) = value_range(others.chain([low, high]));
        let max_extension = MAX_RANGE_EXTENSION * span;
        let (low, high) = (
            if low - lowest <= max_extension { lowest } else { low },
            if highest - high <= max_extension { highest } else { high },
        );
        let mut span = (high - low).max(self.axes[axis].min_span);
        if span == 0.0 {
            span = 1.0;
        }
        let margin = if axis == 0 && self.kind == Kind::Time && !self.has_markers { 0.0 } else { RANGE_MARGIN };
        let (middle, half) = (0.5 * (low + high), (0.5 + margin) * span);
        middle - half..middle + half
    }

    /// Returns the curves to draw. A curve that coincides with an earlier drawn curve of the same part is not drawn
    /// itself, but becomes a member of that curve, unless one of both is separate. Outliers are values of y outside the
    /// range.
    ///
    /// Curves coincide if they differ by at most [`MAX_COINCIDENCE_SHARE`] of the range of each axis at every row where
    /// both have values. They do not coincide if only one of both has a value at more than 1 % of the rows.
    pub fn drawn_curves(&self, table: &PlotTable) -> Vec<DrawnCurve> {
        let ranges = [0, 1].map(|axis| self.range(table, axis));
        let spans = ranges.clone().map(|range| range.end - range.start);
        let mut drawn: Vec<DrawnCurve> = Vec::new();
        for (index, curve) in self.curves.iter().enumerate() {
            let coinciding = drawn.iter_mut().find_map(|other| {
                let leader = &self.curves[other.members[0]];
                let difference = |axis: usize| {
                    largest_difference(table.values(leader.columns[axis]), table.values(curve.columns[axis]))
                        .filter(|difference| *difference <= MAX_COINCIDENCE_SHARE * spans[axis])
                };
                (leader.part == curve.part && !leader.is_separate && !curve.is_separate).then_some(())?;
                difference(0)?;
                Some((difference(1)?, other))
            });
            if let Some((difference, other)) = coinciding {
                other.members.push(index);
                other.difference = other.difference.max(difference);
                continue;
            }
            let values = || table.values(curve.columns[1]).iter().copied().filter(|value| value.is_finite());
            // The distance from the range of y is negative inside.
            let candidates = || {
                values().map(|value| Outlier { value, distance: (ranges[1].start - value).max(value - ranges[1].end) })
            };
            let outlier = candidates()
                .filter(|candidate| candidate.distance > 0.0)
                .max_by(|a, b| a.distance.total_cmp(&b.distance));
            let is_outside = outlier.is_some() && candidates().all(|candidate| candidate.distance > 0.0);
            drawn.push(DrawnCurve { members: vec![index], difference: 0.0, outlier, is_outside });
        }
        drawn
    }

    /// Returns the description of the plot for the page: title, kind, whether points are marked, axes with their
    /// ranges, levels (horizontal lines), floor and curves. The floor is the ground below the cars, null without one.
    ///
    /// `drawn` are the curves from [`Self::drawn_curves`]. Each has its part of the car, the members (curves that
    /// coincide, the drawn one first) and the outlier (the value of y farthest outside the range, null if there is
    /// none). The key `solver` of a member is the number of its source, which may also be a measured log. Points are not
    /// included: floor and members have the numbers of their columns x and y in `table`.
    pub fn to_json(&self, table: &PlotTable, drawn: &[DrawnCurve]) -> Value {
        let axis_json = |axis: usize| {
            let range = self.range(table, axis);
            let Axis { label, unit, .. } = &self.axes[axis];
            json!({ "label": label, "unit": unit, "range": [rounded(range.start), rounded(range.end)] })
        };
        let curve_json = |curve: &DrawnCurve| {
            let members: Vec<Value> = curve
                .members
                .iter()
                .map(|&member| {
                    let Curve { source, columns: [x, y], .. } = &self.curves[member];
                    json!({ "solver": source, "x": x, "y": y })
                })
                .collect();
            let outlier = curve.outlier.map(|outlier| rounded(outlier.value));
            let part = &self.curves[curve.members[0]].part;
            json!({ "part": part, "members": members, "outlier": outlier })
        };
        let kind = match self.kind {
            Kind::Time => "time",
            Kind::Diagram => "diagram",
            Kind::Scatter => "scatter",
            Kind::EqualScales => "equal",
            Kind::Map => "map",
        };
        json!({
            "title": self.title,
            "kind": kind,
            "markers": self.has_markers,
            "x": axis_json(0),
            "y": axis_json(1),
            "levels": self.levels.iter().copied().map(rounded).collect::<Vec<_>>(),
            "floor": self.floor,
            "curves": drawn.iter().map(curve_json).collect::<Vec<_>>(),
        })
    }
}

/// Returns the largest difference of two columns over the rows where both have a value; `None` if one column has
/// values in more than 1 % of the rows where the other has none.
fn largest_difference(a: &[f64], b: &[f64]) -> Option<f64> {
    let unpaired = a.iter().zip(b).filter(|(a, b)| a.is_nan() != b.is_nan()).count();
    if unpaired * 100 > a.len() {
        return None;
    }
    // `f64::max` ignores a missing value.
    Some(a.iter().zip(b).fold(0.0, |largest, (a, b)| f64::max(largest, (a - b).abs())))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a table with the columns `ys` over the rows 0, 1, 2, and a plot of them with solvers in this order. The
    /// curves numbered from `first_peer` on do not set the range.
    fn plot(ys: &[[f64; 3]], first_peer: usize) -> (PlotTable, Plot) {
        let mut table = PlotTable::new(vec![0.0, 1.0, 2.0]);
        let mut plot = Plot::new("Pitch", Kind::Time, [Axis::new("time", "s", 0.0), Axis::new("pitch", "deg", 0.1)]);
        for (source, values) in ys.iter().enumerate() {
            let column = table.add(values.to_vec(), 0.1, None);
            let (part, sets_range) = (String::new(), source < first_peer);
            plot.curves.push(Curve { source, part, sets_range, is_separate: false, columns: [0, column] });
        }
        (table, plot)
    }

    /// Curves of solvers set the range. A peer extends it by up to half, and no further.
    #[test]
    fn peers_extend_the_range_by_half_at_most() {
        for (peak, highest) in [(1.4, 1.4), (9.0, 1.0)] {
            let (table, plot) = plot(&[[0.0, 1.0, 0.0], [0.0, peak, 0.0]], 1);
            let range = plot.range(&table, 1);
            assert!((range.end - 1.06 * highest).abs() < 1e-9 && (range.start + 0.06 * highest).abs() < 1e-9);
        }
        // Without a leading curve all curves count; a flat curve has the smallest range.
        let (table, peers) = plot(&[[0.0, 9.0, 0.0]], 0);
        assert!(peers.range(&table, 1).contains(&9.0));
        let (table, flat) = plot(&[[3.0; 3]], 1);
        assert!((flat.range(&table, 1).end - 3.056).abs() < 1e-9 && !flat.has_changes(&table));
    }

    /// Curves within 0.5 % of the range are one curve with their largest difference, unless they belong to different
    /// parts or are separate. A run that ends early does not coincide.
    #[test]
    fn coinciding_curves_are_drawn_once() {
        let curves = [[0.0, 1.0, 0.0], [0.0, 1.002, 0.0], [0.0, 1.1, 0.0], [0.0, 1.0, f64::NAN]];
        let (table, mut plot) = plot(&curves, 4);
        let members =
            |plot: &Plot| plot.drawn_curves(&table).iter().map(|curve| curve.members.clone()).collect::<Vec<_>>();
        assert_eq!(members(&plot), [vec![0, 1], vec![2], vec![3]]);
        assert!((plot.drawn_curves(&table)[0].difference - 0.002).abs() < 1e-9);
        plot.curves[1].part = "1l".into();
        assert_eq!(members(&plot).len(), 4);
        plot.curves[1].part.clear();
        plot.curves[0].is_separate = true;
        assert_eq!(members(&plot).len(), 4);
    }

    /// The farthest value outside the range is reported, for a curve partly or completely outside.
    #[test]
    fn curves_that_leave_the_plot_are_reported() {
        let (table, plot) = plot(&[[0.0, 1.0, 0.0], [0.5, 9.0, -20.0], [9.0, 9.5, 9.0], [0.5, 0.5, 0.5]], 1);
        let drawn = plot.drawn_curves(&table);
        let reported: Vec<_> =
            drawn.iter().map(|curve| (curve.outlier.map(|outlier| outlier.value), curve.is_outside)).collect();
        assert_eq!(reported, [(None, false), (Some(-20.0), false), (Some(9.5), true), (None, false)]);
        let json = plot.to_json(&table, &drawn);
        assert_eq!((json["curves"][1]["outlier"].as_f64(), json["kind"].as_str()), (Some(-20.0), Some("time")));
    }
}
