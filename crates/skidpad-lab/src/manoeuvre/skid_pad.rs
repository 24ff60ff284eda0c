//! Skid pad of 300 ft: search for the highest lateral acceleration at which the car stays on the circle.

use skidpad_core::Model;

use super::circle::Circle;
use super::limit_search::LimitSearch;
use super::procedure::{Evaluation, Procedure, Runner};
use super::{Setup, StartRequirements};
use crate::closed_form::GRAVITY_MPS2;
use crate::driver::ReferencePath;
use crate::metrics::metrics;
use crate::quantity::{ComputedCurve, CurveAxis, Diagram, HANDLING_DIAGRAM, wheelbase};
use crate::trajectory::Trajectory;

/// Circle of 300 ft diameter at rising lateral accelerations. Each run accelerates on the circle, then drives a lap that
/// must stay on it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SkidPad {
    /// Radius of the circle (m), negative for a right turn.
    pub radius_m: f64,
    /// Planned lateral accelerations `v²/R` (g).
    pub accelerations_g: LimitSearch,
}

impl Default for SkidPad {
    /// Returns a left turn with accelerations from 0.4 g to 1.6 g in steps of 0.1 g, then of 0.01 g.
    fn default() -> Self {
        let accelerations_g = LimitSearch { lowest: 0.4, coarse_steps: 12, fine_per_coarse: 10, fine_step: 0.01 };
        Self { radius_m: 0.5 * 300.0 * FOOT_M, accelerations_g }
    }
}

metrics! {
    /// Results of the search. Values of a run are those of the lap with the highest lateral acceleration that passed.
    SkidPadMetrics {
        lateral_acceleration_g, "g", 3, "Lateral acceleration of the best lap", "4π² R / T² of the lap time T, over standard gravity.";
        lap_time_s, "s", 3, "Time of the best lap", "Circumference of the driven circle over the mean speed along it.";
        speed_mps, "m/s", 3, "Mean speed of the best lap", "Over the ground.";
        steer_deg, "deg", 3, "Mean road-wheel angle of the best lap", "Mean.";
        sideslip_deg, "deg", 3, "Mean sideslip angle of the best lap", "atan(v_y / v_x), mean.";
        path_error_mm, "mm", 0, "Largest path error of the best lap", "Distance of the centre of mass from the circle.";
        failed_acceleration_g, "g", 2, "Lowest planned lateral acceleration that failed", "The car left the circle or lost speed.";
        runs, "-", 0, "Runs", "Number of runs of the search.";
    }
}

/// Length of a foot (m).
const FOOT_M: f64 = 0.3048;
/// Largest accepted distance of the centre of mass from the circle in the lap (m).
const MAX_PATH_ERROR_M: f64 = 0.5;
/// Largest accepted loss of speed in the lap, relative to the planned speed (–).
const MAX_SPEED_LOSS: f64 = 0.02;
/// Lateral acceleration of the first level relative to that of the lap (–), from which a run accelerates slowly.
const FIRST_LEVEL_SHARE: f64 = 0.6;
/// Rate of the speed before the lap (m/s²).
const ACCELERATION_MPS2: f64 = 0.5;
/// Time at the planned speed before the lap is measured (s).
const SETTLING_TIME_S: f64 = 2.0;

/// Lap of a run.
struct Lap {
    /// Mean speed over the ground (m/s).
    speed: f64,
    /// Largest distance from the circle (m).
    path_error: f64,
    /// Mean road-wheel angle (rad).
    steer: f64,
    /// Mean sideslip angle (rad).
    sideslip: f64,
}

impl SkidPad {
    /// Returns the speed (m/s) of the lateral acceleration `acceleration_g` (g).
    fn speed_mps(&self, acceleration_g: f64) -> f64 {
        (acceleration_g * GRAVITY_MPS2 * self.radius_m.abs()).sqrt()
    }

    /// Returns the time of a lap (s) at the lateral acceleration `acceleration_g` (g).
    fn lap_time_s(&self, acceleration_g: f64) -> f64 {
        std::f64::consts::TAU * self.radius_m.abs() / self.speed_mps(acceleration_g)
    }

    /// Returns the run at the lateral acceleration `acceleration_g` (g): two levels of [`Circle`].
    fn run_at(&self, acceleration_g: f64) -> Circle {
        let level = acceleration_g * GRAVITY_MPS2;
        Circle {
            radius_m: self.radius_m,
            levels_mps2: vec![FIRST_LEVEL_SHARE * level, level],
            hold_s: SETTLING_TIME_S + self.lap_time_s(acceleration_g),
            rate_mps2: ACCELERATION_MPS2,
        }
    }

    /// Returns the point of `lap` in the handling diagram: lateral acceleration (m/s²), and the mean road-wheel angle less
    /// the Ackermann angle `L / R` (°), both for a left turn.
    fn handling_point(&self, model: &Model, lap: &Lap) -> [f64; 2] {
        let radius = self.radius_m.abs();
        let steer = lap.steer * self.radius_m.signum();
        [lap.speed * lap.speed / radius, (steer - wheelbase(model) / radius).to_degrees()]
    }

    /// Measures the last lap of a run at `acceleration_g` (g); `None` if the run was cut short, if the car left the circle
    /// by more than 0.5 m, or if it lost more than 2 % of its speed.
    fn passed_lap(&self, model: &Model, trajectory: &Trajectory, acceleration_g: f64) -> Option<Lap> {
        let end = self.run_at(acceleration_g).setup(model).duration_s;
        if !trajectory.covers(end) {
            return None;
        }
        let start = end - self.lap_time_s(acceleration_g);
        let path = ReferencePath::Circle { radius: self.radius_m };
        // 0.0: no preview.
        let offset = |x: f64, y: f64| path.locate(x, y, 0.0).offset_m.abs();
        let lap = Lap {
            speed: trajectory.mean(start, end, |f| f.vx_mps.hypot(f.vy_mps)),
            path_error: trajectory.time_slice(start, end).map(|f| offset(f.x_m, f.y_m)).fold(0.0, f64::max),
            steer: trajectory.mean(start, end, |f| f.steer_rad),
            sideslip: trajectory.mean(start, end, |f| f.vy_mps.atan2(f.vx_mps)),
        };
        let is_fast = lap.speed > (1.0 - MAX_SPEED_LOSS) * self.speed_mps(acceleration_g);
        Some(lap).filter(|lap| is_fast && lap.path_error <= MAX_PATH_ERROR_M)
    }
}

/// Returns the handling diagram through the points of all passed laps; none with fewer than two.
fn handling_diagram(mut points: Vec<[f64; 2]>) -> Vec<ComputedCurve> {
    points.sort_by(|a, b| a[0].total_cmp(&b[0]));
    let Diagram { title, x, y, .. } = HANDLING_DIAGRAM;
    let [x, y] = [&x, &y].map(CurveAxis::of);
    let curve = ComputedCurve { title, x, y, points, has_markers: true };
    [curve].into_iter().filter(|curve| curve.points.len() > 1).collect()
}

impl Procedure for SkidPad {
    fn name(&self) -> &'static str {
        "skid-pad"
    }
    fn about(&self) -> String {
        format!(
            "circle of {:.1} m radius at rising lateral acceleration until the car leaves it by {MAX_PATH_ERROR_M} m",
            self.radius_m
        )
    }
    fn setup(&self, model: &Model) -> Setup {
        self.run_at(self.accelerations_g.lowest).setup(model)
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::FIXED_SPEED.from_origin()
    }
    fn cones(&self, _model: &Model) -> Vec<(f64, f64)> {
        Vec::new()
    }
    fn max_runs(&self) -> u32 {
        self.accelerations_g.max_runs()
    }
    /// Searches the accelerations. The telemetry is that of the last passed run, or of the first run if none passed.
    fn execute(&self, model: &Model, runner: &mut dyn Runner) -> Evaluation {
        let mut shown = None;
        let mut best_lap = None;
        let mut handling_points = Vec::new();
        let found = self.accelerations_g.run(|acceleration_g| {
            let trajectory = runner.drive(&self.run_at(acceleration_g));
            let lap = self.passed_lap(model, &trajectory, acceleration_g);
            let has_passed = lap.is_some();
            handling_points.extend(lap.as_ref().map(|lap| self.handling_point(model, lap)));
            if has_passed || shown.is_none() {
                shown = Some(trajectory);
            }
            best_lap = lap.or(best_lap.take());
            has_passed
        });
        let radius = self.radius_m.abs();
        let metrics = SkidPadMetrics {
            // With the lap time T = 2π R / v, 4π² R / T² is v² / R.
            lateral_acceleration_g: best_lap.as_ref().map(|lap| lap.speed * lap.speed / radius / GRAVITY_MPS2),
            lap_time_s: best_lap.as_ref().map(|lap| std::f64::consts::TAU * radius / lap.speed),
            speed_mps: best_lap.as_ref().map(|lap| lap.speed),
            steer_deg: best_lap.as_ref().map(|lap| lap.steer.to_degrees()),
            sideslip_deg: best_lap.as_ref().map(|lap| lap.sideslip.to_degrees()),
            path_error_mm: best_lap.as_ref().map(|lap| 1e3 * lap.path_error),
            failed_acceleration_g: found.lowest_fail,
            runs: Some(f64::from(found.runs)),
        };
        // The search drives at least one run.
        let trajectory = shown.unwrap_or_else(|| runner.drive(&self.run_at(self.accelerations_g.lowest)));
        let curves = handling_diagram(handling_points);
        Evaluation { trajectory, metrics: metrics.list(), incomplete: None, failed_test: false, curves }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{model, sampled};

    /// The handling diagram has the passed laps in the order of their lateral accelerations, with the understeer angle of
    /// a left turn.
    #[test]
    fn passed_laps_are_points_of_the_handling_diagram() {
        let (pad, model) = (SkidPad { radius_m: -40.0, ..SkidPad::default() }, model());
        let lap = |speed: f64, steer: f64| Lap { speed, path_error: 0.0, steer, sideslip: 0.0 };
        // Ackermann angle of the wheelbase of 2.5 m: 0.0625 rad.
        let points = [lap(20.0, -0.0825), lap(10.0, -0.0725)].map(|lap| pad.handling_point(&model, &lap));
        let curves = handling_diagram(points.to_vec());
        let [slow, fast] = curves[0].points[..] else { panic!("{curves:?}") };
        assert!((slow[0] - 2.5).abs() < 1e-9 && (slow[1] - 0.01f64.to_degrees()).abs() < 1e-6, "{curves:?}");
        assert!((fast[0] - 10.0).abs() < 1e-9 && (fast[1] - 0.02f64.to_degrees()).abs() < 1e-6, "{curves:?}");
        assert!(handling_diagram(points[..1].to_vec()).is_empty());
    }

    /// A car on the circle with the planned speed passes; a car 0.6 m outside, or 5 % slower, fails.
    #[test]
    fn laps_on_the_circle_pass() {
        let (pad, model) = (SkidPad::default(), model());
        let planned = pad.speed_mps(0.8);
        let end = pad.run_at(0.8).setup(&model).duration_s;
        let lap = |outside: f64, speed: f64| {
            let run = sampled(0.02, end, |t, frame| {
                let angle = speed * t / pad.radius_m;
                let radius = pad.radius_m + outside;
                (frame.x_m, frame.y_m) = (radius * angle.sin(), pad.radius_m - radius * angle.cos());
                frame.vx_mps = speed;
                frame.steer_rad = 0.1;
            });
            pad.passed_lap(&model, &run, 0.8)
        };
        let found = lap(0.2, planned).expect("passes");
        assert!((found.path_error - 0.2).abs() < 1e-3 && (found.speed - planned).abs() < 1e-9);
        assert!(lap(0.6, planned).is_none() && lap(0.0, 0.95 * planned).is_none());
        assert!(pad.passed_lap(&model, &sampled(0.1, 5.0, |_, _| {}), 0.8).is_none());
    }
}
