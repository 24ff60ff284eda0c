//! Lints about legal but implausible values: each planted mistake is reported with its place, and no shipped car has one.

use skidpad_spec::{LoadedVehicle, shipped};

/// Text in the file of the Corvette, its replacement, key of the note, and a part of the text of the note.
type Row = (&'static str, &'static str, &'static str, &'static str);

const MISTAKES: &[Row] = &[
    (
        "roll_kg_m2 = 480, pitch_kg_m2 = 2350, yaw_kg_m2 = 2500",
        "roll_kg_m2 = 48000, pitch_kg_m2 = 235000, yaw_kg_m2 = 250000",
        "chassis.inertia.roll_kg_m2",
        "typical: 0.4 to 1.5",
    ),
    ("lock_deg = 35", "lock_deg = 0.61", "steering.lock_deg", "0.61 rad would be 35 degrees"),
    ("steer_ratio = 1\n", "", "axles", "no axle is steered"),
    ("total_torque_nm = 7000", "total_torque_nm = 700000", "brakes.total_torque_nm", "times the tyre limit"),
    ("bump_travel_m = 0.07", "bump_travel_m = 13", "axles[0].suspension.bump_travel_m", "check the unit"),
    (
        "droop_travel_m = 0.09",
        "droop_travel_m = 0.5",
        "axles[0].suspension.droop_travel_m",
        "the spring force is zero from 0.1",
    ),
    ("inertia_kg_m2 = 1.5", "inertia_kg_m2 = 0.001", "axles[0].wheel_spin_inertia_kg_m2", "0.5 to 2 kg m²"),
    (
        "extremum_slip = 0.09, asymptote_slip = 0.50",
        "extremum_slip = 15, asymptote_slip = 50",
        "tyres.front.longitudinal.extremum_slip",
        "15 % would be 0.15",
    ),
    (
        "extremum_slip = 0.10, asymptote_slip = 0.50",
        "extremum_slip = 8, asymptote_slip = 20",
        "tyres.front.lateral.extremum_slip",
        "8 degrees would be 0.140 rad",
    ),
    ("capacity_nm = 700", "capacity_nm = 70", "powertrain.clutch.capacity_nm", "is 479 N m: the clutch slips"),
    (
        "handbrake_torque_nm = 1500",
        "handbrake_torque_nm = 25",
        "axles[1].handbrake_torque_nm",
        "only on slopes up to 1.0 %",
    ),
    ("nominal_load_n = 3800", "nominal_load_n = 330", "tyres.front.nominal_load_n", "the static wheel load is 38"),
];

#[test]
fn planted_mistakes_are_told() {
    let text = shipped::find("corvette_c5").expect("shipped");
    for (from, to, key, word) in MISTAKES {
        let at = text.find(from).unwrap_or_else(|| panic!("no `{from}`"));
        let changed = text.replacen(from, to, 1);
        let notes = LoadedVehicle::read("changed", &changed).unwrap_or_else(|e| panic!("{}", e.render())).notes;
        let Some(note) = notes.iter().find(|note| note.key == *key) else { panic!("`{to}`: {notes:?}") };
        let whole = key.starts_with("chassis.inertia");
        assert_eq!(notes.len(), if whole { 3 } else { 1 }, "`{to}`: {notes:?}");
        assert!(note.text.contains(word), "`{to}`: {note}");
        let line = 1 + text[..at].matches('\n').count();
        let near = if to.is_empty() { 1..=line } else { line..=line };
        assert!(near.contains(&note.line), "`{to}` in line {line}: {note}");
    }
}

#[test]
fn shipped_cars_have_no_implausible_number() {
    for name in shipped::names() {
        let notes = skidpad_spec::load(name).expect("shipped").notes;
        let meant = |key: &str| key == "raycast_reference.roll_influence" || MEANT.contains(&(name, key));
        let told: Vec<String> = notes.iter().filter(|note| !meant(&note.key)).map(ToString::to_string).collect();
        assert_eq!(told, [""; 0], "{name}");
    }
}

/// Accepted notes on shipped cars. The rear springs of the truck are made for a load that it does not carry, so they are unloaded in
/// a part of their droop travel.
const MEANT: [(&str, &str); 2] =
    [("truck_6x4", "axles[1].suspension.droop_travel_m"), ("truck_6x4", "axles[2].suspension.droop_travel_m")];
