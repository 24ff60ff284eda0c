//! Importer for `VehicleBody3D` of Godot with its `VehicleWheel3D` children, from a `.tscn` file.
//!
//! The class is derived from the vehicle of Bullet, with one change (`_ray_cast` in `vehicle_body_3d.cpp` of Godot).
//! The ray starts a radius `r` above the hard point, so it is `L0 + 2 r` long. The fraction of the ray up to the hit is
//! multiplied by the length from the hard point, `L0 + r`. A wheel travel of `z` therefore compresses the spring by
//! only `z (L0 + r) / (L0 + 2 r)`.

use crate::Import;
use crate::bullet::{
    default_compression_damping, default_friction, default_max_suspension_force, default_relaxation_damping,
    default_roll_influence, default_stiffness,
};
use crate::car::{BodyBox, Car, common_centre};
use crate::raycast::{RayVehicle, RayWheel, SourceAxes, convert_vehicle};
use crate::tscn::{Section, parse_sections};
use schemars::JsonSchema;
use serde::Deserialize;
use skidpad_core::DVec3;
use skidpad_spec::read::{Item, Key, Node};
use std::collections::BTreeMap;

/// What is taken from a scene.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct Scene {
    /// The `VehicleBody3D`.
    body: Body,
    /// Its `VehicleWheel3D` children.
    #[schemars(length(min = 2, max = 32))]
    wheels: Vec<Wheel>,
    /// Its `CollisionShape3D` children with a `BoxShape3D`.
    boxes: Vec<BoxShape>,
}

/// The `VehicleBody3D`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Body {
    /// Name of the node.
    #[schemars(length(min = 1))]
    name: String,
    /// kg.
    #[serde(default = "default_mass")]
    #[schemars(range(min = 0.001, max = 1e7))]
    mass: f64,
    /// 0: from the shapes, 1: `center_of_mass`.
    #[serde(default)]
    center_of_mass_mode: u32,
    /// In the body's frame, m.
    #[serde(default)]
    center_of_mass: [f64; 3],
    /// Diagonal of the inertia, kg m²; 0: from the shapes.
    #[serde(default)]
    inertia: [f64; 3],
    /// Force of each wheel used as traction, N.
    #[serde(default)]
    engine_force: f64,
    /// Brake of each wheel, N s per step whatever its documentation says.
    #[serde(default)]
    #[schemars(range(min = 0))]
    brake: f64,
    /// Angle of each wheel used as steering, rad.
    #[serde(default)]
    #[schemars(range(min = -1.57, max = 1.57))]
    steering: f64,
}

/// A `VehicleWheel3D`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Wheel {
    /// Rows of the basis, then the origin.
    #[serde(default = "identity_transform")]
    transform: [f64; 12],
    /// Whether it drives.
    #[serde(default)]
    use_as_traction: bool,
    /// Whether it steers.
    #[serde(default)]
    use_as_steering: bool,
    /// Lever arm of side forces, as a share of the height of the centre of mass: 1 if they act at the ground, 0 at the
    /// height of the centre of mass.
    #[serde(default = "default_roll_influence")]
    #[schemars(range(min = 0, max = 1))]
    wheel_roll_influence: f64,
    /// m.
    #[serde(default = "default_wheel_radius")]
    #[schemars(range(min = 0.001, max = 100))]
    wheel_radius: f64,
    /// m.
    #[serde(default = "default_rest_length")]
    #[schemars(range(min = 0.001, max = 100))]
    wheel_rest_length: f64,
    /// Friction coefficient across; along it acts twice.
    #[serde(default = "default_friction")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    wheel_friction_slip: f64,
    /// Largest change of length, m.
    #[serde(default = "default_suspension_travel")]
    #[schemars(range(min = 0))]
    suspension_travel: f64,
    /// Spring rate over the mass of the body, 1/s², whatever its documentation says.
    #[serde(default = "default_stiffness")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    suspension_stiffness: f64,
    /// Largest force of the suspension, N.
    #[serde(default = "default_max_suspension_force")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    suspension_max_force: f64,
    /// Damping while compressing over the mass of the body, 1/s.
    #[serde(default = "default_compression_damping")]
    #[schemars(range(min = 0))]
    damping_compression: f64,
    /// Damping while extending over the mass of the body, 1/s.
    #[serde(default = "default_relaxation_damping")]
    #[schemars(range(min = 0))]
    damping_relaxation: f64,
    /// Force of this wheel, N.
    #[serde(default)]
    engine_force: f64,
    /// Brake of this wheel, N s per step.
    #[serde(default)]
    #[schemars(range(min = 0))]
    brake: f64,
    /// Angle of this wheel, rad.
    #[serde(default)]
    #[schemars(range(min = -1.57, max = 1.57))]
    steering: f64,
}

/// A box of the body.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct BoxShape {
    /// Rows of the basis, then the origin.
    #[serde(default = "identity_transform")]
    transform: [f64; 12],
    /// Full size, m.
    #[serde(default = "default_box_size")]
    #[schemars(inner(range(min = 0.001, max = 100)))]
    size: [f64; 3],
}

/// Returns the default mass of the body (kg).
fn default_mass() -> f64 {
    40.0
}
/// Returns the default of `wheel_radius` (m).
fn default_wheel_radius() -> f64 {
    0.5
}
/// Returns the default of `wheel_rest_length` (m).
fn default_rest_length() -> f64 {
    0.15
}
/// Returns the default of `suspension_travel` (m).
fn default_suspension_travel() -> f64 {
    0.2
}
/// Returns the default size of a box (m).
fn default_box_size() -> [f64; 3] {
    [1.0; 3]
}
/// Returns the default transform: the rows of a unit matrix, then the origin 0.
fn identity_transform() -> [f64; 12] {
    [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
}

/// Estimated steering angle of wheels used as steering if no node has an angle (rad). Usually a script sets the angle.
const ESTIMATED_STEERING_RAD: f64 = 0.5;

/// Keys without influence on the vehicle dynamics. They get no note.
const IRRELEVANT_KEYS: [&str; 18] = [
    "script",
    "collision_layer",
    "collision_mask",
    "metadata",
    "visible",
    "physics_interpolation_mode",
    "can_sleep",
    "sleeping",
    "continuous_cd",
    "contact_monitor",
    "max_contacts_reported",
    "unique_name_in_owner",
    "process_mode",
    "process_priority",
    "rotation_edit_mode",
    "disabled",
    "shape",
    "debug_color",
];

/// Names of Godot for `RayWheel::source_names`.
const GODOT_NAMES: [&str; 6] = [
    "suspension_stiffness",
    "damping_compression",
    "damping_relaxation",
    "wheel_friction_slip",
    "brake",
    "engine_force",
];

/// Reads the first vehicle of a scene. Steps: parse the sections, select the vehicle, convert the tree to the types of
/// the source, convert these as a ray-cast vehicle. Keys that are not read become notes, except [`IRRELEVANT_KEYS`] and
/// the transform of the body. Returns `None` after a fault.
pub(crate) fn read(import: &mut Import<'_>) -> Option<Car> {
    let sections = parse_sections(import);
    let tree = build_tree(&sections, import)?;
    // Unknown keys are collected in `skipped_keys` instead of being reported as faults.
    import.collector.skips_unknown_keys = true;
    let scene: Scene = import.deserialize_tree(&tree)?;
    import.collector.skipped_keys.retain(|(path, _)| {
        // Last part of the path; keys such as `metadata/_edit_lock_` count by their first word.
        let key = path.rsplit('.').next().unwrap_or(path).trim_matches('"');
        !IRRELEVANT_KEYS.contains(&key.split('/').next().unwrap_or(key)) && path != "body.transform"
    });
    Some(convert_vehicle(convert_scene(scene, import)?, import))
}

/// Returns one tree: `body` with the values of the first `VehicleBody3D` and its name, `wheels` with the direct
/// `VehicleWheel3D` children of this node, `boxes` with its `CollisionShape3D` children that have a `BoxShape3D` of
/// this file. Adds a fault and returns `None` without a vehicle. Adds notes about further vehicles, and about shapes
/// that are not boxes of this file; both are left out.
fn build_tree(sections: &[Section], import: &mut Import<'_>) -> Option<Node> {
    let nodes: Vec<&Section> = sections.iter().filter(|s| s.kind == "node").collect();
    let mut bodies = nodes.iter().filter(|s| s.attribute("type") == "VehicleBody3D");
    let Some(body) = bodies.next() else {
        import.add_fault(
            "", // fault of the whole file
            "no node of type VehicleBody3D",
            "a scene with a vehicle",
            "instanced scenes are not followed",
        );
        return None;
    };
    if bodies.next().is_some() {
        import.add_note("", format!("several vehicles: the first one, `{}`, is imported", body.attribute("name")));
    }
    // Path of the vehicle node, as its children state it in `parent`.
    let body_path = match (body.attribute("parent"), body.attribute("name")) {
        ("", _) => ".".to_owned(),
        (".", name) => name.to_owned(),
        (parent, name) => format!("{parent}/{name}"),
    };
    let children_of_kind = |kind: &str| -> Vec<&Section> {
        let is_child = |s: &&&Section| s.attribute("type") == kind && s.attribute("parent") == body_path;
        nodes.iter().filter(is_child).copied().collect()
    };
    let mut resources: BTreeMap<&str, &Section> = BTreeMap::new();
    for resource in sections.iter().filter(|s| s.kind == "sub_resource") {
        resources.entry(resource.attribute("id")).or_insert(resource);
    }
    let mut boxes = Vec::new();
    for shape in children_of_kind("CollisionShape3D") {
        let id = shape.body.get("shape").and_then(Node::text).unwrap_or("");
        match resources.get(id).filter(|r| r.attribute("type") == "BoxShape3D") {
            Some(resource) => boxes.push(merge_tables(&shape.body, &resource.body)),
            None => import.add_note(
                "",
                format!("the shape of `{}` is not a box of this file: not imported", shape.attribute("name")),
            ),
        }
    }
    let wheels = children_of_kind("VehicleWheel3D").into_iter().map(|wheel| wheel.body.clone()).collect();
    // Added keys have the place of the body in the text.
    let span = body.body.span.clone();
    let to_entry =
        |name: &str, item| (Key { name: name.into(), span: span.clone() }, Node { item, span: span.clone() });
    let list_entry = |name: &str, nodes| to_entry(name, Item::List(nodes));
    let body = (Key { name: "body".into(), span: span.clone() }, with_name(body));
    Some(Node::table(span.clone(), vec![body, list_entry("wheels", wheels), list_entry("boxes", boxes)]))
}

/// Returns the statements of a node with its name as an additional entry `name`.
fn with_name(section: &Section) -> Node {
    let span = section.attributes.span.clone();
    let name = Node { item: Item::Text(section.attribute("name").to_owned()), span: span.clone() };
    merge_tables(&Node::table(span.clone(), vec![(Key { name: "name".into(), span }, name)]), &section.body)
}

/// Returns a table with the entries of both tables, those of `first` before those of `second`, at the place of `first`
/// in the text. A node that is no table has no entries.
fn merge_tables(first: &Node, second: &Node) -> Node {
    let entries = [first, second].into_iter().filter_map(|node| match &node.item {
        Item::Table(entries) => Some(entries.clone()),
        _ => None,
    });
    Node::table(first.span.clone(), entries.flatten().collect())
}

/// Converts a scene to a ray-cast vehicle; always returns `Some`. The centre of mass is the stated one in mode 1,
/// otherwise the common centre of the boxes, otherwise the origin. The inertia is the stated diagonal if all three
/// values are above 0, otherwise that of the boxes. Adds a note about each rotated box, and notes about steering angle,
/// engine force and brake if no node states them, because a script sets them.
fn convert_scene(scene: Scene, import: &mut Import<'_>) -> Option<RayVehicle> {
    // Positive engine forces act towards +z.
    let frame = SourceAxes { forward: DVec3::Z, left: DVec3::X, up: DVec3::Y };
    let body = &scene.body;
    let to_body_box = |shape: &BoxShape| BodyBox {
        centre: frame.to_vehicle_axes(origin(&shape.transform)),
        size: frame.to_vehicle_size(shape.size),
    };
    let boxes: Vec<BodyBox> = scene.boxes.iter().map(to_body_box).collect();
    for (i, shape) in scene.boxes.iter().enumerate() {
        if shape.transform[..9] != identity_transform()[..9] {
            import.add_note(&format!("boxes[{i}].transform"), "rotated or scaled: imported as aligned with the car");
        }
    }
    // Converts a point from vehicle axes back to the axes of Godot.
    let from_vehicle_axes = |[x, y, z]: [f64; 3]| (frame.forward * x + frame.left * y + frame.up * z).into();
    let centre = match body.center_of_mass_mode {
        // Mode 1 of Godot: the centre of mass is stated.
        1 => body.center_of_mass,
        _ => common_centre(&boxes).map_or([0.0; 3], from_vehicle_axes),
    };
    // Whether the wheel steers and neither the wheel nor the body states an angle.
    let lacks_steering_angle = |w: &Wheel| w.use_as_steering && w.steering == 0.0 && body.steering == 0.0;
    if scene.wheels.iter().any(lacks_steering_angle) {
        import.add_note(
            "", // note on the whole file
            format!("the angle of steered wheels is set by a script: {ESTIMATED_STEERING_RAD} rad is an estimate"),
        );
    }
    let wheels: Vec<RayWheel> = scene.wheels.iter().enumerate().map(|(i, w)| convert_wheel(i, w, body)).collect();
    // A script may set force and brake; then the scene has none.
    if wheels.iter().all(|wheel| wheel.engine_force == 0.0) {
        import.add_note(
            "", // note on the whole file
            "no `engine_force` in the scene because a script sets it: the car has no drive; add `[powertrain]`",
        );
    }
    if wheels.iter().all(|wheel| wheel.brake == 0.0) {
        import.add_note(
            "", // note on the whole file
            "no `brake` in the scene because a script sets it: the car has no brakes; add `brake_torque_nm` to its axles",
        );
    }
    Some(RayVehicle {
        name: body.name.clone(),
        description:
            "Imported from Godot. Godot states springs and dampers per body mass, and brakes as impulses per step."
                .into(),
        mass: body.mass,
        centre,
        inertia: body.inertia.iter().all(|&i| i > 0.0).then_some(body.inertia),
        boxes,
        wheels,
        frame,
    })
}

/// Converts wheel number `i`. A value of the body replaces one of the wheel that is 0: the brake on every wheel,
/// steering and engine force on wheels that are used for them. A steered wheel without any angle gets
/// [`ESTIMATED_STEERING_RAD`]. The ray points along the negative y axis of the wheel. The travel ratio (travel of the
/// wheel per travel of the spring) is `(L0 + 2 r) / (L0 + r)`, with rest length `L0` and radius `r`; see the head of
/// this file.
fn convert_wheel(i: usize, w: &Wheel, body: &Body) -> RayWheel {
    // Value of the wheel, or that of the body if the wheel has none and is used for it (`is_used`).
    let select_value = |wheel_value: f64, body_value: f64, is_used: bool| {
        if wheel_value != 0.0 || !is_used { wheel_value } else { body_value }
    };
    let steering = select_value(w.steering, body.steering, w.use_as_steering);
    RayWheel {
        path: format!("wheels[{i}]"),
        hard_point: origin(&w.transform),
        // Negative second column of the basis: the y axis of the wheel points up.
        direction: [-w.transform[1], -w.transform[4], -w.transform[7]],
        rest_length: w.wheel_rest_length,
        travel: w.suspension_travel,
        radius: w.wheel_radius,
        stiffness: w.suspension_stiffness,
        compression: w.damping_compression,
        relaxation: w.damping_relaxation,
        friction: w.wheel_friction_slip,
        max_force: w.suspension_max_force,
        roll_influence: w.wheel_roll_influence,
        travel_ratio: (w.wheel_rest_length + 2.0 * w.wheel_radius) / (w.wheel_rest_length + w.wheel_radius),
        steering: if w.use_as_steering && steering == 0.0 { ESTIMATED_STEERING_RAD } else { steering },
        engine_force: select_value(w.engine_force, body.engine_force, w.use_as_traction),
        // The brake acts on every wheel.
        brake: select_value(w.brake, body.brake, true),
        source_names: GODOT_NAMES,
    }
}

/// Returns the origin of a transform (m): the last three of its twelve numbers. The first nine are the basis.
fn origin(transform: &[f64; 12]) -> [f64; 3] {
    [transform[9], transform[10], transform[11]]
}
