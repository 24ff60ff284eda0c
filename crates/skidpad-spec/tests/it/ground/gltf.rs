//! glTF files written by `make.py`: nodes, buffers, materials, faults. The crate gltf is an independent reader.

use super::{corners, faults, mesh, scene};
use proptest::prelude::*;
use skidpad_core::Vec3;
use std::panic::catch_unwind;

const GLB: &[u8] = include_bytes!("nodes.glb");
const GLTF: &str = include_str!("nodes.gltf");
const BIN: &[u8] = include_bytes!("nodes of.bin");
const BINARY: &str = "[[mesh]]\nfile = \"a.glb\"\n";
const TEXT: &str = "[[mesh]]\nfile = \"a.gltf\"\n";

/// Returns the corners of the triangles that the crate gltf reads, with z up; `None` if it cannot read the file.
fn by_gltf(bytes: &[u8]) -> Option<Vec<[Vec3; 3]>> {
    let gltf::Gltf { document, blob } = gltf::Gltf::from_slice(bytes).ok()?;
    let mut found = Vec::new();
    let mut waiting: Vec<(gltf::Node<'_>, [[f32; 4]; 4])> = Vec::new();
    let identity = [[1., 0., 0., 0.], [0., 1., 0., 0.], [0., 0., 1., 0.], [0., 0., 0., 1.]];
    waiting.extend(document.default_scene()?.nodes().map(|node| (node, identity)));
    waiting.reverse();
    while let Some((node, above)) = waiting.pop() {
        let own = node.transform().matrix();
        let times = |column: [f32; 4]| [0, 1, 2, 3].map(|row| (0..4).map(|k| above[k][row] * column[k]).sum::<f32>());
        let whole = own.map(times);
        for primitive in node.mesh().into_iter().flat_map(|mesh| mesh.primitives()) {
            let reader = primitive.reader(|_| blob.as_deref());
            let place = |[x, y, z]: [f32; 3]| {
                let [x, y, z] = [0, 1, 2].map(|k| whole[0][k] * x + whole[1][k] * y + whole[2][k] * z + whole[3][k]);
                Vec3::new(x, -z, y)
            };
            let positions: Vec<Vec3> = reader.read_positions()?.map(place).collect();
            let indices: Vec<u32> = match reader.read_indices() {
                Some(indices) => indices.into_u32().collect(),
                None => (0..positions.len() as u32).collect(),
            };
            for triangle in indices.chunks_exact(3) {
                found.push([0, 1, 2].map(|k| positions[triangle[k] as usize]));
            }
        }
        let children: Vec<_> = node.children().map(|child| (child, whole)).collect();
        waiting.extend(children.into_iter().rev());
    }
    Some(found)
}

#[test]
fn nodes_turn_stretch_and_move_their_triangles() {
    let found = mesh(BINARY, &[("a.glb", GLB)]);
    let (ours, theirs) = (corners(&found), by_gltf(GLB).expect("readable"));
    assert_eq!(ours.len(), 7);
    for (ours, theirs) in ours.iter().zip(&theirs) {
        assert!(ours.iter().zip(theirs).all(|(one, other)| one.distance(*other) < 1e-5), "{ours:?} {theirs:?}");
    }
    // The corner (2, 0.5, -3) is stretched to (4, 0.5, -1.5), turned from z to x and moved to (8.5, 0.5, -4), then z points up.
    assert!(ours[0][2].distance(Vec3::new(8.5, 4.0, 0.5)) < 1e-5, "{:?}", ours[0]);
    assert_eq!(mesh(TEXT, &[("a.gltf", GLTF.as_bytes()), ("nodes of.bin", BIN)]), found);
}

#[test]
fn materials_are_called_by_name_or_number() {
    let surfaces = "[[mesh.surface]]\nmaterial = \"tarmac\"\ngrip = 0.8\n[[mesh.surface]]\nmaterial = \"material 1\"\ngrip = 0.2\n";
    let found = mesh(&format!("{BINARY}{surfaces}"), &[("a.glb", GLB)]);
    assert_eq!(found.grips(), [0.8, 0.8, 0.2, 0.2, 1.0, 0.8, 0.8]);
    let told = faults(&format!("{BINARY}[[mesh.surface]]\nmaterial = \"ice\"\ngrip = 1\n"), &[("a.glb", GLB)]);
    assert!(told.contains("must be one of `tarmac`, `material 1`"), "{told}");
}

#[test]
fn bytes_may_stand_in_the_file() {
    let plain: String = BIN.iter().map(|byte| format!("{byte:08b}")).collect();
    let digit = |six: &[u8]| {
        let value = six.iter().fold(0, |value, bit| 2 * value + usize::from(bit - b'0')) << (6 - six.len());
        char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"[value])
    };
    let base64: String = plain.as_bytes().chunks(6).map(digit).collect();
    let text = GLTF.replace("nodes%20of.bin", &format!("data:application/octet-stream;base64,{base64}"));
    assert_eq!(mesh(TEXT, &[("a.gltf", text.as_bytes())]), mesh(BINARY, &[("a.glb", GLB)]));
    let told = faults(TEXT, &[("a.gltf", text.replace(";base64,", ";base64,*").as_bytes())]);
    assert!(told.contains("buffer 0: the data are not valid base64"), "{told}");
}

/// Checks the fault that each change of a valid file causes.
#[test]
fn what_is_not_understood_is_refused_by_name() {
    let one_line = GLTF.replace('\n', "");
    let changed = |from: &str, to: &str| one_line.replacen(from, to, 1);
    for (text, part) in [
        (changed("\"2.0\"", "\"1.0\""), "the glTF version is \"1.0\", but must be 2.0"),
        (changed("\"scene\": 0", "\"scene\": 4"), "scene 4 does not exist"),
        (changed("[0,3]", "[0,7]"), "node 7 does not exist"),
        (changed("[1,2]", "[1,0]"), "node 0 has two parents or is its own ancestor"),
        (changed("[1,2]", "[1,3]"), "node 3 has two parents"),
        (changed("\"mesh\": 0", "\"mesh\": 0,\"skin\": 0"), "node 1 has a skin"),
        (changed("\"mesh\": 0", "\"mesh\": 5"), "mesh 5 does not exist"),
        (
            changed("\"material\": 0", "\"mode\": 5"),
            "primitive 0 of mesh 0: the primitive has triangle strips; export it as triangles",
        ),
        (changed("\"material\": 0", "\"mode\": 1"), "the primitive has lines; export it as triangles"),
        (changed("\"material\": 0", "\"material\": 2"), "material 2 does not exist"),
        (changed("\"count\": 6", "\"count\": 5"), "5 corners do not form triangles"),
        (changed("\"count\": 6", "\"count\": 600"), "the data of accessor 1 are not complete"),
        (changed("\"count\": 4", "\"count\": 2"), "a triangle uses corner 2, but there are only 2"),
        (changed("\"count\": 4", "\"count\": 10000000"), "10000000 corners; the maximum is 6000000"),
        (changed("\"count\": 6", "\"count\": 30000000"), "10000000 triangles; the maximum is 2000000"),
        (
            changed("\"byteStride\": 24", "\"byteStride\": 8"),
            "accessor 0 has a stride of 8 bytes, less than its entry size of 12",
        ),
        (changed("5126", "5123"), "accessor 0 does not hold positions of three floats"),
        (changed("5123", "5122"), "accessor 1 does not hold unsigned indices"),
        (changed("\"count\": 4", "\"sparse\": {},\"count\": 4"), "accessor 0 is sparse"),
        (changed("nodes%20of.bin", "other.bin"), "other.bin: No such file"),
        (changed("nodes%20of.bin", "ftp://a/b.bin"), "is not in the folder of this file"),
        (
            changed("\"scene\"", "\"extensionsRequired\":[\"KHR_draco_mesh_compression\"],\"scene\""),
            "KHR_draco_mesh_compression",
        ),
        (changed("\"nodes\": [{", "\"nodes\": [{]"), "the JSON is invalid: "),
        (changed("[10,0,0]", "[1e300,0,0]"), "corner 0 is at ["),
    ] {
        let told = faults(TEXT, &[("a.gltf", text.as_bytes()), ("nodes of.bin", BIN)]);
        assert!(told.contains("`mesh[0].file` is \"a.gltf\"") && told.contains(part), "{part}: {told}");
    }
    for (bytes, part) in [
        (&GLB[..6], "the file ends within its header"),
        (&GLB[..30], "a chunk lacks"),
        (&GLB[..12], "the file has no JSON chunk"),
        (b"glTF\x01\0\0\0".as_slice(), "the GLB version is 1, but must be 2"),
        (b"".as_slice(), "the JSON is invalid: EOF"),
    ] {
        let told = faults(BINARY, &[("a.glb", bytes)]);
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// Checks the maximum length of lists. A list with a few bytes per entry needs many times its size in memory.
#[test]
fn lists_have_a_maximum() {
    for (key, count, part) in [
        ("buffers", 1001, "a list has more than 1000 entries"),
        ("nodes", 500_001, "a list has more than 500000 entries"),
        ("extras", 2_000_001, "2000003 objects; the maximum is 2000000"),
    ] {
        let entries = vec!["{}"; count].join(",");
        let text = format!("{{\"asset\":{{\"version\":\"2.0\"}},\"{key}\":[{entries}]}}");
        let told = faults(TEXT, &[("a.gltf", text.as_bytes())]);
        assert!(told.contains(part), "{part}: {told}");
    }
}

/// Checks that buffers that name one file share its bytes, with any spelling of its path. Separate copies would exceed the maximum.
#[test]
fn buffers_of_one_file_are_read_once() {
    let more = ",{\"uri\":\"large.bin\"},{\"uri\":\"./large.bin\"}".repeat(300);
    let own = "\"uri\": \"nodes%20of.bin\"\n}";
    let text = GLTF.replace(own, &format!("{own}{more}"));
    assert_ne!(text, GLTF);
    let large = vec![0; 1 << 20];
    let files = [("a.gltf", text.as_bytes()), ("nodes of.bin", BIN), ("large.bin", &large)];
    assert_eq!(mesh(TEXT, &files), mesh(BINARY, &[("a.glb", GLB)]));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Checks that a file with any changes of its text is a mesh or has faults.
    #[test]
    fn mutants_of_texts_are_meshes_or_have_faults(changes in prop::collection::vec(crate::mutations::change(), 1..4)) {
        let text = changes.iter().fold(GLTF.to_owned(), |text, change| crate::mutations::apply(&text, change));
        if let Ok(loaded) = scene(TEXT, &[("a.gltf", text.as_bytes()), ("nodes of.bin", BIN)]) {
            prop_assert!(loaded.scene.meshes[0].vertices().iter().all(|at| at.is_finite()));
        }
    }

    /// Checks that a file with any changes of its bytes is a mesh or has faults. If the crate gltf also reads the file, it finds at least as
    /// many triangles, because it includes those without an area.
    #[test]
    fn mutants_of_bytes_are_meshes_or_have_faults(changes in prop::collection::vec((any::<usize>(), any::<u8>()), 1..4), cut in any::<usize>()) {
        let mut bytes = GLB.to_vec();
        for (at, value) in changes {
            let count = bytes.len();
            bytes[at % count] = value;
        }
        if cut % 4 == 0 {
            bytes.truncate(cut / 4 % bytes.len());
        }
        let Ok(loaded) = scene(BINARY, &[("a.glb", &bytes)]) else { return Ok(()) };
        let ours = corners(&loaded.scene.meshes[0]);
        prop_assert!(ours.as_flattened().iter().all(|at| at.is_finite()));
        // The crate gltf may panic.
        if let Ok(Some(theirs)) = catch_unwind(|| by_gltf(&bytes)) {
            prop_assert!(theirs.len() >= ours.len());
        }
    }
}
