//! Trailers as entities.

use crate::app::{TESTED_SOLVERS, app, frame};
use bevy_app::prelude::*;
use bevy_ecs::message::Messages;
use bevy_ecs::prelude::*;
use bevy_math::Vec3;
use bevy_transform::prelude::*;
use skidpad_bevy::{Car, CarEvent, CarInputs, CarMotion, Teleport, TowedBy};
use skidpad_core::{Scene, State};
use skidpad_drive::Event;

pub fn load(name: &str) -> Car {
    Car(skidpad_spec::load(name).unwrap().model)
}

pub fn ticks(app: &mut App, seconds: f64) -> Vec<CarEvent> {
    let mut heard = Vec::new();
    for _ in 0..(seconds * 60.0).round() as usize {
        frame(app, 1000.0 / 60.0);
        heard.extend(app.world_mut().resource_mut::<Messages<CarEvent>>().drain());
    }
    heard
}

pub fn state(app: &App, car: Entity) -> State {
    app.world().get::<CarMotion>(car).unwrap().state().clone()
}

fn train(app: &mut App) -> [Entity; 2] {
    let car = app.world_mut().spawn((load("toyota_4runner"), Transform::from_xyz(3.0, 0.0, 0.0))).id();
    // A towed trailer is moved to its hitch, so its spawn position has no effect.
    [car, app.world_mut().spawn((load("caravan"), Transform::default(), TowedBy(car))).id()]
}

/// Returns the distance of coupler and hitch (m).
pub fn gap(app: &App, [car, trailer]: [Entity; 2]) -> f32 {
    let part = |car: Entity| app.world().get::<Car>(car).unwrap().0.clone();
    let hitch = part(car).parts().hitch.unwrap().point;
    let coupler = part(trailer).parts().coupler.unwrap().point;
    let [car, trailer] = [car, trailer].map(|car| state(app, car));
    let apart = (trailer.position - car.position).as_vec3();
    (apart + trailer.rotation * coupler - car.rotation * hitch).length()
}

/// Largest distance of coupler and hitch after a step at 60 Hz (m).
pub const MAX_HITCH_GAP_M: f32 = 2e-3;

#[test]
fn a_trailer_follows() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        let train = train(&mut app);
        app.world_mut().get_mut::<CarInputs>(train[0]).unwrap().throttle = 1.0;
        for _ in 0..20 {
            ticks(&mut app, 0.25);
            assert!(gap(&app, train) < MAX_HITCH_GAP_M, "{}: {} m", solver.name, gap(&app, train));
        }
        let [car, trailer] = train.map(|car| state(&app, car));
        assert!(car.velocity.length() > 5.0 && (car.velocity - trailer.velocity).length() < 0.1, "{}", solver.name);
        let reached = app.world().get::<Transform>(train[1]).unwrap().translation;
        assert!(reached.z < -10.0 && (reached.x - 3.0).abs() < 0.1, "{}: {reached}", solver.name);
    }
}

#[test]
fn it_goes_where_the_car_jumps() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        let train = train(&mut app);
        ticks(&mut app, 1.0);
        let there = Transform::from_xyz(500.0, 0.0, 80.0).looking_to(Vec3::X, Vec3::Y);
        app.world_mut().entity_mut(train[0]).insert(Teleport::To(there));
        ticks(&mut app, 1.0);
        assert!(gap(&app, train) < MAX_HITCH_GAP_M, "{}: {} m", solver.name, gap(&app, train));
        let behind = app.world().get::<Transform>(train[1]).unwrap().translation;
        assert!(behind.x < 497.0 && behind.x > 490.0 && (behind.z - 80.0).abs() < 0.1, "{}: {behind}", solver.name);
    }
}

#[test]
fn hitched_and_let_go_while_driving() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        let car = app.world_mut().spawn((load("toyota_4runner"), Transform::default())).id();
        let trailer = app.world_mut().spawn((load("caravan"), Transform::from_xyz(40.0, 0.0, 0.0))).id();
        app.world_mut().get_mut::<CarInputs>(car).unwrap().throttle = 1.0;
        ticks(&mut app, 3.0);
        app.world_mut().entity_mut(trailer).insert(TowedBy(car));
        ticks(&mut app, 1.0);
        assert!(gap(&app, [car, trailer]) < MAX_HITCH_GAP_M, "{}", solver.name);
        let before = state(&app, trailer);
        app.world_mut().entity_mut(trailer).remove::<TowedBy>();
        let heard = ticks(&mut app, 0.5);
        let told = CarEvent { car: trailer, event: Event::Unhitched };
        assert_eq!(heard.iter().filter(|event| **event == told).count(), 1, "{}: {heard:?}", solver.name);
        let after = state(&app, trailer);
        assert!(after.tow.is_none());
        assert!(state(&app, car).velocity.length() > before.velocity.length(), "the car drives on");
        assert!(after.velocity.length() < before.velocity.length(), "the trailer coasts");
        assert!((after.position - before.position).length() > 0.8 * f64::from(0.5 * before.velocity.length()));
    }
}

#[test]
fn a_number_that_is_given_anew_tows_nothing() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        let [car, trailer] = train(&mut app);
        ticks(&mut app, 0.5);
        app.world_mut().entity_mut(car).despawn();
        let other = app.world_mut().spawn((load("toyota_4runner"), Transform::from_xyz(60.0, 0.0, 0.0))).id();
        app.world_mut().get_mut::<CarInputs>(other).unwrap().throttle = 1.0;
        ticks(&mut app, 2.0);
        let left = state(&app, trailer);
        assert!(left.tow.is_none() && left.velocity.length() < 2.0, "{}: {left:?}", solver.name);
        // The trailer can be hitched to the new car.
        app.world_mut().entity_mut(trailer).insert(TowedBy(other));
        ticks(&mut app, 0.5);
        assert!(gap(&app, [other, trailer]) < MAX_HITCH_GAP_M, "{}", solver.name);
    }
}

#[test]
fn what_cannot_be_hitched_stays() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        let car = app.world_mut().spawn((load("corvette_c5"), Transform::default())).id();
        let place = Transform::from_xyz(20.0, 0.0, 0.0);
        let none = app.world_mut().spawn((load("caravan"), place, TowedBy(car))).id();
        let itself = app.world_mut().spawn((load("corvette_c5"), Transform::from_xyz(-20.0, 0.0, 0.0))).id();
        app.world_mut().entity_mut(itself).insert(TowedBy(itself));
        ticks(&mut app, 0.5);
        for (car, x) in [(none, 20.0), (itself, -20.0)] {
            assert!((app.world().get::<Transform>(car).unwrap().translation.x - x).abs() < 0.5, "{}", solver.name);
            assert!(state(&app, car).tow.is_none());
        }
    }
}
