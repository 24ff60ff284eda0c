//! Linear bicycle model for any number of axles.

/// Linear bicycle model for steady turning: `δ = ψ̇ (L + K v²) / v`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bicycle {
    /// Kinematic wheelbase `L` (m).
    pub wheelbase_m: f64,
    /// Understeer gradient `K` (rad/(m/s²)), positive for understeer.
    pub understeer: f64,
    /// Coefficients of the sideslip gain: `β/δ = (sideslip[0] − sideslip[1] v²) / (1 + K v²/L)`.
    sideslip: [f64; 2],
}

/// Bound below which an understeer gradient counts as 0, relative to the sum of the magnitudes of its terms (–). The
/// positions of the wheels are f32, so the terms of a neutral car do not cancel exactly.
const NEUTRAL_STEER_TOLERANCE: f64 = 1e-6;

impl Bicycle {
    /// Computes the steady-state yaw rate per mean road-wheel angle at `v` m/s (1/s).
    pub fn yaw_gain(&self, v: f64) -> f64 {
        v / (self.wheelbase_m + self.understeer * v * v)
    }

    /// Computes the steady-state sideslip angle per mean road-wheel angle at `v` m/s (–).
    pub fn sideslip_gain(&self, v: f64) -> f64 {
        let [constant, speed_factor] = self.sideslip;
        (constant - speed_factor * v * v) / (1.0 + self.understeer * v * v / self.wheelbase_m)
    }

    /// Returns the characteristic speed `√(L/K)` (m/s); `None` for a car that does not understeer.
    pub fn characteristic_speed_mps(&self) -> Option<f64> {
        (self.understeer > 0.0).then(|| (self.wheelbase_m / self.understeer).sqrt())
    }

    /// Returns the critical speed `√(−L/K)` (m/s), above which straight-line motion is unstable; `None` for a car that
    /// does not oversteer.
    pub fn critical_speed_mps(&self) -> Option<f64> {
        (self.understeer < 0.0).then(|| (-self.wheelbase_m / self.understeer).sqrt())
    }

    /// Builds the model from the mass `m` (kg) and the axles, each as `[x, c, ratio, roll_steer]`:
    ///
    /// - `x`: position ahead of the centre of mass (m)
    /// - `c`: cornering stiffness C (N/rad)
    /// - `ratio`: steer ratio s (rad per rad of steering)
    /// - `roll_steer`: roll-steer force T, the side force to the left per lateral acceleration (N per m/s²)
    ///
    /// The side force of an axle is `Fᵢ = Cᵢ (sᵢ δ − β − xᵢ ψ̇ / v) + Tᵢ v ψ̇`. The balance of forces and yaw moments
    /// gives `A = ΣC s x − ΣC x ΣC s / ΣC`, `L = (ΣC x² − (ΣC x)²/ΣC) / A` and `K = −((m − ΣT) ΣC x / ΣC + ΣT x) / A`.
    /// A gradient `K` below [`NEUTRAL_STEER_TOLERANCE`] of its terms is set to 0. `None` unless `A > 0` and `L` and `K`
    /// are finite, for example if no axle steers.
    pub(super) fn from_axles(mass: f64, axles: &[[f64; 4]]) -> Option<Self> {
        let sum = |f: &dyn Fn(&[f64; 4]) -> f64| axles.iter().map(f).sum::<f64>();
        // c0, c1, c2: ΣC, ΣC x, ΣC x². s0, s1: ΣC s, ΣC s x.
        let (c0, c1, c2) = (sum(&|[_, c, ..]| *c), sum(&|[x, c, ..]| c * x), sum(&|[x, c, ..]| c * x * x));
        let (s0, s1) = (sum(&|[_, c, s, _]| c * s), sum(&|[x, c, s, _]| c * s * x));
        // m − ΣT (kg) and ΣT x (kg m).
        let (effective_mass, roll_steer_moment) =
            (mass - sum(&|[.., roll_steer]| *roll_steer), sum(&|[x, .., roll_steer]| x * roll_steer));
        // Yaw moment per steering angle without a lateral force, A (N m/rad).
        let authority = s1 - c1 * s0 / c0;
        let wheelbase_m = (c2 - c1 * c1 / c0) / authority;
        // −K A (kg m): the moment per lateral acceleration that steering has to balance.
        let balance = effective_mass * c1 / c0 + roll_steer_moment;
        // Sum of the magnitudes of all terms of `balance`, as the scale of its rounding error.
        let balance_scale = effective_mass.abs() * sum(&|[x, c, ..]| (c * x).abs()) / c0
            + sum(&|[x, .., roll_steer]| (x * roll_steer).abs());
        let understeer =
            if balance.abs() > NEUTRAL_STEER_TOLERANCE * balance_scale { -balance / authority } else { 0.0 };
        // β = (Cs δ − (C1/v + (m − ΣT) v) ψ̇) / C0 with ψ̇ = v δ / (L + K v²).
        let constant = (s0 * wheelbase_m - c1) / (c0 * wheelbase_m);
        let speed_factor = (effective_mass - s0 * understeer) / (c0 * wheelbase_m);
        (authority > 0.0 && wheelbase_m.is_finite() && understeer.is_finite()).then_some(Self {
            wheelbase_m,
            understeer,
            sideslip: [constant, speed_factor],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rounding of the positions must not turn a neutral car into one with a critical speed (79 km/s). A car whose
    /// stiffnesses are in proportion to the loads has neither a critical nor a characteristic speed, and a relative
    /// difference of 1e-7 counts as neutral.
    #[test]
    fn a_neutral_car_has_neither_speed() {
        let neutral = |centre: f32| {
            let [front, rear] = [2.7 - centre, -centre].map(f64::from);
            Bicycle::from_axles(1500.0, &[[front, -80e3 * rear, 1.0, 0.0], [rear, 80e3 * front, 0.0, 0.0]])
                .expect("steers")
        };
        for centre in [1.0f32, 1.25, 1.1, 1.337] {
            // The stiffnesses are f32 values in proportion to the loads.
            let mut bicycle = neutral(centre);
            assert_eq!((bicycle.critical_speed_mps(), bicycle.characteristic_speed_mps()), (None, None));
            bicycle = Bicycle::from_axles(1500.0, &[[1.25, 80e3, 1.0, 0.0], [-1.25, 80e3 * (1.0 - 1e-7), 0.0, 0.0]])
                .expect("steers");
            assert_eq!(bicycle.understeer, 0.0);
        }
    }

    /// Wheelbase, understeer gradient, sideslip gain, yaw gain and characteristic speed of a car with two axles agree
    /// with the textbook formulas and with the figures of the reference tables.
    #[test]
    fn bicycle_of_two_axles_is_the_textbook_formula() {
        // The C5 of the reference tables with C_f = 150 kN/rad, C_r = 190 kN/rad (vehicles_and_standards 5.14).
        let (mass, a, b, front, rear) = (1545.0, 1.300, 1.354, 150e3, 190e3);
        let bicycle = Bicycle::from_axles(mass, &[[a, front, 1.0, 0.0], [-b, rear, 0.0, 0.0]]).expect("steers");
        let wheelbase = a + b;
        assert!((bicycle.wheelbase_m - wheelbase).abs() < 1e-9);
        let understeer = mass / wheelbase * (b / front - a / rear);
        assert!((bicycle.understeer - understeer).abs() < 1e-12, "{bicycle:?}");
        // The table computes its figures from distances with more digits.
        assert!((bicycle.understeer - 1.269e-3).abs() < 4e-6);
        let v = 100.0 / 3.6;
        let sideslip = (b - a * mass * v * v / (wheelbase * rear)) / (wheelbase + understeer * v * v);
        assert!((bicycle.sideslip_gain(v) - sideslip).abs() < 1e-12);
        assert!((bicycle.yaw_gain(v) - 7.65).abs() < 0.02 && (sideslip + 0.474).abs() < 2e-3);
        assert!((bicycle.characteristic_speed_mps().expect("understeers") - 45.7).abs() < 0.05);
    }
}
