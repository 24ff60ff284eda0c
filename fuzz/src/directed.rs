//! Directed inputs: the worst known inputs of each reader, in any size.
//!
//! Every input repeats one element for which time or memory of a reader could grow faster than the size.

/// Name and bytes of an input.
pub type Input = (&'static str, Vec<u8>);

/// Returns the worst known inputs of `reader`, of about `size` bytes each: those of its format, then those for any
/// text.
pub fn inputs(reader: &str, size: usize) -> Vec<Input> {
    let mut inputs = reader_inputs(reader, size);
    inputs.extend(any_text_inputs(size));
    inputs
}

/// Returns inputs for every reader of text, of `size` bytes each.
fn any_text_inputs(size: usize) -> Vec<Input> {
    vec![
        ("spaces and a letter", format!("{}x", " ".repeat(size.saturating_sub(1))).into_bytes()),
        ("line breaks", "\n".repeat(size).into_bytes()),
        ("one word", "a".repeat(size).into_bytes()),
        ("open brackets", "[".repeat(size).into_bytes()),
        ("control characters", "\u{1b}".repeat(size).into_bytes()),
        ("not UTF-8", vec![0xff; size]),
    ]
}

/// Returns the inputs for the format of `reader`, of about `size` bytes each; none for readers without such inputs.
fn reader_inputs(reader: &str, size: usize) -> Vec<Input> {
    match reader {
        "vehicle" => vehicle_inputs(size),
        "scene" => scene_inputs(size),
        "tyre" => tyre_inputs(size),
        "controls" => controls_inputs(size),
        "obj" => obj_inputs(size),
        "gltf" => gltf_inputs(size),
        "picture" => vec![],
        "crg" => crg_inputs(size),
        "godot" => godot_inputs(size),
        "unity" | "commonroad" => yaml_inputs(size),
        "bullet" | "rapier" | "jolt" | "physx" => toml_importer_inputs(size),
        _ => vec![],
    }
}

/// Returns `head`, then `line(0)`, `line(1)`, … up to a total size of `size`, then `tail`. At least one line is
/// included.
fn repeat_to_size(size: usize, head: &str, line: impl Fn(usize) -> String, tail: &str) -> Vec<u8> {
    let mut text = head.to_owned();
    for number in 0.. {
        let next_line = line(number);
        if text.len() + next_line.len() + tail.len() > size && number > 0 {
            break;
        }
        text.push_str(&next_line);
    }
    text.push_str(tail);
    text.into_bytes()
}

/// Returns inputs for every TOML reader: faults in large numbers, deep nesting, long keys and texts.
fn toml_inputs(size: usize) -> Vec<Input> {
    vec![
        ("unknown keys", repeat_to_size(size, "", |i| format!("key_{i} = {i}\n"), "")),
        ("unknown tables", repeat_to_size(size, "", |i| format!("[table_{i}]\na = 1\n"), "")),
        ("repeated keys", repeat_to_size(size, "", |_| "mass = 1\n".into(), "")),
        ("repeated tables", repeat_to_size(size, "", |_| "[chassis]\n".into(), "")),
        ("broken statements", repeat_to_size(size, "", |i| format!("a{i} 1\n"), "")),
        ("nested lists", repeat_to_size(size, "a = ", |_| "[".into(), "")),
        ("nested tables", repeat_to_size(size, "a = ", |_| "{a=".into(), "")),
        ("dotted key", repeat_to_size(size, "", |_| "a.".into(), "a = 1\n")),
        ("dotted header", repeat_to_size(size, "[", |_| "a.".into(), "a]\n")),
        ("long key", repeat_to_size(size, "", |_| "mass_kg".into(), " = 1\n")),
        ("long name", repeat_to_size(size, "name = \"", |_| "\\u001b".into(), "\"\n")),
        ("long text", repeat_to_size(size, "name = 1\na = \"\"\"", |_| "text\n".into(), "\"\"\"\n")),
        ("comments", repeat_to_size(size, "name = 3\n", |_| "# \u{202e}\n".into(), "")),
    ]
}

/// Returns inputs for the reader of vehicle files: those of TOML, many elements of each list, and a valid car with many
/// comments.
fn vehicle_inputs(size: usize) -> Vec<Input> {
    let mut inputs = toml_inputs(size);
    inputs.extend([
        ("axles", repeat_to_size(size, "", |_| "[[axles]]\n".into(), "")),
        ("axles with faults", repeat_to_size(size, "", |_| "[[axles]]\nwheel_radius_m = -1\n".into(), "")),
        ("tyres", repeat_to_size(size, "", |i| format!("[tyres.t{i}]\nlaw = \"curve\"\n"), "")),
        (
            "tyre files",
            repeat_to_size(size, "", |i| format!("[tyres.t{i}]\nlaw = \"magic_formula\"\nfile = \"f{i}\"\n"), ""),
        ),
        ("hitches", repeat_to_size(size, "", |i| format!("[hitches.h{i}]\n"), "")),
        ("torque curve", repeat_to_size(size, "[engine]\ntorque = [", |i| format!("[{i}, 1],"), "]\n")),
        ("ratios", repeat_to_size(size, "[gearbox]\nforward = [", |_| "1,".into(), "]\n")),
        ("one car", repeat_to_size(size, shipped_car_text(), |_| "# comment\n".into(), "")),
    ]);
    inputs
}

/// Returns the text of a shipped vehicle.
fn shipped_car_text() -> &'static str {
    skidpad::spec::shipped::find("corvette_c5").expect("shipped")
}

/// Returns inputs for the reader of scene files: those of TOML, and many heights, boxes, bodies, roads, way points,
/// triangles or gusts, valid or with faults.
fn scene_inputs(size: usize) -> Vec<Input> {
    let mut inputs = toml_inputs(size);
    let field_start = "[[height_field]]\nspacing_m = 1\nheights_m = [";
    // Corners in rows of 1000.
    let corners = |i: usize| format!("[{}, {}, 0],", i % 1000, i / 1000);
    let half_size = size / 2;
    // Mesh of corners and triangles, half of the size each. A 1 in `triangle` becomes another corner for each
    // triangle.
    let repeated_mesh = |triangle: &str| {
        let corner_list = repeat_to_size(half_size, "[[mesh]]\ncorners_m = [", corners, "]\n");
        let list =
            repeat_to_size(half_size, "triangles = [", |i| triangle.replace('1', &(1 + i % 900).to_string()), "]\n");
        [corner_list, list].concat()
    };
    inputs.extend([
        ("heights in one line", repeat_to_size(size, &format!("{field_start}["), |_| "0.5,".into(), "]]\n")),
        ("heights in two columns", repeat_to_size(size, field_start, |_| "[0,0],".into(), "]\n")),
        ("heights with faults", repeat_to_size(size, &format!("{field_start}["), |_| "nan,".into(), "]]\n")),
        ("boxes", repeat_to_size(size, "", |_| "[[box]]\ncentre_m=[0,0,0]\nsize_m=[1,1,1]\n".into(), "")),
        ("boxes with faults", repeat_to_size(size, "", |_| "[[box]]\n".into(), "")),
        (
            "bodies",
            repeat_to_size(size, "", |_| "[[dynamic_box]]\ncentre_m=[0,0,0]\nsize_m=[1,1,1]\nmass_kg=1\n".into(), ""),
        ),
        (
            "roads",
            repeat_to_size(size, "", |_| "[[road]]\nlength_m=9\nwidth_m=9\nspacing_m=0.1\nclass=\"a\"\n".into(), ""),
        ),
        (
            "way points",
            repeat_to_size(
                size,
                "[[box]]\ncentre_m=[0,0,0]\nsize_m=[1,1,1]\n[box.kinematic]\n",
                |i| format!("[[box.kinematic.way_point]]\ntime_s={i}\nposition_m=[0,0,0]\n"),
                "",
            ),
        ),
        ("triangles around a corner", repeated_mesh("[0, 1, 2],")),
        ("identical triangles", repeated_mesh("[0, 3, 2],")),
        ("gusts", repeat_to_size(size, "", |_| "[[gust]]\nvelocity_mps=[1,0,0]\nstarts_s=1\nrises_s=1\n".into(), "")),
    ]);
    inputs
}

/// Returns inputs for the reader of tyre property files: a shipped tyre, followed by many keys, sections, table rows or
/// comments, valid or with faults.
fn tyre_inputs(size: usize) -> Vec<Input> {
    let shipped_tyre = skidpad::spec::tir::find("c5_front").expect("shipped");
    vec![
        ("unknown keys", repeat_to_size(size, shipped_tyre, |i| format!("KEY_{i} = {i}\n"), "")),
        ("repeated keys", repeat_to_size(size, shipped_tyre, |_| "PCX1 = 1.5\n".into(), "")),
        ("sections", repeat_to_size(size, shipped_tyre, |i| format!("[S{i}]\n"), "")),
        ("a section again", repeat_to_size(size, shipped_tyre, |_| "[MODEL]\n".into(), "")),
        ("broken lines", repeat_to_size(size, shipped_tyre, |_| "?\n".into(), "")),
        ("wrong numbers", repeat_to_size(size, shipped_tyre, |_| "PCX1 = x\n".into(), "")),
        ("tables", repeat_to_size(size, &format!("{shipped_tyre}[SHAPE]\n{{radial width}}\n"), |_| "1 1\n".into(), "")),
        ("comments", repeat_to_size(size, shipped_tyre, |_| "$ \u{1b}\n".into(), "")),
        ("a quoted text", repeat_to_size(size, &format!("{shipped_tyre}A = '"), |_| "a ".into(), "'\n")),
    ]
}

/// Returns inputs for the reader of tables of controls: many rows, columns, cells, quotes or comments.
fn controls_inputs(size: usize) -> Vec<Input> {
    vec![
        ("rows", repeat_to_size(size, "t_s,throttle\n", |i| format!("{i},0.5\n"), "")),
        ("wrong rows", repeat_to_size(size, "t_s,throttle\n", |_| "0,9\n".into(), "")),
        ("columns", repeat_to_size(size, "t_s", |i| format!(",column_{i}"), "\n0\n")),
        ("a column again", repeat_to_size(size, "t_s", |_| ",throttle".into(), "\n0\n")),
        ("cells", repeat_to_size(size, "t_s,throttle\n0", |_| ",1".into(), "\n")),
        ("a quoted cell", repeat_to_size(size, "t_s,throttle\n0,\"", |_| "\n".into(), "\"\n")),
        ("open quotes", repeat_to_size(size, "t_s,throttle\n0,", |_| "\"".into(), "")),
        ("comments", repeat_to_size(size, "t_s,throttle\n", |_| "#\n".into(), "0,1\n1,1\n")),
    ]
}

/// Returns inputs for the reader of OBJ meshes: many faces that share corners, one large face, many materials, many
/// separate triangles, and lines with faults.
fn obj_inputs(size: usize) -> Vec<Input> {
    let corner_line = |i: usize| format!("v {} {} 0\n", i % 100, i / 100);
    // Mesh of corners and faces, half of the size each.
    let mesh_input = |face: &dyn Fn(usize) -> String| {
        [repeat_to_size(size / 2, "v 0 0 1\n", corner_line, ""), repeat_to_size(size / 2, "", face, "")].concat()
    };
    let three_corners = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    vec![
        ("triangles around a corner", mesh_input(&|i| format!("f 1 {} {}\n", i % 40 + 2, i % 40 + 3))),
        ("a fan", mesh_input(&|i| format!("f 1 -{} -{}\n", i + 1, i + 2))),
        ("identical triangles", repeat_to_size(size, three_corners, |_| "f 1 2 3\n".into(), "")),
        ("one face", repeat_to_size(size, &format!("{three_corners}f"), |i| format!(" {}", i % 3 + 1), "\n")),
        ("turned faces", repeat_to_size(size, three_corners, |_| "f 1 2 3 2 1 3 2 1\n".into(), "")),
        ("materials", repeat_to_size(size, three_corners, |i| format!("usemtl m{i}\nf 1 2 3\n"), "")),
        ("a material", repeat_to_size(size, &format!("{three_corners}usemtl "), |_| "m".into(), "\nf 1 2 3\n")),
        ("corners", repeat_to_size(size, "", corner_line, "f 1 2 3\n")),
        ("wrong corners", repeat_to_size(size, "", |_| "v x\n".into(), "")),
        ("wrong faces", repeat_to_size(size, "", |_| "f 9\n".into(), "")),
        ("unknown statements", repeat_to_size(size, "", |i| format!("k{i}\n"), "")),
        (
            "separate triangles",
            repeat_to_size(size, "", |i| format!("v {i} 0 0\nv {i} 1 0\nv {i} 0 1\nf -1 -2 -3\n"), ""),
        ),
    ]
}

/// Start of a glTF file, up to its lists.
const GLTF_START: &str = "{\"asset\":{\"version\":\"2.0\"},";

/// Lists of a glTF file with one triangle, without a scene.
const TRIANGLE_LISTS: &str = "\"buffers\":[{\"uri\":\"data:;base64,\
AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],\
\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],";

/// Returns inputs for the reader of glTF meshes: many nodes, primitives, materials or empty elements, deep nesting,
/// long data, and many buffers of one file. The nodes of a list are counted by the letter `m`, which
/// occurs three times before the nodes and once in each node.
fn gltf_inputs(size: usize) -> Vec<Input> {
    let primitive = "{\"attributes\":{\"POSITION\":0}}";
    let mesh = format!("{GLTF_START}{TRIANGLE_LISTS}\"meshes\":[{{\"primitives\":[{primitive}]}}],");
    let scene = "\"scenes\":[{\"nodes\":[0]}]";
    let list_input = |key: &str, entry: &str| {
        let entry = entry.to_owned();
        repeat_to_size(size, &format!("{GLTF_START}\"{key}\":[{entry}"), move |_| format!(",{entry}"), "]}")
    };
    let list = repeat_to_size(size / 2, &format!("{mesh}\"nodes\":[{{\"mesh\":0}}"), |_| ",{\"mesh\":0}".into(), "],");
    let node_count = list.iter().filter(|&&byte| byte == b'm').count().saturating_sub(3);
    let scene_nodes = (1..node_count).fold("\"scenes\":[{\"nodes\":[0".to_owned(), |mut text, i| {
        text.push_str(&format!(",{i}"));
        text
    });
    let primitives = format!(
        "{GLTF_START}{TRIANGLE_LISTS}{scene},\"nodes\":[{{\"mesh\":0}}],\"meshes\":[{{\"primitives\":[{primitive}"
    );
    let materials = format!("{mesh}{scene},\"nodes\":[{{\"mesh\":0}}],\"materials\":[{{}}");
    let nested_nodes = format!("{mesh}{scene},\"nodes\":[{{\"mesh\":0}}");
    vec![
        ("nodes", [list, format!("{scene_nodes}]}}]}}").into_bytes()].concat()),
        ("nodes below each other", repeat_to_size(size, &nested_nodes, |i| format!(",{{\"children\":[{i}]}}"), "]}")),
        ("primitives", repeat_to_size(size, &primitives, |_| format!(",{primitive}"), "]}]}")),
        ("empty primitives", repeat_to_size(size, &primitives, |_| ",{}".into(), "]}]}")),
        ("materials", repeat_to_size(size, &materials, |_| ",{}".into(), "]}")),
        ("empty nodes", list_input("nodes", "{}")),
        ("empty meshes", list_input("meshes", "{}")),
        ("empty materials", list_input("materials", "{}")),
        ("empty accessors", list_input("accessors", "{}")),
        ("empty views", list_input("bufferViews", "{}")),
        ("empty buffers", list_input("buffers", "{}")),
        ("empty scenes", list_input("scenes", "{}")),
        ("extensions", list_input("extensionsRequired", "\"\"")),
        (
            "attributes",
            repeat_to_size(
                size,
                &format!("{GLTF_START}\"meshes\":[{{\"primitives\":[{{\"attributes\":{{\"a\":0"),
                |i| format!(",\"{i}\":0"),
                "}}]}]}",
            ),
        ),
        ("nested lists", repeat_to_size(size, &format!("{GLTF_START}\"extras\":"), |_| "[".into(), "")),
        ("nested tables", repeat_to_size(size, &format!("{GLTF_START}\"extras\":"), |_| "{\"a\":".into(), "")),
        (
            "bytes in the file",
            repeat_to_size(
                size,
                &format!("{GLTF_START}\"buffers\":[{{\"uri\":\"data:;base64,"),
                |_| "AAAA".into(),
                "\"}]}",
            ),
        ),
        (
            "escaped path",
            repeat_to_size(size, &format!("{GLTF_START}\"buffers\":[{{\"uri\":\""), |_| "%41".into(), "\"}]}"),
        ),
        ("buffers of one file", list_input("buffers", "{\"uri\":\"input.glb\"}")),
    ]
}

/// Returns inputs for the reader of OpenCRG roads: many heights or long sections (lines of constant lateral position),
/// and headers with many or unknown entries.
fn crg_inputs(size: usize) -> Vec<Input> {
    let file_start = "$CT\n$ROAD_CRG\n";
    let road_definition = "reference_line_increment = 1\nlong_section_v_increment = 1\n$KD_DEFINITION\n#:LRFI\nU:reference line u,m,0,1\n";
    let two_sections = format!("{file_start}{road_definition}D:long section 1,m\nD:long section 2,m\n$$$$\n");
    let section_definitions = repeat_to_size(
        size / 2,
        &format!("{file_start}{road_definition}"),
        |i| format!("D:long section {},m\n", i + 1),
        "$$$$\n",
    );
    let values = repeat_to_size(size / 2, "", |_| format!("{}\n", " 0.0000000".repeat(8)), "");
    let curved_road = format!(
        "{file_start}{road_definition}D:reference line phi,rad\nD:long section 1,m\nD:long section 2,m\n$$$$\n"
    );
    vec![
        ("heights", repeat_to_size(size, &two_sections, |_| " 0.0000000 0.0000000\n".into(), "")),
        ("missing heights", repeat_to_size(size, &two_sections, |_| "****************000\n".into(), "")),
        ("wrong heights", repeat_to_size(size, &two_sections, |_| "xxxxxxxxxxxxxxxxxxxx\n".into(), "")),
        ("a curved road", repeat_to_size(size, &curved_road, |_| " 0.0100000 0.0000000 0.0000000\n".into(), "")),
        ("sections", [section_definitions, values].concat()),
        (
            "a section again",
            repeat_to_size(
                size,
                &format!("{file_start}{road_definition}"),
                |_| "D:long section 1,m\n".into(),
                "$$$$\n",
            ),
        ),
        ("unknown keys", repeat_to_size(size, file_start, |i| format!("key_{i} = 1\n"), "$$$$\n")),
        ("unknown blocks", repeat_to_size(size, "", |i| format!("$B{i}\n"), "$$$$\n")),
        ("options", repeat_to_size(size, "$ROAD_CRG_OPTS\n", |i| format!("o{i} = 1\n"), "$$$$\n")),
        ("long key", repeat_to_size(size, file_start, |_| "reference_line_".into(), " = 1\n$$$$\n")),
        ("no end", repeat_to_size(size, file_start, |_| "$CT\n".into(), "")),
    ]
}

/// Returns inputs for the importers that read TOML.
fn toml_importer_inputs(size: usize) -> Vec<Input> {
    let mut inputs = toml_inputs(size);
    inputs.extend([
        ("wheels", repeat_to_size(size, "mass = 1\n", |_| "[[wheels]]\n".into(), "")),
        ("wheels with faults", repeat_to_size(size, "mass = 1\n", |_| "[[wheels]]\nradius = -1\n".into(), "")),
        ("wheels in a line", repeat_to_size(size, "wheels = [", |_| "{},".into(), "]\n")),
        ("numbers", repeat_to_size(size, "mass = 1\nhalf_extents = [", |_| "1,".into(), "]\n")),
    ]);
    inputs
}

/// Returns inputs for the importer of Godot scenes: many nodes, wheels, boxes, resources, attributes or statements,
/// deep nesting, and open texts.
fn godot_inputs(size: usize) -> Vec<Input> {
    let scene = "[gd_scene format=3]\n";
    let car = "[node name=\"Car\" type=\"VehicleBody3D\"]\nmass = 900.0\n";
    let wheel = "transform = Transform3D(1,0,0,0,1,0,0,0,1,1,0,1)\n";
    vec![
        ("nodes", repeat_to_size(size, scene, |i| format!("[node name=\"n{i}\" type=\"Node3D\" parent=\".\"]\n"), "")),
        (
            "wheels",
            repeat_to_size(
                size,
                &format!("{scene}{car}"),
                |i| format!("[node name=\"w{i}\" type=\"VehicleWheel3D\" parent=\".\"]\n{wheel}"),
                "",
            ),
        ),
        (
            "boxes",
            repeat_to_size(
                size,
                &format!("{scene}{car}"),
                |i| {
                    format!("[node name=\"c{i}\" type=\"CollisionShape3D\" parent=\".\"]\nshape = SubResource(\"s\")\n")
                },
                "",
            ),
        ),
        ("resources", repeat_to_size(size, scene, |i| format!("[sub_resource type=\"BoxShape3D\" id=\"s{i}\"]\n"), "")),
        ("cars", repeat_to_size(size, scene, |_| car.into(), "")),
        ("attributes", repeat_to_size(size, "[node", |i| format!(" a{i}=1"), "]\n")),
        ("statements", repeat_to_size(size, &format!("{scene}{car}"), |i| format!("key_{i} = 1\n"), "")),
        ("a statement again", repeat_to_size(size, &format!("{scene}{car}"), |_| "mass = 1\n".into(), "")),
        ("broken statements", repeat_to_size(size, scene, |_| "?\n".into(), "")),
        ("broken headers", repeat_to_size(size, scene, |_| "[node ?\n".into(), "")),
        ("nested lists", repeat_to_size(size, &format!("{car}a = "), |_| "[".into(), "")),
        ("nested types", repeat_to_size(size, &format!("{car}a = "), |_| "a[".into(), "")),
        ("an open text", repeat_to_size(size, &format!("{car}a = "), |_| "\"\"\"\"a".into(), "")),
        ("open texts", repeat_to_size(size, car, |_| "a = \"\n".into(), "")),
        ("a list", repeat_to_size(size, &format!("{car}a = ["), |_| "1,".into(), "]\n")),
        (
            "a long path",
            repeat_to_size(
                size,
                &format!("{scene}{car}[node name=\"w\" type=\"VehicleWheel3D\" parent=\""),
                |_| "a/".into(),
                "\"]\n",
            ),
        ),
    ]
}

/// Returns inputs for the importers that read YAML, Unity and CommonRoad: many Unity objects, many keys, deep nesting,
/// anchors, and long texts.
fn yaml_inputs(size: usize) -> Vec<Input> {
    let unity_start = "%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n";
    let unity_object = |i: usize, kind: &str| format!("--- !u!{i} &{i}\n{kind}:\n  m_GameObject: {{fileID: 1}}\n");
    vec![
        ("objects", repeat_to_size(size, unity_start, |i| unity_object(i, "GameObject"), "")),
        (
            "wheels",
            repeat_to_size(
                size,
                unity_start,
                |i| format!("--- !u!146 &{i}\nWheelCollider:\n  m_GameObject: {{fileID: {i}}}\n"),
                "",
            ),
        ),
        (
            "transforms",
            repeat_to_size(
                size,
                unity_start,
                |i| {
                    format!(
                        "--- !u!4 &{i}\nTransform:\n  m_GameObject: {{fileID: {i}}}\n  m_Father: {{fileID: {}}}\n",
                        i + 1
                    )
                },
                "",
            ),
        ),
        ("bodies", repeat_to_size(size, unity_start, |i| format!("--- !u!54 &{i}\nRigidbody:\n  m_Mass: 1\n"), "")),
        ("an object again", repeat_to_size(size, unity_start, |_| unity_object(1, "Transform"), "")),
        ("broken objects", repeat_to_size(size, unity_start, |i| format!("--- !u!4 &{i}\nTransform: {{\n"), "")),
        ("empty objects", repeat_to_size(size, unity_start, |_| "--- \n".into(), "")),
        ("keys", repeat_to_size(size, "", |i| format!("key_{i}: {i}\n"), "")),
        ("a key again", repeat_to_size(size, "", |_| "m: 1\n".into(), "")),
        ("nested lists", repeat_to_size(size, "a: ", |_| "[".into(), "")),
        ("nested tables", repeat_to_size(size, "a: ", |_| "{a: ".into(), "")),
        ("nested dashes", repeat_to_size(size, "", |_| "- ".into(), "a\n")),
        ("nested questions", repeat_to_size(size, "", |_| "? ".into(), "a\n")),
        ("anchors", repeat_to_size(size, "", |i| format!("a{i}: &a{i} 1\n"), "")),
        ("aliases", repeat_to_size(size, "a: &a [1]\n", |i| format!("b{i}: *a\n"), "")),
        ("a quoted text", repeat_to_size(size, "a: \"", |_| "\\n".into(), "\"\n")),
        ("a folded text", repeat_to_size(size, "a: >\n", |_| " a\n\n".into(), "")),
        ("a plain text", repeat_to_size(size, "a: b", |_| "\n  c".into(), "\n")),
        ("comments", repeat_to_size(size, "", |_| "#\n".into(), "a: 1\n")),
        ("directives", repeat_to_size(size, "", |i| format!("%TAG !{i}! a\n"), "---\n")),
        ("a flow list", repeat_to_size(size, "a: [", |_| "1,".into(), "]\n")),
        ("flow questions", repeat_to_size(size, "a: [", |_| "? a, ".into(), "]\n")),
    ]
}
