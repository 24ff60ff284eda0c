//! Shipped proving ground: every shipped car crosses every feature on every solver.

use std::sync::Arc;

use skidpad::core::{Controls, Model, Scene, SolverInfo, State, Vec3, state::Placement};
use skidpad::spec::LoadedScene;

use crate::common::{Drive, GRAVITY, on_rows};

/// Lane of the ground: position, initial speed, duration and curvature of a coasting car, and the x that it passes.
struct Lane {
    name: &'static str,
    y: f64,
    speed: f32,
    seconds: f64,
    /// Curvature, 1/m, to the left.
    curvature: f32,
    passes: f64,
}

const LANES: [Lane; 9] = [
    Lane { name: "skid pad", y: -55.0, speed: 12.0, seconds: 6.0, curvature: 1.0 / 40.0, passes: 5.0 },
    Lane { name: "split friction", y: 0.0, speed: 15.0, seconds: 5.0, curvature: 0.0, passes: 40.0 },
    Lane { name: "washboard", y: 30.0, speed: 10.0, seconds: 6.0, curvature: 0.0, passes: 30.0 },
    Lane { name: "kerbs", y: 60.0, speed: 10.0, seconds: 5.0, curvature: 0.0, passes: 25.0 },
    Lane { name: "ramp and gap", y: 90.0, speed: 11.0, seconds: 5.0, curvature: 0.0, passes: 24.0 },
    Lane { name: "floor that moves", y: 120.0, speed: 8.0, seconds: 7.0, curvature: 0.0, passes: 30.0 },
    Lane { name: "hill of 20 %", y: 150.0, speed: 13.0, seconds: 9.0, curvature: 0.0, passes: 56.0 },
    Lane { name: "banked curve", y: 180.0, speed: 13.0, seconds: 7.0, curvature: 1.0 / 60.0, passes: 30.0 },
    Lane { name: "mounds", y: 210.0, speed: 8.0, seconds: 7.0, curvature: 0.0, passes: 20.0 },
];

fn ground() -> Scene {
    let path = format!("{}/scenes/proving_ground.toml", env!("CARGO_MANIFEST_DIR"));
    LoadedScene::load(path.as_ref()).expect("shipped").scene
}

/// Returns kinetic energy, including that of wheel spin, and potential energy per mass, J/kg.
fn energy(model: &Model, state: &State) -> f64 {
    let spin = state.rotation.inverse() * state.angular_velocity;
    let turning = spin.dot(*model.inertia() * spin) / model.mass();
    let wheels = model.wheels().iter().zip(&state.wheels).map(|(wheel, now)| wheel.spin_inertia * now.spin * now.spin);
    let turning = turning + wheels.sum::<f32>() / model.mass();
    0.5 * f64::from(state.velocity.length_squared() + turning) + GRAVITY * state.position.z
}

/// Lets a car coast along `lane`. Returns an error if the state is not finite, the car leans or gains energy, or does not
/// pass the lane.
fn cross(solver: &SolverInfo, model: &Arc<Model>, scene: &Scene, lane: &Lane, hz: f32) -> Result<(), String> {
    let start = Placement { x: -12.0, y: lane.y, speed: lane.speed, gear: Some(0), ..Placement::default() };
    let mut car = Drive::new(solver, model, scene, start, hz);
    let [front, rear] = [0, model.wheels().len() - 1].map(|i| model.wheels()[i].contact.x);
    let asked = Controls { steer: (front - rear) * lane.curvature, ..Controls::coasting() };
    let begins = energy(model, car.world.state(0));
    for _ in 0..(lane.seconds * f64::from(hz)) as usize {
        let report = car.world.step(std::slice::from_ref(&asked));
        let (state, time) = (car.world.state(0), car.world.time());
        if report.not_finite || !state.is_finite() {
            return Err(format!("not finite at {time} s"));
        }
        if (state.rotation * Vec3::Z).z < 0.85 {
            return Err(format!("leans at {time} s: {:?}", state.rotation * Vec3::Z));
        }
        // Springs store a few centimetres of height. A floor that moves back and forth at half a metre a second adds as
        // much.
        let now = energy(model, state);
        if now > 1.01 * begins + 0.5 {
            return Err(format!("{now} J/kg at {time} s, {begins} when it began"));
        }
    }
    let state = car.world.state(0);
    let passed = if lane.curvature == 0.0 { state.position.x } else { 2.0 * lane.passes };
    if passed < lane.passes { Err(format!("ends at {}", state.position)) } else { Ok(()) }
}

#[test]
fn every_shipped_car_crosses_every_feature() {
    let scene = ground();
    assert_eq!((scene.platforms.len(), scene.meshes.len()), (1, 1));
    let mut wrong = Vec::new();
    for name in skidpad::spec::shipped::names() {
        let model = skidpad::spec::load(name).expect("shipped").model;
        if model.parts().coupler.is_some() {
            continue;
        }
        for solver in on_rows() {
            for lane in &LANES {
                if let Err(what) = cross(&solver, &model, &scene, lane, 240.0) {
                    wrong.push(format!("{name} on {} with {}: {what}", lane.name, solver.name));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{} of them:\n{}", wrong.len(), wrong.join("\n"));
}
