//! The share of the mass that each wheel carries at rest.

use bevy_math::{DMat3, DVec3};

/// Share of `mass` (kg) that each wheel carries at rest, for wheels at `points` (x forward, y left of the centre of
/// mass, m): `Σ mᵢ = M`, `Σ mᵢ rᵢ = 0`, `mᵢ ≥ 0`, and of all such shares the one of least norm.
///
/// `None` when no non-negative share exists: the centre of mass lies outside the hull of the points.
///
/// Each pass solves the minimum-norm problem on the wheels still carrying and drops those that would pull; with the
/// few wheels of a car this finds the constrained optimum. The conditions are PhysX's `PxVehicleComputeSprungMasses`;
/// its plain minimum norm can go negative.
pub fn sprung_masses(points: &[[f64; 2]], mass: f64) -> Option<Vec<f64>> {
    carried_masses(points, None, None, mass)
}

/// The same of a vehicle that is towed, or that a trailer rests on. The coupler of a trailer, at `coupler`, carries the rest of it,
/// whichever way: wheels are loaded as by springs of one rate on a body that turns about the coupler. On a hitch rest so many kg at a
/// point (`hitch`), which the wheels and the coupler carry with the vehicle's own mass.
pub fn carried_masses(
    points: &[[f64; 2]],
    coupler: Option<[f64; 2]>,
    hitch: Option<([f64; 2], f64)>,
    mass: f64,
) -> Option<Vec<f64>> {
    let (place, rests) = hitch.unwrap_or_default();
    // From the centre of all that is carried.
    let centre = place.map(|coordinate| coordinate * rests / (mass + rests));
    let all = points.iter().copied().chain(coupler).map(|[x, y]| [x - centre[0], y - centre[1]]);
    let mut shares = shares(&all.collect::<Vec<_>>(), points.len(), mass + rests)?;
    shares.truncate(points.len());
    Some(shares)
}

/// What a coupler carries counts for so little in the norm.
const COUPLER: f64 = 1e6;

/// Shares of the points, of which the first `wheels` only push.
fn shares(points: &[[f64; 2]], wheels: usize, mass: f64) -> Option<Vec<f64>> {
    let mut counts: Vec<f64> = (0..points.len()).map(|i| if i < wheels { 1.0 } else { COUPLER }).collect();
    loop {
        let shares = minimum_norm(points, &counts, mass)?;
        let tolerance = -1e-9 * mass;
        let worst = (0..wheels).filter(|&i| shares[i] < tolerance).min_by(|&a, &b| shares[a].total_cmp(&shares[b]));
        match worst {
            Some(i) => counts[i] = 0.0,
            None => return balanced(points, &shares, mass).then_some(shares),
        }
    }
}

fn minimum_norm(points: &[[f64; 2]], counts: &[f64], mass: f64) -> Option<Vec<f64>> {
    let columns = || points.iter().zip(counts).map(|(p, count)| (DVec3::new(1.0, p[0], p[1]), *count));
    let mut gram = DMat3::ZERO;
    let mut scale = 0.0f64;
    for (c, count) in columns() {
        gram += DMat3::from_cols(c * c.x, c * c.y, c * c.z) * count;
        scale = scale.max(c.length_squared() * count.min(1.0));
    }
    if scale == 0.0 {
        return None;
    }
    // Wheels on one line (a bicycle, one axle) leave the matrix singular; the tiny ridge picks the least-norm share.
    gram += DMat3::from_diagonal(DVec3::splat(1e-12 * scale));
    let weights = gram.inverse() * DVec3::new(mass, 0.0, 0.0);
    Some(columns().map(|(c, count)| c.dot(weights) * count).collect())
}

fn balanced(points: &[[f64; 2]], shares: &[f64], mass: f64) -> bool {
    let sum = |f: &dyn Fn(usize) -> f64| (0..points.len()).map(|i| shares[i] * f(i)).sum::<f64>();
    let reach = points.iter().flatten().fold(1e-3f64, |r, p| r.max(p.abs()));
    let close = |error: f64| error.abs() < 1e-6 * mass * reach.max(1.0);
    close(sum(&|_| 1.0) - mass) && close(sum(&|i| points[i][0])) && close(sum(&|i| points[i][1]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(points: &[[f64; 2]], expected: &[f64]) {
        let shares = sprung_masses(points, 1000.0).expect("supported");
        for (share, expected) in shares.iter().zip(expected) {
            // f64 through one 3 × 3 inverse with a 1e-12 ridge.
            assert!((share - expected).abs() < 1e-4, "{shares:?}");
        }
    }

    #[test]
    fn c4_two_and_three_wheels_are_determined() {
        check(&[[1.0, 0.0], [-1.5, 0.0]], &[600.0, 400.0]);
        check(&[[2.0, 0.0], [-1.0, 0.8], [-1.0, -0.8]], &[1000.0 / 3.0; 3]);
    }

    #[test]
    fn four_wheels_share_by_the_lever_rule() {
        check(
            &[[1.3, 0.8], [1.3, -0.8], [-1.7, 0.8], [-1.7, -0.8]],
            &[1700.0 / 6.0, 1700.0 / 6.0, 1300.0 / 6.0, 1300.0 / 6.0],
        );
    }

    /// m g (L - d) / L on the coupler, also where it pulls; three axles of one spring rate turn about it.
    #[test]
    fn a_coupler_carries_the_rest() {
        for (centre, carried) in [(3.9, 975.0), (4.1, 1025.0)] {
            let wheels = [[centre - 4.0, 0.75], [centre - 4.0, -0.75]];
            let shares = carried_masses(&wheels, Some([centre, 0.0]), None, 1000.0).expect("supported");
            assert!(shares.iter().all(|share| (share - 0.5 * carried).abs() < 1e-3), "{shares:?}");
        }
        let wheels = [[-1.0, 0.0], [-2.0, 0.0], [-3.0, 0.0]];
        let shares = carried_masses(&wheels, Some([6.0, 0.0]), None, 1000.0).expect("supported");
        let lever = 7.0 * 7.0 + 8.0 * 8.0 + 9.0 * 9.0;
        for (share, arm) in shares.iter().zip([7.0, 8.0, 9.0]) {
            assert!((share - 6000.0 * arm / lever).abs() < 0.01, "{shares:?}");
        }
        assert_eq!(carried_masses(&[[1.0, 0.7], [1.0, 0.7]], Some([3.0, 0.0]), None, 1000.0), None);
    }

    /// Moments about the eye of the drawbar of a dolly: of its own mass, and of what rests on its turntable.
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

    #[test]
    fn a_wheel_never_pulls() {
        let shares = sprung_masses(&[[0.1, 0.0], [-0.1, 0.0], [10.0, 0.0]], 1000.0).expect("supported");
        assert!(shares.iter().all(|&m| m >= -1e-6), "{shares:?}");
    }

    #[test]
    fn a_centre_of_mass_outside_the_wheels_is_refused() {
        assert_eq!(sprung_masses(&[[1.0, 0.5], [1.0, -0.5], [2.0, 0.0]], 1000.0), None);
    }
}
