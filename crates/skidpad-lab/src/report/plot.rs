//! Plot as SVG. Colours are CSS classes, so that a style sheet can define them for light and dark pages.

use core::ops::Range;
use std::io;

use plotters::coord::Shift;
use plotters::prelude::*;

use super::escape::escape;
use super::ground::{self, View};
use skidpad_core::Scene;

/// Pixels of the drawing per pixel on the page. plotters rounds to integers, which would make lines uneven.
const DRAWING_SCALE: u32 = 5;
/// Width of a plot on the page (px).
const PLOT_WIDTH_PX: u32 = 560;
/// Width of a full-width plot on the page (px).
const WIDE_PLOT_WIDTH_PX: u32 = 1140;
/// Height of a plot on the page (px).
const PLOT_HEIGHT_PX: u32 = 270;
/// Space for the labels at the left (px).
const LEFT_MARGIN_PX: u32 = 66;
/// Space for the labels at the bottom (px).
const BOTTOM_MARGIN_PX: u32 = 44;
/// Margin around the plot (px).
const OUTER_MARGIN_PX: u32 = 10;
/// Font size on the page (px). plotters divides font sizes by 1.24 when it writes SVG.
const FONT_SIZE_PX: f64 = 13.0 * 1.24;

/// Line of a plot.
pub struct Series {
    /// Number of the solver, which selects colour and dashes.
    pub solver_number: usize,
    /// Whether the line determines the range of the y axis. Other lines are clipped if they exceed it by far.
    pub sets_range: bool,
    /// Points in drawing order.
    pub points: Vec<(f64, f64)>,
}

/// Content of a plot.
#[derive(Default)]
pub struct Plot {
    /// Label of the x axis, with unit.
    pub x_label: String,
    /// Label of the y axis, with unit.
    pub y_label: String,
    /// Smallest range of the y axis, so that noise does not fill the plot.
    pub min_span: f64,
    /// Whether both axes have the same scale. Such a plot has the full width.
    pub equal_scale: bool,
    /// Whether the plot has the full width with independent scales.
    pub is_full_width: bool,
    /// Whether every point of a line is marked.
    pub has_markers: bool,
    /// Values of horizontal lines, which are always inside the range.
    pub levels: Vec<f64>,
    /// Single points, which are always inside the range.
    pub dots: Vec<(f64, f64)>,
    /// Ground to draw below the lines, seen from above. x and y are then the axes of the world.
    pub ground: Option<Scene>,
    /// Line whose area below is filled: the ground under the cars.
    pub floor: Vec<(f64, f64)>,
    /// Lines of the solvers.
    pub series: Vec<Series>,
    /// Thin lines of towed units.
    pub towed: Vec<Series>,
}

/// Returns the view of a plot with the given size on the page (px) and axis ranges.
fn ground_view(size: [u32; 2], x: Range<f64>, y: Range<f64>) -> View {
    let pixels = [size[0] - LEFT_MARGIN_PX - 2 * OUTER_MARGIN_PX, size[1] - BOTTOM_MARGIN_PX - 2 * OUTER_MARGIN_PX]
        .map(f64::from);
    let top_left = [LEFT_MARGIN_PX + OUTER_MARGIN_PX, OUTER_MARGIN_PX].map(|edge| f64::from(edge * DRAWING_SCALE));
    View { x, y, pixels, top_left, drawn_size: pixels.map(|size| size * f64::from(DRAWING_SCALE)) }
}

/// Sentinel colour of the grid. All sentinel colours are replaced by CSS classes in the finished SVG.
const GRID_COLOUR: RGBColor = RGBColor(2, 0, 0);
/// Sentinel colour of the axes.
const AXIS_COLOUR: RGBColor = RGBColor(2, 0, 1);
/// Sentinel colour of text and single points.
const INK_COLOUR: RGBColor = RGBColor(2, 0, 2);
/// Sentinel colour of horizontal lines.
const LEVEL_COLOUR: RGBColor = RGBColor(2, 0, 3);
/// Sentinel colour of the ground under the cars.
const FLOOR_COLOUR: RGBColor = RGBColor(2, 0, 4);

/// Returns the sentinel colour of the line of solver `solver_number`.
fn line_colour(solver_number: usize) -> RGBColor {
    RGBColor(1, 0, (solver_number % 200) as u8)
}

/// Returns the sentinel colour of the line of a unit that is towed on solver `solver_number`.
fn towed_colour(solver_number: usize) -> RGBColor {
    RGBColor(1, 1, (solver_number % 200) as u8)
}

/// Style that makes the lines of towed units thinner than those of solvers.
const TOWED_STYLE: &str = "svg .towed { stroke-width: 5; }";

/// Distance beyond the leading range up to which other lines extend the plot, as a share of that range (–).
const MAX_RANGE_EXTENSION: f64 = 0.5;

/// Number of solvers with distinct line styles.
pub const LINE_STYLE_COUNT: usize = 6;

impl Plot {
    /// Iterates over the lines of solvers, then of towed units.
    fn lines(&self) -> impl Iterator<Item = &Series> {
        self.series.iter().chain(&self.towed)
    }

    /// Computes the range of y over the leading lines ([`Series::sets_range`]), or over all lines if none leads, and
    /// over levels, dots and floor. Other lines extend it at an end that they exceed by at most
    /// [`MAX_RANGE_EXTENSION`] of the range. The result is at least `min_span` wide, plus 6 % at each end, and has
    /// the same middle as the values. Values that are not finite are ignored.
    fn y_range(&self) -> Range<f64> {
        // Points of the leading lines, or of all lines without a leader.
        let leading_points = |has_leader: bool| {
            self.lines().filter(move |series| series.sets_range || !has_leader).flat_map(|series| &series.points)
        };
        let has_leading_line = self.lines().any(|series| series.sets_range);
        // Values that are always inside the range.
        let fixed_values = self.levels.iter().copied().chain(self.dots.iter().chain(&self.floor).map(|point| point.1));
        let (low, high) = value_range(leading_points(has_leading_line).map(|point| point.1).chain(fixed_values));
        let span = (high - low).max(self.min_span);
        let other_values =
            self.lines().filter(|series| !series.sets_range).flat_map(|series| &series.points).map(|point| point.1);
        // Extremes of all lines.
        let (lowest, highest) = value_range(other_values.chain([low, high]));
        // Largest accepted extension at one end.
        let max_extension = MAX_RANGE_EXTENSION * span;
        let (low, high) = (
            if low - lowest <= max_extension { lowest } else { low },
            if highest - high <= max_extension { highest } else { high },
        );
        let span = (high - low).max(self.min_span);
        // 0.56: half of the span and the margin.
        let (middle, half) = (0.5 * (low + high), 0.56 * span);
        middle - half..middle + half
    }

    /// Computes the range of x over all lines, without a margin; 1 wide if all points have the same x, and 0 to 1
    /// without points.
    fn x_range(&self) -> Range<f64> {
        let (low, high) = value_range(self.lines().flat_map(|series| &series.points).map(|point| point.0));
        low..if high > low { high } else { low + 1.0 }
    }

    /// Computes the size [width, height] on the page (px), including labels and margins, and the ranges of x and y.
    /// The height is [`PLOT_HEIGHT_PX`] without equal scales. A plot with equal scales has the full width, and x is
    /// extended by 2 % at each end. The height of the drawn area then follows from the ranges, within 150 px (280 px
    /// with ground) to 460 px; both ranges are widened about their middles to one scale.
    fn layout(&self) -> ([u32; 2], Range<f64>, Range<f64>) {
        let (x, y) = (self.x_range(), self.y_range());
        if !self.equal_scale {
            return ([if self.is_full_width { WIDE_PLOT_WIDTH_PX } else { PLOT_WIDTH_PX }, PLOT_HEIGHT_PX], x, y);
        }
        // Width of the drawn area (px).
        let drawn_width = f64::from(WIDE_PLOT_WIDTH_PX - LEFT_MARGIN_PX - 2 * OUTER_MARGIN_PX);
        // 2 % at each end.
        let margin = 0.02 * (x.end - x.start);
        let x = x.start - margin..x.end + margin;
        // Minimum height: a few metres of ground beside the path are drawn.
        let (min_height, max_height) = (if self.ground.is_some() { 280.0 } else { 150.0 }, 460.0);
        // The coarser of the scales at which x fits the width and y fits the maximum height.
        let metres_per_pixel = ((x.end - x.start) / drawn_width).max((y.end - y.start) / max_height);
        let drawn_height = ((y.end - y.start) / metres_per_pixel).max(min_height);
        // Range with the same middle that covers `pixels` at this scale.
        let widen = |range: Range<f64>, pixels: f64| {
            let (middle, half) = (0.5 * (range.start + range.end), 0.5 * pixels * metres_per_pixel);
            middle - half..middle + half
        };
        let (x, y) = (widen(x, drawn_width), widen(y, drawn_height));
        ([WIDE_PLOT_WIDTH_PX, drawn_height as u32 + BOTTOM_MARGIN_PX + 2 * OUTER_MARGIN_PX], x, y)
    }

    /// Returns the numbers of the solvers with a line that does not lead ([`Series::sets_range`]) and that leaves the y
    /// range of the plot, in ascending order and without repetition. Lines of towed units count as lines of their
    /// solver. Values that are not finite do not count.
    pub fn clipped_solvers(&self) -> Vec<usize> {
        let (_, _, y) = self.layout();
        let leaves_range = |series: &Series| {
            series.points.iter().any(|point| point.1.is_finite() && !(y.start..=y.end).contains(&point.1))
        };
        let mut solver_numbers: Vec<usize> = self
            .lines()
            .filter(|series| !series.sets_range && leaves_range(series))
            .map(|series| series.solver_number)
            .collect();
        solver_numbers.sort_unstable();
        solver_numbers.dedup();
        solver_numbers
    }

    /// Returns the plot as an SVG element with the description `title` for screen readers. The ground from above and
    /// the styles that the plot needs are placed below the lines. The style of the ground is included only with ground
    /// or floor, that of towed units only with towed units.
    ///
    /// # Errors
    /// Returns an error if plotters cannot draw it.
    pub fn svg(&self, title: &str) -> io::Result<String> {
        let (size, x, y) = self.layout();
        // The drawing of plotters, complete once `root` is dropped.
        let mut drawing = String::new();
        {
            let root = SVGBackend::with_string(&mut drawing, (size[0] * DRAWING_SCALE, size[1] * DRAWING_SCALE))
                .into_drawing_area();
            self.draw(&root, x.clone(), y.clone()).map_err(|error| io::Error::other(error.to_string()))?;
            root.present().map_err(|error| io::Error::other(error.to_string()))?;
        }
        // Styles and ground, placed below the lines.
        let mut background = String::new();
        if self.ground.is_some() || !self.floor.is_empty() {
            background = format!("<style>{}</style>", ground::GROUND_STYLE);
        }
        if !self.towed.is_empty() {
            background += &format!("<style>{TOWED_STYLE}</style>");
        }
        if let Some(scene) = &self.ground {
            background += &ground::draw_from_above(scene, &ground_view(size, x, y));
        }
        Ok(apply_css_classes(&drawing, size, title, &background))
    }

    /// Draws the plot with the axis ranges `x` and `y` on `root`, in sentinel colours: grid and axes with labels,
    /// filled floor, horizontal levels, dots, then the lines of solvers and of towed units. Floor and lines are
    /// interrupted at values that are not finite; lines also where y leaves the range. Every point of a line is
    /// marked if [`Plot::has_markers`] is set.
    fn draw(
        &self,
        root: &DrawingArea<SVGBackend<'_>, Shift>,
        x: Range<f64>,
        y: Range<f64>,
    ) -> Result<(), Box<dyn std::error::Error>> {
        // Font of all labels.
        let font = ("sans-serif", FONT_SIZE_PX * f64::from(DRAWING_SCALE)).into_font().color(&INK_COLOUR);
        let (digits_x, digits_y) = (decimal_places(&x), decimal_places(&y));
        let mut chart = ChartBuilder::on(root)
            .margin(OUTER_MARGIN_PX * DRAWING_SCALE)
            .x_label_area_size(BOTTOM_MARGIN_PX * DRAWING_SCALE)
            .y_label_area_size(LEFT_MARGIN_PX * DRAWING_SCALE)
            .build_cartesian_2d(x.clone(), y.clone())?;
        chart
            .configure_mesh()
            // No minor grid lines; at most this many labels. All lengths are in pixels of the drawing.
            .max_light_lines(0)
            .x_labels(if self.equal_scale { 14 } else { 9 })
            .y_labels(7)
            .bold_line_style(GRID_COLOUR.stroke_width(DRAWING_SCALE))
            .axis_style(AXIS_COLOUR.stroke_width(DRAWING_SCALE))
            .label_style(font.clone())
            .axis_desc_style(font)
            .x_label_formatter(&|value| format_number(*value, digits_x))
            .y_label_formatter(&|value| format_number(*value, digits_y))
            .x_desc(&self.x_label)
            .y_desc(&self.y_label)
            .draw()?;
        for segment in self.floor.split(|point| !point.1.is_finite()).filter(|segment| segment.len() > 1) {
            // Lower corners of the filled area, from right to left.
            let lower_corners = [segment.len() - 1, 0].map(|index| (segment[index].0, y.start));
            let outline: Vec<_> = segment.iter().copied().chain(lower_corners).collect();
            chart.draw_series([Polygon::new(outline, FLOOR_COLOUR.filled())])?;
        }
        for &level in &self.levels {
            let end_points = [x.start, x.end].map(|x| (x, level));
            chart.draw_series(LineSeries::new(end_points, LEVEL_COLOUR.stroke_width(2 * DRAWING_SCALE)))?;
        }
        chart.draw_series(self.dots.iter().map(|&dot| Circle::new(dot, 2 * DRAWING_SCALE, INK_COLOUR.filled())))?;
        let lines = self.series.iter().map(|series| (series, line_colour(series.solver_number)));
        for (series, colour) in
            lines.chain(self.towed.iter().map(|series| (series, towed_colour(series.solver_number))))
        {
            let style = colour.stroke_width(2 * DRAWING_SCALE);
            for segment in
                series.points.split(|point| !(y.start..=y.end).contains(&point.1)).filter(|segment| segment.len() > 1)
            {
                chart.draw_series(LineSeries::new(segment.iter().copied(), style))?;
                let marked_points = segment.iter().filter(|_| self.has_markers);
                chart
                    .draw_series(marked_points.map(|&point| Circle::new(point, 3 * DRAWING_SCALE, colour.filled())))?;
            }
        }
        Ok(())
    }
}

/// Returns the smallest and the largest finite value; (0, 0) if there is none.
fn value_range(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold((f64::MAX, f64::MIN), |(low, high), value| (low.min(value), high.max(value)));
    if low <= high { (low, high) } else { (0.0, 0.0) }
}

/// Returns the number of decimal places that distinguish ten labels of a range, 0 to 9. A range shorter than 1e-8 has
/// 9 decimal places.
fn decimal_places(range: &Range<f64>) -> usize {
    let step = ((range.end - range.start) / 10.0).max(1e-9);
    (-step.log10().floor()).clamp(0.0, 9.0) as usize
}

/// Formats `value` with at most `digits` decimal places, without trailing zeros and with a minus sign instead of a
/// hyphen; −0 is 0. A text without a decimal point keeps its zeros.
fn format_number(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let trimmed_text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    match trimmed_text {
        // −0 has no sign.
        "-0" | "" => "0".into(),
        nonzero_text => nonzero_text.replace('-', "\u{2212}"),
    }
}

/// Turns the output of plotters into a scalable SVG element: replaces its opening tag by one with `size` (px) as
/// aspect ratio and the description `title`, places the content `background` under the drawing, and replaces sentinel
/// colours by the CSS classes of lines, marks, grid, axes, text, levels and floor. Lines beyond [`LINE_STYLE_COUNT`]
/// keep their sentinel colour. The CSS class of a line also has the number of its style, for example `line s0`.
fn apply_css_classes(svg: &str, size: [u32; 2], title: &str, background: &str) -> String {
    let [width, height] = size.map(|pixels| pixels * DRAWING_SCALE);
    // Content after the opening tag.
    let body = svg.find('>').map_or("", |end| &svg[end + 1..]);
    let hex_colour = |colour: RGBColor| format!("#{:02X}{:02X}{:02X}", colour.0, colour.1, colour.2);
    let mut text = format!(
        "<svg role=\"img\" aria-label=\"{}\" viewBox=\"0 0 {width} {height}\" xmlns=\"http://www.w3.org/2000/svg\">{background}{body}",
        escape(title)
    );
    // Lines and marks of solvers, and lines of towed units: one class per style number.
    for style_number in 0..LINE_STYLE_COUNT {
        let (solver_colour, unit_colour) = (line_colour(style_number), towed_colour(style_number));
        for (attribute, colour, class) in
            [("stroke", solver_colour, "line"), ("fill", solver_colour, "mark"), ("stroke", unit_colour, "towed line")]
        {
            let painted_attribute = format!("{attribute}=\"{}\"", hex_colour(colour));
            text = text.replace(&painted_attribute, &format!("class=\"{class} s{style_number}\""));
        }
    }
    // All other parts, drawn as strokes or filled.
    for (colour, class) in [
        (GRID_COLOUR, "grid"),
        (AXIS_COLOUR, "axis"),
        (INK_COLOUR, "ink"),
        (LEVEL_COLOUR, "level"),
        (FLOOR_COLOUR, "floor"),
    ] {
        for attribute in ["stroke", "fill"] {
            text = text.replace(&format!("{attribute}=\"{}\"", hex_colour(colour)), &format!("class=\"{class}\""));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Builds a plot with one leading line through `points`, and with a smallest y range of 1.
    fn plot(points: Vec<(f64, f64)>, equal_scale: bool) -> Plot {
        let series = vec![Series { solver_number: 0, sets_range: true, points }];
        Plot { x_label: "x, m".into(), y_label: "y, m".into(), min_span: 1.0, equal_scale, series, ..Plot::default() }
    }

    #[test]
    fn labels_are_short_and_have_no_minus_zero() {
        for (value, digits, text) in
            [(0.30000000000000004, 1, "0.3"), (-0.0, 2, "0"), (-1.5, 2, "\u{2212}1.5"), (40.0, 0, "40")]
        {
            assert_eq!(format_number(value, digits), text);
        }
    }

    /// The y range of noise, and of a plot without points, is the smallest range with its margins. A line that does not
    /// lead and reaches far beyond does not extend it.
    #[test]
    fn noise_does_not_fill_the_picture_and_peers_do_not_stretch_it() {
        let mut noisy = plot(vec![(0.0, 1e-6), (1.0, -1e-6)], false);
        noisy.series.push(Series { solver_number: 1, sets_range: false, points: vec![(0.0, 0.0), (1.0, 1e6)] });
        let range = noisy.y_range();
        assert!((range.start + 0.56).abs() < 1e-6 && (range.end - 0.56).abs() < 1e-6, "{range:?}");
        assert_eq!(plot(Vec::new(), false).y_range(), -0.56..0.56);
    }

    /// A line that does not lead extends the y range if it exceeds it by at most half; one that exceeds it by more does
    /// not.
    #[test]
    fn peers_that_go_a_little_beyond_are_in_the_picture() {
        for (peak, highest) in [(0.9, 1.0), (1.4, 1.4), (1.6, 1.0)] {
            let mut both = plot(vec![(0.0, 0.0), (1.0, 1.0)], false);
            both.series.push(Series { solver_number: 1, sets_range: false, points: vec![(0.0, 0.0), (1.0, peak)] });
            let range = both.y_range();
            assert!(
                (range.end - 1.06 * highest).abs() < 1e-9 && (range.start + 0.06 * highest).abs() < 1e-9,
                "{range:?}"
            );
        }
    }

    /// Only lines that do not lead and exceed the y range count as clipped: a peer within the margin, a leading line and
    /// a missing value do not. A towed unit counts for its solver, and a plot without a leading line clips nothing.
    #[test]
    fn clipped_lines_are_reported_by_solver() {
        let peer = |solver_number: usize, peak: f64| Series {
            solver_number,
            sets_range: false,
            points: vec![(0.0, 0.0), (1.0, peak)],
        };
        let mut mixed = plot(vec![(0.0, 0.0), (1.0, 1.0)], false);
        mixed.series.extend([peer(1, 1.05), peer(2, 9.0), peer(3, f64::NAN), peer(5, -9.0)]);
        mixed.towed.extend([peer(2, 9.0), peer(4, 9.0)]);
        assert_eq!(mixed.clipped_solvers(), [2, 4, 5]);
        let without_leader = Plot { series: vec![peer(0, 1.0), peer(1, 9.0)], ..Plot::default() };
        assert!(without_leader.clipped_solvers().is_empty());
    }

    /// A metre has the same number of pixels along x and y within 1 % with equal scales, for wide, high and flat paths.
    #[test]
    fn a_metre_is_as_long_up_as_across() {
        for points in [vec![(0.0, 0.0), (200.0, 60.0)], vec![(0.0, 0.0), (10.0, 200.0)], vec![(0.0, 0.0), (40.0, 0.0)]]
        {
            let (size, x, y) = plot(points, true).layout();
            let across = (x.end - x.start) / f64::from(size[0] - LEFT_MARGIN_PX - 2 * OUTER_MARGIN_PX);
            let up = (y.end - y.start) / f64::from(size[1] - BOTTOM_MARGIN_PX - 2 * OUTER_MARGIN_PX);
            assert!((across / up - 1.0).abs() < 0.01, "{across} {up}");
        }
    }

    /// Levels and dots far from the line are inside the y range and are drawn.
    #[test]
    fn levels_and_dots_are_in_the_picture() {
        let line = || plot(vec![(0.0, 0.0), (1.0, 1.0)], false);
        let drawn = |far: Plot, class: &str| {
            let range = far.y_range();
            assert!(range.contains(&-3.0) && range.contains(&5.0), "{range:?}");
            assert!(far.svg("fixed").expect("drawable").contains(class));
        };
        drawn(Plot { levels: vec![-3.0, 5.0], ..line() }, "class=\"level\"");
        drawn(Plot { dots: vec![(0.2, -3.0), (0.4, 5.0)], ..line() }, "<circle");
    }

    /// The drawing has the classes of marks, lines, text and grid instead of sentinel colours, and an escaped title.
    #[test]
    fn colours_become_classes() {
        let marked = Plot { has_markers: true, ..plot(vec![(0.0, 0.0), (1.0, 1.0)], false) };
        let svg = marked.svg("a <plot>").expect("drawable");
        assert!(svg.contains("class=\"mark s0\""), "{svg}");
        assert!(svg.contains("class=\"line s0\"") && svg.contains("class=\"ink\"") && svg.contains("class=\"grid\""));
        assert!(svg.contains("a &lt;plot&gt;") && !svg.contains("#01000"), "{svg}");
    }
}
