//! Free rolling over the ground of a scene, without pedals or steering.

use skidpad_core::{Frame, Model};

use super::{Manoeuvre, Setup, StartRequirements};
use crate::driver::{CoastDriver, DriverModel};
use crate::metrics::{Metric, metrics};
use crate::trajectory::Trajectory;

/// Free rolling in neutral over the ground of a scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FreeRolling {
    /// Initial speed (m/s).
    pub speed_mps: f64,
    /// Duration of the run (s).
    pub duration_s: f64,
}

impl Default for FreeRolling {
    fn default() -> Self {
        Self { speed_mps: 15.0, duration_s: 5.0 }
    }
}

metrics! {
    /// Response of the car to the ground.
    RollMetrics {
        distance_m, "m", 2, "Distance", "Horizontal straight-line distance from the start to the end.";
        end_speed_mps, "m/s", 3, "Speed at the end", "Forward speed.";
        airborne_s, "s", 3, "Time in the air", "All wheels without contact.";
        hanging_s, "s", 3, "Time with any wheel off the ground", "At least one wheel without contact.";
        largest_load_share, "-", 3, "Maximum wheel load", "Relative to the static load of the wheel.";
        largest_compression_mm, "mm", 1, "Maximum compression", "Largest suspension compression from rest.";
        largest_pitch_deg, "deg", 3, "Maximum pitch angle", "Largest absolute value.";
        lateral_drift_mm, "mm", 1, "Lateral deviation", "Largest distance from the initial straight line.";
    }
}

impl FreeRolling {
    /// Computes the metrics of a run; all always have a value. The times in the air count the steps at whose end all
    /// wheels, or any wheel, have no ground contact. The largest load is relative to the static load of the wheel (at
    /// least 1 N). The largest compression is that of the most compressed wheel in a telemetry row, with the largest
    /// magnitude of all rows. The distance is a horizontal straight line from start to end. The drift is the largest
    /// distance from the line of the initial heading.
    pub fn measure(&self, model: &Model, trajectory: &Trajectory) -> RollMetrics {
        let (start_frame, end_frame) = (trajectory.first(), trajectory.last());
        // Duration of the steps at whose end the condition is true (s). Row 0 is the start and belongs to no step.
        let time_while = |condition: &dyn Fn(&Frame) -> bool| {
            trajectory.rows_from(1).filter(|f| condition(f)).count() as f64 * trajectory.dt_s()
        };
        // `contact` is 0 for a wheel that touches nothing.
        let is_airborne = |f: &Frame, i: usize| f.wheels[i].contact == 0.0;
        let wheel_indices = 0..model.wheels().len();
        let largest_relative_load = |f: &Frame| {
            let relative_loads =
                wheel_indices.clone().map(|i| f.wheels[i].load_n / f64::from(model.static_load(i)).max(1.0));
            relative_loads.fold(0.0, f64::max)
        };
        // Compression of the most compressed wheel, from rest (m).
        let largest_compression = |f: &Frame| f.wheels.iter().map(|wheel| wheel.compression_m).fold(f64::MIN, f64::max);
        let (sin, cos) = start_frame.yaw_rad.sin_cos();
        // Signed distance from the initial straight line (m, positive to the left).
        let lateral_offset = |f: &Frame| (f.y_m - start_frame.y_m) * cos - (f.x_m - start_frame.x_m) * sin;
        RollMetrics {
            distance_m: Some((end_frame.x_m - start_frame.x_m).hypot(end_frame.y_m - start_frame.y_m)),
            end_speed_mps: Some(end_frame.vx_mps),
            airborne_s: Some(time_while(&|f| wheel_indices.clone().all(|i| is_airborne(f, i)))),
            hanging_s: Some(time_while(&|f| wheel_indices.clone().any(|i| is_airborne(f, i)))),
            largest_load_share: Some(trajectory.peak_magnitude(largest_relative_load)),
            largest_compression_mm: Some(trajectory.peak_magnitude(largest_compression) * 1e3),
            largest_pitch_deg: Some(trajectory.peak_magnitude(|f| f.pitch_rad.abs()).to_degrees()),
            lateral_drift_mm: Some(trajectory.peak_magnitude(|f| lateral_offset(f).abs()) * 1e3),
        }
    }
}

impl Manoeuvre for FreeRolling {
    fn name(&self) -> &'static str {
        "coast-scene"
    }
    fn about(&self) -> String {
        format!("coasting in neutral from {:.1} m/s without driver input", self.speed_mps)
    }
    fn setup(&self, _model: &Model) -> Setup {
        Setup { duration_s: self.duration_s, ..Setup::flat(self.speed_mps) }
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::ANY_START
    }
    fn driver(&self, _model: &Model) -> Box<dyn DriverModel> {
        Box::new(CoastDriver)
    }
    fn metrics(&self, model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.measure(model, trajectory).list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{model, sampled};

    /// Drives two axles off the ground for 0.3 s each and for 0.1 s together. Times in the air, distance, drift and
    /// largest relative load are those of the rows.
    #[test]
    fn air_time_and_loads_are_those_of_the_rows() {
        let run = sampled(0.01, 2.0, |t, frame| {
            frame.x_m = 10.0 * t;
            frame.y_m = 0.02 * (t - 1.0).max(0.0);
            frame.vx_mps = 10.0;
            for (i, wheel) in frame.wheels.iter_mut().enumerate() {
                let front = i < 2;
                let (from, to) = if front { (0.495, 0.795) } else { (0.695, 0.995) };
                wheel.contact = if t > from && t < to { 0.0 } else { 1.0 };
                wheel.load_n = if t > 1.5 { 5000.0 } else { 2500.0 };
            }
        });
        let found = FreeRolling::default().measure(&model(), &run);
        let close = |value: Option<f64>, expected: f64| {
            assert!((value.expect("always known") - expected).abs() < 1e-3, "{value:?} {expected}");
        };
        close(found.airborne_s, 0.10);
        close(found.hanging_s, 0.50);
        close(found.distance_m, 20.0);
        close(found.lateral_drift_mm, 20.0);
        close(found.largest_load_share, 5000.0 / f64::from(model().static_load(0)));
    }
}
