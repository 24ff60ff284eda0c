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

/// Returns the component of a shipped vehicle.
pub fn load(name: &str) -> Car {
    Car(skidpad_spec::load(name).unwrap().model)
}

/// Runs frames of 1/60 s for this time (s), one tick each. Returns the events that were sent.
pub fn run_ticks(app: &mut App, seconds: f64) -> Vec<CarEvent> {
    let mut events = Vec::new();
    for _ in 0..(seconds * 60.0).round() as usize {
        frame(app, 1000.0 / 60.0);
        events.extend(app.world_mut().resource_mut::<Messages<CarEvent>>().drain());
    }
    events
}

/// Returns the state of the car after its last step. Panics if it is in no world.
pub fn state(app: &App, car: Entity) -> State {
    app.world().get::<CarMotion>(car).unwrap().state().clone()
}

/// Spawns a car at x = 3 m and a caravan that it tows. Returns both entities, the car first.
fn spawn_train(app: &mut App) -> [Entity; 2] {
    let car = app.world_mut().spawn((load("toyota_4runner"), Transform::from_xyz(3.0, 0.0, 0.0))).id();
    // A towed trailer is moved to its hitch, so its spawn position has no effect.
    [car, app.world_mut().spawn((load("caravan"), Transform::default(), TowedBy(car))).id()]
}

/// Returns the distance of coupler and hitch (m).
pub fn hitch_gap(app: &App, [car, trailer]: [Entity; 2]) -> f32 {
    let car_component = |car: Entity| app.world().get::<Car>(car).unwrap().0.clone();
    let hitch = car_component(car).parts().hitch.unwrap().point;
    let coupler = car_component(trailer).parts().coupler.unwrap().point;
    let [car, trailer] = [car, trailer].map(|car| state(app, car));
    let offset = (trailer.position - car.position).as_vec3();
    (offset + trailer.rotation * coupler - car.rotation * hitch).length()
}

/// Largest distance of coupler and hitch after a step at 60 Hz (m).
pub const MAX_HITCH_GAP_M: f32 = 2e-3;

/// Checks that the hitch stays closed for 5 s of full throttle, and that car and trailer have the same velocity within
/// 0.1 m/s. The trailer is drawn straight behind the car.
#[test]
fn a_trailer_follows() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        let train = spawn_train(&mut app);
        app.world_mut().get_mut::<CarInputs>(train[0]).unwrap().throttle = 1.0;
        for _ in 0..20 {
            run_ticks(&mut app, 0.25);
            assert!(hitch_gap(&app, train) < MAX_HITCH_GAP_M, "{}: {} m", solver.name, hitch_gap(&app, train));
        }
        let [car, trailer] = train.map(|car| state(&app, car));
        assert!(car.velocity.length() > 5.0 && (car.velocity - trailer.velocity).length() < 0.1, "{}", solver.name);
        let trailer_position = app.world().get::<Transform>(train[1]).unwrap().translation;
        assert!(
            trailer_position.z < -10.0 && (trailer_position.x - 3.0).abs() < 0.1,
            "{}: {trailer_position}",
            solver.name
        );
    }
}

/// Checks that a teleport of the car moves the trailer with it, in line behind the car, with a closed hitch.
#[test]
fn it_goes_where_the_car_jumps() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        let train = spawn_train(&mut app);
        run_ticks(&mut app, 1.0);
        let target = Transform::from_xyz(500.0, 0.0, 80.0).looking_to(Vec3::X, Vec3::Y);
        app.world_mut().entity_mut(train[0]).insert(Teleport::To(target));
        run_ticks(&mut app, 1.0);
        assert!(hitch_gap(&app, train) < MAX_HITCH_GAP_M, "{}: {} m", solver.name, hitch_gap(&app, train));
        let trailer_position = app.world().get::<Transform>(train[1]).unwrap().translation;
        assert!(
            trailer_position.x < 497.0 && trailer_position.x > 490.0 && (trailer_position.z - 80.0).abs() < 0.1,
            "{}: {trailer_position}",
            solver.name
        );
    }
}

/// Checks that a trailer is hitched to a driving car and later released. The trailer then sends exactly one unhitching
/// event, has no tow and coasts for at least 0.8 of its way at constant speed, while the car accelerates.
#[test]
fn hitched_and_let_go_while_driving() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        let car = app.world_mut().spawn((load("toyota_4runner"), Transform::default())).id();
        let trailer = app.world_mut().spawn((load("caravan"), Transform::from_xyz(40.0, 0.0, 0.0))).id();
        app.world_mut().get_mut::<CarInputs>(car).unwrap().throttle = 1.0;
        run_ticks(&mut app, 3.0);
        app.world_mut().entity_mut(trailer).insert(TowedBy(car));
        run_ticks(&mut app, 1.0);
        assert!(hitch_gap(&app, [car, trailer]) < MAX_HITCH_GAP_M, "{}", solver.name);
        let state_before = state(&app, trailer);
        app.world_mut().entity_mut(trailer).remove::<TowedBy>();
        let events = run_ticks(&mut app, 0.5);
        let unhitch_event = CarEvent { car: trailer, event: Event::Unhitched };
        assert_eq!(events.iter().filter(|event| **event == unhitch_event).count(), 1, "{}: {events:?}", solver.name);
        let state_after = state(&app, trailer);
        assert!(state_after.tow.is_none());
        assert!(state(&app, car).velocity.length() > state_before.velocity.length(), "the car drives on");
        assert!(state_after.velocity.length() < state_before.velocity.length(), "the trailer coasts");
        assert!(
            (state_after.position - state_before.position).length()
                > 0.8 * f64::from(0.5 * state_before.velocity.length())
        );
    }
}

/// Checks that a new car with the number of a despawned towing car does not tow its trailer. The trailer comes to rest,
/// and can be hitched to the new car.
#[test]
fn a_number_that_is_given_anew_tows_nothing() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        let [car, trailer] = spawn_train(&mut app);
        run_ticks(&mut app, 0.5);
        app.world_mut().entity_mut(car).despawn();
        let new_car = app.world_mut().spawn((load("toyota_4runner"), Transform::from_xyz(60.0, 0.0, 0.0))).id();
        app.world_mut().get_mut::<CarInputs>(new_car).unwrap().throttle = 1.0;
        run_ticks(&mut app, 2.0);
        let trailer_state = state(&app, trailer);
        assert!(
            trailer_state.tow.is_none() && trailer_state.velocity.length() < 2.0,
            "{}: {trailer_state:?}",
            solver.name
        );
        // The trailer can be hitched to the new car.
        app.world_mut().entity_mut(trailer).insert(TowedBy(new_car));
        run_ticks(&mut app, 0.5);
        assert!(hitch_gap(&app, [new_car, trailer]) < MAX_HITCH_GAP_M, "{}", solver.name);
    }
}

/// Checks that a trailer behind a car without a hitch, and a car that names itself, stay where they are spawned and
/// have no tow.
#[test]
fn what_cannot_be_hitched_stays() {
    for solver in TESTED_SOLVERS {
        let mut app = app(solver, Scene::flat());
        let car = app.world_mut().spawn((load("corvette_c5"), Transform::default())).id();
        let transform = Transform::from_xyz(20.0, 0.0, 0.0);
        let unhitchable_trailer = app.world_mut().spawn((load("caravan"), transform, TowedBy(car))).id();
        let self_towing_car = app.world_mut().spawn((load("corvette_c5"), Transform::from_xyz(-20.0, 0.0, 0.0))).id();
        app.world_mut().entity_mut(self_towing_car).insert(TowedBy(self_towing_car));
        run_ticks(&mut app, 0.5);
        for (car, x) in [(unhitchable_trailer, 20.0), (self_towing_car, -20.0)] {
            assert!((app.world().get::<Transform>(car).unwrap().translation.x - x).abs() < 0.5, "{}", solver.name);
            assert!(state(&app, car).tow.is_none());
        }
    }
}
