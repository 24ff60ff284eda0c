//! Road load from a coast-down: the force of drag, rolling resistance and drivetrain losses over the speed.
//!
//! SAE J1263 fits `F = f0 + f2 v²`, SAE J2263 `F = a + b v + c v²`. Both standards fit the rate of a measured speed.
//! This fit uses the integral form of the equation of motion, `m (v₁ − v₀) = −∫F dt` over short windows, which needs no
//! derivative: with `∫v dt` and `∫v² dt` by Simpson's rule it is linear in the coefficients and exact for any of them.

use nalgebra::{DMatrix, DVector};
use skidpad_core::Frame;

use crate::trajectory::Trajectory;

/// Road load `F = a + b v + c v²` against the motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoadLoad {
    /// Constant part a (N).
    pub constant_n: f64,
    /// Linear part b (N s/m); 0 in a fit of two terms.
    pub linear_n_s_per_m: f64,
    /// Quadratic part c (N s²/m²).
    pub quadratic_n_s2_per_m2: f64,
}

/// Length of a window (s). The speed changes by much more than its rounding, and the load by little.
const WINDOW_S: f64 = 1.0;

impl RoadLoad {
    /// Returns the force at `speed` (m/s) against the motion (N).
    pub fn force(&self, speed: f64) -> f64 {
        self.constant_n + self.linear_n_s_per_m * speed + self.quadratic_n_s2_per_m2 * speed * speed
    }

    /// Fits `a + b v + c v²` to the forward speed of a coasting car with the effective `mass` (kg), which includes the
    /// spin of its wheels. `None` for fewer than three windows of 1 s, or if the speed hardly changes.
    pub fn fit_three_terms(trajectory: &Trajectory, mass: f64) -> Option<Self> {
        let [constant_n, linear_n_s_per_m, quadratic_n_s2_per_m2] = fit(trajectory, mass, [0, 1, 2])?;
        Some(Self { constant_n, linear_n_s_per_m, quadratic_n_s2_per_m2 })
    }

    /// Fits `f0 + f2 v²` as [`RoadLoad::fit_three_terms`] fits three terms; the linear part is 0.
    pub fn fit_two_terms(trajectory: &Trajectory, mass: f64) -> Option<Self> {
        let [constant_n, quadratic_n_s2_per_m2] = fit(trajectory, mass, [0, 2])?;
        Some(Self { constant_n, linear_n_s_per_m: 0.0, quadratic_n_s2_per_m2 })
    }
}

/// Computes the coefficients of the `powers` of the speed by least squares over all windows (N, in units of (m/s) to
/// the negative power). `mass` is the effective mass (kg). The powers of the speed are scaled by the largest speed of
/// the run. `None` if there are fewer windows than coefficients, the car never moves, or the speed changes too little
/// to separate the terms.
fn fit<const COUNT: usize>(trajectory: &Trajectory, mass: f64, powers: [i32; COUNT]) -> Option<[f64; COUNT]> {
    let scale = trajectory.peak_magnitude(forward_speed);
    let windows = windows(trajectory);
    if windows.len() < COUNT || scale <= 0.0 {
        return None;
    }
    // Row of a window: ∫(v / scale)^p dt for each power; right side: momentum lost.
    let integrals = DMatrix::from_fn(windows.len(), COUNT, |row, column| {
        windows[row].speed_integrals[powers[column] as usize] / scale.powi(powers[column])
    });
    let momenta = DVector::from_iterator(windows.len(), windows.iter().map(|window| mass * window.lost_speed));
    let svd = integrals.svd(true, true);
    // Smallest accepted singular value relative to the largest. A constant speed cannot separate the terms.
    const MIN_RELATIVE_SINGULAR_VALUE: f64 = 1e-6;
    if svd.singular_values.min() < MIN_RELATIVE_SINGULAR_VALUE * svd.singular_values.max() {
        return None;
    }
    let solution = svd.solve(&momenta, 0.0).ok()?;
    Some(std::array::from_fn(|column| solution[column] / scale.powi(powers[column])))
}

/// Change of speed and integrals of a window.
struct Window {
    /// Speed at the start less that at the end (m/s).
    lost_speed: f64,
    /// `∫dt` (s), `∫v dt` (m), `∫v² dt` (m²/s).
    speed_integrals: [f64; 3],
}

/// Returns the forward speed (m/s).
fn forward_speed(frame: &Frame) -> f64 {
    frame.vx_mps
}

/// Splits the run into windows of about [`WINDOW_S`], one after the other; a rest at the end is left out. A window has
/// an even number of steps, at least two, for Simpson's rule. Neighbouring windows share a telemetry row.
fn windows(trajectory: &Trajectory) -> Vec<Window> {
    // Number of pairs of steps.
    let pairs = ((0.5 * WINDOW_S / trajectory.dt_s()).round() as usize).max(1);
    let speeds: Vec<f64> = trajectory.rows().map(|frame| forward_speed(&frame)).collect();
    let to_window = |first: usize| {
        let speeds = &speeds[first..=first + 2 * pairs];
        // Simpson's rule: weights 1, 4, 2, 4, …, 1 times dt / 3.
        let integrate = |power: i32| {
            let simpson = |k: usize| {
                speeds[2 * k].powi(power) + 4.0 * speeds[2 * k + 1].powi(power) + speeds[2 * k + 2].powi(power)
            };
            (0..pairs).map(simpson).sum::<f64>() * trajectory.dt_s() / 3.0
        };
        Window { lost_speed: speeds[0] - speeds[2 * pairs], speed_integrals: [0, 1, 2].map(integrate) }
    };
    (0..speeds.len().saturating_sub(2 * pairs)).step_by(2 * pairs).map(to_window).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sampled;

    /// Builds the run of a mass (kg) that `load` slows from 32 m/s over 80 s, integrated by the classical Runge-Kutta
    /// method with `dt` s, whose error is below 1e-9 m/s.
    fn coast(load: RoadLoad, mass: f64, dt: f64) -> Trajectory {
        let rate = |v: f64| -load.force(v) / mass;
        let mut speeds = vec![32.0f64];
        for _ in 0..(80.0 / dt) as usize {
            let v = speeds[speeds.len() - 1];
            let k1 = rate(v);
            let k2 = rate(v + 0.5 * dt * k1);
            let k3 = rate(v + 0.5 * dt * k2);
            let k4 = rate(v + dt * k3);
            speeds.push(v + dt * (k1 + 2.0 * k2 + 2.0 * k3 + k4) / 6.0);
        }
        sampled(dt, 80.0, |t, frame| frame.vx_mps = speeds[(t / dt).round() as usize])
    }

    /// All coefficients of an analytic road load are found to 1e-6 from 10 to 240 Hz.
    #[test]
    fn an_analytic_deceleration_returns_its_coefficients() {
        let load = RoadLoad { constant_n: 182.0, linear_n_s_per_m: 2.5, quadratic_n_s2_per_m2: 0.36 };
        for hz in [10.0, 60.0, 240.0] {
            let found = RoadLoad::fit_three_terms(&coast(load, 1600.0, 1.0 / hz), 1600.0).expect("slows");
            for (found, expected) in [
                (found.constant_n, load.constant_n),
                (found.linear_n_s_per_m, load.linear_n_s_per_m),
                (found.quadratic_n_s2_per_m2, load.quadratic_n_s2_per_m2),
                (found.force(20.0), 182.0 + 50.0 + 144.0),
            ] {
                assert!((found / expected - 1.0).abs() < 1e-6, "{hz} Hz: {found} {expected}");
            }
        }
    }

    /// Checks that the fit with two terms is exact for a load without a linear part.
    #[test]
    fn two_terms_are_exact_without_a_linear_part() {
        let load = RoadLoad { constant_n: 182.0, linear_n_s_per_m: 0.0, quadratic_n_s2_per_m2: 0.36 };
        let found = RoadLoad::fit_two_terms(&coast(load, 1600.0, 0.02), 1600.0).expect("slows");
        assert!((found.constant_n / 182.0 - 1.0).abs() < 1e-7, "{found:?}");
        assert!((found.quadratic_n_s2_per_m2 / 0.36 - 1.0).abs() < 1e-7, "{found:?}");
    }

    /// A constant speed cannot separate the terms, and a run of two seconds has too few windows.
    #[test]
    fn runs_without_information_have_no_road_load() {
        let steady = sampled(0.01, 20.0, |_, frame| frame.vx_mps = 20.0);
        assert_eq!(RoadLoad::fit_three_terms(&steady, 1000.0), None);
        let short = sampled(0.01, 2.0, |t, frame| frame.vx_mps = 20.0 - t);
        assert_eq!(RoadLoad::fit_three_terms(&short, 1000.0), None);
    }
}
