//! Settling test: the car is released slightly above its rest pose and comes to rest.

use skidpad_core::state::Placement;
use skidpad_core::{Controls, Frame, Model, STANDARD_GRAVITY};

use super::{Manoeuvre, Setup, StartRequirements};
use crate::driver::{DriverInput, DriverModel, OpenLoop};
use crate::metrics::{Metric, metrics};
use crate::trajectory::{GroundProperties, Trajectory};

/// Release of a braked car above its rest pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settle {
    /// Height of the start above the rest pose (m), ≥ 0.
    pub lift_m: f64,
    /// Duration of the run (s).
    pub duration_s: f64,
}

impl Default for Settle {
    fn default() -> Self {
        Self { lift_m: 0.02, duration_s: 10.0 }
    }
}

metrics! {
    /// Pose and wheel loads after settling. Errors are defined only for a car that tows nothing. A run that ends early
    /// has metrics of the pose and the loads only if the car has settled by then.
    SettleMetrics {
        settle_time_s, "s", 2, "Settling time to 1 mm/s", "Time after which the speed of the centre of mass stays below 1 mm/s.";
        ride_height_error_mm, "mm", 3, "Ride height error", "Final height minus the height in the description. Only on level ground under standard gravity.";
        load_sum_error_percent, "%", 4, "Error of the sum of wheel loads", "Signed final error against m g; on a slope against m g cos(slope).";
        largest_load_error_percent, "%", 4, "Maximum wheel load error", "Largest absolute error against the static wheel load. Only on level ground.";
        roll_deg, "deg", 4, "Roll at the end", "Positive right side down.";
        pitch_deg, "deg", 4, "Pitch at the end", "Positive nose down.";
    }
}

/// Speed below which the car counts as settled (m/s).
const SETTLED_SPEED_MPS: f64 = 1e-3;

impl Settle {
    /// Computes the metrics of a run. Pose and loads are those of the last telemetry row. They are `None` if the run
    /// ended early without settling. The settling time does not depend on this.
    ///
    /// Errors of height and loads are also `None` for a car that tows something. Those of ride height and single wheel
    /// loads require level ground, that of the ride height also standard gravity. Static loads are scaled with the
    /// gravity of the scene; wheels without a static load are left out. The load sum is compared with `m g cos(slope)`.
    pub fn measure(&self, model: &Model, trajectory: &Trajectory) -> SettleMetrics {
        let settle_time_s = settling_time(trajectory);
        let is_settled = settle_time_s.is_some() || trajectory.covers(self.duration_s);
        let has_no_trailers = trajectory.trailers().is_empty();
        let end_frame = trajectory.last();
        let GroundProperties { gravity_mps2, slope_rad } = trajectory.ground();
        // Static load of a wheel under the gravity of the scene (N), and force of the weight on the slope (N).
        let static_load = |i: usize| f64::from(model.static_load(i)) * gravity_mps2 / f64::from(STANDARD_GRAVITY);
        let weight = f64::from(model.mass()) * gravity_mps2 * slope_rad.cos();
        let load_sum: f64 = end_frame.wheels.iter().map(|wheel| wheel.load_n).sum();
        let loaded_wheels = end_frame.wheels.iter().enumerate().filter(|(i, _)| static_load(*i) > 0.0);
        let largest_error =
            loaded_wheels.map(|(i, wheel)| (wheel.load_n / static_load(i) - 1.0).abs()).fold(0.0, f64::max);
        // `if_settled` returns a value for a settled car that tows nothing; `if_level` also requires level ground.
        let if_settled = |value: f64| (is_settled && has_no_trailers).then_some(value);
        let if_level = |value: f64| if_settled(value).filter(|_| slope_rad == 0.0);
        SettleMetrics {
            settle_time_s,
            ride_height_error_mm: if_level((end_frame.z_m - f64::from(model.parts().centre_height)) * 1e3)
                .filter(|_| gravity_mps2 == f64::from(STANDARD_GRAVITY)),
            load_sum_error_percent: if_settled((load_sum / weight - 1.0) * 100.0),
            largest_load_error_percent: if_level(largest_error * 100.0),
            roll_deg: is_settled.then(|| end_frame.roll_rad.to_degrees()),
            pitch_deg: is_settled.then(|| end_frame.pitch_rad.to_degrees()),
        }
    }
}

/// Returns the time from which on the speed of the centre of mass never exceeds [`SETTLED_SPEED_MPS`] (s). Returns 0 if
/// the speed never exceeds it, `None` if it does in the last telemetry row.
fn settling_time(trajectory: &Trajectory) -> Option<f64> {
    let speed = |f: &Frame| f.vx_mps.hypot(f.vy_mps).hypot(f.vz_mps);
    match trajectory.last_row_where(|f| speed(f) > SETTLED_SPEED_MPS) {
        None => Some(0.0),
        // There is no next row if the car moves in the last one.
        Some(last_moving_row) => trajectory.row(last_moving_row + 1).map(|f| f.t_s),
    }
}

impl Manoeuvre for Settle {
    fn name(&self) -> &'static str {
        "drop-settle"
    }
    fn about(&self) -> String {
        format!("released {:.0} mm above its rest pose, then left at rest", self.lift_m * 1e3)
    }
    /// Returns level ground with the car at rest, [`Settle::lift_m`] above its rest pose.
    fn setup(&self, _model: &Model) -> Setup {
        let flat_setup = Setup::flat(0.0);
        let placement = Placement { height: self.lift_m, ..flat_setup.placement };
        Setup { placement, duration_s: self.duration_s, ..flat_setup }
    }
    fn start_requirements(&self) -> StartRequirements {
        StartRequirements::FIXED_SPEED
    }
    fn driver(&self, _model: &Model) -> Box<dyn DriverModel> {
        Box::new(OpenLoop(|_: &DriverInput<'_>| Controls::parked()))
    }
    /// Computes the metrics of [`Settle::measure`] and the load of each wheel at the end (N). The loads are always
    /// listed, but have no value if the run ended early without settling.
    fn metrics(&self, model: &Model, trajectory: &Trajectory) -> Vec<Metric> {
        let settle_metrics = self.measure(model, trajectory);
        let mut metrics = settle_metrics.list();
        for (i, wheel) in trajectory.last().wheels.iter().enumerate() {
            let wheel_name = model.wheel_name(i);
            metrics.push(Metric::new(
                &format!("load_n.{wheel_name}"),
                &format!("Load of wheel {wheel_name}"),
                "N",
                1, // decimal place
                // The roll angle has a value if the pose is valid.
                settle_metrics.roll_deg.map(|_| wheel.load_n),
            ));
        }
        metrics
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{model, sampled};
    use crate::units::{TrailerPart, UnitName};

    /// Settling time, ride height error and load errors of a synthetic run have their known values, and the list has
    /// the loads of all wheels. A car with a trailer has no load errors, and a falling car has no metrics.
    #[test]
    fn a_decaying_heave_settles_when_its_speed_falls_below_a_millimetre_per_second() {
        let run = sampled(0.001, 4.0, |t, frame| {
            frame.vz_mps = (-2.0 * t).exp();
            frame.z_m = 0.5001;
            frame.wheels.iter_mut().for_each(|w| w.load_n = 2477.025);
        });
        let found = Settle::default().measure(&model(), &run);
        let expected = 1000f64.ln() / 2.0;
        assert!((found.settle_time_s.expect("settles") - expected).abs() < 0.002, "{found:?}");
        assert!((found.ride_height_error_mm.expect("known") - 0.1).abs() < 1e-6);
        assert!((found.largest_load_error_percent.expect("known") - 1.0).abs() < 1e-3);
        assert!((found.load_sum_error_percent.expect("known") - 1.0).abs() < 1e-3);
        assert_eq!(Settle::default().metrics(&model(), &run).len(), 10);
        let towing =
            run.with_trailers([(UnitName { trailer: 1, part: TrailerPart::Whole }, sampled(0.001, 4.0, |_, _| {}))]);
        let found = Settle::default().measure(&model(), &towing);
        assert!(found.largest_load_error_percent.is_none() && found.load_sum_error_percent.is_none(), "{found:?}");
        let falling = sampled(0.001, 0.1, |t, frame| frame.vz_mps = -9.81 * t);
        let found = Settle::default().metrics(&model(), &falling);
        assert!(found.iter().all(|metric| metric.value.is_none()), "{found:?}");
    }

    /// On a slope the sum of the wheel loads is `m g cos(slope)`, for any gravity. Ride height and largest load error
    /// are not defined on a slope, the former also not for another gravity.
    #[test]
    fn loads_are_those_of_the_ground() {
        let model = model();
        let weight = f64::from(model.mass()) * 1.62 * 0.1f64.cos();
        let on = |slope_rad: f64| {
            let run = sampled(0.1, 4.0, |_, frame| frame.wheels.iter_mut().for_each(|w| w.load_n = 0.25 * weight));
            Settle::default().measure(&model, &run.with_ground(GroundProperties { gravity_mps2: 1.62, slope_rad }))
        };
        let found = on(0.1);
        assert!(found.load_sum_error_percent.expect("known").abs() < 1e-4, "{found:?}");
        assert_eq!((found.ride_height_error_mm, found.largest_load_error_percent), (None, None));
        assert_eq!(on(0.0).ride_height_error_mm, None);
        let found = on(0.0).largest_load_error_percent.expect("known");
        assert!((found - 100.0 * (1.0 - 0.1f64.cos())).abs() < 1e-4, "{found}");
    }
}
