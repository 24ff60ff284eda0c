//! Selection of the plots of a comparison: the path, the channels that change, and the load of every wheel.

use std::borrow::Cow;
use std::io;

use skidpad_core::{Frame, Model};

use super::ground;
use super::plot::{Plot, Series};
use crate::compare::{Comparison, Outcome};
use crate::towing::hitch;
use crate::trajectory::Trajectory;

/// Finished plot.
pub struct Chart {
    /// Heading of the plot.
    pub title: String,
    /// Drawing as SVG.
    pub svg: String,
    /// Whether the plot has the full width.
    pub wide: bool,
}

/// Plots of a comparison, and the channels that are omitted because they do not change.
pub struct Charts {
    /// Plots in the order of the page.
    pub charts: Vec<Chart>,
    /// Titles of the omitted plots.
    pub omitted: Vec<String>,
}

/// Channel over time: title, axis label, smallest range to draw, value.
struct PlottedChannel {
    title: &'static str,
    /// Label of the y axis with unit.
    label: &'static str,
    /// Smallest range of the y axis, in the unit of the label.
    min_span: f64,
    /// Whether the channel is drawn even if it does not change.
    always: bool,
    /// Value in the unit of the label.
    value: fn(&Frame) -> f64,
}

/// Builds a row of [`CAR_CHANNELS`] or [`TRAILER_CHANNELS`]. `least_span` is the smallest range to draw, `always`
/// draws a channel that does not change.
const fn channel(
    title: &'static str,
    label: &'static str,
    least_span: f64,
    always: bool,
    value: fn(&Frame) -> f64,
) -> PlottedChannel {
    PlottedChannel { title, label, min_span: least_span, always, value }
}

/// Channels of the car.
const CAR_CHANNELS: &[PlottedChannel] = &[
    channel("Speed", "forward speed, m/s", 0.5, true, |f| f.vx_mps),
    channel("Yaw rate", "yaw rate, deg/s", 1.0, true, |f| f.yaw_rate_radps.to_degrees()),
    channel("Lateral acceleration", "lateral acceleration, m/s²", 0.3, true, |f| f.ay_mps2),
    channel("Longitudinal acceleration", "longitudinal acceleration, m/s²", 0.6, false, |f| f.ax_mps2),
    channel("Steering", "mean road-wheel angle, deg", 0.1, false, |f| f.steer_rad.to_degrees()),
    channel("Sideslip", "sideslip angle, deg", 0.2, false, sideslip_deg),
    channel("Roll", "roll, deg, right side down", 0.1, false, |f| f.roll_rad.to_degrees()),
    channel("Pitch", "pitch, deg, nose down", 0.1, false, |f| f.pitch_rad.to_degrees()),
    channel("Height", "centre of mass, mm", 2.0, false, |f| f.z_m * 1e3),
];

/// Channels of each trailer. Forces are those on the vehicle ahead.
const TRAILER_CHANNELS: &[PlottedChannel] = &[
    channel("Articulation angle", "articulation angle, deg", 1.0, true, |f| hitch(f).articulation_rad.to_degrees()),
    channel("Force on the hitch, forward", "force, N", 100.0, true, |f| hitch(f).fx_n),
    channel("Force on the hitch, to the left", "force, N", 100.0, true, |f| hitch(f).fy_n),
    channel("Force on the hitch, up", "force, N", 100.0, false, |f| hitch(f).fz_n),
    channel("Lateral acceleration", "lateral acceleration, m/s²", 0.3, true, |f| f.ay_mps2),
];

/// Returns the sideslip angle (deg); 0 below 1 m/s, where it has no meaning.
fn sideslip_deg(f: &Frame) -> f64 {
    if f.vx_mps.abs() > 1.0 { f.vy_mps.atan2(f.vx_mps).to_degrees() } else { 0.0 }
}

/// Maximum number of points of a line; more cannot be distinguished on the page.
const MAX_LINE_POINTS: usize = 700;
/// Smallest range of the plot of a wheel load (N).
const MIN_LOAD_RANGE_N: f64 = 200.0;

/// Draws the plots of `comparison`: path, profile of uneven ground, channels of the car that change, distance between
/// the cars of at least two solvers that are not peers, channels of each trailer, and the load of every wheel.
///
/// # Errors
/// Returns an error if plotters cannot draw one of them.
pub fn charts(comparison: &Comparison, model: &Model) -> io::Result<Charts> {
    let mut charts = Charts { charts: Vec::new(), omitted: Vec::new() };
    charts.charts.push(path_chart(comparison)?);
    if ground::has_shape(&comparison.scene) && !comparison.outcomes.is_empty() {
        charts.charts.push(profile_chart(comparison, model)?);
    }
    charts.add(comparison, CAR_CHANNELS, "", |outcome| &outcome.trajectory)?;
    // Solvers that are not peers.
    let mut own = comparison.outcomes.iter().filter(|o| !o.peer);
    if let (Some(first), Some(_)) = (own.next(), own.next()) {
        charts.charts.push(distance_chart(comparison, first)?);
    }
    let towed = comparison.outcomes.first().map_or(&[][..], |outcome| outcome.trajectory.trailers());
    for (k, (name, _)) in towed.iter().enumerate() {
        let of = format!(", {}", name.label().to_lowercase());
        charts.add(comparison, TRAILER_CHANNELS, &of, |outcome| &outcome.trajectory.trailers()[k].1)?;
    }
    for i in 0..model.wheels().len() {
        let title = format!("Load of wheel {}", model.wheel_name(i));
        charts.charts.push(time_chart(comparison, &title, "load, N", MIN_LOAD_RANGE_N, move |f| f.wheels[i].load_n)?);
    }
    Ok(charts)
}

impl Charts {
    /// Adds plots of those `quantities` that change in the `run` of an outcome, and the titles of the others to
    /// `omitted`. `of` is appended to the titles.
    fn add(
        &mut self,
        comparison: &Comparison,
        quantities: &[PlottedChannel],
        of: &str,
        run: impl Fn(&Outcome) -> &Trajectory + Copy,
    ) -> io::Result<()> {
        for &PlottedChannel { title, label, min_span: least_span, always, value } in quantities {
            let title = format!("{title}{of}");
            if always || changes(comparison, least_span, run, value) {
                self.charts
                    .push(channel_chart(comparison, &title, label, least_span, run, |frame| Some(value(frame)))?);
            } else {
                self.omitted.push(title);
            }
        }
        Ok(())
    }
}

/// Returns whether `value` varies by more than half of `span` on any solver that is not a peer, or on the only solver.
fn changes(
    comparison: &Comparison,
    span: f64,
    run: impl Fn(&Outcome) -> &Trajectory,
    value: impl Fn(&Frame) -> f64,
) -> bool {
    comparison.outcomes.iter().filter(|o| !o.peer || comparison.outcomes.len() == 1).any(|outcome| {
        let values = run(outcome).rows().map(|frame| value(&frame));
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), v| (low.min(v), high.max(v)));
        high - low > 0.5 * span
    })
}

/// Reduces a line to about [`MAX_LINE_POINTS`] points without a visible change: keeps the lowest and the highest
/// point of each group of neighbours, in order, and the last point. A line with fewer points is not changed.
fn thinned(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MAX_LINE_POINTS {
        return points.to_vec();
    }
    let bucket = points.len().div_ceil(MAX_LINE_POINTS / 2);
    let mut kept = Vec::with_capacity(MAX_LINE_POINTS + 2);
    for part in points.chunks(bucket) {
        // Index of the extreme point of the group.
        let at = |best: fn(f64, f64) -> bool| {
            (1..part.len()).fold(0, |found, i| if best(part[i].1, part[found].1) { i } else { found })
        };
        let (low, high) = (at(|new, old| new < old), at(|new, old| new > old));
        kept.extend([low.min(high), low.max(high)].map(|i| part[i]));
    }
    kept.extend(points.last());
    kept
}

/// Draws the path of the centre of mass of every solver from above with equal scales, with cones as dots, towed units
/// as thin lines, and the ground if it is more than a plane.
fn path_chart(comparison: &Comparison) -> io::Result<Chart> {
    // Path of a car or towed unit as a line.
    let of = |number: usize, outcome: &Outcome, run: &Trajectory| {
        let points = thinned_rows(run).map(|f| (f.x_m, f.y_m)).collect();
        Series { number, sets_range: !outcome.peer, points }
    };
    let outcomes = || comparison.outcomes.iter().enumerate();
    let towed: Vec<Series> =
        outcomes().flat_map(|(n, o)| o.trajectory.trailers().iter().map(move |(_, run)| of(n, o, run))).collect();
    let trailers = if towed.is_empty() { "" } else { ", of trailers in thin lines" };
    let has_shape = ground::has_shape(&comparison.scene);
    let plot = Plot {
        x_label: "x, m".into(),
        y_label: "y, m".into(),
        min_span: 1.0,
        equal_scale: true,
        dots: comparison.cones.clone(),
        ground: has_shape.then(|| comparison.scene.clone()),
        series: outcomes().map(|(n, o)| of(n, o, &o.trajectory)).collect(),
        towed,
        ..Plot::default()
    };
    let on = if has_shape { ", on the ground from above: lighter is higher, blue grips less" } else { "" };
    chart(&format!("Path of the centre of mass{trailers}{on}"), &plot)
}

/// Iterates over evenly spaced rows, at most [`MAX_LINE_POINTS`], and the last row.
fn thinned_rows(trajectory: &Trajectory) -> impl Iterator<Item = Cow<'_, Frame>> {
    let stride = trajectory.row_count().div_ceil(MAX_LINE_POINTS).max(1);
    trajectory.rows().step_by(stride).chain([Cow::Borrowed(trajectory.last())])
}

/// Returns the distance covered along the path at each of the [`thinned_rows`] rows (m).
fn path_distances(outcome: &Outcome) -> Vec<f64> {
    let mut last = (outcome.trajectory.first().x_m, outcome.trajectory.first().y_m);
    let along = thinned_rows(&outcome.trajectory).scan(0.0, |way, f| {
        *way += (f.x_m - last.0).hypot(f.y_m - last.1);
        last = (f.x_m, f.y_m);
        Some(*way)
    });
    along.collect()
}

/// Draws the profile: the height of the ground along the path of the first solver that is not a peer, and the height of
/// every car along its own path, less the static height of its centre of mass.
fn profile_chart(comparison: &Comparison, model: &Model) -> io::Result<Chart> {
    let height = f64::from(model.parts().centre_height);
    // Distances along the path of each outcome (m).
    let ways: Vec<Vec<f64>> = comparison.outcomes.iter().map(path_distances).collect();
    let lines = comparison.outcomes.iter().zip(&ways).enumerate().map(|(number, (outcome, way))| {
        let points =
            way.iter().zip(thinned_rows(&outcome.trajectory)).map(|(along, f)| (*along, f.z_m - height)).collect();
        Series { number, sets_range: !outcome.peer, points }
    });
    let first = comparison.outcomes.iter().position(|outcome| !outcome.peer).unwrap_or(0);
    let places: Vec<(f64, f64)> =
        thinned_rows(&comparison.outcomes[first].trajectory).map(|f| (f.x_m, f.y_m)).collect();
    let tops = ground::top_surfaces(&comparison.scene, &places);
    let floor = ways[first].iter().zip(tops).map(|(along, top)| (*along, top.map_or(f64::NAN, |top| top.height)));
    let plot = Plot {
        x_label: "way, m".into(),
        y_label: "height, m".into(),
        min_span: 0.2,
        wide: true,
        floor: floor.collect(),
        series: lines.collect(),
        ..Plot::default()
    };
    chart("Profile: the ground along the way, and how high the cars are over where they stand", &plot)
}

/// Draws the channel `value` of the cars over time; `least_span` is the smallest range of the y axis.
fn time_chart(
    comparison: &Comparison,
    title: &str,
    label: &str,
    least_span: f64,
    value: impl Fn(&Frame) -> f64,
) -> io::Result<Chart> {
    optional_channel_chart(comparison, title, label, least_span, |frame| Some(value(frame)))
}

/// Draws a channel over time that only some solvers have.
///
/// # Errors
/// Returns an error if plotters cannot draw it.
pub fn optional_channel_chart(
    comparison: &Comparison,
    title: &str,
    label: &str,
    least_span: f64,
    value: impl Fn(&Frame) -> Option<f64>,
) -> io::Result<Chart> {
    channel_chart(comparison, title, label, least_span, |outcome| &outcome.trajectory, value)
}

/// Draws a channel of the `run` of every outcome over time. `run` selects the trajectory of the car or of a towed
/// unit. Outcomes without a value in the first row are omitted; a value that is missing later is drawn as 0.
fn channel_chart(
    comparison: &Comparison,
    title: &str,
    label: &str,
    least_span: f64,
    run: impl Fn(&Outcome) -> &Trajectory,
    value: impl Fn(&Frame) -> Option<f64>,
) -> io::Result<Chart> {
    let has = |(_, outcome): &(usize, &Outcome)| value(run(outcome).first()).is_some();
    let line = |(number, outcome): (usize, &Outcome)| {
        let points: Vec<_> = run(outcome).rows().map(|f| (f.t_s, value(&f).unwrap_or(0.0))).collect();
        Series { number, sets_range: !outcome.peer, points: thinned(&points) }
    };
    let those = comparison.outcomes.iter().enumerate().filter(has);
    let plot = Plot {
        x_label: "time, s".into(),
        y_label: label.into(),
        min_span: least_span,
        series: those.map(line).collect(),
        ..Plot::default()
    };
    chart(title, &plot)
}

/// Draws the horizontal distance of the cars (mm) from that of the solver `first` over time. Peers and `first` itself
/// have no line.
fn distance_chart(comparison: &Comparison, first: &Outcome) -> io::Result<Chart> {
    let mut lines = Vec::new();
    for (number, outcome) in comparison.outcomes.iter().enumerate() {
        if outcome.peer || outcome.backend == first.backend {
            continue;
        }
        let pairs = outcome.trajectory.rows().zip(first.trajectory.rows());
        let distance = |(a, b): (Cow<'_, Frame>, Cow<'_, Frame>)| (a.t_s, (a.x_m - b.x_m).hypot(a.y_m - b.y_m) * 1e3);
        lines.push(Series { number, sets_range: true, points: thinned(&pairs.map(distance).collect::<Vec<_>>()) });
    }
    let plot = Plot {
        x_label: "time, s".into(),
        y_label: "distance, mm".into(),
        min_span: 0.1,
        equal_scale: false,
        series: lines,
        ..Plot::default()
    };
    chart(&format!("Distance from the car of {}", first.backend), &plot)
}

/// Draws `plot` with its heading.
///
/// # Errors
/// Returns an error if plotters cannot draw it.
pub fn chart(title: &str, plot: &Plot) -> io::Result<Chart> {
    Ok(Chart { title: title.into(), svg: plot.svg(title)?, wide: plot.equal_scale || plot.wide })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_ends_and_extremes() {
        let mut points: Vec<(f64, f64)> = (0..10_000).map(|i| (f64::from(i), f64::from(i % 7))).collect();
        points[5_003].1 = 99.0;
        let kept = thinned(&points);
        assert!(kept.len() <= MAX_LINE_POINTS + 2 && kept.contains(&points[5_003]));
        assert_eq!(kept.last(), points.last());
        assert!(kept.windows(2).all(|w| w[0].0 <= w[1].0));
    }
}
