//! Assists added to shipped cars at several tick rates: starts, cruising, regeneration on ice, tight turns.

use skidpad::core::model::{CruiseControl, StabilityControl, TractionControl};
use skidpad::core::{Controls, Frame, ModelParts, Scene, SolverInfo, state::Placement};

use super::fitted::{CRUISE, TRACTION};
use crate::common::{Drive, Simplify, c5, close, mean, shipped, solvers};

const RATES: [f32; 4] = [30.0, 60.0, 240.0, 1000.0];

fn end(frames: &[Frame]) -> &Frame {
    &frames[frames.len() - 1]
}

/// A slipping clutch does not trigger traction control. A start on a dry road, in which the wheels spin for a moment,
/// loses at most 1 % of the final speed. A car in sixth gear loses nothing.
#[test]
fn traction_control_lets_a_car_with_a_clutch_move_off() {
    for solver in solvers() {
        for hz in RATES {
            let speed = |traction: Option<TractionControl>, gear: Option<i8>, speed: f32, seconds: f64| {
                let mut parts = c5();
                parts.assists.traction = traction;
                let placement = Placement { speed, gear, ..Placement::default() };
                let mut car = Drive::new(&solver, &parts.model(), &Scene::flat(), placement, hz);
                end(&car.run(seconds, |_| Controls { throttle: 1.0, gear, ..Controls::default() })).vx_mps
            };
            let what = format!("{} {hz} Hz", solver.name);
            for (gear, from, seconds, share) in [(None, 0.0, 6.0, 0.01), (Some(6), 15.0, 3.0, 0.0)] {
                let [with, without] = [Some(TRACTION), None].map(|traction| speed(traction, gear, from, seconds));
                close(&what, with, without, share, "wheels that spin for a moment, or none");
            }
        }
    }
}

/// Starts from rest to 20 m/s, on the level and up 6°: the final speed is within 1 %, and the car rolls back with at
/// most 0.3 m/s while the engine takes up the load.
#[test]
fn cruise_control_starts_a_car_with_a_clutch() {
    for name in ["corvette_c5", "corvette_c5_mf"] {
        for solver in solvers() {
            for hz in RATES {
                for degrees in [0.0f32, 6.0] {
                    let mut parts = shipped(name);
                    parts.assists.cruise = Some(CruiseControl { may_brake: true, ..CRUISE });
                    let scene = Scene::sloping(degrees.to_radians());
                    let mut car = Drive::new(&solver, &parts.model(), &scene, Placement::default(), hz);
                    let frames = car.run(20.0, |_| Controls { cruise: Some(20.0), ..Controls::default() });
                    let what = format!("{name} {} {hz} Hz, {degrees} degrees", solver.name);
                    close(&what, end(&frames).vx_mps, 20.0, 0.01, "asked");
                    let least = frames.iter().map(|frame| frame.vx_mps).fold(0.0, f64::min);
                    assert!(least > -0.3, "{what}: rolls back at {least} m/s");
                }
            }
        }
    }
}

/// On grip of 0.1 and 0.15, regeneration locks no wheel of a car with anti-lock brakes, with and without the brake
/// pedal.
#[test]
fn regeneration_locks_no_wheel() {
    for solver in solvers() {
        for hz in RATES {
            for (grip, brake) in [(0.1, 1.0), (0.1, 0.0), (0.15, 1.0), (0.15, 0.0)] {
                let model = shipped("tesla_model3_awd").model();
                let placement = Placement { speed: 15.0, ..Placement::default() };
                let mut car = Drive::new(&solver, &model, &Scene { grip, ..Scene::flat() }, placement, hz);
                let frames = car.run(4.0, |_| Controls { brake, ..Controls::default() });
                let slip = |frame: &Frame| {
                    let wheels = frame.wheels.iter().zip(model.wheels());
                    wheels
                        .map(|(now, of)| now.spin_radps * f64::from(of.radius) / frame.vx_mps - 1.0)
                        .fold(0.0, f64::min)
                };
                let least = frames.iter().filter(|frame| frame.vx_mps > 3.0).map(slip).fold(0.0, f64::min);
                let what = format!("{} {hz} Hz, grip {grip}, brake {brake}", solver.name);
                assert!(least > -0.15, "{what}: slips {least}, not 0.1 behind the road");
            }
        }
    }
}

/// In a tight turn at part throttle, stability control costs at most 8 % of the speed and 2 % of the yaw rate. The
/// 4Runner loses the most speed, because it turns tighter; the other cars lose 1 %.
#[test]
fn stability_control_leaves_tight_turns_alone() {
    let turn = |mut parts: ModelParts, stability: Option<StabilityControl>, solver: &SolverInfo, hz: f32| {
        parts.assists.stability = stability;
        let placement = Placement { speed: 6.0, ..Placement::default() };
        let mut car = Drive::new(solver, &parts.model(), &Scene::flat(), placement, hz);
        car.run(8.0, |_| Controls { throttle: 0.4, steer: 0.55, ..Controls::default() })
    };
    for name in ["corvette_c5", "tesla_model3_awd", "bmw_320i_mf", "toyota_4runner"] {
        for solver in solvers() {
            for hz in RATES {
                let [with, without] = [Some(StabilityControl::default()), None]
                    .map(|stability| turn(shipped(name), stability, &solver, hz));
                let what = format!("{name} {} {hz} Hz", solver.name);
                let [turned, turned_without] =
                    [&with, &without].map(|frames| mean(frames, |frame| frame.yaw_rate_radps));
                let [speed, speed_without] = [end(&with).vx_mps, end(&without).vx_mps];
                assert!(speed > 0.92 * speed_without, "{what}: {speed} of {speed_without} m/s");
                assert!(turned > 0.98 * turned_without, "{what}: {turned} of {turned_without} rad/s");
            }
        }
    }
}
