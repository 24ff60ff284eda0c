//! Lateral stability of a vehicle with trailers: sway in the horizontal plane, from the models alone.
//!
//! The vehicles roll straight ahead at constant speed on linear tyres at their static loads. The equations of motion
//! are Lagrange's equations for the lateral position of the first vehicle and the yaw angles of all vehicles, for small
//! angles (Pacejka, "Tire and Vehicle Dynamics", section 1.5, has those of a car with one trailer). Tyres have a
//! relaxation length. The steering wheel is held; a compliant linkage yields without delay. Roll, pitch and the dry friction of hitches are neglected.

use nalgebra::{DMatrix, DVector};
use skidpad_core::state::Placement;
use skidpad_core::tyre::Conditions;
use skidpad_core::{Model, Scene, State};

use super::linkage;
use crate::metrics::Metric;

/// Range of the search for the critical speed and its step (m/s): [first, last, step].
const SPEED_SEARCH_MPS: [f64; 3] = [1.0, 120.0, 0.5];

/// Speeds at which the sway is listed (km/h).
const LISTED_SPEEDS_KMH: [f64; 3] = [80.0, 100.0, 130.0];

/// Least damped oscillation of a train at one speed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sway {
    /// Damping ratio (–), negative for a growing oscillation.
    pub damping_ratio: f64,
    /// Undamped natural frequency (Hz).
    pub frequency_hz: f64,
}

/// Tyre of a train.
#[derive(Clone, Debug)]
struct Tyre {
    /// Number of the vehicle, from the front.
    vehicle: usize,
    /// Derivative of the lateral position of the contact point with respect to the coordinates.
    lateral_jacobian: DVector<f64>,
    /// Cornering stiffness (N/rad).
    stiffness: f64,
    /// Relaxation length (m).
    relaxation_length: f64,
}

/// Plane model of a train. Its coordinates are the lateral position of the first vehicle (m, positive to the left) and
/// the yaw angles of all vehicles (rad).
#[derive(Clone, Debug)]
pub struct PlaneTrain {
    /// Inverse of the mass matrix.
    inverse_mass: DMatrix<f64>,
    tyres: Vec<Tyre>,
    /// Damping matrix of the hitches.
    damping: DMatrix<f64>,
    /// Number of vehicles.
    vehicle_count: usize,
}

impl PlaneTrain {
    /// Builds the model of `models` from the front, each hitched to the previous one. Adds mass, yaw inertia and tyres
    /// of each vehicle, and the yaw damping of each hitch. Cornering stiffnesses are those at the wheel loads of the
    /// train at rest, relaxation lengths also at 80 km/h. `None` if a hitch or a coupler is missing, a tyre has no
    /// creep (dry friction), or the mass matrix is singular.
    pub fn new(models: &[&Model]) -> Option<Self> {
        let size = models.len() + 1;
        // 0: number of the first vehicle.
        let states = State::train_at_rest(models, 0, &Scene::flat(), &Placement::default());
        // Coordinate 0 is the lateral position, coordinate k + 1 the yaw angle of vehicle `k`.
        let yaw_direction = |k: usize| unit_vector(size, k + 1);
        // Derivative of the lateral position of the current centre of mass with respect to the coordinates.
        let mut centre_jacobian = unit_vector(size, 0);
        let [mut mass, mut damping] = [(); 2].map(|()| DMatrix::zeros(size, size));
        let mut tyres = Vec::new();
        for (k, (model, state)) in models.iter().zip(&states).enumerate() {
            if let Some(ahead_index) = k.checked_sub(1) {
                let (hitch, coupler) = (models[ahead_index].parts().hitch?, model.parts().coupler?);
                // From the centre of mass ahead to the hitch, and from the coupler to this centre of mass.
                centre_jacobian += yaw_direction(ahead_index) * f64::from(hitch.point.x)
                    - yaw_direction(k) * f64::from(coupler.point.x);
                // Derivative of the articulation angle of the hitch with respect to the coordinates.
                let articulation_direction = yaw_direction(k) - yaw_direction(ahead_index);
                damping += &articulation_direction * articulation_direction.transpose() * f64::from(hitch.yaw_damping);
            }
            // Translation and yaw of the vehicle `k`.
            mass += &centre_jacobian * centre_jacobian.transpose() * f64::from(model.mass())
                + yaw_direction(k) * yaw_direction(k).transpose() * f64::from(model.inertia().z_axis.z);
            // Tyres, at the loads of the train at rest.
            for (i, (wheel, wheel_state)) in model.wheels().iter().zip(&state.wheels).enumerate() {
                let tyre = model.tyre(i);
                // [1]: lateral.
                let tyre_stiffness: f64 =
                    tyre.has_deflection_dynamics().then(|| tyre.stiffness_at(wheel_state.load)[1].into())?;
                // Compliance steer acts like a softer tyre: the side force F of the angle α − c F, with the relaxation
                // length σ, is that of a tyre with the stiffness C / (1 + C c) and the relaxation length σ / (1 + C c).
                let softening = 1.0 + tyre_stiffness * linkage::angle_per_force(model, i);
                let stiffness = tyre_stiffness / softening;
                let tyre_relaxation: f64 = tyre
                    .patch_lengths(&Conditions::upright(wheel_state.load, LISTED_SPEEDS_KMH[0] as f32 / 3.6))[1]
                    .into();
                let relaxation_length = tyre_relaxation / softening;
                let lateral_jacobian = &centre_jacobian + yaw_direction(k) * f64::from(wheel.contact.x);
                tyres.push(Tyre { vehicle: k, lateral_jacobian, stiffness, relaxation_length });
            }
        }
        Some(Self { inverse_mass: mass.try_inverse()?, tyres, damping, vehicle_count: models.len() })
    }

    /// Returns the least damped oscillation of the train at `speed` m/s (> 0). Its damping ratio is negative if the
    /// oscillation grows. `None` if no motion of the train oscillates.
    pub fn sway_at(&self, speed: f64) -> Option<Sway> {
        // Each complex pair counts once, by its eigenvalue with a positive imaginary part.
        let oscillations =
            self.decay_and_frequency(speed).into_iter().filter(|[_, angular_frequency]| *angular_frequency > 0.0);
        let sways = oscillations.map(|[decay, angular_frequency]| {
            let natural_frequency = decay.hypot(angular_frequency);
            Sway { damping_ratio: decay / natural_frequency, frequency_hz: natural_frequency / core::f64::consts::TAU }
        });
        sways.min_by(|a, b| a.damping_ratio.total_cmp(&b.damping_ratio))
    }

    /// Returns the lowest speed at which a motion, oscillating or not, is unstable (m/s). Scans in steps of 0.5 m/s
    /// from 1 m/s and bisects the first unstable step 40 times. The result is 1 m/s if the train is already unstable
    /// there. `None` if the train is stable from 1 to 120 m/s.
    pub fn critical_speed_mps(&self) -> Option<f64> {
        let [first, last, step] = SPEED_SEARCH_MPS;
        let is_unstable = |speed: f64| self.decay_and_frequency(speed).iter().any(|[decay, _]| *decay < 0.0);
        let step_count = ((last - first) / step) as usize;
        let mut unstable_speed = (0..=step_count).map(|k| first + k as f64 * step).find(|speed| is_unstable(*speed))?;
        let mut stable_speed = (unstable_speed - step).max(first);
        // Bisection.
        for _ in 0..40 {
            let middle = 0.5 * (stable_speed + unstable_speed);
            if is_unstable(middle) { unstable_speed = middle } else { stable_speed = middle }
        }
        Some(unstable_speed)
    }

    /// Computes decay and angular frequency of each motion (1/s, rad/s) from the eigenvalues `-decay ± i ω`. A negative
    /// decay is a growing motion. A conjugate pair gives two entries, with opposite angular frequencies. The state is
    /// that of [`Self::state_derivative`], from which the matrix is built column by column. Lateral position and
    /// heading are not part of the state, because the motion does not depend on them.
    fn decay_and_frequency(&self, speed: f64) -> Vec<[f64; 2]> {
        let size = 2 * self.vehicle_count + self.tyres.len();
        // Column k is the derivative of the state with a one at k.
        let columns: Vec<_> =
            (0..size).map(|column| self.state_derivative(&unit_vector(size, column), speed)).collect();
        DMatrix::from_columns(&columns)
            .complex_eigenvalues()
            .iter()
            .map(|eigenvalue| [-eigenvalue.re, eigenvalue.im])
            .collect()
    }

    /// Computes the time derivative of `state` at `speed` m/s. The state consists of the lateral velocity of the first
    /// vehicle (m/s), the yaw rates of all vehicles (rad/s), the hitch angles (yaw of a trailer relative to the vehicle
    /// ahead, rad), and the lateral slip of each tyre (rad). Tyre forces `C slip` and hitch damping accelerate the
    /// vehicles. The slip of a tyre approaches the slip angle of its contact point with the relaxation length.
    fn state_derivative(&self, state: &DVector<f64>, speed: f64) -> DVector<f64> {
        let n = self.vehicle_count;
        // State: lateral velocity and n yaw rates, n − 1 hitch angles from index n + 1, slips from index 2 n.
        let rates = state.rows(0, n + 1).into_owned();
        // Heading of each vehicle relative to the first one (rad).
        let mut headings = vec![0.0; n];
        for k in 1..n {
            headings[k] = headings[k - 1] + state[n + k];
        }
        let mut derivative = DVector::zeros(state.len());
        // Generalised forces of hitch damping, then of the tyres.
        let mut forces = &self.damping * -&rates;
        for (i, tyre) in self.tyres.iter().enumerate() {
            let slip = state[2 * n + i];
            forces += &tyre.lateral_jacobian * (tyre.stiffness * slip);
            // Slip angle of the contact point (rad).
            let slip_angle = headings[tyre.vehicle] - tyre.lateral_jacobian.dot(&rates) / speed;
            derivative[2 * n + i] = speed / tyre.relaxation_length * (slip_angle - slip);
        }
        derivative.rows_mut(0, n + 1).copy_from(&(&self.inverse_mass * forces));
        // The lateral velocity is that in the rotating axes of the first vehicle.
        derivative[0] -= speed * rates[1];
        // A hitch angle changes with the difference of the yaw rates of its two vehicles.
        for k in 1..n {
            derivative[n + k] = rates[k + 1] - rates[k];
        }
        derivative
    }
}

/// Returns the figures of a train of `models` from the front: mass (kg), damping ratio (–) and frequency (Hz) of the
/// sway at 80, 100 and 130 km/h, and critical speed (m/s). Damping, frequency or critical speed have no value if there
/// is no oscillation or no critical speed up to 120 m/s. Empty if the train has no plane model.
pub fn list(models: &[&Model]) -> Vec<Metric> {
    let Some(train) = PlaneTrain::new(models) else { return Vec::new() };
    let mass = models.iter().map(|model| f64::from(model.mass())).sum();
    let mut metrics = vec![Metric::new("train_mass_kg", "Mass", "kg", 1, Some(mass))];
    // Arguments of a metric: key, label, unit, decimal places, value.
    for kmh in LISTED_SPEEDS_KMH {
        let sway = train.sway_at(kmh / 3.6);
        let [name, label] = [format!("sway_damping_at_{kmh}_kmh"), format!("Sway at {kmh} km/h: damping ratio")];
        metrics.push(Metric::new(&name, &label, "-", 3, sway.map(|sway| sway.damping_ratio)));
        let [name, label] = [format!("sway_hz_at_{kmh}_kmh"), format!("Sway at {kmh} km/h: frequency")];
        metrics.push(Metric::new(&name, &label, "Hz", 3, sway.map(|sway| sway.frequency_hz)));
    }
    let critical = train.critical_speed_mps();
    metrics.push(Metric::new("critical_speed_mps", "Critical speed, above which sway grows", "m/s", 2, critical));
    metrics
}

/// Returns a vector of `size` zeros with a one at `index`.
fn unit_vector(size: usize, index: usize) -> DVector<f64> {
    let mut vector = DVector::zeros(size);
    vector[index] = 1.0;
    vector
}
