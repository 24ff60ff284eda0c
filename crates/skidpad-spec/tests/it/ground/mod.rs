//! Ground from files: values in metres, faults by name, and readers that do not panic.

mod crg;
mod gltf;
mod obj;
mod picture;

use skidpad_core::{TriangleMesh, Vec3};
use skidpad_spec::{Faults, LoadedScene};
use std::path::Path;

/// Reads the scene `toml` with `files` in its folder.
pub fn scene(toml: &str, files: &[(&str, &[u8])]) -> Result<LoadedScene, Faults> {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, bytes) in files {
        std::fs::write(folder.path().join(name), bytes).expect("written");
    }
    LoadedScene::read_in(folder.path(), "scene.toml", toml)
}

/// Returns all faults of a scene as text.
pub fn faults(toml: &str, files: &[(&str, &[u8])]) -> String {
    scene(toml, files).expect_err("has faults").to_text()
}

/// Returns the only mesh of a scene.
pub fn mesh(toml: &str, files: &[(&str, &[u8])]) -> TriangleMesh {
    let loaded = scene(toml, files).unwrap_or_else(|faults| panic!("{}", faults.to_text()));
    let [mesh] = &loaded.scene.meshes[..] else { panic!("one mesh") };
    TriangleMesh::clone(mesh)
}

/// Returns the corners of the triangles of `mesh`.
pub fn corners(mesh: &TriangleMesh) -> Vec<[Vec3; 3]> {
    mesh.triangles().iter().map(|corners| corners.map(|corner| mesh.vertices()[corner as usize])).collect()
}

/// Loads the scene file at `path` in the repository.
pub fn shipped(path: &str) -> LoadedScene {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    LoadedScene::load(&path).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn a_table_has_lists_or_a_file() {
    let told = faults("[[mesh]]\ngrip = 1\n[[mesh]]\nfile = \"a.obj\"\ntriangles = [[0, 1, 2]]\n", &[]);
    for part in [
        "`mesh[0].corners_m` is missing: it must be set, or `file` instead",
        "`mesh[0].triangles` is missing: it must be set, or `file` instead",
        "`mesh[1].file`: set together with `triangles`, but must be set alone: either `triangles` or `file`",
    ] {
        assert!(told.contains(part), "{told}");
    }
    let lists = "corners_m = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]\ntriangles = [[0, 1, 2]]\n";
    let told = faults(&format!("[[mesh]]\nup = \"z\"\nscale = 2\n{lists}"), &[]);
    for key in ["up", "scale"] {
        assert!(told.contains(&format!("`mesh[0].{key}`: set without a `file`")), "{told}");
    }
}

#[test]
fn missing_files_are_told_with_what_was_looked_for() {
    let told = faults("[[mesh]]\nfile = \"nowhere/a.obj\"\n", &[]);
    assert!(told.contains("`mesh[0].file` is \"nowhere/a.obj\", but must be the path of"), "{told}");
    assert!(told.contains("nowhere/a.obj: No such file"), "{told}");
    let text = LoadedScene::read("scene.toml", "[[mesh]]\nfile = \"a.obj\"\n").expect_err("has a fault").to_text();
    assert!(text.contains("LoadedScene::read_in"), "{text}");
    let told = faults("[[mesh]]\nfile = \".\"\n[[mesh]]\nfile = \"/dev/zero\"\n", &[]);
    assert!(
        told.contains("this is a folder; name a file in it") && told.contains("/dev/zero: the file lies outside"),
        "{told}"
    );
    let told = faults("[[mesh]]\nfile = \"a.stl\"\n", &[("a.stl", b"solid")]);
    assert!(told.contains("the extension \"stl\" is not supported"), "{told}");
}

/// Checks that equal tables of one file share its ground, with any spelling of the path, and that a table at another place has its own
/// ground.
#[test]
fn ground_of_one_file_is_in_memory_once() {
    use std::sync::Arc;
    let picture = include_bytes!("grey8.png").as_slice();
    let field = |path: &str, x: i32| {
        format!("[[height_field]]\nfile = \"{path}\"\nlowest_m = 0\nhighest_m = 1\ncorner_m = [{x}, 0, 0]\n")
            + "spacing_m = [1, 1]\n"
    };
    let mesh = |path: &str| format!("[[mesh]]\nfile = \"{path}\"\n");
    let crg = |path: &str| format!("[[crg]]\nfile = \"{path}\"\n");
    let ten = |table: &dyn Fn(&str) -> String, name: &str| {
        (0..10).map(|i| table(&format!("{}{name}", "./".repeat(i)))).collect::<String>()
    };
    let at_the_origin = |path: &str| field(path, 0);
    let text = [ten(&at_the_origin, "a.png"), field("a.png", 9), ten(&mesh, "a.obj"), ten(&crg, "a.crg")].concat();
    let obj = b"v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n".as_slice();
    let files = [("a.png", picture), ("a.obj", obj), ("a.crg", include_bytes!("curved.crg").as_slice())];
    let loaded = scene(&text, &files).unwrap_or_else(|faults| panic!("{}", faults.to_text())).scene;
    assert_eq!([loaded.height_fields.len(), loaded.meshes.len()], [11, 20]);
    assert!(loaded.height_fields[..10].iter().all(|field| Arc::ptr_eq(field, &loaded.height_fields[0])));
    assert!(!Arc::ptr_eq(&loaded.height_fields[10], &loaded.height_fields[0]));
    for of_one in loaded.meshes.chunks(10) {
        assert!(of_one.iter().all(|mesh| Arc::ptr_eq(mesh, &of_one[0])));
    }
}

#[test]
fn triangles_without_an_area_are_counted() {
    let lists = "corners_m = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]\ntriangles = [[0, 1, 2], [0, 1, 1]]\n";
    let loaded = scene(&format!("[[mesh]]\n{lists}"), &[]).expect("valid");
    let [note] = &loaded.notes[..] else { panic!("{:?}", loaded.notes) };
    assert_eq!(note.to_string(), "scene.toml:3: `mesh[0].triangles`: 1 of 2 triangles have zero area and are omitted");
}

/// Checks that a description finds its files in a given folder, and that it has a fault without a folder.
#[test]
fn a_description_finds_its_files_in_a_folder() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenes");
    for name in ["kerb", "hill", "bend"] {
        let loaded = shipped(&format!("scenes/{name}.toml"));
        assert_eq!(loaded.spec.scene_in(&folder).expect("there"), loaded.scene, "{name}");
        let told = loaded.spec.scene().expect_err("no files").to_text();
        assert!(told.contains(&format!("[0].file` is \"{name}.")), "{told}");
        let again = toml::to_string_pretty(&loaded.spec).expect("TOML");
        assert_eq!(LoadedScene::read_in(&folder, "again.toml", &again).expect("valid").spec, loaded.spec);
    }
}

/// Checks that fans, duplicate faces and thousands of materials take no more time than other files of their length.
#[test]
fn large_files_are_read_in_time_that_grows_with_their_length() {
    let rim: String = (0..=64_000).map(|k| format!("v {k} 0 1\n")).collect();
    let fan: String = (2..=64_001).map(|k| format!("f 1 {k} {}\n", k + 1)).collect();
    let same = "f 1 2 3\n".repeat(64_000);
    let materials: String = (0..40_000).map(|k| format!("usemtl m{k}\nf 1 2 3\n")).collect();
    for faces in [fan, same, materials] {
        let started = std::time::Instant::now();
        let file = format!("v 0 0 0\n{rim}{faces}");
        scene("[[mesh]]\nfile = \"a.obj\"\n", &[("a.obj", file.as_bytes())]).expect("valid");
        assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
    }
}

/// Checks that the ground of a scene has a maximum number of heights in total.
#[test]
fn a_scene_has_a_budget() {
    let road = "[[road]]\nclass = \"a\"\ncorner_m = [0, 0, 0]\nlength_m = 100\nwidth_m = 20\nspacing_m = 0.01\nwavelengths_m = [0.5, 10]\n";
    let told = faults(&road.repeat(4), &[]);
    assert!(
        told.contains("`road[2].spacing_m`") && told.contains("50000000 heights") && told.contains("coarser"),
        "{told}"
    );
    assert_eq!(told.matches("heights and").count(), 2, "{told}");
}
