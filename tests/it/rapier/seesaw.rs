//! Bounds on the seesaw example: twenty cars, crates and a seesaw in one world.

#[allow(dead_code, reason = "the example prints, the test watches")]
#[path = "../../../examples/seesaw.rs"]
pub mod example;

use example::Playground;
use skidpad::rapier::rapier3d::prelude::Vector;

/// Returns whether the lane of car `car` has no obstacle.
fn is_free(car: usize) -> bool {
    car >= 10
}

/// Asserts the bounds that hold after every step.
fn watch(all: &Playground) {
    let tilt = (all.world.bodies[all.plank].rotation() * Vector::X).z.asin().to_degrees();
    // The ends of the plank touch the ground at 3.44°. Rapier lets them sink a little.
    assert!(tilt.abs() < 4.5, "{} s: the plank is at {tilt}°", all.time);
    for (i, vehicle) in all.cars.vehicles().iter().enumerate() {
        let (t, state) = (all.time, vehicle.state());
        let speed = state.velocity.length();
        assert!(speed < 9.0, "{t} s: car {i} at {speed} m/s");
        assert!((0.3..1.6).contains(&state.position.z), "{t} s: car {i} {} m high", state.position.z);
        if is_free(i) {
            assert!(state.wheels.iter().all(|wheel| wheel.contact), "{t} s: car {i} lost the ground");
            assert!(
                (state.position.y - f64::from(example::LANE_Y_M[i / 5])).abs() < 0.1,
                "{t} s: car {i} left its lane"
            );
        }
    }
    for (i, body) in all.crates.iter().map(|c| &all.world.bodies[*c]).enumerate() {
        let speed = body.linvel().length();
        assert!(speed < 20.0, "{} s: crate {i} at {speed} m/s", all.time);
    }
}

#[test]
fn nothing_explodes() {
    let mut all = Playground::new().expect("shipped");
    for _ in 0..1200 {
        all.step();
        watch(&all);
    }
    let over = all.cars.vehicles()[0].state().position.x;
    assert!(over > 30.0, "the first car ends at {over} m, on the seesaw");
    let knocked = all.crates.iter().filter(|c| (all.world.bodies[**c].translation().x - 25.0).abs() > 0.5).count();
    assert!(knocked > 3, "{knocked} crates knocked away");
    let awake = (0..20).filter(|car| !all.world.bodies[all.cars.handle(*car)].is_sleeping()).count();
    assert_eq!(awake, 0, "cars awake 12 s after they braked");
}
