//! Simulation of one manoeuvre on one solver.

use std::ops::ControlFlow;
use std::sync::Arc;

use skidpad_core::{CarStart, Frame, Model, Simulation, SolverInfo, State};

use crate::driver::{DriverInput, DriverModel};
use crate::manoeuvre::Setup;
use crate::scene_bounds::{OffScene, SceneBounds, is_supported};
use crate::trajectory::{GroundProperties, Trajectory};
use crate::units::UnitName;

/// Maximum number of steps of one run. Telemetry is stored in a temporary file, about 0.5 kB per step.
pub const MAX_STEPS: u64 = 4_000_000;

/// Length of a step (s): finite, above 0 and at most [`TimeStep::MAX_S`].
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct TimeStep(f64);

impl TimeStep {
    /// Longest step of a run (s). With a longer step a car at motorway speed moves by more than its own length per
    /// step.
    pub const MAX_S: f64 = 0.1;

    /// Creates a step of `dt_s` seconds.
    ///
    /// # Errors
    /// Returns a description of the accepted values if `dt_s` is not above 0 (also as f32), is above
    /// [`TimeStep::MAX_S`], or is NaN.
    pub fn new(dt_s: f64) -> Result<Self, String> {
        if dt_s > 0.0 && dt_s <= Self::MAX_S && dt_s as f32 > 0.0 {
            return Ok(Self(dt_s));
        }
        Err(format!("a step length above 0 and at most {} s", Self::MAX_S))
    }

    /// Creates a step of `1 / rate_hz` seconds.
    ///
    /// # Errors
    /// Returns a description of the accepted rates if [`TimeStep::new`] rejects the step.
    pub fn from_rate_hz(rate_hz: f64) -> Result<Self, String> {
        Self::new(1.0 / rate_hz).map_err(|_| format!("a finite step rate of at least {} Hz", 1.0 / Self::MAX_S))
    }

    /// Returns the length of the step (s).
    pub fn seconds(self) -> f64 {
        self.0
    }

    /// Returns the number of steps whose end is closest to `duration_s` (s), at least 1.
    pub fn steps(self, duration_s: f64) -> u64 {
        ((duration_s / self.0).round() as u64).max(1)
    }
}

/// Drives a new car of `model` with `driver` on the solver `info`, with the scene, placement, trailers and duration of
/// `setup`. Returns the telemetry of the start and of every step, including that of the towed units (trailers and
/// dollies), which have no controls. Times are step numbers times the step length.
///
/// Each step does the following:
///
/// - ask the driver whether the run is finished
/// - compute the controls from the last row
/// - step the world and append the rows
/// - call `progress` with the number of finished steps and the maximum number of steps
/// - check the ground
///
/// A run ends early if the driver is finished, if `progress` returns `Break`, or if the car has left the ground of its
/// scene. In the last case the trajectory stores the last time and place at which a wheel of the car carried load.
pub fn simulate(
    info: &SolverInfo,
    model: &Arc<Model>,
    setup: &Setup,
    driver: &mut dyn DriverModel,
    dt: TimeStep,
    progress: &mut dyn FnMut(u64, u64) -> ControlFlow<()>,
) -> Trajectory {
    let mut world = start_world(info, model, setup, dt);
    // The driven car is car 0, the towed units are cars 1 and up.
    let named_units = (1..).zip(&setup.trailers).zip(UnitName::name_all(&setup.trailers));
    let trailers =
        named_units.map(|((car, unit), name)| (name, Trajectory::new(&unit.model, world.frame(car), dt.seconds())));
    let car_trajectory = Trajectory::new(model, world.frame(0), dt.seconds());
    let mut trajectory = car_trajectory.with_trailers(trailers).with_ground(GroundProperties::of(&setup.scene));
    let step_count = dt.steps(setup.duration_s);
    // `None` for ground without an end.
    let bounds = SceneBounds::new(&setup.scene);
    // Last time and place with a loaded wheel.
    let mut last_supported = OffScene::from_frame(trajectory.first());
    for step in 0..step_count {
        let input = DriverInput { step, dt_s: dt.seconds(), model, frame: trajectory.last() };
        if driver.finished(&input) {
            break;
        }
        let controls = driver.drive(&input);
        // Controls of car 0 only.
        let report = world.step(std::slice::from_ref(&controls));
        let t_s = (step + 1) as f64 * dt.seconds();
        let frame = |car| Frame { t_s, ..world.frame(car) };
        trajectory.push(frame(0), report);
        trajectory.push_trailers((1..=setup.trailers.len()).map(frame));
        let flow = progress(step + 1, step_count);
        if is_supported(trajectory.last()) {
            last_supported = OffScene::from_frame(trajectory.last());
        } else if bounds.is_some_and(|bounds| bounds.is_off(trajectory.last())) {
            trajectory.mark_off_scene(last_supported);
            break;
        }
        if flow.is_break() {
            break;
        }
    }
    trajectory
}

/// Creates a world of the solver `info` with a car of `model` and its trailers, all at the placement of `setup`. With
/// trailers, the states of all vehicles are then replaced by those of a train at rest: in line behind the car, with
/// static loads and the initial speed.
fn start_world(info: &SolverInfo, model: &Arc<Model>, setup: &Setup, dt: TimeStep) -> Box<dyn Simulation> {
    // The car, then its trailers.
    let models: Vec<&Arc<Model>> = [model].into_iter().chain(setup.trailers.iter().map(|unit| &unit.model)).collect();
    let car_starts: Vec<CarStart> =
        models.iter().map(|model| CarStart { model: Arc::clone(model), placement: setup.placement }).collect();
    let mut world = (info.build_world)(&setup.scene, &car_starts, dt.seconds() as f32);
    if models.len() > 1 {
        let models: Vec<&Model> = models.into_iter().map(Arc::as_ref).collect();
        // 0: number of the first vehicle.
        for (car, state) in State::train_at_rest(&models, 0, &setup.scene, &setup.placement).iter().enumerate() {
            // The state is always accepted: it has as many wheels as its model.
            let _ = world.set_state(car, state);
        }
    }
    world
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::driver::CoastDriver;
    use crate::testing::{POINT_MASS, model};

    /// Steps and rates that are not finite, not above 0 or beyond the longest step are rejected. Accepted ones have the
    /// expected number of steps in 10 s.
    #[test]
    fn time_steps_are_checked() {
        for dt in [0.0, -1.0, f64::NAN, f64::INFINITY, 0.11, 1e-60] {
            assert!(TimeStep::new(dt).is_err(), "{dt}");
        }
        for rate in [0.0, -240.0, f64::NAN, 9.0] {
            assert!(TimeStep::from_rate_hz(rate).is_err(), "{rate}");
        }
        assert_eq!(TimeStep::from_rate_hz(240.0).map(|dt| dt.steps(10.0)), Ok(2400));
        assert_eq!(TimeStep::new(0.016_667).map(|dt| dt.steps(10.0)), Ok(600));
    }

    /// A run of 2 s at 60 Hz has 121 rows at exact multiples of the step. The loads of row 0 sum to the weight, and the
    /// coasting car covers its distance less that lost by drag.
    #[test]
    fn rows_stand_at_whole_multiples_of_the_step_and_row_zero_has_static_loads() {
        let model = Arc::new(model());
        let setup = Setup { duration_s: 2.0, ..Setup::flat(10.0) };
        let dt = TimeStep::from_rate_hz(60.0).expect("valid");
        let trajectory =
            simulate(&POINT_MASS, &model, &setup, &mut CoastDriver, dt, &mut |_, _| ControlFlow::Continue(()));
        assert_eq!(trajectory.row_count(), 121);
        for (k, frame) in trajectory.rows().enumerate() {
            assert_eq!(frame.t_s, k as f64 * (1.0 / 60.0));
        }
        let weight: f64 = trajectory.first().wheels.iter().map(|w| w.load_n).sum();
        assert!((weight / (f64::from(model.mass()) * 9.81) - 1.0).abs() < 1e-6, "{weight}");
        let drag_m = 0.5 * 0.04 * 2.0 * 2.0;
        assert!((trajectory.last().x_m - (20.0 - drag_m)).abs() < 2e-3, "{}", trajectory.last().x_m);
    }
}
