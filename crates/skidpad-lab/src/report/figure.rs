//! Figures of a page: heading and key as text, and the plot as data that the script of the page draws.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::escape::escape;
use super::plot::{DrawnCurve, Plot};
use super::table::{PlotTable, rounded};

/// Number of solvers with distinct line styles.
pub const LINE_STYLE_COUNT: usize = 6;

/// Line of a source in plots and keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// Line of a solver or car. The number of the source selects one of [`LINE_STYLE_COUNT`] styles.
    Numbered(usize),
    /// Thin line with circles, for a measured log.
    Measured,
    /// Thin line of long and short dashes, for a closed form.
    ClosedForm,
}

impl Line {
    /// Returns the name of the style in the style sheet, such as `3` or `m`.
    fn style_name(self) -> String {
        match self {
            Self::Numbered(number) => (number % LINE_STYLE_COUNT).to_string(),
            Self::Measured => "m".into(),
            Self::ClosedForm => "c".into(),
        }
    }

    /// Returns a sample of the line as SVG.
    pub fn sample(self) -> String {
        let style = self.style_name();
        let marker = if self == Self::Measured { "<circle cx=\"18\" cy=\"4\" r=\"3\"/>" } else { "" };
        format!(
            "<svg class=\"swatch\" viewBox=\"0 0 36 8\" aria-hidden=\"true\"><g class=\"line s{style}\">\
             <path d=\"M0 4H36\"/>{marker}</g></svg>"
        )
    }
}

/// Source of the curves of a section, such as a solver.
#[derive(Clone, Copy, Debug)]
pub struct PlottedSource<'a> {
    /// Name.
    pub name: &'a str,
    /// Whether the source is a reference vehicle or a variant.
    pub is_peer: bool,
    /// Line of its curves.
    pub line: Line,
}

impl<'a> PlottedSource<'a> {
    /// Returns the sources of solvers with numbered lines, from their names and whether they are reference vehicles or
    /// variants.
    pub fn solvers(solvers: impl IntoIterator<Item = (&'a str, bool)>) -> Vec<Self> {
        let numbered = solvers.into_iter().enumerate();
        numbered.map(|(number, (name, is_peer))| Self { name, is_peer, line: Line::Numbered(number) }).collect()
    }
}

/// Surroundings of a path, which maps and replays draw.
#[derive(Debug, Default)]
pub struct Course {
    /// Picture of the ground; null if the ground is only a plane.
    pub ground: Value,
    /// Positions of the cones (m).
    pub cones: Vec<(f64, f64)>,
}

/// Figures of a section, collected for the data of the page.
pub struct Figures<'a> {
    /// Sources of all figures.
    sources: &'a [PlottedSource<'a>],
    /// Number of the section.
    section: usize,
    /// Descriptions of the plots.
    plots: Vec<Value>,
}

impl<'a> Figures<'a> {
    /// Creates an empty list of figures of section number `section`.
    pub fn new(section: usize, sources: &'a [PlottedSource<'a>]) -> Self {
        Self { sources, section, plots: Vec::new() }
    }

    /// Appends the figure of `plot` to `page`: heading, key, and an empty element for the drawing. Stores the
    /// description of the plot, which the script of the page draws.
    pub fn append(&mut self, page: &mut String, table: &PlotTable, plot: &Plot) {
        let drawn = plot.drawn_curves(table);
        let class = if plot.is_wide { " class=\"wide\"" } else { "" };
        put!(
            page,
            "<figure{class} data-section=\"{}\" data-plot=\"{}\">\n<figcaption>{} <span class=\"keys\">",
            self.section,
            self.plots.len(),
            escape(&plot.title)
        );
        self.append_keys(page, plot, &drawn);
        page.push_str("</span></figcaption>\n<div class=\"plot\"></div>\n</figure>\n");
        self.plots.push(plot.to_json(table, &drawn));
    }

    /// Appends a key for each group of sources whose curves coincide: line sample, names, and remarks in brackets.
    /// `drawn` are the curves from [`Plot::drawn_curves`], in which coinciding curves of one part of the car, such as
    /// an axle, are merged. Curves of several parts are in one group if they have the same sources.
    ///
    /// The remarks are the largest difference within the group (only for several sources), and the value that is
    /// farthest outside the plot.
    fn append_keys(&self, page: &mut String, plot: &Plot, drawn: &[DrawnCurve]) {
        let sources_of = |curve: &DrawnCurve| -> Vec<usize> {
            curve.members.iter().map(|&member| plot.curves[member].source).collect()
        };
        let mut groups: Vec<(Vec<usize>, Vec<&DrawnCurve>)> = Vec::new();
        for curve in drawn {
            let sources = sources_of(curve);
            match groups.iter_mut().find(|(group_sources, _)| *group_sources == sources) {
                Some((_, curves)) => curves.push(curve),
                None => groups.push((sources, vec![curve])),
            }
        }
        for (sources, curves) in groups {
            let names: Vec<&str> = sources.iter().map(|&source| self.sources[source].name).collect();
            let difference = curves.iter().map(|curve| curve.difference).fold(0.0, f64::max);
            let unit = &plot.axes[1].unit;
            let mut remarks = Vec::new();
            if sources.len() > 1 {
                remarks.push(difference_text(difference, unit));
            }
            let outliers = curves.iter().filter_map(|curve| curve.outlier);
            let outlier = outliers.max_by(|a, b| a.distance.total_cmp(&b.distance));
            if let Some(outlier) = outlier {
                let is_outside = curves.iter().all(|curve| curve.is_outside);
                let state = if is_outside { "outside the plot" } else { "partly outside the plot" };
                remarks.push(format!("{state}: up to {}", with_unit(outlier.value, unit)));
            }
            let remark = if remarks.is_empty() { String::new() } else { format!(" ({})", remarks.join("; ")) };
            let (sample, names) = (self.sources[sources[0]].line.sample(), escape(&joined_names(&names)));
            put!(page, "<span>{sample} {names}{}</span> ", escape(&remark));
        }
    }

    /// Returns the section for the data of the page: sources, the columns of `table` at its visible rows, plots,
    /// `replay` and `course`. Without a replay `replay` is null.
    pub fn into_json(self, table: &PlotTable, replay: Value, course: Course) -> Value {
        let rows = table.visible_rows();
        let solvers = self.sources.iter().map(|source| {
            let name = skidpad_spec::printable::one_line(source.name);
            json!({ "name": name, "peer": source.is_peer, "line": source.line.style_name() })
        });
        json!({
            "solvers": solvers.collect::<Vec<_>>(),
            "rows": rows.len(),
            "columns": table.to_json(&rows),
            "plots": self.plots,
            "replay": replay,
            "ground": course.ground,
            "cones": course.cones.iter().map(|(x, y)| [rounded(*x), rounded(*y)]).collect::<Vec<_>>(),
        })
    }
}

/// Returns the names of coinciding sources with equals signs between them. If all names begin with the same label of a
/// car and a comma, the label is written once: `before, impulse = rapier`.
fn joined_names(names: &[&str]) -> String {
    let shared = names.first().and_then(|name| name.split_once(", ")).map(|(label, _)| label);
    let solvers = shared.and_then(|label| {
        let solvers = names.iter().map(|name| name.strip_prefix(label)?.strip_prefix(", "));
        Some((label, solvers.collect::<Option<Vec<&str>>>()?))
    });
    match solvers {
        Some((label, solvers)) => format!("{label}, {}", solvers.join(" = ")),
        None => names.join(" = "),
    }
}

/// Returns the remark about curves that coincide, whose largest difference is `difference`, in `unit`.
fn difference_text(difference: f64, unit: &str) -> String {
    // Differences below the last place that `with_unit` writes would read as 0.
    let smallest_difference = 1e-9;
    if difference == 0.0 {
        "equal".to_owned()
    } else if difference < smallest_difference {
        format!("differ by less than {}", with_unit(smallest_difference, unit))
    } else {
        format!("differ by at most {}", with_unit(difference, unit))
    }
}

/// Formats `value` with three significant digits, at most nine decimal places, and its unit; "-" is no unit.
fn with_unit(value: f64, unit: &str) -> String {
    // Decimal places of three significant digits.
    let places = if value == 0.0 { 0 } else { (2 - value.abs().log10().floor() as i32).clamp(0, 9) };
    let text = format!("{value:.*}", places as usize).replace('-', "\u{2212}");
    if unit == "-" { text } else { format!("{text} {unit}") }
}

#[cfg(test)]
mod tests {
    use super::super::plot::{Axis, Curve, Kind};
    use super::*;

    /// The label of a car is written once for its solvers.
    #[test]
    fn the_label_of_a_car_is_written_once() {
        assert_eq!(joined_names(&["old, a", "old, b"]), "old, a = b");
        assert_eq!(joined_names(&["old, a", "new, a"]), "old, a = new, a");
        assert_eq!(joined_names(&["a", "b"]), "a = b");
    }

    /// A difference that rounds to 0 is not written as 0.
    #[test]
    fn small_differences_are_told_from_equal_curves() {
        assert_eq!(difference_text(0.0, "m"), "equal");
        assert_eq!(difference_text(3e-12, "deg"), "differ by less than 0.000000001 deg");
        assert_eq!(difference_text(0.0123, "-"), "differ by at most 0.0123");
    }

    /// The key has the value that is farthest outside the plot: 20, and not -25, for a range
    /// from -10 to 0.
    #[test]
    fn the_key_has_the_value_farthest_outside() {
        let sources = PlottedSource::solvers([("a", false)]);
        let mut table = PlotTable::new(vec![0.0, 1.0]);
        let mut plot = Plot::new("Pitch", Kind::Time, [Axis::new("time", "s", 0.0), Axis::new("pitch", "deg", 0.1)]);
        for (part, sets_range, values) in
            [("axle 1", true, [-10.0, 0.0]), ("axle 2", false, [-25.0, 0.0]), ("axle 3", false, [0.0, 20.0])]
        {
            let columns = [0, table.add(values.to_vec(), 0.1, None)];
            plot.curves.push(Curve { source: 0, part: part.into(), sets_range, is_separate: false, columns });
        }
        let mut page = String::new();
        Figures::new(0, &sources).append(&mut page, &table, &plot);
        assert!(page.contains("a (partly outside the plot: up to 20.0 deg)"), "{page}");
    }

    /// The key names coinciding solvers once with their difference, marks curves that leave the plot partly or
    /// completely, and names no solver without a curve.
    #[test]
    fn the_key_tells_coinciding_and_clipped_curves() {
        let names = ["leader", "near", "partly", "<fully>", "absent"];
        let sources = PlottedSource::solvers(names.map(|name| (name, false)));
        let mut table = PlotTable::new(vec![0.0, 1.0, 2.0]);
        let mut plot = Plot::new("Pitch", Kind::Time, [Axis::new("time", "s", 0.0), Axis::new("pitch", "deg", 0.1)]);
        for (source, values) in [[0.0, 1.0, 0.0], [0.0, 1.002, 0.0], [0.0, 1.0, -9.0], [9.0; 3]].into_iter().enumerate()
        {
            let (columns, part) = ([0, table.add(values.to_vec(), 0.1, None)], String::new());
            plot.curves.push(Curve { source, part, sets_range: source < 2, is_separate: false, columns });
        }
        let (mut page, mut figures) = (String::new(), Figures::new(0, &sources));
        figures.append(&mut page, &table, &plot);
        for key in [
            "leader = near (differ by at most 0.00200 deg)</span>",
            "partly (partly outside the plot: up to \u{2212}9.00 deg)</span>",
            "&lt;fully&gt; (outside the plot: up to 9.00 deg)</span>",
        ] {
            assert!(page.contains(key), "{key}\n{page}");
        }
        assert!(!page.contains("absent"), "{page}");
        let json = figures.into_json(&table, Value::Null, Course::default());
        assert_eq!(json["plots"][0]["curves"].as_array().map(Vec::len), Some(3));
    }
}
