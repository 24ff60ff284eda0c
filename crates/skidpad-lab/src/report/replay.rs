//! Data of the animated replay: dimensions of the vehicles, and the columns of their poses and forces.

use serde_json::{Value, json};
use skidpad_core::{Frame, Model, WheelFrame};

use super::plots::{load_columns, positions};
use super::runs::{SectionRuns, Source, Unit};
use super::table::rounded;
use crate::quantity::{
    FORWARD_SPEED, LATERAL_ACCELERATION, LONGITUDINAL_ACCELERATION, ROAD_WHEEL_ANGLE, ROLL_ANGLE, YAW_RATE,
};

/// Smallest visible range of a force (N).
const MIN_FORCE_RANGE_N: f64 = 20.0;
/// Smallest visible range of a compression (m).
const MIN_COMPRESSION_RANGE_M: f64 = 1e-3;
/// Smallest visible range of an angle (rad).
const MIN_ANGLE_RANGE_RAD: f64 = 1e-3;
/// Number of steering angles for which the angles of the wheels are stored, from full lock right to full lock left.
const STEER_SAMPLES: usize = 9;

/// Adds the columns of the replay to `runs`, and returns the description of the replay for the page. The description
/// has the dimensions of the cars and of the towed units, and for each source the columns of pose, speed,
/// accelerations, wheels, anti-roll bars (`bars`) and towed units. A measured log is left out unless it has positions
/// and the yaw angle.
pub fn replay(runs: &mut SectionRuns<'_>) -> Value {
    let [x, y] = positions(runs, Unit::Car);
    let yaw = yaw_columns(runs, Unit::Car);
    let quantities =
        [ROAD_WHEEL_ANGLE, ROLL_ANGLE, FORWARD_SPEED, YAW_RATE, LATERAL_ACCELERATION, LONGITUDINAL_ACCELERATION];
    let quantities = quantities.map(|quantity| runs.add_quantity(&quantity));
    let wheel_count = runs.cars.iter().map(|car| car.model.wheels().len()).max().unwrap_or(0);
    let wheels: Vec<[Vec<usize>; 4]> = (0..wheel_count).map(|wheel| wheel_columns(runs, wheel)).collect();
    let bar_count = runs.cars.iter().map(|car| car.model.parts().bars.len()).max().unwrap_or(0);
    let bars: Vec<Vec<usize>> = (0..bar_count)
        .map(|bar| runs.add(Unit::Car, &format!("bar {bar}"), MIN_FORCE_RANGE_N, |model, f| bar_force(model, f, bar)))
        .collect();
    let units: Vec<[Vec<usize>; 3]> = (0..runs.comparison().trailers.len())
        .map(|unit| {
            let [x, y] = positions(runs, Unit::Towed(unit));
            [x, y, yaw_columns(runs, Unit::Towed(unit))]
        })
        .collect();
    let has_pose = |source: &usize| {
        [&x, &y, &yaw].iter().all(|columns| runs.table.values(columns[*source]).iter().any(|value| !value.is_nan()))
    };
    let source_json = |source: usize| {
        let Source { car, model, .. } = &runs.sources[source];
        let (wheels, bars) = (wheels.iter().take(model.wheels().len()), bars.iter().take(model.parts().bars.len()));
        json!({
            "car": car,
            "x": x[source],
            "y": y[source],
            "yaw": yaw[source],
            "steer": quantities[0][source],
            "roll": quantities[1][source],
            "speed": quantities[2][source],
            "yaw_rate": quantities[3][source],
            "ay": quantities[4][source],
            "ax": quantities[5][source],
            "wheels": wheels.map(|columns| columns.each_ref().map(|column| column[source])).collect::<Vec<_>>(),
            "bars": bars.map(|columns| columns[source]).collect::<Vec<_>>(),
            "units": units.iter().map(|columns| columns.each_ref().map(|c| c[source])).collect::<Vec<_>>(),
        })
    };
    // A measured log is the last source, so that sources keep their numbers without it.
    let drawn = (0..x.len()).filter(|source| !runs.sources[*source].is_measured() || has_pose(source));
    json!({
        "cars": runs.cars.iter().map(|car| vehicle_json(car.model)).collect::<Vec<_>>(),
        "units": runs.comparison().trailers.iter().map(|unit| vehicle_json(&unit.model)).collect::<Vec<_>>(),
        "solvers": drawn.map(source_json).collect::<Vec<_>>(),
        "reference": runs.reference(),
    })
}

/// Adds the columns of wheel number `wheel`, and returns them: load, longitudinal and lateral force of the tyre (N),
/// and compression (m).
fn wheel_columns(runs: &mut SectionRuns<'_>, wheel: usize) -> [Vec<usize>; 4] {
    let load = load_columns(runs, wheel);
    let mut add = |name: &str, min_span: f64, value: &dyn Fn(&WheelFrame) -> f64| {
        runs.add(Unit::Car, &format!("{name} {wheel}"), min_span, |_, frame| frame.wheels.get(wheel).map(value))
    };
    [
        load,
        add("fx", MIN_FORCE_RANGE_N, &|wheel| wheel.fx_n),
        add("fy", MIN_FORCE_RANGE_N, &|wheel| wheel.fy_n),
        add("compression", MIN_COMPRESSION_RANGE_M, &|wheel| wheel.compression_m),
    ]
}

/// Adds the columns of the yaw angle of `unit` (rad), without jumps at ±π, and returns them.
fn yaw_columns(runs: &mut SectionRuns<'_>, unit: Unit) -> Vec<usize> {
    let yaw_angles = |source: usize| unwrap_angles(runs.frames(source, unit).iter().map(|frame| frame.yaw_rad));
    let all_angles = (0..runs.sources.len()).map(yaw_angles).collect();
    runs.add_values(all_angles, MIN_ANGLE_RANGE_RAD)
}

/// Adds full turns to `angles` (rad), so that neighbours differ by at most half a turn. Angles that are not finite, as in
/// the gaps of a measured log, stay as they are and count as no neighbours.
fn unwrap_angles(angles: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut previous: Option<f64> = None;
    let unwrapped = angles.map(|angle| {
        let turns = previous.map_or(0.0, |previous| ((previous - angle) / core::f64::consts::TAU).round());
        let angle = angle + turns * core::f64::consts::TAU;
        previous = Some(angle).filter(|angle| angle.is_finite()).or(previous);
        angle
    });
    unwrapped.collect()
}

/// Computes the force of anti-roll bar number `bar_index` at the speed of `frame` (N): rate times the difference of the
/// wheel compressions, left less right. The bar adds this force to the strut of the left wheel and subtracts it from
/// the strut of the right wheel. `None` if the model does not have the bar.
fn bar_force(model: &Model, frame: &Frame, bar_index: usize) -> Option<f64> {
    let bar = model.parts().bars.get(bar_index)?;
    let [left, right] = bar.wheels.map(|wheel_index| frame.wheels[wheel_index].compression_m);
    Some(f64::from(bar.rate_at(frame.vx_mps as f32)) * (left - right))
}

/// Returns the dimensions of a vehicle for the page (m), in its axes and relative to the centre of mass: hull, height
/// of the centre of mass above the ground, and steering lock (rad). Each wheel has position, radius, name, static load
/// (N), and its road-wheel angles (rad) at [`STEER_SAMPLES`] angles from full lock right to full lock left.
fn vehicle_json(model: &Model) -> Value {
    let parts = model.parts();
    let short = |value: f32| rounded(f64::from(value));
    let hull = &parts.hull;
    let lock = parts.steering.lock * model.steer_ratio();
    let wheel_json = |(index, wheel): (usize, &skidpad_core::model::Wheel)| {
        json!({
            "name": model.wheel_name(index),
            "x": short(wheel.contact.x),
            "y": short(wheel.contact.y),
            "radius": short(wheel.radius),
            "static_load": short(model.static_load(index)),
            "angles": wheel_angles(model, index, lock).into_iter().map(short).collect::<Vec<_>>(),
        })
    };
    json!({
        "hull": {
            "centre": hull.centre.to_array().map(short),
            "half": hull.half_extents.to_array().map(short),
        },
        "height": short(parts.centre_height),
        "lock": short(lock),
        "wheels": model.wheels().iter().enumerate().map(wheel_json).collect::<Vec<_>>(),
    })
}

/// Returns the road-wheel angles of wheel number `wheel` with its static toe (rad). The angles are those at
/// [`STEER_SAMPLES`] mean angles of the first steered axle, evenly spaced from −`lock` (right) to `lock` (left).
fn wheel_angles(model: &Model, wheel: usize, lock: f32) -> Vec<f32> {
    let parts = model.parts();
    let wheel_spec = &model.wheels()[wheel];
    let angle_at = |sample: usize| {
        let share = 2.0 * sample as f32 / (STEER_SAMPLES - 1) as f32 - 1.0;
        // Angle of the steering before the ratios of the axles.
        let steer = share * lock / model.steer_ratio();
        let axle_angles: Vec<f32> = parts.axles.iter().map(|axle| steer * axle.steer_ratio).collect();
        let [left, right] = model.road_wheel_angles(&axle_angles)[wheel_spec.axle];
        let is_left = wheel_spec.contact.y >= 0.0;
        // Positive toe turns the front of both wheels inwards.
        (if is_left { left } else { right }) + if is_left { -wheel_spec.toe } else { wheel_spec.toe }
    };
    (0..STEER_SAMPLES).map(angle_at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use skidpad_core::model::AntiRollBar;

    /// Row A20: the force of an anti-roll bar in the view from behind is its rate times the difference of the
    /// compressions.
    #[test]
    fn a20_the_view_from_behind_has_the_force_of_each_bar() {
        let mut parts = testing::model().parts().clone();
        parts.bars = vec![AntiRollBar { wheels: [0, 1], rate: 20e3, ..AntiRollBar::default() }];
        let model = Model::new(parts).expect("valid");
        let mut frame = testing::sampled(0.1, 0.1, |_, _| {}).first().clone();
        (frame.wheels[0].compression_m, frame.wheels[1].compression_m) = (0.01, -0.02);
        assert!(bar_force(&model, &frame, 0).is_some_and(|force| (force - 600.0).abs() < 1e-6));
        assert_eq!(bar_force(&model, &frame, 1), None);
    }

    /// Wheels of the steered axle turn by the mean angle without Ackermann geometry, others do not turn.
    #[test]
    fn wheels_turn_with_their_axle() {
        let model = testing::model();
        let (front, rear) = (wheel_angles(&model, 0, 0.6), wheel_angles(&model, 2, 0.6));
        assert!((front[0] + 0.6).abs() < 1e-6 && (front[STEER_SAMPLES - 1] - 0.6).abs() < 1e-6, "{front:?}");
        assert!(rear.iter().all(|angle| *angle == 0.0));
    }

    /// Angles that pass ±π continue.
    #[test]
    fn angles_continue_beyond_half_a_turn() {
        let angles = unwrap_angles([3.0, -3.0, -2.0, 3.0].into_iter());
        let turn = core::f64::consts::TAU;
        for (angle, expected) in angles.iter().zip([3.0, turn - 3.0, turn - 2.0, 3.0]) {
            assert!((angle - expected).abs() < 1e-12, "{angles:?}");
        }
    }

    /// Angles beyond a gap continue those before it.
    #[test]
    fn gaps_do_not_end_the_angles() {
        let angles = unwrap_angles([f64::NAN, 3.0, f64::NAN, -3.0].into_iter());
        assert!(angles[0].is_nan() && angles[2].is_nan() && angles[1] == 3.0, "{angles:?}");
        assert!((angles[3] - (core::f64::consts::TAU - 3.0)).abs() < 1e-12, "{angles:?}");
    }
}
