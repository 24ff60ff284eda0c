//! Importer for `VehicleConstraint` of Jolt with a `WheeledVehicleController`, in TOML with the names and defaults of
//! Jolt.

use crate::Import;
use crate::car::{BodyBox, Car, ContactHeight, Corner, SourcedNumber, friction, relaxation, sourced};
use crate::engine::GameEngine;
use crate::raycast::SourceAxes;
use crate::vehicle_file::round_digits;
use schemars::JsonSchema;
use serde::Deserialize;
use skidpad_core::{DMat3, DVec3};
use skidpad_spec::spec::{SlipCurve, Tyre};
use std::f64::consts::TAU;

/// Estimated relaxation length of the tyres (m). The tyres of the source have none.
const RELAXATION_LENGTH_M: f64 = 0.05;

/// A vehicle of Jolt: its body and `VehicleConstraintSettings`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(non_snake_case, reason = "Jolt's parameter names")]
pub(crate) struct JoltVehicle {
    /// What people call it.
    #[serde(default = "default_name")]
    #[schemars(length(min = 1))]
    name: String,
    /// Mass of the body, kg.
    #[schemars(range(min = 0.001, max = 1e7))]
    mMass: f64,
    /// Half extents of the body's `BoxShape`, m.
    #[schemars(inner(range(min = 0.001, max = 100)))]
    mHalfExtent: [f64; 3],
    /// Offset of the centre of mass from the middle of the shape (`OffsetCenterOfMassShape`), m.
    #[serde(default)]
    mOffset: [f64; 3],
    /// Diagonal of the inertia, kg m². Absent: that of the box.
    #[schemars(inner(range(min = 0.001, max = 1e9)))]
    mInertia: Option<[f64; 3]>,
    /// Damping of the body's motion, 1/s.
    #[serde(default = "default_body_damping")]
    mLinearDamping: f64,
    /// Damping of its rotation, 1/s.
    #[serde(default = "default_body_damping")]
    mAngularDamping: f64,
    /// Friction of the ground; √(tyre · ground) acts.
    #[serde(default = "default_friction_and_damping")]
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 100))]
    ground_mFriction: f64,
    /// The wheels, in any order; others refer to them by number from 0.
    #[schemars(length(min = 2, max = 32))]
    wheels: Vec<Wheel>,
    /// Bars between wheels.
    #[serde(default)]
    mAntiRollBars: Vec<Bar>,
    /// Absent: no drive.
    mEngine: Option<JoltEngine>,
    /// Gears.
    #[serde(default)]
    mTransmission: Transmission,
    /// Between gearbox and wheels.
    #[serde(default)]
    mDifferentials: Vec<Differential>,
}

/// `WheelSettingsWV`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(non_snake_case, reason = "Jolt's parameter names")]
struct Wheel {
    /// Hard point in the body's frame, whose origin is the middle of the shape, m.
    mPosition: [f64; 3],
    /// Where the suspension goes.
    #[serde(default = "default_suspension_direction")]
    mSuspensionDirection: [f64; 3],
    /// m.
    #[serde(default = "default_min_suspension_length")]
    #[schemars(range(min = 0, max = 100))]
    mSuspensionMinLength: f64,
    /// m.
    #[serde(default = "default_max_suspension_length")]
    #[schemars(range(min = 0, max = 100))]
    mSuspensionMaxLength: f64,
    /// m.
    #[serde(default)]
    #[schemars(range(min = 0, max = 100))]
    mSuspensionPreloadLength: f64,
    /// Rate and damping.
    #[serde(default)]
    mSuspensionSpring: Spring,
    /// m.
    #[serde(default = "default_wheel_radius")]
    #[schemars(range(min = 0.001, max = 100))]
    mRadius: f64,
    /// kg m².
    #[serde(default = "default_wheel_inertia")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    mInertia: f64,
    /// Damping of the spin, 1/s.
    #[serde(default = "default_friction_and_damping")]
    #[schemars(range(min = 0))]
    mAngularDamping: f64,
    /// rad.
    #[serde(default = "default_max_steer_angle")]
    #[schemars(range(min = 0, max = 1.57))]
    mMaxSteerAngle: f64,
    /// N m.
    #[serde(default = "default_brake_torque")]
    #[schemars(range(min = 0))]
    mMaxBrakeTorque: f64,
    /// N m.
    #[serde(default = "default_handbrake_torque")]
    #[schemars(range(min = 0))]
    mMaxHandBrakeTorque: f64,
    /// Slip ratio and friction.
    #[serde(default = "default_longitudinal_friction")]
    #[schemars(length(min = 2))]
    mLongitudinalFriction: Vec<[f64; 2]>,
    /// Slip angle in degrees and friction.
    #[serde(default = "default_lateral_friction")]
    #[schemars(length(min = 2))]
    mLateralFriction: Vec<[f64; 2]>,
}

/// `SpringSettings`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(tag = "mMode", deny_unknown_fields)]
#[allow(non_snake_case, reason = "Jolt's parameter names")]
enum Spring {
    /// On the effective mass at the wheel.
    FrequencyAndDamping {
        /// Hz.
        #[schemars(extend("exclusiveMinimum" = 0))]
        mFrequency: f64,
        /// Damping ratio.
        #[schemars(range(min = 0))]
        mDamping: f64,
    },
    /// Direct.
    StiffnessAndDamping {
        /// N/m.
        #[schemars(extend("exclusiveMinimum" = 0))]
        mStiffness: f64,
        /// N s/m.
        #[schemars(range(min = 0))]
        mDamping: f64,
    },
}

impl Default for Spring {
    /// Returns the defaults of Jolt.
    fn default() -> Self {
        Spring::FrequencyAndDamping { mFrequency: 1.5, mDamping: 0.5 }
    }
}

/// `VehicleAntiRollBar`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(non_snake_case, reason = "Jolt's parameter names")]
struct Bar {
    mLeftWheel: usize,
    mRightWheel: usize,
    /// N/m.
    #[serde(default = "default_anti_roll_rate")]
    #[schemars(range(min = 0))]
    mStiffness: f64,
}

/// `VehicleEngineSettings`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[allow(non_snake_case, reason = "Jolt's parameter names")]
struct JoltEngine {
    /// N m.
    #[schemars(extend("exclusiveMinimum" = 0))]
    mMaxTorque: f64,
    /// rev/min.
    #[schemars(extend("exclusiveMinimum" = 0))]
    mMinRPM: f64,
    /// rev/min.
    #[schemars(extend("exclusiveMinimum" = 0))]
    mMaxRPM: f64,
    /// Share of the largest speed and of the largest torque; its documentation says otherwise.
    #[schemars(length(min = 2))]
    mNormalizedTorque: Vec<[f64; 2]>,
    /// kg m².
    #[schemars(extend("exclusiveMinimum" = 0))]
    mInertia: f64,
    /// 1/s.
    mAngularDamping: f64,
}

impl Default for JoltEngine {
    /// Returns the defaults of Jolt.
    fn default() -> Self {
        Self {
            mMaxTorque: 500.0,
            mMinRPM: 1000.0,
            mMaxRPM: 6000.0,
            mNormalizedTorque: vec![[0.0, 0.8], [0.66, 1.0], [1.0, 0.8]],
            mInertia: 0.5,
            mAngularDamping: 0.2,
        }
    }
}

/// `VehicleTransmissionSettings`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[allow(non_snake_case, reason = "Jolt's parameter names")]
struct Transmission {
    /// First gear first.
    #[schemars(length(min = 1, max = 30))]
    mGearRatios: Vec<f64>,
    /// Negative; the first is taken.
    #[schemars(length(min = 1))]
    mReverseGearRatios: Vec<f64>,
    /// s.
    mSwitchTime: f64,
    /// s.
    mClutchReleaseTime: f64,
    /// s.
    mSwitchLatency: f64,
    /// rev/min.
    mShiftUpRPM: f64,
    /// rev/min.
    mShiftDownRPM: f64,
    /// N m s.
    mClutchStrength: f64,
}

impl Default for Transmission {
    /// Returns the defaults of Jolt.
    fn default() -> Self {
        Self {
            mGearRatios: vec![2.66, 1.78, 1.3, 1.0, 0.74],
            mReverseGearRatios: vec![-2.9],
            mSwitchTime: 0.5,
            mClutchReleaseTime: 0.3,
            mSwitchLatency: 0.5,
            mShiftUpRPM: 4000.0,
            mShiftDownRPM: 2000.0,
            mClutchStrength: 10.0,
        }
    }
}

/// `VehicleDifferentialSettings`.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[allow(non_snake_case, reason = "Jolt's parameter names")]
struct Differential {
    mLeftWheel: usize,
    mRightWheel: usize,
    #[serde(default = "default_differential_ratio")]
    #[schemars(extend("exclusiveMinimum" = 0))]
    mDifferentialRatio: f64,
    #[serde(default = "default_left_right_split")]
    mLeftRightSplit: f64,
    #[serde(default = "default_limited_slip_ratio")]
    mLimitedSlipRatio: f64,
    #[serde(default = "default_engine_torque_ratio")]
    #[schemars(range(min = 0))]
    mEngineTorqueRatio: f64,
}

/// Returns the default of `name`.
fn default_name() -> String {
    "Jolt vehicle".into()
}
/// Returns the default damping of the body: `mLinearDamping` and `mAngularDamping` (1/s).
fn default_body_damping() -> f64 {
    0.05
}
/// Returns the default of `ground_mFriction` (–) and of the spin damping `mAngularDamping` of a wheel (1/s).
fn default_friction_and_damping() -> f64 {
    0.2
}
/// Returns the default of `mSuspensionDirection`.
fn default_suspension_direction() -> [f64; 3] {
    [0.0, -1.0, 0.0]
}
/// Returns the default of `mSuspensionMinLength` (m).
fn default_min_suspension_length() -> f64 {
    0.3
}
/// Returns the default of `mSuspensionMaxLength` (m).
fn default_max_suspension_length() -> f64 {
    0.5
}
/// Returns the default wheel radius (m).
fn default_wheel_radius() -> f64 {
    0.3
}
/// Returns the default spin inertia of a wheel (kg m²).
fn default_wheel_inertia() -> f64 {
    0.9
}
/// Returns the default of `mMaxSteerAngle` (rad).
fn default_max_steer_angle() -> f64 {
    70f64.to_radians()
}
/// Returns the default of `mMaxBrakeTorque` (N m).
fn default_brake_torque() -> f64 {
    1500.0
}
/// Returns the default of `mMaxHandBrakeTorque` (N m).
fn default_handbrake_torque() -> f64 {
    4000.0
}
/// Returns the default of `mLongitudinalFriction`: pairs of slip ratio and friction.
fn default_longitudinal_friction() -> Vec<[f64; 2]> {
    vec![[0.0, 0.0], [0.06, 1.2], [0.2, 1.0]]
}
/// Returns the default of `mLateralFriction`: pairs of slip angle (degrees) and friction.
fn default_lateral_friction() -> Vec<[f64; 2]> {
    vec![[0.0, 0.0], [3.0, 1.2], [20.0, 1.0]]
}
/// Returns the default rate of an anti-roll bar (N/m).
fn default_anti_roll_rate() -> f64 {
    1000.0
}
/// Returns the default of `mDifferentialRatio`.
fn default_differential_ratio() -> f64 {
    3.42
}
/// Returns the default of `mLeftRightSplit`.
fn default_left_right_split() -> f64 {
    0.5
}
/// Returns the default of `mLimitedSlipRatio`.
fn default_limited_slip_ratio() -> f64 {
    1.4
}
/// Returns the default of `mEngineTorqueRatio`.
fn default_engine_torque_ratio() -> f64 {
    1.0
}

/// Axes of Jolt.
const JOLT_AXES: SourceAxes = SourceAxes { forward: DVec3::Z, left: DVec3::X, up: DVec3::Y };

/// Reads a vehicle of Jolt. Parses the TOML, checks references, adds notes on what is left out and converts body,
/// wheels and engine. Absent inertia is that of a homogeneous box of the size of the body. The steering lock is the
/// largest `mMaxSteerAngle`, or 30° if no wheel steers. The origin is the middle of the body's shape. Returns `None`
/// after a fault.
pub(crate) fn read(import: &mut Import<'_>) -> Option<Car> {
    let vehicle: JoltVehicle = import.deserialize_toml()?;
    check_references(&vehicle, import);
    if !import.collector.faults.is_empty() {
        return None;
    }
    add_notes(&vehicle, import);
    let size = vehicle.mHalfExtent.map(|h| 2.0 * h);
    let inertia = vehicle.mInertia.unwrap_or_else(|| skidpad_core::model::box_inertia(vehicle.mMass, size));
    let lock = vehicle.wheels.iter().map(|w| w.mMaxSteerAngle).fold(0.0, f64::max);
    let wheels: Vec<Corner> =
        (0..vehicle.wheels.len()).map(|i| convert_wheel(&vehicle, i, inertia, lock, import)).collect();
    Some(Car {
        name: vehicle.name.clone(),
        description:
            "Imported from Jolt. Jolt states frequencies for the effective mass at a wheel; its friction is √(tyre · ground)."
                .into(),
        mass: sourced(vehicle.mMass, "mMass"),
        centre: JOLT_AXES.to_vehicle_axes(vehicle.mOffset),
        centre_source: "height at which the springs carry the car at rest".into(),
        inertia: Some((JOLT_AXES.inertia(inertia), "mInertia, or the inertia of the box".into())),
        boxes: vec![BodyBox { centre: [0.0; 3], size: JOLT_AXES.to_vehicle_size(size) }],
        hull: None,
        wheels,
        lock: if lock > 0.0 {
            sourced(lock.to_degrees(), format!("mMaxSteerAngle {lock} rad"))
        } else {
            sourced(30.0, "estimate: no wheel is steered")
        },
        steer_rate: None,
        engine: convert_engine(&vehicle),
        raycast_reference: None,
    })
}

/// Adds faults for anti-roll bars and differentials at missing wheels (left and right by themselves), and for
/// suspensions whose maximum length does not exceed the minimum.
fn check_references(vehicle: &JoltVehicle, import: &mut Import<'_>) {
    let count = vehicle.wheels.len();
    let bars = vehicle.mAntiRollBars.iter().enumerate().map(|(i, b)| ("mAntiRollBars", i, b.mLeftWheel, b.mRightWheel));
    let differentials =
        vehicle.mDifferentials.iter().enumerate().map(|(i, d)| ("mDifferentials", i, d.mLeftWheel, d.mRightWheel));
    for (list_name, i, left, right) in bars.chain(differentials) {
        for (key, wheel) in [("mLeftWheel", left), ("mRightWheel", right)] {
            if wheel >= count {
                import.add_fault(
                    &format!("{list_name}[{i}].{key}"),
                    format!("wheel {wheel}"),
                    format!("from 0 to {}", count - 1),
                    "", // no help
                );
            }
        }
    }
    for (i, wheel) in vehicle.wheels.iter().enumerate() {
        if wheel.mSuspensionMaxLength <= wheel.mSuspensionMinLength {
            let found = format!("{}", wheel.mSuspensionMaxLength);
            let accepts = format!("more than mSuspensionMinLength ({})", wheel.mSuspensionMinLength);
            import.add_fault(&format!("wheels[{i}].mSuspensionMaxLength"), found, accepts, "");
        }
    }
}

/// Adds notes on properties that are left out or change their meaning: damping of the body unless 0, friction of the
/// ground, the different limit of the friction curves and, with an engine, its damping, the clutch, limited slip,
/// uneven splits and different ratios of the differentials.
fn add_notes(vehicle: &JoltVehicle, import: &mut Import<'_>) {
    for (key, value) in [("mLinearDamping", vehicle.mLinearDamping), ("mAngularDamping", vehicle.mAngularDamping)] {
        let text = format!(
            "damping of {value} 1/s (Jolt's default: 0.05): not imported; its effect is a drag proportional to speed"
        );
        import.add_note_unless(key, value, 0.0, &text);
    }
    let ground_friction = vehicle.ground_mFriction;
    import.add_note(
        "ground_mFriction",
        format!("ground friction {ground_friction}: the tyre friction is √({ground_friction}) times the square root of its curve"),
    );
    import.add_note("", "Jolt's curves limit an impulse that removes all slip, separately in each direction; the vehicle file uses them as force curves with combined slip");
    if vehicle.mEngine.is_none() {
        return;
    }
    import.add_note(
        "mEngine",
        "the engine damping is not imported; the slip-dependent clutch becomes a clutch with 1.5 times the peak torque",
    );
    for (i, d) in vehicle.mDifferentials.iter().enumerate() {
        let key_path = format!("mDifferentials[{i}]");
        // Jolt sets `FLT_MAX` for an open differential.
        if d.mLimitedSlipRatio < 1e9 {
            import
                .add_note(&key_path, format!("limited slip {}: imported as an open differential", d.mLimitedSlipRatio));
        }
        import.add_note_unless(
            &key_path,
            d.mLeftRightSplit,
            0.5, // even split
            "an uneven torque split between left and right: imported as even",
        );
        if d.mDifferentialRatio != vehicle.mDifferentials[0].mDifferentialRatio {
            import.add_note(
                &key_path,
                "a ratio that differs from the first differential: the ratio of the first one is used for all",
            );
        }
    }
}

/// Computes the effective mass of the body at the spring of a wheel (kg), as if it were the only spring: `1 / (1/m + (r
/// × n) · I⁻¹ (r × n))`, with the lever `r` from the centre of mass to the hard point and the direction `n` of the
/// spring. `inertia` is the inertia in the axes of Jolt (kg m²).
fn effective_mass(vehicle: &JoltVehicle, wheel: &Wheel, inertia: [f64; 3]) -> f64 {
    let spring_direction = -DVec3::from_array(wheel.mSuspensionDirection).normalize_or_zero();
    // Cross product `r × n`, m.
    let lever_cross_direction =
        (DVec3::from_array(wheel.mPosition) - DVec3::from_array(vehicle.mOffset)).cross(spring_direction);
    // Angular velocity that a unit impulse of the spring causes, 1/(kg m).
    let unit_angular_velocity = DMat3::from_diagonal(DVec3::from_array(inertia)).inverse() * lever_cross_direction;
    1.0 / (1.0 / vehicle.mMass + lever_cross_direction.dot(unit_angular_velocity))
}

/// Returns the rate (N/m) and the damping (N s/m) of a spring. From a frequency `f` (Hz) and a damping ratio `ζ` on the
/// effective mass `mass` (kg): `k = m (2π f)²`, `c = 2 ζ √(k m)`. Direct values are returned unchanged.
fn rate_and_damping(spring: Spring, mass: f64) -> (SourcedNumber, SourcedNumber) {
    match spring {
        Spring::FrequencyAndDamping { mFrequency: f, mDamping: damping_ratio } => {
            let rate = mass * (TAU * f).powi(2);
            let mass_text = format!("effective mass {mass:.1} kg");
            (
                sourced(rate, format!("mFrequency {f} Hz on the {mass_text}")),
                sourced(
                    2.0 * damping_ratio * (rate * mass).sqrt(),
                    format!("mDamping {damping_ratio} on the {mass_text}"),
                ),
            )
        }
        Spring::StiffnessAndDamping { mStiffness, mDamping } => {
            (sourced(mStiffness, "mStiffness"), sourced(mDamping, "mDamping"))
        }
    }
}

/// Converts wheel number `i` to the neutral car. `inertia` is the inertia in the axes of Jolt (kg m²), `lock` the
/// largest steering angle of the car (rad). The steering share is `mMaxSteerAngle / lock`.
///
/// The spring is unloaded `mSuspensionPreloadLength` below full droop. Its rate and damping refer to the effective mass
/// at the wheel; bump and rebound damping are equal. Only the first anti-roll bar and the first differential with this
/// wheel count. The drive torque is a share: the engine torque ratio of this differential, or 0 without a differential
/// or an engine. The rolling resistance is `mInertia · mAngularDamping / radius²` (N s/m). A suspension that is not
/// vertical adds a note and is imported as vertical. Tyre forces act at the ground.
fn convert_wheel(vehicle: &JoltVehicle, i: usize, inertia: [f64; 3], lock: f64, import: &mut Import<'_>) -> Corner {
    let w = &vehicle.wheels[i];
    let path = format!("wheels[{i}]");
    let direction = DVec3::from_array(w.mSuspensionDirection).normalize_or_zero();
    // The sum of both unit vectors is about the tilt in rad.
    if (direction + JOLT_AXES.up).length() > 0.01 {
        import.add_note(&format!("{path}.mSuspensionDirection"), "not upright: imported as upright");
    }
    let [x, y, hard_point_height] = JOLT_AXES.to_vehicle_axes(w.mPosition);
    let (rate, damper) = rate_and_damping(w.mSuspensionSpring, effective_mass(vehicle, w, inertia));
    // First anti-roll bar and first differential with this wheel.
    let anti_roll_bar = vehicle.mAntiRollBars.iter().find(|b| b.mLeftWheel == i || b.mRightWheel == i);
    let differential = vehicle.mDifferentials.iter().find(|d| d.mLeftWheel == i || d.mRightWheel == i);
    // Height of the contact point at full droop.
    let droop_height = hard_point_height - w.mSuspensionMaxLength - w.mRadius;
    Corner {
        position: [x, y],
        contact: ContactHeight::Unloaded(droop_height - w.mSuspensionPreloadLength),
        contact_range: [hard_point_height - w.mSuspensionMinLength - w.mRadius, droop_height],
        contact_range_source: format!(
            "mSuspensionMinLength {}, mSuspensionMaxLength {}",
            w.mSuspensionMinLength, w.mSuspensionMaxLength
        ),
        radius: sourced(w.mRadius, "mRadius"),
        spin_inertia: sourced(w.mInertia, "mInertia"),
        rate,
        bump: damper.clone(),
        rebound: damper,
        tyre: convert_tyre(vehicle, w),
        tyre_source: format!("√(curve · {}); relaxation lengths are estimates", vehicle.ground_mFriction),
        steer_share: if lock > 0.0 { w.mMaxSteerAngle / lock } else { 0.0 },
        brake: sourced(w.mMaxBrakeTorque, "mMaxBrakeTorque"),
        handbrake: sourced(w.mMaxHandBrakeTorque, "mMaxHandBrakeTorque"),
        drive_torque: sourced(
            if vehicle.mEngine.is_some() { differential.map_or(0.0, |d| d.mEngineTorqueRatio) } else { 0.0 },
            "", // An empty source writes no comment.
        ),
        anti_roll_rate: sourced(anti_roll_bar.map_or(0.0, |b| b.mStiffness), "mAntiRollBars"),
        is_on_solid_axle: false,
        roll_centre: None,
        lateral_compliance: None,
        force_point: None,
        toe_camber: None,
        unsprung: None,
        rolling_resistance: Some(sourced(
            w.mInertia * w.mAngularDamping / (w.mRadius * w.mRadius),
            "mAngularDamping × mInertia over radius² and load",
        )),
        path,
    }
}

/// Converts the longitudinal and the lateral friction curve to a slip curve by two points: the peak and the last point.
/// Friction is `√(peak · ground friction)`. The peak is the first point with the largest friction. The asymptote share
/// is the square root of the last over the largest value; this quotient is at least 0.001, its root at most 1. The slip
/// of the peak is at least 0.001, that of the asymptote at least 1.1 times that of the peak. Relaxation lengths are
/// estimates.
fn convert_tyre(vehicle: &JoltVehicle, w: &Wheel) -> Tyre {
    // Points are [slip, friction]. `slip_unit` converts the slip of the curve to a slip ratio or to radians.
    let convert_curve = |points: &[[f64; 2]], slip_unit: f64| {
        // First point with the largest friction above 0; otherwise slip and friction 0.
        let peak = points.iter().copied().fold([0.0, 0.0], |best, p| if p[1] > best[1] { p } else { best });
        let last_point = points.last().copied().unwrap_or(peak);
        let peak_slip = (peak[0] * slip_unit).max(1e-3);
        let curve = SlipCurve {
            extremum_slip: round_digits(peak_slip),
            asymptote_slip: round_digits((last_point[0] * slip_unit).max(1.1 * peak_slip)),
            sliding_force_ratio: round_digits((last_point[1] / peak[1]).max(1e-3).sqrt().min(1.0)),
        };
        (round_digits((peak[1] * vehicle.ground_mFriction).sqrt()), curve)
    };
    let (longitudinal_friction, longitudinal) = convert_curve(&w.mLongitudinalFriction, 1.0);
    let (lateral_friction, lateral) = convert_curve(&w.mLateralFriction, 1f64.to_radians());
    Tyre::SlipCurve {
        longitudinal,
        lateral,
        relaxation: relaxation(RELAXATION_LENGTH_M),
        friction: friction([longitudinal_friction, lateral_friction]),
    }
}

/// Converts engine, transmission and the ratio of the first differential (1 without one); `None` without an engine. The
/// reverse ratio is the first one, without its sign. Damping, clutch strength and shift latency are left out.
fn convert_engine(vehicle: &JoltVehicle) -> Option<GameEngine> {
    let engine = vehicle.mEngine.as_ref()?;
    let transmission = &vehicle.mTransmission;
    Some(GameEngine {
        max_torque: engine.mMaxTorque,
        idle_rpm: engine.mMinRPM,
        limit_rpm: engine.mMaxRPM,
        inertia: engine.mInertia,
        curve: engine.mNormalizedTorque.clone(),
        forward: transmission.mGearRatios.clone(),
        reverse: transmission.mReverseGearRatios.first().map_or(1.0, |ratio| ratio.abs()),
        final_drive: vehicle.mDifferentials.first().map_or(1.0, |d| d.mDifferentialRatio),
        shift_time: transmission.mSwitchTime,
        up_shift_rpm: transmission.mShiftUpRPM,
        down_shift_rpm: transmission.mShiftDownRPM,
    })
}
