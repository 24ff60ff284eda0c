//! Reported slips, against the motion.

use skidpad::core::tyre::{CurveLaw, CurveTyre};
use skidpad::core::{Controls, Model, ModelParts, Scene, WheelControls, state::Placement};

use crate::common::{Drive, Simplify, c5, hold_speed, on_rows, shipped};

/// Returns a car on every tyre law, with its name.
fn cars() -> Vec<(String, ModelParts)> {
    let curves = [
        ("coulomb", CurveLaw::Coulomb { deflection: 0.005 }),
        ("linear", CurveLaw::Linear { stiffness: [80e3, 60e3] }),
        ("linear per load", CurveLaw::LinearPerLoad { stiffness: [20.0, 15.0] }),
        ("slip curve", CurveLaw::SlipCurve { extremum_slip: [0.1; 2], asymptote_slip: [0.5; 2], asymptote: [0.75; 2] }),
    ];
    let on = |law| c5().with_tyres(|tyre: &CurveTyre| CurveTyre { law, ..*tyre });
    let mut cars: Vec<_> = curves.into_iter().map(|(name, law)| (name.to_owned(), on(law))).collect();
    cars.extend(crate::tyre::laws::cars().map(|(name, parts)| (name.to_owned(), parts)));
    cars.push(("bullet_reference".into(), shipped("bullet_reference")));
    cars
}

/// Largest accepted error of slips, which still change within a relaxation length.
const MOST: f64 = 1e-3;

const GRIPS: [f32; 4] = [1.0, 0.8, 0.5, 0.1];

/// Asserts that the slips of every wheel differ by less than `most` from those of the motion: spin R / v − 1, and the
/// tangent of the angle of the contact point's velocity.
#[track_caller]
fn slips_of_the_motion(what: &str, model: &Model, car: &Drive, most: f64) {
    let frame = car.world.frame(0);
    for (i, told) in frame.wheels.iter().enumerate() {
        let now = &car.world.state(0).wheels[i];
        let speed = f64::from(now.rolling_speed);
        let ratio = f64::from(model.wheels()[i].radius * now.spin) / speed - 1.0;
        let contact = car.world.car(0).vehicle.and_then(|vehicle| vehicle.wheel_contact(i)).expect("on the ground");
        let across = f64::from(contact.sliding_velocity[1]) / speed.abs();
        let found = [told.slip_ratio, told.slip_angle_rad.tan()];
        let off = [found[0] - ratio, found[1] - across];
        assert!(off.iter().all(|off| off.abs() < most), "{what}, wheel {i}: {found:?} for {:?}", [ratio, across]);
    }
}

/// Slips agree for locked wheels, for wheels braked to a part of their grip, and for wheels in a steady turn, on ground of
/// every grip.
#[test]
fn slips_are_those_of_the_motion_on_any_grip() {
    for (law, parts) in cars() {
        let model = parts.without_air().model();
        for (solver, grip) in on_rows().into_iter().flat_map(|solver| GRIPS.map(|grip| (solver, grip))) {
            let what = format!("{law}, {}, grip {grip}", solver.name);
            let scene = Scene { grip, ..Scene::flat() };
            let drive = || {
                let placement = Placement { speed: 20.0, gear: Some(0), ..Placement::default() };
                Drive::new(&solver, &model, &scene, placement, 240.0)
            };
            let mut locked = drive();
            let locking =
                || model.wheels().iter().map(|_| WheelControls { brake_torque: 1e5, ..WheelControls::default() });
            locked.run(0.6, |_| Controls { gear: Some(0), wheels: locking().collect(), ..Controls::default() });
            slips_of_the_motion(&format!("{what}, locked"), &model, &locked, MOST);
            let mut braked = drive();
            let share = |i: usize, radius: f32| 0.4 * grip * model.static_load(i) * radius;
            let part = || {
                let each = model.wheels().iter().enumerate();
                each.map(|(i, wheel)| WheelControls {
                    brake_torque: share(i, wheel.radius),
                    ..WheelControls::default()
                })
            };
            braked.run(1.0, |_| Controls { gear: Some(0), wheels: part().collect(), ..Controls::default() });
            slips_of_the_motion(&format!("{what}, braked"), &model, &braked, MOST);
            let mut turning = drive();
            turning.run(5.0, |frame| Controls {
                steer: 0.01 * grip,
                gear: Some(0),
                wheels: hold_speed(frame, &model, 20.0),
                ..Controls::default()
            });
            slips_of_the_motion(&format!("{what}, in a turn"), &model, &turning, MOST);
        }
    }
}

/// A car with a restored state reports the slips of the saved car.
#[test]
fn slips_are_saved_with_the_car() {
    let scene = Scene { grip: 0.3, ..Scene::flat() };
    for solver in on_rows() {
        let placement = Placement { speed: 20.0, ..Placement::default() };
        let [mut first, mut second] = [0, 1].map(|_| Drive::new(&solver, &c5().model(), &scene, placement, 120.0));
        first.run(0.5, |_| Controls { brake: 0.2, gear: Some(0), ..Controls::default() });
        let bytes = first.world.state(0).to_bytes();
        let state = skidpad::core::State::from_bytes(&bytes, 4).expect("saved");
        second.world.set_state(0, &state).expect("it fits");
        assert_eq!(first.world.frame(0).wheels, second.world.frame(0).wheels, "{}", solver.name);
    }
}
