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
    pub is_full_width: bool,
    /// Numbers of the solvers whose lines leave the plot, in ascending order.
    pub clipped_solvers: Vec<usize>,
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
    is_always_drawn: bool,
    /// Value in the unit of the label.
    value: fn(&Frame) -> f64,
}

/// Builds a row of [`CAR_CHANNELS`] or [`TRAILER_CHANNELS`]. `min_span` is the smallest range to draw,
/// `is_always_drawn` draws a channel that does not change.
const fn channel(
    title: &'static str,
    label: &'static str,
    min_span: f64,
    is_always_drawn: bool,
    value: fn(&Frame) -> f64,
) -> PlottedChannel {
    PlottedChannel { title, label, min_span, is_always_drawn, value }
}

/// Channels of the car: title, axis label, smallest range to draw, whether it is always drawn, value.
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
    channel("Hitch force, longitudinal", "force, N", 100.0, true, |f| hitch(f).fx_n),
    channel("Hitch force, lateral", "force, N", 100.0, true, |f| hitch(f).fy_n),
    channel("Hitch force, vertical", "force, N", 100.0, false, |f| hitch(f).fz_n),
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
/// the cars if at least two solvers are not peers, channels of each trailer, and the load of every wheel. The titles of
/// channels that do not change are returned as omitted.
///
/// # Errors
/// Returns an error if plotters cannot draw one of them.
pub fn draw_charts(comparison: &Comparison, model: &Model) -> io::Result<Charts> {
    let mut charts = Charts { charts: Vec::new(), omitted: Vec::new() };
    charts.charts.push(draw_path(comparison)?);
    // The profile needs the path of a car.
    if ground::has_ground_shapes(&comparison.scene) && !comparison.outcomes.is_empty() {
        charts.charts.push(draw_profile(comparison, model)?);
    }
    // "": no suffix of the titles.
    charts.add_channels(comparison, CAR_CHANNELS, "", |outcome| &outcome.trajectory)?;
    // Solvers that are not peers; the first one is the reference of the distances.
    let mut non_peers = comparison.outcomes.iter().filter(|outcome| !outcome.peer);
    if let (Some(reference), Some(_)) = (non_peers.next(), non_peers.next()) {
        charts.charts.push(draw_distance(comparison, reference)?);
    }
    // All outcomes have the same trailers.
    let trailers = comparison.outcomes.first().map_or(&[][..], |outcome| outcome.trajectory.trailers());
    for (unit_index, (name, _)) in trailers.iter().enumerate() {
        let title_suffix = format!(", {}", name.label().to_lowercase());
        charts.add_channels(comparison, TRAILER_CHANNELS, &title_suffix, |outcome| {
            &outcome.trajectory.trailers()[unit_index].1
        })?;
    }
    for i in 0..model.wheels().len() {
        let title = format!("Load of wheel {}", model.wheel_name(i));
        charts.charts.push(draw_channel(comparison, &title, "load, N", MIN_LOAD_RANGE_N, move |f| f.wheels[i].load_n)?);
    }
    Ok(charts)
}

impl Charts {
    /// Adds plots of those `channels` that change in the selected trajectory of an outcome or are always drawn, and the
    /// titles of the others to `omitted`. `title_suffix` is appended to the titles.
    fn add_channels(
        &mut self,
        comparison: &Comparison,
        channels: &[PlottedChannel],
        title_suffix: &str,
        select_trajectory: impl Fn(&Outcome) -> &Trajectory + Copy,
    ) -> io::Result<()> {
        for &PlottedChannel { title, label, min_span, is_always_drawn, value } in channels {
            let title = format!("{title}{title_suffix}");
            if is_always_drawn || has_changed(comparison, min_span, select_trajectory, value) {
                self.charts.push(draw_run_channel(comparison, &title, label, min_span, select_trajectory, |frame| {
                    Some(value(frame))
                })?);
            } else {
                self.omitted.push(title);
            }
        }
        Ok(())
    }
}

/// Returns whether `value` varies by more than half of `min_span` on any solver that is not a peer, or on the only
/// solver. The compared range is the largest less the smallest value over all rows.
fn has_changed(
    comparison: &Comparison,
    min_span: f64,
    select_trajectory: impl Fn(&Outcome) -> &Trajectory,
    value: impl Fn(&Frame) -> f64,
) -> bool {
    // A single solver counts even if it is a peer.
    comparison.outcomes.iter().filter(|outcome| !outcome.peer || comparison.outcomes.len() == 1).any(|outcome| {
        let values = select_trajectory(outcome).rows().map(|frame| value(&frame));
        let (low, high) = values.fold((f64::MAX, f64::MIN), |(low, high), sample| (low.min(sample), high.max(sample)));
        high - low > 0.5 * min_span
    })
}

/// Reduces a line to about [`MAX_LINE_POINTS`] points without a visible change: keeps the lowest and the highest
/// point of each group of neighbours, in order, and the last point. Points may be repeated. A line with at most
/// [`MAX_LINE_POINTS`] points is not changed.
fn thin_points(points: &[(f64, f64)]) -> Vec<(f64, f64)> {
    if points.len() <= MAX_LINE_POINTS {
        return points.to_vec();
    }
    // Two points are kept of each group.
    let group_size = points.len().div_ceil(MAX_LINE_POINTS / 2);
    let mut thinned_points = Vec::with_capacity(MAX_LINE_POINTS + 2);
    for group in points.chunks(group_size) {
        // Index of the lowest or the highest point of the group, the first one of several.
        let extreme_index = |is_more_extreme: fn(f64, f64) -> bool| {
            (1..group.len())
                .fold(0, |best_index, i| if is_more_extreme(group[i].1, group[best_index].1) { i } else { best_index })
        };
        let (low, high) = (extreme_index(|y, best_y| y < best_y), extreme_index(|y, best_y| y > best_y));
        thinned_points.extend([low.min(high), low.max(high)].map(|i| group[i]));
    }
    thinned_points.extend(points.last());
    thinned_points
}

/// Draws the path of the centre of mass of every solver from above with equal scales, with cones as dots, towed units
/// as thin lines, and the ground if it is more than a plane. Peers do not set the range of y. The title mentions
/// trailers and ground if they are drawn.
fn draw_path(comparison: &Comparison) -> io::Result<Chart> {
    // Path of a car or towed unit as a line.
    let path_series = |solver_number: usize, outcome: &Outcome, trajectory: &Trajectory| {
        let points = thinned_rows(trajectory).map(|f| (f.x_m, f.y_m)).collect();
        Series { solver_number, sets_range: !outcome.peer, points }
    };
    let outcomes = || comparison.outcomes.iter().enumerate();
    let towed: Vec<Series> = outcomes()
        .flat_map(|(solver_number, outcome)| {
            outcome
                .trajectory
                .trailers()
                .iter()
                .map(move |(_, trajectory)| path_series(solver_number, outcome, trajectory))
        })
        .collect();
    let trailer_text = if towed.is_empty() { "" } else { "; trailers as thin lines" };
    let has_ground_shapes = ground::has_ground_shapes(&comparison.scene);
    let plot = Plot {
        x_label: "x, m".into(),
        y_label: "y, m".into(),
        min_span: 1.0,
        equal_scale: true,
        dots: comparison.cones.clone(),
        ground: has_ground_shapes.then(|| comparison.scene.clone()),
        series: outcomes()
            .map(|(solver_number, outcome)| path_series(solver_number, outcome, &outcome.trajectory))
            .collect(),
        towed,
        ..Plot::default()
    };
    let ground_text =
        if has_ground_shapes { "; ground seen from above: lighter is higher, blue has less grip" } else { "" };
    draw_chart(&format!("Path of the centre of mass{trailer_text}{ground_text}"), &plot)
}

/// Iterates over evenly spaced rows from the first one, at most [`MAX_LINE_POINTS`], and then the last row, which may
/// be repeated.
fn thinned_rows(trajectory: &Trajectory) -> impl Iterator<Item = Cow<'_, Frame>> {
    let stride = trajectory.row_count().div_ceil(MAX_LINE_POINTS).max(1);
    trajectory.rows().step_by(stride).chain([Cow::Borrowed(trajectory.last())])
}

/// Returns the distance covered along the path at each of the [`thinned_rows`] rows (m). The distance is horizontal,
/// starts at 0 and is summed over these rows.
fn path_distances(outcome: &Outcome) -> Vec<f64> {
    let mut previous_point = (outcome.trajectory.first().x_m, outcome.trajectory.first().y_m);
    // Sum of the horizontal distances between neighbouring rows (m).
    let distances = thinned_rows(&outcome.trajectory).scan(0.0, |distance, f| {
        *distance += (f.x_m - previous_point.0).hypot(f.y_m - previous_point.1);
        previous_point = (f.x_m, f.y_m);
        Some(*distance)
    });
    distances.collect()
}

/// Draws the profile over the distance travelled: the height of the ground along the path of the first solver that is
/// not a peer (the first solver if all are peers), and the height of every car along its own path, less the static
/// height of its centre of mass. The ground has gaps where there is none. Requires at least one outcome.
fn draw_profile(comparison: &Comparison, model: &Model) -> io::Result<Chart> {
    let static_height = f64::from(model.parts().centre_height);
    let distances_by_outcome: Vec<Vec<f64>> = comparison.outcomes.iter().map(path_distances).collect();
    // Height of each car (m) over its own distance (m).
    let lines = comparison.outcomes.iter().zip(&distances_by_outcome).enumerate().map(
        |(solver_number, (outcome, distances))| {
            let points = distances
                .iter()
                .zip(thinned_rows(&outcome.trajectory))
                .map(|(distance, f)| (*distance, f.z_m - static_height))
                .collect();
            Series { solver_number, sets_range: !outcome.peer, points }
        },
    );
    // Outcome whose path is that of the ground profile.
    let reference_index = comparison.outcomes.iter().position(|outcome| !outcome.peer).unwrap_or(0);
    let path_points: Vec<(f64, f64)> =
        thinned_rows(&comparison.outcomes[reference_index].trajectory).map(|f| (f.x_m, f.y_m)).collect();
    let surfaces = ground::top_surfaces(&comparison.scene, &path_points);
    // NaN: a gap in the drawing.
    let ground_profile = distances_by_outcome[reference_index]
        .iter()
        .zip(surfaces)
        .map(|(distance, surface)| (*distance, surface.map_or(f64::NAN, |surface| surface.height)));
    let plot = Plot {
        x_label: "distance travelled, m".into(),
        y_label: "height, m".into(),
        min_span: 0.2,
        is_full_width: true,
        floor: ground_profile.collect(),
        series: lines.collect(),
        ..Plot::default()
    };
    draw_chart("Height profile: ground along the path, and height of the cars", &plot)
}

/// Draws the channel `value` of the cars over time. `min_span` is the smallest range of the y axis. Values and range
/// have the unit of `label`. The plot is named `title`.
fn draw_channel(
    comparison: &Comparison,
    title: &str,
    label: &str,
    min_span: f64,
    value: impl Fn(&Frame) -> f64,
) -> io::Result<Chart> {
    draw_optional_channel(comparison, title, label, min_span, |frame| Some(value(frame)))
}

/// Draws a channel of the cars over time that only some solvers have. Solvers without a value in the first row have no
/// line. `min_span` is the smallest range of the y axis, in the unit of `label`.
///
/// # Errors
/// Returns an error if plotters cannot draw it.
pub fn draw_optional_channel(
    comparison: &Comparison,
    title: &str,
    label: &str,
    min_span: f64,
    value: impl Fn(&Frame) -> Option<f64>,
) -> io::Result<Chart> {
    draw_run_channel(comparison, title, label, min_span, |outcome| &outcome.trajectory, value)
}

/// Draws a channel of the selected trajectory of every outcome over time. `select_trajectory` selects the trajectory of
/// the car or of a towed unit. `min_span` is the smallest range of the y axis, in the unit of `label`. Outcomes without
/// a value in the first row are omitted; a value that is missing later is drawn as 0. Peers do not set the range of y.
fn draw_run_channel(
    comparison: &Comparison,
    title: &str,
    label: &str,
    min_span: f64,
    select_trajectory: impl Fn(&Outcome) -> &Trajectory,
    value: impl Fn(&Frame) -> Option<f64>,
) -> io::Result<Chart> {
    let has_channel = |(_, outcome): &(usize, &Outcome)| value(select_trajectory(outcome).first()).is_some();
    let channel_line = |(solver_number, outcome): (usize, &Outcome)| {
        let points: Vec<_> = select_trajectory(outcome).rows().map(|f| (f.t_s, value(&f).unwrap_or(0.0))).collect();
        Series { solver_number, sets_range: !outcome.peer, points: thin_points(&points) }
    };
    let outcomes_with_channel = comparison.outcomes.iter().enumerate().filter(has_channel);
    let plot = Plot {
        x_label: "time, s".into(),
        y_label: label.into(),
        min_span,
        series: outcomes_with_channel.map(channel_line).collect(),
        ..Plot::default()
    };
    draw_chart(title, &plot)
}

/// Draws the horizontal distance of the cars (mm) from that of the solver `reference` over time, row by row. Peers and
/// `reference` itself have no line. A line ends with the shorter of both runs.
fn draw_distance(comparison: &Comparison, reference: &Outcome) -> io::Result<Chart> {
    let mut lines = Vec::new();
    for (solver_number, outcome) in comparison.outcomes.iter().enumerate() {
        if outcome.peer || outcome.backend == reference.backend {
            continue;
        }
        let row_pairs = outcome.trajectory.rows().zip(reference.trajectory.rows());
        let time_and_distance =
            |(a, b): (Cow<'_, Frame>, Cow<'_, Frame>)| (a.t_s, (a.x_m - b.x_m).hypot(a.y_m - b.y_m) * 1e3);
        lines.push(Series {
            solver_number,
            sets_range: true,
            points: thin_points(&row_pairs.map(time_and_distance).collect::<Vec<_>>()),
        });
    }
    let plot = Plot {
        x_label: "time, s".into(),
        y_label: "distance, mm".into(),
        min_span: 0.1,
        equal_scale: false,
        series: lines,
        ..Plot::default()
    };
    draw_chart(&format!("Distance from the car simulated by {}", reference.backend), &plot)
}

/// Draws `plot` with its heading.
///
/// # Errors
/// Returns an error if plotters cannot draw it.
pub fn draw_chart(title: &str, plot: &Plot) -> io::Result<Chart> {
    Ok(Chart {
        title: title.into(),
        svg: plot.svg(title)?,
        is_full_width: plot.equal_scale || plot.is_full_width,
        clipped_solvers: plot.clipped_solvers(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thinned line has about [`MAX_LINE_POINTS`] points in order of x, among them the highest and the last one.
    #[test]
    fn thinning_keeps_ends_and_extremes() {
        let mut points: Vec<(f64, f64)> = (0..10_000).map(|i| (f64::from(i), f64::from(i % 7))).collect();
        points[5_003].1 = 99.0;
        let kept = thin_points(&points);
        assert!(kept.len() <= MAX_LINE_POINTS + 2 && kept.contains(&points[5_003]));
        assert_eq!(kept.last(), points.last());
        assert!(kept.windows(2).all(|w| w[0].0 <= w[1].0));
    }
}
