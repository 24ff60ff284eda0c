//! Keys with old names: they give the same vehicle or scene, are listed in one warning, and may not stand beside the new
//! ones.

use skidpad_spec::FaultKind::{Contradiction, OutOfRange, Syntax};
use skidpad_spec::{FaultKind, LoadedScene, LoadedVehicle, OldKeys, SceneSpec, VehicleSpec, shipped};
use std::collections::BTreeSet;

/// Old and new name of each renamed key.
const RENAMED: &[(&str, &str)] = &[
    ("standing_resistance", "static_rolling_resistance"),
    ("peers", "raycast_reference"),
    ("largest_suspension_force_n", "max_suspension_force_n"),
    ("assists.lowered_centre", "non_physical.lowered_centre"),
    ("assists.angular_drag", "non_physical.angular_drag"),
    ("friction_along", "longitudinal_friction"),
    ("friction_across", "lateral_friction"),
    ("relaxation_along_m", "relaxation_length_longitudinal_m"),
    ("relaxation_across_m", "relaxation_length_lateral_m"),
    ("along", "longitudinal"),
    ("across", "lateral"),
    ("along_at_double_load", "longitudinal_at_double_load"),
    ("across_at_double_load", "lateral_at_double_load"),
    ("asymptote_share", "sliding_force_ratio"),
    ("largest_n", "peak_n"),
    ("largest_slip", "peak_slip"),
    ("guidance", "kinematics"),
    ("force_point_above_ground_m", "force_application_height_m"),
    ("anti_roll_bar_n_per_m", "anti_roll_bar.rate_n_per_m"),
    ("anti_roll_bar_share", "anti_roll_bar.roll_stiffness_share"),
    ("anti_roll_bar_n", "anti_roll_bar.full_travel_force_n"),
    ("anti_roll_bar_external", "anti_roll_bar.acts_on"),
    ("anti_roll_bar_fades_in_mps", "anti_roll_bar.speed_range_mps"),
    ("rate_n_per_m", "lateral_stiffness_n_per_m"),
    ("least_share", "min_torque_factor"),
    ("rate_rise_n_per_m2", "progressive_rate_n_per_m2"),
    ("bump_knee", "bump_blow_off"),
    ("rebound_knee", "rebound_blow_off"),
    ("above_mps", "speed_mps"),
    ("share", "slope_ratio"),
    ("front_share", "front_bias"),
    ("easy_up_shift_rpm", "light_throttle_up_shift_rpm"),
    ("axle_shares", "torque_split"),
    ("drive_bias", "torque_bias_ratio_drive"),
    ("coast_bias", "torque_bias_ratio_coast"),
    ("largest_yaw_deg", "max_yaw_deg"),
    ("largest_pitch_deg", "max_pitch_deg"),
    ("response_s", "time_constant_s"),
    ("off_below_mps", "min_speed_mps"),
    ("largest_lateral_mps2", "max_lateral_mps2"),
    ("largest_sideslip_deg", "max_sideslip_deg"),
    ("least_slip_mps", "min_slip_mps"),
    ("brake_share", "brake_authority"),
    ("until_mps", "max_speed_mps"),
    ("largest_acceleration_mps2", "max_acceleration_mps2"),
    ("authority_deg", "max_angle_deg"),
    ("fades_in_mps", "speed_range_mps"),
    ("between_mps", "speed_range_mps"),
    ("lock_share", "lock_factor"),
    ("rate_share", "rate_factor"),
    ("body", "dynamic_box"),
    ("angular_velocity_dps", "angular_velocity_deg_per_s"),
    ("motion", "kinematic"),
    ("turn_rate_dps", "turn_rate_deg_per_s"),
    ("repeats", "loop"),
    ("blend_s", "blend_time_s"),
    ("crease_deg", "smoothing_angle_deg"),
    ("texture", "roughness"),
    ("roughness_m", "peak_to_peak_m"),
];

/// Additions to a shipped car, so that it has every renamed key.
const ADDITIONS: &[(&str, &str)] = &[
    (
        "ackermann = 1 ",
        "kinematics = { toe_deg_per_m = 4 }\nforce_application_height_m = 0.1\n\
         lateral_compliance = { lateral_stiffness_n_per_m = 200000 }\nackermann = 1 ",
    ),
    ("{ rate_n_per_m = 19000 }", "{ rate_n_per_m = 19000, speed_range_mps = [5, 15], acts_on = \"chassis\" }"),
    ("{ rate_n_per_m = 11600 }", "{ roll_stiffness_share = 0.4 }"),
    (
        "[axles.suspension]\nrate_n_per_m = 28000",
        "[axles.brake_disc]\nheat_capacity_j_per_k = 4600\nfades_from_k = 350\nfades_to_k = 640\nmin_torque_factor = 0.6\n\n\
         [axles.suspension]\nprogressive_rate_n_per_m2 = 1000\nbump_blow_off = { speed_mps = 0.1, slope_ratio = 0.4 }\n\
         rebound_blow_off = { speed_mps = 0.2, slope_ratio = 0.3 }\nrate_n_per_m = 28000",
    ),
    (
        "[aero]",
        "[[couplings]]\naxles = [2]\ntorque_bias_ratio_drive = 2\ntorque_bias_ratio_coast = 1.5\n\n\
         [static_rolling_resistance]\ncoefficient = 0.03\nbelow_mps = 0.5\n\n\
         [raycast_reference]\nroll_influence = 1\nmax_suspension_force_n = 20000\n\n\
         [hitch]\nbehind_front_axle_m = 3.6\nabove_ground_m = 0.4\nmax_yaw_deg = 75\nmax_pitch_deg = 15\n\n[aero]",
    ),
];

/// New parts of texts whose old form is not only another name.
const OLD_FORMS: &[(&str, &str)] = &[
    (
        "anti_roll_bar = { rate_n_per_m = 19000, speed_range_mps = [5, 15], acts_on = \"chassis\" }",
        "anti_roll_bar_n_per_m = 19000\nanti_roll_bar_fades_in_mps = [5, 15]\nanti_roll_bar_external = true",
    ),
    ("anti_roll_bar = { roll_stiffness_share = 0.4 }", "anti_roll_bar_share = 0.4"),
    ("anti_roll_bar = { full_travel_force_n = 900 }", "anti_roll_bar_n = 900"),
    ("anti_roll_bar = { rate_n_per_m = 11600 }", "anti_roll_bar_n_per_m = 11600"),
    ("speed_range_mps = [10, 30]", "between_mps = [10, 30]"),
];

/// Scene with every renamed key.
const SCENE: &str = "
[roughness]
added_rolling_resistance = 0.01
peak_to_peak_m = 0.02

[[box]]
centre_m = [0, 0, 0]
size_m = [1, 1, 1]
roughness = { peak_to_peak_m = 0.01, wavelength_m = 2 }

[[box]]
centre_m = [5, 0, 0]
size_m = [1, 1, 1]
kinematic = { turn_rate_deg_per_s = 90 }

[[box]]
centre_m = [9, 0, 0]
size_m = [1, 1, 1]

[box.kinematic]
loop = true
blend_time_s = 0.5
way_point = [{ time_s = 0 }, { time_s = 2, displacement_m = [1, 0, 0] }, { time_s = 4 }]

[[dynamic_box]]
mass_kg = 20
centre_m = [12, 0, 5]
size_m = [1, 1, 1]
angular_velocity_deg_per_s = [0, 0, 180]

[[height_field]]
corner_m = [20, 0, 0]
spacing_m = [1, 1]
heights_m = [[0, 1], [1, 0]]
roughness = { peak_to_peak_m = 0.03 }

[[road]]
class = \"c\"
corner_m = [30, 0, 0]
length_m = 4
width_m = 2
roughness = { peak_to_peak_m = 0.04 }

[[mesh]]
corners_m = [[0, 0, 0], [1, 0, 0], [0, 1, 0]]
triangles = [[0, 1, 2]]
smoothing_angle_deg = 10
roughness = { peak_to_peak_m = 0.05 }
";

/// Returns `text` with each first part of `edits` replaced by the second one.
fn edited(text: &str, edits: &[(&str, &str)]) -> String {
    edits.iter().fold(text.to_owned(), |text, (from, to)| text.replace(from, to))
}

/// Returns `text` with the old names of all keys.
fn with_old_keys(text: &str) -> String {
    let mut old_text = edited(text, OLD_FORMS);
    for (old, new) in RENAMED {
        for [start, end] in [["\n", " ="], ["{ ", " ="], [", ", " ="], ["[", "]"], ["[box.", "]"]] {
            let [old, new] = [old, new].map(|name| format!("{start}{name}{end}"));
            // The speed range of an anti-roll bar is not a key of this form in the old text.
            old_text = old_text.replace(&new, &old);
        }
    }
    old_text
}

/// Checks the places of the keys in `old_keys` and adds their names to `found`.
fn check_places(old_keys: &OldKeys, text: &str, found: &mut BTreeSet<(&str, &str)>) {
    let lines: Vec<&str> = text.lines().collect();
    let warning = old_keys.to_string();
    assert_eq!(warning.lines().count(), 1 + old_keys.keys.len(), "{warning}");
    for key in &old_keys.keys {
        let name = key.old.rsplit('.').next().expect("a name");
        assert!(lines[key.line - 1].contains(name), "{key:?}: {}", lines[key.line - 1]);
        let told = format!("{}:{}: `{}` is now `{}`", old_keys.file, key.line, key.old, key.new);
        assert!(warning.contains(&told), "{told}: {warning}");
        found.insert((key.old, key.new));
    }
}

#[test]
fn old_keys_give_the_same_and_are_named_in_the_warning() {
    let shipped = |name: &str| shipped::find(name).expect("shipped").to_owned();
    let all = edited(&shipped("corvette_c5"), ADDITIONS) + "\n" + crate::assists::ALL;
    let newtons = [("{ rate_n_per_m = 19000 }", "{ full_travel_force_n = 900 }")];
    let tmeasy = edited(&shipped("corvette_c5_tmeasy"), &newtons);
    let mut found = BTreeSet::new();
    for text in [all, tmeasy, shipped("wagon"), shipped("toyota_4runner"), shipped("bullet_reference")] {
        let old_text = with_old_keys(&text);
        let [old, new] = [("old.toml", &old_text), ("new.toml", &text)]
            .map(|(name, text)| LoadedVehicle::read(name, text).unwrap_or_else(|faults| panic!("{}", faults.render())));
        assert!(new.old_keys.is_empty(), "{}", new.old_keys);
        assert!(!old.old_keys.is_empty());
        assert_eq!(old.spec, new.spec);
        assert_eq!(format!("{:?} {:?}", old.model, old.dolly), format!("{:?} {:?}", new.model, new.dolly));
        check_places(&old.old_keys, &old_text, &mut found);
    }
    let old_text = with_old_keys(SCENE);
    let [old, new] = [("old.toml", old_text.as_str()), ("new.toml", SCENE)]
        .map(|(name, text)| LoadedScene::read(name, text).unwrap_or_else(|faults| panic!("{}", faults.render())));
    assert!(new.old_keys.is_empty(), "{}", new.old_keys);
    assert_eq!(old.spec, new.spec);
    assert_eq!(format!("{:?}", old.scene), format!("{:?}", new.scene));
    check_places(&old.old_keys, &old_text, &mut found);
    assert_eq!(found, RENAMED.iter().copied().collect());
}

#[test]
fn the_warning_is_one_text_with_a_line_for_each_key() {
    let text = shipped::find("bullet_reference").expect("shipped");
    let text = text.replace("[raycast_reference]", "[peers]").replace("\nfront_bias", "\nfront_share");
    let [peers, share] =
        ["[peers]", "front_share"].map(|key| 1 + text[..text.find(key).expect(key)].matches('\n').count());
    let old_keys = LoadedVehicle::read("a.toml", &text).expect("valid").old_keys;
    let expected = format!(
        "a.toml has keys with old names, which the next release rejects:\n  a.toml:{peers}: `peers` is now \
         `raycast_reference`\n  a.toml:{share}: `front_share` is now `front_bias`"
    );
    assert_eq!(old_keys.to_string(), expected);
}

/// Returns kind and path of each fault of the Corvette with `from` replaced by `to`.
fn faults(from: &str, to: &str) -> Vec<(FaultKind, String)> {
    let text = shipped::find("corvette_c5").expect("shipped");
    assert!(text.contains(from), "no `{from}`");
    let faults = VehicleSpec::read("both.toml", &text.replacen(from, to, 1)).expect_err(to);
    faults.list().iter().map(|fault| (fault.kind, fault.path.clone())).collect()
}

#[test]
fn both_names_of_a_key_are_a_fault() {
    for (from, to, path) in [
        (
            "longitudinal_friction = 1.07",
            "longitudinal_friction = 1.07\nfriction_along = 1.07",
            "tyres.front.friction_along",
        ),
        ("front_bias = 0.66", "front_bias = 0.66\nfront_share = 0.66", "brakes.front_share"),
        ("ackermann = 1 ", "anti_roll_bar_n_per_m = 19000\nackermann = 1 ", "axles[0].anti_roll_bar_n_per_m"),
        (
            "[aero]",
            "[assists.angular_drag]\nrate_per_s = 1\n[non_physical.angular_drag]\nrate_per_s = 1\n[aero]",
            "assists.angular_drag",
        ),
    ] {
        assert_eq!(faults(from, to), [(Contradiction, path.to_owned())]);
    }
    let boxes = "[[body]]\nmass_kg = 1\nsize_m = [1, 1, 1]\ncentre_m = [0, 0, 3]\n";
    let faults = SceneSpec::read("both.toml", &format!("{boxes}{}", boxes.replace("body", "dynamic_box")));
    let faults = faults.expect_err("two names");
    assert_eq!(faults.list().len(), 1, "{}", faults.render());
    let fault = &faults.list()[0];
    assert_eq!((fault.kind, fault.path.as_str(), fault.line), (Contradiction, "body", 1));
    assert!(fault.to_string().contains("dynamic_box"), "{fault}");
}

#[test]
fn faults_of_old_keys_are_told_under_the_new_names() {
    let path = "tyres.front.longitudinal_friction".to_owned();
    assert_eq!(faults("longitudinal_friction = 1.07", "friction_along = 100"), [(OutOfRange, path)]);
    // A broken statement is reported once; its key is not missing.
    let path = "tyres.front.friction_along".to_owned();
    assert_eq!(faults("longitudinal_friction = 1.07", "friction_along = = 1"), [(Syntax, path)]);
    let path = "tyres.front.along".to_owned();
    assert_eq!(faults("longitudinal = {", "along = = {"), [(Syntax, path)]);
}
