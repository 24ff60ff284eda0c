//! OBJ files: axes, faces, materials, faults. The crate tobj is an independent reader.

use super::{corners, faults, mesh, scene, shipped};
use proptest::prelude::*;
use skidpad_core::{DVec3, Vec3};

const SQUARE: &str = "# a square, then a triangle\nmtllib none.mtl\nv 1 2 3\nv 2 2 3\nv 2 2 2\nv 1 2 2\nvn 0 1 0\n\
                      f 1//1 2//1 3//1 4//1\nusemtl wet tar\nf -4/1 -3/2/1 -2\n";

#[test]
fn y_or_z_points_up_in_units_of_the_scale() {
    let toml = "[[mesh]]\nfile = \"a.obj\"\norigin_m = [10, 20, 30]\n";
    let up_y = mesh(toml, &[("a.obj", SQUARE.as_bytes())]);
    assert_eq!(up_y.origin(), DVec3::new(10.0, 20.0, 30.0));
    let at = |x: f32, y: f32, z: f32| Vec3::new(x, y, z);
    let expected = [
        [at(1.0, -3.0, 2.0), at(2.0, -3.0, 2.0), at(2.0, -2.0, 2.0)],
        [at(1.0, -3.0, 2.0), at(2.0, -2.0, 2.0), at(1.0, -2.0, 2.0)],
        [at(1.0, -3.0, 2.0), at(2.0, -3.0, 2.0), at(2.0, -2.0, 2.0)],
    ];
    assert_eq!(corners(&up_y), expected);
    // Colours of corners are ignored.
    let coloured = SQUARE.replace("v 2 2 3\n", "v 2 2 3 0.5 0.5 0.5\n");
    assert_eq!(mesh(toml, &[("a.obj", coloured.as_bytes())]), up_y);
    let up_z = mesh(&format!("{toml}up = \"z\"\nscale = 0.5\n"), &[("a.obj", SQUARE.as_bytes())]);
    assert_eq!(corners(&up_z)[0], [at(0.5, 1.0, 1.5), at(1.0, 1.0, 1.5), at(1.0, 1.0, 1.0)]);
}

#[test]
fn a_material_is_a_surface() {
    let toml = "[[mesh]]\nfile = \"a.obj\"\ngrip = 0.9\n[[mesh.surface]]\nmaterial = \"wet tar\"\ngrip = 0.3\n";
    assert_eq!(mesh(toml, &[("a.obj", SQUARE.as_bytes())]).grips(), [0.9, 0.9, 0.3]);
    let toml = format!("{toml}[[mesh.surface]]\nmaterial = \"wet tart\"\ngrip = 1\n");
    let again = "[[mesh.surface]]\nmaterial = \"wet tar\"\ngrip = 1\n";
    let told = faults(&format!("{toml}{again}"), &[("a.obj", SQUARE.as_bytes())]);
    assert!(told.contains("`mesh[0].surface[1].material` is \"wet tart\", but must be one of `wet tar`"), "{told}");
    assert!(told.contains("did you mean `wet tar`?"), "{told}");
    assert!(told.contains("`mesh[0].surface[2].material`: \"wet tar\" already has a surface"), "{told}");
}

#[test]
fn every_fault_of_a_file_is_told_at_its_line() {
    let text =
        "v 0 0 0\nv 1 0\nv 0 nan 0\nf 1 2 3\nf 1 2\nf 1 2 4\nf 0 1 2\nf -9 1 2\ncurv 0 1 1 2\nf 1 2 x/1\nv 1 2 1e999\n";
    let told = faults("[[mesh]]\nfile = \"a.obj\"\n", &[("a.obj", text.as_bytes())]);
    for part in [
        "a.obj has 8 faults, listed below",
        "a.obj:2:1: `v`: a corner needs three numbers",
        "a.obj:3:1: `v` is nan, but must be three finite numbers",
        "a.obj:5:1: `f`: a face needs three corners",
        "a.obj:7:1: `f` is 0, but must be corner numbers from 1 to 4, or from -1 to -4",
        "a.obj:8:1: `f` is -9,",
        "a.obj:9:1: unknown key `curv`",
        "a.obj:10:1: `f` is x/1,",
        "a.obj:11:1: `v` is 1e999",
    ] {
        assert!(told.contains(part), "{told}");
    }
    let told = faults("[[mesh]]\nfile = \"a.obj\"\n", &[("a.obj", b"v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n")]);
    assert!(told.contains("the mesh has no triangle of non-zero area"), "{told}");
    let told = faults("[[mesh]]\nfile = \"a.obj\"\n", &[("a.obj", b"v 0 0 0\nv 1e7 0 0\nv 0 0 1\nf 1 2 3\n")]);
    assert!(
        told.contains("corner 1 is at [10000000.0, -0.0, 0.0] m; coordinates may have at most 1000000 m; see `scale`"),
        "{told}"
    );
}

/// Checks that ten million triangles are rejected before memory is allocated for them.
#[test]
fn too_many_triangles_are_refused_by_their_count() {
    let mut text = "v 0 0 0\nv 1 0 0\nv 0 0 1\n".to_owned();
    text.push_str(&"f 1 2 3\n".repeat(10_000_000));
    let told = faults("[[mesh]]\nfile = \"a.obj\"\n", &[("a.obj", text.as_bytes())]);
    assert!(told.contains("10000000 triangles; the maximum is 2000000"), "{told}");
}

#[test]
fn faces_that_are_cut_wrong_are_told() {
    let text = "v 0 0 0\nv 4 0 0\nv 1 0 1\nv 0 0 4\nf 2 3 4 1\nv 9 0 9\nf 1 1 5\n";
    let loaded = scene("[[mesh]]\nfile = \"a.obj\"\n", &[("a.obj", text.as_bytes())]).expect("valid");
    let notes: Vec<String> = loaded.notes.iter().map(ToString::to_string).collect();
    assert!(notes[0].contains("1 of the faces with more than three corners are not convex"), "{notes:?}");
    assert!(notes[1].contains("1 of 3 triangles have zero area"), "{notes:?}");
}

#[test]
fn the_shipped_kerb_has_three_surfaces() {
    let loaded = shipped("scenes/kerb.toml");
    assert!(loaded.notes.is_empty(), "{:?}", loaded.notes);
    assert_eq!(loaded.files.len(), 1);
    let mesh = &loaded.scene.meshes[0];
    let count = |grip: f32| mesh.grips().iter().filter(|&&of| of == grip).count();
    assert_eq!([1.0, 0.7, 0.4].map(count), [6, 964, 2]);
    let highest = mesh.vertices().iter().map(|at| at.z).fold(f32::MIN, f32::max);
    let left = mesh.vertices().iter().map(|at| at.y).fold(f32::MIN, f32::max);
    assert_eq!((highest, left), (0.05, 6.0));
}

/// Returns the corners of the triangles that the crate tobj reads; `None` if it cannot read the text.
fn by_tobj(text: &str) -> Option<Vec<[Vec3; 3]>> {
    let options = tobj::LoadOptions { triangulate: true, ..tobj::LoadOptions::default() };
    let no_materials = |_: &std::path::Path| Ok(Default::default());
    let (models, _) = tobj::load_obj_buf(&mut text.as_bytes(), &options, no_materials).ok()?;
    let mut found = Vec::new();
    for tobj::Model { mesh, .. } in models {
        let at = |corner: u32| Vec3::from_slice(&mesh.positions[3 * corner as usize..]);
        found.extend(mesh.indices.chunks_exact(3).map(|triangle| [0, 1, 2].map(|k| at(triangle[k]))));
    }
    Some(found)
}

fn compare(text: &str) -> bool {
    let file = [("a.obj", text.as_bytes())];
    let (Ok(loaded), Some(theirs)) = (scene("[[mesh]]\nfile = \"a.obj\"\nup = \"z\"\n", &file), by_tobj(text)) else {
        return false;
    };
    let ours = corners(&loaded.scene.meshes[0]);
    let has_area = |[a, b, c]: &[Vec3; 3]| (*b - *a).cross(*c - *a).length_squared() > 0.0;
    let theirs: Vec<[Vec3; 3]> = theirs.into_iter().filter(has_area).collect();
    assert_eq!(ours, theirs, "{text}");
    true
}

#[test]
fn tobj_reads_the_same_triangles() {
    assert!(compare(SQUARE));
    assert!(compare(include_str!("../../../../../scenes/kerb.obj")));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Checks that a file with any changes is a mesh or has faults, and that it is the same mesh if tobj also reads it.
    #[test]
    fn mutants_are_meshes_or_have_faults(changes in prop::collection::vec(crate::mutations::change(), 1..5)) {
        let text = changes.iter().fold(SQUARE.to_owned(), |text, change| crate::mutations::apply(&text, change));
        match scene("[[mesh]]\nfile = \"a.obj\"\n", &[("a.obj", text.as_bytes())]) {
            Ok(loaded) => prop_assert!(loaded.scene.meshes[0].vertices().iter().all(|at| at.is_finite())),
            Err(faults) => prop_assert!(!faults.to_text().is_empty()),
        }
        compare(&text);
    }
}
