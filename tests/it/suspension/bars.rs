//! Anti-roll bars, rows A2 to A12, A18 and D1: in the load path and external, by speed and by control.

use skidpad::core::model::{AntiRollBar, BarForcePath, Unsprung};
use skidpad::core::{Controls, DVec3, FixedBox, Frame, Model, ModelParts, Scene, SolverInfo, Vec3, state::Placement};
use skidpad::lab::closed_form::UnsprungCharacteristics;

use crate::common::{Drive, GRAVITY, Simplify, c5, close, hold_speed, mean, own_code, parked_on_a_block, solvers};

const RATE: f32 = 240.0;

/// Returns a C5 whose bars are each as stiff as the springs of the axle (k_bar = k: K_s = k t²/2, K_a = k t²). `change`
/// modifies each bar.
fn with_bars(change: impl Fn(&mut AntiRollBar)) -> ModelParts {
    let mut parts = c5().without_air().without_rolling_resistance();
    for (bar, wheel) in parts.bars.iter_mut().zip([0, 2]) {
        bar.rate = parts.wheels[wheel].strut.rate;
        change(bar);
    }
    parts
}

/// Returns the frames in the last second of a steady left turn at 20 m/s. `bars` is the control of the bars.
fn turn(solver: &SolverInfo, model: &std::sync::Arc<Model>, bars: Option<f32>) -> Vec<Frame> {
    let mut car = Drive::rolling(solver, model, 20.0, RATE);
    let frames = car.run(5.0, |f| Controls {
        steer: 0.04,
        gear: Some(0),
        bars,
        wheels: hold_speed(f, model, 20.0),
        ..Controls::default()
    });
    frames[frames.len() - 240..].to_vec()
}

/// Returns the moment of the load transfer, Σ ΔN t over both axles, N·m.
fn transfer(frames: &[Frame], model: &Model) -> f64 {
    let axle = |f: &Frame, i: usize| {
        let track = f64::from(model.wheels()[i].contact.y - model.wheels()[i + 1].contact.y);
        (f.wheels[i + 1].load_n - f.wheels[i].load_n) / 2.0 * track
    };
    mean(frames, |f| axle(f, 0) + axle(f, 2))
}

/// Rows A2, A8 and A10: with bars as stiff as the springs the car rolls by `φ = m a_y h / (K_s + K_a − m g h)`, for both
/// couplings. The tyres carry the whole load transfer with bars in the load path, and a third of it with external bars.
#[test]
fn a2_a8_tyres_feel_a_bar_in_the_load_path_and_a_third_of_the_transfer_beside_it() {
    for (coupling, share) in [(BarForcePath::InLoadPath, 1.0), (BarForcePath::External, 1.0 / 3.0)] {
        let model = with_bars(|bar| bar.force_path = coupling).model();
        let (mass, height) = (f64::from(model.mass()), f64::from(model.parts().centre_height));
        let springs: f64 =
            model.wheels().iter().map(|w| f64::from(w.strut.rate) * f64::from(w.contact.y).powi(2)).sum();
        for solver in solvers() {
            let frames = turn(&solver, &model, None);
            let (ay, roll) = (mean(&frames, |f| f.ay_mps2), mean(&frames, |f| f.roll_rad));
            let what = format!("{} {coupling:?}", solver.name);
            let expected = mass * ay * height / (3.0 * springs - mass * GRAVITY * height);
            close(&format!("{what}: roll"), roll, expected, 0.03, "the form leaves out wheels that lean and jack");
            let whole = mass * ay * height + mass * GRAVITY * height * roll;
            close(&format!("{what}: transfer"), transfer(&frames, &model), share * whole, 0.01, "asked");
        }
    }
}

/// An external bar acts on the roll of the body, not on the travel of struts. Unsprung masses have the predicted roll
/// gradient.
#[test]
fn bars_hold_wheels_on_their_own_as_told() {
    let solver = own_code().into_iter().find(|solver| solver.name == "constraint-unsprung").expect("a mode");
    for coupling in [BarForcePath::InLoadPath, BarForcePath::External] {
        let mut parts = with_bars(|bar| bar.force_path = coupling);
        let own = Unsprung { mass: 40.0, tyre_rate: 200e3, tyre_damping: 0.0 };
        parts.wheels.iter_mut().for_each(|wheel| wheel.unsprung = Some(own));
        let model = parts.model();
        let told = UnsprungCharacteristics::of(&model).and_then(|own| own.roll_gradient).expect("stands");
        let last = super::steady_turn(&solver, &model);
        let found = mean(&last, |f| f.roll_rad) / mean(&last, |f| f.ay_mps2);
        close(&format!("{coupling:?}: roll"), found, told, 0.02, "struts are pressed apart by side forces");
    }
}

/// Row A3: a block 30 mm high under a wheel changes the load difference of its axle, more with a stiffer bar. With blocks
/// under both wheels, the bar changes no load.
#[test]
fn a3_a_bar_ties_the_wheels_of_one_axle() {
    for solver in solvers() {
        let loads = |scale: f32, blocks: &[usize]| -> Vec<f64> {
            let model = with_bars(|bar| bar.rate *= scale).model();
            let mut scene = Scene::flat();
            for &i in blocks {
                let at = model.wheels()[i].contact;
                let centre = DVec3::new(f64::from(at.x), f64::from(at.y), 0.015);
                scene.boxes.push(FixedBox::axis_aligned(centre, Vec3::new(0.3, 0.3, 0.03)));
            }
            let mut car = Drive::new(&solver, &model, &scene, Placement::default(), RATE);
            let frames = car.run(6.0, |_| Controls::parked());
            frames[frames.len() - 1].wheels.iter().map(|w| w.load_n).collect()
        };
        // Load difference of the front axle with a block under its left wheel.
        let difference = |scale: f32| {
            let loads = loads(scale, &[0]);
            loads[0] - loads[1]
        };
        let one_sided = [0.0, 0.5, 1.0].map(difference);
        assert!(one_sided[0] < one_sided[1] && one_sided[1] < one_sided[2], "{}: {one_sided:?}", solver.name);
        let [none, stiff] = [0.0, 1.0].map(|scale| loads(scale, &[0, 1]));
        for (none, stiff) in none.iter().zip(&stiff) {
            assert!((none - stiff).abs() < 0.5, "{}: {none} N without, {stiff} N with bars", solver.name);
        }
    }
}

/// Row A9: with a wheel in the air a bar in the load path is still an internal couple, so that the loads sum to the weight.
/// An external bar lifts the car at its grounded end alone, and this force is missing in the loads.
#[test]
fn a9_a_bar_is_an_internal_couple_with_a_wheel_in_the_air() {
    for (coupling, balanced) in [(BarForcePath::InLoadPath, true), (BarForcePath::External, false)] {
        let model = with_bars(|bar| (bar.rate, bar.force_path) = (10.0 * bar.rate, coupling)).model();
        for solver in solvers() {
            let last = &parked_on_a_block(&solver, &model);
            let sum = mean(last, |f| f.wheels.iter().map(|w| w.load_n).sum());
            let off = sum / (f64::from(model.mass()) * GRAVITY) - 1.0;
            let what = format!("{} {coupling:?}: loads are {:+.2} % off the weight", solver.name, 100.0 * off);
            // The car is at rest, leaning by 4°.
            assert!(if balanced { off.abs() < 2e-3 } else { off.abs() > 0.02 }, "{what}");
        }
    }
}

/// Row A12: a bar that fades in with speed has no stiffness at rest, its full stiffness above the range, and a smooth
/// transition.
#[test]
fn a12_a_bar_fades_in_with_speed() {
    let bar = AntiRollBar { wheels: [0, 1], rate: 100.0, speed_range: [5.0, 15.0], ..AntiRollBar::default() };
    let steps: Vec<f32> = (0..=200).map(|i| bar.rate_at(0.1 * i as f32)).collect();
    assert_eq!((steps[0], steps[50], steps[100], steps[150], steps[200]), (0.0, 0.0, 50.0, 100.0, 100.0));
    // The steepest slope of the cubic is 1.5 over its range. The slope changes by at most 6 / 10² per 0.1 m/s.
    let slopes: Vec<f32> = steps.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(slopes.iter().all(|slope| (0.0..1.51).contains(slope)));
    assert!(slopes.windows(2).all(|pair| (pair[1] - pair[0]).abs() < 0.065));
    for solver in solvers() {
        let roll = |fades_in: [f32; 2]| {
            let model = with_bars(|bar| bar.speed_range = fades_in).model();
            mean(&turn(&solver, &model, None), |f| f.roll_rad)
        };
        let (steel, above, below) = (roll([0.0; 2]), roll([5.0, 15.0]), roll([30.0, 40.0]));
        assert_eq!(steel, above, "{}", solver.name);
        close(solver.name, below / steel, 3.3, 0.1, "a third of the stiffness is left, less what topples");
    }
}

/// Row A18: the bars of an active car are a control. Half of the rate by control equals a bar of half the rate.
#[test]
fn a18_bars_are_a_control() {
    for solver in solvers() {
        let whole = with_bars(|_| ()).model();
        let half = with_bars(|bar| bar.rate *= 0.5).model();
        let by_hand = mean(&turn(&solver, &whole, Some(0.5)), |f| f.roll_rad);
        let built = mean(&turn(&solver, &half, None), |f| f.roll_rad);
        assert_eq!(by_hand, built, "{}", solver.name);
    }
}

/// Row D1: a bar with the share 0.995 of the stiffness makes the travels of both wheels equal. A share of 1 would be rigid.
#[test]
fn d1_a_rigid_bar_makes_both_travels_equal() {
    let share = 0.995f32;
    for solver in solvers() {
        let model = with_bars(|bar| bar.rate *= 0.5 * share / (1.0 - share)).model();
        let free = with_bars(|bar| bar.rate = 0.0).model();
        let apart = |model| {
            let frames = turn(&solver, model, None);
            mean(&frames, |f| (f.wheels[0].compression_m - f.wheels[1].compression_m).abs())
        };
        let (rigid, free) = (apart(&model), apart(&free));
        assert!(rigid < 0.01 * free, "{}: {rigid} m apart, {free} m without", solver.name);
    }
}

/// Row A7: a front axle with a larger share of the roll stiffness makes a car understeer, on tyres whose friction falls with
/// load.
#[test]
fn a7_the_stiffer_axle_slides_first() {
    for solver in solvers() {
        let path = |front: f32, rear: f32| {
            let mut parts = with_bars(|_| ());
            (parts.bars[0].rate, parts.bars[1].rate) = (front, rear);
            let model = parts.model();
            mean(&turn(&solver, &model, None), |f| f.yaw_rate_radps)
        };
        let (front, rear) = (path(60e3, 0.0), path(0.0, 60e3));
        assert!(front < 0.99 * rear, "{}: {front} rad/s with a front bar, {rear} with a rear one", solver.name);
    }
}
