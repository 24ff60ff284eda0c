//! Deflection of the steering linkage by the moments of the ground about the steering axes.

use crate::steering::parameters::SteeringCompliance;

impl SteeringCompliance {
    /// Largest deflection of a wheel in either direction (rad), at which the linkage meets its stops.
    pub const MAX_DEFLECTION: f32 = 0.2;

    /// Returns the deflection (rad, positive to the left) of a wheel after a step of `dt` s that begins at `deflection`
    /// with the `moment` of the ground about the steering axis (N m), at most [`SteeringCompliance::MAX_DEFLECTION`] in
    /// magnitude.
    /// `moment_slope` (N m/rad, ≥ 0) is how much the moment falls per deflection; it only stabilises the step.
    ///
    /// The deflection x follows `τ ẋ = M(x) / k − x` with the stiffness k and the time constant τ. Implicit Euler with
    /// the linearised moment `M(x₁) = M − slope (x₁ − x₀)` gives
    ///
    /// ```text
    /// x₁ = x₀ + dt (M / k − x₀) / (τ + dt (1 + slope / k))
    /// ```
    ///
    /// A deflection at rest is `M / k`, whatever the slope.
    pub(crate) fn next_deflection(&self, deflection: f32, moment: f32, moment_slope: f32, dt: f32) -> f32 {
        let change = dt * (moment / self.stiffness - deflection)
            / (self.time_constant + dt * (1.0 + moment_slope / self.stiffness));
        // A moment that is not finite leaves the linkage where it is.
        let next = if change.is_finite() { deflection + change } else { deflection };
        next.clamp(-Self::MAX_DEFLECTION, Self::MAX_DEFLECTION)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The deflection under a constant moment comes to rest at the moment over the stiffness, for every slope and step.
    /// After one time constant in small steps, 1 − 1/e of it is reached.
    #[test]
    fn the_deflection_follows_the_moment_with_its_time_constant() {
        let linkage = SteeringCompliance { stiffness: 20e3, time_constant: 0.02 };
        let deflection_after = |time_s: f32, slope: f32, dt: f32| {
            let steps = (time_s / dt).round() as usize;
            (0..steps).fold(0.0, |deflection, _| linkage.next_deflection(deflection, 100.0, slope, dt))
        };
        for (slope, dt) in [(0.0, 0.001), (0.0, 0.05), (1e5, 0.001), (1e5, 0.05)] {
            let found = deflection_after(5.0, slope, dt);
            assert!((found / 0.005 - 1.0).abs() < 1e-5, "{slope} {dt}: {found}");
        }
        // Implicit Euler: an error of half a step over the time constant, 1/e of it at this time.
        let found = deflection_after(0.02, 0.0, 1e-4);
        assert!((found / (0.005 * 0.632_12) - 1.0).abs() < 2e-3, "{found}");
    }

    /// A moment that falls with the deflection, by twice the stiffness, makes explicit steps longer than the time
    /// constant oscillate. With its slope they converge to the balance `M₀ / (k + slope)`.
    #[test]
    fn steep_moments_are_stable_in_long_steps() {
        let (linkage, slope) = (SteeringCompliance { stiffness: 20e3, time_constant: 0.001 }, 40e3);
        let deflection_after = |stated_slope: f32| {
            (0..100).fold(0.0f32, |deflection, _| {
                linkage.next_deflection(deflection, 120.0 - slope * deflection, stated_slope, 0.05)
            })
        };
        assert!((deflection_after(slope) / 0.002 - 1.0).abs() < 1e-4);
        assert!(deflection_after(0.0).abs() > 0.1, "the case needs the slope");
    }

    /// No moment moves a linkage beyond its stops; NaN and infinity leave it where it is.
    #[test]
    fn stops_and_broken_moments() {
        let linkage = SteeringCompliance { stiffness: 1.0, time_constant: 0.0 };
        let most = SteeringCompliance::MAX_DEFLECTION;
        assert_eq!(linkage.next_deflection(0.0, 1e30, 0.0, 0.01), most);
        assert_eq!(linkage.next_deflection(0.1, -1e9, 0.0, 0.01), -most);
        for moment in [f32::NAN, f32::INFINITY] {
            assert_eq!(linkage.next_deflection(0.1, moment, 0.0, 0.01), 0.1);
        }
    }
}
