//! App with frames of a given length.

use std::time::Duration;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy, prelude::*};
use bevy_transform::prelude::*;
use skidpad_bevy::{BuiltinWorldPlugin, Car, CarPlugin};
use skidpad_core::{Scene, SolverInfo};

pub const TESTED_SOLVERS: [SolverInfo; 2] = [skidpad_impulse::BACKEND_INFO, skidpad_constraint::BACKEND_INFO];

pub fn app(solver: SolverInfo, scene: Scene) -> App {
    let mut app = App::new();
    app.add_plugins((TimePlugin, TransformPlugin, CarPlugin::default(), BuiltinWorldPlugin { solver, scene }))
        .insert_resource(Time::<Fixed>::from_hz(60.0));
    // The first frame has the length 0.
    app.update();
    app
}

pub fn frame(app: &mut App, milliseconds: f64) {
    let duration = Duration::from_secs_f64(milliseconds / 1000.0);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(duration));
    app.update();
}

pub fn c5() -> Car {
    Car(skidpad_spec::load("corvette_c5").unwrap().model)
}

pub fn spawn_car(app: &mut App, transform: Transform) -> Entity {
    app.world_mut().spawn((c5(), transform)).id()
}

pub fn transform_of(app: &App, entity: Entity) -> Transform {
    *app.world().get::<Transform>(entity).unwrap()
}
