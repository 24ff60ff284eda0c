//! App with frames of a given length.

use std::time::Duration;

use bevy_app::prelude::*;
use bevy_ecs::prelude::*;
use bevy_time::{TimePlugin, TimeUpdateStrategy, prelude::*};
use bevy_transform::prelude::*;
use skidpad_bevy::{BuiltinWorldPlugin, Car, CarPlugin};
use skidpad_core::{Scene, SolverInfo};

pub const TESTED_SOLVERS: [SolverInfo; 2] = [skidpad_impulse::BACKEND_INFO, skidpad_constraint::BACKEND_INFO];

/// Creates an app at 60 Hz with a world of `solver` on `scene`, after its first frame.
pub fn app(solver: SolverInfo, scene: Scene) -> App {
    let mut app = App::new();
    app.add_plugins((TimePlugin, TransformPlugin, CarPlugin::default(), BuiltinWorldPlugin { solver, scene }))
        .insert_resource(Time::<Fixed>::from_hz(60.0));
    // The first frame has the length 0.
    app.update();
    app
}

/// Runs one frame of this length (ms).
pub fn frame(app: &mut App, milliseconds: f64) {
    let duration = Duration::from_secs_f64(milliseconds / 1000.0);
    app.insert_resource(TimeUpdateStrategy::ManualDuration(duration));
    app.update();
}

/// Returns the component of the shipped `corvette_c5`.
pub fn c5() -> Car {
    Car(skidpad_spec::load("corvette_c5").unwrap().model)
}

/// Spawns a Corvette C5 at `transform` and returns its entity.
pub fn spawn_car(app: &mut App, transform: Transform) -> Entity {
    app.world_mut().spawn((c5(), transform)).id()
}

/// Returns the transform of the entity. Panics without one.
pub fn transform_of(app: &App, entity: Entity) -> Transform {
    *app.world().get::<Transform>(entity).unwrap()
}
