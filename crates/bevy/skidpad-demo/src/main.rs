//! Driving demo: a Bevy application with skidpad's solvers.

mod bodies;
mod camera;
mod cones;
mod garage;
mod ghost;
mod hud;
mod options;
mod player_input;
mod rewind;
mod scenery;
mod script;
mod skid_marks;
mod sound;

use bevy::prelude::*;
use bevy::render::RenderPlugin;
use clap::Parser;
use skidpad_bevy::{BuiltinWorldPlugin, CarGizmosPlugin, CarPlugin};

/// Reads the options and files, builds the application and runs it until its window is closed or the script ends.
///
/// Faults of the files are printed to the standard error, and the exit code is that for failure. The fixed time step is
/// 1 / `hz`. There is no sound if `mute` is set.
fn main() -> AppExit {
    let options = options::Options::parse();
    let start = match options.load() {
        Ok(start) => start,
        Err(fault) => {
            eprintln!("{fault}");
            return AppExit::error();
        }
    };
    let window = Window {
        title: "skidpad".into(),
        resolution: (options.width, options.height).into(),
        // A script runs as fast as its frames are drawn.
        present_mode: match start.script {
            Some(_) => bevy::window::PresentMode::AutoNoVsync,
            None => bevy::window::PresentMode::AutoVsync,
        },
        ..default()
    };
    // Synchronous pipeline compilation makes the first screenshot of a script complete.
    let render = RenderPlugin { synchronous_pipeline_compilation: start.script.is_some(), ..default() };
    let windows = WindowPlugin { primary_window: Some(window), ..default() };
    let mut app = App::new();
    app.add_plugins(DefaultPlugins.set(windows).set(render))
        .insert_resource(Time::<Fixed>::from_hz(f64::from(options.hz)))
        .add_plugins((CarPlugin::default(), CarGizmosPlugin))
        // The world comes before the plugins that use it.
        .add_plugins(BuiltinWorldPlugin { solver: start.garage.solver(), scene: start.scene.clone() })
        .insert_resource(start.garage)
        .add_plugins(scenery::plugin(start.scene.clone(), options.start))
        .add_plugins(ghost::plugin(start.scene))
        .add_plugins((player_input::plugin, bodies::plugin, camera::plugin, cones::plugin, garage::plugin, hud::plugin))
        .add_plugins((skid_marks::plugin, rewind::plugin));
    if !options.mute {
        app.add_plugins(sound::plugin);
    }
    if let Some(script) = start.script {
        app.add_plugins(script::plugin(script, options.screenshots));
    }
    app.run()
}
