//! Shipped cars against published figures, the references in their files.

use skidpad::core::{Controls, Scene, SolverInfo, state::Placement};
use skidpad::lab::Trajectory;
use skidpad::lab::manoeuvre::{Acceleration, AccelerationMetrics, Braking, Manoeuvre};
use skidpad::lab::run::{TimeStep, simulate};
use skidpad::spec::LoadedVehicle;

use crate::common::{Drive, close, solvers};

fn load(name: &str) -> LoadedVehicle {
    skidpad::spec::load(name).expect("shipped")
}

/// Returns the published value of `quantity` in the file of the car. Panics without one.
#[track_caller]
fn published(car: &LoadedVehicle, quantity: &str) -> f64 {
    car.spec.references.iter().find(|reference| reference.quantity == quantity).expect("stated").value
}

fn drive(solver: &SolverInfo, car: &LoadedVehicle, manoeuvre: &dyn Manoeuvre) -> Trajectory {
    let (step, mut driver) = (TimeStep::from_rate_hz(240.0).expect("valid"), manoeuvre.driver(&car.model));
    simulate(solver, &car.model, &manoeuvre.setup(&car.model), driver.as_mut(), step, &mut |_, _| {})
}

fn sprint(solver: &SolverInfo, car: &LoadedVehicle) -> AccelerationMetrics {
    let manoeuvre = Acceleration::default();
    manoeuvre.measure(&drive(solver, car, &manoeuvre))
}

/// Returns the stopping distance from 60 mph with full brake pedal (m), or `None` without a stop.
fn stop(solver: &SolverInfo, car: &LoadedVehicle) -> Option<f64> {
    let manoeuvre = Braking { initial_speed_mps: 26.82, ..Braking::default() };
    manoeuvre.measure(&drive(solver, car, &manoeuvre)).distance_m
}

const FITTED: &str = "fitted; what magazines measure of one car differs by as much";

#[test]
fn the_model_3_sprints_and_stops_as_published() {
    let car = load("tesla_model3_awd");
    for solver in solvers() {
        let told = |quantity| published(&car, quantity);
        let found = sprint(&solver, &car);
        let figures = [
            (found.zero_to_100_kmh_s, told("time_0_to_27.78_m_per_s"), 0.05),
            (found.zero_to_60_mph_rollout_s, told("time_0_to_26.82_m_per_s"), 0.05),
            (found.quarter_mile_rollout_s, told("time_402.3_m"), 0.03),
            (found.quarter_mile_mps, told("speed_at_402.3_m"), 0.03),
            (found.top_speed_mps, told("top_speed"), 0.01),
            (stop(&solver, &car), told("stopping_distance_from_26.82_m_per_s"), 0.03),
        ];
        for (found, told, tolerance) in figures {
            close(solver.name, found.expect("reached"), told, tolerance, FITTED);
        }
    }
}

#[test]
fn the_4runner_sprints_and_stalls_as_published() {
    let car = load("toyota_4runner");
    for solver in solvers() {
        let found = sprint(&solver, &car).zero_to_60_mph_s.expect("reached");
        close(solver.name, found, published(&car, "time_0_to_26.82_m_per_s"), 0.05, FITTED);
        let mut held = Drive::new(&solver, &car.model, &Scene::flat(), Placement::default(), 240.0);
        let asked = Controls { throttle: 1.0, brake: 1.0, gear: Some(1), ..Controls::default() };
        let last = held.run(4.0, |_| asked.clone()).pop().expect("frames");
        let told = published(&car, "stall_speed");
        close(solver.name, last.engine_radps, told, 150.0 / 2400.0, "the repair manual's own tolerance");
        assert!(last.vx_mps.abs() < 0.01, "{}: {} m/s", solver.name, last.vx_mps);
    }
}
