//! Events, each with the case that makes it.

use crate::common::{on_rows, solvers};
use skidpad::core::{BackendInfo, FixedBox};
use skidpad::prelude::*;

/// Every event of `seconds` of a C5 with `controls`, with its time, s.
fn heard(
    solver: &BackendInfo,
    scene: &Scene,
    placement: Placement,
    controls: &Controls,
    seconds: f32,
) -> Vec<(f32, Event)> {
    let model = skidpad::spec::load("corvette_c5").unwrap().model;
    let dt = 1.0 / 120.0;
    let mut world = (solver.build)(scene, &[CarStart { model, placement }], dt);
    let (mut watch, mut heard) = (Watch::default(), Vec::new());
    for step in 0..(seconds / dt) as usize {
        world.step(std::slice::from_ref(controls));
        watch.look(&world.car(0), dt, |event| heard.push((step as f32 * dt, event)));
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
        // The wheels hang below by their droop when they touch: at 0.8 m less that.
        for speed in &landed[..4] {
            assert!((3.2..3.97).contains(speed), "{} lands with {speed} m/s", solver.name);
        }
        assert!(count(&heard, |event| matches!(event, Event::Bottomed { .. })) > 0, "{}: {heard:?}", solver.name);
    }
}

#[test]
fn a_quiet_drive_is_quiet() {
    let placement = Placement { speed: 20.0, ..Placement::default() };
    for solver in solvers() {
        let heard = heard(&solver, &Scene::flat(), placement, &Controls { throttle: 0.1, ..Controls::default() }, 3.0);
        let but_shifts: Vec<_> = heard.iter().filter(|(_, event)| !matches!(event, Event::Shifted { .. })).collect();
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
            count(&shifts, |event| matches!(event, Event::Shifted { from: 1, to: 2 })) == 1,
            "{}: {shifts:?}",
            solver.name
        );
        let first = Controls { throttle: 1.0, gear: Some(1), ..Controls::default() };
        let limited = heard(&solver, &Scene::flat(), Placement::default(), &first, 8.0);
        assert!(count(&limited, |event| matches!(event, Event::Limited)) >= 1, "{}: {limited:?}", solver.name);
    }
}

#[test]
fn a_wall_is_a_hit_that_takes_the_speed() {
    let wall = FixedBox::upright(DVec3::new(12.0, 0.0, 1.0), Vec3::new(2.0, 10.0, 2.0));
    let scene = Scene { boxes: vec![wall], ..Scene::flat() };
    let placement = Placement { speed: 10.0, ..Placement::default() };
    for solver in on_rows() {
        let heard = heard(&solver, &scene, placement, &Controls::default(), 2.0);
        let change = |event: &Event| if let Event::Hit { change } = event { change.x } else { 0.0 };
        let lost: f32 = heard.iter().map(|(_, event)| change(event)).sum();
        assert!((-12.0..-8.5).contains(&lost), "{}: {lost} m/s, {heard:?}", solver.name);
    }
}

#[test]
fn ice_is_heard_by_each_wheel_once() {
    let ice = FixedBox::upright(DVec3::new(30.0, 0.0, -0.5), Vec3::new(30.0, 40.0, 1.0));
    let scene = Scene { boxes: vec![FixedBox { grip: 0.3, ..ice }], ..Scene::flat() };
    let placement = Placement { speed: 12.0, ..Placement::default() };
    for solver in on_rows() {
        let heard = heard(&solver, &scene, placement, &Controls::default(), 2.5);
        let onto = |event: &Event| matches!(event, Event::SurfaceChanged { to, .. } if (to - 0.3).abs() < 1e-6);
        assert_eq!(count(&heard, onto), 4, "{}: {heard:?}", solver.name);
    }
}
