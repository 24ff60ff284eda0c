//! Coast-down: free rolling in neutral.

use skidpad_core::{Controls, Frame, Model};

use super::{Manoeuvre, RUN_START_S, Setup, StartRequirements};
use crate::driver::{DriverInput, DriverModel};
use crate::ground_speed;
use crate::metrics::{Metric, metrics};
use crate::trajectory::Trajectory;

/// Free rolling in neutral from one speed to another on a straight.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoastDown {
    /// Initial speed (m/s).
    pub initial_speed_mps: f64,
    /// Final speed (m/s), below the initial speed.
    pub final_speed_mps: f64,
}

impl Default for CoastDown {
    fn default() -> Self {
        Self { initial_speed_mps: 115.0 / 3.6, final_speed_mps: 15.0 / 3.6 }
    }
}

metrics! {
    /// Time, distance and decelerations of the coast-down.
    CoastDownMetrics {
        coast_time_s, "s", 2, "Coast-down time", "From the initial to the final speed.";
        coast_distance_m, "m", 1, "Coast-down distance", "From the initial to the final speed.";
        first_deceleration_mps2, "m/s²", 4, "Deceleration over the first second", "Mean.";
        last_deceleration_mps2, "m/s²", 4, "Deceleration over the last second", "Mean over the last second of the run.";
    }
}

impl CoastDown {
    /// Computes the metrics of a run from the forward speed. The coast-down ends when the final speed is reached;
    /// without this, time and distance are `None`. The distance is a straight line from the start. Decelerations are
    /// the speed losses over the first and the last second of the run, interpolated between telemetry rows; `None` for
    /// a run shorter than 1 s.
    pub fn measure(&self, trajectory: &Trajectory) -> CoastDownMetrics {
        let distance_from_start = ground_speed::distance_from(trajectory.first());
        let forward_speed = |f: &Frame| f.vx_mps;
        let coast_time = trajectory.first_crossing_down(self.final_speed_mps, RUN_START_S, forward_speed);
        let end_time = trajectory.last().t_s;
        // Speed difference over time (m/s²), positive while the car slows.
        let mean_deceleration = |from_s: f64, to_s: f64| {
            (trajectory.interpolate_at(from_s, forward_speed) - trajectory.interpolate_at(to_s, forward_speed))
                / (to_s - from_s)
        };
        let is_long_enough = end_time >= 1.0;
        CoastDownMetrics {
            coast_time_s: coast_time,
            coast_distance_m: coast_time.map(|t| trajectory.interpolate_at(t, distance_from_start)),
            first_deceleration_mps2: is_long_enough.then(|| mean_deceleration(0.0, 1.0)),
            last_deceleration_mps2: is_long_enough.then(|| mean_deceleration(end_time - 1.0, end_time)),
        }
    }
}

/// Driver that coasts and ends the run below a speed.
struct CoastDownDriver {
    /// Final speed (m/s).
    final_speed_mps: f64,
}

impl DriverModel for CoastDownDriver {
    fn drive(&mut self, _now: &DriverInput<'_>) -> Controls {
        Controls::coasting()
    }
    fn finished(&self, input: &DriverInput<'_>) -> bool {
        input.frame.vx_mps < self.final_speed_mps
    }
}

impl Manoeuvre for CoastDown {
    fn name(&self) -> &'static str {
        "coast-down"
    }
    fn about(&self) -> String {
        let [initial_kmh, final_kmh] = [self.initial_speed_mps, self.final_speed_mps].map(|v| v * 3.6);
        format!("coasting in neutral from {initial_kmh:.0} to {final_kmh:.0} km/h, straight ahead")
    }
    fn setup(&self, _model: &Model) -> Setup {
        Setup { duration_s: 600.0, ..Setup::flat(self.initial_speed_mps) }
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::above(self.final_speed_mps)
    }
    fn driver(&self, _model: &Model) -> Box<dyn DriverModel> {
        Box::new(CoastDownDriver { final_speed_mps: self.final_speed_mps })
    }
    fn metrics(&self, _model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.measure(trajectory).list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::sampled;

    /// Form 5.10 of the reference tables: `t = m_e/√(f0 f2) · [atan(v √(f2/f0))]`, with the corresponding distance.
    /// Time and distance of a synthetic run agree with the formulas, and the formulas with the table.
    #[test]
    fn closed_form_coast_down() {
        let (f0, f2, mass) = (182.0f64, 0.36f64, 1.035 * 1545.0);
        let [from, to] = [115.0 / 3.6, 15.0 / 3.6];
        // Speed `scale tan(start − rate t)`.
        let (rate, scale) = ((f0 * f2).sqrt() / mass, (f0 / f2).sqrt());
        let start = (from / scale).atan();
        let run = sampled(0.05, 170.0, |t, frame| {
            let angle = start - rate * t;
            frame.vx_mps = scale * angle.tan();
            frame.x_m = mass / f2 * (angle.cos() / start.cos()).ln();
        });
        let found = CoastDown::default().measure(&run);
        let time = (start - (to / scale).atan()) / rate;
        let distance = mass / (2.0 * f2) * ((f0 + f2 * from * from) / (f0 + f2 * to * to)).ln();
        assert!((found.coast_time_s.expect("slow enough") - time).abs() < 0.01, "{found:?} {time}");
        assert!((found.coast_distance_m.expect("slow enough") - distance).abs() < 0.05, "{distance}");
        assert!((time - 153.0).abs() < 1.0 && (distance - 2380.0).abs() < 5.0);
    }
}
