//! Importer for `Rigidbody` of Unity with `WheelCollider`s below it, from a prefab or scene in YAML.
//!
//! The spring carries the sprung mass `m_s` at its target position, independent of its rate: `F = m_s g + k z + c ż`,
//! with the compression `z` from the target position. Axes: y up, z forward, x to the right. The target position is 0
//! at full droop and 1 at full bump.

mod objects;

use crate::Import;
use crate::car::{BodyBox, Car, ContactHeight, Corner, ForcePoint, common_centre, relaxation, sourced};
use crate::unity::objects::Objects;
use schemars::JsonSchema;
use serde::Deserialize;
use skidpad_core::DVec3;
use skidpad_spec::spec::{Inertia, RaycastReference, SlipCurve, Tyre};

/// Estimated relaxation length of the tyres (m). The tyres of the source have none.
const RELAXATION_LENGTH_M: f64 = 0.1;

/// Largest rotation of a box or a wheel against the body that is no more than rounding, and gets no note (degrees).
const MAX_SILENT_ANGLE_DEG: f64 = 0.05;

/// What is taken from a prefab or scene.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct Scene {
    /// The `Rigidbody`.
    body: Body,
    /// The `WheelCollider`s of its own or of objects below it.
    #[schemars(length(min = 2, max = 32))]
    wheels: Vec<Wheel>,
    /// The `BoxCollider`s likewise.
    boxes: Vec<BoxCollider>,
}

/// The `Rigidbody`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[allow(non_snake_case, reason = "Unity's parameter names")]
struct Body {
    /// Name of its object.
    #[serde(default = "default_name")]
    name: String,
    /// kg.
    #[schemars(range(min = 0.001, max = 1e7))]
    m_Mass: f64,
    /// Linear drag, 1/s.
    #[serde(default)]
    m_Drag: f64,
    /// Linear drag under its name of Unity 6, 1/s.
    #[serde(default)]
    m_LinearDamping: f64,
    /// Angular drag, 1/s.
    #[serde(default)]
    m_AngularDrag: f64,
    /// Angular drag under its name of Unity 6, 1/s.
    #[serde(default)]
    m_AngularDamping: f64,
    /// Centre of mass in the object's frame, m.
    #[serde(default)]
    m_CenterOfMass: Xyz,
    /// 1: the centre of mass comes from the colliders.
    #[serde(default = "default_implicit_flag")]
    m_ImplicitCom: u32,
    /// Diagonal of the inertia, kg m².
    #[serde(default)]
    m_InertiaTensor: Xyz,
    /// 1: the inertia comes from the colliders.
    #[serde(default = "default_implicit_flag")]
    m_ImplicitTensor: u32,
}

/// A vector.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
struct Xyz {
    x: f64,
    y: f64,
    z: f64,
}

/// A `WheelCollider`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[allow(non_snake_case, reason = "Unity's parameter names")]
struct Wheel {
    /// Origin of its object in the body's frame, m.
    position: [f64; 3],
    /// Angle by which its object is turned against the body, degrees.
    turned_deg: f64,
    /// Centre of the wheel at full bump, in its object's frame, m.
    #[serde(default)]
    m_Center: Xyz,
    /// m.
    #[schemars(range(min = 0.001, max = 100))]
    m_Radius: f64,
    /// Spring, damper, target.
    m_SuspensionSpring: Spring,
    /// Way from full bump to full droop, m.
    #[schemars(range(min = 0.001, max = 100))]
    m_SuspensionDistance: f64,
    /// Where forces act, m above the base of the resting wheel.
    #[serde(default)]
    m_ForceAppPointDistance: f64,
    /// kg.
    #[serde(default = "default_wheel_mass")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    m_Mass: f64,
    /// N m s.
    #[serde(default = "default_spin_damping")]
    #[schemars(range(min = 0))]
    m_WheelDampingRate: f64,
    /// Curve over slip ratio.
    m_ForwardFriction: Curve,
    /// Curve over slip angle.
    m_SidewaysFriction: Curve,
}

/// A `JointSpring`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[allow(non_snake_case, reason = "Unity's parameter names")]
struct Spring {
    /// N/m.
    #[schemars(extend("exclusiveMinimum" = 0))]
    spring: f64,
    /// N s/m.
    #[schemars(range(min = 0))]
    damper: f64,
    /// 0 full droop to 1 full bump.
    #[serde(default = "default_target_position")]
    #[schemars(range(min = 0, max = 1))]
    targetPosition: f64,
}

/// A `WheelFrictionCurve`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[allow(non_snake_case, reason = "Unity's parameter names")]
struct Curve {
    /// Slip of the peak.
    #[schemars(extend("exclusiveMinimum" = 0))]
    m_ExtremumSlip: f64,
    /// Friction at the peak.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6))]
    m_ExtremumValue: f64,
    /// Slip from which friction is constant.
    #[schemars(extend("exclusiveMinimum" = 0))]
    m_AsymptoteSlip: f64,
    /// Friction from there on.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1e6))]
    m_AsymptoteValue: f64,
    /// Factor on both.
    #[schemars(extend("exclusiveMinimum" = 0))]
    m_Stiffness: f64,
}

/// A `BoxCollider`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[allow(non_snake_case, reason = "Unity's parameter names")]
struct BoxCollider {
    /// Origin of its object in the body's frame, m.
    position: [f64; 3],
    /// Scale of its object.
    scale: [f64; 3],
    /// Angle by which its object is turned against the body, degrees.
    turned_deg: f64,
    /// Full size before scaling, m.
    m_Size: Xyz,
    /// Centre in its object's frame, before scaling, m.
    #[serde(default)]
    m_Center: Xyz,
}

/// Returns the default of `name`.
fn default_name() -> String {
    "Unity vehicle".into()
}
/// Returns the default of `m_ImplicitCom` and `m_ImplicitTensor`: centre of mass and inertia follow from the colliders.
fn default_implicit_flag() -> u32 {
    1
}
/// Returns the default of `targetPosition`.
fn default_target_position() -> f64 {
    0.5
}
/// Returns the default mass of a wheel (kg).
fn default_wheel_mass() -> f64 {
    20.0
}
/// Returns the default of the spin damping of a wheel (N m s).
fn default_spin_damping() -> f64 {
    0.25
}

/// Keys without influence on the vehicle dynamics. They get no note.
const IRRELEVANT_KEYS: [&str; 21] = [
    "m_ObjectHideFlags",
    "m_CorrespondingSourceObject",
    "m_PrefabInstance",
    "m_PrefabAsset",
    "m_PrefabParentObject",
    "m_PrefabInternal",
    "m_GameObject",
    "m_Enabled",
    "m_Material",
    "m_IsTrigger",
    "m_IncludeLayers",
    "m_ExcludeLayers",
    "m_LayerOverridePriority",
    "m_ProvidesContacts",
    "m_IsKinematic",
    "m_Interpolate",
    "m_CollisionDetection",
    "m_UseGravity",
    "m_InertiaRotation",
    "serializedVersion",
    "m_Constraints",
];

/// Reads the first vehicle of a prefab or scene. Steps: read the objects, select the vehicle, convert the tree to the
/// types of the source, convert these to the neutral car. Keys that are not read become notes, except
/// [`IRRELEVANT_KEYS`]. Returns `None` after a fault.
pub(crate) fn read(import: &mut Import<'_>) -> Option<Car> {
    let objects = Objects::read(import);
    let tree = objects.build_tree(import)?;
    // Unknown keys are collected in `skipped_keys` instead of being reported as faults.
    import.collector.skips_unknown_keys = true;
    let scene: Scene = import.deserialize_tree(&tree)?;
    import
        .collector
        .skipped_keys
        .retain(|(path, _)| !IRRELEVANT_KEYS.contains(&path.rsplit('.').next().unwrap_or(path)));
    Some(convert_scene(&scene, import))
}

/// Converts from axes right, up, forward to axes forward, left, up.
fn to_vehicle_axes([x, y, z]: [f64; 3]) -> [f64; 3] {
    [z, -x, y]
}

/// Returns the components of a vector.
fn components(v: Xyz) -> [f64; 3] {
    [v.x, v.y, v.z]
}

/// Converts a scene to the neutral car. The centre of mass is the stated one, otherwise the common centre of the boxes,
/// otherwise the origin with a note. Inertia that is not stated follows from the boxes. The lock is 30°, and the wheels
/// ahead of the longitudinal middle steer. There is no drive and no brake; a note says that a script sets them. Drag
/// and rotated objects add notes.
fn convert_scene(scene: &Scene, import: &mut Import<'_>) -> Car {
    let body = &scene.body;
    let boxes: Vec<BodyBox> = scene.boxes.iter().map(convert_box).collect();
    let has_stated_centre = body.m_ImplicitCom == 0;
    let centre = if has_stated_centre {
        to_vehicle_axes(components(body.m_CenterOfMass))
    } else {
        common_centre(&boxes).unwrap_or([0.0; 3])
    };
    if !has_stated_centre && boxes.is_empty() {
        import.add_note("body", "no BoxCollider: the centre of mass is set to the origin of the body");
    }
    for (key, value) in [
        ("m_Drag", body.m_Drag),
        ("m_LinearDamping", body.m_LinearDamping),
        ("m_AngularDrag", body.m_AngularDrag),
        ("m_AngularDamping", body.m_AngularDamping),
    ] {
        import.add_note_unless(
            &format!("body.{key}"),
            value,
            0.0, // no drag
            "drag proportional to speed: not imported, because air drag is proportional to the square of the speed",
        );
    }
    import.add_note(
        "", // note on the whole file
        "motor torque, brake torque and steering angle are set by a script: no motor, no brakes, full lock of 30°",
    );
    note_turned_objects(scene, import);
    let inertia = (body.m_ImplicitTensor == 0).then(|| {
        // Moments of inertia have no sign.
        let [roll_kg_m2, pitch_kg_m2, yaw_kg_m2] = to_vehicle_axes(components(body.m_InertiaTensor)).map(f64::abs);
        (Inertia { roll_kg_m2, pitch_kg_m2, yaw_kg_m2, roll_yaw_kg_m2: 0.0 }, "m_InertiaTensor".to_owned())
    });
    let middle = longitudinal_middle(&scene.wheels);
    let wheels: Vec<Corner> =
        scene.wheels.iter().enumerate().map(|(i, w)| convert_wheel(i, w, middle, import)).collect();
    Car {
        name: body.name.clone(),
        description: "Imported from Unity. Unity springs are at their target position under the sprung mass.".into(),
        mass: sourced(body.m_Mass, "m_Mass"),
        centre,
        centre_source: if has_stated_centre { "m_CenterOfMass".into() } else { "centre of the BoxColliders".into() },
        inertia,
        boxes,
        hull: None,
        raycast_reference: raycast_parameters(scene, centre[2], import),
        wheels,
        lock: sourced(30.0, "estimate: set by a script in Unity"),
        steer_rate: None,
        engine: None,
    }
}

/// Adds a note for each box and wheel whose object is turned against the body by more than [`MAX_SILENT_ANGLE_DEG`].
fn note_turned_objects(scene: &Scene, import: &mut Import<'_>) {
    let boxes = scene.boxes.iter().enumerate().map(|(i, shape)| (format!("boxes[{i}]"), shape.turned_deg));
    let wheels = scene.wheels.iter().enumerate().map(|(i, wheel)| (format!("wheels[{i}]"), wheel.turned_deg));
    for (path, angle) in boxes.chain(wheels).filter(|(_, angle)| *angle > MAX_SILENT_ANGLE_DEG) {
        import.add_note(
            &path,
            format!("the object is rotated by {angle:.1}° relative to the body; only its position is imported"),
        );
    }
}

/// Returns the force point of the first wheel as a roll influence, which only ray-cast vehicles of other engines use
/// (`raycast_reference`): `(h − d) / h`, from 0 to 1, with the height `h` of the centre of mass and the distance `d` of
/// the force point, both above the ground. `centre_height` is the height of the centre of mass in the frame of the body
/// (m). `None` if `d` is 0 or `h` is not above 0; otherwise adds a note. Only the share is stored; the force of the
/// suspension has no limit.
fn raycast_parameters(scene: &Scene, centre_height: f64, import: &mut Import<'_>) -> Option<RaycastReference> {
    let wheel = scene.wheels.first()?;
    let distance = wheel.m_ForceAppPointDistance;
    // Height of the contact point at rest, in the frame of the body.
    let contact_height = wheel.position[1] + wheel.m_Center.y
        - wheel.m_SuspensionDistance * (1.0 - wheel.m_SuspensionSpring.targetPosition)
        - wheel.m_Radius;
    let height_above_ground = centre_height - contact_height;
    if distance == 0.0 || height_above_ground <= 0.0 {
        return None;
    }
    let share = (1.0 - distance / height_above_ground).clamp(0.0, 1.0);
    import.add_note(
        "wheels[0].m_ForceAppPointDistance",
        format!("forces act {distance} m above the ground, which reduces the roll angle to {share:.2} of the physical one: a non-physical aid, kept"),
    );
    Some(RaycastReference { roll_influence: crate::vehicle_file::round_digits(share), max_suspension_force_n: None }) // no limit
}

/// Converts a box to the axes of the neutral car: centre and full size (m), both scaled. Rotations of the box are left
/// out.
fn convert_box(shape: &BoxCollider) -> BodyBox {
    let scale = |v: Xyz| (DVec3::from_array(components(v)) * DVec3::from_array(shape.scale)).to_array();
    let centre = DVec3::from_array(shape.position) + DVec3::from_array(scale(shape.m_Center));
    BodyBox { centre: to_vehicle_axes(centre.to_array()), size: to_vehicle_axes(scale(shape.m_Size)).map(f64::abs) }
}

/// Returns the longitudinal position midway between the centres of the foremost and the rearmost wheel (m).
fn longitudinal_middle(wheels: &[Wheel]) -> f64 {
    let positions = wheels.iter().map(|w| w.position[2] + w.m_Center.z);
    let (rearmost, foremost) =
        positions.fold((f64::MAX, f64::MIN), |(rearmost, foremost), z| (rearmost.min(z), foremost.max(z)));
    0.5 * (rearmost + foremost)
}

/// Converts wheel number `i`. The contact point at rest is at `targetPosition` of the travel, from full droop (0) to
/// full bump (1), for any spring rate. Wheels ahead of the longitudinal position `middle` (m) steer fully. The spin
/// inertia is that of a homogeneous disc. The rolling resistance is `m_WheelDampingRate / radius²` (N s/m). Tyre forces
/// act `m_ForceAppPointDistance` above the ground if that is above 0. Bump and rebound damping are equal. Brake and
/// drive torques are 0. Adds a note about each friction curve that `convert_tyre` has to change.
fn convert_wheel(i: usize, w: &Wheel, middle: f64, import: &mut Import<'_>) -> Corner {
    let path = format!("wheels[{i}]");
    let centre = DVec3::from_array(w.position) + DVec3::from_array(components(w.m_Center));
    let [x, y, bump_height] = to_vehicle_axes(centre.to_array());
    let spring = &w.m_SuspensionSpring;
    let travel = w.m_SuspensionDistance;
    let rest_height = bump_height - travel * (1.0 - spring.targetPosition) - w.m_Radius;
    let damper = sourced(spring.damper, "damper");
    for (key, curve) in [("m_ForwardFriction", &w.m_ForwardFriction), ("m_SidewaysFriction", &w.m_SidewaysFriction)] {
        let key_path = format!("{path}.{key}");
        if curve.m_AsymptoteValue > curve.m_ExtremumValue {
            import.add_note(&key_path, "the asymptote is above the extremum: imported as constant");
        }
        if curve.m_AsymptoteSlip <= curve.m_ExtremumSlip {
            import.add_note(&key_path, "the asymptote slip is not above the extremum slip: set 10 % above");
        }
        if curve.m_ExtremumValue * curve.m_Stiffness > 20.0 {
            import.add_note(&key_path, "a friction above 20 is set to 20");
        }
    }
    Corner {
        position: [x, y],
        contact: ContactHeight::AtRest(rest_height),
        contact_range: [bump_height - w.m_Radius, bump_height - travel - w.m_Radius],
        contact_range_source: format!("m_SuspensionDistance {travel}, targetPosition {}", spring.targetPosition),
        radius: sourced(w.m_Radius, "m_Radius"),
        // Homogeneous disc: m r² / 2.
        spin_inertia: sourced(
            0.5 * w.m_Mass * w.m_Radius * w.m_Radius,
            format!("m_Mass {} kg as a uniform disc", w.m_Mass),
        ),
        rate: sourced(spring.spring, "spring"),
        bump: damper.clone(),
        rebound: damper,
        tyre: convert_tyre(w),
        tyre_source: "extremum and asymptote times m_Stiffness; relaxation lengths are estimates".into(),
        steer_share: f64::from(centre.z > middle),
        brake: sourced(0.0, ""),
        handbrake: sourced(0.0, ""),
        drive_torque: sourced(0.0, ""),
        anti_roll_rate: sourced(0.0, ""),
        is_on_solid_axle: false,
        roll_centre: None,
        lateral_compliance: None,
        force_point: (w.m_ForceAppPointDistance > 0.0)
            .then(|| ForcePoint::AboveGround(sourced(w.m_ForceAppPointDistance, "m_ForceAppPointDistance"))),
        toe_camber: None,
        unsprung: None,
        rolling_resistance: Some(sourced(
            w.m_WheelDampingRate / (w.m_Radius * w.m_Radius),
            format!("m_WheelDampingRate {} N m s over radius² and load", w.m_WheelDampingRate),
        )),
        path,
    }
}

/// Converts the friction curves by their extremum and asymptote. Friction is `extremum value · stiffness`, at most 20.
/// The asymptote is at least 1.1 times the extremum slip, its share of the peak at most 1. Relaxation lengths are
/// estimates.
fn convert_tyre(w: &Wheel) -> Tyre {
    // 20 is the largest friction of a vehicle file.
    let friction = |c: &Curve| (c.m_ExtremumValue * c.m_Stiffness).min(20.0);
    let curve = |c: &Curve| SlipCurve {
        extremum_slip: c.m_ExtremumSlip,
        asymptote_slip: c.m_AsymptoteSlip.max(1.1 * c.m_ExtremumSlip),
        sliding_force_ratio: (c.m_AsymptoteValue / c.m_ExtremumValue).min(1.0),
    };
    Tyre::SlipCurve {
        longitudinal: curve(&w.m_ForwardFriction),
        lateral: curve(&w.m_SidewaysFriction),
        relaxation: relaxation(RELAXATION_LENGTH_M),
        friction: crate::car::friction([friction(&w.m_ForwardFriction), friction(&w.m_SidewaysFriction)]),
    }
}
