//! Importers for `btRaycastVehicle` of Bullet and `DynamicRayCastVehicleController` of Rapier, in TOML with the names
//! and defaults of these engines.

use crate::Import;
use crate::car::{BodyBox, Car};
use crate::raycast::{RayVehicle, RayWheel, SourceAxes, convert_vehicle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use skidpad_core::DVec3;

/// A vehicle of Bullet: the fields of its body and of `btWheelInfo`, in Bullet's units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(non_snake_case, reason = "Bullet's parameter names")]
pub struct BulletVehicle {
    /// What people call it.
    #[serde(default = "default_bullet_name")]
    #[schemars(length(min = 1))]
    pub name: String,
    /// Mass of the body, kg.
    #[schemars(range(min = 0.001, max = 1e7))]
    pub mass: f64,
    /// Diagonal of the body's inertia about Bullet's axes, kg m². Absent: that of the box.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = 0.001, max = 1e9)))]
    pub local_inertia: Option<[f64; 3]>,
    /// Half extents of the body's `btBoxShape`, m. Absent: estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = 0.001, max = 100)))]
    pub half_extents: Option<[f64; 3]>,
    /// Centre of that box in the body's frame, whose origin is the centre of mass, m.
    #[serde(default)]
    pub box_centre: [f64; 3],
    /// Number of the axis that points up: 0, 1 or 2.
    #[serde(default = "default_up_axis")]
    #[schemars(range(min = 0, max = 2))]
    pub m_indexUpAxis: u32,
    /// Number of the axis that points forward.
    #[serde(default = "default_forward_axis")]
    #[schemars(range(min = 0, max = 2))]
    pub m_indexForwardAxis: u32,
    /// The wheels, in any order.
    #[schemars(length(min = 2, max = 32))]
    pub wheels: Vec<BulletWheel>,
}

/// A wheel of Bullet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(non_snake_case, reason = "Bullet's parameter names")]
pub struct BulletWheel {
    /// Start of the ray in the body's frame, m.
    pub m_chassisConnectionPointCS: [f64; 3],
    /// Where the ray goes. Absent: down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub m_wheelDirectionCS: Option<[f64; 3]>,
    /// Axle. Absent: such that the wheel drives forward.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub m_wheelAxleCS: Option<[f64; 3]>,
    /// Longest length of the suspension, m.
    #[schemars(range(min = 0, max = 100))]
    pub m_suspensionRestLength1: f64,
    /// m.
    #[schemars(range(min = 0.001, max = 100))]
    pub m_wheelsRadius: f64,
    /// Spring rate over the mass of the body, 1/s².
    #[serde(default = "default_stiffness")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub m_suspensionStiffness: f64,
    /// Damping while compressing over the mass of the body, 1/s.
    #[serde(default = "default_compression_damping")]
    #[schemars(range(min = 0))]
    pub m_wheelsDampingCompression: f64,
    /// Damping while extending over the mass of the body, 1/s.
    #[serde(default = "default_relaxation_damping")]
    #[schemars(range(min = 0))]
    pub m_wheelsDampingRelaxation: f64,
    /// Largest change of length, cm.
    #[serde(default = "default_travel_cm")]
    #[schemars(range(min = 0))]
    pub m_maxSuspensionTravelCm: f64,
    /// Largest force of the suspension, N.
    #[serde(default = "default_max_suspension_force")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub m_maxSuspensionForce: f64,
    /// Friction coefficient across; along it acts twice.
    #[serde(default = "default_friction")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub m_frictionSlip: f64,
    /// Lever arm of side forces, as a share of the height of the centre of mass: 1 if they act at the ground, 0 at the
    /// height of the centre of mass.
    #[serde(default = "default_roll_influence")]
    #[schemars(range(min = 0, max = 1))]
    pub m_rollInfluence: f64,
    /// Largest steering angle the game gives it, rad.
    #[serde(default)]
    #[schemars(range(min = -1.57, max = 1.57))]
    pub m_steering: f64,
    /// Largest engine force the game gives it, N.
    #[serde(default)]
    pub m_engineForce: f64,
    /// Largest brake the game gives it, N s per step.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub m_brake: f64,
}

/// A vehicle of Rapier: its rigid body, and the fields of its wheels, in Rapier's units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RapierVehicle {
    /// What people call it.
    #[serde(default = "default_rapier_name")]
    #[schemars(length(min = 1))]
    pub name: String,
    /// Mass of the chassis, kg.
    #[schemars(range(min = 0.001, max = 1e7))]
    pub mass: f64,
    /// Principal inertia about the chassis' axes, kg m². Absent: that of the cuboid.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = 0.001, max = 1e9)))]
    pub principal_inertia: Option<[f64; 3]>,
    /// Half extents of the chassis' cuboid, m. Absent: estimated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = 0.001, max = 100)))]
    pub half_extents: Option<[f64; 3]>,
    /// Centre of that cuboid in the chassis' frame, m.
    #[serde(default)]
    pub cuboid_centre: [f64; 3],
    /// Centre of mass in the chassis' frame, m.
    #[serde(default)]
    pub local_center_of_mass: [f64; 3],
    /// Number of the axis that points up: 0, 1 or 2.
    #[serde(default = "default_up_axis")]
    #[schemars(range(min = 0, max = 2))]
    pub index_up_axis: u32,
    /// Number of the axis that points forward.
    #[serde(default)]
    #[schemars(range(min = 0, max = 2))]
    pub index_forward_axis: u32,
    /// The wheels, in any order.
    #[schemars(length(min = 2, max = 32))]
    pub wheels: Vec<RapierWheel>,
}

/// A wheel of Rapier.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RapierWheel {
    /// Start of the ray in the chassis' frame, m.
    pub chassis_connection_cs: [f64; 3],
    /// Where the ray goes. Absent: down.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction_cs: Option<[f64; 3]>,
    /// Axle. Absent: such that the wheel drives forward.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub axle_cs: Option<[f64; 3]>,
    /// Longest length of the suspension, m.
    #[schemars(range(min = 0, max = 100))]
    pub suspension_rest_length: f64,
    /// m.
    #[schemars(range(min = 0.001, max = 100))]
    pub radius: f64,
    /// Spring rate over the mass of the chassis, 1/s².
    #[serde(default = "default_stiffness")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub suspension_stiffness: f64,
    /// Damping while compressing over the mass of the chassis, 1/s.
    #[serde(default = "default_compression_damping")]
    #[schemars(range(min = 0))]
    pub suspension_compression: f64,
    /// Damping while extending over the mass of the chassis, 1/s.
    #[serde(default = "default_relaxation_damping")]
    #[schemars(range(min = 0))]
    pub suspension_damping: f64,
    /// Largest change of length, m.
    #[serde(default = "default_travel_m")]
    #[schemars(range(min = 0))]
    pub max_suspension_travel: f64,
    /// Factor on the side impulse.
    #[serde(default = "default_side_friction_stiffness")]
    #[schemars(range(min = 0))]
    pub side_friction_stiffness: f64,
    /// Friction coefficient across; along it acts twice.
    #[serde(default = "default_friction")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub friction_slip: f64,
    /// Largest force of the suspension, N.
    #[serde(default = "default_max_suspension_force")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub max_suspension_force: f64,
    /// Largest steering angle the game gives it, rad.
    #[serde(default)]
    #[schemars(range(min = -1.57, max = 1.57))]
    pub steering: f64,
    /// Largest engine force the game gives it, N.
    #[serde(default)]
    pub engine_force: f64,
    /// Largest brake the game gives it, N s per step.
    #[serde(default)]
    #[schemars(range(min = 0))]
    pub brake: f64,
}

/// Returns the default name of a vehicle of Bullet.
fn default_bullet_name() -> String {
    "Bullet vehicle".into()
}
/// Returns the default name of a vehicle of Rapier.
fn default_rapier_name() -> String {
    "Rapier vehicle".into()
}
/// Returns the default number of the axis up: y.
fn default_up_axis() -> u32 {
    1
}
/// Returns the default number of Bullet's axis forward: z.
fn default_forward_axis() -> u32 {
    2
}
/// Returns the default of `side_friction_stiffness`, which has no effect.
fn default_side_friction_stiffness() -> f64 {
    1.0
}
/// Returns the default spring rate per mass of the body (1/s²) of Bullet, Rapier and Godot.
pub(crate) fn default_stiffness() -> f64 {
    5.88
}
/// Returns the default damping in compression per mass of the body (1/s) of Bullet, Rapier and Godot.
pub(crate) fn default_compression_damping() -> f64 {
    0.83
}
/// Returns the default damping in extension per mass of the body (1/s) of Bullet, Rapier and Godot.
pub(crate) fn default_relaxation_damping() -> f64 {
    0.88
}
/// Returns Bullet's default of the largest change of length (cm).
fn default_travel_cm() -> f64 {
    500.0
}
/// Returns Rapier's default of the largest change of length (m).
fn default_travel_m() -> f64 {
    5.0
}
/// Returns the default of the largest suspension force (N) of Bullet, Rapier and Godot.
pub(crate) fn default_max_suspension_force() -> f64 {
    6000.0
}
/// Returns the default friction coefficient of Bullet, Rapier and Godot.
pub(crate) fn default_friction() -> f64 {
    10.5
}
/// Returns the default roll influence of Bullet, Rapier and Godot: the lever arm of lateral forces as a share of the
/// height of the centre of mass.
pub(crate) fn default_roll_influence() -> f64 {
    0.1
}

/// Names of Bullet for `RayWheel::source_names`.
const BULLET_NAMES: [&str; 6] = [
    "m_suspensionStiffness",
    "m_wheelsDampingCompression",
    "m_wheelsDampingRelaxation",
    "m_frictionSlip",
    "m_brake",
    "m_engineForce",
];

/// Names of Rapier for `RayWheel::source_names`.
const RAPIER_NAMES: [&str; 6] =
    ["suspension_stiffness", "suspension_compression", "suspension_damping", "friction_slip", "brake", "engine_force"];

/// Reads a vehicle of Bullet: parses the TOML, finds the axes from their numbers, and converts the vehicle as a
/// ray-cast vehicle. The origin is the centre of mass. A wheel without a direction points down. Travel is converted
/// from cm to m. Forward is reversed if all stated wheel axles drive the car backwards. Returns `None` after a fault.
pub(crate) fn read_bullet(import: &mut Import<'_>) -> Option<Car> {
    let source_vehicle: BulletVehicle = import.deserialize_toml()?;
    let frame =
        source_axes(source_vehicle.m_indexUpAxis, source_vehicle.m_indexForwardAxis, "m_indexForwardAxis", import)?;
    let wheels: Vec<RayWheel> = (source_vehicle.wheels.iter().enumerate())
        .map(|(i, w)| RayWheel {
            path: format!("wheels[{i}]"),
            hard_point: w.m_chassisConnectionPointCS,
            direction: w.m_wheelDirectionCS.unwrap_or((-frame.up).into()),
            rest_length: w.m_suspensionRestLength1,
            travel: 0.01 * w.m_maxSuspensionTravelCm,
            radius: w.m_wheelsRadius,
            stiffness: w.m_suspensionStiffness,
            compression: w.m_wheelsDampingCompression,
            relaxation: w.m_wheelsDampingRelaxation,
            friction: w.m_frictionSlip,
            max_force: w.m_maxSuspensionForce,
            roll_influence: w.m_rollInfluence,
            // The spring moves as far as the wheel.
            travel_ratio: 1.0,
            steering: w.m_steering,
            engine_force: w.m_engineForce,
            brake: w.m_brake,
            source_names: BULLET_NAMES,
        })
        .collect();
    // Stated wheel axles; `None` for the default.
    let axles: Vec<_> = source_vehicle.wheels.iter().map(|w| w.m_wheelAxleCS).collect();
    let frame = orient_forward(frame, &axles, "m_wheelAxleCS", import);
    let vehicle = RayVehicle {
        name: source_vehicle.name,
        description:
            "Imported from Bullet. Bullet states springs and dampers per body mass, and brakes as impulses per step."
                .into(),
        mass: source_vehicle.mass,
        // The origin of the body of Bullet is its centre of mass.
        centre: [0.0; 3],
        inertia: source_vehicle.local_inertia,
        boxes: body_boxes(source_vehicle.half_extents, source_vehicle.box_centre, &frame),
        wheels,
        frame,
    };
    Some(convert_vehicle(vehicle, import))
}

/// Reads a vehicle of Rapier: parses the TOML, finds the axes from their numbers, and converts the vehicle as a
/// ray-cast vehicle. A wheel without a direction points down. The roll influence is Rapier's default, because its field
/// is private. Forward is reversed if all stated wheel axles drive the car backwards. A factor on the side impulse
/// other than 1 adds a note and is left out. Returns `None` after a fault.
pub(crate) fn read_rapier(import: &mut Import<'_>) -> Option<Car> {
    let source_vehicle: RapierVehicle = import.deserialize_toml()?;
    let frame =
        source_axes(source_vehicle.index_up_axis, source_vehicle.index_forward_axis, "index_forward_axis", import)?;
    let wheels: Vec<RayWheel> = (source_vehicle.wheels.iter().enumerate())
        .map(|(i, w)| RayWheel {
            path: format!("wheels[{i}]"),
            hard_point: w.chassis_connection_cs,
            direction: w.direction_cs.unwrap_or((-frame.up).into()),
            rest_length: w.suspension_rest_length,
            travel: w.max_suspension_travel,
            radius: w.radius,
            stiffness: w.suspension_stiffness,
            compression: w.suspension_compression,
            relaxation: w.suspension_damping,
            friction: w.friction_slip,
            max_force: w.max_suspension_force,
            // The field is private in Rapier, so the default applies.
            roll_influence: default_roll_influence(),
            // The spring moves as far as the wheel.
            travel_ratio: 1.0,
            steering: w.steering,
            engine_force: w.engine_force,
            brake: w.brake,
            source_names: RAPIER_NAMES,
        })
        .collect();
    for (i, wheel) in source_vehicle.wheels.iter().enumerate() {
        let path = format!("wheels[{i}].side_friction_stiffness");
        import.add_note_unless(
            &path,
            wheel.side_friction_stiffness,
            1.0, // no effect
            "a fraction of lateral grip lost per step: not imported",
        );
    }
    // Stated wheel axles; `None` for the default.
    let axles: Vec<_> = source_vehicle.wheels.iter().map(|w| w.axle_cs).collect();
    let frame = orient_forward(frame, &axles, "axle_cs", import);
    let vehicle = RayVehicle {
        name: source_vehicle.name,
        description:
            "Imported from Rapier. Rapier states springs and dampers per chassis mass, and brakes as impulses per step."
                .into(),
        mass: source_vehicle.mass,
        centre: source_vehicle.local_center_of_mass,
        inertia: source_vehicle.principal_inertia,
        boxes: body_boxes(source_vehicle.half_extents, source_vehicle.cuboid_centre, &frame),
        wheels,
        frame,
    };
    Some(convert_vehicle(vehicle, import))
}

/// Returns the axes of the source from the numbers (0 to 2) of the axes `up` and `forward`. Adds a fault at `path` and
/// returns `None` if both numbers are equal or one is out of range. The text of the fault describes equal numbers only.
fn source_axes(up: u32, forward: u32, path: &str, import: &mut Import<'_>) -> Option<SourceAxes> {
    let frame = SourceAxes::right_handed(up, forward);
    if frame.is_none() {
        import.add_fault(path, format!("axis {forward} is also the up axis"), "an axis other than the up axis", "");
    }
    frame
}

/// Returns `frame` with forward and left reversed if all given wheel axles drive the car backwards, otherwise
/// unchanged. A wheel with the axle `a` drives towards `up × a`. Adds a note with the key `name` if only some of the
/// given axles drive backwards. Axles that are not given do not count.
fn orient_forward(frame: SourceAxes, axles: &[Option<[f64; 3]>], name: &str, import: &mut Import<'_>) -> SourceAxes {
    let forward_component = |axle: &[f64; 3]| frame.up.cross(DVec3::from_array(*axle)).dot(frame.forward);
    let backward_axle_count = axles.iter().flatten().filter(|axle| forward_component(axle) < 0.0).count();
    let stated_axle_count = axles.iter().flatten().count();
    if backward_axle_count > 0 && backward_axle_count < stated_axle_count {
        import.add_note(
            "wheels[0]",
            format!(
                "`{name}` points left on some wheels and right on others: all wheels drive forward in the vehicle file"
            ),
        );
    }
    if backward_axle_count > 0 && backward_axle_count == stated_axle_count {
        return SourceAxes { forward: -frame.forward, left: -frame.left, ..frame };
    }
    frame
}

/// Returns the box of the body from its half extents and its centre (m); an empty list without half extents.
fn body_boxes(half_extents: Option<[f64; 3]>, centre: [f64; 3], frame: &SourceAxes) -> Vec<BodyBox> {
    let to_box = |half_extents| BodyBox {
        centre: frame.to_vehicle_axes(centre),
        size: frame.to_vehicle_size(half_extents).map(|h| 2.0 * h),
    };
    half_extents.map(to_box).into_iter().collect()
}
