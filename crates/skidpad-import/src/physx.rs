//! Importer for vehicles of `vehicle2` of PhysX 5, in TOML with the names of its parameter structs. Axes: y up, z
//! forward, x to the left.
//!
//! The spring is unloaded at full droop: `F = stiffness · jounce + damping · jounce speed`, with the jounce from full
//! droop.

use crate::Import;
use crate::car::{BodyBox, Car, ContactHeight, Corner, ForcePoint, JounceCurve, ToeCamberTables, relaxation, sourced};
use crate::engine::GameEngine;
use crate::raycast::SourceAxes;
use crate::vehicle_file::round_digits;
use schemars::JsonSchema;
use serde::Deserialize;
use skidpad_core::DVec3;
use skidpad_spec::spec::Tyre;

/// Estimated relaxation length of the tyres (m). The tyres of the source have none.
const RELAXATION_LENGTH_M: f64 = 0.05;
/// Smallest idle speed as a share of the largest engine speed.
const MIN_IDLE_SHARE: f64 = 0.05;
/// Conversion factor from rad/s to rev/min.
const RPM_PER_RAD_PER_S: f64 = 30.0 / std::f64::consts::PI;

/// A vehicle.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(non_snake_case, reason = "PhysX's parameter names")]
pub(crate) struct PhysxVehicle {
    /// What people call it.
    #[serde(default = "default_name")]
    #[schemars(length(min = 1))]
    name: String,
    /// `PxVehicleRigidBodyParams`.
    rigidBodyParams: Body,
    /// Half extents of the body's `PxBoxGeometry`, m. Absent: estimated.
    #[schemars(inner(range(min = 0.001, max = 100)))]
    halfExtents: Option<[f64; 3]>,
    /// Centre of that box in the frame of the centre of mass, m.
    #[serde(default)]
    boxCentre: [f64; 3],
    /// The wheels; others refer to them by number from 0.
    #[schemars(length(min = 2, max = 20))]
    wheels: Vec<Wheel>,
    /// `PxVehicleAntiRollForceParams`.
    #[serde(default)]
    antiRollForceParams: Vec<Bar>,
    /// `PxVehicleEngineParams`. Absent: torques straight at the wheels (`throttleTorque`).
    engineParams: Option<EngineParams>,
    /// `PxVehicleGearboxParams`.
    gearboxParams: Option<GearboxParams>,
}

/// `PxVehicleRigidBodyParams`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Body {
    /// kg.
    #[schemars(range(min = 0.001, max = 1e7))]
    mass: f64,
    /// Diagonal of the inertia, kg m².
    #[schemars(inner(range(min = 0.001, max = 1e9)))]
    moi: [f64; 3],
}

/// The parameters of one wheel.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(non_snake_case, reason = "PhysX's parameter names")]
struct Wheel {
    /// Centre of the wheel at full bump in the frame of the centre of mass, m (position of `suspensionAttachment`).
    suspensionAttachment: [f64; 3],
    /// Where the suspension goes.
    #[serde(default = "default_travel_direction")]
    suspensionTravelDir: [f64; 3],
    /// From full bump to full droop, m.
    #[schemars(range(min = 0.001, max = 100))]
    suspensionTravelDist: f64,
    /// N/m.
    #[schemars(extend("exclusiveMinimum" = 0))]
    stiffness: f64,
    /// N s/m.
    #[schemars(range(min = 0))]
    damping: f64,
    /// `PxVehicleSuspensionComplianceParams`: toe over the share of the travel from full droop, up to three points,
    /// rad, positive to the left. Absent: 0.
    #[serde(default)]
    #[schemars(length(max = 3))]
    wheelToeAngle: Vec<[f64; 2]>,
    /// Camber likewise, rad, positive with the top to the right.
    #[serde(default)]
    #[schemars(length(max = 3))]
    wheelCamberAngle: Vec<[f64; 2]>,
    /// Where the suspension's force acts likewise, from `suspensionAttachment`, m. Absent: there.
    #[serde(default)]
    #[schemars(length(max = 3))]
    suspForceAppPoint: Vec<[f64; 4]>,
    /// Where the tyre's force acts likewise, m.
    #[serde(default)]
    #[schemars(length(max = 3))]
    tireForceAppPoint: Vec<[f64; 4]>,
    /// Used by limits only, kg.
    #[schemars(range(min = 0))]
    sprungMass: Option<f64>,
    /// m.
    #[schemars(range(min = 0.001, max = 100))]
    radius: f64,
    /// m.
    halfWidth: Option<f64>,
    /// kg; enters nothing but `moi`.
    mass: Option<f64>,
    /// kg m².
    #[schemars(extend("exclusiveMinimum" = 0))]
    moi: f64,
    /// Damping of the spin, N m s.
    #[serde(default = "default_spin_damping")]
    #[schemars(range(min = 0))]
    dampingRate: f64,
    /// Normalised load at which the lateral stiffness stops growing.
    latStiffX: Option<f64>,
    /// Lateral stiffness, N/rad.
    #[schemars(extend("exclusiveMinimum" = 0))]
    latStiffY: f64,
    /// Longitudinal stiffness, N.
    #[schemars(extend("exclusiveMinimum" = 0))]
    longStiff: f64,
    /// Camber stiffness, N/rad.
    #[serde(default)]
    camberStiff: f64,
    /// Slip and friction, three points.
    #[serde(default = "default_friction_curve")]
    frictionVsSlip: [[f64; 2]; 3],
    /// Friction of the ground's material with this tyre.
    #[serde(default = "default_ground_friction")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 20))]
    friction: f64,
    /// N.
    restLoad: Option<f64>,
    /// Load in, load out.
    loadFilter: Option<[[f64; 2]; 2]>,
    /// Largest angle: `maxResponse` times the wheel's multiplier, rad.
    #[serde(default)]
    #[schemars(range(min = 0, max = 1.57))]
    maxSteer: f64,
    /// Largest brake torque likewise, N m.
    #[serde(default)]
    #[schemars(range(min = 0))]
    brakeTorque: f64,
    /// Largest handbrake torque likewise, N m.
    #[serde(default)]
    #[schemars(range(min = 0))]
    handbrakeTorque: f64,
    /// Largest torque of a direct drive likewise, N m.
    #[serde(default)]
    #[schemars(range(min = 0))]
    throttleTorque: f64,
    /// Share of the engine's torque; its value has no effect there, only whether it is 0.
    #[serde(default)]
    #[schemars(range(min = 0))]
    torqueRatio: f64,
}

/// `PxVehicleAntiRollForceParams`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Bar {
    wheel0: usize,
    wheel1: usize,
    /// N/m.
    stiffness: f64,
}

/// `PxVehicleEngineParams`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(non_snake_case, reason = "PhysX's parameter names")]
struct EngineParams {
    /// Share of the largest speed and of the peak torque.
    #[schemars(length(min = 2, max = 8))]
    torqueCurve: Vec<[f64; 2]>,
    /// N m.
    #[schemars(extend("exclusiveMinimum" = 0))]
    peakTorque: f64,
    /// rad/s.
    #[schemars(range(min = 0))]
    idleOmega: f64,
    /// rad/s.
    #[schemars(extend("exclusiveMinimum" = 0))]
    maxOmega: f64,
    /// kg m².
    #[schemars(extend("exclusiveMinimum" = 0))]
    moi: f64,
}

/// `PxVehicleGearboxParams` and `PxVehicleAutoboxParams`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(non_snake_case, reason = "PhysX's parameter names")]
struct GearboxParams {
    /// Reverse gears, 0 for neutral, forward gears.
    #[schemars(length(min = 3, max = 32))]
    ratios: Vec<f64>,
    /// Number of neutral among them.
    neutralGear: usize,
    #[schemars(extend("exclusiveMinimum" = 0))]
    finalRatio: f64,
    /// s.
    #[schemars(range(min = 0, max = 10))]
    switchTime: f64,
    /// Share of the largest engine speed at which it shifts up.
    #[serde(default = "default_up_shift_ratio")]
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    upRatio: f64,
    /// Share of the largest engine speed at which it shifts down.
    #[serde(default = "default_down_shift_ratio")]
    #[schemars(extend("exclusiveMinimum" = 0, "exclusiveMaximum" = 1))]
    downRatio: f64,
}

/// Returns the default of `name`.
fn default_name() -> String {
    "PhysX vehicle".into()
}
/// Returns the default of `suspensionTravelDir`.
fn default_travel_direction() -> [f64; 3] {
    [0.0, -1.0, 0.0]
}
/// Returns the default of the spin damping `dampingRate` (N m s).
fn default_spin_damping() -> f64 {
    0.25
}
/// Returns the default of `frictionVsSlip`: pairs of slip and friction, constant at 1.
fn default_friction_curve() -> [[f64; 2]; 3] {
    [[0.0, 1.0], [0.1, 1.0], [1.0, 1.0]]
}
/// Returns the default friction of the ground.
fn default_ground_friction() -> f64 {
    1.0
}
/// Returns the default of `upRatio`, as a share of the largest engine speed.
fn default_up_shift_ratio() -> f64 {
    0.65
}
/// Returns the default of `downRatio`, as a share of the largest engine speed.
fn default_down_shift_ratio() -> f64 {
    0.5
}

/// Axes of PhysX.
const PHYSX_AXES: SourceAxes = SourceAxes { forward: DVec3::Z, left: DVec3::X, up: DVec3::Y };

/// Reads a vehicle of PhysX. Parses the TOML, checks references and jounce tables, adds notes on what is left out and
/// converts wheels, body and engine. The origin of the car is its centre of mass. The steering lock is the largest
/// `maxSteer` of the wheels, or 30° if no wheel steers. Returns `None` after a fault.
pub(crate) fn read(import: &mut Import<'_>) -> Option<Car> {
    let vehicle: PhysxVehicle = import.deserialize_toml()?;
    check_references(&vehicle, import);
    check_jounce_tables(&vehicle, import);
    if !import.collector.faults.is_empty() {
        return None;
    }
    add_notes(&vehicle, import);
    let lock = vehicle.wheels.iter().map(|w| w.maxSteer).fold(0.0, f64::max);
    let wheels: Vec<Corner> = (0..vehicle.wheels.len()).map(|i| convert_wheel(&vehicle, i, lock, import)).collect();
    // The collision box from its half extents.
    let collision_box = |half_extents: [f64; 3]| BodyBox {
        centre: PHYSX_AXES.to_vehicle_axes(vehicle.boxCentre),
        size: PHYSX_AXES.to_vehicle_size(half_extents).map(|h| 2.0 * h),
    };
    Some(Car {
        name: vehicle.name.clone(),
        description: "Imported from PhysX. PhysX springs have no force at full droop.".into(),
        mass: sourced(vehicle.rigidBodyParams.mass, "mass"),
        // The frame of the source begins at the centre of mass.
        centre: [0.0; 3],
        centre_source: "height at which the springs carry the car at rest".into(),
        inertia: Some((PHYSX_AXES.inertia(vehicle.rigidBodyParams.moi), "moi".into())),
        boxes: vehicle.halfExtents.map(collision_box).into_iter().collect(),
        hull: None,
        wheels,
        lock: if lock > 0.0 {
            sourced(lock.to_degrees(), format!("{lock} rad"))
        } else {
            sourced(30.0, "estimate: no wheel is steered")
        },
        steer_rate: None,
        engine: convert_engine(&vehicle),
        raycast_reference: None,
    })
}

/// Adds a fault for each table over jounce (toe, camber, application points of suspension and tyre force) whose points
/// do not rise strictly or are outside [0, 1]. Empty tables are accepted.
fn check_jounce_tables(vehicle: &PhysxVehicle, import: &mut Import<'_>) {
    for (i, w) in vehicle.wheels.iter().enumerate() {
        // The first number of a point is the share of the travel, from full droop.
        let angle_table_shares = |points: &[[f64; 2]]| points.iter().map(|p| p[0]).collect::<Vec<f64>>();
        let point_table_shares = |points: &[[f64; 4]]| points.iter().map(|p| p[0]).collect::<Vec<f64>>();
        for (key, shares) in [
            ("wheelToeAngle", angle_table_shares(&w.wheelToeAngle)),
            ("wheelCamberAngle", angle_table_shares(&w.wheelCamberAngle)),
            ("suspForceAppPoint", point_table_shares(&w.suspForceAppPoint)),
            ("tireForceAppPoint", point_table_shares(&w.tireForceAppPoint)),
        ] {
            let is_increasing = shares.windows(2).all(|pair| pair[0] < pair[1]);
            if !is_increasing || shares.iter().any(|share| !(0.0..=1.0).contains(share)) {
                let (path, found) = (format!("wheels[{i}].{key}"), format!("points at {shares:?}"));
                import.add_fault(&path, found, "increasing points from 0 (full droop) to 1 (full bump)", "");
            }
        }
    }
}

/// Adds faults for anti-roll bars at missing wheels (each end by itself), for an engine without gearbox or a gearbox
/// without engine, and for a neutral gear without a reverse gear before it and a forward gear after it in the list of
/// ratios.
fn check_references(vehicle: &PhysxVehicle, import: &mut Import<'_>) {
    let count = vehicle.wheels.len();
    for (i, bar) in vehicle.antiRollForceParams.iter().enumerate() {
        for (key, wheel) in [("wheel0", bar.wheel0), ("wheel1", bar.wheel1)] {
            if wheel >= count {
                let path = format!("antiRollForceParams[{i}].{key}");
                import.add_fault(&path, format!("wheel {wheel}"), format!("from 0 to {}", count - 1), "");
            }
        }
    }
    match (&vehicle.engineParams, &vehicle.gearboxParams) {
        (Some(_), None) => import.add_fault("engineParams", "an engine without `gearboxParams`", "both or neither", ""),
        (None, Some(_)) => import.add_fault("gearboxParams", "a gearbox without `engineParams`", "both or neither", ""),
        _ => {}
    }
    if let Some(gearbox) = &vehicle.gearboxParams
        && (gearbox.neutralGear == 0 || gearbox.neutralGear + 1 >= gearbox.ratios.len())
    {
        let found = format!("gear {} of {}", gearbox.neutralGear, gearbox.ratios.len());
        import.add_fault(
            "gearboxParams.neutralGear",
            found,
            "a gear between a reverse gear and a forward gear",
            "", // no help
        );
    }
}

/// Adds notes on the tables of application points of wheel number `i` if a point has a lateral or longitudinal offset,
/// which is left out. Offsets in height add no note. A table of the suspension is left out completely; a table of the
/// tyre keeps its heights. A point is `[share of the travel, x, y, z]` with x lateral and z longitudinal.
fn note_force_point_offsets(i: usize, wheel: &Wheel, import: &mut Import<'_>) {
    let has_horizontal_offset = |points: &[[f64; 4]]| points.iter().any(|p| p[1] != 0.0 || p[3] != 0.0);
    if has_horizontal_offset(&wheel.suspForceAppPoint) {
        import.add_note(&format!("wheels[{i}].suspForceAppPoint"), "not imported: loads act at the contact point");
    }
    if has_horizontal_offset(&wheel.tireForceAppPoint) {
        let text = "only the height is imported: tyre forces act above the contact point";
        import.add_note(&format!("wheels[{i}].tireForceAppPoint"), text);
    }
}

/// Adds notes on properties that are left out or change their meaning. For each wheel: camber stiffness, load filter,
/// sprung mass, width, mass, rest load, load dependence of the cornering stiffness, friction that depends on slip,
/// offsets of application points, torque ratio. For the car: every anti-roll bar, a negative bar stiffness, an idle
/// speed that is too low, and the damping of the engine. An absent property, or one with its neutral value, gets no
/// note.
fn add_notes(vehicle: &PhysxVehicle, import: &mut Import<'_>) {
    for (i, w) in vehicle.wheels.iter().enumerate() {
        let path = |key: &str| format!("wheels[{i}].{key}");
        import.add_note_unless(
            &path("camberStiff"),
            w.camberStiff,
            0.0,
            "camber thrust: not imported, wheels stay upright",
        );
        if w.loadFilter.is_some() {
            import.add_note(&path("loadFilter"), "smoothing of loads between steps: not needed, not imported");
        }
        for (key, value, text) in [
            ("sprungMass", w.sprungMass, "used only for suspension limits: the ride height follows from the springs"),
            ("halfWidth", w.halfWidth, "wheels are imported as rays"),
            ("mass", w.mass, "not imported: `moi` is the spin inertia, and the body mass includes the wheels"),
            ("restLoad", w.restLoad, "scale of the lateral stiffness: the full stiffness is imported"),
        ] {
            if value.is_some() {
                import.add_note(&path(key), text);
            }
        }
        if w.latStiffX.is_some() {
            import.add_note(
                &path("latStiffX"),
                "lateral stiffness increases with load up to this value in PhysX: the full stiffness is imported for every load",
            );
        }
        if w.frictionVsSlip.iter().any(|p| p[1] != w.frictionVsSlip[0][1]) {
            import.add_note(&path("frictionVsSlip"), "friction over slip: the maximum is used for every slip");
        }
        note_force_point_offsets(i, w, import);
        if w.torqueRatio > 0.0 {
            import.add_note(
                &path("torqueRatio"),
                "PhysX 5.6 only checks whether the value is 0: driven wheels have equal torque",
            );
        }
    }
    for (i, bar) in vehicle.antiRollForceParams.iter().enumerate() {
        let path = format!("antiRollForceParams[{i}]");
        import.add_note(
            &path,
            "PhysX applies the torque directly to the body: imported as an anti-roll bar that changes wheel loads",
        );
        if bar.stiffness < 0.0 {
            import.add_note(&format!("{path}.stiffness"), "a negative stiffness is imported as 0");
        }
    }
    if let Some(engine) = &vehicle.engineParams {
        if engine.idleOmega < MIN_IDLE_SHARE * engine.maxOmega {
            let text = format!("the idle speed is set to {MIN_IDLE_SHARE} of the maximum speed");
            import.add_note("engineParams.idleOmega", text);
        }
        import.add_note(
            "engineParams",
            "damping rates and clutch strength are not imported; the clutch capacity is 1.5 times the peak torque",
        );
    }
}

/// Converts wheel number `i` to the neutral car. `lock` is the largest steering angle of the car (rad); the steering
/// share of the wheel is `maxSteer / lock`.
///
/// The spring is unloaded at full droop; bump and rebound damping are both `damping`. The contact range is from full
/// bump to full droop. A suspension that is not vertical adds a note and is imported as vertical. The tyre is linear
/// with the constant stiffnesses `longStiff` and `latStiffY`; its friction is the largest of `frictionVsSlip` times
/// `friction`. In a car with an engine, the drive torque is only a flag: 1 if `torqueRatio` is above 0, otherwise 0.
/// The drive torque of a car without an engine is `throttleTorque` (N m). The rolling resistance is `dampingRate /
/// radius²` (N s/m). Only the first anti-roll bar with this wheel counts; a negative stiffness becomes 0. Tyre forces
/// act at the height of
/// `force_height_curve`.
fn convert_wheel(vehicle: &PhysxVehicle, i: usize, lock: f64, import: &mut Import<'_>) -> Corner {
    let w = &vehicle.wheels[i];
    let path = format!("wheels[{i}]");
    let direction = DVec3::from_array(w.suspensionTravelDir).normalize_or_zero();
    // The sum of both unit vectors is about the tilt in rad.
    if (direction + PHYSX_AXES.up).length() > 0.01 {
        import.add_note(&format!("{path}.suspensionTravelDir"), "not upright: imported as upright");
    }
    let [x, y, attachment_height] = PHYSX_AXES.to_vehicle_axes(w.suspensionAttachment);
    // Height of the contact point at full droop.
    let droop_height = attachment_height - w.suspensionTravelDist - w.radius;
    let anti_roll_bar = vehicle.antiRollForceParams.iter().find(|b| b.wheel0 == i || b.wheel1 == i);
    // Flag of a driven wheel (1 or 0) if there is an engine, otherwise a torque (N m).
    let drive_torque = match vehicle.engineParams {
        Some(_) => sourced(if w.torqueRatio > 0.0 { 1.0 } else { 0.0 }, ""),
        None => sourced(w.throttleTorque, "throttleTorque"),
    };
    // Points are [slip, friction].
    let friction = w.frictionVsSlip.iter().map(|p| p[1]).fold(0.0, f64::max) * w.friction;
    Corner {
        position: [x, y],
        contact: ContactHeight::Unloaded(droop_height),
        contact_range: [attachment_height - w.radius, droop_height],
        contact_range_source: format!("suspensionTravelDist {}", w.suspensionTravelDist),
        radius: sourced(w.radius, "radius"),
        spin_inertia: sourced(w.moi, "moi"),
        rate: sourced(w.stiffness, "stiffness"),
        bump: sourced(w.damping, "damping"),
        rebound: sourced(w.damping, "damping"),
        tyre: Tyre::Linear {
            slip_stiffness_n: w.longStiff,
            cornering_stiffness_n_per_rad: w.latStiffY,
            relaxation: relaxation(RELAXATION_LENGTH_M),
            friction: crate::car::friction([round_digits(friction); 2]),
        },
        tyre_source: "longStiff, latStiffY, maximum of frictionVsSlip; relaxation lengths are estimates".into(),
        steer_share: if lock > 0.0 { w.maxSteer / lock } else { 0.0 },
        brake: sourced(w.brakeTorque, "brakeTorque"),
        handbrake: sourced(w.handbrakeTorque, "handbrakeTorque"),
        drive_torque,
        anti_roll_rate: sourced(anti_roll_bar.map_or(0.0, |b| b.stiffness.max(0.0)), "antiRollForceParams"),
        is_on_solid_axle: false,
        roll_centre: None,
        lateral_compliance: None,
        force_point: Some(ForcePoint::OnBody(force_height_curve(w, attachment_height))),
        toe_camber: toe_camber_tables(w),
        unsprung: None,
        rolling_resistance: Some(sourced(w.dampingRate / (w.radius * w.radius), "dampingRate over radius² and load")),
        path,
    }
}

/// Converts points over the share of the travel (0 at full droop, 1 at full bump) to points over the compression from
/// full droop (m). `travel` is the whole travel (m).
fn to_jounce_curve(points: impl Iterator<Item = [f64; 2]>, travel: f64) -> JounceCurve {
    JounceCurve(points.map(|[share, value]| [share * travel, value]).collect())
}

/// Returns toe and camber (rad) over the compression of a wheel. Returns `None` if both tables are empty.
fn toe_camber_tables(w: &Wheel) -> Option<ToeCamberTables> {
    let to_curve = |points: &[[f64; 2]]| to_jounce_curve(points.iter().copied(), w.suspensionTravelDist);
    let (toe, camber) = (to_curve(&w.wheelToeAngle), to_curve(&w.wheelCamberAngle));
    (!toe.0.is_empty() || !camber.0.is_empty()).then_some(ToeCamberTables { toe, camber })
}

/// Returns the height at which tyre forces act over the compression from full droop, in the frame of the body (m): the
/// height `attachment_height` of the attachment plus the vertical offset in the table. Without a table the curve is the
/// constant `attachment_height`.
fn force_height_curve(w: &Wheel, attachment_height: f64) -> JounceCurve {
    let to_height_point =
        |&[share, x, y, z]: &[f64; 4]| [share, attachment_height + PHYSX_AXES.to_vehicle_axes([x, y, z])[2]];
    let default_point = w.tireForceAppPoint.is_empty().then_some([0.0, attachment_height]);
    to_jounce_curve(w.tireForceAppPoint.iter().map(to_height_point).chain(default_point), w.suspensionTravelDist)
}

/// Converts engine and gearbox; returns `None` unless both are given. Speeds become rev/min. The idle speed is at least
/// [`MIN_IDLE_SHARE`] of the largest speed, and shift speeds are shares of the largest speed. Forward gears are those
/// after neutral; the reverse ratio is that of the gear just before neutral, without its sign. Damping rates and clutch
/// strength are left out.
fn convert_engine(vehicle: &PhysxVehicle) -> Option<GameEngine> {
    let (engine, gearbox) = (vehicle.engineParams.as_ref()?, vehicle.gearboxParams.as_ref()?);
    let limit_rpm = engine.maxOmega * RPM_PER_RAD_PER_S;
    Some(GameEngine {
        max_torque: engine.peakTorque,
        idle_rpm: (engine.idleOmega * RPM_PER_RAD_PER_S).max(MIN_IDLE_SHARE * limit_rpm),
        limit_rpm,
        inertia: engine.moi,
        curve: engine.torqueCurve.clone(),
        forward: gearbox.ratios.iter().skip(gearbox.neutralGear + 1).copied().collect(),
        // `check_references` has rejected neutral as the first gear.
        reverse: gearbox.ratios.get(gearbox.neutralGear - 1).map_or(1.0, |ratio| ratio.abs()),
        final_drive: gearbox.finalRatio,
        shift_time: gearbox.switchTime,
        up_shift_rpm: gearbox.upRatio * limit_rpm,
        down_shift_rpm: gearbox.downRatio * limit_rpm,
    })
}
