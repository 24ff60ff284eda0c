//! Importer for parameter sets of the CommonRoad vehicle models (Althoff, Würsching, "CommonRoad: Vehicle Models", 2020, tables 6 and 7).

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
#[allow(non_snake_case, reason = "CommonRoad's names")]
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
    ("D_f", "camber over travel: wheels stand upright here"),
    ("D_r", "camber over travel: wheels stand upright here"),
    ("E_f", "camber over travel, second order: wheels stand upright here"),
    ("E_r", "camber over travel, second order: wheels stand upright here"),
    ("I_xz_s", "product of inertia of the sprung mass: taken for the whole car"),
    ("longitudinal.v_max", "a limit of speed is the driver's here"),
];

/// Reads a multi-body parameter set. Keys that change their meaning ([`KEYS_WITH_NOTES`]) add a note if they are not 0;
/// other unread keys are remembered for notes, except those of steering, longitudinal limits and tyre. A missing tyre and
/// the estimated travel and relaxation add notes. A kinematic set without masses is a fault. Returns `None` after a
/// fault.
pub(crate) fn read(import: &mut Import<'_>) -> Option<Car> {
    let tree = yaml::parse_document(import.text, 0, import)?;
    if tree.get("m").is_none() && tree.get("a").is_some() {
        let help = "sets 1 to 3 have them; set 4 is for the kinematic model with a trailer only";
        import.add_fault("", "a kinematic parameter set, without masses and springs", "a multi-body set", help);
        return None;
    }
    import.collector.skips_unknown_keys = true;
    let given: Parameters = import.deserialize_tree(&tree)?;
    import.collector.skipped_keys.retain(|(path, _)| {
        let known = KEYS_WITH_NOTES.iter().any(|(name, _)| name == path);
        !known && !path.starts_with("steering.") && !path.starts_with("longitudinal.") && !path.starts_with("tire.")
    });
    for (name, why) in KEYS_WITH_NOTES {
        let at = name.split('.').try_fold(&tree, |node, key| node.get(key));
        if let Some(node) = at.filter(|node| node.number().is_some_and(|v| v != 0.0)) {
            import.collector.store_span(name, node.span.clone());
            import.add_note(name, why);
        }
    }
    if given.tire.is_none() {
        import.add_note("", "no tyre in the set: the one the models come with is taken (p_dx1, p_kx1, p_dy1, p_ky1)");
    }
    import.add_note("", "stops and relaxation are estimates: the source has neither");
    Some(convert_parameters(&given))
}

/// Converts a parameter set to the neutral car: mass and centre of mass of the whole car, four wheels, steering lock and
/// rate, no engine. The origin is on the ground below the centre of mass. The collision box has the length and the width
/// of the set; its ground clearance of 0.15 m and its height of 1.2 m are estimates.
fn convert_parameters(given: &Parameters) -> Car {
    let wheels = [true, false].into_iter().flat_map(|front| [0.5, -0.5].map(|side| convert_wheel(given, front, side)));
    Car {
        name: "CommonRoad vehicle".into(),
        description: "Imported from a parameter set of the CommonRoad vehicle models, as a rigid body on four wheels."
            .into(),
        mass: sourced(given.m, "m"),
        centre: [0.0, 0.0, given.h_cg],
        centre_origin: "h_cg, of the whole mass".into(),
        inertia: Some((common_inertia(given), "sprung mass and axles about the common centre".into())),
        boxes: Vec::new(),
        // Height of the centre of the box: clearance plus half its height.
        hull: Some(BodyBox { centre: [0.5 * (given.a - given.b), 0.0, 0.15 + 0.6], size: [given.l, given.w, 1.2] }),
        wheels: wheels.collect(),
        lock: sourced(given.steering.max.to_degrees(), format!("steering.max {} rad", given.steering.max)),
        steer_rate: Some(sourced(
            given.steering.v_max.to_degrees(),
            format!("steering.v_max {} rad/s", given.steering.v_max),
        )),
        engine: None,
        peers: None,
    }
}

/// Computes the inertia of sprung mass and axles about the common centre of mass (kg m²) by the parallel-axis theorem.
/// The height of the centre of the axles follows from those of the sprung and the whole mass. Roll adds the roll inertias
/// of the axles, pitch the axle masses at their longitudinal distances. Yaw inertia and the product of inertia are those
/// of the set.
fn common_inertia(given: &Parameters) -> Inertia {
    // Mass of both axles, kg.
    let own = given.m - given.m_s;
    // Height of the centre of the axles above the ground, m.
    let axles = (given.m * given.h_cg - given.m_s * given.h_s) / own;
    // Contribution of the different heights to roll and pitch inertia, kg m².
    let lifted = given.m_s * (given.h_s - given.h_cg).powi(2) + own * (axles - given.h_cg).powi(2);
    Inertia {
        roll_kg_m2: round_digits(given.I_Phi_s + given.I_uf + given.I_ur + lifted),
        pitch_kg_m2: round_digits(given.I_y_s + given.m_uf * given.a.powi(2) + given.m_ur * given.b.powi(2) + lifted),
        yaw_kg_m2: round_digits(given.I_z),
        roll_yaw_kg_m2: round_digits(given.I_xz_s),
    }
}

/// Converts a wheel of the front or the rear axle. `side` is 0.5 for the left and −0.5 for the right wheel. The contact
/// point at rest is on the ground, with an estimated travel of ±[`ESTIMATED_TRAVEL_M`].
///
/// The tyre is linear in slip with stiffnesses proportional to load. The anti-roll rate is the auxiliary roll stiffness
/// over the squared track (N/m). Brake and drive torques follow from the force of the largest acceleration, distributed
/// by `T_sb` and `T_se`. Both axles are solid, with roll centre, lateral compliance and unsprung mass. Only the front
/// wheels steer.
fn convert_wheel(given: &Parameters, front: bool, side: f64) -> Corner {
    let pick = |f: f64, r: f64| if front { f } else { r };
    let name = |f: &str, r: &str| if front { f.to_owned() } else { r.to_owned() };
    let (track, roll) = (pick(given.T_f, given.T_r), -pick(given.K_tsf, given.K_tsr));
    let tire = given.tire.as_ref().unwrap_or(&DEFAULT_TIRE);
    // Torque of all wheels together at the largest acceleration, N m.
    let force = given.longitudinal.a_max * given.m * given.R_w;
    // Share of one wheel of this axle.
    let share = |front_share: f64| 0.5 * pick(front_share, 1.0 - front_share);
    let damping = sourced(pick(given.K_sdf, given.K_sdr), name("K_sdf", "K_sdr"));
    Corner {
        path: name("T_f", "T_r"),
        position: [pick(given.a, -given.b), side * track],
        contact: ContactHeight::AtRest(0.0),
        contact_range: [ESTIMATED_TRAVEL_M, -ESTIMATED_TRAVEL_M],
        contact_range_origin: "out of reach: the source has no stops".into(),
        radius: sourced(given.R_w, "R_w"),
        spin_inertia: sourced(given.I_y_w, "I_y_w"),
        rate: sourced(pick(given.K_sf, given.K_sr), name("K_sf", "K_sr")),
        bump: damping.clone(),
        rebound: damping,
        tyre: Tyre::LinearPerLoad {
            slip_stiffness_per_load: tire.p_kx1,
            cornering_stiffness_per_rad: -tire.p_ky1,
            relaxation: relaxation(RELAXATION_LENGTH_M),
            friction: friction([tire.p_dx1, tire.p_dy1]),
        },
        tyre_origin: "the Magic Formula's slopes and peaks: p_kx1, -p_ky1, p_dx1, p_dy1".into(),
        steer_share: f64::from(front),
        brake: sourced(force * share(given.T_sb), "longitudinal.a_max × m × R_w by T_sb"),
        handbrake: sourced(0.0, ""),
        drive_torque: sourced(force * share(given.T_se), "longitudinal.a_max × m × R_w by T_se"),
        anti_roll_rate: sourced(roll / (track * track), name("-K_tsf / T_f²", "-K_tsr / T_r²")),
        is_on_solid_axle: true,
        roll_centre: Some(sourced(pick(given.h_raf, given.h_rar), name("h_raf", "h_rar"))),
        lateral_compliance: (given.K_ras > 0.0).then(|| [sourced(given.K_ras, "K_ras"), sourced(given.K_rad, "K_rad")]),
        force_point: None,
        toe_camber: None,
        unsprung: Some([
            sourced(0.5 * pick(given.m_uf, given.m_ur), name("m_uf / 2", "m_ur / 2")),
            sourced(given.K_zt, "K_zt"),
        ]),
        rolling_resistance: None,
    }
}
