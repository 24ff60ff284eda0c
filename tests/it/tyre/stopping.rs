//! Stops with all wheels at the limit of dry friction.

use skidpad::core::model::{BrakeDisc, Powertrain};
use skidpad::core::tyre::{CurveLaw, CurveTyre};
use skidpad::core::{Controls, ModelParts};

use crate::common::{Drive, GRAVITY, Simplify, c5, close, solvers};

/// Oracle 5.11 with drag: the stopping distance is (m / 2k) ln(1 + k v² / (μ m g)). Then the car does not roll back, and
/// rests.
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
            // The contact patches stand. The body still pitches on the held wheels: 7.3 mm/s in the limit of fine steps, to
            // which a step of 33 ms adds up to 6 mm/s.
            let standing = if hz < 60.0 { 0.015 } else { 0.010 };
            let moving = frames.iter().filter(|f| f.t_s > rest).map(|f| f.vx_mps.abs()).fold(0.0, f64::max);
            assert!(moving < standing, "{what}: {:.1} mm/s at 0.3 s after the stop or later", 1e3 * moving);
            let sideways = frames.iter().map(|f| f.y_m.abs()).fold(0.0, f64::max);
            assert!(sideways < 1e-3, "{what}: drifts {sideways} m in a straight stop");
        }
    }
}

/// Discs without cooling, whose brakes keep a third of their torque from 400 K above the air.
const DISC: BrakeDisc =
    BrakeDisc { heat_capacity: 4600.0, cooling: [0.0; 2], fade_range: [300.0, 400.0], min_torque_factor: 1.0 / 3.0 };

/// Returns a C5 with `disc` on every wheel, on tyres that do not creep. Its brakes take all of its energy.
fn with_discs(disc: BrakeDisc) -> ModelParts {
    let mut parts = c5().on_coulomb_tyres(1.0).without_air().without_rolling_resistance();
    parts.wheels.iter_mut().for_each(|wheel| wheel.disc = Some(disc));
    parts
}

/// Discs without cooling take up the energy of the car in a stop: `Σ C ΔT = (m + Σ I / R²) v² / 2`.
#[test]
fn discs_take_up_the_energy_of_a_stop() {
    let model = with_discs(DISC).model();
    for solver in solvers() {
        for hz in [30.0, 240.0] {
            let mut car = Drive::rolling(&solver, &model, 30.0, hz);
            let frames = car.run(12.0, |_| Controls { brake: 0.4, ..Controls::parked() });
            let last = &frames[frames.len() - 1];
            let heat: f64 = last.wheels.iter().map(|w| w.disc_k * f64::from(DISC.heat_capacity)).sum();
            let energy = 0.5 * f64::from(model.rolling_mass()) * 30.0 * 30.0;
            close(&format!("{} at {hz} Hz", solver.name), heat, energy, 0.01, "asked; the body pitches on its springs");
        }
    }
}

/// Hot brakes keep their least share, and half of the loss half-way between the two temperatures. Discs cool with `exp(−h t
/// / C)`.
#[test]
fn hot_brakes_fade_and_cool() {
    let model = with_discs(BrakeDisc { cooling: [46.0, 0.0], ..DISC }).model();
    for solver in solvers() {
        let slowed = |temperature: f32| {
            let mut car = Drive::rolling(&solver, &model, 30.0, 240.0);
            let mut state = car.world.state(0).clone();
            state.wheels.iter_mut().for_each(|wheel| wheel.disc = temperature);
            car.world.set_state(0, &state).expect("it fits");
            let frames = car.run(0.5, |_| Controls { brake: 0.3, ..Controls::parked() });
            frames[60].vx_mps - frames[120].vx_mps
        };
        let cold = slowed(0.0);
        // The discs warm by 5 K in the meantime, which costs 3 % of the torque half-way.
        for (temperature, share, tolerance) in
            [(200.0, 1.0, 0.002), (350.0, 2.0 / 3.0, 0.05), (500.0, 1.0 / 3.0, 0.002)]
        {
            close(
                &format!("{} at {temperature} K", solver.name),
                slowed(temperature) / cold,
                share,
                tolerance,
                "warms",
            );
        }
        let mut car = Drive::rolling(&solver, &model, 0.0, 60.0);
        let mut state = car.world.state(0).clone();
        state.wheels[0].disc = 300.0;
        car.world.set_state(0, &state).expect("it fits");
        let frames = car.run(50.0, |_| Controls { throttle: 0.0, brake: 0.5, gear: Some(0), ..Controls::default() });
        let left = frames[frames.len() - 1].wheels[0].disc_k;
        close(&format!("{} after 50 s", solver.name), left, 300.0 * (-0.5f64).exp(), 1e-3, "60 Hz of a time of 100 s");
    }
}

/// Returns a C5 in neutral without drag and rolling resistance, `scale` times as long. Density, slip and friction do not
/// change, so that speeds scale with the root of lengths (Froude's law), forces with their cube.
fn scaled(scale: f32) -> ModelParts {
    let mut parts = c5().without_air().without_rolling_resistance();
    let [weight, rate, torque, inertia] = [3, 2, 4, 5].map(|power| scale.powi(power));
    let damping = rate * scale.sqrt();
    parts.mass *= weight;
    parts.inertia *= inertia;
    parts.centre_height *= scale;
    parts.hull.centre *= scale;
    parts.hull.half_extents *= scale;
    parts.powertrain = Powertrain::Direct(vec![0.0; parts.wheels.len()].into());
    parts.axles.iter_mut().for_each(|axle| axle.turning_distance *= scale);
    parts.bars.iter_mut().for_each(|bar| bar.rate *= rate);
    for wheel in &mut parts.wheels {
        wheel.unsprung = None;
        wheel.contact *= scale;
        wheel.radius *= scale;
        wheel.spin_inertia *= inertia;
        wheel.brake_torque *= torque;
        wheel.handbrake_torque *= torque;
        let strut = &mut wheel.strut;
        for (of, by) in [
            (&mut strut.rate, rate),
            (&mut strut.stop_rate, rate),
            (&mut strut.progressive_rate, scale),
            (&mut strut.bump_damping, damping),
            (&mut strut.rebound_damping, damping),
            (&mut strut.bump_travel, scale),
            (&mut strut.droop_travel, scale),
            (&mut strut.stop_travel, scale),
        ] {
            *of *= by;
        }
    }
    parts.with_tyres(|tyre| CurveTyre {
        nominal_load: tyre.nominal_load * weight,
        relaxation: tyre.relaxation.map(|length| length * scale),
        ..*tyre
    })
}

/// Cars of 1:20, 1:5 and 1:1 stop from similar speeds in similar distances, at similar rates. A stop has no length or speed
/// of its own, except for the steps below 2 ms that Rapier's worlds do not split. A fixed walking pace of 0.5 to 1.5 m/s
/// would stop a car of 1:20 13 % short, one of 1:5 3 %.
#[test]
fn small_cars_stop_as_large_ones_do() {
    for solver in solvers() {
        let stop = |scale: f32| {
            let (model, root) = (scaled(scale).model(), scale.sqrt());
            let mut car = Drive::rolling(&solver, &model, 8.0 * root, 240.0 / root);
            let brake = Controls { brake: 1.0, gear: Some(0), ..Controls::default() };
            let frames = car.run(2.5 * f64::from(root), |_| brake.clone());
            frames[frames.len() - 1].x_m / f64::from(scale)
        };
        let full = stop(1.0);
        for scale in [0.2, 0.05] {
            let tolerance = if solver.name == "rapier" { 5e-3 } else { 5e-4 };
            close(
                &format!("{} at {scale}", solver.name),
                stop(scale),
                full,
                tolerance,
                "the shortest relaxation length, Rapier's substeps",
            );
        }
    }
}

/// Tyres of the shortest accepted lengths: states are finite, and a braked car comes to rest.
#[test]
fn the_shortest_lengths_of_tyres_are_taken_at_any_rate() {
    let laws = [
        CurveLaw::Coulomb { deflection: 1e-5 },
        CurveLaw::Linear { stiffness: [80_000.0; 2] },
        CurveLaw::SlipCurve { extremum_slip: [0.1; 2], asymptote_slip: [0.4; 2], asymptote: [0.8; 2] },
    ];
    for law in laws {
        let short = |tyre: &CurveTyre| CurveTyre { law, relaxation: [1e-5; 2], ..*tyre };
        let model = c5().without_air().with_tyres(short).model();
        for solver in solvers() {
            for hz in [20.0, 60.0, 240.0] {
                let mut car = Drive::rolling(&solver, &model, 10.0, hz);
                for _ in 0..(5.0 * hz) as usize {
                    let frame = car.step(&Controls { brake: 1.0, ..Controls::parked() });
                    let what = format!("{}, {law:?}, {hz} Hz: {} m/s", solver.name, frame.vx_mps);
                    assert!(car.world.state(0).is_finite() && frame.vx_mps.abs() < 10.1, "{what}");
                }
                let frame = car.world.frame(0);
                assert!(frame.vx_mps.abs() < 0.01, "{}, {law:?}, {hz} Hz: {} m/s", solver.name, frame.vx_mps);
            }
        }
    }
}
