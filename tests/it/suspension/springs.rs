//! Progressive springs, heave springs, wheel guidance and forces above the ground.

use std::f64::consts::TAU;
use std::sync::Arc;

use skidpad::core::model::{HeaveSpring, ToeCamberCurves};
use skidpad::core::state::Placement;
use skidpad::core::{Controls, Frame, Model, ModelParts, Scene, SolverInfo};

use crate::common::{Drive, GRAVITY, Simplify, c5, close, hold_speed, mean, parked_on_a_block, solvers};

/// Ride frequency at rest of cars of [`even`], Hz.
const RIDE: f64 = 1.4;

/// Returns the solvers, and the mode with unsprung masses.
fn all() -> Vec<SolverInfo> {
    let own = skidpad::solver_variants().into_iter().filter(|mode| mode.name == "constraint-unsprung");
    solvers().into_iter().chain(own).collect()
}

/// Returns a C5 without bars and dampers. Its spring rates are in proportion to the carried masses, so that it heaves
/// without pitching. `progressive_rate` is the rise of the squared angular frequency with compression, 1/(m s²).
fn even(progressive_rate: f64) -> ModelParts {
    let mut parts = c5().without_air();
    parts.bars.clear();
    let (a, b) = (parts.wheels[0].contact.x, -parts.wheels[2].contact.x);
    for wheel in &mut parts.wheels {
        let share = parts.mass * if wheel.axle == 0 { b } else { a } / (a + b) / 2.0;
        wheel.strut.rate = share * ((TAU * RIDE).powi(2)) as f32;
        wheel.strut.progressive_rate = share * progressive_rate as f32;
        (wheel.strut.bump_damping, wheel.strut.rebound_damping) = (0.0, 0.0);
    }
    parts
}

/// Returns a C5 whose spring rates rise by `progressive_rate` N/m².
fn progressive(progressive_rate: f32) -> ModelParts {
    let mut parts = c5().without_air();
    parts.wheels.iter_mut().for_each(|wheel| wheel.strut.progressive_rate = progressive_rate);
    parts
}

/// Adds a heave spring of `rate` N/m and `damping` N·s/m to each axle, both per kilogram that the axle carries.
fn with_heave_springs(mut parts: ModelParts, rate: f32, damping: f32) -> ModelParts {
    let (a, b) = (parts.wheels[0].contact.x, -parts.wheels[2].contact.x);
    let spring = |first: usize, share: f32| {
        let mass = parts.mass * share / (a + b);
        HeaveSpring { wheels: [first, first + 1], rate: rate * mass, damping: damping * mass }
    };
    parts.heave_springs = vec![spring(0, b), spring(2, a)];
    parts
}

/// Parks a car for 4 s at `times` the standard gravity. Returns all frames.
fn settled(solver: &SolverInfo, model: &Arc<Model>, times: f64) -> Vec<Frame> {
    let scene = Scene { gravity: (GRAVITY * times) as f32, ..Scene::flat() };
    let mut car = Drive::new(solver, model, &scene, Placement::default(), 240.0);
    car.run(4.0, |_| Controls::parked())
}

/// The load of a progressive spring is `W + k z + r z² / 2` at every compression, and a car stands in this equilibrium from
/// the first step.
#[test]
fn progressive_springs_push_as_their_law_says() {
    let model = progressive(250e3).model();
    for solver in all() {
        for times in [0.8, 1.0, 1.3, 1.5] {
            let frames = settled(&solver, &model, times);
            let (first, last) = (&frames[0], &frames[frames.len() - 1]);
            let sum: f64 = last.wheels.iter().map(|w| w.load_n).sum();
            let what = format!("{} at {times} g", solver.name);
            close(&what, sum, f64::from(model.mass()) * GRAVITY * times, 1e-4, "nothing else carries");
            for (i, (wheel, now)) in model.wheels().iter().zip(&last.wheels).enumerate() {
                // The strut of an unsprung mass carries the load less the weight of this mass.
                let own = wheel.unsprung.filter(|_| solver.name == "constraint-unsprung").map_or(0.0, |own| own.mass);
                let lighter = f64::from(own) * GRAVITY * (times - 1.0);
                let (k, r, z) = (f64::from(wheel.strut.rate), 250e3, now.compression_m);
                let expected = f64::from(model.static_load(i)) + k * z + 0.5 * r * z * z + lighter;
                close(&what, now.load_n, expected, 1e-3, "asked");
                let settles = (first.wheels[i].compression_m - z).abs();
                assert!(own > 0.0 || settles < 2e-5, "{what}: wheel {i} settles {settles} m");
            }
        }
    }
}

/// Progressive springs and heave springs are in equilibrium on a slope from the first step.
#[test]
fn progressive_springs_start_in_equilibrium_on_a_slope() {
    let model = with_heave_springs(progressive(250e3), 20.0, 0.0).model();
    for solver in solvers() {
        for heading in [0.0, 0.8, 2.5] {
            let placement = Placement { heading, gear: Some(0), ..Placement::default() };
            let mut car = Drive::new(&solver, &model, &Scene::sloping(15f32.to_radians()), placement, 240.0);
            let frames = car.run(3.0, |_| Controls::parked());
            let (first, last) = (&frames[0], &frames[frames.len() - 1]);
            for (first, last) in first.wheels.iter().zip(&last.wheels) {
                let what = format!("{} heading {heading}", solver.name);
                close(&what, first.load_n, last.load_n, 0.01, "small angles; patches strained 2 mm");
                let travel = first.compression_m - last.compression_m;
                assert!(travel.abs() < 1e-3, "{what}: settles {travel} m");
            }
        }
    }
}

/// Releases a car `by` m above rest, at `times` the standard gravity. Returns its height above rest in steps of `hz` over 3
/// s, m.
fn heave(solver: &SolverInfo, model: &Arc<Model>, times: f64, by: f64, hz: f32) -> Vec<f64> {
    let scene = Scene { gravity: (GRAVITY * times) as f32, ..Scene::flat() };
    let mut car = Drive::new(solver, model, &scene, Placement { gear: Some(0), ..Placement::default() }, hz);
    let mut state = car.world.state(0).clone();
    let stands = state.position.z;
    state.position.z += by;
    car.world.set_state(0, &state).expect("it fits");
    car.run(3.0, |_| Controls::coasting()).iter().map(|f| f.z_m - stands).collect()
}

/// Returns times (in steps) and heights of the turning points.
fn turns(swing: &[f64]) -> Vec<(f64, f64)> {
    let turn = |(i, w): (usize, &[f64])| {
        // Stirling's quartic through five samples, with t in steps from the middle one. A half swing at 30 Hz has ten
        // samples.
        let (slope, bend) = ((w[3] - w[1]) / 2.0, w[3] - 2.0 * w[2] + w[1]);
        let third = (w[4] - 2.0 * w[3] + 2.0 * w[1] - w[0]) / 2.0;
        let fourth = w[4] - 4.0 * w[3] + 6.0 * w[2] - 4.0 * w[1] + w[0];
        let [a, b, c, d] = [slope - third / 6.0, bend / 2.0 - fourth / 24.0, third / 6.0, fourth / 24.0];
        let newton = |t: f64, _| {
            t - (a + t * (2.0 * b + t * (3.0 * c + t * 4.0 * d))) / (2.0 * b + t * (6.0 * c + t * 12.0 * d))
        };
        let t = (0..5).fold(-a / (2.0 * b), newton);
        ((w[2] - w[1]) * (w[3] - w[2]) < 0.0).then(|| (i as f64 + 2.0 + t, w[2] + t * (a + t * (b + t * (c + t * d)))))
    };
    swing.windows(5).enumerate().filter_map(turn).collect()
}

/// Returns the frequency between the first and the fifth turning point, Hz.
fn frequency(swing: &[f64], hz: f32) -> f64 {
    let turns = turns(swing);
    2.0 * f64::from(hz) / (turns[4].0 - turns[0].0)
}

/// Small oscillations at two loads have the frequency of the local spring rate.
#[test]
fn progressive_springs_swing_faster_under_load() {
    let rise = 600.0;
    let model = even(rise).model();
    for solver in solvers() {
        for times in [0.8, 1.4] {
            // Equilibrium: ω₀² z + r z² / 2 = Δg.
            let (square, more) = ((TAU * RIDE).powi(2), GRAVITY * (times - 1.0));
            let z = 2.0 * more / (square + (square * square + 2.0 * rise * more).sqrt());
            let expected = (square + rise * z).sqrt() / TAU;
            let found = frequency(&heave(&solver, &model, times, 2e-3, 960.0), 960.0);
            close(&format!("{} at {times} g", solver.name), found, expected, 2e-3, "numerical damping 0.5 % at 960 Hz");
        }
    }
}

/// A free undamped oscillation of 40 mm never gains energy, from 30 Hz to 240 Hz.
#[test]
fn progressive_springs_give_back_no_more_than_they_took() {
    let rise = 600.0;
    let model = even(rise).model();
    for solver in solvers() {
        for hz in [30.0, 60.0, 240.0] {
            // Potential energy per mass at the turning points, compression z = −heave.
            let stored = |heave: f64| 0.5 * (TAU * RIDE * heave).powi(2) - rise * heave.powi(3) / 6.0;
            let swing = heave(&solver, &model, 1.0, 0.04, hz);
            let energies: Vec<f64> = turns(&swing).iter().map(|turn| stored(turn.1)).collect();
            // Rapier moves poses by the mean of four velocities: they are dt / 8 ahead of the oscillation.
            let ahead = (TAU * RIDE / f64::from(hz) / 8.0).powi(2);
            let most = stored(0.04) * (1.0 + ahead + 1e-3);
            assert!(energies.len() > 5 && energies[0] < most, "{} at {hz} Hz: {energies:?}", solver.name);
            let lost = energies.windows(2).all(|pair| pair[1] <= pair[0] * (1.0 + 1e-3) + 1e-7);
            assert!(lost, "{} at {hz} Hz: {energies:?}", solver.name);
        }
    }
}

/// The rate of a heave spring adds exactly to that of the springs in heave.
#[test]
fn heave_springs_add_in_heave() {
    let added = 80.0;
    let model = with_heave_springs(even(0.0), added as f32, 0.0).model();
    let rate = (TAU * RIDE).powi(2) + added;
    for solver in solvers() {
        for times in [0.7, 1.4] {
            let frames = settled(&solver, &model, times);
            for frame in [&frames[0], &frames[frames.len() - 1]] {
                for wheel in &frame.wheels {
                    let expected = GRAVITY * (times - 1.0) / rate;
                    close(&format!("{} at {times} g", solver.name), wheel.compression_m, expected, 1e-3, "asked");
                }
            }
        }
        let found = frequency(&heave(&solver, &model, 1.0, 0.01, 960.0), 960.0);
        close(solver.name, found, rate.sqrt() / TAU, 3e-3, "numerical damping at 960 Hz");
    }
}

/// The damper of a heave spring damps heave with the ratio `c / (2 √(k m))`.
#[test]
fn heave_springs_damp_heave() {
    let ratio = 0.2;
    let model = with_heave_springs(even(0.0), 0.0, (2.0 * ratio * TAU * RIDE) as f32).model();
    for solver in solvers() {
        for hz in [60.0, 240.0] {
            let turns = turns(&heave(&solver, &model, 1.0, 0.02, hz));
            let decrement = (turns[0].1 / turns[1].1).abs().ln();
            let found = decrement / (std::f64::consts::PI.powi(2) + decrement * decrement).sqrt();
            let slack = if hz < 100.0 { 0.05 } else { 0.02 };
            close(&format!("{} at {hz} Hz", solver.name), found, ratio, slack, "half of it known a step late");
        }
    }
}

/// Returns the frames in the last second of a steady left turn at 20 m/s.
fn turn(solver: &SolverInfo, model: &Arc<Model>) -> Vec<Frame> {
    let mut car = Drive::rolling(solver, model, 20.0, 240.0);
    let frames = car.run(5.0, |f| Controls {
        steer: 0.04,
        gear: Some(0),
        wheels: hold_speed(f, model, 20.0),
        ..Controls::default()
    });
    frames[frames.len() - 240..].to_vec()
}

/// A heave spring as stiff as both springs of its axle does not change roll.
#[test]
fn heave_springs_do_not_resist_roll() {
    let parts = || c5().without_air().without_rolling_resistance();
    let (without, with) = (parts().model(), with_heave_springs(parts(), 80.0, 0.0).model());
    for solver in solvers() {
        let [without, with] = [&without, &with].map(|model| {
            let frames = turn(&solver, model);
            mean(&frames, |f| f.roll_rad) / mean(&frames, |f| f.ay_mps2)
        });
        close(&format!("{}: roll per acceleration", solver.name), with, without, 1e-3, "asked");
    }
}

/// Bars and heave springs are internal forces of the car, also with a wheel in the air, so that the loads sum to the weight.
#[test]
fn a_lifted_wheel_hangs_between_bar_and_heave_spring() {
    let mut parts = with_heave_springs(progressive(150e3), 40.0, 0.5);
    parts.bars.iter_mut().for_each(|bar| bar.rate = 200e3);
    let model = parts.model();
    for solver in solvers() {
        let last = &parked_on_a_block(&solver, &model);
        let sum = mean(last, |f| f.wheels.iter().map(|w| w.load_n).sum());
        close(solver.name, sum, f64::from(model.mass()) * GRAVITY, 2e-3, "at rest, leaning by 4°");
    }
}

/// Returns a C5 with parallel steering and with axles that guide toe and camber of their wheels over the travel.
pub fn guided() -> ModelParts {
    let links = |sign: f32| ToeCamberCurves { toe: [0.15 * sign, 1.5], camber: [-0.5, -2.0 * sign] };
    let mut parts = c5().without_air().without_rolling_resistance();
    for (axle, sign) in parts.axles.iter_mut().zip([1.0, -1.0]) {
        (axle.ackermann, axle.toe_camber) = (0.0, Some(links(sign)));
    }
    for wheel in &mut parts.wheels {
        (wheel.toe, wheel.camber) = (0.004, -0.01);
    }
    parts
}

/// Evaluates a static value with linear and quadratic gain at a compression of `z` m.
fn polynomial(fixed: f32, [linear, quadratic]: [f32; 2], z: f64) -> f64 {
    f64::from(fixed) + f64::from(linear) * z + f64::from(quadratic) * z * z
}

/// Toe and camber follow the guidance at the compression of each wheel, mirrored left and right, in heave and while leaning
/// in a turn.
#[test]
fn links_turn_the_wheels_with_their_travel() {
    let model = guided().model();
    for solver in all() {
        for (gravity, speed, steer) in [(1.3, 0.0f32, 0.0f32), (1.0, 20.0, 0.04)] {
            let scene = Scene { gravity: (GRAVITY * gravity) as f32, ..Scene::flat() };
            let placement = Placement { speed, gear: Some(0), ..Placement::default() };
            let mut car = Drive::new(&solver, &model, &scene, placement, 240.0);
            car.run(5.0, |f| {
                let wheels = hold_speed(f, &model, speed.into());
                Controls { steer, gear: Some(0), wheels, ..Controls::default() }
            });
            let state = car.world.state(0);
            for (i, (wheel, now)) in model.wheels().iter().zip(&state.wheels).enumerate() {
                let links = model.parts().axles[wheel.axle].toe_camber.expect("has links");
                let (z, outwards) = (f64::from(now.compression), if i % 2 == 0 { -1.0 } else { 1.0 });
                let steered =
                    outwards * polynomial(wheel.toe, links.toe, z) + if i < 2 { f64::from(steer) } else { 0.0 };
                let what = format!("{} wheel {i} at {z} m", solver.name);
                // A wheel is steered by the travel of the last step.
                assert!((f64::from(now.steer) - steered).abs() < 2e-5, "{what}: {}, not {steered} rad", now.steer);
                if steer == 0.0 {
                    let camber = outwards * polynomial(wheel.camber, links.camber, z);
                    assert!(
                        (f64::from(now.lean) - camber).abs() < 1e-4,
                        "{what}: leans {}, not {camber} rad",
                        now.lean
                    );
                }
            }
        }
    }
}

/// Row C9: tyre forces that act d above the ground roll the car by (h − d) / h of its roll otherwise, and not at all at the
/// height of its centre of mass. The assist log reports the moment.
#[test]
fn c9_forces_above_the_ground_roll_less() {
    let height = c5().centre_height;
    for solver in all() {
        let roll = |point: f32| {
            let mut parts = c5().without_air().without_rolling_resistance();
            parts.axles.iter_mut().for_each(|axle| axle.force_point_height = point);
            let model = parts.model();
            let frames = turn(&solver, &model);
            let lateral = mean(&frames, |f| f.ay_mps2);
            if point > 0.0 {
                let told = mean(&frames, |f| f.assist_log[0].1.moment.x.into());
                let expected = -f64::from(model.mass() * point) * lateral;
                close(&format!("{}: moment told", solver.name), told, expected, 0.02, "forces turn with the wheels");
            }
            mean(&frames, |f| f.roll_rad) / lateral
        };
        let whole = roll(0.0);
        for share in [0.75, 0.5, 0.25] {
            let found = roll((1.0 - share as f32) * height) / whole;
            close(&format!("{} with {share} of the height", solver.name), found, share, 0.02, "asked");
        }
        let none = roll(height) / whole;
        assert!(none.abs() < 0.02, "{}: {none} of the roll", solver.name);
    }
}
/// Loads change smoothly during a step of steering in which each damper reverses: their second difference from step to step
/// falls with the square of the step, as for any smooth curve.
#[test]
fn loads_run_smoothly_where_dampers_turn_round() {
    let model = c5().model();
    for solver in all() {
        let bend = |hz: f32| {
            let mut car = Drive::rolling(&solver, &model, 27.0, hz);
            let frames = car.run(3.0, |f| {
                let steer = if f.t_s < 0.5 { 0.0 } else { 0.05 };
                Controls { steer, gear: Some(0), wheels: hold_speed(f, &model, 27.0), ..Controls::default() }
            });
            let load = |k: usize, i: usize| frames[k].wheels[i].load_n;
            let bends = (2..frames.len() - 1)
                .flat_map(|k| [0, 1, 2, 3].map(|i| (load(k + 1, i) - 2.0 * load(k, i) + load(k - 1, i)).abs()));
            bends.fold(0.0, f64::max)
        };
        let (coarse, fine) = (bend(240.0), bend(960.0));
        assert!(coarse < 8.0 && fine < 1.5, "{}: {coarse} N at 240 Hz, {fine} N at 960 Hz", solver.name);
    }
}
