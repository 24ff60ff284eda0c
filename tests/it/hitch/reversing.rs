//! Trailers with overrun brakes in reverse: the brakes release.

use std::sync::Arc;

use skidpad::core::model::TrailerBrakes;
use skidpad::core::{Controls, Model, Scene, WheelControls};

use super::rigs::{BASE, shipped, train};
use crate::common::solvers;

/// Returns the reference rig with an overrun brake of the trailer, which is fully applied at 2 kN.
fn rig() -> [Arc<Model>; 2] {
    let [car, trailer] = BASE.models();
    let mut parts = trailer.parts().clone();
    parts.coupler.as_mut().expect("a trailer").brakes = TrailerBrakes::Overrun(2000.0);
    [car, Arc::new(Model::new(parts).expect("valid"))]
}

/// Speed of the rig in reverse, v = F t / (M + m), as without brakes.
#[test]
fn an_overrun_brake_releases_in_reverse() {
    let force = 1500.0f32;
    for solver in solvers() {
        for hz in [30u16, 60, 240, 1000] {
            let mut world = train(&solver, &rig(), &Scene::flat(), 0.0, f32::from(hz));
            let push = WheelControls { motor_torque: -force * 0.3 / 4.0, ..WheelControls::default() };
            for _ in 0..3 * hz {
                world.step(&[Controls { wheels: [push; 4].into(), ..Controls::coasting() }]);
            }
            let (found, known) = (-world.frame(0).vx_mps, f64::from(force) * 3.0 / (BASE.mass + BASE.trailer_mass));
            // Tyres with a relaxation length of 2 mm deflect first, and the spin inertia of the wheels is 4e-4 of the
            // mass.
            assert!((found / known - 1.0).abs() < 5e-3, "{}, {hz} Hz: {found} m/s of {known}", solver.name);
        }
    }
}

/// On a descent, the overrun brake of the trailer helps to keep the rig at rest while the car is braked.
#[test]
fn an_overrun_brake_holds_downhill() {
    for solver in solvers() {
        for hz in [30u16, 60, 240] {
            let mut world = train(&solver, &rig(), &Scene::sloping(-0.1), 2.0, f32::from(hz));
            for _ in 0..8 * hz {
                world.step(&[Controls { brake: 0.5, ..Controls::coasting() }]);
            }
            let overrun = world.state(1).tow.expect("it is towed").overrun;
            let speed = world.frame(1).vx_mps.abs();
            assert!(overrun > 0.05 && speed < 1e-3, "{}, {hz} Hz: {overrun} of the brake, {speed} m/s", solver.name);
        }
    }
}

/// The 4Runner with a trailer reverses at least 0.8 times as far as its share of the train's mass gives.
#[test]
fn the_4runner_reverses_with_its_trailers() {
    let backwards = Controls { throttle: 0.3, gear: Some(-1), ..Controls::default() };
    for solver in solvers() {
        let way = |models: &[Arc<Model>]| {
            let mut world = train(&solver, models, &Scene::flat(), 0.0, 60.0);
            for _ in 0..300 {
                world.step(std::slice::from_ref(&backwards));
            }
            -world.frame(0).x_m
        };
        let car = shipped(&["toyota_4runner"]);
        let alone = way(&car);
        for trailer in ["caravan", "wagon"] {
            let models = shipped(&["toyota_4runner", trailer]);
            let mass: f32 = models.iter().map(|model| model.mass()).sum();
            let known = alone * f64::from(car[0].mass() / mass);
            let found = way(&models);
            // The rolling resistance of the trailers is a tenth of the drive force in reverse.
            assert!(found > 0.8 * known, "{} {trailer}: {found} m, {alone} m alone", solver.name);
        }
    }
}
