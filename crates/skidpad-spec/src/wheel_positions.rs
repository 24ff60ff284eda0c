//! Wheel positions, wheel loads and box inertia. This module is the only place that converts positions of a file into
//! the vehicle frame.

use crate::spec::{Axle, Chassis, Hitch, VehicleSpec};
use skidpad_core::model::{Side, carried_masses};

/// Contact point of a wheel at rest.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WheelPosition {
    /// Index of the axle.
    pub axle: usize,
    /// Side of the vehicle.
    pub side: Side,
    /// Position from the centre of mass, forward and left, m. Rounded to single precision, as in the model.
    pub point: [f64; 2],
}

/// Returns the positions of all wheels, axle by axle from the front, left before right: half the track to each side of
/// the middle of the vehicle, or the middle for an axle without a track (side `Centre`). Positions are relative to the
/// centre of mass, which may be beside the middle, and rounded to single precision.
pub(crate) fn wheel_positions(spec: &VehicleSpec) -> Vec<WheelPosition> {
    let mut wheel_positions = Vec::new();
    for (axle, axle_spec) in spec.axles.iter().enumerate() {
        let mut push_wheel = |side, left: f64| {
            let [x, y, _] = to_vehicle_frame(&spec.chassis, [axle_spec.behind_front_axle_m, left, 0.0]);
            wheel_positions.push(WheelPosition { axle, side, point: [x, y].map(|c| f64::from(c as f32)) });
        };
        match axle_spec.track_m {
            Some(track) => {
                push_wheel(Side::Left, 0.5 * track);
                push_wheel(Side::Right, -0.5 * track);
            }
            None => push_wheel(Side::Centre, 0.0),
        }
    }
    wheel_positions
}

/// Computes the mass that each wheel carries at rest, as a share of the vehicle's own mass, in the order of
/// [`wheel_positions`]. The mass that rests on the hitch is included, and the part that a coupler carries is not: the
/// sum may differ from 1. Positions of coupler and hitch are rounded to single precision, as those of the wheels are,
/// so that the loads are those of the model. Returns `None` if the centre of mass lies outside of the wheels and, for a
/// trailer, its coupler.
pub(crate) fn wheel_load_shares(spec: &VehicleSpec) -> Option<Vec<f64>> {
    let points: Vec<[f64; 2]> = wheel_positions(spec).iter().map(|position| position.point).collect();
    let point_in_plane = |behind: f64, left: f64| {
        let [x, y, _] = to_vehicle_frame(&spec.chassis, [behind, left, 0.0]);
        [x, y].map(|c| f64::from(c as f32))
    };
    let coupler = spec.coupler.as_ref().map(|coupler| point_in_plane(coupler.behind_front_axle_m, coupler.left_m));
    // Mass on the hitch as a share of the mass of the vehicle.
    let hitch_load_share = |hitch: &Hitch| hitch.carried_mass_kg / spec.chassis.mass_kg;
    // Point and load share.
    let hitch = spec
        .hitch
        .as_ref()
        .map(|hitch| (point_in_plane(hitch.behind_front_axle_m, hitch.left_m), hitch_load_share(hitch)));
    // A mass of 1 gives shares.
    carried_masses(&points, coupler, hitch, 1.0)
}

/// Returns the distance from axle `i` to the turning axis, m, positive if the axle is ahead of it. The turning axis is
/// the lateral line through the centre of a slow turn.
pub(crate) fn turning_distance(spec: &VehicleSpec, i: usize) -> f64 {
    turning_axis(&spec.axles) - spec.axles[i].behind_front_axle_m
}

/// Largest distance of the turning axis from the mean axle position, in RMS distances of the axles from that mean.
/// Axles with equal steer ratios have no turning axis.
const MAX_TURNING_AXIS_DISTANCE: f64 = 1e3;

/// Returns the position of the turning axis, m behind the front axle. The turning axis is at the mean of the unsteered
/// axles. If all axles are steered, it is at the zero of the line through their steer ratios over their positions, a
/// least-squares fit for three or more axles. The distance from the mean axle position is limited to
/// [`MAX_TURNING_AXIS_DISTANCE`] times the RMS distance of the axles, also if the ratios are equal.
fn turning_axis(axles: &[Axle]) -> f64 {
    let unsteered_positions: Vec<f64> =
        axles.iter().filter(|axle| axle.steer_ratio == 0.0).map(|axle| axle.behind_front_axle_m).collect();
    if !unsteered_positions.is_empty() {
        return unsteered_positions.iter().sum::<f64>() / unsteered_positions.len() as f64;
    }
    let mean_over_axles =
        |quantity: &dyn Fn(&Axle) -> f64| axles.iter().map(quantity).sum::<f64>() / axles.len() as f64;
    let (mean_position, mean_ratio) =
        (mean_over_axles(&|axle| axle.behind_front_axle_m), mean_over_axles(&|axle| axle.steer_ratio));
    let offset = |axle: &Axle| axle.behind_front_axle_m - mean_position;
    // Covariance of position and steer ratio, and variance of the position.
    let [covariance, variance] =
        [mean_over_axles(&|axle| offset(axle) * axle.steer_ratio), mean_over_axles(&|axle| offset(axle).powi(2))];
    let max_distance = MAX_TURNING_AXIS_DISTANCE * variance.sqrt();
    // A line without slope makes the quotient infinite or NaN. `min` and `max` limit both.
    mean_position - (mean_ratio * variance / covariance).min(max_distance).max(-max_distance)
}

/// Converts a point of the file (behind the front axle, left, above ground, m) to the vehicle frame (forward, left and
/// up from the centre of mass, m).
pub(crate) fn to_vehicle_frame(chassis: &Chassis, [behind, left, above]: [f64; 3]) -> [f64; 3] {
    [chassis.centre_behind_front_axle_m - behind, left - chassis.centre_left_m, above - chassis.centre_above_ground_m]
}

/// Computes the inertia of the boxes about the stated centre of mass by the parallel-axis theorem: the sum of each
/// box's own moments and its mass at its centre, times stated mass / mass of the boxes. Returns Ixx, Iyy, Izz and the
/// products ∫ x y dm, ∫ x z dm, ∫ y z dm, kg m² (0, 0, 0 for a single box at the centre). The axes are those of the
/// vehicle frame.
pub(crate) fn inertia_of_boxes(chassis: &Chassis) -> [f64; 6] {
    let mut inertia = [0.0; 6];
    for box_spec in &chassis.boxes {
        let own_inertia = skidpad_core::model::box_inertia(
            box_spec.mass_kg,
            [box_spec.length_m, box_spec.width_m, box_spec.height_m],
        );
        let box_position = [box_spec.behind_front_axle_m, box_spec.left_m, box_spec.above_ground_m];
        let [x, y, z] = to_vehicle_frame(chassis, box_position);
        let steiner_terms = [y * y + z * z, x * x + z * z, x * x + y * y, x * y, x * z, y * z];
        for i in 0..6 {
            // `own_inertia` has the three moments; a box has no products about its own axes.
            inertia[i] += own_inertia.get(i).copied().unwrap_or(0.0) + box_spec.mass_kg * steiner_terms[i];
        }
    }
    let total_mass: f64 = chassis.boxes.iter().map(|box_spec| box_spec.mass_kg).sum();
    inertia.map(|value| value * chassis.mass_kg / total_mass)
}
