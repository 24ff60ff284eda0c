//! Anti-lock brakes and stability control.

use skidpad::core::model::{AntiLock, Side, StabilityControl};
use skidpad::core::tyre::{CurveLaw, CurveTyre};
use skidpad::core::{
    Assist, Controls, DVec3, FixedBox, Frame, Model, ModelParts, Scene, SolverInfo, Vec3, state::Placement,
};

use super::added;
use super::fitted::ABS;
use crate::common::{Drive, GRAVITY, Simplify, c5, close, mean, solvers};

/// Returns the parts of a C5 with twice the brake torque, on tyres whose force peaks at a slip of 0.1 and falls by a
/// quarter beyond it.
fn strong(abs: Option<AntiLock>) -> ModelParts {
    let mut parts = c5().without_air().without_rolling_resistance().with_tyres(|tyre| CurveTyre {
        law: CurveLaw::SlipCurve { extremum_slip: [0.1; 2], asymptote_slip: [0.4; 2], asymptote: [0.75; 2] },
        friction: [1.0; 2],
        load_sensitivity: 0.0,
        ..*tyre
    });
    for wheel in &mut parts.wheels {
        wheel.brake_torque *= 2.0;
    }
    parts.assists.abs = abs;
    parts
}

fn braked() -> Controls {
    Controls { brake: 1.0, gear: Some(0), ..Controls::default() }
}

fn stop(solver: &SolverInfo, model: &std::sync::Arc<Model>, hz: f32) -> Vec<Frame> {
    let mut car = Drive::rolling(solver, model, 30.0, hz);
    let mut frames = car.run(6.0, |_| braked());
    let end = frames.iter().position(|f| f.vx_mps < 0.05).expect("it stops");
    frames.truncate(end + 1);
    frames
}

/// Stopping distance at the peak of the tyre force, `v² / 2 μ g`, within 3 % at any tick rate. Locked wheels need at
/// least a quarter more.
#[test]
fn abs_stops_at_the_peak_of_the_tyres() {
    let ideal = 30.0f64.powi(2) / (2.0 * GRAVITY);
    let distance = |frames: &[Frame]| frames[frames.len() - 1].x_m - frames[0].x_m;
    for solver in solvers() {
        for hz in [30.0, 60.0, 240.0, 1000.0] {
            let found = distance(&stop(&solver, &strong(Some(ABS)).model(), hz));
            close(&format!("{} {hz} Hz", solver.name), found, ideal, 0.03, "asked: between locked and ideal");
        }
        let locked = distance(&stop(&solver, &strong(None).model(), 240.0));
        assert!(locked > 1.25 * ideal, "{}: {locked} m locked", solver.name);
    }
}

/// Slip ratios stay within 0.03 of the target. The torque applied at the wheels is the pedal's torque less the torque
/// in the assist log, except for rounding.
#[test]
fn abs_holds_the_slip_and_tells_the_torque_it_takes() {
    let model = strong(Some(ABS)).model();
    for solver in solvers() {
        for hz in [30.0, 240.0, 1000.0] {
            let mut car = Drive::rolling(&solver, &model, 30.0, hz);
            let frames = car.run(2.0, |_| braked());
            let last = &frames[(frames.len() as f32 * 0.25) as usize..];
            for frame in last {
                for wheel in &frame.wheels {
                    assert!(
                        (wheel.slip_ratio + 0.1).abs() < 0.03,
                        "{} {hz} Hz: slip {}",
                        solver.name,
                        wheel.slip_ratio
                    );
                }
            }
            let pedal: f64 = model.wheels().iter().map(|w| f64::from(w.brake_torque)).sum();
            let applied: f64 = car.world.state(0).wheels.iter().map(|w| -f64::from(w.torque)).sum();
            let taken = -added(&last[last.len() - 1], Assist::AntiLock)[6];
            close(&format!("{} {hz} Hz", solver.name), applied, pedal - taken, 1e-4, "rounding");
        }
    }
}

/// At full braking, a car with anti-lock brakes can be steered. A car with locked wheels continues straight on.
#[test]
fn abs_keeps_the_steering() {
    for solver in solvers() {
        let aside = |abs: Option<AntiLock>| {
            let mut car = Drive::rolling(&solver, &strong(abs).model(), 25.0, 240.0);
            let frames = car.run(1.6, |_| Controls { steer: 0.06, ..braked() });
            frames[frames.len() - 1].y_m
        };
        let (free, locked) = (aside(Some(ABS)), aside(None));
        assert!(free > 3.0 && locked < 0.3, "{}: {free} m aside, {locked} m locked", solver.name);
    }
}

/// Braking with one side on ice: each side uses the peak of its own friction.
#[test]
fn abs_brakes_each_side_with_its_own_grip() {
    let ice =
        FixedBox { grip: 0.2, ..FixedBox::axis_aligned(DVec3::new(100.0, -5.0, -0.499), Vec3::new(400.0, 10.0, 1.0)) };
    let scene = Scene { boxes: vec![ice], ..Scene::flat() };
    let model = strong(Some(ABS)).model();
    for solver in solvers() {
        let placement = Placement { speed: 20.0, gear: Some(0), ..Placement::default() };
        let mut car = Drive::new(&solver, &model, &scene, placement, 240.0);
        let frames = car.run(0.5, |_| braked());
        let last = &frames[24..60];
        let force = |side: usize| {
            -mean(last, |f| {
                (f.wheels[side].fx_n + f.wheels[2 + side].fx_n) / (f.wheels[side].load_n + f.wheels[2 + side].load_n)
            })
        };
        close(&format!("{} dry side", solver.name), force(0), 1.0, 0.03, "the peak");
        close(&format!("{} icy side", solver.name), force(1), 0.2, 0.03, "the peak");
    }
}

/// Braking with one side on ice and select-low control of both axles: all wheels have the friction of the icy side, so that
/// the car does not yaw and needs three times the distance of control wheel by wheel. With select-low control of the rear
/// axle only, each front wheel uses its own friction.
#[test]
fn abs_selects_the_lower_pressure_of_an_axle() {
    let ice =
        FixedBox { grip: 0.2, ..FixedBox::axis_aligned(DVec3::new(100.0, -5.0, -0.499), Vec3::new(400.0, 10.0, 1.0)) };
    let scene = Scene { boxes: vec![ice], ..Scene::flat() };
    for solver in solvers() {
        for hz in [60.0, 240.0] {
            // Mean force over load of every wheel from 0.1 to 0.3 s, and the largest yaw rate until then.
            let brake = |select_low_axles: u32| {
                let model = strong(Some(AntiLock { select_low_axles, ..ABS })).model();
                let placement = Placement { speed: 20.0, gear: Some(0), ..Placement::default() };
                let mut car = Drive::new(&solver, &model, &scene, placement, hz);
                let frames = car.run(0.3, |_| braked());
                let last = &frames[frames.len() / 3..];
                let share = |i: usize| -mean(last, |f| f.wheels[i].fx_n) / mean(last, |f| f.wheels[i].load_n);
                ([0, 1, 2, 3].map(share), frames.iter().map(|f| f.yaw_rate_radps.abs()).fold(0.0, f64::max))
            };
            let ((by_wheel, by_wheel_yaw), (low, low_yaw), (rear_low, _)) = (brake(0), brake(0b11), brake(0b10));
            let what = format!("{} {hz} Hz", solver.name);
            for share in low {
                close(&what, share, 0.2, 0.06, "the icy peak; the icy wheels have 2 % less load");
            }
            // The rest arises in the first steps, in which the wheels approach the slip.
            assert!(low_yaw < 0.05 * by_wheel_yaw, "{what}: {low_yaw} rad/s, {by_wheel_yaw} rad/s wheel by wheel");
            close(&what, by_wheel[0], 1.0, 0.05, "the dry peak; its load changes in the yawing car");
            close(&what, rear_low[0], by_wheel[0], 0.03, "front wheels keep a pressure of their own");
            close(&what, rear_low[2], 0.2, 0.1, "the icy peak; the rear wheels have different loads in the yawing car");
        }
    }
}

/// Lanes refuse select-low control with its reason, and nothing else of the car.
#[cfg(feature = "simd_batch")]
#[test]
fn lanes_refuse_select_low_control() {
    use skidpad::core::block::{Requirement, unmet_requirements};
    let unmet = |select_low_axles: u32| unmet_requirements(&strong(Some(AntiLock { select_low_axles, ..ABS })).model());
    assert_eq!(unmet(0), []);
    assert_eq!(unmet(0b10), [Requirement::AbsOfEachWheel]);
}

/// The car comes to rest and does not creep.
#[test]
fn abs_lets_a_car_stand() {
    let model = strong(Some(ABS)).model();
    for solver in solvers() {
        for hz in [30.0, 1000.0] {
            let mut car = Drive::rolling(&solver, &model, 10.0, hz);
            let frames = car.run(5.0, |_| braked());
            let (before, after) = (&frames[frames.len() / 2], &frames[frames.len() - 1]);
            assert!(
                (after.x_m - before.x_m).abs() < 2e-3,
                "{} {hz} Hz: creeps {}",
                solver.name,
                after.x_m - before.x_m
            );
        }
    }
}

/// Returns the parts of a car with less grip at the rear tyres than at the front ones, so that it spins under
/// alternating steering.
fn tail_happy(stability: Option<StabilityControl>) -> ModelParts {
    let mut parts = c5().without_air().with_tyres(|tyre| CurveTyre {
        law: CurveLaw::SlipCurve { extremum_slip: [0.1, 0.12], asymptote_slip: [0.4, 0.5], asymptote: [0.75; 2] },
        load_sensitivity: 0.0,
        ..*tyre
    });
    let mut rear = parts.tyres[0].clone();
    if let skidpad::core::model::Tyre::Curve(curve) = &mut rear {
        curve.friction = [0.95; 2];
    }
    let new = parts.tyres.len();
    parts.tyres.push(rear);
    for wheel in parts.wheels.iter_mut().filter(|w| w.axle == 1) {
        wheel.tyre = new;
    }
    parts.assists.stability = stability;
    parts
}

/// Sine with dwell (0.7 Hz, dwell of 0.5 s): the car spins without stability control and follows the steering with
/// it.
#[test]
fn stability_control_ends_a_sine_with_dwell() {
    let steer = |t: f64| {
        let phase = |t: f64| (std::f64::consts::TAU * 0.7 * t).sin();
        let (dwell, from) = (0.5, 0.75 / 0.7);
        let wave = match t {
            t if t < from => phase(t),
            t if t < from + dwell => -1.0,
            t if t < 1.0 / 0.7 + dwell => phase(t - dwell),
            _ => 0.0,
        };
        0.08 * wave as f32
    };
    for solver in solvers() {
        let spins = |stability: Option<StabilityControl>, hz: f32| {
            let mut car = Drive::rolling(&solver, &tail_happy(stability).model(), 22.2, hz);
            let frames = car.run(5.0, |f| Controls { steer: steer(f.t_s), gear: Some(0), ..Controls::default() });
            let peak = frames.iter().map(|f| f.yaw_rate_radps.abs()).fold(0.0, f64::max);
            let slide = frames
                .iter()
                .filter(|f| f.vx_mps.hypot(f.vy_mps) > 3.0)
                .map(|f| f.vy_mps.atan2(f.vx_mps).abs())
                .fold(0.0, f64::max);
            let at = |t: f64| frames.iter().find(|f| f.t_s >= t).map_or(0.0, |f| f.yaw_rate_radps.abs());
            // Limits of FMVSS 126: 35 % of the peak yaw rate 1 s after the end of steering, 20 % after 1.75 s.
            let end = 1.0 / 0.7 + 0.5;
            (slide, at(end + 1.0) / peak, at(end + 1.75) / peak)
        };
        let without = spins(None, 240.0);
        assert!(without.0 > 1.0, "{}: without it slides by {} rad", solver.name, without.0);
        for hz in [30.0, 60.0, 240.0, 1000.0] {
            let (slide, first, second) = spins(Some(StabilityControl::default()), hz);
            assert!(
                slide < 0.25 && first < 0.35 && second < 0.2,
                "{} {hz} Hz: {slide} rad, {first}, {second}",
                solver.name
            );
        }
    }
}

/// Stability control does not act on a car that follows moderate steering: both drives are bit-identical.
#[test]
fn stability_control_leaves_a_calm_car_alone() {
    let mut parts = c5();
    parts.assists.stability = Some(StabilityControl::default());
    let (helped, plain) = (parts.model(), c5().model());
    for solver in solvers() {
        let drive = |model| {
            let mut car = Drive::rolling(&solver, model, 20.0, 240.0);
            car.run(3.0, |f| Controls {
                steer: 0.03 * (f.t_s as f32 / 2.0).min(1.0),
                gear: Some(0),
                ..Controls::default()
            })
        };
        let (helped, plain) = (drive(&helped), drive(&plain));
        for (a, b) in helped.iter().zip(&plain) {
            assert_eq!((a.x_m, a.y_m, a.yaw_rad), (b.x_m, b.y_m, b.yaw_rad), "{}", solver.name);
            assert_eq!(added(a, Assist::StabilityControl), [0.0; 10]);
        }
    }
}

/// A drive to the left and a drive to the right are bit-exact mirror images. The test leaves out `rapier`.
#[test]
fn assists_are_mirrored_bit_for_bit() {
    let models = [0, 0b10].map(|select_low_axles| {
        let mut parts = tail_happy(Some(StabilityControl::default()));
        parts.assists.abs = Some(AntiLock { select_low_axles, ..ABS });
        parts.assists.counter_steer = Some(super::fitted::COUNTER_STEER);
        parts.model()
    });
    assert!(models[0].wheels().iter().all(|w| w.side != Side::Centre));
    let solvers: Vec<SolverInfo> = solvers().into_iter().filter(|s| s.name != "rapier").collect();
    for (solver, model) in solvers.iter().flat_map(|solver| models.iter().map(move |model| (solver, model))) {
        let drive = |sign: f32| {
            let mut car = Drive::rolling(solver, model, 25.0, 120.0);
            car.run(3.0, |f| Controls {
                steer: sign * if f.t_s < 0.8 { 0.1 } else { -0.1 },
                brake: if f.t_s > 1.5 { 0.8 } else { 0.0 },
                gear: Some(0),
                ..Controls::default()
            })
        };
        for (left, right) in drive(1.0).iter().zip(&drive(-1.0)) {
            assert_eq!((left.x_m, left.y_m, left.yaw_rad), (right.x_m, -right.y_m, -right.yaw_rad), "{}", solver.name);
        }
    }
}
