//! Directed inputs: the worst known inputs of each reader, in any size.
//!
//! Every input repeats one element for which time or memory of a reader could grow faster than the size.

/// Name and bytes of an input.
pub type Input = (&'static str, Vec<u8>);

/// Returns the worst known inputs of `reader`, of about `bytes` bytes each.
pub fn inputs(reader: &str, bytes: usize) -> Vec<Input> {
    let mut inputs = reader_inputs(reader, bytes);
    inputs.extend(any_text_inputs(bytes));
    inputs
}

/// Returns inputs for every reader of text.
fn any_text_inputs(bytes: usize) -> Vec<Input> {
    vec![
        ("spaces and a letter", format!("{}x", " ".repeat(bytes.saturating_sub(1))).into_bytes()),
        ("line breaks", "\n".repeat(bytes).into_bytes()),
        ("one word", "a".repeat(bytes).into_bytes()),
        ("open brackets", "[".repeat(bytes).into_bytes()),
        ("control characters", "\u{1b}".repeat(bytes).into_bytes()),
        ("not UTF-8", vec![0xff; bytes]),
    ]
}

fn reader_inputs(reader: &str, bytes: usize) -> Vec<Input> {
    match reader {
        "vehicle" => vehicle(bytes),
        "scene" => scene(bytes),
        "tyre" => tyre(bytes),
        "controls" => controls(bytes),
        "obj" => obj(bytes),
        "gltf" => gltf(bytes),
        "picture" => vec![],
        "crg" => crg(bytes),
        "godot" => godot(bytes),
        "unity" | "commonroad" => yaml(bytes),
        "bullet" | "rapier" | "jolt" | "physx" => program(bytes),
        _ => vec![],
    }
}

/// Returns `head`, then `line(0)`, `line(1)`, … up to a total size of `bytes`, then `tail`. At least one line is
/// included.
fn repeat_to_size(bytes: usize, head: &str, line: impl Fn(usize) -> String, tail: &str) -> Vec<u8> {
    let mut text = head.to_owned();
    for number in 0.. {
        let next = line(number);
        if text.len() + next.len() + tail.len() > bytes && number > 0 {
            break;
        }
        text.push_str(&next);
    }
    text.push_str(tail);
    text.into_bytes()
}

/// Returns inputs for every TOML reader.
fn toml(bytes: usize) -> Vec<Input> {
    vec![
        ("unknown keys", repeat_to_size(bytes, "", |i| format!("key_{i} = {i}\n"), "")),
        ("unknown tables", repeat_to_size(bytes, "", |i| format!("[table_{i}]\na = 1\n"), "")),
        ("repeated keys", repeat_to_size(bytes, "", |_| "mass = 1\n".into(), "")),
        ("repeated tables", repeat_to_size(bytes, "", |_| "[chassis]\n".into(), "")),
        ("broken statements", repeat_to_size(bytes, "", |i| format!("a{i} 1\n"), "")),
        ("nested lists", repeat_to_size(bytes, "a = ", |_| "[".into(), "")),
        ("nested tables", repeat_to_size(bytes, "a = ", |_| "{a=".into(), "")),
        ("dotted key", repeat_to_size(bytes, "", |_| "a.".into(), "a = 1\n")),
        ("dotted header", repeat_to_size(bytes, "[", |_| "a.".into(), "a]\n")),
        ("long key", repeat_to_size(bytes, "", |_| "mass_kg".into(), " = 1\n")),
        ("long name", repeat_to_size(bytes, "name = \"", |_| "\\u001b".into(), "\"\n")),
        ("long text", repeat_to_size(bytes, "name = 1\na = \"\"\"", |_| "text\n".into(), "\"\"\"\n")),
        ("comments", repeat_to_size(bytes, "name = 3\n", |_| "# \u{202e}\n".into(), "")),
    ]
}

fn vehicle(bytes: usize) -> Vec<Input> {
    let mut inputs = toml(bytes);
    inputs.extend([
        ("axles", repeat_to_size(bytes, "", |_| "[[axles]]\n".into(), "")),
        ("axles with faults", repeat_to_size(bytes, "", |_| "[[axles]]\nwheel_radius_m = -1\n".into(), "")),
        ("tyres", repeat_to_size(bytes, "", |i| format!("[tyres.t{i}]\nlaw = \"curve\"\n"), "")),
        (
            "tyre files",
            repeat_to_size(bytes, "", |i| format!("[tyres.t{i}]\nlaw = \"magic_formula\"\nfile = \"f{i}\"\n"), ""),
        ),
        ("hitches", repeat_to_size(bytes, "", |i| format!("[hitches.h{i}]\n"), "")),
        ("torque curve", repeat_to_size(bytes, "[engine]\ntorque = [", |i| format!("[{i}, 1],"), "]\n")),
        ("ratios", repeat_to_size(bytes, "[gearbox]\nforward = [", |_| "1,".into(), "]\n")),
        ("one car", repeat_to_size(bytes, car(), |_| "# comment\n".into(), "")),
    ]);
    inputs
}

/// Returns the text of a shipped vehicle.
fn car() -> &'static str {
    skidpad::spec::shipped::find("corvette_c5").expect("shipped")
}

fn scene(bytes: usize) -> Vec<Input> {
    let mut inputs = toml(bytes);
    let field = "[[height_field]]\nspacing_m = 1\nheights_m = [";
    let corners = |i: usize| format!("[{}, {}, 0],", i % 1000, i / 1000);
    let half = bytes / 2;
    let fan = |triangle: &str| {
        let corner_list = repeat_to_size(half, "[[mesh]]\ncorners_m = [", corners, "]\n");
        let list = repeat_to_size(half, "triangles = [", |i| triangle.replace('1', &(1 + i % 900).to_string()), "]\n");
        [corner_list, list].concat()
    };
    inputs.extend([
        ("heights in one line", repeat_to_size(bytes, &format!("{field}["), |_| "0.5,".into(), "]]\n")),
        ("heights in two columns", repeat_to_size(bytes, field, |_| "[0,0],".into(), "]\n")),
        ("heights with faults", repeat_to_size(bytes, &format!("{field}["), |_| "nan,".into(), "]]\n")),
        ("boxes", repeat_to_size(bytes, "", |_| "[[box]]\ncentre_m=[0,0,0]\nsize_m=[1,1,1]\n".into(), "")),
        ("boxes with faults", repeat_to_size(bytes, "", |_| "[[box]]\n".into(), "")),
        ("bodies", repeat_to_size(bytes, "", |_| "[[body]]\ncentre_m=[0,0,0]\nsize_m=[1,1,1]\nmass_kg=1\n".into(), "")),
        (
            "roads",
            repeat_to_size(bytes, "", |_| "[[road]]\nlength_m=9\nwidth_m=9\nspacing_m=0.1\nclass=\"a\"\n".into(), ""),
        ),
        (
            "way points",
            repeat_to_size(
                bytes,
                "[[box]]\ncentre_m=[0,0,0]\nsize_m=[1,1,1]\n[box.motion]\n",
                |i| format!("[[box.motion.way_point]]\ntime_s={i}\nposition_m=[0,0,0]\n"),
                "",
            ),
        ),
        ("triangles around a corner", fan("[0, 1, 2],")),
        ("identical triangles", fan("[0, 3, 2],")),
        ("gusts", repeat_to_size(bytes, "", |_| "[[gust]]\nvelocity_mps=[1,0,0]\nstarts_s=1\nrises_s=1\n".into(), "")),
    ]);
    inputs
}

fn tyre(bytes: usize) -> Vec<Input> {
    let shipped = skidpad::spec::tir::find("c5_front").expect("shipped");
    vec![
        ("unknown keys", repeat_to_size(bytes, shipped, |i| format!("KEY_{i} = {i}\n"), "")),
        ("repeated keys", repeat_to_size(bytes, shipped, |_| "PCX1 = 1.5\n".into(), "")),
        ("sections", repeat_to_size(bytes, shipped, |i| format!("[S{i}]\n"), "")),
        ("a section again", repeat_to_size(bytes, shipped, |_| "[MODEL]\n".into(), "")),
        ("broken lines", repeat_to_size(bytes, shipped, |_| "?\n".into(), "")),
        ("wrong numbers", repeat_to_size(bytes, shipped, |_| "PCX1 = x\n".into(), "")),
        ("tables", repeat_to_size(bytes, &format!("{shipped}[SHAPE]\n{{radial width}}\n"), |_| "1 1\n".into(), "")),
        ("comments", repeat_to_size(bytes, shipped, |_| "$ \u{1b}\n".into(), "")),
        ("a quoted text", repeat_to_size(bytes, &format!("{shipped}A = '"), |_| "a ".into(), "'\n")),
    ]
}

fn controls(bytes: usize) -> Vec<Input> {
    vec![
        ("rows", repeat_to_size(bytes, "t_s,throttle\n", |i| format!("{i},0.5\n"), "")),
        ("wrong rows", repeat_to_size(bytes, "t_s,throttle\n", |_| "0,9\n".into(), "")),
        ("columns", repeat_to_size(bytes, "t_s", |i| format!(",column_{i}"), "\n0\n")),
        ("a column again", repeat_to_size(bytes, "t_s", |_| ",throttle".into(), "\n0\n")),
        ("cells", repeat_to_size(bytes, "t_s,throttle\n0", |_| ",1".into(), "\n")),
        ("a quoted cell", repeat_to_size(bytes, "t_s,throttle\n0,\"", |_| "\n".into(), "\"\n")),
        ("open quotes", repeat_to_size(bytes, "t_s,throttle\n0,", |_| "\"".into(), "")),
        ("comments", repeat_to_size(bytes, "t_s,throttle\n", |_| "#\n".into(), "0,1\n1,1\n")),
    ]
}

fn obj(bytes: usize) -> Vec<Input> {
    let corners = |i: usize| format!("v {} {} 0\n", i % 100, i / 100);
    let list = |face: &dyn Fn(usize) -> String| {
        [repeat_to_size(bytes / 2, "v 0 0 1\n", corners, ""), repeat_to_size(bytes / 2, "", face, "")].concat()
    };
    let few = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";
    vec![
        ("triangles around a corner", list(&|i| format!("f 1 {} {}\n", i % 40 + 2, i % 40 + 3))),
        ("a fan", list(&|i| format!("f 1 -{} -{}\n", i + 1, i + 2))),
        ("identical triangles", repeat_to_size(bytes, few, |_| "f 1 2 3\n".into(), "")),
        ("one face", repeat_to_size(bytes, &format!("{few}f"), |i| format!(" {}", i % 3 + 1), "\n")),
        ("turned faces", repeat_to_size(bytes, few, |_| "f 1 2 3 2 1 3 2 1\n".into(), "")),
        ("materials", repeat_to_size(bytes, few, |i| format!("usemtl m{i}\nf 1 2 3\n"), "")),
        ("a material", repeat_to_size(bytes, &format!("{few}usemtl "), |_| "m".into(), "\nf 1 2 3\n")),
        ("corners", repeat_to_size(bytes, "", corners, "f 1 2 3\n")),
        ("wrong corners", repeat_to_size(bytes, "", |_| "v x\n".into(), "")),
        ("wrong faces", repeat_to_size(bytes, "", |_| "f 9\n".into(), "")),
        ("unknown statements", repeat_to_size(bytes, "", |i| format!("k{i}\n"), "")),
        (
            "separate triangles",
            repeat_to_size(bytes, "", |i| format!("v {i} 0 0\nv {i} 1 0\nv {i} 0 1\nf -1 -2 -3\n"), ""),
        ),
    ]
}

/// Start of a glTF file, up to its lists.
const GLTF_START: &str = "{\"asset\":{\"version\":\"2.0\"},";

/// Lists of a glTF file with one triangle, without a scene.
const TRIANGLE_LISTS: &str = "\"buffers\":[{\"uri\":\"data:;base64,\
AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA\"}],\"bufferViews\":[{\"buffer\":0,\"byteLength\":36}],\
\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"}],";

fn gltf(bytes: usize) -> Vec<Input> {
    let primitive = "{\"attributes\":{\"POSITION\":0}}";
    let one = format!("{GLTF_START}{TRIANGLE_LISTS}\"meshes\":[{{\"primitives\":[{primitive}]}}],");
    let scene = "\"scenes\":[{\"nodes\":[0]}]";
    let list = |key: &str, entry: &str| {
        let entry = entry.to_owned();
        repeat_to_size(bytes, &format!("{GLTF_START}\"{key}\":[{entry}"), move |_| format!(",{entry}"), "]}")
    };
    let nodes = repeat_to_size(bytes / 2, &format!("{one}\"nodes\":[{{\"mesh\":0}}"), |_| ",{\"mesh\":0}".into(), "],");
    let count = nodes.iter().filter(|&&byte| byte == b'm').count() - 1;
    let named = (1..count.saturating_sub(2)).fold("\"scenes\":[{\"nodes\":[0".to_owned(), |mut named, i| {
        named.push_str(&format!(",{i}"));
        named
    });
    let primitives = format!(
        "{GLTF_START}{TRIANGLE_LISTS}{scene},\"nodes\":[{{\"mesh\":0}}],\"meshes\":[{{\"primitives\":[{primitive}"
    );
    let materials = format!("{one}{scene},\"nodes\":[{{\"mesh\":0}}],\"materials\":[{{}}");
    let deep = format!("{one}{scene},\"nodes\":[{{\"mesh\":0}}");
    vec![
        ("nodes", [nodes, format!("{named}]}}]}}").into_bytes()].concat()),
        ("nodes below each other", repeat_to_size(bytes, &deep, |i| format!(",{{\"children\":[{i}]}}"), "]}")),
        ("primitives", repeat_to_size(bytes, &primitives, |_| format!(",{primitive}"), "]}]}")),
        ("empty primitives", repeat_to_size(bytes, &primitives, |_| ",{}".into(), "]}]}")),
        ("materials", repeat_to_size(bytes, &materials, |_| ",{}".into(), "]}")),
        ("empty nodes", list("nodes", "{}")),
        ("empty meshes", list("meshes", "{}")),
        ("empty materials", list("materials", "{}")),
        ("empty accessors", list("accessors", "{}")),
        ("empty views", list("bufferViews", "{}")),
        ("empty buffers", list("buffers", "{}")),
        ("empty scenes", list("scenes", "{}")),
        ("extensions", list("extensionsRequired", "\"\"")),
        (
            "attributes",
            repeat_to_size(
                bytes,
                &format!("{GLTF_START}\"meshes\":[{{\"primitives\":[{{\"attributes\":{{\"a\":0"),
                |i| format!(",\"{i}\":0"),
                "}}]}]}",
            ),
        ),
        ("nested lists", repeat_to_size(bytes, &format!("{GLTF_START}\"extras\":"), |_| "[".into(), "")),
        ("nested tables", repeat_to_size(bytes, &format!("{GLTF_START}\"extras\":"), |_| "{\"a\":".into(), "")),
        (
            "bytes in the file",
            repeat_to_size(
                bytes,
                &format!("{GLTF_START}\"buffers\":[{{\"uri\":\"data:;base64,"),
                |_| "AAAA".into(),
                "\"}]}",
            ),
        ),
        (
            "escaped path",
            repeat_to_size(bytes, &format!("{GLTF_START}\"buffers\":[{{\"uri\":\""), |_| "%41".into(), "\"}]}"),
        ),
        ("buffers of one file", list("buffers", "{\"uri\":\"input.glb\"}")),
    ]
}

fn crg(bytes: usize) -> Vec<Input> {
    let head = "$CT\n$ROAD_CRG\n";
    let data = "reference_line_increment = 1\nlong_section_v_increment = 1\n$KD_DEFINITION\n#:LRFI\nU:reference line u,m,0,1\n";
    let two = format!("{head}{data}D:long section 1,m\nD:long section 2,m\n$$$$\n");
    let wide =
        repeat_to_size(bytes / 2, &format!("{head}{data}"), |i| format!("D:long section {},m\n", i + 1), "$$$$\n");
    let values = repeat_to_size(bytes / 2, "", |_| format!("{}\n", " 0.0000000".repeat(8)), "");
    let curved = format!("{head}{data}D:reference line phi,rad\nD:long section 1,m\nD:long section 2,m\n$$$$\n");
    vec![
        ("heights", repeat_to_size(bytes, &two, |_| " 0.0000000 0.0000000\n".into(), "")),
        ("missing heights", repeat_to_size(bytes, &two, |_| "****************000\n".into(), "")),
        ("wrong heights", repeat_to_size(bytes, &two, |_| "xxxxxxxxxxxxxxxxxxxx\n".into(), "")),
        ("a curved road", repeat_to_size(bytes, &curved, |_| " 0.0100000 0.0000000 0.0000000\n".into(), "")),
        ("sections", [wide, values].concat()),
        (
            "a section again",
            repeat_to_size(bytes, &format!("{head}{data}"), |_| "D:long section 1,m\n".into(), "$$$$\n"),
        ),
        ("unknown keys", repeat_to_size(bytes, head, |i| format!("key_{i} = 1\n"), "$$$$\n")),
        ("unknown blocks", repeat_to_size(bytes, "", |i| format!("$B{i}\n"), "$$$$\n")),
        ("options", repeat_to_size(bytes, "$ROAD_CRG_OPTS\n", |i| format!("o{i} = 1\n"), "$$$$\n")),
        ("long key", repeat_to_size(bytes, head, |_| "reference_line_".into(), " = 1\n$$$$\n")),
        ("no end", repeat_to_size(bytes, head, |_| "$CT\n".into(), "")),
    ]
}

/// Returns inputs for the importers that read TOML.
fn program(bytes: usize) -> Vec<Input> {
    let mut inputs = toml(bytes);
    inputs.extend([
        ("wheels", repeat_to_size(bytes, "mass = 1\n", |_| "[[wheels]]\n".into(), "")),
        ("wheels with faults", repeat_to_size(bytes, "mass = 1\n", |_| "[[wheels]]\nradius = -1\n".into(), "")),
        ("wheels in a line", repeat_to_size(bytes, "wheels = [", |_| "{},".into(), "]\n")),
        ("numbers", repeat_to_size(bytes, "mass = 1\nhalf_extents = [", |_| "1,".into(), "]\n")),
    ]);
    inputs
}

fn godot(bytes: usize) -> Vec<Input> {
    let scene = "[gd_scene format=3]\n";
    let car = "[node name=\"Car\" type=\"VehicleBody3D\"]\nmass = 900.0\n";
    let wheel = "transform = Transform3D(1,0,0,0,1,0,0,0,1,1,0,1)\n";
    vec![
        ("nodes", repeat_to_size(bytes, scene, |i| format!("[node name=\"n{i}\" type=\"Node3D\" parent=\".\"]\n"), "")),
        (
            "wheels",
            repeat_to_size(
                bytes,
                &format!("{scene}{car}"),
                |i| format!("[node name=\"w{i}\" type=\"VehicleWheel3D\" parent=\".\"]\n{wheel}"),
                "",
            ),
        ),
        (
            "boxes",
            repeat_to_size(
                bytes,
                &format!("{scene}{car}"),
                |i| {
                    format!("[node name=\"c{i}\" type=\"CollisionShape3D\" parent=\".\"]\nshape = SubResource(\"s\")\n")
                },
                "",
            ),
        ),
        (
            "resources",
            repeat_to_size(bytes, scene, |i| format!("[sub_resource type=\"BoxShape3D\" id=\"s{i}\"]\n"), ""),
        ),
        ("cars", repeat_to_size(bytes, scene, |_| car.into(), "")),
        ("attributes", repeat_to_size(bytes, "[node", |i| format!(" a{i}=1"), "]\n")),
        ("statements", repeat_to_size(bytes, &format!("{scene}{car}"), |i| format!("key_{i} = 1\n"), "")),
        ("a statement again", repeat_to_size(bytes, &format!("{scene}{car}"), |_| "mass = 1\n".into(), "")),
        ("broken statements", repeat_to_size(bytes, scene, |_| "?\n".into(), "")),
        ("broken headers", repeat_to_size(bytes, scene, |_| "[node ?\n".into(), "")),
        ("nested lists", repeat_to_size(bytes, &format!("{car}a = "), |_| "[".into(), "")),
        ("nested types", repeat_to_size(bytes, &format!("{car}a = "), |_| "a[".into(), "")),
        ("an open text", repeat_to_size(bytes, &format!("{car}a = "), |_| "\"\"\"\"a".into(), "")),
        ("open texts", repeat_to_size(bytes, car, |_| "a = \"\n".into(), "")),
        ("a list", repeat_to_size(bytes, &format!("{car}a = ["), |_| "1,".into(), "]\n")),
        (
            "a long path",
            repeat_to_size(
                bytes,
                &format!("{scene}{car}[node name=\"w\" type=\"VehicleWheel3D\" parent=\""),
                |_| "a/".into(),
                "\"]\n",
            ),
        ),
    ]
}

fn yaml(bytes: usize) -> Vec<Input> {
    let unity = "%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n";
    let object = |i: usize, kind: &str| format!("--- !u!{i} &{i}\n{kind}:\n  m_GameObject: {{fileID: 1}}\n");
    vec![
        ("objects", repeat_to_size(bytes, unity, |i| object(i, "GameObject"), "")),
        (
            "wheels",
            repeat_to_size(
                bytes,
                unity,
                |i| format!("--- !u!146 &{i}\nWheelCollider:\n  m_GameObject: {{fileID: {i}}}\n"),
                "",
            ),
        ),
        (
            "transforms",
            repeat_to_size(
                bytes,
                unity,
                |i| {
                    format!(
                        "--- !u!4 &{i}\nTransform:\n  m_GameObject: {{fileID: {i}}}\n  m_Father: {{fileID: {}}}\n",
                        i + 1
                    )
                },
                "",
            ),
        ),
        ("bodies", repeat_to_size(bytes, unity, |i| format!("--- !u!54 &{i}\nRigidbody:\n  m_Mass: 1\n"), "")),
        ("an object again", repeat_to_size(bytes, unity, |_| object(1, "Transform"), "")),
        ("broken objects", repeat_to_size(bytes, unity, |i| format!("--- !u!4 &{i}\nTransform: {{\n"), "")),
        ("empty objects", repeat_to_size(bytes, unity, |_| "--- \n".into(), "")),
        ("keys", repeat_to_size(bytes, "", |i| format!("key_{i}: {i}\n"), "")),
        ("a key again", repeat_to_size(bytes, "", |_| "m: 1\n".into(), "")),
        ("nested lists", repeat_to_size(bytes, "a: ", |_| "[".into(), "")),
        ("nested tables", repeat_to_size(bytes, "a: ", |_| "{a: ".into(), "")),
        ("nested dashes", repeat_to_size(bytes, "", |_| "- ".into(), "a\n")),
        ("nested questions", repeat_to_size(bytes, "", |_| "? ".into(), "a\n")),
        ("anchors", repeat_to_size(bytes, "", |i| format!("a{i}: &a{i} 1\n"), "")),
        ("aliases", repeat_to_size(bytes, "a: &a [1]\n", |i| format!("b{i}: *a\n"), "")),
        ("a quoted text", repeat_to_size(bytes, "a: \"", |_| "\\n".into(), "\"\n")),
        ("a folded text", repeat_to_size(bytes, "a: >\n", |_| " a\n\n".into(), "")),
        ("a plain text", repeat_to_size(bytes, "a: b", |_| "\n  c".into(), "\n")),
        ("comments", repeat_to_size(bytes, "", |_| "#\n".into(), "a: 1\n")),
        ("directives", repeat_to_size(bytes, "", |i| format!("%TAG !{i}! a\n"), "---\n")),
        ("a flow list", repeat_to_size(bytes, "a: [", |_| "1,".into(), "]\n")),
        ("flow questions", repeat_to_size(bytes, "a: [", |_| "? a, ".into(), "]\n")),
    ]
}
