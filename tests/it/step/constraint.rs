//! The converged solver: shapes of the friction limit, many wheels on one chassis, solid stops, parking for an hour.

use skidpad::core::model::{Axle, Hull, Powertrain, Side, Strut, Tyre, Unsprung, Wheel};
use skidpad::core::tyre::{CurveLaw, CurveTyre};
use skidpad::core::{
    Controls, DVec3, FixedBox, ModelParts, Quat, Scene, SolverInfo, SurfaceTexture, Vec3, state::Placement,
};

use crate::common::{Drive, GRAVITY, Simplify, c5, close, curve, mean, solvers};

fn solver(name: &str) -> SolverInfo {
    name.parse::<skidpad::Solver>().expect("listed").info()
}

/// Returns the mean deceleration over μ N / m of a car that slides on locked wheels, `degrees` off its heading. μ is 1, N
/// the mean sum of the wheel loads.
fn locked_slide(solver: &SolverInfo, degrees: f32) -> f64 {
    let model = c5().on_coulomb_tyres(1.0).without_air().without_rolling_resistance().model();
    let mut car = Drive::rolling(solver, &model, 0.0, 240.0);
    let mut state = car.world.state(0).clone();
    let speed = 15.0;
    state.velocity = Quat::from_rotation_z(degrees.to_radians()) * Vec3::X * speed;
    state.previous_velocity = state.velocity;
    car.world.set_state(0, &state).expect("it fits");
    // Dampers with more damping in rebound than in bump pull the pitching car down: the loads sum to 2.5 % less than m g.
    let frames = car.run(0.1, |_| Controls { brake: 1.0, handbrake: 1.0, gear: Some(0), ..Controls::default() });
    let last = car.world.state(0).velocity;
    let load = mean(&frames[1..], |f| f.wheels.iter().map(|w| w.load_n).sum());
    f64::from(speed - last.truncate().length()) / (load / f64::from(model.mass()) * frames[frames.len() - 1].t_s)
}

/// Row E16: the friction cone decelerates with μ g in any direction, the pyramid with up to √2 μ g.
#[test]
fn e16_a_locked_slide_tells_cone_from_pyramid() {
    let (cone, pyramid) = (solver("constraint"), solver("constraint-pyramid"));
    for degrees in [0.0, 15.0, 30.0, 45.0, 60.0, 75.0, 90.0f32] {
        let what = format!("cone at {degrees}°");
        close(&what, locked_slide(&cone, degrees), 1.0, 0.01, "asked; the patch takes 5 mm of 1.5 m to build up");
        let over = locked_slide(&pyramid, degrees);
        let radians = f64::from(degrees).to_radians();
        let expected = radians.cos().abs() + radians.sin().abs();
        close(
            &format!("pyramid at {degrees}°"),
            over,
            expected,
            0.02,
            "|cos| + |sin|, but the car turns by some degrees",
        );
    }
}

/// Returns a car without an engine, on `axles` axles of two wheels each, with linear tyres.
fn many_wheels(axles: usize) -> ModelParts {
    let mut parts = c5();
    let (pattern, tyre) = (parts.wheels[2], *curve(&parts.tyres[parts.wheels[2].tyre]));
    let place = |i: usize| 1.3 - 2.6 * i as f32 / (axles - 1) as f32;
    let share = 2.0 / axles as f32;
    let strut = Strut { rate: pattern.strut.rate * share, ..pattern.strut };
    // The unsprung masses sum to those of four wheels.
    let unsprung = pattern.unsprung.map(|own| Unsprung { mass: own.mass * share, ..own });
    let wheels = (0..axles).flat_map(|axle| [(axle, Side::Left, 1.0), (axle, Side::Right, -1.0f32)]);
    parts.wheels = wheels
        .map(|(axle, side, sign)| {
            let contact = Vec3::new(place(axle), sign * 0.78, pattern.contact.z);
            Wheel { axle, side, contact, strut, unsprung, tyre: 0, ..pattern }
        })
        .collect();
    parts.axles = vec![Axle::default(); axles];
    parts.tyres = vec![Tyre::Curve(CurveTyre { law: CurveLaw::Linear { stiffness: [1e6, 1e6] }, ..tyre })];
    parts.bars.clear();
    parts.powertrain = Powertrain::Direct(vec![0.0; 2 * axles].into());
    parts
}

/// Row E14: 4 to 20 wheels, each of which could stop the lateral motion of the chassis alone, do not reverse it.
#[test]
fn e14_no_number_of_wheels_overcorrects() {
    for axles in [2, 3, 5, 10] {
        let model = many_wheels(axles).model();
        for solver in solvers() {
            for hz in [30.0, 240.0] {
                let mut car = Drive::rolling(&solver, &model, 10.0, hz);
                let mut state = car.world.state(0).clone();
                state.velocity.y = 0.5;
                car.world.set_state(0, &state).expect("it fits");
                let after = f64::from(car.step(&Controls::coasting()).vy_mps as f32);
                let what = format!("{} wheels on {} at {hz} Hz", 2 * axles, solver.name);
                assert!((0.0..0.5).contains(&after), "{what}: 0.5 m/s sideways became {after}");
            }
        }
    }
}

/// Hull high above the wheels.
const HIGH: Hull = Hull { centre: Vec3::new(0.0, 0.0, 0.4), half_extents: Vec3::new(2.0, 0.8, 0.3) };

/// Returns the deflection of a metal stop under a mass that arrives at 1 m/s, m: `exp(−ζ acos ζ / √(1 − ζ²)) / ω` of a
/// damped spring with ω = 70 rad/s and ζ = 0.7. It is as stiff as nine tyres.
fn metal_gives() -> f64 {
    let (frequency, ratio) = (70.0, 0.7f64);
    (-ratio * ratio.acos() / (1.0 - ratio * ratio).sqrt()).exp() / frequency
}

/// Row E18: after a drop from 2 m the wheels stop at the metal stops, with a peak load that does not depend on the rate. The
/// rebound stays at least 1 m below the start.
#[test]
fn e18_a_drop_respects_the_stops() {
    // The high hull leaves the impact to the stops.
    let model = ModelParts { hull: HIGH, ..c5() }.model();
    let strut = &model.wheels()[0].strut;
    let solid = f64::from(strut.bump_travel + strut.stop_travel);
    for solver in solvers() {
        let mut peaks = Vec::new();
        for hz in [60.0, 240.0, 1000.0, 4000.0] {
            let mut car = Drive::rolling(&solver, &model, 0.0, hz);
            let mut state = car.world.state(0).clone();
            state.position.z += 2.0;
            car.world.set_state(0, &state).expect("it fits");
            let frames = car.run(3.0, |_| Controls::coasting());
            let what = format!("{} at {hz} Hz", solver.name);
            let deepest = frames.iter().flat_map(|f| f.wheels.iter().map(|w| w.compression_m)).fold(0.0, f64::max);
            // Upper bound: the deflection of the stop for the speed of the whole fall, of which spring and rubber take a
            // part.
            let gives = metal_gives() * (2.0 * GRAVITY * (2.0 + solid)).sqrt();
            assert!(deepest < solid + gives, "{what}: {:.1} mm beyond the stop", 1e3 * (deepest - solid));
            let top = |from: f64, until: f64| {
                frames.iter().filter(|f| (from..until).contains(&f.t_s)).map(|f| f.z_m).fold(0.0, f64::max)
            };
            let (start, rebound) = (frames[0].z_m, top(0.8, 3.0));
            assert!(rebound < start - 1.0, "{what}: comes back to {rebound:.2} m from {start:.2} m");
            let heaviest = frames.iter().map(|f| f.wheels[0].load_n).fold(0.0, f64::max);
            let springs = f64::from(strut.rate + strut.stop_rate) * solid;
            assert!(heaviest > springs, "{what}: the stop is in the load: {heaviest:.0} N");
            peaks.push(heaviest);
        }
        let what = format!("{} peak load", solver.name);
        // Loads are means over a step of an impact that decays as exp(−98 t). The mean is low by 1 − (1 − e^−x) / x with x =
        // 98 dt.
        close(&what, peaks[2], peaks[3], 0.05, "5 % at 1000 Hz");
        close(&what, peaks[1], peaks[3], 0.25, "18 % at 240 Hz, and where in the step the blow begins");
    }
}

const RATE: f32 = 60.0;

/// Parks `car` for `seconds`. Returns its largest distance from the start (m) and its root mean square speed (m/s).
fn wander(car: &mut Drive, seconds: f64) -> (f64, f64) {
    let stood: DVec3 = car.world.state(0).position;
    let steps = (seconds * f64::from(RATE)) as u64;
    let parked = [Controls::parked()];
    let (mut farthest, mut squares) = (0.0f64, 0.0);
    for _ in 0..steps {
        car.world.step(&parked);
        let state = car.world.state(0);
        farthest = farthest.max((state.position - stood).length());
        squares += f64::from(state.velocity.length_squared());
    }
    (farthest, (squares / steps as f64).sqrt())
}

/// A parked car keeps its place for an hour on 20 degrees, at four headings.
#[test]
fn a_parked_car_stays_for_an_hour() {
    let model = c5().model();
    for name in ["impulse", "constraint", "constraint-unsprung"] {
        for eighth in [0u8, 1, 2, 3] {
            let heading = f32::from(eighth) * std::f32::consts::FRAC_PI_4;
            let placement = Placement { heading, gear: Some(0), ..Placement::default() };
            let scene = Scene::sloping(20f32.to_radians());
            let mut car = Drive::new(&solver(name), &model, &scene, placement, RATE);
            car.run(5.0, |_| Controls::parked());
            let (farthest, speed) = wander(&mut car, 3600.0);
            assert!(farthest < 2e-3, "{name} at heading {eighth}/8: {:.2} mm in an hour", 1e3 * farthest);
            assert!(speed < 1e-4, "{name} at heading {eighth}/8: {speed:.1e} m/s");
        }
    }
}

/// Returns a C5 with undamped tyres, 40 kg of unsprung mass per wheel and little damping, so that its wheels hop.
fn hopping() -> ModelParts {
    let mut parts = c5().without_rolling_resistance();
    parts.bars.clear();
    for wheel in &mut parts.wheels {
        wheel.strut = Strut { bump_damping: 100.0, rebound_damping: 100.0, ..wheel.strut };
        wheel.unsprung = Some(Unsprung { mass: 40.0, tyre_rate: 230e3, tyre_damping: 0.0 });
    }
    parts
}

/// Wheels with unsprung mass settle at the static height of the car and with the static loads.
#[test]
fn unsprung_wheels_settle_where_the_others_do() {
    let model = c5().model();
    for hz in [60.0, 240.0] {
        let mut car = Drive::rolling(&solver("constraint-unsprung"), &model, 0.0, hz);
        let frames = car.run(3.0, |_| Controls::parked());
        let last = &frames[frames.len() - 1];
        // Rounding of 0.1 N on a spring of 28 N/mm is 4 µm.
        assert!((last.z_m - f64::from(model.parts().centre_height)).abs() < 1e-5, "{hz} Hz: {} m", last.z_m);
        for (i, wheel) in last.wheels.iter().enumerate() {
            close("load", wheel.load_n, f64::from(model.static_load(i)), 1e-4, "statics, to rounding");
        }
    }
}

/// Row E19: the frequency of wheel hop is `√((k + k_t) / m_u) / 2π`, at 1 kHz.
#[test]
fn e19_wheels_hop_at_their_frequency() {
    let model = hopping().model();
    let wheel = &model.wheels()[0];
    let own = wheel.unsprung.expect("set");
    let mut car = Drive::rolling(&solver("constraint-unsprung"), &model, 0.0, 1000.0);
    let mut state = car.world.state(0).clone();
    for wheel in &mut state.wheels {
        wheel.travel_rate = 0.2;
    }
    car.world.set_state(0, &state).expect("it fits");
    let frames = car.run(0.5, |_| Controls::parked());
    let travel: Vec<f64> = frames.iter().map(|f| f.wheels[0].compression_m).collect();
    // Turning points of the travel, interpolated at the zero crossings of its rate.
    let turns: Vec<f64> = travel
        .windows(3)
        .enumerate()
        .filter(|(_, w)| (w[1] - w[0]) * (w[2] - w[1]) < 0.0)
        .map(|(i, w)| i as f64 + 0.5 + (w[1] - w[0]) / (2.0 * w[1] - w[0] - w[2]))
        .collect();
    let cycles = (turns.len() - 1) as f64 / 2.0;
    let found = cycles / ((turns[turns.len() - 1] - turns[0]) / 1000.0);
    let stiffness = f64::from(wheel.strut.rate + own.tyre_rate);
    let expected = (stiffness / f64::from(own.mass)).sqrt() / std::f64::consts::TAU;
    assert!(cycles > 3.0, "{cycles} cycles");
    close("wheel hop", found, expected, 0.02, "asked; the chassis stands still in the closed form");
}

/// Unsprung masses hardly change the yaw rate of a step steer. The roll angle grows by the tyre springs in series.
#[test]
fn a11_unsprung_wheels_drive_like_the_others_but_for_their_ride() {
    let model = c5().model();
    let end = |name: &str, hz: f32| {
        let mut car = Drive::rolling(&solver(name), &model, 25.0, hz);
        let frames = car.run(2.0, |f| Controls {
            steer: if f.t_s < 0.5 { 0.0 } else { 0.03 },
            gear: Some(0),
            ..Controls::default()
        });
        frames[frames.len() - 1].clone()
    };
    // Roll stiffness of both axles, `Σ (k + 2 k_bar) t²`, without and with the spring of each tyre in series.
    let stiffness = |in_series: bool| -> f64 {
        let axle = |i: usize| {
            let (wheel, bar) = (&model.wheels()[2 * i], &model.parts().bars[i]);
            let (rate, tyre) = (wheel.strut.rate + 2.0 * bar.rate, wheel.unsprung.expect("described").tyre_rate);
            let rate = if in_series { rate * tyre / (rate + tyre) } else { rate };
            f64::from(rate * wheel.contact.y * wheel.contact.y)
        };
        axle(0) + axle(1)
    };
    let softer = stiffness(false) / stiffness(true);
    for hz in [60.0, 240.0] {
        let (lumped, own) = (end("constraint", hz), end("constraint-unsprung", hz));
        close("yaw rate", own.yaw_rate_radps, lumped.yaw_rate_radps, 0.01, "the car rolls more, little else changes");
        let why = "the closed form leaves out that wheels do not roll along";
        close("roll", own.roll_rad / lumped.roll_rad, softer, 0.03, why);
    }
}

/// A car with three wheels on blocks and the front right wheel in the air keeps its place for an hour on 20 degrees.
#[test]
fn a_car_parked_on_three_wheels_stays() {
    let mut parts = ModelParts { hull: HIGH, ..c5() };
    parts.bars.clear();
    // The front axle is 1.5 m further ahead, so that three wheels carry the car.
    for wheel in &mut parts.wheels[..2] {
        wheel.contact.x += 1.5;
    }
    let height = 0.8f32;
    let blocks: Vec<[f32; 2]> = [0, 2, 3].iter().map(|&i| parts.wheels[i].contact.truncate().to_array()).collect();
    let model = parts.model();
    for name in ["impulse", "constraint"] {
        for heading in [0.0, std::f32::consts::FRAC_PI_2, std::f32::consts::PI] {
            let mut scene = Scene::sloping(20f32.to_radians());
            let upright = scene.upright_orientation(heading);
            for &[x, y] in &blocks {
                let place = upright * Vec3::new(x, y, 0.5 * height);
                scene.boxes.push(FixedBox {
                    centre: place.as_dvec3(),
                    half_extents: Vec3::new(0.4, 0.4, 0.5 * height),
                    rotation: upright,
                    grip: 1.0,
                    texture: SurfaceTexture::NONE,
                });
            }
            let placement = Placement { heading, gear: Some(0), ..Placement::default() };
            let mut car = Drive::new(&solver(name), &model, &scene, placement, RATE);
            let mut state = car.world.state(0).clone();
            state.position += (upright * Vec3::Z * height).as_dvec3();
            car.world.set_state(0, &state).expect("it fits");
            let frames = car.run(20.0, |_| Controls::parked());
            let loads: Vec<f64> = frames[frames.len() - 1].wheels.iter().map(|w| w.load_n).collect();
            assert!(loads[1] == 0.0 && loads[0] > 0.0 && loads[2] > 0.0 && loads[3] > 0.0, "{name}: {loads:?}");
            let (farthest, speed) = wander(&mut car, 3600.0);
            assert!(farthest < 2e-3, "{name} heading {heading}: {:.2} mm in an hour", 1e3 * farthest);
            assert!(speed < 1e-4, "{name} heading {heading}: {speed:.1e} m/s");
        }
    }
}
