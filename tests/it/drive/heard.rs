//! Events, each with a case that causes it.

use crate::common::{Simplify, c5, on_rows, solvers};
use skidpad::core::model::{AeroSurface, ModelParts};
use skidpad::core::{FixedBox, Platform, PlatformCourse, SolverInfo};
use skidpad::prelude::*;

/// Returns the events of a C5 at 120 Hz, as [`listen`] does.
fn heard(
    solver: &SolverInfo,
    scene: &Scene,
    placement: Placement,
    controls: &Controls,
    seconds: f32,
) -> Vec<(f32, Event)> {
    let model = skidpad::spec::load("corvette_c5").unwrap().model;
    let mut world = (solver.build_world)(scene, &[CarStart { model, placement }], 1.0 / 120.0);
    listen(world.as_mut(), controls, seconds)
}

/// Steps the first car of `world` with `controls` for `seconds` and returns every event with its time (s).
fn listen(world: &mut dyn Simulation, controls: &Controls, seconds: f32) -> Vec<(f32, Event)> {
    let (mut watch, mut heard, dt) = (EventDetector::default(), Vec::new(), world.dt());
    for step in 0..(seconds / dt) as usize {
        world.step(std::slice::from_ref(controls));
        watch.update(&world.car(0), dt, |event| heard.push((step as f32 * dt, event)));
    }
    heard
}

fn count(heard: &[(f32, Event)], which: impl Fn(&Event) -> bool) -> usize {
    heard.iter().filter(|(_, event)| which(event)).count()
}

#[test]
fn a_car_that_drops_lands_with_the_speed_of_its_fall() {
    let placement = Placement { height: 0.8, ..Placement::default() };
    for solver in on_rows() {
        let heard = heard(&solver, &Scene::flat(), placement, &Controls::default(), 1.5);
        let landed: Vec<f32> = heard
            .iter()
            .filter_map(|(_, event)| if let Event::TouchDown { speed, .. } = event { Some(*speed) } else { None })
            .collect();
        assert!(landed.len() >= 4, "{}: {heard:?}", solver.name);
        // The wheels hang by their droop travel, so the height of the fall is 0.8 m less the droop.
        for speed in &landed[..4] {
            assert!((3.2..3.97).contains(speed), "{} lands with {speed} m/s", solver.name);
        }
        assert!(count(&heard, |event| matches!(event, Event::BumpStopHit { .. })) > 0, "{}: {heard:?}", solver.name);
    }
}

/// A strut reaches its stop with the speed of the fall, 5.4 m/s, less the effect of damper and spring. An unsprung
/// mass that oscillates can raise the speed.
#[test]
fn a_strut_reaches_its_stop_with_a_speed() {
    let placement = Placement { height: 1.5, ..Placement::default() };
    for solver in on_rows() {
        let heard = heard(&solver, &Scene::flat(), placement, &Controls::default(), 1.0);
        let speed = |event: &Event| if let Event::BumpStopHit { speed, .. } = event { Some(*speed) } else { None };
        let speeds: Vec<f32> = heard.iter().filter_map(|(_, event)| speed(event)).collect();
        assert!(speeds.len() >= 4, "{}: {heard:?}", solver.name);
        assert!(speeds[..4].iter().all(|speed| (1.5..6.0).contains(speed)), "{}: {speeds:?}", solver.name);
    }
}

#[test]
fn a_lift_that_rises_is_met_with_its_speed_too() {
    let shape = FixedBox::axis_aligned(DVec3::new(0.0, 0.0, -3.0), Vec3::new(10.0, 10.0, 1.0));
    let course = PlatformCourse::Steady { velocity: Vec3::Z * 3.0, rate: 0.0 };
    let scene = Scene { has_plane: false, platforms: vec![Platform { shape, axis: Vec3::Z, course }], ..Scene::flat() };
    for solver in on_rows() {
        let placement = Placement { height: 0.5, ..Placement::default() };
        let mut world = (solver.build_world)(&scene, &[CarStart { model: c5().model(), placement }], 1.0 / 60.0);
        let (mut watch, mut landed) = (EventDetector::default(), Vec::new());
        while landed.is_empty() {
            let closing = 3.0 - world.state(0).velocity.z;
            world.step(&[Controls::default()]);
            watch.update(&world.car(0), 1.0 / 60.0, |event| {
                if let Event::TouchDown { speed, .. } = event {
                    landed.push((speed, closing));
                }
            });
            assert!(closing < 20.0, "{} fell past the lift", solver.name);
        }
        for (speed, closing) in &landed {
            // The car does not rotate before it lands.
            assert!((speed - closing).abs() < 0.01, "{}: {speed} of {closing} m/s", solver.name);
        }
    }
}

/// A car with no contact except its wheels reports no hit, under another gravity or under a downforce of 19 kN, which
/// is 0.6 m/s in a step of 20 Hz.
#[test]
fn what_touches_nothing_hits_nothing() {
    let presses = AeroSurface { coefficient: 3.0, point: Vec3::ZERO };
    let pressed = |parts: ModelParts| {
        let mut parts = parts.without_air();
        parts.aero.downforce[0] = presses;
        parts.model()
    };
    let heavy = Scene { gravity: 25.0, ..Scene::flat() };
    let cases = [
        (c5().model(), heavy, Placement { height: 10.0, ..Placement::default() }),
        (pressed(c5()), Scene::flat(), Placement { speed: 80.0, ..Placement::default() }),
    ];
    for solver in on_rows() {
        for (model, scene, placement) in &cases {
            let start = CarStart { model: model.clone(), placement: *placement };
            let mut world = (solver.build_world)(scene, &[start], 1.0 / 20.0);
            let heard = listen(world.as_mut(), &Controls { gear: Some(0), ..Controls::default() }, 0.7);
            let hits = count(&heard, |event| matches!(event, Event::Collision { .. }));
            assert_eq!(hits, 0, "{} under a gravity of {}", solver.name, scene.gravity);
        }
    }
}

/// A teleport causes no hit, even if the watch is not informed.
#[test]
fn a_teleport_is_no_hit() {
    for solver in on_rows() {
        let fast = Placement { speed: 30.0, ..Placement::default() };
        let mut world =
            (solver.build_world)(&Scene::flat(), &[CarStart { model: c5().model(), placement: fast }], 1.0 / 60.0);
        let (mut watch, mut hits) = (EventDetector::default(), 0);
        for step in 0..60 {
            if step == 30 {
                let standing = State::upright_at(&c5().model(), DVec3::new(40.0, 0.0, 0.0), Vec3::Z, 0.0);
                world.set_state(0, &standing).expect("it fits");
            }
            world.step(&[Controls::default()]);
            watch.update(&world.car(0), 1.0 / 60.0, |event| {
                hits += usize::from(matches!(event, Event::Collision { .. }))
            });
        }
        assert_eq!(hits, 0, "{}", solver.name);
    }
}

#[test]
fn a_quiet_drive_is_quiet() {
    let placement = Placement { speed: 20.0, ..Placement::default() };
    for solver in solvers() {
        let heard = heard(&solver, &Scene::flat(), placement, &Controls { throttle: 0.1, ..Controls::default() }, 3.0);
        let but_shifts: Vec<_> =
            heard.iter().filter(|(_, event)| !matches!(event, Event::GearChanged { .. })).collect();
        assert!(but_shifts.is_empty(), "{}: {but_shifts:?}", solver.name);
    }
}

#[test]
fn locked_wheels_skid_until_the_car_stands() {
    let placement = Placement { speed: 15.0, ..Placement::default() };
    for solver in on_rows() {
        let heard = heard(&solver, &Scene::flat(), placement, &Controls { handbrake: 1.0, ..Controls::default() }, 8.0);
        let [starts, ends] = [
            count(&heard, |event| matches!(event, Event::SkidStart { wheel: 2 | 3, .. })),
            count(&heard, |event| matches!(event, Event::SkidEnd { wheel: 2 | 3 })),
        ];
        assert_eq!((starts, ends), (2, 2), "{}: {heard:?}", solver.name);
    }
}

#[test]
fn full_throttle_shifts_and_runs_into_the_limiter_in_first() {
    for solver in on_rows() {
        let shifts = heard(
            &solver,
            &Scene::flat(),
            Placement::default(),
            &Controls { throttle: 1.0, ..Controls::default() },
            8.0,
        );
        assert!(
            count(&shifts, |event| matches!(event, Event::GearChanged { from: 1, to: 2 })) == 1,
            "{}: {shifts:?}",
            solver.name
        );
        let first = Controls { throttle: 1.0, gear: Some(1), ..Controls::default() };
        let limited = heard(&solver, &Scene::flat(), Placement::default(), &first, 8.0);
        assert!(count(&limited, |event| matches!(event, Event::RevLimiter)) >= 1, "{}: {limited:?}", solver.name);
    }
}

#[test]
fn a_wall_is_a_hit_that_takes_the_speed() {
    let wall = FixedBox::axis_aligned(DVec3::new(12.0, 0.0, 1.0), Vec3::new(2.0, 10.0, 2.0));
    let scene = Scene { boxes: vec![wall], ..Scene::flat() };
    let placement = Placement { speed: 10.0, ..Placement::default() };
    for solver in on_rows() {
        let heard = heard(&solver, &scene, placement, &Controls::default(), 2.0);
        let change = |event: &Event| if let Event::Collision { change } = event { change.x } else { 0.0 };
        let lost: f32 = heard.iter().map(|(_, event)| change(event)).sum();
        assert!((-12.0..-8.5).contains(&lost), "{}: {lost} m/s, {heard:?}", solver.name);
    }
}

#[test]
fn ice_is_heard_by_each_wheel_once() {
    let ice = FixedBox::axis_aligned(DVec3::new(30.0, 0.0, -0.5), Vec3::new(30.0, 40.0, 1.0));
    let scene = Scene { boxes: vec![FixedBox { grip: 0.3, ..ice }], ..Scene::flat() };
    let placement = Placement { speed: 12.0, ..Placement::default() };
    for solver in on_rows() {
        let heard = heard(&solver, &scene, placement, &Controls::default(), 2.5);
        let onto = |event: &Event| matches!(event, Event::SurfaceChanged { to, .. } if (to - 0.3).abs() < 1e-6);
        assert_eq!(count(&heard, onto), 4, "{}: {heard:?}", solver.name);
    }
}
