//! Reports of faults: all faults at once, each at its place, none twice.

use skidpad_spec::FaultKind::{self, *};
use skidpad_spec::{LoadedVehicle, MAX_COLLECTED_FAULTS, VehicleSpec, shipped};

/// Checks a file with ten different faults. Half of them could make a reader stop or miss other faults.
#[test]
fn ten_faults_are_ten_faults() {
    let text = include_str!("files/ten_faults.toml");
    let faults = VehicleSpec::read("ten_faults.toml", text).expect_err("has faults");
    let found: Vec<_> = faults.list().iter().map(|f| (f.line, f.column, f.kind, f.path.as_str())).collect();
    let expected = [
        (8, 11, Syntax, "chassis.mass_kg"),
        (10, 1, UnknownKey, "chassis.centre_abvoe_ground_m"),
        (21, 1, MissingKey, "axles[0].wheel_radius_m"),
        (31, 16, WrongType, "axles[0].suspension.rate_n_per_m"),
        (34, 17, OutOfRange, "axles[0].suspension.bump_travel_m"),
        (43, 8, Contradiction, "axles[1].tyre"),
        (56, 9, OutOfRange, "tyres.front.model"),
        (105, 13, Contradiction, "powertrain.engine.torque_curve[4].rpm"),
        (128, 16, OutOfRange, "powertrain.gearbox.shift_time_s"),
        (133, 16, Contradiction, "powertrain.differential.torque_split"),
    ];
    assert_eq!(found, expected);
    insta::assert_snapshot!(faults.render());
}

/// `Debug`, which `unwrap` prints, is the report: it names the fault and does not contain the whole file.
#[test]
fn debug_of_faults_is_their_report() {
    let text = shipped::find("corvette_c5").expect("shipped").replacen("mass_kg = ", "mass_kg = -", 1);
    let faults = LoadedVehicle::read("car.toml", &text).expect_err("a negative mass");
    let debug = format!("{faults:?}");
    assert_eq!(debug, faults.to_text());
    assert!(debug.contains("mass_kg") && debug.len() < 1000, "{debug}");
}

/// Text to replace, its replacement, and kind and path of the resulting fault.
type Row = (&'static str, &'static str, FaultKind, &'static str);

/// Checks that a shipped vehicle with one text replaced has exactly one fault, at the replacement or a few lines above.
#[track_caller]
fn check(vehicle: &str, rows: &[Row]) {
    let text = shipped::find(vehicle).expect("shipped");
    for (from, to, kind, path) in rows {
        let at = text.find(from).unwrap_or_else(|| panic!("{vehicle} has no `{from}`"));
        let changed = text.replacen(from, to, 1);
        let faults = match LoadedVehicle::read(vehicle, &changed) {
            Err(faults) => faults,
            Ok(_) => panic!("`{to}` passed"),
        };
        let found: Vec<_> = faults.list().iter().map(|f| (f.kind, f.path.as_str())).collect();
        assert_eq!(found, [(*kind, *path)], "`{to}`\n{}", faults.render());
        let fault = &faults.list()[0];
        assert!(fault.line > 1, "a fault without a place: {fault:?}");
        let first = 1 + text[..at].matches('\n').count();
        // The header of the table with the fault may be a few lines above.
        let near = first.saturating_sub(6)..=first + to.matches('\n').count();
        let removed = *kind == MissingKey || to.is_empty();
        assert!(removed || near.contains(&fault.line) || fault.contradicted_span.is_some(), "`{to}`: {fault:?}");
        assert!(!fault.found.is_empty() && !fault.accepts.is_empty(), "{fault:?}");
    }
}

/// Checks that links have only one height of lateral forces, need two wheels, and are not so steep that lateral forces
/// lock them.
#[test]
fn roll_centres_are_between_two_wheels() {
    const HEIGHT: &str = "axles[0].roll_centre_height_m";
    let twice = "roll_centre_height_m = 0.1\nforce_application_height_m = 0.1\nackermann = 1 ";
    check(
        "corvette_c5",
        &[
            ("ackermann = 1 ", "roll_centre_height_m = 0.64\nackermann = 1 ", Contradiction, HEIGHT),
            ("ackermann = 1 ", "roll_centre_height_m = -0.64\nackermann = 1 ", Contradiction, HEIGHT),
            ("ackermann = 1 ", "roll_centre_height_m = 2.1\nackermann = 1 ", OutOfRange, HEIGHT),
            ("ackermann = 1 ", twice, Contradiction, HEIGHT),
        ],
    );
    let text = shipped::find("corvette_c5").expect("shipped");
    let alone = text.replacen("anti_roll_bar = { rate_n_per_m = 19000 }", "", 1).replacen(
        "track_m = 1.575",
        "roll_centre_height_m = 0.1",
        1,
    );
    let faults = VehicleSpec::read("alone.toml", &alone).expect_err("a wheel in the middle does not roll");
    let found: Vec<_> = faults.list().iter().map(|f| (f.kind, f.path.as_str())).collect();
    assert_eq!(found, [(Contradiction, HEIGHT)], "{}", faults.render());
}

/// Checks that axles deflect laterally by a small part of their track only, because the model does not move the wheel
/// loads with them.
#[test]
fn axles_give_way_by_little() {
    const RATE: &str = "axles[0].lateral_compliance.lateral_stiffness_n_per_m";
    const DAMPING: &str = "axles[0].lateral_compliance.damping_n_s_per_m";
    let soft = "lateral_compliance = { lateral_stiffness_n_per_m = 70000 }\nackermann = 1 ";
    let none = "lateral_compliance = { lateral_stiffness_n_per_m = 0 }\nackermann = 1 ";
    let missing = "lateral_compliance = { damping_n_s_per_m = 1 }\nackermann = 1 ";
    let backwards = "lateral_compliance = { lateral_stiffness_n_per_m = 2e5, damping_n_s_per_m = -1 }\nackermann = 1 ";
    check(
        "corvette_c5",
        &[
            ("ackermann = 1 ", soft, Contradiction, RATE),
            ("ackermann = 1 ", none, OutOfRange, RATE),
            ("ackermann = 1 ", missing, MissingKey, RATE),
            ("ackermann = 1 ", backwards, OutOfRange, DAMPING),
        ],
    );
}

/// Checks the compliance of the steering linkage of a car with steering axes: its least stiffness, trails that turn the
/// wheels into the turn, missing steering axes, and tyres without slip stiffness on a steered axle.
#[test]
fn steering_linkages_yield_by_little() {
    const STIFFNESS: &str = "steering.compliance.stiffness_nm_per_deg";
    // 0.05 m of trails; the front wheels of the Civic carry about 4.1 kN: 41 N m per degree or more.
    let soft = "[steering.compliance]\nstiffness_nm_per_deg = 35\n[steering.kingpin]";
    let none = "[steering.compliance]\nstiffness_nm_per_deg = 0\n[steering.kingpin]";
    let missing = "[steering.compliance]\ntime_constant_s = 0.1\n[steering.kingpin]";
    let slow = "[steering.compliance]\nstiffness_nm_per_deg = 300\ntime_constant_s = -1\n[steering.kingpin]";
    let ahead = "[steering.compliance]\nstiffness_nm_per_deg = 300\n[steering.kingpin]\ntrail_m = -0.05";
    check(
        "honda_civic_2016",
        &[
            ("[steering.kingpin]", soft, Contradiction, STIFFNESS),
            ("[steering.kingpin]", none, OutOfRange, STIFFNESS),
            ("[steering.kingpin]", missing, MissingKey, STIFFNESS),
            ("[steering.kingpin]", slow, OutOfRange, "steering.compliance.time_constant_s"),
            ("[steering.kingpin]\ntrail_m = 0.02", ahead, Contradiction, "steering.kingpin.trail_m"),
        ],
    );
    let given = "[steering]\ncompliance = { stiffness_nm_per_deg = 300 }";
    check("corvette_c5", &[("[steering]", given, MissingKey, "steering.kingpin")]);
    let text = shipped::find("honda_civic_2016").expect("shipped");
    let given = "[steering.compliance]\nstiffness_nm_per_deg = 300\n[steering.kingpin]";
    let compliant = text.replacen("[steering.kingpin]", given, 1);
    assert!(VehicleSpec::read("compliant", &compliant).is_ok());
    // Trails of 0.05 m and a scrub radius of 0.15 m are a lever of 0.158 m: 132 N m per degree or more. The scrub radius
    // alone would need 126.
    for (stiffness, is_valid) in [(128, false), (135, true)] {
        let given = format!("[steering.compliance]\nstiffness_nm_per_deg = {stiffness}\n[steering.kingpin]");
        let braked = text.replacen("[steering.kingpin]", &given, 1);
        let braked = braked.replacen("scrub_radius_m = -0.005", "scrub_radius_m = 0.15", 1);
        let faults = VehicleSpec::read("braked", &braked).err();
        let found: Vec<_> = faults.iter().flat_map(|faults| faults.list()).map(|f| (f.kind, f.path.as_str())).collect();
        assert_eq!(found, if is_valid { vec![] } else { vec![(Contradiction, STIFFNESS)] }, "{stiffness}");
    }
    let dry = "[tyres.dry]\nmodel = \"coulomb\"\ndeflection_m = 0.005\nlongitudinal_friction = 1\n\
               lateral_friction = 1\nnominal_load_n = 4000\n";
    let dry = compliant.replacen("tyre = \"front\"", "tyre = \"dry\"", 1) + "\n" + dry;
    let faults = VehicleSpec::read("dry", &dry).expect_err("dry friction");
    let found: Vec<_> = faults.list().iter().map(|f| (f.kind, f.path.as_str())).collect();
    assert_eq!(found, [(Contradiction, "axles[0].tyre")], "{}", faults.render());
}

/// Checks that a solid axle needs two wheels.
#[test]
fn a_solid_axle_has_two_wheels() {
    let text = shipped::find("corvette_c5").expect("shipped");
    let alone = text.replacen("anti_roll_bar = { rate_n_per_m = 19000 }", "", 1).replacen(
        "track_m = 1.575",
        "solid_axle = true",
        1,
    );
    let faults = VehicleSpec::read("one wheel", &alone).and_then(|spec| spec.compile()).expect_err("has one wheel");
    let found: Vec<_> = faults.list().iter().map(|f| (f.kind, f.path.as_str())).collect();
    assert_eq!(found, [(Contradiction, "axles[0].solid_axle")], "{}", faults.render());
}

/// Faults of a full trailer: in keys of its dolly, and in keys that connect dolly and trailer.
const DOLLY: &[Row] = &[
    ("drawbar_length_m = 1.9", "", MissingKey, "dolly.drawbar_length_m"),
    ("drawbar_length_m = 1.9", "drawbar_length_m = 0", OutOfRange, "dolly.drawbar_length_m"),
    ("eye_above_ground_m = 0.45", "eye_above_ground_m = \"low\"", WrongType, "dolly.eye_above_ground_m"),
    ("roll_rate_n_m_per_rad = 5e5", "", MissingKey, "dolly.turntable.roll_rate_n_m_per_rad"),
    ("yaw_friction_nm = 60", "breaking_force_n = 60", UnknownKey, "dolly.turntable.breaking_force_n"),
    ("mass_kg = 250", "mass_kg = -250", OutOfRange, "dolly.chassis.mass_kg"),
    ("pitch_kg_m2 = 110", "pitch_kg_m2 = 1100", Contradiction, "dolly.chassis.inertia.pitch_kg_m2"),
    (
        "above_ground_m = 0.55\n\n[[dolly",
        "above_ground_m = 0.05\n\n[[dolly",
        Contradiction,
        "dolly.chassis.hull.above_ground_m",
    ),
    (
        "tyre = \"trailer\"\nbrake_torque_nm = 1450\nhandbrake_torque_nm = 1100\n\n[dolly",
        "tyre = \"trail\"\n\n[dolly",
        Contradiction,
        "dolly.axles[0].tyre",
    ),
    (
        "rate_n_per_m = 52000",
        "rate_n_per_m = 52000\nride_frequency_hz = 1.6",
        Contradiction,
        "dolly.axles[0].suspension.ride_frequency_hz",
    ),
    (
        "[dolly.axles.suspension]",
        "[dolly.axles.unsprung]\nmass_kg = 540\ntyre_rate_n_per_m = 2e5\n[dolly.axles.suspension]",
        Contradiction,
        "dolly.axles[0].unsprung.mass_kg",
    ),
    ("brakes = { model = \"overrun\", full", "brakes = { model = \"overun\", full", OutOfRange, "dolly.brakes.model"),
    ("axle_m = -1.25 ", "axle_m = 0.25 ", Contradiction, "chassis.centre_behind_front_axle_m"),
    ("[coupler]\nbehind_front_axle_m = -2.6 ", "[cupler]\nbehind_front_axle_m = -2.6 ", UnknownKey, "cupler"),
];

/// Checks that a dolly has the rules of any vehicle, with the load on its turntable.
#[test]
fn dollies_are_vehicles() {
    check("wagon", DOLLY);
    // The unsprung mass of 540 kg in `DOLLY` exceeds the 529 kg that a wheel of the dolly carries with the load on the turntable.
    let text = shipped::find("wagon").expect("shipped");
    let steered = text.replacen("[dolly.axles.suspension]", "steer_ratio = 1\n[dolly.axles.suspension]", 1);
    let without = text.replacen("[coupler]\nbehind_front_axle_m = -2.6", "[hitch]\nbehind_front_axle_m = 2.6", 1);
    let without = without.replacen("brakes = { model = \"pedal\" }", "", 1);
    for (text, kind, path) in [(steered, Contradiction, "dolly.axles[0].steer_ratio"), (without, MissingKey, "coupler")]
    {
        let faults = VehicleSpec::read("wagon.toml", &text).expect_err("it has a fault");
        let found: Vec<_> = faults.list().iter().map(|f| (f.kind, f.path.as_str())).collect();
        assert_eq!(found, [(kind, path)], "{}", faults.render());
        assert!(faults.list()[0].line > 1);
    }
}

/// Checks that the faults of a dolly are reported together with those of its trailer.
#[test]
fn faults_of_a_dolly_come_with_those_of_its_trailer() {
    let text = shipped::find("wagon").expect("shipped");
    let rows: [&Row; 6] = [&DOLLY[0], &DOLLY[4], &DOLLY[6], &DOLLY[7], &DOLLY[9], &DOLLY[11]];
    let wrong = rows.iter().fold(text.replacen("mass_kg = 1750", "mass_kg = 1750\nmass_lb = 1", 1), |text, row| {
        text.replacen(row.0, row.1, 1)
    });
    let faults = VehicleSpec::read("wagon.toml", &wrong).expect_err("it has seven faults");
    let mut found: Vec<_> = faults.list().iter().map(|f| (f.kind.code(), f.path.as_str())).collect();
    let mut known: Vec<_> =
        rows.iter().map(|row| (row.2.code(), row.3)).chain([("unknown_key", "chassis.mass_lb")]).collect();
    found.sort_unstable();
    known.sort_unstable();
    assert_eq!(found, known, "{}", faults.render());
}

/// Syntax faults in the file of the Corvette. Each affects one statement.
const TEXT: &[Row] = &[
    ("centre_above_ground_m = 0.447", "centre_above_ground_m = ", Syntax, "chassis.centre_above_ground_m"),
    ("centre_above_ground_m = 0.447", "centre_above_ground_m 0.447", Syntax, "chassis.centre_above_ground_m"),
    ("centre_above_ground_m = 0.447", "centre_above_ground_m = 0.447 m", Syntax, "chassis.centre_above_ground_m"),
    ("centre_above_ground_m = 0.447", "centre_above_ground_m = 0,447", Syntax, "chassis.centre_above_ground_m"),
    ("centre_above_ground_m = 0.447", "centre_above_ground_m = \"0.447", Syntax, "chassis.centre_above_ground_m"),
    ("mass_kg = 1545", "mass_kg = 1545\nmass_kg = 1500", Syntax, "chassis.mass_kg"),
    ("[aero]", "[aero", Syntax, "aero"),
    ("[steering]", "steering]", Syntax, "steering"),
    ("[powertrain.gearbox]", "[powertrain.gearbox", Syntax, "powertrain.gearbox"),
    ("[tyres.rear]", "[tyres.rear", Syntax, "tyres.rear"),
    ("[axles.suspension]", "[axles.suspension", Syntax, "axles[0].suspension"),
    ("{ rpm = 2500, torque_nm", "{ rpm = 2500 torque_nm", Syntax, "powertrain.engine.torque_curve"),
    ("roll_kg_m2 = 480, pitch", "roll_kg_m2 = 480 pitch", Syntax, "chassis.inertia"),
    ("0.74, 0.50]", "0.74, 0.50", Syntax, "powertrain.gearbox.forward"),
];

/// Faults of keys, types and ranges in the file of the Corvette.
const KEYS: &[Row] = &[
    ("mass_kg = 1545", "mass_lb = 3406", UnknownKey, "chassis.mass_lb"),
    ("[steering]", "colour = \"red\"\n[steering]", UnknownKey, "tyres.rear.colour"),
    ("tyre = \"front\"", "tire = \"front\"", UnknownKey, "axles[0].tire"),
    ("mass_kg = 1545 ", "", MissingKey, "chassis.mass_kg"),
    ("model = \"engine\"", "", MissingKey, "powertrain.model"),
    ("mass_kg = 1545", "mass_kg = true", WrongType, "chassis.mass_kg"),
    ("mass_kg = 1545", "mass_kg = 2026-01-01", WrongType, "chassis.mass_kg"),
    ("tyre = \"front\"", "tyre = 1", WrongType, "axles[0].tyre"),
    ("model = \"engine\"", "model = 1", WrongType, "powertrain.model"),
    ("inertia = {", "inertia = 3 #", WrongType, "chassis.inertia"),
    ("torque_split = [0, 1]", "torque_split = 1", WrongType, "powertrain.differential.torque_split"),
    ("[aero]", "[[couplings]]\naxles = [1.5]\n[aero]", WrongType, COUPLED),
    ("{ rpm = 1000, torque_nm = 393 }", "[1000, 393]", WrongType, "powertrain.engine.torque_curve[0]"),
    ("name = \"Chevrolet Corvette C5\"", "name = \"\"", OutOfRange, "name"),
    ("mass_kg = 1545", "mass_kg = 0", OutOfRange, "chassis.mass_kg"),
    ("mass_kg = 1545", "mass_kg = inf", OutOfRange, "chassis.mass_kg"),
    ("mass_kg = 1545", "mass_kg = 1e999", OutOfRange, "chassis.mass_kg"),
    ("mass_kg = 1545", "mass_kg = 1e-30", OutOfRange, "chassis.mass_kg"),
    ("mass_kg = 1545", "mass_kg = 99999999999999999999", OutOfRange, "chassis.mass_kg"),
    ("lock_deg = 35", "lock_deg = 90", OutOfRange, "steering.lock_deg"),
    ("efficiency = 0.85", "efficiency = 1.2", OutOfRange, "powertrain.gearbox.efficiency"),
    ("front_bias = 0.66", "front_bias = 66", OutOfRange, "brakes.front_bias"),
    ("0.74, 0.50]", "0.74, -0.50]", OutOfRange, "powertrain.gearbox.forward[5]"),
    (
        "relaxation_length_longitudinal_m = 0.10",
        "relaxation_length_longitudinal_m = 1e-9",
        OutOfRange,
        "tyres.front.relaxation_length_longitudinal_m",
    ),
    ("model = \"quadratic\"", "model = \"cubic\"", OutOfRange, "rolling_resistance.model"),
];

/// Contradictions of body and axles in the file of the Corvette.
const BODY: &[Row] = &[
    ("pitch_kg_m2 = 2350", "pitch_kg_m2 = 3000", Contradiction, "chassis.inertia.pitch_kg_m2"),
    ("2350, yaw_kg_m2 = 2500", "270, yaw_kg_m2 = 600", Contradiction, "chassis.inertia.pitch_kg_m2"),
    ("yaw_kg_m2 = 2500", "yaw_kg_m2 = 2500, roll_yaw_kg_m2 = 1200", Contradiction, PRODUCT),
    ("above_ground_m = 0.671", "above_ground_m = 0.5", Contradiction, "chassis.hull.above_ground_m"),
    ("mass_kg = 1545", "centre_left_m = 0.8\nmass_kg = 1545", Contradiction, "chassis.centre_left_m"),
    ("front_axle_m = 0\n", "front_axle_m = 0.1\n", Contradiction, "axles[0].behind_front_axle_m"),
    ("wheel_radius_m = 0.317", "wheel_radius_m = 1.6", Contradiction, "axles[0].wheel_radius_m"),
    (
        "[axles.unsprung]",
        "[axles.brake_disc]\nheat_capacity_j_per_k = 4600\nfades_from_k = 350\nfades_to_k = 340\nmin_torque_factor = 0.6\n[axles.unsprung]",
        Contradiction,
        "axles[0].brake_disc.fades_to_k",
    ),
    ("wheel_radius_m = 0.317", "tyre_size = \"245-45-17\"", Contradiction, "axles[0].tyre_size"),
    (
        "wheel_radius_m = 0.317",
        "wheel_radius_m = 0.317\ntyre_size = \"245/45R17\"",
        Contradiction,
        "axles[0].tyre_size",
    ),
    ("tyre = \"front\"", "tyre = \"wet\"", Contradiction, "axles[0].tyre"),
    ("inertia = {", "# {", MissingKey, "chassis.inertia"),
    ("track_m = 1.575", "", Contradiction, "axles[0].anti_roll_bar.rate_n_per_m"),
    ("{ rate_n_per_m = 19000 }", "{ rate_n_per_m = 1, full_travel_force_n = 1 }", Contradiction, BAR),
    ("{ rate_n_per_m = 19000 }", "{ speed_range_mps = [9, 5] }", Contradiction, FADES),
    ("bump_damping_ratio", "bump_damping_n_s_per_m = 1\nbump_damping_ratio", Contradiction, BUMP_RATIO),
    ("rate_n_per_m = 28000", "rate_n_per_m = 1\nride_frequency_hz = 1", Contradiction, FREQUENCY),
    ("anti_roll_bar = { rate_n_per_m = 19000 }", "heave_spring = { rate_n_per_m = -1 }", OutOfRange, HEAVE),
    ("droop_travel_m = 0.09", "droop_travel_m = 0.09\npreload_n = 10", Contradiction, "axles[0].suspension.preload_n"),
    ("ackermann = 1 ", "kinematics = { camber_deg_per_m = 400 }\nackermann = 1 ", Contradiction, LINKS),
    ("droop_travel_m = 0.09", "", MissingKey, "axles[0].suspension.droop_travel_m"),
    ("droop_travel_m = 0.09", "preload_n = 4000", Contradiction, "axles[0].suspension.preload_n"),
    ("rate_n_per_m = 28000", "rate_n_per_m = 28000\nprogressive_rate_n_per_m2 = 4e5", Contradiction, RISE),
    ("rate_n_per_m = 28000", "", MissingKey, "axles[0].suspension.rate_n_per_m"),
    ("nominal_load_n = 3800", "", Contradiction, "tyres.front.load_sensitivity"),
    ("asymptote_slip = 0.50", "asymptote_slip = 0.05", Contradiction, "tyres.front.longitudinal.asymptote_slip"),
    ("tyre = \"rear\"", "tyre = \"rear\"\nbrake_torque_nm = 1", Contradiction, "axles[1].brake_torque_nm"),
    ("drag_coefficient = 0.32", "", MissingKey, "aero.drag_coefficient"),
    ("frontal_area_m2 = 2.0", "", Contradiction, "aero.drag_coefficient"),
    ("[aero]", "[aero]\ndrag_n_s2_per_m2 = 1", Contradiction, "aero.drag_n_s2_per_m2"),
];

/// Contradictions of the powertrain in the file of the Corvette.
const DRIVE: &[Row] = &[
    ("rpm = 1500", "rpm = 1000", Contradiction, "powertrain.engine.torque_curve[1].rpm"),
    ("limit_rpm = 6200", "limit_rpm = 6000", Contradiction, "powertrain.gearbox.up_shift_rpm"),
    ("idle_rpm = 700", "idle_rpm = 2000", Contradiction, "powertrain.clutch.engaged_rpm"),
    ("drag_nm = 20", "stall_rpm = 900\ndrag_nm = 20", Contradiction, "powertrain.engine.stall_rpm"),
    (
        "drag_nm = 20",
        "throttle_map = [{ pedal = 1, share = 1 }]\ndrag_nm = 20",
        Contradiction,
        "powertrain.engine.throttle_map",
    ),
    (
        "[powertrain.clutch]",
        "[powertrain.converter]\npoints = [{ speed_ratio = 0, capacity_nm_s2_per_rad2 = 1, torque_ratio = 1 }, { speed_ratio = 1, capacity_nm_s2_per_rad2 = 0, torque_ratio = 1 }]\n[powertrain.clutch]",
        Contradiction,
        "powertrain.converter",
    ),
    (
        "light_throttle_up_shift_rpm = 2400",
        "light_throttle_up_shift_rpm = 6050",
        Contradiction,
        "powertrain.gearbox.light_throttle_up_shift_rpm",
    ),
    (
        "shift_time_s = 0.3",
        "continuous = { closed_rpm = 1000, full_rpm = 4000, ratio_per_s = 1 }\nshift_time_s = 0.3",
        Contradiction,
        "powertrain.gearbox.forward",
    ),
    ("down_shift_rpm = 1500", "down_shift_rpm = 6100", Contradiction, "powertrain.gearbox.up_shift_rpm"),
    ("1.30, 1.00", "1.80, 1.00", Contradiction, "powertrain.gearbox.forward[2]"),
    ("down_shift_rpm = 1500", "down_shift_rpm = 1610", Contradiction, "powertrain.gearbox.down_shift_rpm"),
    ("kick_down_rpm = 3600", "kick_down_rpm = 4020", Contradiction, "powertrain.gearbox.kick_down_rpm"),
    ("torque_split = [0, 1]", "torque_split = [1]", Contradiction, "powertrain.differential.torque_split"),
    ("torque_split = [0, 1]", "torque_split = [0.5, 0.4]", Contradiction, "powertrain.differential.torque_split"),
    ("[aero]", "[[couplings]]\naxles = [3]\n[aero]", Contradiction, COUPLED),
    (
        "[aero]",
        "[[motors]]\naxle = 3\npeak_torque_nm = 9\nlimit_rpm = 9\nreduction = 9\n[aero]",
        Contradiction,
        "motors[0].axle",
    ),
    ("[aero]", "[[motors]]\naxle = 1\npeak_torque_nm = 9\nlimit_rpm = 9\n[aero]", MissingKey, "motors[0].reduction"),
    ("[aero]", "[[couplings]]\naxles = [2, 2]\n[aero]", Contradiction, "couplings[0].axles"),
    (
        "[aero]",
        "[[couplings]]\naxles = [2]\nlocked = true\npreload_nm = 9\n[aero]",
        Contradiction,
        "couplings[0].locked",
    ),
    (
        "[aero]",
        "[[couplings]]\naxles = [2]\ntorque_bias_ratio_drive = 0.5\n[aero]",
        OutOfRange,
        "couplings[0].torque_bias_ratio_drive",
    ),
];

const COUPLED: &str = "couplings[0].axles[0]";
const PRODUCT: &str = "chassis.inertia.roll_yaw_kg_m2";
const BAR: &str = "axles[0].anti_roll_bar.full_travel_force_n";
const LINKS: &str = "axles[0].kinematics.camber_deg_per_m";
const HEAVE: &str = "axles[0].heave_spring.rate_n_per_m";
const RISE: &str = "axles[0].suspension.progressive_rate_n_per_m2";
const FADES: &str = "axles[0].anti_roll_bar.speed_range_mps";
const BUMP_RATIO: &str = "axles[0].suspension.bump_damping_ratio";
const FREQUENCY: &str = "axles[0].suspension.ride_frequency_hz";

/// Values with which no car can drive, and keys with other words or without their unit.
const UNDRIVABLE: &[Row] = &[
    ("forward = [2.66,", "forward = [1e9,", OutOfRange, "powertrain.gearbox.forward[0]"),
    ("final_drive = 3.42", "final_drive = 1e9", OutOfRange, "powertrain.gearbox.final_drive"),
    (
        "bump_damping_ratio = 0.30",
        "bump_damping_n_s_per_m = 1e9",
        Contradiction,
        "axles[0].suspension.bump_damping_n_s_per_m",
    ),
    (
        "wheel_spin_inertia_kg_m2 = 1.5",
        "wheel_spin_inertia_kg_m2 = 1e-9",
        Contradiction,
        "axles[0].wheel_spin_inertia_kg_m2",
    ),
    ("mass_kg = 1545", "mass = 1545", UnknownKey, "chassis.mass"),
    ("rate_n_per_m = 28000", "stiffness = 28000", UnknownKey, "axles[0].suspension.stiffness"),
    ("front_bias = 0.66", "bias = 0.66", UnknownKey, "brakes.bias"),
    ("forward = [", "gears = [", UnknownKey, "powertrain.gearbox.gears"),
    ("capacity_nm = 700", "capacity = 700", UnknownKey, "powertrain.clutch.capacity"),
];

#[test]
fn a_car_that_cannot_drive_is_refused() {
    check("corvette_c5", UNDRIVABLE);
    let idle =
        shipped::find("bullet_reference").expect("shipped").replace("front_axle_m = 1.35", "front_axle_m = 0.0001");
    let faults = VehicleSpec::read("idle", &idle).expect_err("its rear wheels carry nothing");
    assert!(
        faults.list().iter().any(|fault| fault.found.contains("axle 2 carries only 1.9e-5 of the weight")),
        "{}",
        faults.render()
    );
    let slope = "tyres.front.longitudinal_at_double_load.slope_n";
    check("corvette_c5_tmeasy", &[("slope_n = 156000", "slope_n = 400000", Contradiction, slope)]);
}

/// Checks that a report shows the first faults and their total number, up to the collected maximum.
#[test]
fn a_report_is_short() {
    let text = shipped::find("corvette_c5").expect("shipped");
    let strangers: String = (0..2000).map(|i| format!("stranger_{i} = {i}\n")).collect();
    let faults = VehicleSpec::read("long", &(strangers + text)).expect_err("has faults");
    assert_eq!(faults.list().len(), MAX_COLLECTED_FAULTS);
    assert_eq!(faults.to_string(), "long has 256 faults or more; the first 50 are shown");
    let shown = faults.render().matches("unknown key `").count();
    assert_eq!(shown, 50);
}

/// Checks that a report shows a window around the fault, not the whole line.
#[test]
fn a_fault_far_to_the_right_is_drawn_in_a_window() {
    let far = " ".repeat(70_000);
    let many: String = (0..40_000).map(|k| format!("k{k} = 1, ")).collect();
    for text in [format!("{far}x"), format!("{far}name = 3"), format!("chassis = {{ {many} z = 1 }}\n")] {
        let faults = VehicleSpec::read("long.toml", &text).expect_err("no vehicle");
        for report in [faults.render(), faults.to_text()] {
            assert!(report.len() < 60_000 && report.contains("long.toml:1:"), "{} bytes", report.len());
        }
    }
    let faults = VehicleSpec::read("long.toml", &format!("{far}x")).expect_err("no vehicle");
    assert!(faults.render().contains("long.toml:1:70001"), "{}", faults.render());
}

/// Checks that the text of a file cannot act on the terminal on which its faults are printed.
#[test]
fn reports_hold_no_control_characters_of_files() {
    let text = "name = 3 # \u{9b}2J\u{202e}\n\"\\u001b[2Jforged\" = 1\ntyres = \"a\\nvalid\" # \u{2066}\n";
    let faults = VehicleSpec::read("a\u{1b}[2J.toml", text).expect_err("no vehicle");
    for report in [faults.render(), faults.to_text(), faults.to_string()] {
        let bad = |c: &char| *c != '\n' && (c.is_control() || "\u{202e}\u{2066}".contains(*c));
        assert_eq!(report.chars().find(bad), None, "{report:?}");
        assert!(report.contains("a\\u001b[2J.toml"), "{report}");
    }
}

/// Checks that thousands of lists, tables and unknown keys take no more time than other texts of their length.
#[test]
fn large_files_are_read_in_time_that_grows_with_their_length() {
    let car = shipped::find("corvette_c5").expect("shipped");
    let axle = &car[car.find("[[axles]]").expect("axles")..];
    let axle = &axle[..axle[2..].find("\n[[").expect("a second axle") + 3];
    let many = |count: usize, part: &dyn Fn(usize) -> String| (0..count).map(part).collect::<String>();
    for text in [
        format!("{car}\n{}", many(4_000, &|_| axle.to_owned())),
        format!("{}{car}", many(100_000, &|k| format!("stranger_{k} = {k}\n"))),
        format!("{}a = = 1\n", many(60_000, &|k| format!("[[t{k}]]\n"))),
        format!("{car}\n{}", many(20_000, &|k| format!("[tyres.t{k}]\nmodel = \"coulomb\"\n"))),
    ] {
        let started = std::time::Instant::now();
        let faults = VehicleSpec::read("large.toml", &text).expect_err("too large");
        assert!(!faults.render().is_empty());
        assert!(started.elapsed().as_secs() < 30, "{} bytes in {:?}", text.len(), started.elapsed());
    }
}

#[test]
fn one_fault_is_one_fault() {
    for rows in [TEXT, KEYS, BODY, DRIVE] {
        check("corvette_c5", rows);
    }
    let boxes = "chassis.boxes";
    check(
        "bullet_reference",
        &[
            ("mass_kg = 1500\nlength", "mass_kg = 1300\nlength", Contradiction, boxes),
            ("front_axle_m = 1.35\nabove", "front_axle_m = 1.40\nabove", Contradiction, boxes),
            ("roll_influence = 1", "roll_influence = 1.1", OutOfRange, "raycast_reference.roll_influence"),
            ("force_n = 20000", "force_n = 0", OutOfRange, "raycast_reference.max_suspension_force_n"),
            ("max_suspension_force_n", "largest_force_n", UnknownKey, "raycast_reference.largest_force_n"),
        ],
    );
    check("unity_default", &[("[0, 400]", "[400]", Contradiction, "powertrain.wheel_torque_nm")]);
    let list = "couplings[1].axles";
    check(
        "truck_6x4",
        &[
            ("front_axle_m = 5.48", "front_axle_m = 3", Contradiction, "axles[2].behind_front_axle_m"),
            ("[aero]", "[[couplings]]\naxles = [2, 3]\n[[couplings]]\naxles = [3, 2]\n[aero]", Contradiction, list),
            (
                "front_axle_m = 4.08",
                "front_axle_m = 5\nsteer_ratio = 1\nackermann = 1",
                Contradiction,
                "axles[1].ackermann",
            ),
        ],
    );
}

/// Checks that nothing but the two faults is reported for a file with two faults.
#[test]
fn faults_make_no_noise() {
    let text = shipped::find("corvette_c5").expect("shipped");
    let rows: Vec<&Row> = [TEXT, KEYS, BODY, DRIVE].into_iter().flatten().collect();
    for (i, a) in rows.iter().enumerate() {
        let first = text.replacen(a.0, a.1, 1);
        for b in rows[i + 1..].iter().filter(|b| first.contains(b.0) && !b.0.contains(a.0) && !a.0.contains(b.0)) {
            let second = first.replacen(b.0, b.1, 1);
            let Err(faults) = LoadedVehicle::read("two", &second) else {
                // Only one pair gives a valid file: it replaces one way to state the drag by the other.
                assert!(a.3.contains("drag_") && b.3.contains("drag_"), "{a:?} {b:?}");
                continue;
            };
            for fault in faults.list() {
                let known = [a, b].iter().any(|row| (row.2, row.3) == (fault.kind, fault.path.as_str()));
                assert!(known, "{a:?} {b:?}\n{}", faults.render());
            }
        }
    }
}

/// Checks the faults of texts that are empty, not TOML, or not a vehicle.
#[test]
fn texts_that_are_no_vehicle() {
    for text in ["", "\n", "# nothing", "\u{feff}", "x", "[", "\"", "[[[[", "a.b.c = 1", "\0", "= = =\n= = =", "é = ü"]
    {
        let faults = VehicleSpec::read("odd.toml", text).expect_err("no vehicle");
        assert!(!faults.list().is_empty(), "{text:?}");
        assert!(faults.render().contains("odd.toml"), "{text:?}");
    }
}
