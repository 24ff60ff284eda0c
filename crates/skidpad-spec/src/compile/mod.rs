//! Compilation of a valid [`VehicleSpec`] into a [`Model`]: all unit conversions, and all derived values.

mod aero;
mod assists;
mod powertrain;
mod tyre;

use crate::Faults;
use crate::read::MagicFormulas;
use crate::spec::{self, Axle, BarActsOn, Chassis, Probe, RollingResistance, VehicleSpec};
use crate::spring::Spring;
use crate::wheel_positions::{self, WheelPosition};
use skidpad_core::model::{
    AntiRollBar, Axle as ModelAxle, BarForcePath, BrakeDisc, Coupler, DamperKnee, HeaveSpring, Hitch, Hull, Kingpin,
    LateralCompliance, ModelParts, ProbeShape, RaycastReference, RollingCoefficients, Side, Steering,
    SteeringCompliance, Strut, ToeCamberCurves, TrailerBrakes, Tyre, Unsprung, Wheel,
};
use skidpad_core::{Mat3, Model, ModelError, STANDARD_GRAVITY, Vec3};
use tyre::build_tyres;

/// Builds the model of a description that was just read from `text`. `formulas` are its Magic Formula tyres.
/// `source_name` names the text in fault reports.
///
/// # Errors
/// A value that the model refuses becomes a fault of the whole file, without a place in the text.
pub(crate) fn build_model(
    spec: &VehicleSpec,
    formulas: &MagicFormulas,
    source_name: &str,
    text: &str,
) -> Result<Model, Faults> {
    convert_model(spec, formulas).map_err(|error| crate::whole_file_fault(source_name, text, error.to_string()))
}

/// Builds the model of `spec`. First lowers the centre of mass by `non_physical.lowered_centre`; positions, loads and
/// inertia follow from the lowered centre. Then distributes the mass over the wheels by static equilibrium, and
/// converts all parts to SI units, single precision and the vehicle frame (x forward, y left, z up from the centre of
/// mass).
///
/// # Errors
/// No wheel loads exist, or [`Model::new`] refuses a part.
fn convert_model(spec: &VehicleSpec, formulas: &MagicFormulas) -> Result<Model, ModelError> {
    // From here on, `spec` has the lowered centre of mass.
    let spec = &*assists::with_lowered_centre(spec);
    let chassis = &spec.chassis;
    let wheel_positions = wheel_positions::wheel_positions(spec);
    let load_shares = wheel_positions::wheel_load_shares(spec).ok_or(ModelError::Unsupported)?;
    let tyres = build_tyres(spec, formulas)?;
    let loaded_positions = wheel_positions.iter().zip(&load_shares);
    let wheels: Vec<Wheel> = loaded_positions
        .map(|(position, &load_share)| build_wheel(spec, &tyres, position, load_share * chassis.mass_kg))
        .collect();
    Model::new(ModelParts {
        mass: chassis.mass_kg as f32,
        inertia: inertia(chassis),
        centre_height: chassis.centre_above_ground_m as f32,
        bars: build_anti_roll_bars(spec, &wheels),
        heave_springs: build_heave_springs(spec, &wheels),
        axles: build_axles(spec),
        tyres,
        steering: Steering {
            lock: spec.steering.lock_deg.to_radians() as f32,
            rate: spec.steering.rate_deg_per_s.map_or(f32::INFINITY, |rate| rate.to_radians() as f32),
            wheel_ratio: spec.steering.wheel_ratio.map(|ratio| ratio as f32),
            kingpin: spec.steering.kingpin.as_ref().map(|kingpin| Kingpin {
                trail: kingpin.trail_m as f32,
                scrub_radius: kingpin.scrub_radius_m as f32,
                caster: kingpin.caster_deg.to_radians() as f32,
                inclination: kingpin.inclination_deg.to_radians() as f32,
                pneumatic_trail: kingpin.pneumatic_trail_m as f32,
            }),
            compliance: spec.steering.compliance.as_ref().map(|compliance| SteeringCompliance {
                stiffness: compliance.stiffness_nm_per_deg.to_degrees() as f32,
                time_constant: compliance.time_constant_s as f32,
            }),
            assist_share: spec.steering.power_assist as f32,
        },
        powertrain: powertrain::build_powertrain(spec, &wheel_positions)?,
        motors: powertrain::build_motors(spec, &wheel_positions),
        couplings: powertrain::build_couplings(spec, &wheel_positions),
        aero: aero::build_aero(spec)?,
        hull: Hull {
            centre: vehicle_point(
                chassis,
                chassis.hull.behind_front_axle_m,
                chassis.hull.left_m,
                chassis.hull.above_ground_m,
            ),
            half_extents: vec3(
                [chassis.hull.length_m, chassis.hull.width_m, chassis.hull.height_m].map(|size| 0.5 * size),
            ),
        },
        raycast_reference: build_raycast_reference(spec),
        assists: assists::assists(spec),
        hitch: spec.hitch.as_ref().map(|hitch_spec| build_hitch(chassis, hitch_spec)),
        coupler: spec.coupler.as_ref().map(|coupler_spec| build_coupler(chassis, coupler_spec)),
        external_forces: Vec::new(),
        wheels,
    })
}

/// Builds the settings for ray-cast vehicles of other engines: roll influence and largest suspension force (N; infinite
/// if absent). Returns the default without a `raycast_reference` table.
fn build_raycast_reference(spec: &VehicleSpec) -> RaycastReference {
    let Some(reference_spec) = &spec.raycast_reference else {
        return RaycastReference::default();
    };
    RaycastReference {
        roll_influence: reference_spec.roll_influence as f32,
        largest_suspension_force: reference_spec.max_suspension_force_n.map_or(f32::INFINITY, |force| force as f32),
    }
}

/// Converts a vector to single precision.
fn vec3(v: [f64; 3]) -> Vec3 {
    Vec3::from_array(v.map(|c| c as f32))
}

/// Converts a point of the file (m behind the first axle, left, above the ground) to the vehicle frame, from the centre
/// of mass.
fn vehicle_point(chassis: &Chassis, behind: f64, left: f64, above: f64) -> Vec3 {
    vec3(wheel_positions::to_vehicle_frame(chassis, [behind, left, above]))
}

/// Builds the hitch with its point in the vehicle frame (m): roll stiffness, roll and yaw damping, yaw friction and
/// carried mass are copied. The largest angles become rad. Absent limits of yaw, pitch and breaking force become
/// infinite.
fn build_hitch(chassis: &Chassis, hitch_spec: &spec::Hitch) -> Hitch {
    let or_infinite = |limit: Option<f64>| limit.map_or(f32::INFINITY, |value| value as f32);
    Hitch {
        point: vehicle_point(chassis, hitch_spec.behind_front_axle_m, hitch_spec.left_m, hitch_spec.above_ground_m),
        roll_rate: hitch_spec.roll_rate_n_m_per_rad as f32,
        roll_damping: hitch_spec.roll_damping_n_m_s_per_rad as f32,
        yaw_damping: hitch_spec.yaw_damping_n_m_s_per_rad as f32,
        yaw_friction: hitch_spec.yaw_friction_nm as f32,
        largest_yaw: or_infinite(hitch_spec.max_yaw_deg.map(f64::to_radians)),
        largest_pitch: or_infinite(hitch_spec.max_pitch_deg.map(f64::to_radians)),
        breaking_force: or_infinite(hitch_spec.breaking_force_n),
        carried_mass: hitch_spec.carried_mass_kg as f32,
    }
}

/// Builds the coupler with its point in the vehicle frame (m). Without `brakes` the trailer has its own brake controls;
/// `Pedal` follows the pedal of the towing vehicle, `Overrun` brakes by the push force, fully at `full_brake_n` (N).
fn build_coupler(chassis: &Chassis, coupler_spec: &spec::Coupler) -> Coupler {
    Coupler {
        point: vehicle_point(
            chassis,
            coupler_spec.behind_front_axle_m,
            coupler_spec.left_m,
            coupler_spec.above_ground_m,
        ),
        brakes: match coupler_spec.brakes {
            None => TrailerBrakes::OwnControls,
            Some(spec::TrailerBrakes::Pedal {}) => TrailerBrakes::Pedal,
            Some(spec::TrailerBrakes::Overrun { full_brake_n }) => TrailerBrakes::Overrun(full_brake_n as f32),
        },
    }
}

/// Returns the inertia tensor about the centre of mass in the vehicle frame (kg m²), from the stated moments or from
/// the boxes. The off-diagonal elements are the negative products of inertia.
fn inertia(chassis: &Chassis) -> Mat3 {
    let [xx, yy, zz, xy, xz, yz] = match &chassis.inertia {
        Some(stated) => [stated.roll_kg_m2, stated.pitch_kg_m2, stated.yaw_kg_m2, 0.0, stated.roll_yaw_kg_m2, 0.0],
        None => wheel_positions::inertia_of_boxes(chassis),
    };
    Mat3::from_cols(vec3([xx, -xy, -xz]), vec3([-xy, yy, -yz]), vec3([-xz, -yz, zz]))
}

/// Builds the wheel at `position`. `carried_mass` is the mass that it carries at rest (kg). The contact point at rest
/// is on the ground, below the position. The radius is that of the axle, otherwise the rolling radius of the tyre under
/// the static load, otherwise 0. Rolling resistance is that of the axle, otherwise that of the vehicle; the resistance
/// at standstill is added. Right wheels use the mirrored tyre if the `sides` of the tyre are mirrored. Toe and camber
/// become rad. Absent parts: no disc, a ray as probe, no unsprung mass.
fn build_wheel(spec: &VehicleSpec, tyres: &[Tyre], position: &WheelPosition, carried_mass: f64) -> Wheel {
    let axle = &spec.axles[position.axle];
    let [x, y] = position.point;
    let tyre_index = spec.tyres.keys().position(|name| *name == axle.tyre);
    let formula_radius =
        tyre_index.and_then(|tyre_index| tyres[tyre_index].rolling_radius(carried_mass as f32 * STANDARD_GRAVITY));
    Wheel {
        axle: position.axle,
        side: position.side,
        contact: vec3([x, y, -spec.chassis.centre_above_ground_m]),
        // An unknown radius becomes 0, which `Model::new` refuses.
        radius: axle.radius_m().map_or_else(|| formula_radius.unwrap_or(0.0), |radius| radius as f32),
        spin_inertia: axle.wheel_spin_inertia_kg_m2 as f32,
        // An unknown tyre name becomes an index out of range, which `Model::new` refuses.
        tyre: tyre_index.unwrap_or(spec.tyres.len()),
        strut: build_strut(axle, carried_mass),
        mirrored: position.side == Side::Right && spec.tyres.get(&axle.tyre).is_some_and(is_mirrored),
        toe: axle.toe_deg.to_radians() as f32,
        camber: axle.camber_deg.to_radians() as f32,
        brake_torque: brake_torque(spec, position.axle) as f32,
        handbrake_torque: axle.handbrake_torque_nm as f32,
        disc: axle.brake_disc.as_ref().map(brake_disc),
        rolling: add_static_resistance(
            spec,
            rolling_coefficients(axle.rolling_resistance.as_ref().or(spec.rolling_resistance.as_ref())),
        ),
        probe: axle.probe.as_ref().map_or(ProbeShape::Ray, probe_shape),
        unsprung: axle.unsprung.as_ref().map(|unsprung_spec| Unsprung {
            mass: unsprung_spec.mass_kg as f32,
            tyre_rate: unsprung_spec.tyre_rate_n_per_m as f32,
            tyre_damping: unsprung_spec.tyre_damping_n_s_per_m as f32,
        }),
    }
}

/// Converts the shape with which a wheel finds the ground (ray, disc, cylinder, torus). Widths are in m.
fn probe_shape(probe_spec: &Probe) -> ProbeShape {
    match *probe_spec {
        Probe::Ray {} => ProbeShape::Ray,
        Probe::Disc {} => ProbeShape::Disc,
        Probe::Cylinder { width_m } => ProbeShape::Cylinder(width_m as f32),
        Probe::Torus { width_m } => ProbeShape::Torus(width_m as f32),
    }
}

/// Builds spring and damper of a wheel that carries `carried_mass` kg. Rates and droop travel are those of
/// [`Spring::from_axle`]: the rate may follow from a ride frequency, the droop travel from a preload. Damping is the
/// stated value (N s/m), otherwise the damping ratio times the critical damping `2 √(rate · carried_mass)` (0 for a
/// mass below 0), otherwise 0; separately for bump and rebound. Bump travel, bump stop and damper knees (blow-off) are
/// copied.
fn build_strut(axle: &Axle, carried_mass: f64) -> Strut {
    let (suspension, spring) = (&axle.suspension, Spring::from_axle(axle, carried_mass));
    // Critical damping, N s/m.
    let critical_damping = 2.0 * (spring.rate * carried_mass.max(0.0)).sqrt();
    let damping = |stated: Option<f64>, ratio: Option<f64>| {
        stated.unwrap_or_else(|| ratio.unwrap_or(0.0) * critical_damping) as f32
    };
    Strut {
        rate: spring.rate as f32,
        progressive_rate: spring.progressive_rate as f32,
        bump_damping: damping(suspension.bump_damping_n_s_per_m, suspension.bump_damping_ratio),
        rebound_damping: damping(suspension.rebound_damping_n_s_per_m, suspension.rebound_damping_ratio),
        bump_travel: suspension.bump_travel_m as f32,
        droop_travel: spring.droop_travel as f32,
        stop_rate: suspension.bump_stop_rate_n_per_m as f32,
        stop_travel: suspension.bump_stop_travel_m as f32,
        knees: [&suspension.bump_blow_off, &suspension.rebound_blow_off].map(damper_knee),
    }
}

/// Builds the knee of a damper: above the speed (m/s) the damping is multiplied by the ratio. Without a knee returns
/// the default.
fn damper_knee(knee_spec: &Option<spec::BlowOff>) -> DamperKnee {
    let to_knee =
        |knee: &spec::BlowOff| DamperKnee { speed: knee.speed_mps as f32, fast_ratio: knee.slope_ratio as f32 };
    knee_spec.as_ref().map(to_knee).unwrap_or_default()
}

/// Returns the number of wheels of an axle: 2 with a track, otherwise 1.
fn wheel_count(axle: &Axle) -> f64 {
    if axle.track_m.is_some() { 2.0 } else { 1.0 }
}

/// Builds the brake disc: heat capacity (J/K), cooling at rest and its rise with speed, temperature range of fading
/// (K), and the torque factor after full fading.
fn brake_disc(disc_spec: &spec::BrakeDisc) -> BrakeDisc {
    BrakeDisc {
        heat_capacity: disc_spec.heat_capacity_j_per_k as f32,
        cooling: [disc_spec.cooling_w_per_k as f32, disc_spec.cooling_w_s_per_k_m as f32],
        fade_range: [disc_spec.fades_from_k as f32, disc_spec.fades_to_k as f32],
        min_torque_factor: disc_spec.min_torque_factor as f32,
    }
}

/// Returns the brake torque of each wheel of axle `axle_index` at full pedal, N m. Without a `brakes` table, it is the
/// torque that the axle states, or 0. With this table, the first axle gets `front_bias` of the torque of the whole car,
/// divided evenly by its wheels. The rest is divided evenly by all wheels of the other axles.
fn brake_torque(spec: &VehicleSpec, axle_index: usize) -> f64 {
    let axle_spec = &spec.axles[axle_index];
    let Some(brakes) = &spec.brakes else {
        return axle_spec.brake_torque_nm.unwrap_or(0.0);
    };
    if axle_index == 0 {
        return brakes.total_torque_nm * brakes.front_bias / wheel_count(axle_spec);
    }
    let rear_wheel_count: f64 = spec.axles[1..].iter().map(wheel_count).sum();
    brakes.total_torque_nm * (1.0 - brakes.front_bias) / rear_wheel_count
}

/// Builds the rolling resistance from one of four forms: a constant coefficient (–); with a rise by speed (s/m); with a
/// rise by the square of speed (s²/m²); or a tyre pressure (bar), from which the core computes all three coefficients.
/// All coefficients are 0 if there is no table.
fn rolling_coefficients(resistance_spec: Option<&RollingResistance>) -> RollingCoefficients {
    match resistance_spec {
        None => RollingCoefficients::default(),
        Some(RollingResistance::Constant { coefficient }) => {
            RollingCoefficients { constant: *coefficient as f32, ..RollingCoefficients::default() }
        }
        Some(RollingResistance::Linear { coefficient, rise_s_per_m }) => RollingCoefficients {
            constant: *coefficient as f32,
            linear: *rise_s_per_m as f32,
            ..RollingCoefficients::default()
        },
        Some(RollingResistance::Quadratic { coefficient, rise_s2_per_m2 }) => RollingCoefficients {
            constant: *coefficient as f32,
            quadratic: *rise_s2_per_m2 as f32,
            ..RollingCoefficients::default()
        },
        Some(RollingResistance::Pressure { pressure_bar }) => RollingCoefficients::from_pressure(*pressure_bar as f32),
    }
}

/// Returns `rolling` with the static coefficient of the vehicle (–) and the speed (m/s) below which it acts. All other
/// values are kept. Returns `rolling` unchanged if the file states none.
fn add_static_resistance(spec: &VehicleSpec, rolling: RollingCoefficients) -> RollingCoefficients {
    match &spec.static_rolling_resistance {
        None => rolling,
        Some(static_spec) => RollingCoefficients {
            static_coefficient: static_spec.coefficient as f32,
            static_fade_speed: static_spec.below_mps as f32,
            ..rolling
        },
    }
}

/// Builds the axles, from front to rear: steering ratio, share of Ackermann steering, computed distance from the
/// turning axis (m), toe and camber over the travel, solid axle, height of the roll centre (m), lateral compliance, and
/// height of the point at which tyre forces act on the body (m; 0 if absent).
fn build_axles(spec: &VehicleSpec) -> Vec<ModelAxle> {
    let build_axle = |(i, axle): (usize, &Axle)| ModelAxle {
        steer_ratio: axle.steer_ratio as f32,
        ackermann: axle.ackermann as f32,
        turning_distance: wheel_positions::turning_distance(spec, i) as f32,
        toe_camber: axle.kinematics.as_ref().map(toe_camber_curves),
        solid: axle.solid_axle,
        roll_centre_height: axle.roll_centre_height_m as f32,
        lateral_compliance: axle.lateral_compliance.as_ref().map(|compliance| LateralCompliance {
            rate: compliance.lateral_stiffness_n_per_m as f32,
            damping: compliance.damping_n_s_per_m as f32,
        }),
        force_point_height: axle.force_application_height_m.unwrap_or(0.0) as f32,
    };
    spec.axles.iter().enumerate().map(build_axle).collect()
}

/// Builds toe and camber over the travel: linear and quadratic coefficient, rad/m and rad/m².
fn toe_camber_curves(kinematics: &spec::Kinematics) -> ToeCamberCurves {
    let to_radian_coefficients = |coefficients: [f64; 2]| coefficients.map(|angle| angle.to_radians() as f32);
    ToeCamberCurves {
        toe: to_radian_coefficients([kinematics.toe_deg_per_m, kinematics.toe_deg_per_m2]),
        camber: to_radian_coefficients([kinematics.camber_deg_per_m, kinematics.camber_deg_per_m2]),
    }
}

/// Builds the anti-roll bars of axles with two wheels. The rate (N/m) is the first of these that the file states: the
/// force at full travel over the whole travel (bump + droop) of the left strut; `½ k s / (1 − s)` with the share `s` of
/// the bar in the roll stiffness of the axle and the rate `k` of that strut; the rate itself. Bars without any of the
/// three, and bars of rate 0, are left out. Without a speed range it is `[0, 0]`: the bar acts at every speed.
fn build_anti_roll_bars(spec: &VehicleSpec, wheels: &[Wheel]) -> Vec<AntiRollBar> {
    let left_wheels = wheels.iter().enumerate().filter(|(_, wheel)| wheel.side == Side::Left);
    // `i` is the index of a left wheel.
    let build_bar = |(i, wheel): (usize, &Wheel)| {
        let (bar_spec, strut) = (spec.axles[wheel.axle].anti_roll_bar.as_ref()?, &wheel.strut);
        let wheel_travel = f64::from(strut.bump_travel + strut.droop_travel);
        // Rate of a bar with this share of the roll stiffness of the axle, N/m.
        let rate_from_share = |share: f64| 0.5 * f64::from(strut.rate) * share / (1.0 - share);
        let rate = (bar_spec.full_travel_force_n.map(|force| force / wheel_travel))
            .or(bar_spec.roll_stiffness_share.map(rate_from_share))
            .or(bar_spec.rate_n_per_m)?;
        Some(AntiRollBar {
            // The right wheel follows the left wheel of its axle.
            wheels: [i, i + 1],
            rate: rate as f32,
            speed_range: bar_spec.speed_range_mps.unwrap_or_default().map(|speed| speed as f32),
            force_path: match bar_spec.acts_on {
                BarActsOn::Chassis => BarForcePath::External,
                BarActsOn::Wheels => BarForcePath::InLoadPath,
            },
        })
    };
    left_wheels.filter_map(build_bar).filter(|bar| bar.rate > 0.0).collect()
}

/// Builds the heave springs of axles with two wheels, each between a left wheel and the right wheel after it. Axles
/// without one are skipped.
fn build_heave_springs(spec: &VehicleSpec, wheels: &[Wheel]) -> Vec<HeaveSpring> {
    let left_wheels = wheels.iter().enumerate().filter(|(_, wheel)| wheel.side == Side::Left);
    // `i` is the index of a left wheel, and `i + 1` that of the right wheel of its axle.
    let build_spring = |(i, wheel): (usize, &Wheel)| {
        let spring_spec = spec.axles[wheel.axle].heave_spring.as_ref()?;
        let (rate, damping) = (spring_spec.rate_n_per_m as f32, spring_spec.damping_n_s_per_m as f32);
        Some(HeaveSpring { wheels: [i, i + 1], rate, damping })
    };
    left_wheels.filter_map(build_spring).collect()
}

/// Returns true if the right wheels use the mirrored tyre: a Magic Formula tyre whose `sides` are mirrored.
fn is_mirrored(tyre: &spec::Tyre) -> bool {
    matches!(tyre, spec::Tyre::MagicFormula { sides: spec::Sides::Mirrored, .. })
}
