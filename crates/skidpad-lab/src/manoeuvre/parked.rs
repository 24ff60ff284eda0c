//! Parking test on a slope: the car is held by the brake, then released.

use skidpad_core::{Controls, Frame, Model, Scene};

use super::{Manoeuvre, RUN_START_S, Setup, StartRequirements};
use crate::driver::{DriverInput, DriverModel, OpenLoop};
use crate::metrics::{Metric, metrics};
use crate::trajectory::{GroundProperties, Trajectory};

/// Parking test. The brake is applied at t = 0 in the level rest pose; the car settles on its springs and must then
/// stand still.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parked {
    /// Slope of the ground (rad), positive if it rises along +x.
    pub slope_rad: f64,
    /// Heading of the car (rad); 0 points along +x, up a positive slope.
    pub heading_rad: f64,
    /// Time from which the drift is measured (s).
    pub settled_s: f64,
    /// Time at which the brake is released (s).
    pub release_s: f64,
}

impl Default for Parked {
    fn default() -> Self {
        Self { slope_rad: 20f64.to_radians(), heading_rad: 0.0, settled_s: 5.0, release_s: 65.0 }
    }
}

metrics! {
    /// Drift while the brake holds, and speed after its release.
    ParkedMetrics {
        drift_mm, "mm", 1, "Drift with brakes applied", "Largest distance from the settled position until release.";
        settling_mm, "mm", 2, "Movement during settling", "Distance from the start to the settled position.";
        release_speed_ratio, "-", 3, "Speed ratio one step after release", "Speed divided by the free speed g sin(slope) cos(heading) dt m / (m + Σ I/R²). Not with trailers.";
        speed_after_one_second_mps, "m/s", 3, "Speed one second after release", "Absolute forward speed.";
    }
}

/// Time recorded after the release (s).
const RECORDED_AFTER_RELEASE_S: f64 = 1.0;
/// Smallest gravity component along the car, as a share of g, for which the release is evaluated (–).
const MIN_ROLLING_GRAVITY_SHARE: f64 = 0.05;

impl Parked {
    /// Computes the metrics of a run. All are `None` if the run ends before the release. The settled position is that
    /// at `settled_s`. The drift is the largest distance from it until the release; the settling movement is its
    /// distance from the start. The speed after the release is that of the first telemetry row at least one second
    /// after the release, `None` if there is no such row.
    pub fn measure(&self, model: &Model, trajectory: &Trajectory) -> ParkedMetrics {
        // The first of these rows is the settled pose, the others are those of the drift.
        let mut settled_rows = trajectory.time_slice(self.settled_s, self.release_s);
        let Some(settled_pose) = settled_rows.next().filter(|_| trajectory.covers(self.release_s)) else {
            return ParkedMetrics::default();
        };
        let drift = settled_rows.map(|f| distance(&f, &settled_pose)).fold(0.0, f64::max);
        // First row in the second after that which is recorded at least.
        let row_after_release = trajectory
            .time_slice(self.release_s + RECORDED_AFTER_RELEASE_S, self.release_s + 2.0 * RECORDED_AFTER_RELEASE_S)
            .next();
        ParkedMetrics {
            drift_mm: Some(drift * 1e3),
            settling_mm: Some(distance(&settled_pose, trajectory.first()) * 1e3),
            release_speed_ratio: self.release_speed_ratio(model, trajectory),
            speed_after_one_second_mps: row_after_release.map(|f| f.vx_mps.abs()),
        }
    }

    /// Returns the forward speed after the first step without brake, over that of a freely rolling car,
    /// `g sin(slope) cos(heading) dt m / (m + Σ I/R²)` (–). Slope and gravity are those of the ground that was driven
    /// on. `None` for a car with trailers, if at most 5 % of gravity act along the car, or if the run ends before this
    /// step.
    fn release_speed_ratio(&self, model: &Model, trajectory: &Trajectory) -> Option<f64> {
        let GroundProperties { gravity_mps2, slope_rad } = trajectory.ground();
        // Component of gravity along the car, relative to gravity (–): negative for a car that points uphill.
        let gravity_share = -self.heading_rad.cos() * slope_rad.sin();
        // Mass relative to the mass with the spin of the wheels (–).
        let mass_ratio = f64::from(model.mass()) / f64::from(model.rolling_mass());
        let free_speed = gravity_mps2 * gravity_share * trajectory.dt_s() * mass_ratio;
        // Number of rows up to the release, which is the number of the row after the first released step.
        let held_rows = trajectory.time_slice(RUN_START_S, self.release_s).count();
        let released_row = trajectory.row(held_rows)?;
        let has_no_trailers = trajectory.trailers().is_empty();
        (has_no_trailers && gravity_share.abs() > MIN_ROLLING_GRAVITY_SHARE).then(|| released_row.vx_mps / free_speed)
    }
}

/// Returns the distance between the positions of two telemetry rows (m).
fn distance(a: &Frame, b: &Frame) -> f64 {
    (a.x_m - b.x_m).hypot(a.y_m - b.y_m).hypot(a.z_m - b.z_m)
}

impl Manoeuvre for Parked {
    fn name(&self) -> &'static str {
        "park-hold"
    }
    fn about(&self) -> String {
        format!(
            "brakes applied for {:.0} s on a slope of {:.1}°, heading {:.0}°, then released",
            self.release_s,
            self.slope_rad.to_degrees(),
            self.heading_rad.to_degrees()
        )
    }
    /// Returns a slope without obstacles, with the car at rest, until one second after the release.
    fn setup(&self, _model: &Model) -> Setup {
        let mut setup = Setup { duration_s: self.release_s + RECORDED_AFTER_RELEASE_S, ..Setup::flat(0.0) };
        setup.scene = Scene::sloping(self.slope_rad as f32);
        setup.placement.heading = self.heading_rad as f32;
        setup
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::FIXED_SPEED
    }
    /// Creates a driver that holds the foot brake in neutral until the release, then coasts.
    fn driver(&self, _model: &Model) -> Box<dyn DriverModel> {
        let release_time = self.release_s;
        Box::new(OpenLoop(
            move |input: &DriverInput<'_>| {
                if input.has_reached(release_time) { Controls::coasting() } else { Controls::parked() }
            },
        ))
    }
    fn metrics(&self, model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        self.measure(model, trajectory).list()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{model, sampled};
    use crate::units::{TrailerPart, UnitName};

    /// Drift, settling movement and release ratio of a synthetic run have their known values. The ratio is `None` for a
    /// car across the slope and for one with a trailer, and a run that ends before the release has no metrics.
    #[test]
    fn drift_counts_after_settling_and_release_compares_with_free_rolling() {
        let model = model();
        let slope = GroundProperties { gravity_mps2: 9.81, slope_rad: 20f64.to_radians() };
        let free = 9.81 * 20f64.to_radians().sin() * 1000.0 / f64::from(model.rolling_mass());
        let run = sampled(0.25, 66.0, |t, frame| {
            frame.x_m = if t < 5.0 { 0.0 } else { 0.002 + 1e-5 * (t - 5.0) };
            frame.vx_mps = if t > 65.0 { -0.95 * free * (t - 65.0) } else { 0.0 };
        });
        let run = run.with_ground(slope);
        let found = Parked::default().measure(&model, &run);
        assert!((found.drift_mm.expect("stood") - 0.6).abs() < 1e-9, "{found:?}");
        assert!((found.settling_mm.expect("stood") - 2.0).abs() < 1e-9);
        assert!((found.release_speed_ratio.expect("rolls") - 0.95).abs() < 1e-6);
        let across = Parked { heading_rad: core::f64::consts::FRAC_PI_2, ..Parked::default() };
        assert_eq!(across.measure(&model, &run).release_speed_ratio, None);
        let towing =
            run.with_trailers([(UnitName { trailer: 1, part: TrailerPart::Whole }, sampled(0.25, 66.0, |_, _| {}))]);
        assert_eq!(Parked::default().measure(&model, &towing).release_speed_ratio, None);
        let cut = sampled(0.25, 60.0, |_, _| {});
        assert_eq!(Parked::default().measure(&model, &cut), ParkedMetrics::default());
    }
}
