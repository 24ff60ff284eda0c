//! Scene files: shipped files are valid, all faults are reported at once, and values have the units of their keys.

use skidpad_core::{DVec3, FixedBox, Gust, Mat3, PlatformCourse, Scene, Vec3};
use skidpad_spec::FaultKind::{self, *};
use skidpad_spec::SceneSpec;

#[test]
fn shipped_scenes_read_and_say_the_same_again() {
    for text in [
        include_str!("../../../../scenes/step.toml"),
        include_str!("../../../../scenes/ramp.toml"),
        include_str!("../../../../scenes/terrain.toml"),
        include_str!("../../../../scenes/crates.toml"),
    ] {
        let spec = SceneSpec::read("scene.toml", text).expect("valid");
        let again = toml::to_string_pretty(&spec).expect("TOML");
        assert_eq!(SceneSpec::read("again.toml", &again).expect("valid"), spec);
    }
}

#[test]
fn an_empty_scene_is_flat_dry_ground() {
    let scene = SceneSpec::read("empty.toml", "").expect("valid").scene().expect("ground");
    assert_eq!(scene, Scene::flat());
}

#[test]
fn keys_are_in_the_units_of_their_names() {
    let text = "slope_deg = 10\ngravity_mps2 = 1.62\ngrip = 0.5\n[wind]\nvelocity_mps = [-3, 4, 0]\n\
                [[wind.gust]]\nvelocity_mps = [0, 9, 0]\nstarts_s = 2\nrises_s = 0.5\n\
                [[box]]\ncentre_m = [1, -2, 3]\nsize_m = [4, 6, 8]\nyaw_deg = 90\npitch_deg = -30\ngrip = 0.2\n";
    let scene = SceneSpec::read("units.toml", text).expect("valid").scene().expect("ground");
    assert_eq!((scene.slope, scene.gravity, scene.grip), (10f32.to_radians(), 1.62, 0.5));
    assert_eq!(scene.wind, Vec3::new(-3.0, 4.0, 0.0));
    assert_eq!(
        scene.gusts,
        [Gust { velocity: Vec3::new(0.0, 9.0, 0.0), start_time: 2.0, rise_time: 0.5, hold_time: 0.0 }]
    );
    let [block] = scene.boxes[..] else { panic!("one box") };
    assert_eq!((block.centre, block.half_extents), (DVec3::new(1.0, -2.0, 3.0), Vec3::new(2.0, 3.0, 4.0)));
    assert_eq!(block.grip, 0.2);
    // The box is turned to the left, then its +x end is raised: its x axis points along the y axis of the world and up by 30 degrees.
    let (sin, cos) = 30f32.to_radians().sin_cos();
    assert!((block.rotation * Vec3::X - Vec3::new(0.0, cos, sin)).length() < 1e-6, "{:?}", block.rotation);
}

#[test]
fn every_fault_of_a_scene_is_told_at_its_place() {
    let text = "slope_deg = 100\ngravity = 9.8\ngrip = \"wet\"\nstart_m = [0, 0]\n\
                [[box]]\ncentre_m = [0, 0, 0]\nsize_m = [1, 0, 1]\n[[box]]\nsize_m = [1, 1, 1]\nyaw_deg = = 3\n";
    let faults = SceneSpec::read("bad.toml", text).expect_err("has faults");
    let found: Vec<(usize, FaultKind, &str)> =
        faults.list().iter().map(|f| (f.line, f.kind, f.path.as_str())).collect();
    let expected = [
        (1, OutOfRange, "slope_deg"),
        (2, UnknownKey, "gravity"),
        (3, WrongType, "grip"),
        (4, OutOfRange, "start_m"),
        (7, OutOfRange, "box[0].size_m[1]"),
        (8, MissingKey, "box[1].centre_m"),
        (10, Syntax, "box[1].yaw_deg"),
    ];
    assert_eq!(found, expected, "{}", faults.render());
    assert!(faults.render().contains("a list of 3 numbers"), "{}", faults.render());
}

#[test]
fn the_schema_of_scenes_names_every_key_with_its_range() {
    let schema = skidpad_spec::scene_schema();
    assert_eq!(schema["properties"]["slope_deg"]["maximum"], 89);
    let fixed_box = &schema["$defs"]["FixedBoxSpec"]["properties"];
    assert_eq!(fixed_box["size_m"]["items"]["minimum"], 0.001);
    assert_eq!(fixed_box["size_m"]["minItems"], 3);
    assert!(schema["properties"]["box"]["description"].is_string());
}

#[test]
fn fields_of_heights_and_meshes_are_in_the_units_of_their_names() {
    let text = "plane = false\n[[height_field]]\ncorner_m = [-1, 2, 3]\nspacing_m = [0.5, 2]\nheights_m = [[0, 1, 2], [3, 4, 5]]\ngrip = 0.4\n\
                [[mesh]]\norigin_m = [9, 8, 7]\ncorners_m = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]\ntriangles = [[0, 1, 2], [1, 1, 2]]\n";
    let scene = SceneSpec::read("ground.toml", text).expect("valid").scene().expect("ground");
    assert!(!scene.has_plane);
    let [field] = &scene.height_fields[..] else { panic!("one field") };
    assert_eq!((field.origin(), field.spacing(), field.counts()), (DVec3::new(-1.0, 2.0, 3.0), [0.5, 2.0], [3, 2]));
    // Heights are ordered along x first, then along y.
    assert_eq!([field.height(0, 0), field.height(2, 0), field.height(0, 1), field.grip()], [0.0, 2.0, 3.0, 0.4]);
    let [mesh] = &scene.meshes[..] else { panic!("one mesh") };
    assert_eq!((mesh.origin(), mesh.grips()), (DVec3::new(9.0, 8.0, 7.0), &[1.0][..]));
    // The triangle without an area is left out.
    assert_eq!(mesh.triangles(), [[0, 1, 2]]);
}

#[test]
fn boxes_that_move_are_platforms_in_the_units_of_their_names() {
    let text = "[[box]]\ncentre_m = [1, -2, 3]\nsize_m = [4, 6, 8]\ngrip = 0.5\n\
                kinematic = { velocity_mps = [0, 2, 0], turn_rate_deg_per_s = 90, axis = [0, 0.5, 0] }\n\
                [[box]]\ncentre_m = [0, 0, 0]\nsize_m = [1, 1, 1]\n[box.kinematic]\nloop = true\nblend_time_s = 0.5\n\
                way_point = [{ time_s = 0 }, { time_s = 2, displacement_m = [0, 0, 4], angle_deg = 180 }, { time_s = 4 }]\n\
                [[box]]\ncentre_m = [9, 9, 9]\nsize_m = [1, 1, 1]\n";
    let scene = SceneSpec::read("platforms.toml", text).expect("valid").scene().expect("ground");
    let ([block], [steady, path]) = (&scene.boxes[..], &scene.platforms[..]) else { panic!("{scene:?}") };
    assert_eq!(block.centre, DVec3::splat(9.0));
    let quarter = 90f32.to_radians();
    assert_eq!(steady.course, PlatformCourse::Steady { velocity: Vec3::new(0.0, 2.0, 0.0), rate: quarter });
    assert_eq!((steady.axis, steady.shape.centre, steady.shape.grip), (Vec3::Y, DVec3::new(1.0, -2.0, 3.0), 0.5));
    let (centre, rotation) = path.pose(7.0);
    assert_eq!(centre, DVec3::new(0.0, 0.0, 2.0));
    assert!((rotation * Vec3::X - Vec3::Y).length() < 1e-6, "{rotation}");
}

#[test]
fn every_fault_of_a_motion_is_told_at_its_place() {
    let boxed = |motion: &str| format!("[[box]]\ncentre_m = [0, 0, 0]\nsize_m = [1, 1, 1]\n{motion}\n");
    let text = [
        "kinematic = { velocity_mps = [0, 300, 0] }",
        "kinematic = {}",
        "kinematic = { turn_rate_deg_per_s = 1, axis = [0, 0, 0], loop = true }",
        "kinematic = { velocity_mps = [1, 0, 0], way_point = [{ time_s = 0 }, { time_s = 1 }] }",
        "kinematic = { way_point = [{ time_s = 0 }, { time_s = 0 }] }",
        "kinematic = { way_point = [{ time_s = 0 }, { time_s = 1, displacement_m = [1, 0, 0] }], loop = true }",
        "kinematic = { way_point = [{ time_s = 0 }, { time_s = 1, angle = 3 }] }",
    ];
    let faults = SceneSpec::read("bad.toml", &text.map(boxed).concat()).expect_err("has faults");
    let found: Vec<(usize, FaultKind, &str)> =
        faults.list().iter().map(|f| (f.line, f.kind, f.path.as_str())).collect();
    let expected = [
        (4, OutOfRange, "box[0].kinematic.velocity_mps[1]"),
        (8, MissingKey, "box[1].kinematic.velocity_mps"),
        (12, Contradiction, "box[2].kinematic.axis"),
        (12, Contradiction, "box[2].kinematic.loop"),
        (16, Contradiction, "box[3].kinematic.way_point"),
        (20, Contradiction, "box[4].kinematic.way_point"),
        (24, Contradiction, "box[5].kinematic.way_point"),
        (28, UnknownKey, "box[6].kinematic.way_point[1].angle"),
    ];
    assert_eq!(found, expected, "{}", faults.render());
}

#[test]
fn every_fault_of_the_ground_is_told_at_its_place() {
    let text = "[[height_field]]\ncorner_m = [0, 0, 0]\nspacing_m = [1, 1]\nheights_m = [[0, 1], [2]]\n\
                [[height_field]]\ncorner_m = [0, 0, 0]\nspacing_m = [1, 0]\nheights_m = [[0, 1], [2, 3]]\n\
                [[mesh]]\ncorners_m = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]\ntriangles = [[0, 1, 3]]\n\
                [[mesh]]\ncorners_m = [[0, 0, 0], [1, 0, 0], [2, 0, 0]]\ntriangles = [[0, 1, 2]]\n";
    let faults = SceneSpec::read("bad.toml", text).expect_err("has faults");
    let found: Vec<(usize, FaultKind, &str)> =
        faults.list().iter().map(|f| (f.line, f.kind, f.path.as_str())).collect();
    let expected = [
        (4, OutOfRange, "height_field[0].heights_m[1]"),
        (7, OutOfRange, "height_field[1].spacing_m[1]"),
        (11, Contradiction, "mesh[0].triangles"),
        (14, Contradiction, "mesh[1].triangles"),
    ];
    assert_eq!(found, expected, "{}", faults.render());
    let text = "[[height_field]]\ncorner_m = [0, 0, 0]\nspacing_m = [1, 1]\nheights_m = [[0, 1, 2], [2, 3]]\n";
    let faults = SceneSpec::read("bad.toml", text).expect_err("has a fault");
    assert!(faults.render().contains("2 heights do not fill 2 rows of 3"), "{}", faults.render());
}

#[test]
fn a_road_of_a_class_is_a_field_of_heights() {
    let text = "[[road]]\nclass = \"c\"\ncorner_m = [5, -2, 1]\nlength_m = 40\nwidth_m = 4\n";
    let scene = SceneSpec::read("road.toml", text).expect("valid").scene().expect("ground");
    let [field] = &scene.height_fields[..] else { panic!("one field") };
    assert_eq!((field.origin(), field.spacing(), field.counts()), (DVec3::new(5.0, -2.0, 1.0), [0.1; 2], [401, 41]));
    let text = "[[road]]\nclass = \"i\"\ncorner_m = [0, 0, 0]\nlength_m = 40\nwidth_m = 4\n\
                [[road]]\nclass = \"a\"\ncorner_m = [0, 0, 0]\nlength_m = 40\nwidth_m = 4\nspacing_m = 0.2\n";
    let faults = SceneSpec::read("bad.toml", text).expect_err("has faults");
    let found: Vec<(usize, &str)> = faults.list().iter().map(|f| (f.line, f.path.as_str())).collect();
    assert_eq!(found, [(2, "road[0].class"), (11, "road[1].spacing_m")], "{}", faults.render());
}

/// Checks that files are rejected by name if the feature with their readers is off.
#[cfg(not(feature = "terrain_files"))]
#[test]
fn files_need_their_feature() {
    let text = "[[mesh]]\nfile = \"a.obj\"\n[[crg]]\nfile = \"a.crg\"\n[[height_field]]\nfile = \"a.png\"\n\
                corner_m = [0, 0, 0]\nspacing_m = [1, 1]\n";
    let told = SceneSpec::read("files.toml", text).expect_err("has faults").to_text();
    for table in ["mesh", "crg", "height_field"] {
        assert!(told.contains(&format!("`{table}[0].file` is \"a.")), "{told}");
    }
    assert_eq!(told.matches("enable the feature `terrain_files`").count(), 3, "{told}");
}

#[test]
fn bodies_are_in_the_units_of_their_names() {
    let text = "[[dynamic_box]]\nmass_kg = 12\nsize_m = [1, 2, 3]\ncentre_m = [4, 5, 6]\nyaw_deg = 90\ncentre_of_mass_m = [0.25, 0, -1]\n\
                velocity_mps = [1, 2, 3]\nangular_velocity_deg_per_s = [0, 0, 180]\ngrip = 0.7\nfriction = 0.2\n\
                [[dynamic_box]]\nmass_kg = 12\nsize_m = [1, 2, 3]\ncentre_m = [0, 0, 0]\ninertia_kg_m2 = [3, 4, 5]\n";
    let scene = SceneSpec::read("units.toml", text).expect("valid").scene().expect("bodies");
    let [one, other] = scene.free_bodies[..] else { panic!("two bodies") };
    // Inertia of a solid box: m (b² + c²) / 12.
    assert_eq!(one.inertia, Mat3::from_diagonal(Vec3::new(13.0, 10.0, 5.0)));
    assert_eq!((one.mass, one.grip, one.friction), (12.0, 0.7, 0.2));
    assert_eq!((one.hull.centre, one.hull.half_extents), (Vec3::new(-0.25, 0.0, 1.0), Vec3::new(0.5, 1.0, 1.5)));
    let FixedBox { centre, .. } = one.box_at(&one.motion);
    assert!((centre - DVec3::new(4.0, 5.0, 6.0)).length() < 1e-6, "{centre}");
    assert!((one.motion.position - DVec3::new(4.0, 5.25, 5.0)).length() < 1e-6, "{:?}", one.motion);
    assert_eq!(one.motion.velocity, Vec3::new(1.0, 2.0, 3.0));
    assert!((one.motion.angular_velocity.z - core::f32::consts::PI).abs() < 1e-6, "{:?}", one.motion);
    assert_eq!((other.inertia, other.friction), (Mat3::from_diagonal(Vec3::new(3.0, 4.0, 5.0)), 0.5));
}

#[test]
fn every_fault_of_a_body_is_told_at_its_place() {
    let text = "[[dynamic_box]]\nmass_kg = 0\nsize_m = [1, 1, 1]\ncentre_m = [0, 0, 0]\n\
                [[dynamic_box]]\nmass_kg = 5\nsize_m = [1, 1, 1]\ncentre_m = [0, 0, 0]\ninertia_kg_m2 = [1, 1, 3]\ncentre_of_mass_m = [0, 0, 0.6]\nweight = 3\n\
                [[dynamic_box]]\nmass_kg = 5\n";
    let faults = SceneSpec::read("bad.toml", text).expect_err("has faults");
    let mut found: Vec<(usize, FaultKind, &str)> =
        faults.list().iter().map(|f| (f.line, f.kind, f.path.as_str())).collect();
    found.sort_by_key(|(line, _, path)| (*line, path.to_string()));
    let expected = [
        (2, OutOfRange, "dynamic_box[0].mass_kg"),
        (9, Contradiction, "dynamic_box[1].inertia_kg_m2"),
        (10, Contradiction, "dynamic_box[1].centre_of_mass_m"),
        (11, UnknownKey, "dynamic_box[1].weight"),
        (12, MissingKey, "dynamic_box[2].centre_m"),
        (12, MissingKey, "dynamic_box[2].size_m"),
    ];
    assert_eq!(found, expected, "{}", faults.render());
}
