//! Order of convergence of the position that a vehicle reaches under scripted controls below the limit of friction.

use std::ops::ControlFlow;
use std::sync::Arc;

use skidpad_core::{Controls, Model, SolverInfo};

use super::pages::{append, append_head, append_row};
use super::{Order, VehicleRuns};
use crate::closed_form::Characteristics;
use crate::driver::{DriverInput, OpenLoop};
use crate::manoeuvre::Setup;
use crate::parallel::run_in_parallel;
use crate::run::{TimeStep, simulate};

/// Rates at which positions are compared (Hz); each is twice the previous one.
pub const COMPARED_RATES_HZ: [f64; 4] = [60.0, 120.0, 240.0, 480.0];
/// Difference between positions below which rounding of f32 velocities dominates after some seconds (mm).
const ROUNDING_FLOOR_MM: f64 = 0.3;

/// Open-loop script of controls, which depend on time only.
struct ConvergenceScript {
    /// Name of the script.
    name: &'static str,
    /// Initial speed (m/s).
    speed_mps: f64,
    /// Duration (s).
    duration_s: f64,
    /// Lateral acceleration at a time in s, for which the linear bicycle model computes the steering (m/s²).
    lateral_mps2: fn(f64) -> f64,
    /// Deceleration at a time in s, for which the brakes are pressed (m/s²).
    braking_mps2: fn(f64) -> f64,
}

/// Scripts that every vehicle drives.
const CONVERGENCE_SCRIPTS: [ConvergenceScript; 5] = [
    ConvergenceScript {
        name: "step steer",
        speed_mps: 20.0,
        duration_s: 2.5,
        lateral_mps2: |t| 2.5 * ramp(t, 0.5),
        braking_mps2: |_| 0.0,
    },
    ConvergenceScript {
        name: "circle",
        speed_mps: 15.0,
        duration_s: 4.0,
        lateral_mps2: |t| 2.5 * ramp(t, 0.0),
        braking_mps2: |_| 0.0,
    },
    ConvergenceScript {
        name: "slalom",
        speed_mps: 20.0,
        duration_s: 4.0,
        lateral_mps2: |t| 2.5 * (core::f64::consts::PI * t).sin(),
        braking_mps2: |_| 0.0,
    },
    ConvergenceScript {
        name: "coast-down",
        speed_mps: 30.0,
        duration_s: 4.0,
        lateral_mps2: |_| 0.0,
        braking_mps2: |_| 0.0,
    },
    ConvergenceScript {
        name: "braking",
        speed_mps: 25.0,
        duration_s: 2.5,
        lateral_mps2: |_| 0.0,
        braking_mps2: |t| 3.0 * ramp(t, 0.0),
    },
];

/// Returns 0 up to the time `start_s` (s), then rises to 1 within a quarter of a second.
fn ramp(t: f64, start_s: f64) -> f64 {
    ((t - start_s) / 0.25).clamp(0.0, 1.0)
}

/// Convergence of one script on one solver.
#[derive(Clone, Debug, PartialEq)]
pub struct Convergence {
    /// Name of the script.
    pub script: &'static str,
    /// Name of the solver.
    pub backend: &'static str,
    /// Observed order of convergence of the final position.
    pub order: Order,
    /// Distance between the final positions at the two lowest rates (mm).
    pub difference_mm: f64,
}

impl Convergence {
    /// Formats the result for tables: an observed order with `difference_mm` in brackets. Without an observed order,
    /// formats only `≤` and the difference, rounded up to 0.1 mm and at least 0.1 mm.
    fn text(&self) -> String {
        match self.order {
            Order::Observed(_) => format!("{} ({:.1} mm)", self.order.text(), self.difference_mm),
            _ => format!("≤ {:.1} mm", (self.difference_mm * 10.0).ceil().max(1.0) / 10.0),
        }
    }
}

/// Measures the order of convergence of the final position for each script on each solver of `backends` that is not a
/// peer (a solver that only serves comparisons). Each script is driven with `model` at all [`COMPARED_RATES_HZ`].
///
/// The order follows from the distances between the final positions at neighbouring rates. Distances below 0.3 mm count
/// as noise. `difference_mm` is the distance at the two lowest rates. The jobs run in parallel. Results are ordered by
/// script, then by solver.
pub fn measure_convergence(backends: &[SolverInfo], model: &Arc<Model>) -> Vec<Convergence> {
    let solvers: Vec<&SolverInfo> = backends.iter().filter(|info| !info.comparison_only).collect();
    let jobs: Vec<(&ConvergenceScript, &SolverInfo)> =
        CONVERGENCE_SCRIPTS.iter().flat_map(|script| solvers.iter().map(move |info| (script, *info))).collect();
    run_in_parallel(jobs.len(), &|job_index| {
        let (script, info) = jobs[job_index];
        let end_positions = COMPARED_RATES_HZ.map(|hz| script.end_position(info, model, hz));
        // Distance between the final positions at two neighbouring rates (mm).
        let distance = |pair: &[[f64; 3]]| {
            let [dx, dy, dz] = [0, 1, 2].map(|k| pair[0][k] - pair[1][k]);
            1e3 * dx.hypot(dy).hypot(dz)
        };
        let distances: Vec<f64> = end_positions.windows(2).map(distance).collect();
        let order = Order::from_differences(&COMPARED_RATES_HZ.map(|hz| 1.0 / hz), &distances, |distance, _| {
            distance < ROUNDING_FLOOR_MM
        });
        Convergence { script: script.name, backend: info.name, order, difference_mm: distances[0] }
    })
}

impl ConvergenceScript {
    /// Returns the position of the centre of mass at the end of a drive at `hz` Hz (m); NaN for a rate that
    /// [`TimeStep`] rejects. The ground is level, and the gear is neutral.
    ///
    /// The linear bicycle model converts the lateral acceleration of the script at the end of a step to the steering.
    /// The brake pedal is the deceleration in the middle of a step, divided by the deceleration of a fully pressed
    /// pedal, and clamped to 0 to 1. A fully pressed pedal has the sum of brake torque over radius of all wheels as its
    /// braking force.
    fn end_position(&self, info: &SolverInfo, model: &Arc<Model>, hz: f64) -> [f64; 3] {
        let (dt, setup) = (1.0 / hz, Setup { duration_s: self.duration_s, ..Setup::flat(self.speed_mps) });
        // Steering angle per lateral acceleration (rad/(m/s²)), and pedal per deceleration (1/(m/s²)).
        let steer_per_acceleration = Characteristics::new(model).steer_for(1.0, self.speed_mps);
        let pedal_per_deceleration =
            model.mass() / model.wheels().iter().map(|wheel| wheel.brake_torque / wheel.radius).sum::<f32>();
        let mut driver = OpenLoop(|input: &DriverInput<'_>| Controls {
            steer: (steer_per_acceleration * (self.lateral_mps2)(input.end_s())) as f32,
            brake: (pedal_per_deceleration * (self.braking_mps2)(input.time_s() + 0.5 * dt) as f32).clamp(0.0, 1.0),
            ..Controls::coasting()
        });
        let Ok(time_step) = TimeStep::from_rate_hz(hz) else { return [f64::NAN; 3] };
        let trajectory = simulate(info, model, &setup, &mut driver, time_step, &mut |_, _| ControlFlow::Continue(()));
        let last_frame = trajectory.last();
        [last_frame.x_m, last_frame.y_m, last_frame.z_m]
    }
}

/// Appends the section on the order of convergence to `text`: an explanation, and a table with a row per vehicle and
/// script and a column per solver. Solvers are ordered by their first results. A missing result is shown as "-".
pub fn append_section(text: &mut String, runs: &[VehicleRuns]) {
    let rates = COMPARED_RATES_HZ.map(|hz| hz.to_string()).join(", ");
    append(
        text,
        format_args!(
            "## Order of convergence\n\nEvery vehicle drives five scripts of controls at {rates} Hz, in neutral: a steering ramp to 2.5 m/s², a circle, a slalom, coasting, and braking at 3 m/s². Order is that of \
                 the final position, from the differences between neighbouring rates, with the difference between {} and {} Hz in brackets. If fewer than two differences exceed the 32-bit rounding floor of {ROUNDING_FLOOR_MM} mm, only that difference \
                  is shown.\n\n",
            COMPARED_RATES_HZ[0], COMPARED_RATES_HZ[1]
        ),
    );
    // Names of all solvers, each once.
    let mut solvers: Vec<&str> = Vec::new();
    for convergence in runs.iter().flat_map(|runs| &runs.convergence) {
        if !solvers.contains(&convergence.backend) {
            solvers.push(convergence.backend);
        }
    }
    let order_headings = solvers.iter().map(|solver| format!("order, {solver}"));
    // The first 2 columns are text.
    append_head(text, &["vehicle", "drive"].map(String::from).into_iter().chain(order_headings).collect::<Vec<_>>(), 2);
    for runs in runs {
        for script in &CONVERGENCE_SCRIPTS {
            let order_text = |solver: &&str| {
                let convergence = runs.convergence.iter().find(|c| c.script == script.name && c.backend == *solver);
                convergence.map_or("-".into(), Convergence::text)
            };
            append_row(
                text,
                [runs.vehicle.clone(), script.name.into()].into_iter().chain(solvers.iter().map(order_text)),
            );
        }
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{POINT_MASS, model};

    /// A point mass that moves with the speed at the end of the step converges with first order if its speed changes.
    /// Peers are left out, and results have the order of the scripts.
    #[test]
    fn a_point_mass_is_of_first_order() {
        let found = measure_convergence(
            &[POINT_MASS, SolverInfo { name: "peer", comparison_only: true, ..POINT_MASS }],
            &Arc::new(model()),
        );
        assert_eq!(found.iter().map(|c| c.script).collect::<Vec<_>>(), CONVERGENCE_SCRIPTS.map(|script| script.name));
        let braking = found.last().expect("five scripts");
        assert!(matches!(braking.order, Order::Observed(order) if (order - 1.0).abs() < 0.05), "{braking:?}");
    }

    /// An observed order is shown with its difference, anything else as an upper bound of the difference, rounded up.
    #[test]
    fn texts_tell_orders_or_bounds() {
        let text = |order, difference_mm| Convergence { script: "", backend: "", order, difference_mm }.text();
        assert_eq!(text(Order::Observed(1.98), 1.26), "2.0 (1.3 mm)");
        assert_eq!(text(Order::WithinNoise, 0.21), "≤ 0.3 mm");
        assert_eq!(text(Order::Unknown, 0.84), "≤ 0.9 mm");
        assert_eq!(text(Order::WithinNoise, 0.0), "≤ 0.1 mm");
    }
}
