//! Wind, aerodynamic side force, downforce, rolling resistance and custom force elements.

use std::sync::Arc;

use skidpad::core::model::{AeroMaps, AeroSurface, BilinearTable};
use skidpad::core::{
    Assist, ChassisMotion, Controls, DVec3, ExternalForce, ForceElement, ForceElementOutput, Gust, LevelOfDetail,
    Model, Scene, Vec3, state::Placement,
};

use crate::common::{Drive, Simplify, c5, close, mean, solvers};

/// Row B3: while the car coasts, the air speed u falls as `1 / u = 1 / u₀ + C t / m` in any wind. A tailwind faster
/// than the car accelerates it.
#[test]
fn b3_drag_is_of_the_air_that_meets_the_car() {
    let parts = c5().without_rolling_resistance();
    let model = parts.model();
    let mass = f64::from(model.rolling_mass());
    let drag = f64::from(model.parts().aero.drag);
    for solver in solvers() {
        for (wind, speed) in [(-15.0f32, 30.0f32), (15.0, 30.0), (20.0, 5.0)] {
            for hz in [30.0, 240.0] {
                let scene = Scene { wind: Vec3::new(wind, 0.0, 0.0), ..Scene::flat() };
                let placement = Placement { speed, gear: Some(0), ..Placement::default() };
                let mut car = Drive::new(&solver, &model, &scene, placement, hz);
                let frames = car.run(10.0, |_| Controls::coasting());
                let air = f64::from(speed - wind);
                let left = air / (1.0 + drag * air.abs() * 10.0 / mass);
                let found = frames[frames.len() - 1].vx_mps - f64::from(wind);
                let lost = (air - found) / (air - left);
                close(
                    &format!("{} wind {wind}, {hz} Hz", solver.name),
                    lost,
                    1.0,
                    0.01,
                    "first order in the step; wheels' inertia",
                );
            }
        }
    }
}

/// Lateral equilibrium of a braked car in a crosswind w: the tyres carry the side force and the drag, `(C_side +
/// C_drag) w²`. Their yaw moment is that of the side force at its point of application.
#[test]
fn tyres_hold_a_crosswind() {
    let mut parts = c5().on_coulomb_tyres(1.0);
    (parts.aero.side, parts.aero.side_point) = (1.1, Vec3::new(0.6, 0.0, 0.0));
    parts.aero.drag_point = Vec3::ZERO;
    let yaw = || BilinearTable::new([vec![0.0, 1.5], vec![0.0]], vec![1.0, 2.0]).expect("sound");
    let maps = AeroMaps {
        at_rest: [0.1; 2],
        heights: Default::default(),
        yaw: [yaw(), BilinearTable::default(), BilinearTable::default()],
    };
    parts.aero.maps = Some(Box::new(maps));
    // The yaw map doubles the drag for air from the side.
    let (side, drag) = (f64::from(parts.aero.side), 2.0 * f64::from(parts.aero.drag));
    let model = parts.model();
    for solver in solvers() {
        let scene = Scene { wind: Vec3::new(0.0, 40.0, 0.0), ..Scene::flat() };
        let mut car = Drive::new(&solver, &model, &scene, Placement::default(), 240.0);
        let frames = car.run(5.0, |_| Controls::parked());
        let last = &frames[frames.len() - 240..];
        let force = mean(last, |f| f.wheels.iter().map(|w| w.fy_n).sum());
        close(
            &format!("{} force", solver.name),
            -force,
            (side + drag) * 1600.0,
            0.01,
            "the car leans by half a degree",
        );
        let moment = mean(last, |f| {
            let arms = f.wheels.iter().zip(model.wheels());
            arms.map(|(w, of)| w.fy_n * f64::from(of.contact.x) - w.fx_n * f64::from(of.contact.y)).sum()
        });
        close(&format!("{} moment", solver.name), -moment, side * 1600.0 * 0.6, 0.02, "wheels lean and jack");
    }
}

/// Equilibrium of springs and air at each axle, `2 k z = C v² f(h₀ − z)`, for downforce that grows as the ride height
/// falls.
#[test]
fn downforce_by_ride_height_settles_where_springs_balance_it() {
    let mut parts = c5().without_air().without_rolling_resistance();
    let (low, high) = (0.05f32, 0.15f32);
    let table =
        |values: [f32; 4]| BilinearTable::new([vec![low, high], vec![low, high]], values.into()).expect("sound");
    for (surface, wheel) in parts.aero.downforce.iter_mut().zip([0, 2]) {
        let at = parts.wheels[wheel].contact;
        *surface = AeroSurface { coefficient: 0.4, point: Vec3::new(at.x, 0.0, at.z) };
    }
    // The factor falls from 2 to 1 as the height of the surface's own axle rises from 5 to 15 cm.
    let heights = [BilinearTable::default(), table([2.0, 2.0, 1.0, 1.0]), table([2.0, 1.0, 2.0, 1.0])];
    parts.aero.maps = Some(Box::new(AeroMaps { at_rest: [0.12, 0.13], heights, yaw: Default::default() }));
    let model = parts.model();
    for solver in solvers() {
        for hz in [30.0, 240.0] {
            let mut car = Drive::rolling(&solver, &model, 50.0, hz);
            let frames = car.run(6.0, |_| Controls::coasting());
            let last = &frames[frames.len() - 1];
            for (wheel, rest) in [(0, 0.12), (2, 0.13)] {
                let rate = 2.0 * f64::from(model.wheels()[wheel].strut.rate);
                let (push, slope) = (0.4 * last.vx_mps.powi(2), 10.0);
                let found = last.wheels[wheel].compression_m;
                let expected = push * (2.5 - slope * rest) / (rate - push * slope);
                close(
                    &format!("{} {hz} Hz, wheel {wheel}", solver.name),
                    found,
                    expected,
                    0.01,
                    "pitch tilts the surfaces",
                );
            }
        }
    }
}

/// Downforce depends only on the air speed along the car's longitudinal axis and is 0 for air from behind. The test
/// compares the vertical acceleration of an airborne car with that downforce. Yaw maps scale it with the sideslip
/// angle of the flow.
#[test]
fn a_car_that_falls_or_slides_is_not_pressed_down() {
    let mut parts = c5();
    (parts.aero.drag, parts.aero.side) = (0.0, 0.0);
    parts.aero.downforce = [1.3, -1.6].map(|x| AeroSurface { coefficient: 1.5, point: Vec3::new(x, 0.0, 0.0) });
    let plain = parts.clone().model();
    let yaw = || BilinearTable::new([vec![0.0, 1.5], vec![0.0]], vec![1.0, 0.5]).expect("sound");
    let maps =
        AeroMaps { at_rest: [0.1; 2], heights: Default::default(), yaw: [BilinearTable::default(), yaw(), yaw()] };
    parts.aero.maps = Some(Box::new(maps));
    let mapped = parts.model();
    let half_angle = f64::from(0.5 * std::f32::consts::FRAC_PI_4 / 1.5);
    let rows: [(&Arc<Model>, [f32; 3], f64); 7] = [
        (&plain, [50.0, 0.0, 0.0], 2500.0),
        (&plain, [50.0, 0.0, -40.0], 2500.0),
        (&plain, [0.0, 0.0, -40.0], 0.0),
        (&plain, [30.0, 40.0, -20.0], 900.0),
        (&plain, [-50.0, 5.0, 0.0], 0.0),
        (&mapped, [30.0, 30.0, -20.0], 1800.0 * (1.0 - half_angle)),
        (&mapped, [-50.0, 0.0, 0.0], 0.0),
    ];
    for solver in solvers() {
        for hz in [30.0, 1000.0] {
            for (model, velocity, squared) in rows {
                let mut car = Drive::rolling(&solver, model, 0.0, hz);
                let mut state = car.world.state(0).clone();
                state.position.z += 300.0;
                (state.velocity, state.previous_velocity) = (Vec3::from_array(velocity), Vec3::from_array(velocity));
                car.world.set_state(0, &state).expect("it fits");
                car.step(&Controls::coasting());
                let gained = f64::from(car.world.state(0).velocity.z - velocity[2]) * f64::from(hz);
                let told = -9.81 - 3.0 * squared / f64::from(model.mass());
                let what = format!("{} {hz} Hz at {velocity:?}: {gained} instead of {told}", solver.name);
                assert!(
                    (gained - told).abs() < 0.015 * told.abs(),
                    "{what} (implicit in a step of 33 ms: 0.5 % of it)"
                );
            }
        }
    }
}

/// Returns a car whose tyres carry the wind forces of these tests, and its force coefficient for air from the side (N
/// s²/m²).
fn held_in_the_wind() -> (Arc<Model>, f64) {
    let mut parts = c5().on_coulomb_tyres(1.0);
    (parts.aero.side, parts.aero.side_point) = (1.1, Vec3::ZERO);
    let against = f64::from(parts.aero.side + parts.aero.drag);
    (parts.model(), against)
}

/// Impulse of the side force of a gust on a braked car: `C V² (¾ r + h)` for a rise time r and a peak V held for h,
/// since the mean of `¼ (1 − cos)²` is 3/8. A world saved during a gust and loaded continues bit-identically.
#[test]
fn tyres_hold_the_impulse_of_a_gust() {
    let (model, against) = held_in_the_wind();
    let gust = |starts: f32, holds: f32| Gust {
        velocity: Vec3::new(0.0, 35.0, 0.0),
        start_time: starts,
        rise_time: 0.4,
        hold_time: holds,
    };
    let scene = Scene { gusts: vec![gust(0.5, 0.0), gust(2.0, 1.0)], ..Scene::flat() };
    for solver in solvers() {
        for hz in [30.0, 240.0] {
            let mut car = Drive::new(&solver, &model, &scene, Placement::default(), hz);
            let mut frames = car.run(2.5, |_| Controls::parked());
            let saved = car.world.save().expect("nothing touches");
            let mut twin = Drive::new(&solver, &model, &scene, Placement::default(), hz);
            twin.world.load(&saved).expect("the same car");
            frames.extend(car.run(3.5, |_| Controls::parked()).into_iter().skip(1));
            twin.run(3.5, |_| Controls::parked());
            assert_eq!(car.world.state(0), twin.world.state(0), "{} {hz} Hz", solver.name);
            let held: f64 = frames.iter().map(|f| f.wheels.iter().map(|w| w.fy_n).sum::<f64>()).sum();
            let impulse = against * 35.0 * 35.0 * (0.75 * 0.4 * 2.0 + 1.0);
            close(&format!("{} {hz} Hz", solver.name), -held / f64::from(hz), impulse, 0.01, "the car leans");
        }
    }
}

/// Impulse of a gust on a car that changes within the gust to a coarser level of detail, which has not stepped
/// before.
#[test]
fn a_gust_goes_on_in_another_level_of_detail() {
    let (model, against) = held_in_the_wind();
    let gust = Gust { velocity: Vec3::new(0.0, 35.0, 0.0), start_time: 0.5, rise_time: 0.4, hold_time: 1.0 };
    let scene = Scene { gusts: vec![gust], ..Scene::flat() };
    for solver in solvers() {
        let world = |hz: f32| Drive::new(&solver, &model, &scene, Placement::default(), hz).world;
        let mut car = LevelOfDetail::new(vec![world(240.0), world(60.0)]).expect("60 divides 240");
        let mut held = 0.0;
        for tick in 0..960 {
            if tick == 240 {
                car.set_level(0, 1);
            }
            car.step(&[Controls::parked()]);
            if car.lag(0) == 0.0 {
                let step = [1.0 / 240.0, 1.0 / 60.0][car.level(0)];
                held += car.frame(0).wheels.iter().map(|w| w.fy_n).sum::<f64>() * step;
            }
        }
        close(solver.name, -held, against * 35.0 * 35.0 * (0.75 * 0.4 + 1.0), 0.01, "the car leans");
    }
}

/// Row D5: the rolling resistances of the wheels in telemetry sum up to mass times deceleration of a coasting car.
/// They are 0 at rest.
#[test]
fn d5_rolling_resistance_of_each_wheel_is_told() {
    let model = c5().without_air().model();
    for solver in solvers() {
        for speed in [20.0, -5.0] {
            let mut car = Drive::rolling(&solver, &model, speed, 240.0);
            let frames = car.run(2.0, |_| Controls::coasting());
            let last = &frames[240..];
            let force = mean(last, |f| f.wheels.iter().map(|w| w.rolling_n).sum());
            let slowed = (frames[480].vx_mps - frames[240].vx_mps) / 1.0;
            close(
                &format!("{} {speed} m/s", solver.name),
                force,
                f64::from(model.rolling_mass()) * slowed,
                0.01,
                "pitching",
            );
        }
        let frame = Drive::rolling(&solver, &model, 0.0, 240.0).step(&Controls::parked());
        assert!(frame.wheels.iter().all(|w| w.rolling_n == 0.0), "{}: it stands", solver.name);
    }
}

/// Force element with a forward thrust of the given size (N) at full throttle, in proportion to the throttle.
#[derive(Debug)]
struct Rocket(f32);

impl ForceElement for Rocket {
    fn evaluate(&self, motion: &ChassisMotion, controls: &Controls) -> ForceElementOutput {
        let force = motion.rotation * Vec3::X * (self.0 * controls.throttle);
        ForceElementOutput { force, ..ForceElementOutput::default() }
    }
}

/// Row D8: custom thrust elements accelerate the car by thrust over mass, and the assist log reports the thrust.
#[test]
fn d8_a_rocket_accelerates_by_thrust_over_mass() {
    let mut parts = c5().without_air().without_rolling_resistance();
    parts.external_forces = vec![ExternalForce::new(Rocket(4000.0)), ExternalForce::new(Rocket(1000.0))];
    let model = parts.model();
    for solver in solvers() {
        for hz in [30.0, 240.0] {
            let mut car = Drive::rolling(&solver, &model, 0.0, hz);
            let frames = car.run(4.0, |_| Controls { throttle: 0.8, gear: Some(0), ..Controls::default() });
            let last = &frames[frames.len() - 1];
            let expected = 4000.0 / f64::from(model.rolling_mass()) * 4.0;
            close(&format!("{} {hz} Hz", solver.name), last.vx_mps, expected, 0.003, "tyres slip a little");
            let (assist, added) = last.assist_log[0];
            assert_eq!(assist, Assist::Elements);
            close(solver.name, added.values()[0], 4000.0, 1e-6, "rounding");
        }
    }
}

/// Force element of a spring and a damper along x between a point of the world and the centre of mass.
#[derive(Debug)]
struct Tether {
    anchor: DVec3,
    rate: f32,
    damping: f32,
}

impl ForceElement for Tether {
    fn evaluate(&self, motion: &ChassisMotion, _: &Controls) -> ForceElementOutput {
        let away = (motion.point_position(Vec3::ZERO) - self.anchor).as_vec3() * Vec3::X;
        let speed = motion.velocity * Vec3::X;
        let damping = self.damping + self.rate * motion.dt;
        ForceElementOutput { force: -(away * self.rate + speed * damping), damping, ..ForceElementOutput::default() }
    }
}

/// Row D8: force elements that report their damping are stable at any stiffness: a car on ice tied by 10 MN/m stays
/// within 0.2 m at 30 Hz. A soft element oscillates with `√(k / m)`.
#[test]
fn d8_stiff_elements_are_stable_and_soft_ones_swing() {
    for solver in solvers() {
        let drive = |rate: f32, damping: f32, speed: f32, hz: f32| {
            let mut parts = c5().without_air().without_rolling_resistance();
            parts.external_forces = vec![ExternalForce::new(Tether { anchor: DVec3::ZERO, rate, damping })];
            let model = parts.model();
            let ice = Scene { grip: 0.0, ..Scene::flat() };
            let placement = Placement { speed, gear: Some(0), ..Placement::default() };
            let mass = f64::from(model.mass());
            (Drive::new(&solver, &model, &ice, placement, hz).run(4.0, |_| Controls::coasting()), mass)
        };
        let (frames, _) = drive(1e7, 1e5, 5.0, 30.0);
        let most = frames.iter().map(|f| f.x_m.abs()).fold(0.0, f64::max);
        assert!(most < 0.2 && frames[60].vx_mps.abs() < 0.01, "{}: {most} m, {} m/s", solver.name, frames[60].vx_mps);
        let (frames, mass) = drive(2e4, 0.0, 1.0, 1000.0);
        let crossing = frames.windows(2).find(|pair| pair[0].x_m > 0.0 && pair[1].x_m <= 0.0).expect("it swings");
        let half = std::f64::consts::PI / (2e4 / mass).sqrt();
        close(solver.name, crossing[1].t_s, half, 0.005, "a step in 0.9 s; first order");
    }
}
