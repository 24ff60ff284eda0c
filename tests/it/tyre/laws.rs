//! Cars on every tyre law: the tyre forces of a driving car are those of the law.

use std::sync::Arc;

use skidpad::core::model::{Axle, Tyre};
use skidpad::core::tyre::{Brush, Conditions, MagicFormula, TMeasy};
use skidpad::core::{CarStart, Controls, Frame, Model, ModelParts, Scene, WheelControls, state::Placement};
use skidpad::lab::closed_form::cornering::extra_steer;

use crate::common::{Drive, Simplify, close, hold_speed, mean, on_rows, own_code, shipped, solvers};
use crate::step::fuzz::wild_controls;
use crate::step::random::Random;

const BRUSH: Brush = Brush {
    bristle_stiffness: [12e6, 10e6],
    half_length: 0.06,
    friction: [1.05, 0.97],
    load_sensitivity: 0.15,
    nominal_load: 3800.0,
};

/// Returns a C5 on each law besides the simple curves, with its name.
pub fn cars() -> [(&'static str, ModelParts); 3] {
    let mut brush = shipped("corvette_c5");
    let stiffer = Brush { bristle_stiffness: [12e6, 14e6], ..BRUSH };
    brush.tyres = vec![Tyre::Brush(BRUSH), Tyre::Brush(stiffer)];
    [("magic formula", shipped("corvette_c5_mf")), ("tmeasy", shipped("corvette_c5_tmeasy")), ("brush", brush)]
}

/// Returns force and moments (overturning, aligning) of the law for wheel `i`, at the slip, load and camber of its channels.
fn law(model: &Model, i: usize, frame: &Frame) -> ([f64; 2], [f64; 2]) {
    let now = &frame.wheels[i];
    let camber = now.camber_rad as f32;
    let at = Conditions { camber, ..Conditions::upright(now.load_n as f32, frame.vx_mps as f32) };
    let slip = [now.slip_ratio as f32, -now.slip_angle_rad.tan() as f32];
    let (force, moments) = (model.tyre_force(i, slip, &at).force, model.tyre_moments(i, slip, &at));
    (force.map(f64::from), [moments.overturning, moments.aligning].map(f64::from))
}

/// Steady cornering with drive, from gentle to near the limit: forces and moments of every wheel are those of the law.
#[test]
fn steady_forces_are_the_laws() {
    for (name, parts) in cars() {
        let model = parts.model();
        for solver in solvers() {
            for steer in [0.01f32, 0.035] {
                let mut car = Drive::rolling(&solver, &model, 25.0, 240.0);
                let frames = car.run(8.0, |f| Controls {
                    steer,
                    gear: Some(0),
                    wheels: hold_speed(f, &model, 25.0),
                    ..Controls::default()
                });
                let last = &frames[frames.len() - 1];
                for (i, now) in last.wheels.iter().enumerate() {
                    let (force, moments) = law(&model, i, last);
                    let what = format!("{name}, {}, wheel {i} at {steer} rad: {now:?}", solver.name);
                    for (found, law) in [(now.fx_n, force[0]), (now.fy_n, force[1])] {
                        // Tolerance: what is left of the approach to the steady state, and Rapier's f32 velocities.
                        assert!((found - law).abs() < 1e-3 * now.load_n, "{found} for {law} N; {what}");
                    }
                    for (found, law) in [(now.mx_nm, moments[0]), (now.mz_nm, moments[1])] {
                        assert!((found - law).abs() < 0.05 + 2e-3 * law.abs(), "{found} for {law} N m; {what}");
                    }
                }
                assert!(last.ay_mps2 > 1.0, "{name}: it turns");
            }
        }
    }
}

/// A locked front wheel slides with the force of the law at slip ratio −1.
#[test]
fn locked_wheels_slide_as_the_law_says() {
    for (name, parts) in cars() {
        let model = parts.model();
        for solver in solvers() {
            let mut car = Drive::rolling(&solver, &model, 30.0, 240.0);
            let mut frames = car.run(1.5, |_| Controls { brake: 1.0, gear: Some(0), ..Controls::default() });
            let last = frames.pop().expect("frames");
            for (i, now) in last.wheels.iter().enumerate().take(2) {
                assert!(now.slip_ratio < -0.99, "{name}, {}: {now:?}", solver.name);
                let (force, _) = law(&model, i, &last);
                close(
                    &format!("{name}, {}, wheel {i}", solver.name),
                    now.fx_n,
                    force[0],
                    2e-3,
                    "pitch still rocks the load",
                );
            }
        }
    }
}

/// Row E21: brakes that rise until every wheel is at its peak decelerate the car with the sum of the peaks of the law.
#[test]
fn e21_the_hardest_stop_is_at_the_peaks() {
    for (name, parts) in cars() {
        let model = parts.without_air().without_rolling_resistance().model();
        for solver in solvers() {
            let mut car = Drive::rolling(&solver, &model, 40.0, 240.0);
            let mut best = 0.0f64;
            car.run(2.5, |frame| {
                let peak = |i: usize| {
                    let load = frame.wheels[i].load_n as f32;
                    f64::from(model.tyre(i).friction_at(load)[0] * load)
                };
                let asked: f64 = frame.wheels.iter().map(|w| -w.fx_n).sum();
                let most: f64 = (0..4).map(peak).sum();
                best = best.max(asked / most);
                let rise = (frame.t_s / 2.0).min(1.05) as f32;
                let brake = |i: usize| {
                    let torque = peak(i) as f32 * model.wheels()[i].radius * rise;
                    WheelControls { brake_torque: torque, ..WheelControls::default() }
                };
                Controls { gear: Some(0), wheels: (0..4).map(brake).collect(), ..Controls::default() }
            });
            // The load for which each wheel is braked is a step old.
            assert!((0.985..1.005).contains(&best), "{name}, {}: {best} of the peaks", solver.name);
        }
    }
}

fn for_handling(mut parts: ModelParts) -> ModelParts {
    for axle in &mut parts.axles {
        *axle = Axle { ackermann: 0.0, ..*axle };
    }
    parts.without_air().without_rolling_resistance()
}

/// Returns the steering beyond the geometric angle (rad) and the lateral acceleration (m/s²), in steady cornering at 40 m/s.
fn corner(solver: &skidpad::core::SolverInfo, model: &Arc<Model>, steer: f64) -> [f64; 2] {
    const SPEED: f64 = 40.0;
    let mut car = Drive::rolling(solver, model, SPEED as f32, 240.0);
    let frames = car.run(8.0, |f| Controls {
        steer: steer as f32,
        gear: Some(0),
        wheels: hold_speed(f, model, SPEED),
        ..Controls::default()
    });
    let steady = &frames[frames.len() - 240..];
    let (yaw_rate, speed) = (mean(steady, |f| f.yaw_rate_radps), mean(steady, |f| f.vx_mps));
    let base = f64::from(model.wheels()[0].contact.x - model.wheels()[2].contact.x);
    [steer - base * yaw_rate / speed, speed * yaw_rate]
}

/// Understeer of a car on brush tyres with cornering stiffness `2 c a²` and a trail of a third of the half length: `K = m/L
/// ((b + t)/C_f − (a − t)/C_r)`.
#[test]
fn a_brush_car_understeers_by_its_stiffness_and_trail() {
    let mut parts = for_handling(shipped("corvette_c5"));
    let brush = |across: f32| {
        Tyre::Brush(Brush { bristle_stiffness: [12e6, across], friction: [20.0; 2], load_sensitivity: 0.0, ..BRUSH })
    };
    parts.tyres = vec![brush(9e6), brush(13e6)];
    for wheel in &mut parts.wheels {
        (wheel.tyre, wheel.toe) = (wheel.axle, 0.0);
    }
    let model = parts.model();
    let [front, rear] = [0, 2].map(|i| 2.0 * f64::from(model.tyre(i).stiffness_at(model.static_load(i))[1]));
    let trail = |i: usize| 0.06 / 3.0 * (f64::from(model.static_load(i)) / 3800.0).sqrt();
    let (a, b) = (f64::from(model.wheels()[0].contact.x), -f64::from(model.wheels()[2].contact.x));
    let mass = f64::from(model.mass());
    let (ahead, behind) = (a - trail(0), b + trail(2));
    let expected = mass / (ahead + behind) * (behind / front - ahead / rear);
    for solver in solvers() {
        let [extra, lateral] = corner(&solver, &model, 0.004);
        close(
            solver.name,
            extra / lateral,
            expected,
            0.01,
            "asked; forces are 0.5 % below their slope at 0.3 g of 20 g",
        );
    }
}

/// The steering that a car needs includes the camber, moments and load transfer of its tyres.
#[test]
fn steering_follows_from_loads_camber_and_moments() {
    for (name, parts) in cars() {
        let model = for_handling(parts).model();
        for solver in solvers() {
            for steer in [0.005, 0.01] {
                let [extra, lateral] = corner(&solver, &model, steer);
                let expected = extra_steer(&model, lateral).expect("the tyres hold it");
                let what = format!("{name}, {} at {lateral:.2} m/s²", solver.name);
                // Errors: 0.13 and 0.47 % with the Magic Formula, 0.35 and 1.47 % with TMeasy.
                close(&what, extra, expected, 0.02, "the drive that holds the speed is not in the closed form");
            }
        }
    }
}

/// Response to a step of steering: `α(t) = δ (1 − exp(−v t / σ))`, σ being that of the law at the wheel's load.
#[test]
fn forces_build_up_over_the_laws_relaxation_length() {
    const SPEED: f32 = 60.0;
    const ANGLE: f32 = 0.005;
    for (name, parts) in cars() {
        let model = parts.model();
        let length = f64::from(model.patch_lengths(0, &Conditions::upright(model.static_load(0), 0.0))[1]);
        let tau = length / f64::from(SPEED);
        for solver in solvers() {
            let mut car = Drive::rolling(&solver, &model, SPEED, 4000.0);
            let turned = WheelControls { steer: Some(ANGLE), ..WheelControls::default() };
            let straight = WheelControls { steer: Some(0.0), ..WheelControls::default() };
            let frames = car.run(2.0 * tau, |_| Controls {
                gear: Some(0),
                wheels: [turned, turned, straight, straight].into(),
                ..Controls::default()
            });
            for share in [0.5, 1.0, 1.5] {
                let at = frames.iter().find(|f| f.t_s >= share * tau - 1e-9).expect("driven that long");
                let found = -0.5 * (at.wheels[0].slip_angle_rad + at.wheels[1].slip_angle_rad);
                let expected = f64::from(ANGLE) * (1.0 - (-at.t_s / tau).exp());
                close(
                    &format!("{name}, {} at {share} τ", solver.name),
                    found,
                    expected,
                    0.025,
                    "the car begins to turn: 1.6 % at τ",
                );
            }
        }
    }
}

/// Row B17: a wheel in the air accelerates by `I ω' = T`.
#[test]
fn b17_a_wheel_in_the_air_gains_torque_over_inertia() {
    for (name, parts) in cars() {
        let model = parts.without_air().model();
        for solver in solvers() {
            let mut car = Drive::rolling(&solver, &model, 0.0, 240.0);
            let mut state = car.world.state(0).clone();
            state.position.z += 30.0;
            car.world.set_state(0, &state).expect("it fits");
            let push = WheelControls { motor_torque: 60.0, ..WheelControls::default() };
            let frames = car.run(0.5, |_| Controls { gear: Some(0), wheels: [push; 4].into(), ..Controls::default() });
            let last = &frames[frames.len() - 1];
            for (i, now) in last.wheels.iter().enumerate() {
                let expected = 60.0 * 0.5 / f64::from(model.wheels()[i].spin_inertia);
                close(
                    &format!("{name}, {}, wheel {i}", solver.name),
                    now.spin_radps,
                    expected,
                    1e-4,
                    "f32 over 120 steps",
                );
                assert_eq!((now.camber_rad, now.mx_nm, now.mz_nm), (0.0, 0.0, 0.0));
            }
        }
    }
}

/// The saved state is complete: a rewound car on every law repeats its bits.
#[test]
fn a_rewound_car_repeats_its_bits() {
    for (name, parts) in cars() {
        let model = parts.model();
        for solver in solvers() {
            let weave =
                |f: &Frame| Controls { steer: 0.05 * (3.0 * f.t_s).sin() as f32, brake: 0.1, ..Controls::default() };
            let mut car = Drive::rolling(&solver, &model, 25.0, 120.0);
            car.run(1.0, weave);
            let saved = car.world.save().expect("nothing touches");
            let first = car.run(1.0, weave).pop();
            let end = car.world.state(0).clone();
            car.world.load(&saved).expect("its own bytes");
            let again = car.run(1.0, weave).pop();
            assert_eq!((end, first), (car.world.state(0).clone(), again), "{name}, {}", solver.name);
        }
    }
}

/// Random tyres of every law stay finite under random inputs: in the air, on the roof, at full throttle and locked.
#[test]
fn random_tyres_stay_finite() {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    for round in 0..24 {
        let mut parts = cars()[round % 3].1.clone();
        for tyre in &mut parts.tyres {
            *tyre = shaken(tyre, &mut random);
        }
        for wheel in &mut parts.wheels {
            wheel.camber = random.between(-0.15, 0.15);
        }
        let model = parts.model();
        for solver in own_code() {
            let start = CarStart { model: model.clone(), placement: Placement { speed: 20.0, ..Placement::default() } };
            let mut world = (solver.build_world)(&Scene::sloping(0.1), &[start], 1.0 / random.between(25.0, 500.0));
            let mut controls = Controls::default();
            for step in 0..600 {
                if step % 7 == 0 {
                    controls = wild_controls(&mut random);
                }
                if step % 200 == 150 {
                    let mut state = world.state(0).clone();
                    state.position.z += f64::from(random.between(0.0, 3.0));
                    state.velocity.y += random.between(-20.0, 20.0);
                    state.angular_velocity.x += random.between(-4.0, 4.0);
                    world.set_state(0, &state).expect("it fits");
                }
                world.step(std::slice::from_ref(&controls));
                assert!(world.state(0).is_finite(), "{} step {step}: {:?}", solver.name, world.state(0));
            }
        }
    }
}

/// Returns the tyre with most of its numbers scaled at random by 0.67 to 1.5, within the limits of the law. Simple curves
/// are not changed.
fn shaken(tyre: &Tyre, random: &mut Random) -> Tyre {
    let mut shake = |value: f32| value * random.between(0.67, 1.5);
    let shaken = match tyre {
        Tyre::Curve(_) => tyre.clone(),
        Tyre::Brush(brush) => Tyre::Brush(Brush {
            bristle_stiffness: brush.bristle_stiffness.map(&mut shake),
            half_length: shake(brush.half_length),
            friction: brush.friction.map(&mut shake),
            load_sensitivity: shake(brush.load_sensitivity),
            nominal_load: shake(brush.nominal_load),
        }),
        Tyre::TMeasy(tmeasy) => {
            let mut direction = |mut points: skidpad::core::tyre::DirectionCurve| {
                points.largest = shake(points.largest);
                points.sliding = points.sliding.min(points.largest);
                points.slope = points.slope.max(2.1 * points.largest / points.largest_slip);
                points
            };
            Tyre::TMeasy(TMeasy {
                nominal: tmeasy.nominal.map(&mut direction),
                double: tmeasy.double.map(&mut direction),
                ..*tmeasy
            })
        }
        Tyre::MagicFormula { formula, pressure } => {
            let mut c = formula.coefficients().clone();
            for entry in skidpad::core::tyre::magic_formula::ENTRIES {
                let value = c.get_mut(entry.name).expect("its own name");
                *value =
                    if entry.name.ends_with("MIN") || entry.name.ends_with("MAX") { *value } else { shake(*value) };
            }
            let formula = MagicFormula::new(c, formula.version(), formula.use_mode()).expect("sound within a third");
            Tyre::MagicFormula { formula: Box::new(formula), pressure: *pressure }
        }
    };
    assert!(shaken.faults().is_empty(), "{shaken:?}: {:?}", shaken.faults());
    shaken
}

/// Cornering at the limit, where a Magic Formula tyre slides and one of its rows has no response: every step is finite.
#[test]
fn cornering_at_the_limit_stays_finite() {
    for name in ["bmw_320i_mf", "corvette_c5_mf"] {
        let model = shipped(name).model();
        for solver in on_rows() {
            for steer in [0.05, 0.1, 0.2, 0.3, 0.45] {
                let mut car = Drive::rolling(&solver, &model, 30.0, 60.0);
                let controls = Controls { steer, gear: Some(0), ..Controls::default() };
                for step in 0..900 {
                    let report = car.world.step(std::slice::from_ref(&controls));
                    assert!(!report.not_finite, "{name} {} steer {steer} step {step}", solver.name);
                }
            }
        }
    }
}
