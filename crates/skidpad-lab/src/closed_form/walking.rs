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

    /// Computes the velocity of the wheel along its plane per forward speed of the vehicle (–). `aside` is the
    /// lateral velocity (–) and `turning` the yaw rate (1/m) of the vehicle, both per forward speed.
    fn rolling(&self, [aside, turning]: [f64; 2]) -> f64 {
        let ([x, y], (sin, cos)) = (self.contact_point, self.sin_cos);
        cos * (1.0 - turning * y) + sin * (aside + turning * x)
    }

    /// Computes the side force at the velocity `across` perpendicular to the wheel and the velocity `rolling` along
    /// it, both per forward speed (N, positive to the left of the wheel). The slip is limited to
    /// [`MAX_LATERAL_SLIP`]; load is the static one, at 1 m/s.
    fn force(&self, model: &Model, across: f64, rolling: f64) -> f64 {
        let slip = (-across / rolling.abs().max(1e-6)).clamp(-MAX_LATERAL_SLIP, MAX_LATERAL_SLIP) as f32;
        let at = Conditions::upright(model.static_load(self.index), 1.0);
        model.tyre_force(self.index, [0.0, slip], &at).force[1].into()
    }
}

/// Computes the sum of the wheels' side forces of each axle at walking pace (N, positive to the left of the wheels),
/// with the axles steered by the mean road-wheel angles `angles` (rad). Iterates the least-squares motion of the
/// vehicle with the secant stiffnesses of the tyres as weights, starting from their initial stiffnesses, until the
/// yaw rate is steady or after 200 iterations. `None` for tyres without creep, or if the motion is not determined.
fn side_forces(model: &Model, angles: &[f64]) -> Option<Vec<f64>> {
    let turned_to = model.road_wheel_angles(&angles.iter().map(|angle| *angle as f32).collect::<Vec<_>>());
    let turned = |(i, wheel): (usize, &Wheel)| {
        let angle = turned_to[wheel.axle][usize::from(wheel.side == Side::Right)];
        SteeredWheel {
            contact_point: [wheel.contact.x, wheel.contact.y].map(f64::from),
            sin_cos: f64::from(angle).sin_cos(),
            index: i,
        }
    };
    let wheels: Vec<SteeredWheel> = model.wheels().iter().enumerate().map(turned).collect();
    let stiffness = |i: usize| {
        model.tyre(i).has_deflection_dynamics().then(|| model.tyre(i).stiffness_at(model.static_load(i))[1].into())
    };
    let mut weights: Vec<f64> = (0..wheels.len()).map(stiffness).collect::<Option<_>>()?;
    // Lateral velocity (–) and yaw rate (1/m) per forward speed.
    let mut motion = [0.0; 2];
    let mut forces = vec![0.0; wheels.len()];
    for _ in 0..MAX_WEIGHT_ITERATIONS {
        let was = motion[1];
        motion = least_squares(&wheels, &weights)?;
        for ((wheel, weight), force) in wheels.iter().zip(&mut weights).zip(&mut forces) {
            let ([aside, turning], given) = wheel.lateral_velocity_terms();
            let across = aside * motion[0] + turning * motion[1] + given;
            *force = wheel.force(model, across, wheel.rolling(motion));
            if across.abs() > 1e-9 {
                *weight = force.abs() / across.abs();
            }
        }
        if (motion[1] - was).abs() < YAW_RATE_TOLERANCE {
            break;
        }
    }
    let axles = 0..model.parts().axles.len();
    let on = |axle: usize| wheels.iter().zip(&forces).filter(move |(w, _)| model.wheels()[w.index].axle == axle);
    Some(axles.map(|axle| on(axle).map(|(_, force)| force).sum()).collect())
}

/// Computes the lateral velocity and yaw rate, per forward speed, that minimise the weighted squares of the wheels'
/// lateral velocities. Solves the normal equations; `None` if they are singular.
fn least_squares(wheels: &[SteeredWheel], weights: &[f64]) -> Option<[f64; 2]> {
    let [mut aa, mut ab, mut bb, mut ga, mut gb] = [0.0; 5];
    for (wheel, weight) in wheels.iter().zip(weights) {
        let ([a, b], given) = wheel.lateral_velocity_terms();
        aa += weight * a * a;
        ab += weight * a * b;
        bb += weight * b * b;
        ga -= weight * a * given;
        gb -= weight * b * given;
    }
    let determinant = aa * bb - ab * ab;
    (determinant > 1e-12 * aa * bb).then(|| [(bb * ga - ab * gb) / determinant, (aa * gb - ab * ga) / determinant])
}

/// Returns a note if the steered axles do not turn about one point at full lock. The leading axle is the steered one
/// farthest from the turning axis; its angle at full lock sets the path curvature and the angles that would match on
/// the other axles. The side forces at walking pace are computed for the described and for the matching angles. There
/// is a note if their difference on some axle exceeds a tenth of its static load. `None` if not, if nothing steers,
/// or for tyres without creep (dry friction, no slip curve).
pub(super) fn axle_conflict_note(model: &Model) -> Option<String> {
    let axles = &model.parts().axles;
    let steered = || axles.iter().enumerate().filter(|(_, axle)| axle.steer_ratio != 0.0);
    let (first, leading) = steered()
        .max_by(|a, b| a.1.turning_distance.abs().total_cmp(&b.1.turning_distance.abs()).then(b.0.cmp(&a.0)))?;
    let lock = f64::from(model.parts().steering.lock);
    let stated: Vec<f64> = axles.iter().map(|axle| f64::from(axle.steer_ratio) * lock).collect();
    let curvature = stated[first].tan() / f64::from(leading.turning_distance);
    let fits = |axle: usize| (f64::from(axles[axle].turning_distance) * curvature).atan();
    let fitting: Vec<f64> = (0..axles.len()).map(|i| if axles[i].steer_ratio == 0.0 { 0.0 } else { fits(i) }).collect();
    let [pushes, least] = [side_forces(model, &stated)?, side_forces(model, &fitting)?];
    let load = |axle: usize| {
        let on = (0..model.wheels().len()).filter(|&i| model.wheels()[i].axle == axle);
        on.map(|i| f64::from(model.static_load(i))).sum::<f64>().max(1e-3 * f64::from(model.mass()) * GRAVITY_MPS2)
    };
    // Excess side force relative to the load (–).
    let beyond = |axle: usize| (pushes[axle] - least[axle]).abs() / load(axle);
    let worst = (0..axles.len()).max_by(|&a, &b| beyond(a).total_cmp(&beyond(b)))?;
    let misfit = |axle: usize| (stated[axle] - fitting[axle]).abs();
    // Axle whose angle differs most from the matching one.
    let off = steered().map(|(i, _)| i).max_by(|&a, &b| misfit(a).total_cmp(&misfit(b)))?;
    (beyond(worst) > REPORTED_FORCE_SHARE).then(|| {
        format!(
            "its steered axles agree on no turning axis: at full lock axle {} turns by {:.1} degrees where {:.1} fit axle {}, and axle {} \
             is pushed aside by {:.1} kN at walking pace",
            off + 1,
            stated[off].to_degrees(),
            fitting[off].to_degrees(),
            first + 1,
            worst + 1,
            pushes[worst].abs() * 1e-3
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
    /// the steer ratio of each axle, `axis` is the position of the turning axis (m).
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

    /// A pair of axles always agrees on a turning axis, for any steer ratio.
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
    /// of the linear bicycle model.
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

    /// A third axle behind the turning axis that steers in the direction of the front axle is reported.
    #[test]
    fn axles_that_agree_on_no_axis_are_told() {
        let with = |ratio: f32| axle_conflict_note(&car(&[[2.0, 1.0], [-0.5, 0.0], [-2.0, ratio]], -0.5));
        // The tangent at full lock is 0.6 times that of the front axle.
        let lock = testing::model().parts().steering.lock;
        assert_eq!(with(-(0.6 * lock.tan()).atan() / lock), None);
        let told = with(0.3).expect("disagrees");
        assert!(told.contains("axle 3 turns by 10.3 degrees where -22.3 fit axle 1"), "{told}");
    }
}
