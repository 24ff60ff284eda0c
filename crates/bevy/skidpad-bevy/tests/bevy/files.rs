//! Vehicle files as assets, changed while the car drives.

use crate::app::{SOLVERS, app, frame};
use bevy_asset::{AssetPlugin, AssetServer, Assets};
use bevy_ecs::message::Messages;
use bevy_transform::prelude::*;
use skidpad_bevy::{Car, CarFile, CarFileFaults, CarFilePlugin, CarMotion, VehicleFile};
use skidpad_core::Scene;

#[test]
fn a_file_that_changes_changes_the_running_car_and_its_faults_do_not() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mine.toml");
    let text = skidpad_spec::shipped::find("corvette_c5").unwrap();
    std::fs::write(&path, text).unwrap();
    let mut app = app(SOLVERS[0], Scene::flat());
    let root = folder.path().display().to_string();
    app.add_plugins((
        bevy_app::TaskPoolPlugin::default(),
        AssetPlugin { file_path: root, ..AssetPlugin::default() },
        CarFilePlugin,
    ));
    let file = app.world().resource::<AssetServer>().load::<VehicleFile>("mine.toml");
    let car = app.world_mut().spawn((CarFile(file.clone()), Transform::default())).id();
    let until = |app: &mut bevy_app::App, done: &dyn Fn(&bevy_app::App) -> bool| {
        for _ in 0..2000 {
            frame(app, 5.0);
            if done(app) {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        panic!("it did not happen");
    };
    until(&mut app, &|app| app.world().get::<CarMotion>(car).is_some());
    let mass = |app: &bevy_app::App| app.world().get::<Car>(car).unwrap().0.mass();
    let before = mass(&app);

    let heavier = text.replacen("mass_kg = ", "mass_kg = 1", 1);
    std::fs::write(&path, heavier.as_str()).unwrap();
    app.world().resource::<AssetServer>().reload("mine.toml");
    until(&mut app, &|app| mass(app) > before + 1000.0);
    frame(&mut app, 20.0);

    std::fs::write(&path, heavier.replacen("mass_kg = ", "mass_gk = ", 1)).unwrap();
    app.world().resource::<AssetServer>().reload("mine.toml");
    until(&mut app, &|app| !app.world().resource::<Messages<CarFileFaults>>().is_empty());
    let told: Vec<CarFileFaults> = app.world_mut().resource_mut::<Messages<CarFileFaults>>().drain().collect();
    assert!(told.iter().all(|told| told.car == car && told.faults.listed().contains("mass_gk")), "{told:?}");
    assert!(mass(&app) > before + 1000.0, "the old car drives on");
    assert!(app.world().resource::<Assets<VehicleFile>>().get(&file).is_some_and(|file| file.0.is_err()));
}
