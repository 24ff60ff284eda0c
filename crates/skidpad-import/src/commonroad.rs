//! Importer for parameter sets of the CommonRoad vehicle models (Althoff, Würsching, "CommonRoad: Vehicle Models",
//! 2020, tables 6 and 7).

use crate::car::{BodyBox, Car, ContactHeight, Corner, friction, relaxation, sourced};
use crate::vehicle_file::round_digits;
use crate::{Import, yaml};
use schemars::JsonSchema;
use serde::Deserialize;
use skidpad_spec::spec::{Inertia, Tyre};

/// Travel from rest in both directions (m). The sets have no stops; this estimate is not reached.
const ESTIMATED_TRAVEL_M: f64 = 0.25;
/// Estimated relaxation length of the tyres (m). The tyres of the source have none.
const RELAXATION_LENGTH_M: f64 = 0.02;

/// What is taken from a parameter set, in its SI units.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[allow(non_snake_case, reason = "CommonRoad's parameter names")]
pub(crate) struct Parameters {
    /// Length, m.
    #[schemars(range(min = 0.001, max = 100))]
    l: f64,
    /// Width, m.
    #[schemars(range(min = 0.001, max = 100))]
    w: f64,
    /// Angles and rates.
    steering: Steering,
    /// Limits of acceleration.
    longitudinal: Longitudinal,
    /// Whole mass, kg.
    #[schemars(range(min = 0.001, max = 1e7))]
    m: f64,
    /// Sprung mass, kg.
    #[schemars(range(min = 0.001, max = 1e7))]
    m_s: f64,
    /// Unsprung mass of the front axle, kg.
    #[schemars(extend("exclusiveMinimum" = 0))]
    m_uf: f64,
    /// Unsprung mass of the rear axle, kg.
    #[schemars(extend("exclusiveMinimum" = 0))]
    m_ur: f64,
    /// Front axle ahead of the centre of mass, m.
    #[schemars(range(min = 0.001, max = 100))]
    a: f64,
    /// Rear axle behind it, m.
    #[schemars(range(min = 0.001, max = 100))]
    b: f64,
    /// Roll inertia of the sprung mass, kg m².
    #[schemars(extend("exclusiveMinimum" = 0))]
    I_Phi_s: f64,
    /// Pitch inertia of the sprung mass, kg m².
    #[schemars(extend("exclusiveMinimum" = 0))]
    I_y_s: f64,
    /// Yaw inertia of the whole car, kg m².
    #[schemars(extend("exclusiveMinimum" = 0))]
    I_z: f64,
    /// Product of inertia of the sprung mass, kg m².
    #[serde(default)]
    I_xz_s: f64,
    /// Front spring of a wheel, N/m.
    #[schemars(extend("exclusiveMinimum" = 0))]
    K_sf: f64,
    /// Front damper of a wheel, N s/m.
    #[schemars(range(min = 0))]
    K_sdf: f64,
    /// Rear spring of a wheel, N/m.
    #[schemars(extend("exclusiveMinimum" = 0))]
    K_sr: f64,
    /// Rear damper of a wheel, N s/m.
    #[schemars(range(min = 0))]
    K_sdr: f64,
    /// Front track, m.
    #[schemars(range(min = 0.001, max = 100))]
    T_f: f64,
    /// Rear track, m.
    #[schemars(range(min = 0.001, max = 100))]
    T_r: f64,
    /// Front auxiliary roll stiffness, negative, N m/rad.
    #[serde(default)]
    #[schemars(range(max = 0))]
    K_tsf: f64,
    /// Rear auxiliary roll stiffness, negative, N m/rad.
    #[serde(default)]
    #[schemars(range(max = 0))]
    K_tsr: f64,
    /// Vertical rate of a tyre, N/m.
    #[schemars(extend("exclusiveMinimum" = 0))]
    K_zt: f64,
    /// Height of the centre of the whole mass, m.
    #[schemars(range(min = 0.001, max = 100))]
    h_cg: f64,
    /// Height of the centre of the sprung mass, m.
    #[schemars(range(min = 0.001, max = 100))]
    h_s: f64,
    /// Height of the roll axis above the ground at the front, m.
    #[serde(default)]
    #[schemars(range(min = -2, max = 2))]
    h_raf: f64,
    /// The same at the rear.
    #[serde(default)]
    #[schemars(range(min = -2, max = 2))]
    h_rar: f64,
    /// Lateral rate between body and each axle, N/m; 0 where they are rigid.
    #[serde(default)]
    #[schemars(range(min = 0))]
    K_ras: f64,
    /// The same of the damper, N s/m.
    #[serde(default)]
    #[schemars(range(min = 0))]
    K_rad: f64,
    /// Roll inertia of the front axle, kg m².
    #[serde(default)]
    #[schemars(range(min = 0))]
    I_uf: f64,
    /// Roll inertia of the rear axle, kg m².
    #[serde(default)]
    #[schemars(range(min = 0))]
    I_ur: f64,
    /// Spin inertia of a wheel, kg m².
    #[schemars(extend("exclusiveMinimum" = 0))]
    I_y_w: f64,
    /// Radius of a wheel, m.
    #[schemars(range(min = 0.001, max = 100))]
    R_w: f64,
    /// Share of the front brakes.
    #[schemars(range(min = 0, max = 1))]
    T_sb: f64,
    /// Share of the front drive.
    #[schemars(range(min = 0, max = 1))]
    T_se: f64,
    /// Tyre, from the file of its own that the models add. Absent: the one they come with.
    tire: Option<Tire>,
}

/// Angles and rates.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Steering {
    /// Largest angle, rad.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 1.5))]
    max: f64,
    /// Largest rate, rad/s.
    #[schemars(extend("exclusiveMinimum" = 0))]
    v_max: f64,
}

/// Limits of acceleration.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Longitudinal {
    /// Largest acceleration, both ways, m/s².
    #[schemars(extend("exclusiveMinimum" = 0))]
    a_max: f64,
}

/// What is taken of the Magic Formula: its slopes and peaks. The formula has no load terms there.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
struct Tire {
    /// Friction along.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 20))]
    p_dx1: f64,
    /// Slip stiffness per load.
    #[schemars(extend("exclusiveMinimum" = 0))]
    p_kx1: f64,
    /// Friction across.
    #[schemars(extend("exclusiveMinimum" = 0, "maximum" = 20))]
    p_dy1: f64,
    /// Cornering stiffness per load, negative.
    #[schemars(extend("exclusiveMaximum" = 0))]
    p_ky1: f64,
}

/// Default tyre of the models, from the ADAMS handbook.
const DEFAULT_TIRE: Tire = Tire { p_dx1: 1.1739, p_kx1: 22.303, p_dy1: 1.0489, p_ky1: -21.92 };

/// Keys of the source that are not imported or imported with another meaning, with the text of their note.
const KEYS_WITH_NOTES: [(&str, &str); 7] = [
    ("K_lt", "lateral compliance of tyre and suspension: not modelled"),
    ("D_f", "camber over travel: not imported, wheels stay upright"),
    ("D_r", "camber over travel: not imported, wheels stay upright"),
    ("E_f", "camber over travel, second order: not imported, wheels stay upright"),
    ("E_r", "camber over travel, second order: not imported, wheels stay upright"),
    ("I_xz_s", "product of inertia of the sprung mass: used for the whole car"),
    ("longitudinal.v_max", "a speed limit: not imported, it belongs to the driver"),
];

/// Reads a multi-body parameter set. A set of the kinematic model, which has no masses, is a fault. Keys that are not
/// read become notes, except those in the tables `steering`, `longitudinal` and `tire`. A key of [`KEYS_WITH_NOTES`]
/// with a value other than 0 has a note of its own. A missing tyre and the estimated travel and relaxation lengths add
/// notes. A sprung mass that is not below the whole mass is a fault. Returns `None` after a fault.
pub(crate) fn read(import: &mut Import<'_>) -> Option<Car> {
    let tree = yaml::parse_document(import.text, 0, import)?;
    if tree.get("m").is_none() && tree.get("a").is_some() {
        let help = "sets 1 to 3 have them; set 4 is only for the kinematic model with a trailer";
        import.add_fault("", "a kinematic parameter set, without masses and springs", "a multi-body set", help);
        return None;
    }
    // Unknown keys are collected in `skipped_keys` instead of being reported as faults.
    import.collector.skips_unknown_keys = true;
    let parameters: Parameters = import.deserialize_tree(&tree)?;
    import.collector.skipped_keys.retain(|(path, _)| {
        let has_note = KEYS_WITH_NOTES.iter().any(|(name, _)| name == path);
        !has_note && !path.starts_with("steering.") && !path.starts_with("longitudinal.") && !path.starts_with("tire.")
    });
    for (name, text) in KEYS_WITH_NOTES {
        // Follows a name with dots into nested tables.
        let value_node = name.split('.').try_fold(&tree, |node, key| node.get(key));
        if let Some(node) = value_node.filter(|node| node.number().is_some_and(|v| v != 0.0)) {
            // The note needs the place of a key that no type contains.
            import.collector.store_span(name, node.span.clone());
            import.add_note(name, text);
        }
    }
    if parameters.m_s >= parameters.m {
        let found = format!("{} kg with a whole mass of {} kg", parameters.m_s, parameters.m);
        import.add_fault("m_s", found, "a sprung mass below the whole mass `m`", "the axles have the rest of the mass");
        return None;
    }
    if parameters.tire.is_none() {
        import.add_note("", "no tyre in the set: the default tyre of the models is used (p_dx1, p_kx1, p_dy1, p_ky1)");
    }
    import.add_note("", "bump stops and relaxation lengths are estimates: the source has none");
    Some(convert_parameters(&parameters))
}

/// Converts a parameter set to the neutral car: mass, centre of mass and inertia of sprung mass and axles together,
/// collision box, four wheels, steering lock and rate. There is no engine and no body shape; the wheels have drive
/// torques. The origin of all positions is on the ground below the centre of mass. The collision box has the length and
/// the width of the set and is centred between the axles; its ground clearance of 0.15 m and its height of 1.2 m are
/// estimates. The texts beside the numbers name their origin in the source.
fn convert_parameters(parameters: &Parameters) -> Car {
    // Order: front left, front right, rear left, rear right.
    let wheels = [true, false]
        .into_iter()
        .flat_map(|is_front| [0.5, -0.5].map(|side_factor| convert_wheel(parameters, is_front, side_factor)));
    Car {
        name: "CommonRoad vehicle".into(),
        description: "Imported from a parameter set of the CommonRoad vehicle models, as a rigid body on four wheels."
            .into(),
        mass: sourced(parameters.m, "m"),
        centre: [0.0, 0.0, parameters.h_cg],
        centre_source: "h_cg of the whole mass".into(),
        inertia: Some((common_inertia(parameters), "sprung mass and axles about the common centre of mass".into())),
        boxes: Vec::new(),
        // Collision box; the height of its centre is clearance plus half its height.
        hull: Some(BodyBox {
            centre: [0.5 * (parameters.a - parameters.b), 0.0, 0.15 + 0.6],
            size: [parameters.l, parameters.w, 1.2],
        }),
        wheels: wheels.collect(),
        lock: sourced(parameters.steering.max.to_degrees(), format!("steering.max {} rad", parameters.steering.max)),
        steer_rate: Some(sourced(
            parameters.steering.v_max.to_degrees(),
            format!("steering.v_max {} rad/s", parameters.steering.v_max),
        )),
        engine: None,
        raycast_reference: None,
    }
}

/// Computes the inertia of sprung mass and axles together about their common centre of mass (kg m²) by the
/// parallel-axis theorem. The height of the centre of the axles follows from the heights of sprung and whole mass. Roll
/// inertia: that of the sprung mass and of both axles. Pitch inertia: that of the sprung mass, and the masses of the
/// axles at their longitudinal distances. Both include the term of the different heights. Yaw inertia and product of
/// inertia are copied from the set.
fn common_inertia(parameters: &Parameters) -> Inertia {
    // Mass of both axles, kg.
    let axle_mass = parameters.m - parameters.m_s;
    // Height of the centre of the axles above the ground, m.
    let axle_height = (parameters.m * parameters.h_cg - parameters.m_s * parameters.h_s) / axle_mass;
    // Contribution of the different heights to roll and pitch inertia, kg m².
    let height_term = parameters.m_s * (parameters.h_s - parameters.h_cg).powi(2)
        + axle_mass * (axle_height - parameters.h_cg).powi(2);
    Inertia {
        roll_kg_m2: round_digits(parameters.I_Phi_s + parameters.I_uf + parameters.I_ur + height_term),
        // The axles lie `a` ahead of the centre of mass and `b` behind it.
        pitch_kg_m2: round_digits(
            parameters.I_y_s
                + parameters.m_uf * parameters.a.powi(2)
                + parameters.m_ur * parameters.b.powi(2)
                + height_term,
        ),
        yaw_kg_m2: round_digits(parameters.I_z),
        roll_yaw_kg_m2: round_digits(parameters.I_xz_s),
    }
}

/// Converts a wheel of the front (`is_front`) or the rear axle. `side_factor` is 0.5 for the left and −0.5 for
/// the right wheel, a factor on the track. The contact point at rest is on the ground, with an estimated travel of
/// ±[`ESTIMATED_TRAVEL_M`].
///
/// The tyre is linear in slip with stiffnesses proportional to load. The anti-roll rate is the auxiliary roll stiffness
/// over the squared track (N/m). Brake and drive torques follow from the force of the largest acceleration, distributed
/// by `T_sb` and `T_se`. Both axles are solid, with roll centre, lateral compliance and unsprung mass. Only the front
/// wheels steer.
fn convert_wheel(parameters: &Parameters, is_front: bool, side_factor: f64) -> Corner {
    // Select the value of the front (`f`) or the rear axle (`r`).
    let select = |f: f64, r: f64| if is_front { f } else { r };
    let select_name = |f: &str, r: &str| if is_front { f.to_owned() } else { r.to_owned() };
    // The source states the roll stiffness as a negative number.
    let (track, roll_stiffness) = (select(parameters.T_f, parameters.T_r), -select(parameters.K_tsf, parameters.K_tsr));
    let tire = parameters.tire.as_ref().unwrap_or(&DEFAULT_TIRE);
    // Torque of all wheels together at the largest acceleration, N m.
    let total_torque = parameters.longitudinal.a_max * parameters.m * parameters.R_w;
    // Share of one wheel of this axle.
    let wheel_share = |front_share: f64| 0.5 * select(front_share, 1.0 - front_share);
    let damping = sourced(select(parameters.K_sdf, parameters.K_sdr), select_name("K_sdf", "K_sdr"));
    Corner {
        path: select_name("T_f", "T_r"),
        position: [select(parameters.a, -parameters.b), side_factor * track],
        contact: ContactHeight::AtRest(0.0),
        contact_range: [ESTIMATED_TRAVEL_M, -ESTIMATED_TRAVEL_M],
        contact_range_source: "not reached: the source has no bump stops".into(),
        radius: sourced(parameters.R_w, "R_w"),
        spin_inertia: sourced(parameters.I_y_w, "I_y_w"),
        rate: sourced(select(parameters.K_sf, parameters.K_sr), select_name("K_sf", "K_sr")),
        bump: damping.clone(),
        rebound: damping,
        tyre: Tyre::LinearPerLoad {
            slip_stiffness_per_load: tire.p_kx1,
            cornering_stiffness_per_rad: -tire.p_ky1,
            relaxation: relaxation(RELAXATION_LENGTH_M),
            friction: friction([tire.p_dx1, tire.p_dy1]),
        },
        tyre_source: "slopes and peaks of the Magic Formula: p_kx1, -p_ky1, p_dx1, p_dy1".into(),
        steer_share: f64::from(is_front),
        brake: sourced(total_torque * wheel_share(parameters.T_sb), "longitudinal.a_max × m × R_w by T_sb"),
        handbrake: sourced(0.0, ""),
        drive_torque: sourced(total_torque * wheel_share(parameters.T_se), "longitudinal.a_max × m × R_w by T_se"),
        anti_roll_rate: sourced(roll_stiffness / (track * track), select_name("-K_tsf / T_f²", "-K_tsr / T_r²")),
        is_on_solid_axle: true,
        roll_centre: Some(sourced(select(parameters.h_raf, parameters.h_rar), select_name("h_raf", "h_rar"))),
        lateral_compliance: (parameters.K_ras > 0.0)
            .then(|| [sourced(parameters.K_ras, "K_ras"), sourced(parameters.K_rad, "K_rad")]),
        force_point: None,
        toe_camber: None,
        unsprung: Some([
            sourced(0.5 * select(parameters.m_uf, parameters.m_ur), select_name("m_uf / 2", "m_ur / 2")),
            sourced(parameters.K_zt, "K_zt"),
        ]),
        rolling_resistance: None,
    }
}
