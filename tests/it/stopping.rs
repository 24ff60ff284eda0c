//! Stopping with all wheels at the limit of dry friction.

use skidpad::core::Controls;

use crate::common::{Drive, GRAVITY, Simplify, c5, close, solvers};

/// Oracle 5.11 with drag: (m / 2k) ln(1 + k v² / (μ m g)); then no rollback and rest.
#[test]
fn b8_stopping_distance_does_not_depend_on_the_tick_rate() {
    let model = c5().on_coulomb_tyres(1.0).without_rolling_resistance().model();
    let (mass, k, v) = (f64::from(model.mass()), f64::from(model.parts().aero.drag), 100.0 / 3.6);
    let expected = mass / (2.0 * k) * (k * v * v / (mass * GRAVITY)).ln_1p();
    let brake = Controls { brake: 1.0, gear: Some(0), ..Controls::default() };
    for solver in solvers() {
        for (hz, tolerance) in [(30.0, 0.0075), (60.0, 0.005), (120.0, 0.003), (240.0, 0.003)] {
            let what = format!("{} at {hz} Hz", solver.name);
            let mut car = Drive::rolling(&solver, &model, v as f32, hz);
            let frames = car.run(5.0, |_| brake.clone());
            let stop = frames.iter().position(|f| f.vx_mps <= 0.0).expect("stops");
            let farthest = frames.iter().map(|f| f.x_m).fold(0.0, f64::max);
            close(
                &what,
                farthest,
                expected,
                tolerance,
                "asked 1.5 % and 1 %; Rapier's two substeps shorten it by v dt / 4",
            );
            let rollback = farthest - frames[frames.len() - 1].x_m;
            assert!(rollback < 0.010, "{what}: rolls back {:.1} mm", 1e3 * rollback);
            let rest = frames[stop].t_s + 0.3;
            // The contact patches stand; what is left is the body pitching on the held wheels: 7.3 mm/s in the limit of
            // fine steps, to which a step of 33 ms adds up to 6.
            let standing = if hz < 60.0 { 0.015 } else { 0.010 };
            let moving = frames.iter().filter(|f| f.t_s > rest).map(|f| f.vx_mps.abs()).fold(0.0, f64::max);
            assert!(moving < standing, "{what}: {:.1} mm/s at 0.3 s after the stop or later", 1e3 * moving);
            let sideways = frames.iter().map(|f| f.y_m.abs()).fold(0.0, f64::max);
            assert!(sideways < 1e-3, "{what}: drifts {sideways} m in a straight stop");
        }
    }
}
