//! A car that turns on the spot or coasts over curved ground, against closed forms. These reveal errors of directions, lever
//! arms and normals within a step.

use std::sync::Arc;

use skidpad::core::model::{Axle, Powertrain, ProbeShape, Tyre, Wheel};
use skidpad::core::tyre::{Brush, CurveLaw, CurveTyre};
use skidpad::core::{
    Controls, DVec3, HeightField, Model, ModelParts, Scene, SolverInfo, WheelControls, state::Placement,
};

use crate::common::{Drive, Simplify, c5, close, on_rows, shipped};
use crate::step::energy::Audit;
use crate::step::random::Random;

/// Step rates, Hz.
const RATES: [f32; 4] = [30.0, 60.0, 240.0, 1000.0];

/// Returns a platform without drive on four wheels with this tyre, `beside` m to the side of its centre and `ahead` m before
/// or behind it.
fn platform(tyre: &Tyre, [beside, ahead]: [f32; 2]) -> ModelParts {
    let mut parts = c5().without_air().without_rolling_resistance();
    parts.powertrain = Powertrain::None;
    parts.assists = Default::default();
    (parts.bars, parts.motors, parts.couplings) = Default::default();
    parts.tyres = vec![tyre.clone()];
    parts.axles.iter_mut().for_each(|axle| *axle = Axle { steer_ratio: 0.0, ackermann: 0.0, ..*axle });
    for (i, wheel) in parts.wheels.iter_mut().enumerate() {
        let [x, y] = [if i < 2 { ahead } else { -ahead }, if i % 2 == 0 { beside } else { -beside }];
        let strut = c5().wheels[0].strut;
        *wheel = Wheel { tyre: 0, toe: 0.0, camber: 0.0, strut, ..*wheel };
        (wheel.contact.x, wheel.contact.y) = (x, y);
    }
    parts
}

/// Returns the tyre laws on which platforms turn, with their names.
fn laws() -> [(&'static str, Tyre); 5] {
    let of_c5 = c5().tyres[0].clone();
    let Tyre::Curve(curve) = &of_c5 else { panic!("the C5 has slip curves") };
    let linear = CurveTyre { law: CurveLaw::Linear { stiffness: [60e3; 2] }, load_sensitivity: 0.0, ..*curve };
    let coulomb = CurveTyre { law: CurveLaw::Coulomb { deflection: 0.002 }, load_sensitivity: 0.0, ..*curve };
    let brush = Brush {
        bristle_stiffness: [12e6, 10e6],
        half_length: 0.06,
        friction: [1.05, 0.97],
        load_sensitivity: 0.0,
        nominal_load: 3800.0,
    };
    [
        ("slip curve", of_c5.clone()),
        ("linear", Tyre::Curve(linear)),
        ("coulomb", Tyre::Curve(coulomb)),
        ("brush", Tyre::Brush(brush)),
        ("Magic Formula", shipped("corvette_c5_mf").tyres[0].clone()),
    ]
}

/// Wheels at right angles to their lever arms R_i, driven by torques T: `ω' = Σ T R_i / r / (I + Σ I_w R_i² / r²)`, the
/// angular momentum of wheels that roll. The platform then coasts at constant yaw rate.
#[test]
fn a_platform_turns_on_the_spot_as_its_torques_say() {
    const TORQUE: f32 = 60.0;
    let mut random = Random(4401);
    for (law, tyre) in laws() {
        let layout = [random.between(0.6, 0.9), random.between(1.0, 1.5)];
        let model = platform(&tyre, layout).model();
        let controls = |torque: f32| {
            let each = model.wheels().iter().map(|wheel| {
                let (x, y) = (wheel.contact.x, wheel.contact.y);
                // Each wheel is steered to a right angle with its lever arm. The right wheels drive forwards, the left ones
                // backwards.
                let forward = if y < 0.0 { 1.0 } else { -1.0 };
                let steer = Some((forward * x).atan2(-forward * y));
                WheelControls { steer, motor_torque: forward * torque, ..WheelControls::default() }
            });
            Controls { gear: Some(0), wheels: each.collect(), ..Controls::default() }
        };
        let arm = f64::from(layout[0].hypot(layout[1]));
        let (wheel, inertia) = (&model.wheels()[0], f64::from(model.parts().inertia.z_axis.z));
        let radius = f64::from(wheel.radius);
        let heavy = inertia + 4.0 * f64::from(wheel.spin_inertia) * (arm / radius).powi(2);
        let expected = 4.0 * f64::from(TORQUE) * arm / radius / heavy * 2.0;
        for solver in on_rows() {
            for hz in RATES {
                let mut car = Drive::new(&solver, &model, &Scene::flat(), Placement::default(), hz);
                car.run(2.0, |_| controls(TORQUE));
                let turning = car.world.frame(0).yaw_rate_radps;
                let what = format!("{law}, {}, {hz} Hz", solver.name);
                close(&what, turning, expected, 0.02, "asked: tyres slip by what pushes them");
                car.run(1.0, |_| controls(0.0));
                let coasting = car.world.frame(0).yaw_rate_radps;
                close(&format!("{what}, coasting"), coasting, turning, 5e-3, "tyres give back what strained them");
            }
        }
    }
}

/// Returns smooth ground over x, of `height` m and `length` m. Shape 0 is a bowl, 1 a dip, any other a wave.
fn bend(shape: usize, height: f64, length: f64) -> Scene {
    let spacing = 0.25;
    let [columns, rows] = [((8.0 * length) / spacing) as usize, 40];
    let at = |x: f64| match shape {
        0 => height * (x / (2.0 * length)).powi(2),
        1 => -height * (-(x / length).powi(2)).exp(),
        _ => 0.5 * height * (1.0 - (std::f64::consts::TAU * x / (2.0 * length)).cos()),
    };
    let origin = DVec3::new(-4.0 * length, -5.0, 0.0);
    let heights = (0..columns * rows).map(|k| at(origin.x + spacing * (k % columns) as f64) as f32).collect();
    let field = HeightField::new(origin, [spacing as f32; 2], [columns, rows], heights, true, 1.0).expect("a field");
    Scene { has_plane: false, height_fields: vec![Arc::new(field)], ..Scene::flat() }
}

/// Returns the largest energy gain after the first second of a coasting car, m of height. The run ends after 8 s, or `reach`
/// m from the middle.
fn gained(solver: &SolverInfo, model: &Arc<Model>, scene: &Scene, reach: f64, hz: f32) -> f64 {
    let placement = Placement { gear: Some(0), speed: 6.0, ..Placement::default() };
    let mut car = Drive::new(solver, model, scene, placement, hz);
    let audit = Audit::by_compressions(model, solver);
    let (mut least, mut gained) = (f64::INFINITY, 0.0f64);
    for k in 0..(8.0 * hz) as usize {
        car.step(&Controls { gear: Some(0), ..Controls::default() });
        if car.world.state(0).position.x.abs() > reach {
            break;
        }
        // At the start, rays find compressed springs, whose energy no work has supplied.
        if k > hz as usize {
            let now = audit.energy(car.world.state(0));
            least = least.min(now);
            gained = gained.max(now - least);
        }
    }
    gained / f64::from(model.mass() * 9.81)
}

/// A car that coasts over random smooth ground gains no energy.
#[test]
fn ground_that_bends_gives_no_energy() {
    let rays = c5().without_air();
    let mut discs = rays.clone();
    discs.wheels.iter_mut().for_each(|wheel| wheel.probe = ProbeShape::Disc);
    let models = [("rays", rays.model()), ("discs", discs.model())];
    let mut random = Random(4402);
    for draw in 0..6 {
        let (height, length) = (f64::from(random.between(0.3, 1.0)), f64::from(random.between(6.0, 12.0)));
        let scene = bend(draw % 3, height, length);
        // Runs with short steps are slow: only half of the draws have them.
        let rates = if draw < 3 { &RATES[..] } else { &RATES[..2] };
        for (solver, (probes, model)) in
            on_rows().into_iter().flat_map(|solver| models.iter().map(move |of| (solver, of)))
        {
            for hz in rates {
                let rise = gained(&solver, model, &scene, 3.0 * length, *hz);
                assert!(rise < 1e-3, "draw {draw}, {}, {probes} at {hz} Hz: {rise} m of height", solver.name);
            }
        }
    }
}
