//! Trailers with overrun brakes that are pushed backwards: the brakes release.

use std::sync::Arc;

use skidpad::core::model::TrailerBrakes;
use skidpad::core::{Controls, Model, Scene, WheelControls};

use super::rigs::{BASE, shipped, train};
use crate::common::solvers;

/// The reference rig, its trailer braked in full by 2 kN of overrun force.
fn rig() -> [Arc<Model>; 2] {
    let [car, trailer] = BASE.models();
    let mut parts = trailer.parts().clone();
    parts.coupler.as_mut().expect("a trailer").brakes = TrailerBrakes::Overrun(2000.0);
    [car, Arc::new(Model::new(parts).expect("valid"))]
}

/// v = F t / (M + m), as without brakes.
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
            // Tyres with a relaxation length of 2 mm wind up first; the spin of the wheels is 4e-4 of the mass.
            assert!((found / known - 1.0).abs() < 5e-3, "{}, {hz} Hz: {found} m/s of {known}", solver.name);
        }
    }
}

/// A rig that the brakes of the car hold downhill is held by those of the trailer, too: the trailer stands and runs up.
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

/// The case: throttle 0.3 in reverse moves the 4Runner by 48 m in 10 s, and moved it by 1 mm with either trailer.
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
            // The trailers' rolling resistance is a tenth of the force in reverse.
            assert!(found > 0.8 * known, "{} {trailer}: {found} m, {alone} m alone", solver.name);
        }
    }
}
