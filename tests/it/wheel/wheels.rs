//! Travel, contact and pose of wheels, rows A4, A5 and C10.

use skidpad::core::{Controls, DVec3, Scene, State, Vec3, state::Placement};

use crate::common::{Drive, Simplify, c5, solvers};

/// Row A4: the extension is 0 where the bump stop begins, ½ in the middle, 1 at full droop and in the air, and below 0 in
/// the stop.
#[test]
fn a4_extension_runs_from_bump_to_droop() {
    let model = c5().model();
    let strut = model.wheels()[0].strut;
    let mut state = State::at_rest(&model, &Scene::flat(), &Placement::default());
    let middle = 0.5 * (strut.bump_travel - strut.droop_travel);
    for (compression, extension) in [(strut.bump_travel, 0.0), (middle, 0.5), (-strut.droop_travel, 1.0), (0.086, -0.1)]
    {
        state.wheels[0].compression = compression;
        assert!((state.extension(&model, 0) - extension).abs() < 1e-6, "{compression} m");
    }
    for solver in solvers() {
        let mut car = Drive::new(&solver, &model, &Scene::flat(), Placement::default(), 240.0);
        state.position.z = 2.0;
        car.world.set_state(0, &state).expect("it fits");
        // In the first step of Rapier's world the wheels have contact.
        car.run(0.1, |_| Controls::coasting());
        let now = car.world.state(0);
        assert!((0..4).all(|i| now.extension(&model, i) == 1.0 && !now.wheels[i].contact), "{}", solver.name);
    }
}

/// Row A5: when a car is lifted and lowered by tenths of a millimetre, the contact changes once each way, a millimetre
/// beyond full droop. Over this distance a hanging wheel still has contact, so that rounding does not decide.
#[test]
fn a5_contact_ends_just_beyond_full_droop() {
    let model = c5().model();
    for solver in solvers() {
        let mut car = Drive::new(&solver, &model, &Scene::flat(), Placement::default(), 240.0);
        let level = car.world.state(0).clone();
        let droop = f64::from(model.wheels()[0].strut.droop_travel);
        let up: Vec<i32> = (-30..=30).collect();
        let down: Vec<i32> = up.iter().rev().copied().collect();
        for heights in [up, down] {
            let touches = heights.iter().map(|tenth| {
                let mut state = level.clone();
                state.position.z += droop + 1e-4 * f64::from(*tenth);
                car.world.set_state(0, &state).expect("it fits");
                car.step(&Controls::coasting());
                (*tenth, car.world.state(0).wheels.iter().all(|w| w.contact))
            });
            let touches: Vec<(i32, bool)> = touches.collect();
            let flips: Vec<i32> = touches.windows(2).filter(|w| w[0].1 != w[1].1).map(|w| w[0].0.min(w[1].0)).collect();
            assert!(matches!(flips[..], [9..=10]), "{}: flips beyond {flips:?} tenths of a millimetre", solver.name);
        }
    }
}

/// Row C10: the lowest point of a wheel's pose is on the ground within 1 mm, and its axle leans and steers as the wheel
/// does, while braking into a turn at 60 Hz. A pose interpolated between two steps is also on the ground.
#[test]
fn c10_drawn_wheels_stand_on_the_ground() {
    let model = crate::suspension::springs::guided().model();
    for solver in solvers() {
        let placement = Placement { speed: 25.0, gear: Some(0), ..Placement::default() };
        let mut car = Drive::new(&solver, &model, &Scene::flat(), placement, 60.0);
        let mut before = car.world.state(0).clone();
        for step in 0..180 {
            let steer = if step < 30 { 0.0 } else { 0.06 };
            let brake = if step < 60 { 0.0 } else { 0.4 };
            car.step(&Controls { steer, brake, gear: Some(0), ..Controls::default() });
            let after = car.world.state(0).clone();
            for i in (0..4).filter(|&i| after.wheels[i].load > 0.0) {
                let radius = f64::from(model.wheels()[i].radius);
                let bottom = |state: &State| {
                    let down = (state.rotation * Vec3::NEG_Z).as_dvec3() * radius;
                    state.wheel_pose(&model, i).centre + down
                };
                let found: [DVec3; 2] = [bottom(&after), bottom(&before).lerp(bottom(&after), 0.5)];
                for at in found {
                    assert!(at.z.abs() < 1e-3, "{} step {step} wheel {i}: {:.2} mm", solver.name, 1e3 * at.z);
                }
                let axle = after.wheel_pose(&model, i).rotation * Vec3::Y;
                let chassis = after.rotation.inverse() * axle;
                let steered = (-chassis.x).atan2(chassis.y);
                assert!((steered - after.wheels[i].steer).abs() < 1e-5, "{}: steered {steered}", solver.name);
                // The lean is a prediction for the end of the step from its start.
                assert!(
                    (axle.z - after.wheels[i].lean).abs() < 2e-3,
                    "{}: {} {}",
                    solver.name,
                    axle.z,
                    after.wheels[i].lean
                );
            }
            before = after;
        }
    }
}
