//! Figures that `skidpad check` derives from a description, against the solvers.

use std::sync::Arc;

use skidpad::core::model::{
    AeroMaps, AeroSurface, AntiLock, BilinearTable, Curve, EngineDrive, HeaveSpring, Powertrain,
};
use skidpad::core::state::Placement;
use skidpad::core::tyre::{CurveLaw, CurveTyre};
use skidpad::core::{Controls, Frame, Model, ModelParts, Scene, SolverInfo, Vec3};
use skidpad::lab::closed_form::CruiseState;
use skidpad::lab::closed_form::cornering::extra_steer;
use skidpad::lab::closed_form::modes::{Mode, Modes};
use skidpad::lab::closed_form::steady_state::{rollover, solve_cornering};
use skidpad::lab::closed_form::straight::{Pedal, drive_force, stopping_distance};
use skidpad::lab::{Characteristics, closed_form};

use crate::common::{Drive, GRAVITY, Simplify, c5, close, hold_speed, mean, shipped, solvers};
use crate::suspension::steady_turn;

/// Returns `parts` with dampers that are equal in bump and rebound, `share` of the mean of both.
fn evenly_damped(mut parts: ModelParts, share: f32) -> ModelParts {
    for wheel in &mut parts.wheels {
        let damping = 0.5 * share * (wheel.strut.bump_damping + wheel.strut.rebound_damping);
        (wheel.strut.bump_damping, wheel.strut.rebound_damping) = (damping, damping);
    }
    parts
}

/// Returns undamped frequency (Hz) and damping ratio of a free oscillation in steps of `dt` s, from its first two turning
/// points.
fn measured(swing: &[f64], dt: f64) -> (f64, f64) {
    let turn = |(i, w): (usize, &[f64])| {
        let (rise, bend) = (w[2] - w[0], w[2] - 2.0 * w[1] + w[0]);
        ((w[1] - w[0]) * (w[2] - w[1]) < 0.0)
            .then(|| ((i as f64 + 1.0 - 0.5 * rise / bend) * dt, w[1] - rise * rise / (8.0 * bend)))
    };
    let turns: Vec<(f64, f64)> = swing.windows(3).enumerate().filter_map(turn).collect();
    let decrement = (turns[0].1 / turns[1].1).abs().ln();
    let ratio = decrement / (std::f64::consts::PI.powi(2) + decrement * decrement).sqrt();
    let damped = 0.5 / (turns[1].0 - turns[0].0);
    (damped / (1.0 - ratio * ratio).sqrt(), ratio)
}

/// Releases a car displaced along `mode`, and compares frequency and damping ratio with those of `mode`.
#[track_caller]
fn swings(solver: &SolverInfo, name: &str, model: &Arc<Model>, scene: &Scene, mode: &Mode, controls: Controls) {
    let mut drive = Drive::new(solver, model, scene, Placement { gear: Some(0), ..Placement::default() }, 240.0);
    let mut state = drive.world.state(0).clone();
    let [heave, roll, pitch] = mode.shape.map(|part| part * if mode.shape[0].abs() > 0.5 { 0.02 } else { 0.015 });
    state.position.z += heave;
    state.rotation = skidpad::core::Quat::from_scaled_axis(Vec3::new(roll as f32, pitch as f32, 0.0));
    drive.world.set_state(0, &state).expect("it fits");
    let frames = drive.run(3.0, |_| controls.clone());
    let largest = (0..3).max_by(|&a, &b| mode.shape[a].abs().total_cmp(&mode.shape[b].abs())).expect("three");
    let height = f64::from(model.parts().centre_height);
    let part = |f: &Frame| [f.z_m - height, f.roll_rad, f.pitch_rad][largest];
    let swing: Vec<f64> = frames.iter().map(part).collect();
    let (frequency, ratio) = measured(&swing, 1.0 / 240.0);
    let what = format!("{} {name}", solver.name);
    close(&format!("{what} frequency"), frequency, mode.frequency_hz, 0.01, "one swing at 240 Hz");
    close(&format!("{what} damping ratio"), ratio, mode.damping_ratio, 0.04, "modes coupled by damping");
}

/// Row E11: free oscillations have the derived frequency and damping ratio, for each of the vehicle's modes.
#[test]
fn e11_modes_swing_as_told() {
    for parts in [c5().without_rolling_resistance(), shipped("bmw_320i_commonroad")] {
        let model = evenly_damped(parts.clone(), 0.4).model();
        let modes = Modes::new(&model).expect("upright");
        // Tyres that hold the ground: patches far stiffer than the springs, and grip that no roll overcomes.
        let stiff = evenly_damped(parts, 0.4)
            .with_tyres(|tyre| CurveTyre { law: CurveLaw::Coulomb { deflection: 1e-4 }, ..*tyre });
        let stiff = stiff.model();
        let (ice, flat) = (Scene { grip: 0.0, ..Scene::flat() }, Scene::flat());
        for solver in solvers() {
            swings(&solver, "heave", &model, &flat, &modes.heave, Controls::coasting());
            swings(&solver, "pitch", &model, &flat, &modes.pitch, Controls::coasting());
            swings(&solver, "roll on ice", &model, &ice, &modes.roll, Controls::coasting());
            swings(&solver, "roll held", &stiff, &flat, &modes.roll_fixed_contacts, Controls::coasting());
        }
    }
}

/// Returns the damping ratio of a free oscillation sampled every step, from the recurrence `s₂ = t s₁ − d s₀` that fits it
/// best: `d` is the product and `t` the sum of the eigenvalues of a step.
fn ratio_of_steps(swing: &[f64]) -> f64 {
    let sum = |of: fn(&[f64]) -> f64| swing.windows(3).map(of).sum::<f64>();
    let [aa, ab, bb] = [sum(|w| w[1] * w[1]), sum(|w| w[0] * w[1]), sum(|w| w[0] * w[0])];
    let [ac, bc] = [sum(|w| w[1] * w[2]), sum(|w| w[0] * w[2])];
    let determinant = aa * bb - ab * ab;
    let (trace, product) = ((ac * bb - bc * ab) / determinant, (ac * ab - bc * aa) / determinant);
    let (decay, angle) = (-0.5 * product.ln(), (0.5 * trace / product.sqrt()).acos());
    decay / decay.hypot(angle)
}

/// A formula car's springs of 200 N/mm with bars of 100 N/mm keep the required damping ratio in heave, and the ratio of
/// `skidpad check` in roll. Dampers are raised by the damping error of their own springs, not by that of bars. A floor of `k
/// dt` under the damper would give heave 0.259 at 60 Hz and 0.436 at 30 Hz, with the bars 0.318.
#[test]
fn stiff_springs_keep_their_damping_ratio_as_told() {
    let asked = 0.20f32;
    let mut parts = c5().without_air().without_rolling_resistance();
    parts.inertia *= 720.0 / parts.mass;
    parts.mass = 720.0;
    let carried = parts.clone().model().carried_masses().to_vec();
    for (wheel, carried) in parts.wheels.iter_mut().zip(carried) {
        // In proportion to the carried mass, so that heave does not pitch the car.
        wheel.strut.rate = 800e3 * carried / 720.0;
        let damping = 2.0 * asked * (wheel.strut.rate * carried).sqrt();
        (wheel.strut.bump_damping, wheel.strut.rebound_damping) = (damping, damping);
    }
    parts.bars.iter_mut().for_each(|bar| bar.rate = 100e3);
    let model = parts.model();
    let ice = Scene { grip: 0.0, ..Scene::flat() };
    for hz in [30.0f32, 60.0, 240.0, 1000.0] {
        let told = Modes::damping_in_steps(&model, 1.0 / f64::from(hz)).expect("upright");
        for solver in solvers() {
            let swing = |heave: f64, roll: f32, of: fn(&Frame) -> f64| {
                let placement = Placement { height: heave, gear: Some(0), ..Placement::default() };
                let mut car = Drive::new(&solver, &model, &ice, placement, hz);
                let mut state = car.world.state(0).clone();
                state.rotation = skidpad::core::Quat::from_scaled_axis(Vec3::X * roll);
                car.world.set_state(0, &state).expect("it fits");
                let frames = car.run(0.4, |_| Controls::coasting());
                ratio_of_steps(&frames[1..].iter().map(of).collect::<Vec<_>>())
            };
            let [heave, roll] = [swing(3e-3, 0.0, |f| f.vz_mps), swing(0.0, 3e-3, |f| f.roll_rate_radps)];
            let what = format!("{} at {hz} Hz", solver.name);
            close(&format!("{what}: heave"), heave, asked.into(), 0.02, "third order in ω dt, which is 1.1 at 30 Hz");
            close(&format!("{what}: heave as told"), heave, told[0].expect("swings"), 0.005, "wheels lean in a swing");
            close(&format!("{what}: roll as told"), roll, told[2].expect("swings"), 0.01, "wheels lean in a swing");
        }
    }
    let [_, _, at_60, _] = Modes::damping_in_steps(&model, 1.0 / 60.0).expect("upright");
    let modes = Modes::new(&model).expect("upright");
    assert!(at_60.expect("swings") < 0.99 * modes.roll.damping_ratio, "a bar costs damping that is told");
}

/// Row A2: roll, loads and steering of a steady turn at half the grip are the derived ones.
#[test]
fn a2_steady_cornering_is_the_one_told() {
    // The longitudinal friction is so high that the drive force in a turn takes no lateral grip.
    let mut parts = c5()
        .without_air()
        .without_rolling_resistance()
        .with_tyres(|tyre| CurveTyre { friction: [20.0, tyre.friction[1]], ..*tyre });
    for wheel in &mut parts.wheels {
        wheel.toe = 0.0;
    }
    for axle in &mut parts.axles {
        axle.ackermann = 0.0;
    }
    let model = parts.model();
    let base = Characteristics::new(&model).wheelbase_m;
    for solver in solvers() {
        let (speed, steer) = (40.0, 0.0165f32);
        let mut car = Drive::rolling(&solver, &model, speed as f32, 240.0);
        let frames = car.run(10.0, |f| Controls {
            steer,
            gear: Some(0),
            wheels: hold_speed(f, &model, speed),
            ..Controls::default()
        });
        let steady = &frames[frames.len() - 240..];
        let curvature = mean(steady, |f| f.yaw_rate_radps / f.vx_mps.hypot(f.vy_mps));
        let lateral = mean(steady, |f| f.yaw_rate_radps * f.vx_mps.hypot(f.vy_mps));
        assert!((4.0..5.5).contains(&lateral), "{lateral} m/s²");
        let told = solve_cornering(&model, lateral).expect("stands");
        let what = |part: &str| format!("{} at {lateral:.2} m/s², {part}", solver.name);
        close(&what("roll"), mean(steady, |f| f.roll_rad), told.roll, 0.01, "small angles");
        for i in 0..4 {
            let load = mean(steady, |f| f.wheels[i].load_n);
            close(&what("load"), load, told.loads[i], 0.01, "sideslip and drive tilt the transfer a little");
        }
        let extra = f64::from(steer) - base * curvature;
        let expected = extra_steer(&model, lateral).expect("holds");
        // At a sideslip of 1.2° the centripetal acceleration has a longitudinal part of 2 %, which moves 27 N of load to the
        // rear.
        close(&what("steering beyond L/R"), extra, expected, 0.05, "those 27 N change either slip angle by 0.4 %");
    }
}

/// Moves the centre of mass `by` m to the left.
fn with_mass_left(mut parts: ModelParts, by: f32) -> ModelParts {
    parts.wheels.iter_mut().for_each(|wheel| wheel.contact.y -= by);
    parts.hull.centre.y -= by;
    parts
}

/// A centre of mass off the middle rises when the car rolls one way and sinks when it rolls the other. The mean of turns
/// both ways is the derived roll gradient.
#[test]
fn a_mass_off_the_middle_rolls_as_told() {
    let models = [0.2, -0.2].map(|by| with_mass_left(c5().without_air().without_rolling_resistance(), by).model());
    let told = Characteristics::new(&models[0]).roll_gradient.expect("upright");
    for solver in solvers() {
        let found = models.each_ref().map(|model| {
            let last = steady_turn(&solver, model);
            mean(&last, |f| f.roll_rad) / mean(&last, |f| f.ay_mps2)
        });
        close(solver.name, 0.5 * (found[0] + found[1]), told, 0.01, "wheels lean and jack, drive is beside the mass");
    }
}

/// Rollover threshold: a tilted plane with a gravity that keeps m g along the normal acts as a steady turn. A car stands
/// just below the threshold and falls just above it. A car with its mass off the middle falls to that side.
#[test]
fn rollover_threshold_on_its_springs() {
    for parts in [c5(), shipped("bmw_320i_commonroad"), with_mass_left(c5(), 0.2)] {
        // Strong dampers keep the car from overshooting its equilibrium.
        let model = evenly_damped(parts, 8.0).on_coulomb_tyres(5.0).model();
        let threshold = rollover(&model).expect("two tracks").lateral_acceleration.abs();
        assert!(threshold < 0.97 * GRAVITY * Characteristics::new(&model).rollover_g.expect("two tracks"));
        for solver in solvers() {
            let uphill = |share: f64| {
                let slope = (share * threshold / GRAVITY).atan();
                let gravity = (GRAVITY / slope.cos()) as f32;
                let scene = Scene { gravity, ..Scene::sloping(slope as f32) };
                let heading = std::f32::consts::FRAC_PI_2;
                let mut car = Drive::new(&solver, &model, &scene, Placement { heading, ..Placement::default() }, 120.0);
                let frames = car.run(12.0, |_| Controls::parked());
                let last = &frames[frames.len() - 1];
                [1, 3].iter().map(|&i: &usize| last.wheels[i].load_n).sum::<f64>()
            };
            let (below, above) = (uphill(0.97), uphill(1.03));
            let told = format!("{} carries {below} N uphill below and {above} N above {threshold} m/s²", solver.name);
            assert!(below > 1.0 && above == 0.0, "{told}");
        }
    }
}

/// Returns a C5 with its engine or gearbox changed by `change`.
fn with_engine(change: impl Fn(&mut EngineDrive)) -> ModelParts {
    let mut parts = c5();
    let Powertrain::Engine(drive) = &mut parts.powertrain else { unreachable!("a C5 has an engine") };
    change(drive);
    parts
}

/// At full throttle, a car 3 % below its derived top speed settles there: against the air, in the band of a limiter, and
/// with a pedal that opens the throttle by 0.6.
#[test]
fn top_speed_is_reached_and_not_passed() {
    let half_open = || Curve::new(vec![[0.0, 0.0], [1.0, 0.6]]).expect("rises");
    for parts in [
        c5(),
        with_engine(|drive| drive.gearbox.forward = drive.gearbox.forward[..3].into()),
        with_engine(|drive| drive.engine.throttle_map = Some(half_open())),
    ] {
        let model = parts.model();
        let told = Characteristics::new(&model).top_speed_mps.expect("drag");
        let gear = (1..=6).max_by(|&a, &b| drive_force(&model, told, a).total_cmp(&drive_force(&model, told, b)));
        let gear = gear.expect("six gears");
        for solver in solvers() {
            let placement = Placement { speed: 0.97 * told as f32, gear: Some(gear), ..Placement::default() };
            let mut car = Drive::new(&solver, &model, &Scene::flat(), placement, 60.0);
            let controls = Controls { throttle: 1.0, gear: Some(gear), ..Controls::default() };
            let frames = car.run(120.0, |_| controls.clone());
            let speed = mean(&frames[frames.len() - 60..], |f| f.vx_mps);
            close(solver.name, speed, told, 0.01, "the driven wheels slip, which the balance leaves out");
        }
    }
}

/// Stopping distances with a floored pedal are the derived ones: on the C5's slip curves, which fall to 0.8 of their peak
/// when locked, on its other tyres, on brakes too weak to lock, and with anti-lock brakes.
#[test]
fn stops_are_as_long_as_told() {
    let from = closed_form::lists::STOPPING_SPEED_MPS;
    let mut weak = c5();
    for wheel in &mut weak.wheels {
        wheel.brake_torque *= 0.35;
    }
    let mut dry = c5().on_coulomb_tyres(0.9);
    dry.assists.abs = Some(AntiLock { slip: 0.1, time_constant: 0.02, min_speed: 1.0, select_low_axles: 0 });
    for (name, model) in [
        ("floored", c5().model()),
        ("Magic Formula", shipped("corvette_c5_mf").model()),
        ("TMeasy", shipped("corvette_c5_tmeasy").model()),
        ("weak", weak.model()),
        ("anti-lock", shipped("tesla_model3_awd").model()),
        ("anti-lock on dry friction", dry.model()),
    ] {
        let (tolerance, why) = match model.parts().assists.abs {
            Some(_) => (0.025, "30 ms until slips and loads are there"),
            None => (0.01, "wheels pass the peak before they lock"),
        };
        let told = stopping_distance(&model, from, Pedal::FullPedal).expect("brakes");
        for solver in solvers() {
            let mut car = Drive::rolling(&solver, &model, from as f32, 240.0);
            let start = car.world.frame(0).x_m;
            let controls = Controls { brake: 1.0, gear: Some(0), ..Controls::default() };
            let frames = car.run(8.0, |_| controls.clone());
            let found = frames[frames.len() - 1].x_m - start;
            close(&format!("{} {name}", solver.name), found, told, tolerance, why);
        }
    }
}

/// Row D7: downforce compresses the springs by the derived travel.
#[test]
fn d6_d7_compression_at_speed() {
    pressed_as_told(c5());
}

/// Row D7 with progressive springs and a heave spring at the rear.
#[test]
fn progressive_and_heave_springs_are_pressed_as_told() {
    let mut parts = c5();
    parts.wheels.iter_mut().for_each(|wheel| wheel.strut.progressive_rate = 200e3);
    parts.heave_springs = vec![HeaveSpring { wheels: [2, 3], rate: 40e3, damping: 2e3 }];
    pressed_as_told(parts);
}

fn pressed_as_told(mut parts: ModelParts) {
    let surface = |x: f32| AeroSurface { coefficient: 0.9, point: Vec3::new(x, 0.0, 0.0) };
    parts.aero.downforce = [surface(1.3), surface(-1.6)];
    let model = parts.model();
    let speed = 60.0;
    for solver in solvers() {
        let mut car = Drive::rolling(&solver, &model, speed as f32, 120.0);
        let frames = car.run(10.0, |f| {
            let mut wheels = hold_speed(f, &model, speed);
            // The speed control is proportional, and its error is the drag. The drag is added to the torque.
            let drag = closed_form::resistance(&model, speed) as f32 * model.wheels()[0].radius / 4.0;
            wheels.iter_mut().for_each(|w| w.motor_torque += drag);
            Controls { gear: Some(0), wheels, ..Controls::default() }
        });
        stands_as_told(solver.name, &model, &frames[frames.len() - 120..]);
    }
}

#[track_caller]
fn stands_as_told(solver: &str, model: &Model, steady: &[Frame]) {
    let told = CruiseState::at_speed(model, mean(steady, |f| f.vx_mps)).expect("stands").steady;
    for i in 0..4 {
        let found = mean(steady, |f| f.wheels[i].compression_m);
        close(&format!("{solver} wheel {i}"), found, told.compressions[i], 0.01, "small angles of pitch");
    }
}

/// Row D7: with maps of drag and downforce over ride height, top speed and compressions are those at the height to which the
/// car sinks. At the lowest heights, drag is 1.5 times and downforce three times the value at rest.
#[test]
fn d7_top_speed_is_of_the_ride_height_at_top_speed() {
    let mut parts = c5();
    let surface = |x: f32| AeroSurface { coefficient: 0.4, point: Vec3::new(x, 0.0, 0.0) };
    parts.aero.downforce = [surface(1.3), surface(-1.3)];
    // Heights from 20 mm below to 20 mm above those at rest.
    let map =
        |low: f32, high: f32| BilinearTable::new([vec![0.10, 0.14], vec![0.10, 0.14]], vec![low, low, high, high]);
    let [drag, front] = [map(1.5, 0.5), map(3.0, 0.0)].map(|table| table.expect("sound"));
    let rear = BilinearTable::new([vec![0.10, 0.14], vec![0.10, 0.14]], vec![3.0, 0.0, 3.0, 0.0]).expect("sound");
    parts.aero.maps =
        Some(Box::new(AeroMaps { at_rest: [0.12; 2], heights: [drag, front, rear], yaw: Default::default() }));
    parts.powertrain = Powertrain::Direct([300.0; 4].into());
    let model = parts.model();
    let plain = {
        let mut parts = model.parts().clone();
        parts.aero.maps = None;
        Characteristics::new(&parts.model()).top_speed_mps.expect("driven")
    };
    let told = Characteristics::new(&model).top_speed_mps.expect("driven");
    assert!(told < 0.95 * plain, "the map matters: {told} and {plain} m/s");
    for solver in solvers() {
        let mut car = Drive::rolling(&solver, &model, told as f32 - 1.0, 120.0);
        let frames = car.run(150.0, |_| Controls { throttle: 1.0, ..Controls::default() });
        let steady = &frames[frames.len() - 120..];
        close(solver.name, mean(steady, |f| f.vx_mps), told, 2e-3, "0.01 m/s of the search; slip; asked 0.5 %");
        stands_as_told(solver.name, &model, steady);
    }
}

/// The derived step limit of explicit springs is the step at which Bullet's springs become unstable. There is no grip, since
/// tyres that hold the ground slow the roll and allow longer steps.
#[cfg(feature = "peers")]
#[test]
fn b19_explicit_springs_fail_beyond_the_step_told() {
    let model = evenly_damped(shipped("bullet_reference"), 0.5).on_coulomb_tyres(1e-6).model();
    let bound = Modes::new(&model).expect("upright").explicit_step_s;
    let bullet = skidpad::solvers().into_iter().find(|b| b.name == "bullet").expect("a peer");
    let moves = |share: f64| {
        let mut car = Drive::new(&bullet, &model, &Scene::flat(), Placement::default(), (1.0 / (share * bound)) as f32);
        let mut state = car.world.state(0).clone();
        state.rotation = skidpad::core::Quat::from_scaled_axis(Vec3::new(1e-3, 1e-3, 0.0));
        car.world.set_state(0, &state).expect("it fits");
        let frames = car.run(20.0, |_| Controls::coasting());
        frames[frames.len() - 20..].iter().map(|f| f.roll_rad.abs() + f.pitch_rad.abs()).fold(0.0, f64::max)
    };
    let (below, above) = (moves(0.93), moves(1.07));
    assert!(below < 1e-4 && above > 1e-3, "below {below} rad, above {above} rad of a bound of {bound} s");
}
