//! Distribution of the mass over the wheels at rest.

use bevy_math::{DMat3, DVec3};

/// Computes the share of `mass` (kg) that each wheel carries at rest, for wheels at `points` (x forward, y left of the
/// centre of mass, m). The shares fulfil `Σ mᵢ = M`, `Σ mᵢ rᵢ = 0` and `mᵢ ≥ 0`, and have the least norm.
///
/// Returns `None` if no non-negative shares exist: the centre of mass lies outside the convex hull of the points.
///
/// Each pass solves the minimum-norm problem for the wheels still in use and drops the one with the most negative
/// share. For the few wheels of a car this finds the constrained optimum. The conditions are those of PhysX's
/// `PxVehicleComputeSprungMasses`, whose plain minimum norm can become negative.
pub fn sprung_masses(points: &[[f64; 2]], mass: f64) -> Option<Vec<f64>> {
    // Neither coupler nor hitch.
    carried_masses(points, None, None, mass)
}

/// Computes the mass that each wheel carries at rest (kg) for a vehicle that is towed, or that a trailer rests on, by
/// the conditions of [`sprung_masses`]. `points` are the wheels, `coupler` and `hitch` the positions of both from the
/// centre of mass (m). Returns `None` if no non-negative shares of the wheels exist.
///
/// The `coupler` of a trailer carries the rest of its mass, in either direction: wheels are loaded as by springs of one
/// rate on a body that turns about the coupler. The share of the coupler is not returned. `hitch` is a position and the
/// mass that rests there (kg), which wheels and coupler carry together with the vehicle's own mass.
pub fn carried_masses(
    points: &[[f64; 2]],
    coupler: Option<[f64; 2]>,
    hitch: Option<([f64; 2], f64)>,
    mass: f64,
) -> Option<Vec<f64>> {
    let (hitch_position, hitch_mass) = hitch.unwrap_or_default(); // m, kg
    // Centre of everything that is carried.
    let centre = hitch_position.map(|coordinate| coordinate * hitch_mass / (mass + hitch_mass));
    let all_points = points.iter().copied().chain(coupler).map(|[x, y]| [x - centre[0], y - centre[1]]);
    let mut shares = constrained_shares(&all_points.collect::<Vec<_>>(), points.len(), mass + hitch_mass)?;
    shares.truncate(points.len());
    Some(shares)
}

/// Weight of a coupler's share relative to that of a wheel: the norm counts the coupler's share less by this factor.
const COUPLER_WEIGHT: f64 = 1e6;

/// Computes the shares of all points (kg, about the origin of `points`). The shares of the first `wheel_count` points
/// are not negative (to 1e-9 of `mass`): each pass excludes the wheel with the most negative share, for good, and
/// solves again. Returns `None` if no such shares carry `mass` in balance, or if every point is excluded.
fn constrained_shares(points: &[[f64; 2]], wheel_count: usize, mass: f64) -> Option<Vec<f64>> {
    // A weight of 0 excludes a wheel.
    let mut point_weights: Vec<f64> =
        (0..points.len()).map(|i| if i < wheel_count { 1.0 } else { COUPLER_WEIGHT }).collect();
    loop {
        let shares = minimum_norm_shares(points, &point_weights, mass)?;
        // Least accepted share, slightly below 0, kg.
        let min_share = -1e-9 * mass;
        let most_negative =
            (0..wheel_count).filter(|&i| shares[i] < min_share).min_by(|&a, &b| shares[a].total_cmp(&shares[b]));
        match most_negative {
            Some(i) => point_weights[i] = 0.0,
            None => return is_balanced(points, &shares, mass).then_some(shares),
        }
    }
}

/// Returns the shares mᵢ (kg) with `Σ mᵢ = mass` and `Σ mᵢ rᵢ = 0` that minimize `Σ mᵢ² / weightᵢ`; 0 in
/// `point_weights` excludes a point. Solves the 3 × 3 normal equations with a tiny ridge, so that impossible conditions
/// are only approximated: check with [`is_balanced`]. Returns `None` if every point is excluded.
fn minimum_norm_shares(points: &[[f64; 2]], point_weights: &[f64], mass: f64) -> Option<Vec<f64>> {
    // Lever (1, x, y) and weight of each point.
    let columns =
        || points.iter().zip(point_weights).map(|(point, weight)| (DVec3::new(1.0, point[0], point[1]), *weight));
    let mut gram = DMat3::ZERO; // Σ weight c cᵀ
    let mut scale = 0.0f64;
    for (column, weight) in columns() {
        gram += DMat3::from_cols(column * column.x, column * column.y, column * column.z) * weight;
        // A coupler counts like a wheel, so that its large weight does not raise the ridge.
        scale = scale.max(column.length_squared() * weight.min(1.0));
    }
    if scale == 0.0 {
        return None;
    }
    // Wheels on one line (a bicycle, one axle) make the matrix singular; the tiny ridge selects the least-norm share.
    gram += DMat3::from_diagonal(DVec3::splat(1e-12 * scale));
    // Share per lever: mᵢ = weightᵢ (1, x, y) · multipliers.
    let multipliers = gram.inverse() * DVec3::new(mass, 0.0, 0.0);
    Some(columns().map(|(column, weight)| column.dot(multipliers) * weight).collect())
}

/// Returns true if the shares add up to `mass` and have no moment about the origin, within 1e-6 of `mass` times the
/// largest coordinate (at least 1 m).
fn is_balanced(points: &[[f64; 2]], shares: &[f64], mass: f64) -> bool {
    let weighted_sum = |factor: &dyn Fn(usize) -> f64| (0..points.len()).map(|i| shares[i] * factor(i)).sum::<f64>();
    // m. The start value 1e-3 has no effect, as at least 1 m counts below.
    let max_coordinate = points.iter().flatten().fold(1e-3f64, |max, coordinate| max.max(coordinate.abs()));
    let is_small = |error: f64| error.abs() < 1e-6 * mass * max_coordinate.max(1.0);
    is_small(weighted_sum(&|_| 1.0) - mass)
        && is_small(weighted_sum(&|i| points[i][0]))
        && is_small(weighted_sum(&|i| points[i][1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that wheels at `points` carry the `expected` shares of 1000 kg, within 1e-4 kg.
    fn check(points: &[[f64; 2]], expected: &[f64]) {
        let shares = sprung_masses(points, 1000.0).expect("supported");
        for (share, expected) in shares.iter().zip(expected) {
            // Rounding of f64 in one 3 × 3 inverse with a ridge of 1e-12.
            assert!((share - expected).abs() < 1e-4, "{shares:?}");
        }
    }

    /// Checks the shares of two and three wheels, which the conditions determine.
    #[test]
    fn c4_two_and_three_wheels_are_determined() {
        check(&[[1.0, 0.0], [-1.5, 0.0]], &[600.0, 400.0]);
        check(&[[2.0, 0.0], [-1.0, 0.8], [-1.0, -0.8]], &[1000.0 / 3.0; 3]);
    }

    /// Checks that four wheels share by the lever rule, equally left and right.
    #[test]
    fn four_wheels_share_by_the_lever_rule() {
        check(
            &[[1.3, 0.8], [1.3, -0.8], [-1.7, 0.8], [-1.7, -0.8]],
            &[1700.0 / 6.0, 1700.0 / 6.0, 1300.0 / 6.0, 1300.0 / 6.0],
        );
    }

    /// Checks the mass on the wheels of a trailer with its coupler 4 m ahead of them, also where the coupler pulls up:
    /// 1000 kg times the distance of the centre of mass from the coupler, over 4 m. Three axles of one spring rate that
    /// turn about the coupler have shares in proportion to their distance from it. Wheels beside each other at one
    /// place and a coupler, all ahead of the centre of mass, carry nothing.
    #[test]
    fn a_coupler_carries_the_rest() {
        for (centre, carried) in [(3.9, 975.0), (4.1, 1025.0)] {
            let wheels = [[centre - 4.0, 0.75], [centre - 4.0, -0.75]];
            let shares = carried_masses(&wheels, Some([centre, 0.0]), None, 1000.0).expect("supported");
            assert!(shares.iter().all(|share| (share - 0.5 * carried).abs() < 1e-3), "{shares:?}");
        }
        let wheels = [[-1.0, 0.0], [-2.0, 0.0], [-3.0, 0.0]];
        let shares = carried_masses(&wheels, Some([6.0, 0.0]), None, 1000.0).expect("supported");
        // Σ arm²; the moment of the weight about the coupler is 1000 kg at 6 m.
        let lever = 7.0 * 7.0 + 8.0 * 8.0 + 9.0 * 9.0;
        for (share, arm) in shares.iter().zip([7.0, 8.0, 9.0]) {
            assert!((share - 6000.0 * arm / lever).abs() < 0.01, "{shares:?}");
        }
        assert_eq!(carried_masses(&[[1.0, 0.7], [1.0, 0.7]], Some([3.0, 0.0]), None, 1000.0), None);
    }

    /// Checks moments about the eye of the drawbar of a dolly: of its own mass, and of the mass that rests on its
    /// turntable. A hitch that carries nothing changes no share.
    #[test]
    fn what_rests_on_a_hitch_is_carried() {
        let (mass, rests, eye, turntable, axle) = (300.0, 900.0, 1.7, -0.3, -0.2);
        let wheels = [[axle, 0.8], [axle, -0.8]];
        let shares = carried_masses(&wheels, Some([eye, 0.0]), Some(([turntable, 0.0], rests)), mass);
        let known = (mass * eye + rests * (eye - turntable)) / (eye - axle);
        for share in shares.expect("supported") {
            assert!((share - 0.5 * known).abs() < 1e-3, "{share} for {}", 0.5 * known);
        }
        let alone = sprung_masses(&[[1.0, 0.0], [-1.5, 0.0]], 1000.0);
        assert_eq!(carried_masses(&[[1.0, 0.0], [-1.5, 0.0]], None, Some(([-3.0, 0.2], 0.0)), 1000.0), alone);
    }

    /// Checks that no share is negative with a wheel far ahead of two others.
    #[test]
    fn a_wheel_never_pulls() {
        let shares = sprung_masses(&[[0.1, 0.0], [-0.1, 0.0], [10.0, 0.0]], 1000.0).expect("supported");
        assert!(shares.iter().all(|&m| m >= -1e-6), "{shares:?}");
    }

    /// Checks that there are no shares if all wheels are ahead of the centre of mass.
    #[test]
    fn a_centre_of_mass_outside_the_wheels_is_refused() {
        assert_eq!(sprung_masses(&[[1.0, 0.5], [1.0, -0.5], [2.0, 0.0]], 1000.0), None);
    }
}
