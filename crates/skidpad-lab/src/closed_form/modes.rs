//! Rigid-body modes of the vehicle on its springs: heave, pitch and roll, coupled by masses and springs.
//!
//! The modes solve `(K − ω² M) q = 0` for heave, roll and pitch about the centre of mass; K includes the destabilising
//! moment of gravity in roll and pitch. The damping ratio is `qᵀ C q / 2 ω` at unit modal mass, which neglects the
//! coupling of modes by damping (Ginsberg, "Mechanical and Structural Vibrations", section 5.3). The wheels roll
//! freely, so pitching turns them, and creep sideways freely. [`Modes::roll_fixed_contacts`] is the other limit, in
//! which the ground holds the contact points.

use nalgebra::{Cholesky, Matrix3, SymmetricEigen, Vector3};
use skidpad_core::Model;
use skidpad_core::model::{DamperKnee, HeaveSpring, Strut};

use super::GRAVITY_MPS2;

/// Mode of vibration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mode {
    /// Undamped natural frequency (Hz).
    pub frequency_hz: f64,
    /// Damping ratio with the mean of bump and rebound damping below the knees of the dampers (–).
    pub damping_ratio: f64,
    /// Mode shape: heave of the centre of mass (m, positive up), roll and pitch (rad, ISO 8855). The largest component
    /// is 1.
    pub shape: [f64; 3],
}

impl Mode {
    /// Returns the undamped natural angular frequency (rad/s).
    fn rad_per_s(&self) -> f64 {
        self.frequency_hz * core::f64::consts::TAU
    }
}

/// Modes of a vehicle, each named after the coordinate with the largest share of its kinetic energy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Modes {
    /// Mode that consists mostly of heave.
    pub heave: Mode,
    /// Mode that consists mostly of pitch.
    pub pitch: Mode,
    /// Mode that consists mostly of roll, with tyres that creep sideways freely.
    pub roll: Mode,
    /// Mode that consists mostly of roll, with tyres that hold their contact points.
    pub roll_fixed_contacts: Mode,
    /// Longest stable step of explicitly evaluated springs and dampers (s), with the velocity updated before the
    /// position as in ray-cast vehicles: the smallest `2 (√(1 + ζ²) − ζ) / ω` of all modes.
    pub explicit_step_s: f64,
}

impl Modes {
    /// Computes the modes of `model`. Damping ratios use the mean of bump and rebound damping.
    /// [`Modes::explicit_step_s`] uses the largest damping of each damper in bump or rebound, below or beyond its knee.
    /// `None` if the springs cannot hold the car upright.
    pub fn new(model: &Model) -> Option<Self> {
        // Damping for the ratios, and largest damping for the stable step (N s/m).
        let mean_damping = |strut: &Strut| 0.5 * f64::from(strut.bump_damping + strut.rebound_damping);
        let max_damping = |strut: &Strut| {
            let steepest = |damping: f32, knee: &DamperKnee| damping * knee.fast_ratio.max(1.0);
            steepest(strut.bump_damping, &strut.knees[0]).max(steepest(strut.rebound_damping, &strut.knees[1])).into()
        };
        // false: tyres creep sideways; true: contact points fixed. `solve_modes` returns heave, roll, pitch.
        let [heave, roll, pitch] = solve_modes(model, false, mean_damping)?;
        let [_, roll_fixed, _] = solve_modes(model, true, mean_damping)?;
        // Longest stable step of a mode (s).
        let stable_step = |mode: &Mode| {
            let ratio = mode.damping_ratio;
            2.0 * ((1.0 + ratio * ratio).sqrt() - ratio) / mode.rad_per_s()
        };
        let explicit_step_s = solve_modes(model, false, max_damping)?
            .iter()
            .map(|modal| stable_step(&modal.mode))
            .fold(f64::INFINITY, f64::min);
        let [heave, pitch, roll, roll_fixed] = [heave, pitch, roll, roll_fixed].map(|modal| modal.mode);
        Some(Self { heave, pitch, roll, roll_fixed_contacts: roll_fixed, explicit_step_s })
    }

    /// Computes the damping ratios of heave, pitch, roll and roll with held tyres that remain when the solvers step by
    /// `dt` (s). A ratio is `None` if the motion reverses within a step. Unsprung masses are neglected. Returns `None`
    /// if the springs cannot hold the vehicle upright.
    ///
    /// A mode of frequency ω is integrated like the struts: the spring by the implicit midpoint rule, the damping with
    /// the part `C₀` at the start and `C₁` at the end of the step,
    ///
    /// ```text
    /// v₁ − v₀ = −dt ω² ½ (z₀ + z₁) − dt (C₀ v₀ + C₁ v₁),    z₁ − z₀ = ½ dt (v₀ + v₁)
    /// ```
    ///
    /// Let `D = 1 + dt C₁ + dt² ω² / 4`. The two eigenvalues λ of a step have the product
    /// `(1 − dt C₀ + dt² ω² / 4) / D` and the sum `(2 + dt (C₁ − C₀) − dt² ω² / 2) / D`. The result is the damping
    /// ratio of the oscillator with the poles `ln λ / dt`.
    pub fn damping_in_steps(model: &Model, dt: f64) -> Option<[Option<f64>; 4]> {
        let undamped = |_: &Strut| 0.0;
        // false: tyres creep sideways; true: contact points fixed.
        let [heave, roll, pitch] = solve_modes(model, false, undamped)?;
        let [_, roll_fixed, _] = solve_modes(model, true, undamped)?;
        Some([heave, pitch, roll, roll_fixed].map(|modal| modal.damping_in_steps(model, dt)))
    }
}

/// Mode with its motion in heave, roll and pitch per modal coordinate of unit modal mass.
#[derive(Clone, Copy, Debug)]
struct ModalMotion {
    /// Frequency, damping ratio and shape.
    mode: Mode,
    /// Heave, roll and pitch for a modal coordinate of 1.
    motion: Vector3<f64>,
}

impl ModalMotion {
    /// Computes the damping ratio of this mode that remains with steps of `dt` (s), as described at
    /// [`Modes::damping_in_steps`]; `None` if the motion reverses within a step.
    fn damping_in_steps(&self, model: &Model, dt: f64) -> Option<f64> {
        // dt C₀ and dt C₁: modal damping at the start and at the end of the step.
        let [start_damping, end_damping] = [0, 1].map(|end_index| {
            let struts = sum_of_wheel_springs(model, |i| damping_of_step(model, i, dt)[end_index]);
            // 0.5: heave springs apply half of their damping at each end of the step.
            let springs = sum_of_heave_springs(model, |spring| 0.5 * f64::from(spring.damping));
            dt * self.motion.dot(&((struts + springs) * self.motion))
        });
        // dt² ω² / 4.
        let stiffness_term = 0.25 * (self.mode.rad_per_s() * dt).powi(2);
        let denominator = 1.0 + end_damping + stiffness_term;
        // Product of the eigenvalues, and half of their sum.
        let (product, half_sum) = (
            (1.0 - start_damping + stiffness_term) / denominator,
            (1.0 + 0.5 * (end_damping - start_damping) - stiffness_term) / denominator,
        );
        // Below 0 the eigenvalues are complex (oscillation), otherwise real (overdamped).
        let discriminant = half_sum * half_sum - product;
        if discriminant < 0.0 {
            // Decay and angle per step of the pole ln λ, with |λ| = √product.
            let (decay, angle) = (-0.5 * product.ln(), (half_sum / product.sqrt()).acos());
            return Some(decay / decay.hypot(angle));
        }
        // Two decay rates per step; NaN for an eigenvalue below 0, which reverses the motion.
        let rates = [half_sum + discriminant.sqrt(), half_sum - discriminant.sqrt()].map(|eigenvalue| -eigenvalue.ln());
        let ratio = 0.5 * (rates[0] + rates[1]) / (rates[0] * rates[1]).sqrt();
        ratio.is_finite().then_some(ratio)
    }
}

/// Returns the damping of wheel `i` that a step of `dt` (s) applies to the velocity at its start and to that at its end
/// (N s/m), by the rule of the struts in the core. The share at the end is `½ + ½ d / (d + 6)`, where `d` is damping
/// times `dt` over the carried mass: half for soft dampers, up to 1 for stiff ones.
///
/// The sum of both is the damping of the strut times the factor `1 + ω² dt² / 6`, which compensates the loss of the
/// midpoint rule. `ω²` is the spring rate over the carried mass (rad²/s²), and `ω² dt²` counts as at most 4. Bump and
/// rebound damping are averaged.
fn damping_of_step(model: &Model, i: usize, dt: f64) -> [f64; 2] {
    let (strut, carried) = (&model.wheels()[i].strut, f64::from(model.carried_masses()[i]));
    // Compensation of the loss of the midpoint rule (–): 1 + ω² dt² / 6 with ω² dt² at most 4, as in the core.
    let loss_compensation = 1.0 + (f64::from(strut.rate) * dt * dt / carried).min(4.0) / 6.0;
    let damping_parts = [strut.bump_damping, strut.rebound_damping].map(|damping| {
        let (damping, decay_per_step) = (f64::from(damping), f64::from(damping) * dt / carried);
        // Share of the damping at the end of the step: from 0.5 for soft to 1 for stiff dampers.
        let end_share = 0.5 + 0.5 * decay_per_step / (decay_per_step + 6.0);
        [1.0 - end_share, end_share].map(|share| share * loss_compensation * damping)
    });
    // Mean of bump and rebound, at the start and at the end of the step.
    [0, 1].map(|end_index| 0.5 * (damping_parts[0][end_index] + damping_parts[1][end_index]))
}

/// Computes the modes in the order heave, roll, pitch from the eigenvalue problem `(K − ω² M) q = 0`, with the Cholesky
/// factor of the mass matrix. Each mode is assigned to one coordinate; of all assignments, the one with the largest
/// kinetic energy in the assigned coordinates is used. With `has_fixed_contacts` the ground holds the contact points in
/// roll. `damping` returns the damping of a strut (N s/m). `None` if a natural frequency is not above 0, that is, if
/// the springs cannot hold this motion.
fn solve_modes(model: &Model, has_fixed_contacts: bool, damping: impl Fn(&Strut) -> f64) -> Option<[ModalMotion; 3]> {
    let mass_matrix = build_mass_matrix(model, has_fixed_contacts);
    // The matrix `L⁻¹ K L⁻ᵀ` has the eigenvalues ω².
    let cholesky_factor = Cholesky::new(mass_matrix)?.l();
    let inverse_factor = cholesky_factor.try_inverse()?;
    let eigen = SymmetricEigen::new(inverse_factor * build_stiffness_matrix(model) * inverse_factor.transpose());
    let dampers = sum_of_wheel_springs(model, |i| damping(&model.wheels()[i].strut))
        + sum_of_heave_springs(model, |spring| spring.damping.into());
    let energies_and_modes: Vec<(Vector3<f64>, ModalMotion)> = (0..3)
        .map(|i| {
            // Motion in heave, roll and pitch with unit modal mass.
            let motion = inverse_factor.transpose() * eigen.eigenvectors.column(i);
            // Angular frequency (rad/s); NaN if the springs cannot hold this motion, which is rejected below.
            let omega = eigen.eigenvalues[i].sqrt();
            let damping_ratio = motion.dot(&(dampers * motion)) / (2.0 * omega);
            let shape = (motion / motion[motion.iamax()]).into();
            // Kinetic energy of heave, roll and pitch at unit modal mass.
            let kinetic = motion.component_mul(&(mass_matrix * motion));
            let mode = Mode { frequency_hz: omega / core::f64::consts::TAU, damping_ratio, shape };
            (kinetic, ModalMotion { mode, motion })
        })
        .collect();
    if !energies_and_modes.iter().all(|(_, modal)| modal.mode.frequency_hz > 0.0) {
        return None;
    }
    // Assignment of modes to coordinates with the largest total kinetic energy.
    const MODE_PERMUTATIONS: [[usize; 3]; 6] = [[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    // `order[coordinate]` is the number of the mode that is assigned to heave, roll or pitch.
    let energy =
        |order: &[usize; 3]| (0..3).map(|coordinate| energies_and_modes[order[coordinate]].0[coordinate]).sum::<f64>();
    let order = MODE_PERMUTATIONS.iter().max_by(|a, b| energy(a).total_cmp(&energy(b)))?;
    Some(order.map(|i| energies_and_modes[i].1))
}

/// Computes the 3 × 3 mass matrix for heave, roll and pitch (kg, kg m²). The wheels roll freely, so pitching turns
/// them. This adds the pitch inertia `m_s m h² / (m + m_s)`, with the mass `m_s` equivalent to the spin of the wheels
/// and the height `h` of the centre of mass above the tyre forces. With `has_fixed_contacts` the roll inertia refers to
/// the roll axis instead of the centre of mass.
fn build_mass_matrix(model: &Model, has_fixed_contacts: bool) -> Matrix3<f64> {
    let (inertia, mass) = (model.inertia(), f64::from(model.mass()));
    let (force_lever, roll_lever) = (model.tyre_force_lever(), model.roll_lever());
    // Mass equivalent of the spin of the wheels (kg).
    let spin_mass = f64::from(model.rolling_mass()) - mass;
    let [xx, xy, yy] = [inertia.x_axis.x, inertia.x_axis.y, inertia.y_axis.y].map(f64::from);
    let added_roll_inertia = if has_fixed_contacts { mass * roll_lever * roll_lever } else { 0.0 };
    let added_pitch_inertia = force_lever * force_lever * mass * spin_mass / (mass + spin_mass);
    // Rows heave, roll, pitch; the product of inertia couples roll and pitch.
    Matrix3::new(mass, 0.0, 0.0, 0.0, xx + added_roll_inertia, xy, 0.0, xy, yy + added_pitch_inertia)
}

/// Computes the 3 × 3 stiffness matrix for heave (m), roll and pitch (rad): N/m, N m/rad, and N (N/rad or N m/m)
/// between heave and rotation. It contains the springs of the wheels, anti-roll bars (those that depend on speed at
/// their full rate) and heave springs, less the destabilising moment of gravity: weight of the whole car times the
/// height of its centre of mass, above the roll axis in roll and above the ground in pitch. Tyres are rigid.
fn build_stiffness_matrix(model: &Model) -> Matrix3<f64> {
    let wheel_springs = sum_of_wheel_springs(model, |i| model.wheels()[i].strut.rate.into());
    let bar_matrix = |bar: &skidpad_core::model::AntiRollBar| {
        let [a, b] = bar.wheels.map(|i| wheel_jacobian(model, i));
        (a - b) * (a - b).transpose() * f64::from(bar.rate)
    };
    let bars: Matrix3<f64> = model.parts().bars.iter().map(bar_matrix).sum();
    let heave_springs = sum_of_heave_springs(model, |spring| spring.rate.into());
    let weight = f64::from(model.mass()) * GRAVITY_MPS2;
    let height = f64::from(model.parts().centre_height);
    // The body rolls about its roll axis. The model has no pitch axis, so that the body pitches about the ground. Heave
    // has no moment of gravity.
    let gravity_moments = Vector3::new(0.0, weight * (height - model.roll_axis_height()), weight * height);
    wheel_springs + bars + heave_springs - Matrix3::from_diagonal(&gravity_moments)
}

/// Sums the 3 × 3 matrices of the heave springs. A heave spring reacts to the mean of two wheel travels. `coefficient`
/// returns its stiffness or damping.
fn sum_of_heave_springs(model: &Model, coefficient: impl Fn(&HeaveSpring) -> f64) -> Matrix3<f64> {
    let spring_matrix = |spring: &HeaveSpring| {
        let [a, b] = spring.wheels.map(|i| wheel_jacobian(model, i));
        (a + b) * (a + b).transpose() * (0.25 * coefficient(spring))
    };
    model.parts().heave_springs.iter().map(spring_matrix).sum()
}

/// Sums the 3 × 3 matrices `J Jᵀ rate` of springs or dampers at all wheels. `rate` returns the stiffness or damping
/// at a wheel.
fn sum_of_wheel_springs(model: &Model, rate: impl Fn(usize) -> f64) -> Matrix3<f64> {
    (0..model.wheels().len()).map(|i| wheel_jacobian(model, i) * wheel_jacobian(model, i).transpose() * rate(i)).sum()
}

/// Returns the compression of wheel `i` per heave of the centre of mass (up), roll and pitch: (−1, −y, x) of its
/// contact point.
fn wheel_jacobian(model: &Model, i: usize) -> Vector3<f64> {
    let contact = model.wheels()[i].contact;
    Vector3::new(-1.0, -f64::from(contact.y), contact.x.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    /// A car with symmetry front to rear and left to right has three uncoupled oscillators. Frequencies of heave, roll
    /// with free and with fixed contact points, and pitch with the inertia of the wheels, and the damping ratio and
    /// shape of heave are those of the formulas.
    #[test]
    fn uncoupled_modes_are_the_textbook_oscillators() {
        let modes = Modes::new(&testing::model()).expect("upright");
        let tau = core::f64::consts::TAU;
        let near = |found: f64, expected: f64| assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
        near(modes.heave.frequency_hz, (100e3f64 / 1000.0).sqrt() / tau);
        near(modes.heave.damping_ratio, 6000.0 / (2.0 * (100e3f64 * 1000.0).sqrt()));
        near(modes.roll.frequency_hz, ((100e3 * 0.75 * 0.75 - 4905.0) / 400.0f64).sqrt() / tau);
        near(modes.roll_fixed_contacts.frequency_hz, ((100e3 * 0.75 * 0.75 - 4905.0) / 650.0f64).sqrt() / tau);
        // Four wheels of 1 kg m² on 0.3 m are equivalent to 44.4 kg.
        let spin = 4.0 / 0.09;
        let inertia = 1200.0 + 0.25 * 1000.0 * spin / (1000.0 + spin);
        near(modes.pitch.frequency_hz, ((100e3 * 1.25 * 1.25 - 4905.0f64) / inertia).sqrt() / tau);
        assert_eq!(modes.heave.shape[0].abs(), 1.0);
    }
}
