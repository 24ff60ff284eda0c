//! Vehicle files as assets that change while the car drives.

use crate::app::{TESTED_SOLVERS, app, frame};
use crate::towing::{MAX_HITCH_GAP_M, hitch_gap, load, run_ticks, state};
use bevy_asset::{AssetPlugin, AssetServer, Assets, LoadState};
use bevy_ecs::message::Messages;
use bevy_math::Vec3;
use bevy_transform::prelude::*;
use skidpad_bevy::{
    Car, CarFile, CarFileFaults, CarFilePlugin, CarInputs, CarMotion, Dolly, Teleport, TowedBy, VehicleFile,
};
use skidpad_core::{Scene, SolverInfo};
use skidpad_spec::files::FileKind;
use std::path::Path;

/// Runs frames of 5 ms until `is_done` returns true. Panics after 2000 frames. Real time passes between the frames, 1
/// ms each, because files are read in the background.
fn run_until(app: &mut bevy_app::App, is_done: &dyn Fn(&bevy_app::App) -> bool) {
    for _ in 0..2000 {
        frame(app, 5.0);
        if is_done(app) {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    panic!("it did not happen");
}

/// Creates an app whose assets are in `folder`.
fn app_in(solver: SolverInfo, folder: &Path) -> bevy_app::App {
    let mut app = app(solver, Scene::flat());
    let file_path = folder.display().to_string();
    app.add_plugins((
        bevy_app::TaskPoolPlugin::default(),
        AssetPlugin { file_path, ..AssetPlugin::default() },
        CarFilePlugin,
    ));
    app
}

/// Checks that a car gets the new model of its changed file. After a change with a misspelt key, messages name the car
/// and the key, the car keeps its model, and the asset is the faults.
#[test]
fn a_file_that_changes_changes_the_running_car_and_its_faults_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let text = skidpad_spec::shipped::find("corvette_c5").unwrap();
    std::fs::write(&path, text).unwrap();
    let mut app = app_in(TESTED_SOLVERS[0], folder.path());
    let file = app.world().resource::<AssetServer>().load::<VehicleFile>("mine.toml");
    let car = app.world_mut().spawn((CarFile(file.clone()), Transform::default())).id();
    run_until(&mut app, &|app| app.world().get::<CarMotion>(car).is_some());
    let mass = |app: &bevy_app::App| app.world().get::<Car>(car).unwrap().0.mass();
    let old_mass = mass(&app);

    // A leading 1 makes the car more than a tonne heavier.
    let heavier_text = text.replacen("mass_kg = ", "mass_kg = 1", 1);
    std::fs::write(&path, heavier_text.as_str()).unwrap();
    app.world().resource::<AssetServer>().reload("mine.toml");
    run_until(&mut app, &|app| mass(app) > old_mass + 1000.0);
    frame(&mut app, 20.0);

    // A key that does not exist.
    std::fs::write(&path, heavier_text.replacen("mass_kg = ", "mass_gk = ", 1)).unwrap();
    app.world().resource::<AssetServer>().reload("mine.toml");
    run_until(&mut app, &|app| !app.world().resource::<Messages<CarFileFaults>>().is_empty());
    let messages: Vec<CarFileFaults> = app.world_mut().resource_mut::<Messages<CarFileFaults>>().drain().collect();
    assert!(
        messages.iter().all(|messages| messages.car == car && messages.faults.to_text().contains("mass_gk")),
        "{messages:?}"
    );
    assert!(mass(&app) > old_mass + 1000.0, "the old car drives on");
    assert!(app.world().resource::<Assets<VehicleFile>>().get(&file).is_some_and(|file| file.0.is_err()));
}

/// Largest distance of a full trailer from its spawn position if it rests on its drawbar without a towing vehicle (m).
const MAX_DRAWBAR_DROP_M: f32 = 0.05;

/// Checks that a full trailer is spawned with its dolly, and that both are hitched, released, teleported and hitched
/// again while driving as one. All hitch gaps stay below [`MAX_HITCH_GAP_M`]. After the release the dolly has no tow,
/// but the trailer still has one. The trailer stands where it is spawned or teleported to, within
/// [`MAX_DRAWBAR_DROP_M`]. The dolly is despawned with the trailer.
#[test]
fn a_full_trailer_brings_its_dolly() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("wagon.toml"), skidpad_spec::shipped::find("wagon").unwrap()).unwrap();
    for solver in TESTED_SOLVERS {
        let mut app = app_in(solver, folder.path());
        let car = app.world_mut().spawn((load("toyota_4runner"), Transform::default())).id();
        let file = app.world().resource::<AssetServer>().load::<VehicleFile>("wagon.toml");
        let start_transform = Transform::from_xyz(20.0, 0.0, 0.0);
        let trailer = app.world_mut().spawn((CarFile(file), start_transform)).id();
        run_until(&mut app, &|app| app.world().get::<CarMotion>(trailer).is_some());
        run_ticks(&mut app, 0.5);
        let dolly = app.world().get::<Dolly>(trailer).unwrap().entity();
        assert!(hitch_gap(&app, [dolly, trailer]) < MAX_HITCH_GAP_M, "{}", solver.name);
        let position = app.world().get::<Transform>(trailer).unwrap().translation;
        assert!(
            position.distance(start_transform.translation) < MAX_DRAWBAR_DROP_M,
            "{}: it stands where it was put, not at {position}",
            solver.name
        );

        app.world_mut().entity_mut(trailer).insert(TowedBy(car));
        app.world_mut().get_mut::<CarInputs>(car).unwrap().throttle = 1.0;
        let hitched_pairs = [[car, dolly], [dolly, trailer]];
        for _ in 0..12 {
            run_ticks(&mut app, 0.25);
            assert!(hitched_pairs.iter().all(|pair| hitch_gap(&app, *pair) < MAX_HITCH_GAP_M), "{}", solver.name);
        }
        app.world_mut().entity_mut(trailer).remove::<TowedBy>();
        run_ticks(&mut app, 0.5);
        assert!(state(&app, dolly).tow.is_none() && state(&app, trailer).tow.is_some(), "{}", solver.name);
        let target = Transform::from_xyz(-300.0, 0.0, 50.0).looking_to(Vec3::X, Vec3::Y);
        app.world_mut().entity_mut(trailer).insert(Teleport::To(target));
        run_ticks(&mut app, 0.5);
        let position = app.world().get::<Transform>(trailer).unwrap().translation;
        assert!(position.distance(target.translation) < MAX_DRAWBAR_DROP_M, "{}: it stands at {position}", solver.name);

        // The dolly is loaded at once after the teleport, so it does not sink.
        app.world_mut().entity_mut(trailer).insert(TowedBy(car));
        run_ticks(&mut app, 1.0 / 60.0);
        let height = |app: &bevy_app::App| state(app, dolly).position.z;
        let start_height = height(&app);
        run_ticks(&mut app, 1.0);
        assert!((height(&app) - start_height).abs() < 3e-3, "{}: {start_height} to {} m", solver.name, height(&app));
        assert!(hitched_pairs.iter().all(|pair| hitch_gap(&app, *pair) < MAX_HITCH_GAP_M), "{}", solver.name);

        app.world_mut().entity_mut(trailer).despawn();
        run_ticks(&mut app, 0.1);
        assert!(app.world().get_entity(dolly).is_err(), "{}: the dolly goes with it", solver.name);
    }
}

/// Checks that a vehicle file one byte too large fails to load, with the limit of 16 MiB in the error.
#[test]
fn a_file_beyond_the_size_limit_fails_to_load() {
    let folder = tempfile::tempdir().unwrap();
    let file = std::fs::File::create(folder.path().join("large.toml")).unwrap();
    file.set_len(FileKind::Vehicle.max_bytes() + 1).unwrap();
    let mut app = app_in(TESTED_SOLVERS[0], folder.path());
    let file = app.world().resource::<AssetServer>().load::<VehicleFile>("large.toml");
    let state = |app: &bevy_app::App| app.world().resource::<AssetServer>().load_state(&file);
    run_until(&mut app, &|app| state(app).is_failed());
    let LoadState::Failed(error) = state(&app) else { panic!("the state is {:?}", state(&app)) };
    assert!(error.to_string().contains("16 MiB"), "{error}");
}
