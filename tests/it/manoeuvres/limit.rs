//! Steady cornering against closed forms: step steers reach their target, slow steering ramps reach the grip limit.

use std::ops::ControlFlow;
use std::sync::Arc;

use skidpad::core::{Controls, Model, SolverInfo};
use skidpad::lab::closed_form::cornering::grip_limit;
use skidpad::lab::driver::{DriverInput, TorqueSpeedController};
use skidpad::lab::manoeuvre::{KMH_100, Manoeuvre, StepSteer};
use skidpad::lab::{TimeStep, simulate};

use crate::common::{Drive, Simplify, close, shipped, solvers};

/// A step steer of every shipped vehicle reaches the lateral acceleration of the manoeuvre. The kart is left out: its solid
/// axle resists the turn, and the closed form of the steering angle has no such moment.
#[test]
fn step_steers_reach_their_lateral_acceleration() {
    let (manoeuvre, step) = (StepSteer::default(), TimeStep::from_rate_hz(240.0).expect("valid"));
    for name in skidpad::spec::shipped::names().filter(|name| *name != "kart") {
        let model = shipped(name).model();
        for solver in solvers() {
            let (setup, mut driver) = (manoeuvre.setup(&model), manoeuvre.driver(&model));
            let run = simulate(&solver, &model, &setup, driver.as_mut(), step, &mut |_, _| ControlFlow::Continue(()));
            let found = manoeuvre.measure(&run).steady_lateral_acceleration_mps2.expect("steady");
            close(&format!("{} {name}", solver.name), found, manoeuvre.lateral_acceleration_mps2, 0.01, "asked");
        }
    }
}

/// Returns the largest lateral acceleration in a slow steering ramp at a constant speed (m/s²), as the largest mean
/// over 0.5 s.
fn ramp(solver: &SolverInfo, model: &Arc<Model>) -> f64 {
    const HZ: f64 = 240.0;
    const RATE: f64 = 0.002;
    let (mut car, mut cruise) =
        (Drive::rolling(solver, model, KMH_100 as f32, HZ as f32), TorqueSpeedController::default());
    let (mut recent, mut best) = (Vec::new(), 0.0f64);
    let mut frame = car.world.frame(0);
    for step in 0..(100.0 * HZ) as u64 {
        let now = DriverInput { step, dt_s: 1.0 / HZ, model, frame: &frame };
        let steer = (RATE * (now.time_s() - 2.0)).max(0.0) as f32;
        let controls = Controls { steer, ..cruise.controls(&now, KMH_100) };
        frame = car.step(&controls);
        recent.push(frame.yaw_rate_radps * frame.vx_mps.hypot(frame.vy_mps));
        let half = &recent[recent.len().saturating_sub(120)..];
        let mean = half.iter().sum::<f64>() / half.len() as f64;
        if mean < 0.9 * best {
            return best;
        }
        best = best.max(mean);
    }
    best
}

/// Grip limit of `check` against a slow steering ramp, for the shipped cars that slide before they tip. The truck
/// lifts inner wheels before it slides.
#[test]
fn the_largest_steady_lateral_acceleration_is_that_of_a_slow_ramp() {
    let cars = [
        ("corvette_c5", 0.01),
        ("corvette_c5_mf", 0.01),
        ("corvette_c5_tmeasy", 0.01),
        ("tesla_model3_awd", 0.01),
        ("toyota_4runner", 0.01),
        ("truck_6x4", 0.02),
    ];
    for (name, within) in cars {
        let model = shipped(name).model();
        let told = grip_limit(&model, Some(KMH_100)).expect("slides before it tips");
        for solver in solvers() {
            close(
                &format!("{} {name}", solver.name),
                ramp(&solver, &model),
                told,
                within,
                "asked; the truck's wheels lift",
            );
        }
    }
}
