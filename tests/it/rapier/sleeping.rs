//! Cars that fall asleep as any body of Rapier's does, and events that wake them.

use std::f32::consts::FRAC_PI_4;

use skidpad::core::{Controls, Scene, WheelControls, state::Placement};
use skidpad::rapier::WorldAxes;
use skidpad::rapier::rapier3d::prelude::*;

use super::{Yard, standing};
use crate::common::{Simplify, c5};

const HZ: f32 = 60.0;

fn yard(scene: &Scene, placements: &[Placement]) -> Yard {
    Yard::new(Yard::plane(scene, HZ), WorldAxes::ZUp, scene, &c5().model(), placements)
}

fn asleep() -> Yard {
    let mut yard = yard(&Scene::flat(), &[standing(0.0)]);
    yard.run(5.0, &[Controls::parked()]);
    assert!(yard.sleeps(0), "a car parked for 5 s is awake");
    yard
}

fn eight(awake: bool) -> Yard {
    let scene = Scene::sloping(20f32.to_radians());
    let place = |eighth: u8| Placement { y: 10.0 * f64::from(eighth), ..standing(f32::from(eighth) * FRAC_PI_4) };
    let placements: Vec<Placement> = (0..8).map(place).collect();
    let mut yard = yard(&scene, &placements);
    if awake {
        for car in 0..8 {
            *yard.body(car).activation_mut() = RigidBodyActivation::cannot_sleep();
        }
    }
    yard
}

/// Parks eight cars for 5 s. Returns the largest distance that any of them moves in `seconds` more, m.
fn wander(yard: &mut Yard, seconds: f32) -> f64 {
    let parked: [Controls; 8] = std::array::from_fn(|_| Controls::parked());
    yard.run(5.0, &parked);
    let before: Vec<_> = (0..8).map(|car| yard.state(car).position).collect();
    yard.run(seconds, &parked);
    (0..8).map(|car| (yard.state(car).position - before[car]).length()).fold(0.0, f64::max)
}

/// Parked cars sleep and keep their place for an hour on 20 degrees at eight headings.
#[test]
fn a_parked_car_stays_for_an_hour() {
    let mut yard = eight(false);
    let farthest = wander(&mut yard, 3600.0);
    assert!((0..8).all(|car| yard.sleeps(car)));
    assert!(farthest < 2e-3, "{:.3} mm in an hour", 1e3 * farthest);
}

/// A car that may not sleep keeps its place for a minute.
#[test]
fn a_car_kept_awake_stays_for_a_minute() {
    let farthest = wander(&mut eight(true), 60.0);
    assert!(farthest < 1e-3, "{:.3} mm in a minute", 1e3 * farthest);
}

#[test]
fn asleep_nothing_changes() {
    let mut yard = asleep();
    let before = yard.state(0).clone();
    yard.body(0).add_force(Vector::ZERO, false);
    yard.run(10.0, &[Controls::parked()]);
    assert_eq!(*yard.state(0), before);
    assert_eq!(yard.body(0).user_force(), Vector::ZERO, "a force was left on the body");
}

#[test]
fn changed_controls_wake_a_car() {
    let mut yard = asleep();
    let drive = Controls { throttle: 0.5, gear: Some(1), ..Controls::default() };
    yard.run(2.0, &[drive]);
    assert!(!yard.sleeps(0));
    assert!(yard.frame(0).vx_mps > 2.0, "{} m/s after 2 s of throttle", yard.frame(0).vx_mps);
}

/// A car that its user wakes at rest falls asleep again in its place.
#[test]
fn a_car_can_be_woken() {
    let mut yard = asleep();
    let before = yard.state(0).position;
    yard.body(0).wake_up(true);
    yard.step(&[Controls::parked()]);
    assert!(!yard.sleeps(0));
    yard.run(2.0, &[Controls::parked()]);
    assert!(yard.sleeps(0));
    let moved = (yard.state(0).position - before).length();
    assert!(moved < 1e-6, "{moved} m");
}

/// A ball that hits the side of a car wakes it. The car does not fall in the step in which Rapier detects the hit and
/// skidpad does not: its speed would be g dt = 0.16 m/s.
#[test]
fn a_hit_wakes_a_car() {
    let mut yard = asleep();
    let ball = RigidBodyBuilder::dynamic().translation(Vector::new(0.3, 4.0, 0.5)).linvel(Vector::new(0.0, -12.0, 1.0));
    yard.world.insert(ball, ColliderBuilder::ball(0.2).mass(10.0));
    let mut steps = 0;
    while yard.sleeps(0) {
        yard.step(&[Controls::parked()]);
        steps += 1;
        assert!(steps < 60, "the ball met nothing");
    }
    let velocity = yard.state(0).velocity;
    // 10 kg at 12 m/s against 1400 kg.
    assert!(velocity.y < -0.02, "not pushed: {velocity}");
    assert!(velocity.z.abs() < 0.02, "fell: {velocity}");
    yard.run(5.0, &[Controls::parked()]);
    assert!(yard.sleeps(0));
}

/// A car stays awake while its engine revs or a motor torque acts. It falls asleep when the engine idles steadily.
#[test]
fn a_car_is_awake_while_anything_turns() {
    let mut yard = yard(&Scene::flat(), &[standing(0.0)]);
    let revving = Controls { throttle: 1.0, ..Controls::parked() };
    yard.run(3.0, &[revving]);
    assert!(!yard.sleeps(0), "asleep with the throttle open");
    let spinning = WheelControls { motor_torque: 1.0, ..WheelControls::default() };
    let held = Controls { wheels: vec![spinning; 4].into(), ..Controls::parked() };
    yard.run(3.0, &[held]);
    assert!(!yard.sleeps(0), "asleep with a motor on");
    yard.run(20.0, &[Controls::parked()]);
    assert!(yard.sleeps(0));
    let idle = yard.cars.vehicles()[0].model().parts().powertrain.engine().expect("an engine").engine.idle_speed;
    let speed = yard.state(0).drive.engine_speed;
    assert!((speed / idle - 1.0).abs() < 0.01, "asleep at {speed} rad/s, idle is {idle}");
}

/// A car that starts to roll very slowly stays awake: on 0.1 degrees, without rolling resistance, from a standstill.
#[test]
fn a_car_that_starts_to_roll_stays_awake() {
    let scene = Scene::sloping(0.1f32.to_radians());
    let model = c5().without_rolling_resistance().model();
    let mut yard = Yard::new(Yard::plane(&scene, HZ), WorldAxes::ZUp, &scene, &model, &[standing(0.0)]);
    yard.run(5.0, &[Controls::parked()]);
    assert!(yard.sleeps(0));
    yard.run(2.0, &[Controls::coasting()]);
    let free = 9.81 * 0.1f64.to_radians().sin() * 2.0 * f64::from(model.mass() / model.rolling_mass());
    let speed = -yard.frame(0).vx_mps;
    assert!((speed / free - 1.0).abs() < 0.02, "{speed} m/s instead of {free}");
}

/// Ground that becomes a sensor or leaves all collision groups wakes a sleeping car, which falls.
#[test]
fn ground_that_lets_a_car_through_wakes_it() {
    let lets_through: [fn(&mut Collider); 2] =
        [|ground| ground.set_sensor(true), |ground| ground.set_collision_groups(InteractionGroups::none())];
    for change in lets_through {
        let mut yard = asleep();
        let ground = yard.world.colliders.iter().find(|(_, collider)| collider.parent().is_none()).expect("ground").0;
        change(&mut yard.world.colliders[ground]);
        yard.run(1.0, &[Controls::parked()]);
        assert!(yard.state(0).position.z < -1.0, "{}", yard.state(0).position.z);
    }
}
