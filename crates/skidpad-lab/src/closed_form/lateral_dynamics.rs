//! Linear lateral dynamics at constant speed: static margin, free oscillation in yaw, frequency response to steering.

use nalgebra::{Complex, Matrix2, Vector2};
use skidpad_core::Model;

use super::roll::TurnPose;
use super::{Characteristics, compliance_steer, roll_steer_force};

/// Linear single-track model with two degrees of freedom, lateral velocity and yaw rate, for any number of axles.
///
/// H. B. Pacejka, *Tyre and Vehicle Dynamics*, 3rd edition, section 1.3: `m (v̇ + V r) = ΣFᵢ`, `I ṙ = Σ xᵢ Fᵢ`, with
/// the side force `Fᵢ = Cᵢ (sᵢ δ − (v + xᵢ r) / V)` of each axle. The relaxation of the tyres delays the side force by
/// a lag of first order with the length `σᵢ`: `1 / (1 + jω σᵢ / V)` (section 7.2). Roll steer adds a side force
/// `Tᵢ (v̇ + V r)`, as if the body rolled without delay. A compliant steering linkage reduces the angle of its axle by
/// `cᵢ Fᵢ / (1 + jω τ)`. Other effects of roll and load transfer are not included.
#[derive(Clone, Debug, PartialEq)]
pub struct LateralDynamics {
    /// Mass `m` (kg).
    pub mass_kg: f64,
    /// Yaw inertia `I` (kg m²).
    pub yaw_inertia_kg_m2: f64,
    /// Axles.
    pub axles: Vec<LinearAxle>,
    /// Time constant `τ` of the steering linkage (s), ≥ 0.
    pub linkage_time_constant_s: f64,
}

/// Axle of [`LateralDynamics`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinearAxle {
    /// Distance `x` ahead of the centre of mass (m).
    pub x_m: f64,
    /// Cornering stiffness `C` of the tyres (N/rad), ≥ 0.
    pub cornering_stiffness_n_per_rad: f64,
    /// Compliance steer `c`: angle by which the side force of the axle reduces its road-wheel angle (rad/N); 0 for a
    /// rigid steering linkage.
    pub compliance_steer_rad_per_n: f64,
    /// Steer ratio `s` (rad per rad of steering).
    pub steer_ratio: f64,
    /// Relaxation length `σ` (m), ≥ 0.
    pub relaxation_m: f64,
    /// Side force by roll steer per lateral acceleration `T` (N per m/s²), positive to the left in a left turn, with the
    /// compliance steer of a steady turn.
    pub roll_steer_kg: f64,
}

impl LinearAxle {
    /// Returns the cornering stiffness with the compliance steer of a steady turn, `C / (1 + C c)` (N/rad).
    pub fn steady_stiffness_n_per_rad(&self) -> f64 {
        self.cornering_stiffness_n_per_rad
            / (1.0 + self.cornering_stiffness_n_per_rad * self.compliance_steer_rad_per_n)
    }
}

/// Response to the mean road-wheel angle at one frequency. Arguments are phases; a negative argument is a lag.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LateralResponse {
    /// Yaw rate per angle (1/s).
    pub yaw_rate: Complex<f64>,
    /// Sideslip angle per angle (–).
    pub sideslip: Complex<f64>,
    /// Lateral acceleration of the centre of mass per angle (m/s² per rad).
    pub lateral_acceleration: Complex<f64>,
}

/// Free oscillation of yaw rate and sideslip at a constant speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct YawMode {
    /// Undamped natural frequency (Hz), > 0.
    pub frequency_hz: f64,
    /// Damping ratio (–). Above 1 the motion does not oscillate.
    pub damping_ratio: f64,
}

impl LateralDynamics {
    /// Reads mass, yaw inertia and the axles from `model`: position, cornering stiffness at the static load, steer
    /// ratio, compliance steer, and the roll-steer force in the pose of a steady turn. Relaxation lengths are set to 0.
    /// `None` if a tyre has no cornering stiffness (dry friction).
    pub fn new(model: &Model) -> Option<Self> {
        let turn_pose = TurnPose::new(model);
        let axle = |(index, figures): (usize, &super::AxleCharacteristics)| {
            let stiffness = figures.cornering_stiffness_n_per_rad?;
            let compliance_steer = compliance_steer(model, index);
            let roll_steer = roll_steer_force(model, turn_pose.as_ref(), index);
            Some(LinearAxle {
                x_m: figures.x_m,
                cornering_stiffness_n_per_rad: stiffness,
                compliance_steer_rad_per_n: compliance_steer,
                steer_ratio: f64::from(model.parts().axles[index].steer_ratio),
                relaxation_m: 0.0,
                roll_steer_kg: roll_steer / (1.0 + stiffness * compliance_steer),
            })
        };
        let compliance = model.parts().steering.compliance;
        let axles: Option<Vec<_>> = Characteristics::new(model).axles.iter().enumerate().map(axle).collect();
        Some(Self {
            mass_kg: f64::from(model.mass()),
            yaw_inertia_kg_m2: f64::from(model.inertia().z_axis.z),
            axles: axles?,
            linkage_time_constant_s: compliance.map_or(0.0, |compliance| f64::from(compliance.time_constant)),
        })
    }

    /// Returns the sums `ΣC`, `ΣC x` and `ΣC x²` over the axles (N/rad, N m/rad, N m²/rad), with the stiffness of a steady
    /// turn ([`LinearAxle::steady_stiffness_n_per_rad`]).
    fn stiffness_moments(&self) -> [f64; 3] {
        let sum = |power: i32| {
            let terms = self.axles.iter().map(|axle| axle.steady_stiffness_n_per_rad() * axle.x_m.powi(power));
            terms.sum::<f64>()
        };
        [sum(0), sum(1), sum(2)]
    }

    /// Returns the effective mass `m − ΣT` (kg) and the shift `ΣT x / (m − ΣT)` (m) that roll steer causes. In the yaw
    /// balance every side force acts farther forward by this shift.
    fn roll_steer_terms(&self) -> [f64; 2] {
        let sum = |weight: &dyn Fn(&LinearAxle) -> f64| {
            self.axles.iter().map(|axle| axle.roll_steer_kg * weight(axle)).sum::<f64>()
        };
        let mass = self.mass_kg - sum(&|_| 1.0);
        [mass, sum(&|axle| axle.x_m) / mass]
    }

    /// Returns the static margin (–), positive for a car that understeers. It is the distance of the neutral steer
    /// point behind the centre of mass, relative to the distance from the first to the last axle:
    /// `−(ΣC x / ΣC + ΣT x / (m − ΣT)) / L` (W. F. Milliken, D. L. Milliken, *Race Car Vehicle Dynamics*, section
    /// 5.10). `None` without cornering stiffness or with one axle.
    pub fn static_margin(&self) -> Option<f64> {
        let ([c0, c1, _], [_, shift]) = (self.stiffness_moments(), self.roll_steer_terms());
        let (first, last) = (self.axles.first()?, self.axles.last()?);
        let wheelbase = first.x_m - last.x_m;
        (c0 > 0.0 && wheelbase > 0.0).then(|| -(c1 / c0 + shift) / wheelbase)
    }

    /// Computes the free oscillation at `speed_mps` (m/s, > 0), without relaxation:
    /// `ω² = (ΣC ΣC x² − (ΣC x)²) / (m I V²) − ΣC x / I`, `2 ζ ω = ΣC / (m V) + ΣC x² / (I V)`. Roll steer replaces the
    /// mass `m` by `m − ΣT`, and the moment arm `x` in the yaw balance by `x + ΣT x / (m − ΣT)`. `None` for a car that
    /// is unstable at this speed (`ω² ≤ 0`), that is, above its critical speed.
    pub fn yaw_mode(&self, speed_mps: f64) -> Option<YawMode> {
        let [c0, c1, c2] = self.stiffness_moments();
        let ([m, shift], i, v) = (self.roll_steer_terms(), self.yaw_inertia_kg_m2, speed_mps);
        let square = (c0 * c2 - c1 * c1) / (m * i * v * v) - (c1 + shift * c0) / i;
        (square > 0.0).then(|| {
            let natural = square.sqrt();
            let decay = c0 / (m * v) + (c2 + shift * c1) / (i * v);
            YawMode { frequency_hz: natural / std::f64::consts::TAU, damping_ratio: decay / (2.0 * natural) }
        })
    }

    /// Computes the frequency response of yaw rate, sideslip and lateral acceleration to the mean road-wheel angle,
    /// with the tyre relaxation and the compliance steer of each axle. `speed_mps` is the speed (m/s, > 0),
    /// `frequency_hz` the frequency (Hz, ≥ 0). `None` if the equations have no solution, as at the critical speed and 0 Hz.
    pub fn response(&self, speed_mps: f64, frequency_hz: f64) -> Option<LateralResponse> {
        let (v, jw) = (speed_mps, Complex::new(0.0, std::f64::consts::TAU * frequency_hz));
        let one = Complex::from(1.0);
        // Stiffness of an axle with the lag of its relaxation and with its compliance steer (N/rad).
        let stiffness = |axle: &LinearAxle| {
            let lagged = Complex::from(axle.cornering_stiffness_n_per_rad) / (one + jw * (axle.relaxation_m / v));
            let compliance_steer = axle.compliance_steer_rad_per_n / (one + jw * self.linkage_time_constant_s);
            lagged / (one + lagged * compliance_steer)
        };
        let sum = |weight: &dyn Fn(&LinearAxle) -> f64| {
            self.axles.iter().map(|axle| stiffness(axle) * weight(axle)).sum::<Complex<f64>>()
        };
        // ΣC, ΣC x, ΣC x², ΣC s, ΣC s x.
        let (c0, c1, c2) = (sum(&|_| 1.0), sum(&|axle| axle.x_m), sum(&|axle| axle.x_m * axle.x_m));
        let (s0, s1) = (sum(&|axle| axle.steer_ratio), sum(&|axle| axle.steer_ratio * axle.x_m));
        let [mass, shift] = self.roll_steer_terms();
        // Unknowns: lateral velocity and yaw rate per angle. Rows: balance of side forces, balance of yaw moments.
        let matrix = Matrix2::new(
            jw * mass + c0 / v,
            c1 / v + mass * v,
            (c1 + c0 * shift) / v,
            jw * self.yaw_inertia_kg_m2 + (c2 + c1 * shift) / v,
        );
        let solution = matrix.lu().solve(&Vector2::new(s0, s1 + s0 * shift))?;
        let (lateral_velocity, yaw_rate) = (solution[0], solution[1]);
        Some(LateralResponse {
            yaw_rate,
            sideslip: lateral_velocity / v,
            lateral_acceleration: jw * lateral_velocity + yaw_rate * v,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// C5 of the reference tables with C_f = 150 kN/rad, C_r = 190 kN/rad and a yaw inertia of 2500 kg m².
    fn c5() -> LateralDynamics {
        let axle = |x_m, stiffness, steer_ratio| LinearAxle {
            x_m,
            cornering_stiffness_n_per_rad: stiffness,
            compliance_steer_rad_per_n: 0.0,
            steer_ratio,
            relaxation_m: 0.0,
            roll_steer_kg: 0.0,
        };
        LateralDynamics {
            mass_kg: 1545.0,
            yaw_inertia_kg_m2: 2500.0,
            axles: vec![axle(1.300, 150e3, 1.0), axle(-1.354, 190e3, 0.0)],
            linkage_time_constant_s: 0.0,
        }
    }

    /// At 0 Hz the gains are those of the steady bicycle model.
    #[test]
    fn the_response_at_rest_is_the_steady_turn() {
        let (car, v) = (c5(), 100.0 / 3.6);
        let found = car.response(v, 0.0).expect("stable");
        let understeer = 1545.0 / 2.654 * (1.354 / 150e3 - 1.300 / 190e3);
        let gain = v / (2.654 + understeer * v * v);
        assert!((found.yaw_rate.re - gain).abs() < 1e-9 && found.yaw_rate.im.abs() < 1e-9, "{found:?}");
        assert!((found.lateral_acceleration.re - v * gain).abs() < 1e-9);
        let test_car = LateralDynamics::new(&testing::model()).expect("linear tyres");
        let bicycle = Characteristics::new(&testing::model()).bicycle.expect("linear tyres");
        let found = test_car.response(20.0, 0.0).expect("stable");
        assert!((found.yaw_rate.re - bicycle.yaw_gain(20.0)).abs() < 1e-6);
        assert!((found.sideslip.re - bicycle.sideslip_gain(20.0)).abs() < 1e-6);
    }

    /// The textbook form `G (1 + T s) / (1 + 2 ζ s/ω + s²/ω²)` of the yaw response with `T = a m V / (L C_r)`,
    /// `ω² = (C_f C_r L² / (m I V²)) (1 + K V²/L)`, `2 ζ ω = (C_f + C_r)/(m V) + (a² C_f + b² C_r)/(I V)` has the same
    /// values. At 100 km/h `ω` is 9.60 rad/s and `ζ` 0.864 (vehicles_and_standards 5.14).
    #[test]
    fn the_response_is_the_textbook_transfer_function() {
        let (car, v) = (c5(), 100.0f64 / 3.6);
        let (m, i, a, b, front, rear) = (1545.0, 2500.0, 1.300, 1.354, 150e3, 190e3);
        let wheelbase = a + b;
        let understeer = m / wheelbase * (b / front - a / rear);
        let stiffness = front * rear * wheelbase * wheelbase / (m * i * v * v);
        let natural = (stiffness * (1.0 + understeer * v * v / wheelbase)).sqrt();
        let damping = ((front + rear) / (m * v) + (a * a * front + b * b * rear) / (i * v)) / (2.0 * natural);
        assert!((natural - 9.60).abs() < 0.05 && (damping - 0.864).abs() < 0.01, "{natural} {damping}");
        let mode = car.yaw_mode(v).expect("stable");
        assert!((mode.frequency_hz * std::f64::consts::TAU - natural).abs() < 1e-9, "{mode:?} {natural}");
        assert!((mode.damping_ratio - damping).abs() < 1e-9, "{mode:?} {damping}");
        let gain = v / (wheelbase + understeer * v * v);
        let lead = a * m * v / (wheelbase * rear);
        for frequency in [0.2, 0.5, 1.0, 2.0, 3.0] {
            let s = Complex::new(0.0, std::f64::consts::TAU * frequency);
            let expected =
                (1.0 + s * lead) * gain / (1.0 + s * (2.0 * damping / natural) + s * s / (natural * natural));
            let found = car.response(v, frequency).expect("stable").yaw_rate;
            assert!((found - expected).norm() < 1e-9 * expected.norm(), "{frequency} Hz: {found} {expected}");
        }
    }

    /// Checks a car with roll steer of its rear axle: its gains are those of the bicycle model with the same forces, and the
    /// signs of margin and understeer agree. The car that oversteers has no oscillation above its critical speed.
    #[test]
    fn roll_steer_moves_the_neutral_steer_point() {
        for roll_steer_kg in [-300.0, 300.0] {
            let mut car = c5();
            car.axles[1].roll_steer_kg = roll_steer_kg;
            let row = |axle: &LinearAxle| {
                [axle.x_m, axle.cornering_stiffness_n_per_rad, axle.steer_ratio, axle.roll_steer_kg]
            };
            let rows: Vec<[f64; 4]> = car.axles.iter().map(row).collect();
            let bicycle = super::super::Bicycle::from_axles(car.mass_kg, &rows).expect("steers");
            let found = car.response(20.0, 0.0).expect("stable");
            assert!((found.yaw_rate.re / bicycle.yaw_gain(20.0) - 1.0).abs() < 1e-9, "{found:?}");
            assert_eq!(car.static_margin().expect("two axles") < 0.0, bicycle.understeer < 0.0);
            assert_eq!(bicycle.critical_speed_mps().is_some(), roll_steer_kg < 0.0);
            if let Some(critical) = bicycle.critical_speed_mps() {
                assert!(car.yaw_mode(0.999 * critical).is_some() && car.yaw_mode(1.001 * critical).is_none());
            }
        }
    }

    /// The static margin is `b C_r − a C_f` over `L (C_f + C_r)`. Reversed, the car oversteers: its margin changes sign, and it
    /// has no oscillation above its critical speed `√(−L / K)`.
    #[test]
    fn a_negative_margin_has_a_critical_speed() {
        let margin = (1.354 * 190e3 - 1.300 * 150e3) / (2.654 * 340e3);
        let mut car = c5();
        assert!((car.static_margin().expect("two axles") - margin).abs() < 1e-12);
        (car.axles[0].cornering_stiffness_n_per_rad, car.axles[1].cornering_stiffness_n_per_rad) = (190e3, 150e3);
        assert!(car.static_margin().expect("two axles") < 0.0);
        let understeer = 1545.0 / 2.654 * (1.354 / 190e3 - 1.300 / 150e3);
        let critical = (-2.654f64 / understeer).sqrt();
        assert!(car.yaw_mode(0.999 * critical).is_some() && car.yaw_mode(1.001 * critical).is_none(), "{critical}");
    }

    /// Compliance steer acts like a softer tyre: gains, margin and yaw mode are those of an axle with the stiffness
    /// `C / (1 + C c)`. A linkage that is slow against the motion has no effect.
    #[test]
    fn compliance_steer_softens_the_axle() {
        let (mut compliant, mut soft) = (c5(), c5());
        compliant.axles[0].compliance_steer_rad_per_n = 2e-6;
        // 150e3 / (1 + 0.3).
        soft.axles[0].cornering_stiffness_n_per_rad = 150e3 / 1.3;
        let response = |car: &LateralDynamics| car.response(27.0, 2.0).expect("stable").yaw_rate;
        assert!((response(&compliant) - response(&soft)).norm() < 1e-9);
        let margin = |car: &LateralDynamics| car.static_margin().expect("two axles");
        assert!((margin(&compliant) - margin(&soft)).abs() < 1e-12 && margin(&soft) > margin(&c5()));
        let mode = |car: &LateralDynamics| car.yaw_mode(27.0).expect("stable").frequency_hz;
        assert!((mode(&compliant) - mode(&soft)).abs() < 1e-12);
        compliant.linkage_time_constant_s = 1e6;
        assert!((response(&compliant) - response(&c5())).norm() < 1e-5);
    }

    /// Relaxation does not change the steady gain and adds lag at 2 Hz.
    #[test]
    fn relaxation_adds_lag() {
        let mut car = c5();
        car.axles.iter_mut().for_each(|axle| axle.relaxation_m = 0.5);
        let (rest, moving) = (car.response(27.0, 0.0).expect("stable"), car.response(27.0, 2.0).expect("stable"));
        let rigid = c5();
        assert!((rest.yaw_rate - rigid.response(27.0, 0.0).expect("stable").yaw_rate).norm() < 1e-9);
        assert!(moving.yaw_rate.arg() < rigid.response(27.0, 2.0).expect("stable").yaw_rate.arg());
    }
}
