//! Start positions of cars: on the ground, above it, on boxes. The first row of a run reports the wheels.

use skidpad::core::{Controls, DVec3, FixedBox, Frame, Scene, Vec3, state::Placement};

use crate::common::{Drive, GRAVITY, Simplify, c5, close, own_code};

fn above(height: f64) -> Placement {
    Placement { height, gear: Some(0), ..Placement::default() }
}

/// A car released in the air falls from its first step on with `v = −g t` on every solver, and never rises. The upward
/// velocity of g dt that Bullet reports for a standing car does not appear.
#[test]
fn a_car_in_the_air_falls_at_once() {
    let model = c5().without_air().model();
    for solver in own_code() {
        for hz in [30.0, 60.0, 240.0, 1000.0] {
            let mut car = Drive::new(&solver, &model, &Scene::flat(), above(3.0), hz);
            let frames = car.run(0.5, |_| Controls::coasting());
            let what = format!("{} at {hz} Hz", solver.name);
            let first = &frames[0];
            assert!((first.z_m - 3.0 - f64::from(model.parts().centre_height)).abs() < 0.01, "{what}: {}", first.z_m);
            for frame in &frames[1..] {
                close(&what, frame.vz_mps, -GRAVITY * frame.t_s, 2e-5, "velocities have 32 bits");
                assert!(frame.z_m < first.z_m, "{what}: rises to {} m", frame.z_m);
            }
            for frame in &frames {
                let hangs = |w: &skidpad::core::WheelFrame| w.contact == 0.0 && w.load_n == 0.0;
                assert!(frame.wheels.iter().all(hangs), "{what}: {:?}", frame.wheels);
            }
        }
    }
}

/// The first row reports the contact, load and compression of each wheel that the first step of 0.25 ms finds.
#[test]
fn the_first_row_tells_what_the_wheels_meet() {
    let model = c5().without_air().model();
    let droop = f64::from(model.wheels()[0].strut.droop_travel);
    let table = FixedBox::axis_aligned(DVec3::new(2.0, 1.0, 0.5), Vec3::new(12.0, 8.0, 3.0)).rotated(0.3, 0.0, 0.0);
    let on_table = Scene { boxes: vec![table], ..Scene::flat() };
    let heights = [(0.0, 0.0), (0.02, 0.0), (droop - 0.005, 0.0), (droop + 0.1, 0.0), (2.0, 2.0), (2.03, 2.0)];
    for (height, ground) in heights {
        let scene = if ground > 0.0 { &on_table } else { &Scene::flat() };
        for solver in own_code() {
            let mut car = Drive::new(&solver, &model, scene, above(height), 4000.0);
            let [first, second] = [car.world.frame(0), car.step(&Controls::coasting())];
            let what = format!("{} {height} m up", solver.name);
            // Wheels with unsprung mass start with the tyre compression at rest, which pushes them down within that step.
            let settled = solver.name != "constraint-unsprung" || height == ground || height - ground > droop;
            let most = if settled { 0.01 * f64::from(model.static_load(0)) } else { f64::INFINITY };
            compare(&what, &first, &second, most);
            let carries = first.wheels[0].load_n > 0.0;
            assert_eq!(carries, height - ground < droop, "{what}: {} N", first.wheels[0].load_n);
        }
    }
}

#[track_caller]
fn compare(what: &str, first: &Frame, second: &Frame, most: f64) {
    for (i, (was, is)) in first.wheels.iter().zip(&second.wheels).enumerate() {
        assert_eq!(was.contact, is.contact, "{what}, wheel {i}");
        // Dampers react to 0.6 µm of fall in a step of 0.25 ms. The peer has no anti-roll bars, which do not act here.
        assert!((was.load_n - is.load_n).abs() < most, "{what}, wheel {i}: {} N, then {} N", was.load_n, is.load_n);
        let [from, to] = [was.compression_m, is.compression_m];
        assert!((from - to).abs() < 1e-5, "{what}, wheel {i}: {from} m, then {to} m");
    }
}
