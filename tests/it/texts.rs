//! Rows of the classic texts that no other test covers, each with its known answer. `docs/models.md` lists all rows.

use skidpad::core::model::{DamperKnee, RollingCoefficients};
use skidpad::core::state::Placement;
use skidpad::core::{Controls, Frame, Scene};

use skidpad::lab::closed_form::straight::peak_power;

use crate::common::{Drive, GRAVITY, Simplify, c5, close, hold_speed, mean, solvers};

/// Row B3: under drag alone, 1/v grows by C / m per second.
#[test]
fn b3_drag_is_a_straight_line_of_one_over_speed() {
    let model = c5().without_rolling_resistance().model();
    let slope = f64::from(model.parts().aero.drag) / f64::from(model.rolling_mass());
    for solver in solvers() {
        let frames = Drive::rolling(&solver, &model, 60.0, 60.0).run(20.0, |_| Controls::coasting());
        let inverse = |i: usize| 1.0 / frames[i].vx_mps;
        for seconds in [5, 10, 20] {
            let found = (inverse(60 * seconds) - inverse(0)) / seconds as f64;
            close(&format!("{} after {seconds} s", solver.name), found, slope, 5e-3, "asked");
        }
    }
}

/// Row B4: with C_drag 0.4257 and C_rr 12.8, drag and linear rolling resistance are equal at 30.07 m/s. Either alone
/// decelerates a coasting car equally at that speed.
#[test]
fn b4_drag_and_rolling_resistance_cross() {
    let (drag, rolling) = (0.4257f32, 12.8f32);
    close("the crossover", f64::from(rolling / drag), 30.07, 1e-3, "digits stated");
    let slowed_by = |drag: f32, rolling: f32, solver: &_| {
        let mut parts = c5();
        parts.aero = skidpad::core::model::Aero { drag, ..Default::default() };
        let linear = rolling / (parts.mass * GRAVITY as f32);
        parts
            .wheels
            .iter_mut()
            .for_each(|w| w.rolling = RollingCoefficients { linear, ..RollingCoefficients::default() });
        let frames = Drive::rolling(solver, &parts.model(), 30.57, 60.0).run(4.0, |_| Controls::coasting());
        let crossed = frames.iter().position(|f| f.vx_mps < 30.07).expect("slows down");
        let width = crossed.min(30);
        assert!(width > 10, "{width}");
        (frames[crossed - width].vx_mps - frames[crossed + width].vx_mps) * 30.0 / width as f64
    };
    for solver in solvers() {
        let [air, wheels] = [slowed_by(drag, 0.0, &solver), slowed_by(0.0, rolling, &solver)];
        close(solver.name, air, wheels, 5e-3, "of row B3; the mean is over 0.2 m/s");
    }
}

/// Rows B10, B11: `hp = lb·ft · rpm / 5252` equals `T ω`. The maximum power of the C5's curve is 345 hp near
/// 5600 rev/min.
#[test]
fn b10_b11_power_is_torque_times_speed() {
    const POUND_FOOT_NM: f64 = 0.3048 * 0.453_592_37 * 9.806_65;
    const HORSEPOWER_W: f64 = 550.0 * POUND_FOOT_NM;
    let rpm = std::f64::consts::TAU / 60.0;
    for (pound_feet, speed) in [(350.0, 4400.0), (300.0, 5252.0), (100.0, 1000.0)] {
        let horsepower = pound_feet * POUND_FOOT_NM * speed * rpm / HORSEPOWER_W;
        close("horsepower", horsepower, pound_feet * speed / 5252.0, 3e-5, "5252 is 5252.113 rounded");
    }
    let [power, speed] = peak_power(&c5().model()).expect("an engine");
    close("most power", power / HORSEPOWER_W, 345.0, 0.02, "rated; the curve is read from a chart, its top 254 kW");
    close("where", speed / rpm, 5600.0, 0.03, "rated; the chart has a point at 5500");
}

/// Row B15: at walking pace, the middle of the rear axle runs on a circle of radius L / tan δ and the front axle on
/// L / sin δ.
#[test]
fn b15_crawl_circle() {
    let model = c5().without_air().without_rolling_resistance().model();
    let base = f64::from(model.wheels()[0].contact.x - model.wheels()[2].contact.x);
    let behind = -f64::from(model.wheels()[2].contact.x);
    let steer = 0.3f32;
    let expected = base / f64::from(steer).tan();
    for solver in solvers() {
        let mut car = Drive::rolling(&solver, &model, 1.0, 120.0);
        let frames = car.run(12.0, |f| Controls {
            steer,
            gear: Some(0),
            wheels: hold_speed(f, &model, 1.0),
            ..Controls::default()
        });
        let steady = &frames[frames.len() - 240..];
        let rear = mean(steady, |f| f.vx_mps / f.yaw_rate_radps);
        close(&format!("{} rear circle", solver.name), rear, expected, 0.01, "asked");
        let sideways = mean(steady, |f| (f.vy_mps - behind * f.yaw_rate_radps) / f.vx_mps);
        assert!(sideways.abs() < 0.01, "{}: the rear axle slips by {sideways}", solver.name);
        close(&format!("{} front circle", solver.name), rear.hypot(base), base / f64::from(steer).sin(), 0.01, "asked");
    }
}

/// Row D2: deceleration of each model of rolling resistance at speed, and the coefficient of the pressure model at
/// 2.2 bar and 100 km/h.
#[test]
fn d2_rolling_models_brake_as_they_say() {
    let pressure = RollingCoefficients::from_pressure(2.2);
    close("2.2 bar, 100 km/h", f64::from(pressure.coefficient(100.0 / 3.6)), 0.005 + 0.0195 / 2.2, 1e-6, "f32");
    let constant = RollingCoefficients { constant: 0.015, ..RollingCoefficients::default() };
    let linear = RollingCoefficients { constant: 0.01, linear: 4e-4, ..RollingCoefficients::default() };
    for (name, rolling) in [("constant", constant), ("linear", linear), ("pressure", pressure)] {
        let mut parts = c5().without_air();
        for wheel in &mut parts.wheels {
            wheel.rolling = rolling;
        }
        let model = parts.model();
        let share = f64::from(model.mass() / model.rolling_mass());
        for solver in solvers() {
            let frames = Drive::rolling(&solver, &model, 40.0, 120.0).run(8.0, |_| Controls::coasting());
            let lost = frames[120].vx_mps - frames[frames.len() - 1].vx_mps;
            let mean_of = |f: &Frame| f64::from(rolling.coefficient(f.vx_mps as f32)) * GRAVITY * share;
            let expected = mean(&frames[120..], mean_of) * (frames.len() - 121) as f64 / 120.0;
            close(&format!("{} {name}", solver.name), lost, expected, 5e-3, "asked");
        }
    }
}

/// Row D3: a car at rest on a slope starts to roll if and only if `tan θ` exceeds the rolling resistance coefficient
/// at rest. On the level a rolling car stops and does not creep.
#[test]
fn d3_standing_wheels_resist_more() {
    let mut parts = c5().without_air();
    for wheel in &mut parts.wheels {
        wheel.rolling = RollingCoefficients {
            constant: 0.01,
            static_coefficient: 0.08,
            static_fade_speed: 0.5,
            ..RollingCoefficients::default()
        };
    }
    let model = parts.model();
    for solver in solvers() {
        for (factor, stands) in [(0.97f32, true), (1.03, false)] {
            let scene = Scene::sloping((0.08 * factor).atan());
            let mut car =
                Drive::new(&solver, &model, &scene, Placement { gear: Some(0), ..Placement::default() }, 120.0);
            let start = car.world.state(0).position;
            car.run(20.0, |_| Controls::coasting());
            let way = (car.world.state(0).position - start).length();
            // Contact patches deflect by 1 to 2 mm. An excess of 3 % of the force moves the car by 50 m.
            assert_eq!(way < 5e-3, stands, "{} at {factor} of the angle: {way} m in 20 s", solver.name);
        }
        let mut car = Drive::rolling(&solver, &model, 1.0, 120.0);
        car.run(15.0, |_| Controls::coasting());
        let stopped = car.world.state(0).position;
        car.run(10.0, |_| Controls::coasting());
        let crept = (car.world.state(0).position - stopped).length();
        assert!(crept < 1e-4, "{}: {crept} m in 10 s", solver.name);
    }
}

/// Row D4: rolling resistance coefficients of the axles, weighted by axle load.
#[test]
fn d4_rolling_resistance_by_axle() {
    let mut parts = c5().without_air();
    for wheel in &mut parts.wheels {
        wheel.rolling = RollingCoefficients {
            constant: if wheel.axle == 0 { 0.01 } else { 0.03 },
            ..RollingCoefficients::default()
        };
    }
    let model = parts.model();
    let force: f64 =
        (0..4).map(|i| f64::from(model.wheels()[i].rolling.constant) * f64::from(model.static_load(i))).sum();
    for solver in solvers() {
        let frames = Drive::rolling(&solver, &model, 20.0, 120.0).run(5.0, |_| Controls::coasting());
        let found = (frames[120].vx_mps - frames[600].vx_mps) / 4.0;
        let expected = force / f64::from(model.rolling_mass());
        close(solver.name, found, expected, 5e-3, "load moves to the front by 0.2 % of the weight");
    }
}

/// Row A1: a car without roll on its springs slides sideways with both inner wheels loaded if its friction
/// coefficient is below t / 2h. Above, the inner wheels lift.
#[test]
fn a1_a_rigid_car_rolls_if_and_only_if_it_grips_more_than_its_threshold() {
    let mut rigid = c5().without_air();
    for wheel in &mut rigid.wheels {
        let strut = &mut wheel.strut;
        // Springs of 50 times the rate and strong damping make roll follow the force without overshoot.
        (strut.rate, strut.bump_damping, strut.rebound_damping) = (50.0 * strut.rate, 5e4, 5e4);
    }
    let threshold = rigid.wheels[0].contact.y / rigid.centre_height;
    for share in [0.9f32, 1.1] {
        let model = rigid.clone().on_coulomb_tyres(share * threshold).model();
        for solver in solvers() {
            let mut car = Drive::rolling(&solver, &model, 0.0, 240.0);
            let mut state = car.world.state(0).clone();
            state.velocity.y = 20.0;
            state.previous_velocity = state.velocity;
            car.world.set_state(0, &state).expect("it fits");
            let frames = car.run(0.6, |_| Controls::coasting());
            // The car slides to the left, so the right wheels are the inner ones.
            let inner = |f: &Frame| f.wheels[1].load_n + f.wheels[3].load_n;
            let least = frames[24..].iter().map(inner).fold(f64::INFINITY, f64::min);
            let what = format!("{} at {share} of t / 2h: {least} N on the inner wheels", solver.name);
            assert_eq!(least > 0.0, share < 1.0, "{what}");
            if share < 1.0 {
                // Statics leave W / 2 (1 - share) on the inner wheels. The limit allows for the remaining roll on the
                // springs.
                assert!(least < 0.5 * f64::from(model.mass()) * GRAVITY * 0.12, "{what}");
            }
        }
    }
}

/// Row E5: on a slope of angle θ, the wheel loads sum up to m g cos θ.
#[test]
fn e5_loads_on_a_slope_are_of_its_normal() {
    let model = c5().model();
    for solver in solvers() {
        for degrees in [10.0f64, 20.0] {
            let scene = Scene::sloping(degrees.to_radians() as f32);
            let mut car =
                Drive::new(&solver, &model, &scene, Placement { gear: Some(0), ..Placement::default() }, 120.0);
            let frames = car.run(4.0, |_| Controls::parked());
            let sum = mean(&frames[frames.len() - 60..], |f| f.wheels.iter().map(|w| w.load_n).sum());
            let expected = f64::from(model.mass()) * GRAVITY * degrees.to_radians().cos();
            close(&format!("{} at {degrees} degrees", solver.name), sum, expected, 1e-3, "at rest but for the patches");
        }
    }
}

/// Row E24: in a bend, the handbrake locks only the rear wheels, and the sideslip angle grows. After its release the
/// rear wheels roll again.
#[test]
fn e24_a_handbrake_locks_the_rear_and_lets_it_go() {
    let model = c5().model();
    for solver in solvers() {
        let mut car = Drive::rolling(&solver, &model, 20.0, 240.0);
        let turn = |handbrake: f32| Controls { steer: 0.05, handbrake, gear: Some(0), ..Controls::default() };
        let before = car.run(1.5, |_| turn(0.0));
        let pulled = car.run(0.4, |_| turn(1.0));
        let released = car.run(0.3, |_| turn(0.0));
        let last = &pulled[pulled.len() - 1];
        let spins = last.wheels.iter().map(|w| w.spin_radps).collect::<Vec<_>>();
        assert!(last.wheels[2].slip_ratio < -0.95, "{:?}", last.wheels[2]);
        assert!(spins[2].abs() < 0.5 && spins[3].abs() < 0.5 && spins[0] > 20.0 && spins[1] > 20.0, "{spins:?}");
        let slip = |f: &Frame| (f.vy_mps / f.vx_mps).abs();
        let (start, end) = (slip(&before[before.len() - 1]), slip(last));
        assert!(end > start + 0.1, "{}: sideslip {start} before, {end} pulled", solver.name);
        let slips = [2, 3].map(|i: usize| released[released.len() - 1].wheels[i].slip_ratio);
        assert!(slips.iter().all(|s| s.abs() < 0.1), "{}: rear wheels slip by {slips:?} after letting go", solver.name);
    }
}

/// Rows B13, B16: engine speed is wheel speed times the gear ratios. A wheel speed of 17 rad/s in first gear is
/// 1476.8 rev/min; 4400 rev/min is 17.2 m/s with a radius of 0.34 m.
#[test]
fn b13_b16_engine_speed_follows_the_wheels() {
    let rpm = |wheel: f64, ratio: f64| wheel * ratio * 60.0 / std::f64::consts::TAU;
    close("first gear", rpm(17.0, 2.66 * 3.42), 1476.8, 1e-4, "digits stated");
    close("4400 rev/min", 4400.0 / rpm(1.0 / 0.34, 2.66 * 3.42), 17.22, 1e-3, "digits stated");
    let model = c5().model();
    for solver in solvers() {
        for (gear, ratio) in [(1, 2.66), (2, 1.78), (3, 1.30)] {
            let placement = Placement { speed: 15.0, gear: Some(gear), ..Placement::default() };
            let mut car = Drive::new(&solver, &model, &Scene::flat(), placement, 120.0);
            let frames = car.run(1.5, |_| Controls { throttle: 0.3, gear: Some(gear), ..Controls::default() });
            let last = &frames[frames.len() - 30..];
            let wheels = mean(last, |f| 0.5 * (f.wheels[2].spin_radps + f.wheels[3].spin_radps));
            let engine = mean(last, |f| f.engine_radps);
            close(&format!("{} in gear {gear}", solver.name), engine, wheels * ratio * 3.42, 1e-3, "the clutch holds");
        }
    }
}

/// Row E11: a damper with a knee at speed k has the force `c v` below it and `c k + s c (v − k)` beyond, in
/// compression and in extension.
#[test]
fn e11_dampers_open_at_their_knees() {
    let knees = [DamperKnee { speed: 0.1, fast_ratio: 0.4 }, DamperKnee { speed: 0.15, fast_ratio: 0.5 }];
    let mut parts = c5().without_air();
    parts.bars.clear();
    for wheel in &mut parts.wheels {
        wheel.strut.knees = knees;
    }
    let model = parts.model();
    let strut = &model.wheels()[0].strut;
    for solver in solvers() {
        for speed in [-0.4f32, -0.1, 0.05, 0.3] {
            let mut car = Drive::rolling(&solver, &model, 0.0, 4000.0);
            let mut state = car.world.state(0).clone();
            state.velocity.z = -speed;
            state.previous_velocity = state.velocity;
            car.world.set_state(0, &state).expect("it fits");
            let frame = car.step(&Controls::parked());
            let way = usize::from(speed < 0.0);
            let (slow, knee) = ([strut.bump_damping, strut.rebound_damping][way], knees[way]);
            let size = speed.abs();
            let force = slow * size.min(knee.speed) + slow * knee.fast_ratio * (size - knee.speed).max(0.0);
            let found = frame.wheels[0].load_n - f64::from(model.static_load(0));
            // A step of 0.25 ms moves the strut by 0.1 mm, which is 3 N, and slows the body by up to 0.5 %.
            let error = (found - f64::from(force.copysign(speed))).abs();
            assert!(error < 4.0 + 0.01 * f64::from(force), "{} at {speed} m/s: {found} N for {force}", solver.name);
        }
    }
}
