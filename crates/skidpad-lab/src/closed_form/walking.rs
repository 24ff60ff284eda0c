//! Side forces with which the axles of a steered vehicle work against each other at walking pace.
//!
//! At walking pace cornering needs no side force. Tyres have side forces only if the axes of the wheels do not
//! intersect in one point. The lateral velocity and the yaw rate per forward speed are those at which the side forces
//! and their yaw moments sum to zero. This is the minimum of the squared lateral velocities of the wheels, weighted by
//! the secant stiffnesses of the tyres at their slips.

use skidpad_core::Model;
use skidpad_core::model::{Side, Wheel};
use skidpad_core::tyre::Conditions;

use super::GRAVITY_MPS2;

/// Largest lateral slip, the tangent of the slip angle (–).
const MAX_LATERAL_SLIP: f64 = 1.0;
/// Maximum number of iterations of the weights.
const MAX_WEIGHT_ITERATIONS: usize = 200;
/// Change of the yaw rate per forward speed below which the iteration has converged (1/m).
const YAW_RATE_TOLERANCE: f64 = 1e-9;
/// Share of the static axle load above which the side force of an axle is reported (–).
const REPORTED_FORCE_SHARE: f64 = 0.1;

/// Wheel in a turn at walking pace.
struct SteeredWheel {
    /// Position of the contact point from the centre of mass, [x, y] (m).
    contact_point: [f64; 2],
    /// Sine and cosine of the road-wheel angle.
    sin_cos: (f64, f64),
    /// Number of the wheel.
    index: usize,
}

impl SteeredWheel {
    /// Returns the coefficients of the velocity of the wheel perpendicular to its plane, `a v_y + b ψ̇ + c` per
    /// forward speed of the vehicle, as ([a, b], c): `a = cos δ`, `b = y sin δ + x cos δ`, `c = −sin δ`.
    fn lateral_velocity_terms(&self) -> ([f64; 2], f64) {
        let ([x, y], (sin, cos)) = (self.contact_point, self.sin_cos);
        ([cos, sin * y + cos * x], -sin)
    }

    /// Computes the velocity of the wheel along its plane per forward speed of the vehicle (–). `lateral_velocity` is
    /// that of the vehicle (–) and `yaw_rate` its yaw rate (1/m), both per forward speed.
    fn rolling_velocity(&self, [lateral_velocity, yaw_rate]: [f64; 2]) -> f64 {
        let ([x, y], (sin, cos)) = (self.contact_point, self.sin_cos);
        cos * (1.0 - yaw_rate * y) + sin * (lateral_velocity + yaw_rate * x)
    }

    /// Computes the side force of the tyre at the static load (N, positive to the left of the wheel).
    /// `perpendicular_velocity` is the velocity across the wheel plane, `rolling_velocity` that along the wheel plane;
    /// both are per forward speed of the vehicle. The lateral slip is their ratio, limited to ±[`MAX_LATERAL_SLIP`].
    /// The speed of the tyre is 1 m/s.
    fn side_force(&self, model: &Model, perpendicular_velocity: f64, rolling_velocity: f64) -> f64 {
        let slip = (-perpendicular_velocity / rolling_velocity.abs().max(1e-6))
            .clamp(-MAX_LATERAL_SLIP, MAX_LATERAL_SLIP) as f32;
        // 1.0: speed of the tyre (m/s); 0.0: longitudinal slip; [1]: lateral force.
        let conditions = Conditions::upright(model.static_load(self.index), 1.0);
        model.tyre_force(self.index, [0.0, slip], &conditions).force[1].into()
    }
}

/// Computes for each axle the sum of the side forces of its wheels at walking pace (N, positive to the left of the
/// wheels). `angles` are the mean road-wheel angles of the axles (rad).
///
/// Iterates the least-squares motion of the vehicle with the secant stiffnesses of the tyres as weights, starting from
/// their cornering stiffnesses. The secant stiffness is side force over velocity across the wheel; a wheel without this
/// velocity keeps its weight. The iteration ends once the yaw rate changes by less than [`YAW_RATE_TOLERANCE`], or
/// after 200 iterations. `None` for tyres without creep (dry friction), or if the least-squares equations are singular.
fn side_forces(model: &Model, angles: &[f64]) -> Option<Vec<f64>> {
    // Angles of the left and the right wheel of each axle (rad).
    let road_wheel_angles = model.road_wheel_angles(&angles.iter().map(|angle| *angle as f32).collect::<Vec<_>>());
    let steered_wheel = |(i, wheel): (usize, &Wheel)| {
        let angle = road_wheel_angles[wheel.axle][usize::from(wheel.side == Side::Right)];
        SteeredWheel {
            contact_point: [wheel.contact.x, wheel.contact.y].map(f64::from),
            sin_cos: f64::from(angle).sin_cos(),
            index: i,
        }
    };
    let wheels: Vec<SteeredWheel> = model.wheels().iter().enumerate().map(steered_wheel).collect();
    // Cornering stiffness of wheel `i` at its static load (N/rad).
    let initial_stiffness = |i: usize| {
        model.tyre(i).has_deflection_dynamics().then(|| model.tyre(i).stiffness_at(model.static_load(i))[1].into())
    };
    let mut weights: Vec<f64> = (0..wheels.len()).map(initial_stiffness).collect::<Option<_>>()?;
    // Lateral velocity (–) and yaw rate (1/m) per forward speed.
    let mut motion = [0.0; 2];
    let mut forces = vec![0.0; wheels.len()];
    for _ in 0..MAX_WEIGHT_ITERATIONS {
        let previous_yaw_rate = motion[1];
        motion = solve_least_squares(&wheels, &weights)?;
        for ((wheel, weight), force) in wheels.iter().zip(&mut weights).zip(&mut forces) {
            let ([velocity_factor, yaw_factor], constant_term) = wheel.lateral_velocity_terms();
            let perpendicular_velocity = velocity_factor * motion[0] + yaw_factor * motion[1] + constant_term;
            *force = wheel.side_force(model, perpendicular_velocity, wheel.rolling_velocity(motion));
            // Secant stiffness; not defined without a velocity.
            if perpendicular_velocity.abs() > 1e-9 {
                *weight = force.abs() / perpendicular_velocity.abs();
            }
        }
        if (motion[1] - previous_yaw_rate).abs() < YAW_RATE_TOLERANCE {
            break;
        }
    }
    let axles = 0..model.parts().axles.len();
    let axle_wheels =
        |axle: usize| wheels.iter().zip(&forces).filter(move |(wheel, _)| model.wheels()[wheel.index].axle == axle);
    Some(axles.map(|axle| axle_wheels(axle).map(|(_, force)| force).sum()).collect())
}

/// Computes lateral velocity (–) and yaw rate (1/m), both per forward speed, that minimise the weighted sum of the
/// squared velocities of the wheels across their planes. Solves the normal equations; `None` if they are singular.
fn solve_least_squares(wheels: &[SteeredWheel], weights: &[f64]) -> Option<[f64; 2]> {
    // Normal equations `aa v_y + ab ψ̇ = ga`, `ab v_y + bb ψ̇ = gb`, with weighted sums of the products a a, a b, b b,
    // −a c and −b c of the terms `a v_y + b ψ̇ + c` of all wheels.
    let [mut aa, mut ab, mut bb, mut ga, mut gb] = [0.0; 5];
    for (wheel, weight) in wheels.iter().zip(weights) {
        let ([a, b], constant_term) = wheel.lateral_velocity_terms();
        aa += weight * a * a;
        ab += weight * a * b;
        bb += weight * b * b;
        ga -= weight * a * constant_term;
        gb -= weight * b * constant_term;
    }
    let determinant = aa * bb - ab * ab;
    (determinant > 1e-12 * aa * bb).then(|| [(bb * ga - ab * gb) / determinant, (aa * gb - ab * ga) / determinant])
}

/// Returns a note if the steered axles do not turn about one point at full lock. The leading axle is the steered axle
/// farthest from the turning axis. Its angle at full lock sets the curvature of the path, and so the matching angles of
/// the other axles.
///
/// The side forces at walking pace are computed for the described and for the matching angles. There is a note if both
/// differ on some axle by more than a tenth of its static load. Only the difference counts, because unsteered axles of
/// a tandem always work against each other. The note names the axle whose angle differs most, the leading axle, and the
/// axle with the largest difference of the side force.
///
/// `None` if all differences are smaller, if nothing steers, or for tyres without creep (dry friction).
pub(super) fn axle_conflict_note(model: &Model) -> Option<String> {
    let axles = &model.parts().axles;
    let steered = || axles.iter().enumerate().filter(|(_, axle)| axle.steer_ratio != 0.0);
    // Of axles at equal distances, the first one leads.
    let (leading_index, leading) = steered()
        .max_by(|a, b| a.1.turning_distance.abs().total_cmp(&b.1.turning_distance.abs()).then(b.0.cmp(&a.0)))?;
    let lock = f64::from(model.parts().steering.lock);
    let described_angles: Vec<f64> = axles.iter().map(|axle| f64::from(axle.steer_ratio) * lock).collect();
    // Path curvature of the leading axle at full lock (1/m).
    let curvature = described_angles[leading_index].tan() / f64::from(leading.turning_distance);
    let matching_angle = |axle: usize| (f64::from(axles[axle].turning_distance) * curvature).atan();
    let matching_angles: Vec<f64> =
        (0..axles.len()).map(|i| if axles[i].steer_ratio == 0.0 { 0.0 } else { matching_angle(i) }).collect();
    let [described_forces, matching_forces] =
        [side_forces(model, &described_angles)?, side_forces(model, &matching_angles)?];
    // Static load of an axle, at least a thousandth of the weight, because it is a divisor (N).
    let axle_load = |axle: usize| {
        let axle_wheels = (0..model.wheels().len()).filter(|&i| model.wheels()[i].axle == axle);
        axle_wheels
            .map(|i| f64::from(model.static_load(i)))
            .sum::<f64>()
            .max(1e-3 * f64::from(model.mass()) * GRAVITY_MPS2)
    };
    // Side force in excess of that with matching angles, relative to the load (–).
    let excess_force_ratio = |axle: usize| (described_forces[axle] - matching_forces[axle]).abs() / axle_load(axle);
    let worst_axle = (0..axles.len()).max_by(|&a, &b| excess_force_ratio(a).total_cmp(&excess_force_ratio(b)))?;
    let angle_error = |axle: usize| (described_angles[axle] - matching_angles[axle]).abs();
    // Axle whose angle differs most from the matching one.
    let deviating_axle = steered().map(|(i, _)| i).max_by(|&a, &b| angle_error(a).total_cmp(&angle_error(b)))?;
    (excess_force_ratio(worst_axle) > REPORTED_FORCE_SHARE).then(|| {
        format!(
            "the steered axles have no common turning centre: at full lock axle {} steers by {:.1} degrees, but {:.1} degrees \
             match axle {}; axle {} has a side force of {:.1} kN at walking pace",
            deviating_axle + 1,
            described_angles[deviating_axle].to_degrees(),
            matching_angles[deviating_axle].to_degrees(),
            leading_index + 1,
            worst_axle + 1,
            described_forces[worst_axle].abs() * 1e-3
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;
    use skidpad_core::Vec3;
    use skidpad_core::model::Axle;

    /// Builds the test car with full Ackermann steering. `axles` lists the position ahead of the centre of mass (m) and
    /// the steer ratio of each axle, `axis` is the position of the turning axis (m). The track is 1.5 m, and the car
    /// has no drive.
    fn car(axles: &[[f32; 2]], axis: f32) -> Model {
        let mut parts = testing::model().parts().clone();
        let (wheel, axle) = (parts.wheels[0], parts.axles[0]);
        (parts.wheels, parts.axles) = Default::default();
        for (index, &[x, ratio]) in axles.iter().enumerate() {
            let turning_distance = x - axis;
            parts.axles.push(Axle { steer_ratio: ratio, ackermann: 1.0, turning_distance, ..axle });
            for (side, y) in [(Side::Left, 0.75), (Side::Right, -0.75)] {
                let contact = Vec3::new(x, y, -0.5);
                parts.wheels.push(Wheel { axle: index, side, contact, ..wheel });
            }
        }
        parts.powertrain = Default::default();
        Model::new(parts).expect("valid")
    }

    /// A pair of axles always agrees on a turning axis, for any steer ratio. No axle has a side force, and there is no
    /// note.
    #[test]
    fn two_axles_push_nothing_at_a_walk() {
        for ratio in [-0.4f32, 0.0, 0.2] {
            let axis = 1.25 - 2.5 / (1.0 - ratio);
            let model = car(&[[1.25, 1.0], [-1.25, ratio]], axis);
            let pushes = side_forces(&model, &[0.3, 0.3 * f64::from(ratio)]).expect("creeps");
            // Tolerance for f32 angles with tyres of 100 kN/rad.
            assert!(pushes.iter().all(|push| push.abs() < 0.1), "{ratio}: {pushes:?}");
            assert_eq!(axle_conflict_note(&model), None);
        }
    }

    /// Unsteered axles 0.5 m apart work against each other with the force `C e / R`, C of one axle, with `1/R = δ / L`
    /// of the linear bicycle model. The forces of all axles sum to 0.
    #[test]
    fn unsteered_axles_push_each_other_by_their_distance() {
        let model = car(&[[1.5, 1.0], [-1.0, 0.0], [-1.5, 0.0]], -1.25);
        let (steer, bicycle) = (0.02, crate::Characteristics::new(&model).bicycle.expect("creeps"));
        let pushes = side_forces(&model, &[steer, 0.0, 0.0]).expect("creeps");
        let expected = 100e3 * 0.5 * steer / bicycle.wheelbase_m;
        // Tolerance for angles of 0.02 rad, and for the track against the radius of 140 m.
        assert!(((pushes[2] - pushes[1]).abs() / expected - 1.0).abs() < 0.01, "{pushes:?} {expected}");
        assert!(pushes.iter().sum::<f64>().abs() < 1e-3 * expected, "{pushes:?}");
        // No steer ratio makes unsteered axles agree: a tandem is not reported.
        assert_eq!(axle_conflict_note(&model), None);
    }

    /// A third axle behind the turning axis that steers in the direction of the front axle is reported. The note names
    /// its angle and the matching one. An axle with the matching angle has no note.
    #[test]
    fn axles_that_agree_on_no_axis_are_told() {
        let with = |ratio: f32| axle_conflict_note(&car(&[[2.0, 1.0], [-0.5, 0.0], [-2.0, ratio]], -0.5));
        // The tangent at full lock is 0.6 times that of the front axle.
        let lock = testing::model().parts().steering.lock;
        assert_eq!(with(-(0.6 * lock.tan()).atan() / lock), None);
        let told = with(0.3).expect("disagrees");
        assert!(told.contains("axle 3 steers by 10.3 degrees, but -22.3 degrees match axle 1"), "{told}");
    }
}
