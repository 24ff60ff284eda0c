//! Selection of the plots of a comparison: path, quantities that change, diagrams, loads and use of friction.

use core::ops::Range;

use skidpad_core::{Frame, Model};

use super::ground;
use super::plot::{Axis, Kind, Plot};
use super::runs::{SectionRuns, Unit};
use super::table::value_range;
use crate::friction::wheel_utilisation;
use crate::quantity::{
    CENTRE_HEIGHT, Diagram, FORWARD_SPEED, GG_DIAGRAM, LATERAL_ACCELERATION, LONGITUDINAL_ACCELERATION, PITCH_ANGLE,
    Quantity, ROAD_WHEEL_ANGLE, ROLL_ANGLE, SIDESLIP_ANGLE, YAW_RATE,
};
use crate::towing::hitch;

/// Plots of a comparison, and the headings of plots that are omitted because nothing changes.
pub struct Plots {
    /// Plots in the order of the page.
    pub plots: Vec<Plot>,
    /// Headings of the omitted plots.
    pub omitted: Vec<String>,
}

/// Quantities of the car that are drawn over time.
const CAR_QUANTITIES: [Quantity; 9] = [
    FORWARD_SPEED,
    ROAD_WHEEL_ANGLE,
    LATERAL_ACCELERATION,
    YAW_RATE,
    LONGITUDINAL_ACCELERATION,
    SIDESLIP_ANGLE,
    ROLL_ANGLE,
    PITCH_ANGLE,
    CENTRE_HEIGHT,
];

/// Quantity of a trailer over time: heading, label of the axis, unit, smallest range, value.
type TrailerQuantity = (&'static str, &'static str, &'static str, f64, fn(&Frame) -> f64);

/// Quantities of each trailer. Forces are those on the vehicle ahead.
const TRAILER_QUANTITIES: [TrailerQuantity; 5] = [
    ("Articulation angle", "articulation angle", "deg", 1.0, |f| hitch(f).articulation_rad.to_degrees()),
    ("Hitch force, longitudinal", "longitudinal hitch force", "N", 100.0, |f| hitch(f).fx_n),
    ("Hitch force, lateral", "lateral hitch force", "N", 100.0, |f| hitch(f).fy_n),
    ("Hitch force, vertical", "vertical hitch force", "N", 100.0, |f| hitch(f).fz_n),
    ("Lateral acceleration", "lateral acceleration", "m/s²", 0.3, |f| f.ay_mps2),
];

/// Smallest range of a wheel load (N).
const MIN_LOAD_RANGE_N: f64 = 200.0;
/// Smallest range of positions on a map (m).
const MIN_MAP_RANGE_M: f64 = 4.0;
/// Smallest range of the distance between cars (mm).
const MIN_DISTANCE_RANGE_MM: f64 = 2.0;
/// Smallest range of the use of friction (%).
const MIN_UTILISATION_RANGE_PERCENT: f64 = 5.0;
/// Smallest range of longitudinal slip (%).
const MIN_SLIP_RANGE_PERCENT: f64 = 2.0;
/// Smallest range of a slip angle (deg).
const MIN_SLIP_ANGLE_RANGE_DEG: f64 = 0.5;

/// Builds the plots of `runs`: path, height profile of ground that is not only a plane, diagrams of the manoeuvre,
/// quantities of the car over time, g-g diagram, loads of each axle, use of friction, slip and slip angles, distance
/// between the cars, quantities of each trailer. Adds their columns to the table of `runs`. Plots without changes are
/// omitted, except for the profile.
pub fn build_plots(runs: &mut SectionRuns<'_>) -> Plots {
    let mut plots = Plots { plots: Vec::new(), omitted: Vec::new() };
    let path = path(runs);
    plots.add(runs, path);
    if ground::has_ground_shapes(&runs.comparison().scene) && !runs.sources.is_empty() {
        plots.plots.push(profile(runs));
    }
    for diagram in &runs.comparison().diagrams {
        let plot = diagram_plot(runs, diagram);
        plots.add(runs, plot);
    }
    for quantity in &CAR_QUANTITIES {
        let columns = runs.add_quantity(quantity);
        let axis = Axis::new(quantity.label, quantity.unit, quantity.min_span);
        plots.add(runs, runs.time_plot(quantity.title, axis, &columns));
    }
    let gg_plot = diagram_plot(runs, &GG_DIAGRAM);
    plots.add(runs, gg_plot);
    add_wheel_plots(&mut plots, runs);
    add_distance(&mut plots, runs);
    add_trailers(&mut plots, runs);
    plots
}

impl Plots {
    /// Adds `plot` if one of its quantities changes, otherwise its heading to the omitted ones.
    pub fn add(&mut self, runs: &SectionRuns<'_>, plot: Plot) {
        if plot.has_changes(&runs.table) {
            self.plots.push(plot);
        } else {
            self.omitted.push(plot.title);
        }
    }
}

/// Builds the plot of the paths, seen from above: the centre of mass of each car and of each towed unit.
fn path(runs: &mut SectionRuns<'_>) -> Plot {
    let axes = ["x", "y"].map(|label| Axis::new(label, "m", MIN_MAP_RANGE_M));
    let mut plot = Plot::new("Path of the centre of mass", Kind::Map, axes);
    let [x, y] = positions(runs, Unit::Car);
    plot.curves = runs.curves("", &x, &y);
    for (index, name) in unit_names(runs).into_iter().enumerate() {
        let [x, y] = positions(runs, Unit::Towed(index));
        plot.curves.extend(runs.curves(&name, &x, &y));
    }
    plot
}

/// Adds a column of x and a column of y of `unit` (m) for each source. Returns the numbers of the columns of x, then
/// those of the columns of y.
pub fn positions(runs: &mut SectionRuns<'_>, unit: Unit) -> [Vec<usize>; 2] {
    // 0.05 m: smallest visible range of a position.
    [runs.add(unit, "x", 0.05, |_, f| Some(f.x_m)), runs.add(unit, "y", 0.05, |_, f| Some(f.y_m))]
}

/// Returns the ranges of x and y over the positions of the cars that are not reference vehicles (m).
pub fn driven_area(runs: &mut SectionRuns<'_>) -> [Range<f64>; 2] {
    positions(runs, Unit::Car).map(|columns| {
        let sources = runs.sources.iter().zip(&columns);
        let leading = sources.filter(|(source, _)| !source.is_peer()).map(|(_, column)| *column);
        let (low, high) = value_range(leading.flat_map(|column| runs.table.values(column).iter().copied()));
        low..high
    })
}

/// Returns the names of the towed units for people.
fn unit_names(runs: &SectionRuns<'_>) -> Vec<String> {
    // All outcomes have the same trailers.
    let trailers = runs.comparison().outcomes.first().map_or(&[][..], |outcome| outcome.trajectory.trailers());
    trailers.iter().map(|(name, _)| name.label().to_lowercase()).collect()
}

/// Builds the height profile over the distance travelled: the height of the ground along the path of the reference (the
/// first solver that is not a peer), and the height of every car along its own path. The height of a car is that of its
/// centre of mass less the static one. The ground has gaps where there is none. Requires at least one outcome.
fn profile(runs: &mut SectionRuns<'_>) -> Plot {
    let [x, y] = positions(runs, Unit::Car);
    let points = |source: usize| -> Vec<(f64, f64)> {
        let [xs, ys] = [&x, &y].map(|columns| runs.table.values(columns[source]));
        xs.iter().copied().zip(ys.iter().copied()).collect()
    };
    let distances: Vec<Vec<f64>> = (0..x.len()).map(|source| path_distances(&points(source))).collect();
    let ground_heights = ground::top_surfaces(&runs.comparison().scene, &points(runs.reference()))
        .into_iter()
        .map(|surface| surface.map_or(f64::NAN, |surface| surface.height))
        .collect();
    let distances = runs.add_values(distances, 0.05);
    let height_above_rest = |model: &Model, f: &Frame| Some(f.z_m - f64::from(model.parts().centre_height));
    let heights = runs.add(Unit::Car, "height above rest", 0.02, height_above_rest);
    let floor = runs.table.add(ground_heights, 0.02, None);
    let axes = [Axis::new("distance travelled", "m", 1.0), Axis::new("height", "m", 0.2)];
    let title = "Height profile: ground along the path, and height of the cars";
    let mut plot = Plot::new(title, Kind::Diagram, axes);
    plot.is_wide = true;
    plot.floor = Some([distances[runs.reference()], floor]);
    plot.curves = runs.curves("", &distances, &heights);
    plot
}

/// Returns the horizontal distance along the path of `points` (m), starting at 0 at the first finite point. Points that are
/// not finite, as in the gaps of a measured log, have the distance NaN. A gap counts with the straight line over it.
fn path_distances(points: &[(f64, f64)]) -> Vec<f64> {
    let mut distance = 0.0;
    // Last finite point.
    let mut previous: Option<(f64, f64)> = None;
    let distances = points.iter().map(|&(x, y)| {
        if !x.is_finite() || !y.is_finite() {
            return f64::NAN;
        }
        distance += previous.map_or(0.0, |previous| (x - previous.0).hypot(y - previous.1));
        previous = Some((x, y));
        distance
    });
    distances.collect()
}

/// Builds the plot of a diagram, a curve for each source.
fn diagram_plot(runs: &mut SectionRuns<'_>, diagram: &Diagram) -> Plot {
    let axes = [&diagram.x, &diagram.y].map(|axis| Axis::new(axis.label, axis.unit, axis.min_span));
    let kind = if diagram.has_equal_scales { Kind::EqualScales } else { Kind::Diagram };
    let mut plot = Plot::new(diagram.title, kind, axes);
    let [x, y] = [&diagram.x, &diagram.y].map(|quantity| runs.add_quantity(quantity));
    plot.curves = runs.curves("", &x, &y);
    plot
}

/// Adds a plot of the wheel loads for each axle, then the plots of use of friction, longitudinal slip and slip angle
/// for all axles. The latter show for each axle the value with the largest magnitude of its wheels. Axles are those of
/// the car with the most axles. A wheel without ground contact has no slip.
fn add_wheel_plots(plots: &mut Plots, runs: &mut SectionRuns<'_>) {
    let models = runs.cars.iter().map(|car| car.model);
    let Some(model) = models.max_by_key(|model| model.parts().axles.len()) else { return };
    let grip = runs.comparison().scene.grip;
    let axle_count = model.parts().axles.len();
    for axle in 0..axle_count {
        let axes = [Axis::new("time", "s", 0.0), Axis::new("wheel load", "N", MIN_LOAD_RANGE_N)];
        let mut plot = Plot::new(&format!("Loads of axle {}", axle + 1), Kind::Time, axes);
        for wheel in wheels_of_axle(model, axle) {
            let columns = load_columns(runs, wheel);
            // 0: the time is column 0 of the table.
            plot.curves.extend(runs.curves(&model.wheel_name(wheel), &vec![0; columns.len()], &columns));
        }
        if !plot.curves.is_empty() {
            plots.add(runs, plot);
        }
    }
    let utilisation = |model: &Model, frame: &Frame, wheel: usize| {
        wheel_utilisation(model, grip, frame, wheel).map(|share| share * 100.0)
    };
    let slip = |_: &Model, frame: &Frame, wheel: usize| {
        let frame = &frame.wheels[wheel];
        (frame.contact > 0.0).then_some(frame.slip_ratio * 100.0)
    };
    let slip_angle = |_: &Model, frame: &Frame, wheel: usize| {
        let frame = &frame.wheels[wheel];
        (frame.contact > 0.0).then(|| frame.slip_angle_rad.to_degrees())
    };
    let axis = Axis::new("share of the friction", "%", MIN_UTILISATION_RANGE_PERCENT);
    let mut friction_plot = axle_plot(runs, "Use of friction", axis, axle_count, &utilisation);
    // A tyre slides, or is at the peak of its slip curve.
    friction_plot.levels = vec![100.0];
    plots.add(runs, friction_plot);
    let axis = Axis::new("longitudinal slip", "%", MIN_SLIP_RANGE_PERCENT);
    let slip_plot = axle_plot(runs, "Longitudinal slip", axis, axle_count, &slip);
    plots.add(runs, slip_plot);
    let axis = Axis::new("slip angle", "deg", MIN_SLIP_ANGLE_RANGE_DEG);
    let angle_plot = axle_plot(runs, "Slip angles", axis, axle_count, &slip_angle);
    plots.add(runs, angle_plot);
}

/// Adds the columns of the load of wheel number `wheel` (N) and returns them.
pub fn load_columns(runs: &mut SectionRuns<'_>, wheel: usize) -> Vec<usize> {
    // 20 N: smallest visible range of a load.
    runs.add(Unit::Car, &format!("load {wheel}"), 20.0, |_, f| f.wheels.get(wheel).map(|wheel| wheel.load_n))
}

/// Builds a plot over time with a curve for each axle and source. The curve is `value` of the wheel of the axle with
/// the largest magnitude. Curves of peers (reference vehicles) are left out, because they do not use the tyres of the
/// description.
fn axle_plot(
    runs: &mut SectionRuns<'_>,
    title: &str,
    axis: Axis,
    axle_count: usize,
    value: &dyn Fn(&Model, &Frame, usize) -> Option<f64>,
) -> Plot {
    let mut plot = Plot::new(title, Kind::Time, [Axis::new("time", "s", 0.0), axis.clone()]);
    for axle in 0..axle_count {
        let largest = |model: &Model, frame: &Frame| {
            let values = wheels_of_axle(model, axle).filter_map(|wheel| value(model, frame, wheel));
            // Wheels that a log does not measure have no value.
            values.filter(|value| value.is_finite()).max_by(|a, b| a.abs().total_cmp(&b.abs()))
        };
        let columns = runs.add(Unit::Car, &format!("{} {axle}", axis.label), axis.min_span, largest);
        let curves = runs.curves(&format!("axle {}", axle + 1), &vec![0; columns.len()], &columns);
        plot.curves.extend(curves.into_iter().filter(|curve| curve.sets_range));
    }
    plot
}

/// Iterates over the numbers of the wheels of axle number `axle`, counted from 0.
fn wheels_of_axle(model: &Model, axle: usize) -> impl Iterator<Item = usize> {
    model.wheels().iter().enumerate().filter(move |(_, wheel)| wheel.axle == axle).map(|(index, _)| index)
}

/// Adds the plot of the horizontal distance of each car from the car of the reference solver (mm) over time. Peers and
/// the reference itself have no curve. Nothing is added for a section about two cars, or with fewer than two sources
/// that are not peers.
fn add_distance(plots: &mut Plots, runs: &mut SectionRuns<'_>) {
    let reference = runs.reference();
    if runs.cars.len() > 1 || runs.sources.iter().filter(|source| !source.is_peer()).count() < 2 {
        return;
    }
    let frames = |source: usize| runs.frames(source, Unit::Car);
    let distances = (0..runs.sources.len()).map(|source| {
        if runs.sources[source].is_peer() || source == reference {
            return Vec::new();
        }
        let pairs = frames(source).iter().zip(frames(reference));
        pairs.map(|(a, b)| (a.x_m - b.x_m).hypot(a.y_m - b.y_m) * 1e3).collect()
    });
    let distances: Vec<Vec<f64>> = distances.collect();
    let columns =
        distances.into_iter().map(|values| runs.table.add(values, MIN_DISTANCE_RANGE_MM, None)).collect::<Vec<_>>();
    let title = format!("Distance from the car of {}", runs.sources[reference].name);
    let plot = runs.time_plot(&title, Axis::new("distance", "mm", MIN_DISTANCE_RANGE_MM), &columns);
    if !plot.curves.is_empty() {
        plots.add(runs, plot);
    }
}

/// Adds the quantities of each trailer over time.
fn add_trailers(plots: &mut Plots, runs: &mut SectionRuns<'_>) {
    for (index, name) in unit_names(runs).into_iter().enumerate() {
        for (title, label, unit, min_span, value) in TRAILER_QUANTITIES {
            let columns = runs.add(Unit::Towed(index), label, min_span, |_, frame| Some(value(frame)));
            let plot = runs.time_plot(&format!("{title}, {name}"), Axis::new(label, unit, min_span), &columns);
            plots.add(runs, plot);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A gap in a measured log counts with the straight line over it.
    #[test]
    fn gaps_do_not_end_the_distance() {
        let gap = (f64::NAN, 1.0);
        let found = path_distances(&[gap, (1.0, 0.0), (4.0, 4.0), gap, (4.0, 6.0)]);
        assert!(found[0].is_nan() && found[3].is_nan());
        assert_eq!([found[1], found[2], found[4]], [0.0, 5.0, 7.0]);
    }
}
