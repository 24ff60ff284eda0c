//! Every manoeuvre on flat ground of every kind, from numbers and from files, with every solver, against the plane.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use skidpad::core::{DVec3, FixedBox, HeightField, Road, RoadClass, Scene, SolverInfo, TriangleMesh, Vec3};
use skidpad::lab::compare::{Spread, compare};
use skidpad::lab::manoeuvre::{GROUND_KINDS, MANOEUVRES, Overrides};
use skidpad::lab::run::TimeStep;
use skidpad::spec::LoadedScene;

fn without_plane() -> Scene {
    Scene { has_plane: false, ..Scene::flat() }
}

/// Returns level ground of every kind from x = −200 m to 19.8 km, 1200 m wide. Cars start on a grid line.
fn grounds() -> Vec<(&'static str, Scene)> {
    let (corner, size) = (DVec3::new(-200.0, -600.0, 0.0), [20_000.0f32, 1200.0]);
    let slab = FixedBox::axis_aligned(DVec3::new(9800.0, 0.0, -0.5), Vec3::new(size[0], size[1], 1.0));
    let field = HeightField::new(corner, [50.0; 2], [401, 25], vec![0.0; 401 * 25], false, 1.0).expect("a field");
    let at = |k: usize| Vec3::new(50.0 * (k % 401) as f32, 50.0 * (k / 401) as f32, 0.0);
    let cells = (0..24 * 401).filter(|k| k % 401 < 400).map(|k| k as u32);
    let faces = cells.flat_map(|k| [[k, k + 1, k + 402], [k, k + 402, k + 401]]).collect();
    let mesh = TriangleMesh::new(corner, (0..401 * 25).map(at).collect(), faces, 0.5, 1.0).expect("a mesh");
    let mut all = vec![
        ("boxes", Scene { boxes: vec![slab], ..without_plane() }),
        ("height fields", Scene { height_fields: vec![Arc::new(field)], ..without_plane() }),
        ("meshes", Scene { meshes: vec![Arc::new(mesh)], ..without_plane() }),
    ];
    all.extend(["obj", "crg"].map(|file| (file, of_file(file))));
    all
}

/// Writes the level ground as an `obj` or `crg` file with its scene, and returns the loaded scene.
fn of_file(kind: &str) -> Scene {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("flat_{kind}"));
    std::fs::create_dir_all(&folder).expect("a folder");
    let (scene, name, text) = match kind {
        "obj" => (
            "[[mesh]]\nfile = \"flat.obj\"\nup = \"z\"\n",
            "flat.obj",
            "v -200 -600 0\nv 19800 -600 0\nv 19800 600 0\nv -200 600 0\nf 1 2 3 4\n".to_string(),
        ),
        _ => ("[[crg]]\nfile = \"flat.crg\"\n", "flat.crg", crg()),
    };
    std::fs::write(folder.join(name), text).expect("written");
    let path = folder.join("flat.toml");
    std::fs::write(&path, format!("description = \"flat\"\nplane = false\n{scene}")).expect("written");
    LoadedScene::load(&path).expect("a scene").scene
}

/// Returns a straight road of 20 km in cells of 50 m in OpenCRG format.
fn crg() -> String {
    let keys = [
        ("reference_line_start_u", 0),
        ("reference_line_end_u", 20_000),
        ("reference_line_increment", 50),
        ("long_section_v_right", -600),
        ("long_section_v_left", 600),
        ("long_section_v_increment", 50),
        ("reference_line_start_x", -200),
        ("reference_line_end_x", 19_800),
    ];
    let mut text = String::from("$CT\nflat\n$\n$ROAD_CRG\n");
    text.extend(keys.map(|(key, value)| format!("{key} = {value}\n")));
    text.push_str("$\n$KD_DEFINITION\n#:LRFI\nU:reference line u,m,0,50\n");
    text.extend((1..=25).map(|k| format!("D:long section {k},m\n")));
    text.push_str(&format!("$\n{}\n", "$".repeat(72)));
    // A row has 25 numbers of 10 characters, eight in a line.
    let row: String = [8, 8, 8, 1].map(|count| format!("{}\n", " .00000000".repeat(count))).concat();
    text.push_str(&row.repeat(401));
    text
}

/// Returns the solvers, their modes and the peers.
fn all() -> Vec<SolverInfo> {
    skidpad::solvers().into_iter().chain(skidpad::solver_variants()).collect()
}

/// Metrics on the plane and on other flat ground agree within 1e-4. The tolerance of peers, whose wheels are
/// disturbed more, is 1e-3, and more for two peers that depend on rounding.
#[test]
fn every_manoeuvre_is_the_same_on_flat_ground_of_every_kind() {
    let model = skidpad::spec::load("corvette_c5").expect("shipped").model;
    let step = TimeStep::from_rate_hz(60.0).expect("a valid rate");
    let grounds = grounds();
    assert!(GROUND_KINDS.iter().all(|(name, _)| *name == "plane" || grounds.iter().any(|(kind, _)| kind == name)));
    for entry in MANOEUVRES {
        let manoeuvre = entry.build_standard(&Overrides::default());
        let drive = |scene: &Scene| {
            // The ground of a scene replaces that of the manoeuvre, and also its slope.
            let overrides = Overrides { scene: Some(scene.clone()), ..Overrides::default() };
            compare(&all(), &model, manoeuvre.as_ref(), &overrides, step, &|_| ControlFlow::Continue(())).outcomes
        };
        let on_plane = drive(&Scene::flat());
        for (kind, scene) in &grounds {
            for (plane, found) in on_plane.iter().zip(drive(scene)) {
                let allowed = match (plane.backend, *kind) {
                    // Rays miss some grid lines of height fields in Rapier (dimforge/rapier#165).
                    ("rapier-stock", "height fields" | "crg") => 2.0,
                    // At the braking limit, the last digit of a ray decides whether wheels skid, which changes the
                    // stop by 0.55 %.
                    ("bullet", _) => 1.0,
                    _ if plane.peer => 0.1,
                    _ => 0.01,
                };
                for (on_plane, found) in plane.metrics.iter().zip(&found.metrics) {
                    let what = format!("{} on {kind} with {}: {}", entry.name, plane.backend, found.name);
                    assert_eq!(on_plane.value.is_some(), found.value.is_some(), "{what}");
                    let (Some(expected), Some(value)) = (on_plane.value, found.value) else { continue };
                    let apart = Spread::from_reference(expected, value, on_plane, step.seconds()).percent();
                    assert!(apart.unwrap_or(0.0) < allowed, "{what}: {value} instead of {expected}");
                }
            }
        }
    }
}

/// After 3 s of each manoeuvre on a road of class A, the speed is that on the plane.
#[test]
fn every_manoeuvre_runs_on_a_road() {
    let model = skidpad::spec::load("corvette_c5").expect("shipped").model;
    let step = TimeStep::from_rate_hz(120.0).expect("a valid rate");
    let (corner, size) = (DVec3::new(-10.0, -12.0, 0.0), [190.0, 24.0]);
    let (class, wavelengths) = (RoadClass::A, [0.5, 20.0]);
    let road = Road { class, seed: 3, wavelengths, corner, size, spacing: 0.2, grip: 1.0 };
    let road = Scene { height_fields: vec![Arc::new(road.height_field().expect("a road"))], ..without_plane() };
    for entry in MANOEUVRES {
        let drive = |scene: &Scene| {
            let short = Overrides { scene: Some(scene.clone()), duration_s: Some(3.0), ..Overrides::default() };
            compare(&all(), &model, entry.build_standard(&short).as_ref(), &short, step, &|_| ControlFlow::Continue(()))
                .outcomes
        };
        for (plane, road) in drive(&Scene::flat()).iter().zip(drive(&road)) {
            let [plane, found] = [plane, &road].map(|outcome| outcome.trajectory.last().vx_mps);
            let what = format!("{} with {}", entry.name, road.backend);
            // Waves of a few millimetres vary the wheel loads.
            assert!((found - plane).abs() < 0.02 * plane.abs() + 0.1, "{what}: {found} m/s instead of {plane} m/s");
            assert!(!road.trajectory.worst_report().not_finite, "{what}");
        }
    }
}
