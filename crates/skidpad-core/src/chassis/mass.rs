//! Masses: the share each wheel carries, and the inertia of boxes.

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
    let mut carrying = vec![true; points.len()];
    loop {
        let shares = minimum_norm(points, &carrying, mass)?;
        let tolerance = -1e-9 * mass;
        let worst = (0..points.len())
            .filter(|&i| carrying[i] && shares[i] < tolerance)
            .min_by(|&a, &b| shares[a].total_cmp(&shares[b]));
        match worst {
            Some(i) => carrying[i] = false,
            None => return balanced(points, &shares, mass).then_some(shares),
        }
    }
}

fn minimum_norm(points: &[[f64; 2]], carrying: &[bool], mass: f64) -> Option<Vec<f64>> {
    let columns = || points.iter().zip(carrying).filter(|(_, on)| **on).map(|(p, _)| DVec3::new(1.0, p[0], p[1]));
    let mut gram = DMat3::ZERO;
    let mut scale = 0.0f64;
    for c in columns() {
        gram += DMat3::from_cols(c * c.x, c * c.y, c * c.z);
        scale = scale.max(c.length_squared());
    }
    if scale == 0.0 {
        return None;
    }
    // Wheels on one line (a bicycle, one axle) leave the matrix singular; the tiny ridge picks the least-norm share.
    gram += DMat3::from_diagonal(DVec3::splat(1e-12 * scale));
    let weights = gram.inverse() * DVec3::new(mass, 0.0, 0.0);
    Some(
        points
            .iter()
            .zip(carrying)
            .map(|(p, on)| if *on { DVec3::new(1.0, p[0], p[1]).dot(weights) } else { 0.0 })
            .collect(),
    )
}

fn balanced(points: &[[f64; 2]], shares: &[f64], mass: f64) -> bool {
    let sum = |f: &dyn Fn(usize) -> f64| (0..points.len()).map(|i| shares[i] * f(i)).sum::<f64>();
    let reach = points.iter().flatten().fold(1e-3f64, |r, p| r.max(p.abs()));
    let close = |error: f64| error.abs() < 1e-6 * mass * reach.max(1.0);
    close(sum(&|_| 1.0) - mass) && close(sum(&|i| points[i][0])) && close(sum(&|i| points[i][1]))
}

/// Moments of inertia (kg m²) of a box of `mass` kg and full `size` m about its own centre.
pub fn box_inertia(mass: f64, size: [f64; 3]) -> [f64; 3] {
    let [x, y, z] = size.map(|s| s * s);
    [(y + z) * mass / 12.0, (x + z) * mass / 12.0, (x + y) * mass / 12.0]
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

    #[test]
    fn a_wheel_never_pulls() {
        let shares = sprung_masses(&[[0.1, 0.0], [-0.1, 0.0], [10.0, 0.0]], 1000.0).expect("supported");
        assert!(shares.iter().all(|&m| m >= -1e-6), "{shares:?}");
    }

    #[test]
    fn a_centre_of_mass_outside_the_wheels_is_refused() {
        assert_eq!(sprung_masses(&[[1.0, 0.5], [1.0, -0.5], [2.0, 0.0]], 1000.0), None);
    }

    #[test]
    fn inertia_of_a_box() {
        // 1500 kg, 4.2 × 1.8 × 0.6 m: the body of the Jolt and PhysX measurements, 450 / 2250 / 2610 kg m².
        assert_eq!(box_inertia(1500.0, [4.2, 1.8, 0.6]).map(f64::round), [450.0, 2250.0, 2610.0]);
    }
}
