//! Known answers, computed by hand from the laws of each engine.

use super::{given, import};
use skidpad_import::{ImportOptions, Source};
use skidpad_spec::spec::{Axle, Powertrain, RollingResistance, Tyre};
use skidpad_spec::{VehicleSpec, shipped};

/// Checks that two numbers agree within 1e-7. Gravity is 9.81 in single precision (4e-8), and nine digits are written.
#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() <= 1e-7 * expected.abs().max(1e-3), "{found} instead of {expected}");
}

fn rate(axle: &Axle) -> f64 {
    axle.suspension.rate_n_per_m.expect("stated")
}

/// Returns the rate of the anti-roll bar, N/m; 0 without one.
fn bar_rate(axle: &Axle) -> f64 {
    axle.anti_roll_bar.as_ref().map_or(0.0, |bar| bar.rate_n_per_m.expect("a rate"))
}

fn droop(axle: &Axle) -> f64 {
    axle.suspension.droop_travel_m.expect("stated")
}

fn read(name: &str) -> VehicleSpec {
    VehicleSpec::read(name, shipped::find(name).expect("shipped")).expect("valid")
}

/// Checks row E4: stiffness 40 per kilogram of 1500 kg, travel in cm, a brake of 60 N s per step of 1/60 s, and the recorded
/// height at rest: 0.05 + 0.35 + 0.33 − 9.81 / 4 / 40 m.
#[test]
fn e4_bullet_per_chassis_mass_and_per_step() {
    let imported = import(Source::Bullet, given!("bullet.toml"));
    let (spec, shipped) = (&imported.spec, read("bullet_reference"));
    near(spec.chassis.centre_above_ground_m, 0.6686875);
    near(spec.chassis.centre_behind_front_axle_m, 1.35);
    for (axle, recorded) in spec.axles.iter().zip(&shipped.axles) {
        near(rate(axle), 60e3);
        near(axle.suspension.bump_damping_n_s_per_m.expect("stated"), 5692.0995);
        near(axle.suspension.rebound_damping_n_s_per_m.expect("stated"), 9486.8325);
        near(axle.suspension.bump_travel_m, recorded.suspension.bump_travel_m);
        near(droop(axle), droop(recorded));
        near(axle.brake_torque_nm.expect("stated"), 3600.0 * 0.33);
        assert_eq!((axle.track_m, axle.steer_ratio), (recorded.track_m, recorded.steer_ratio));
    }
    assert_eq!(spec.powertrain, shipped.powertrain);
    assert_eq!(spec.raycast_reference, shipped.raycast_reference);
    let sizes =
        |hull: &skidpad_spec::spec::Hull| [hull.length_m, hull.width_m, hull.height_m, hull.behind_front_axle_m];
    assert_eq!(sizes(&spec.chassis.hull), sizes(&shipped.chassis.hull));
    near(spec.chassis.hull.above_ground_m, shipped.chassis.hull.above_ground_m);
    near(spec.steering.lock_deg, 0.5f64.to_degrees());
    assert!(imported.text.contains("# m_suspensionStiffness 40 × 1500 kg"), "{}", imported.text);
    assert!(imported.text.contains("# m_brake 60 N s per step of 0.016667 s × radius"), "{}", imported.text);
}

/// Checks that a brake impulse per step is four times the force at four times the step rate.
#[test]
fn a_brake_per_step_depends_on_the_step() {
    let options = ImportOptions { dt_s: 1.0 / 240.0 };
    let imported = Source::Bullet.import("file", given!("bullet.toml"), options).expect("valid");
    near(imported.spec.axles[0].brake_torque_nm.expect("stated"), 4.0 * 3600.0 * 0.33);
}

/// Checks a car whose three wheels share 900 kg as 450, 225 and 225 kg. The front wheel deflects by 450 g / (18 kN/m) =
/// 0.24525 m, the rear wheels by half of that. In the engine the car stands nose down, by 0.1226 m over 2.4 m.
#[test]
fn rapier_three_wheels_x_forward() {
    let imported = import(Source::Rapier, given!("rapier.toml"));
    let [front, rear] = &imported.spec.axles[..] else { panic!("two axles") };
    near(rate(front), 18e3);
    assert_eq!((front.track_m, rear.track_m), (None, Some(1.4)));
    assert_eq!((front.steer_ratio, rear.steer_ratio), (1.0, 0.0));
    near(droop(front), 0.24525);
    near(droop(rear), 0.122625);
    // The springs are unloaded 0.8 m below the centre of mass. Each axle carries half of the mass.
    near(imported.spec.chassis.centre_above_ground_m, 0.8 - 0.5 * (0.24525 + 0.122625));
    near(rear.brake_torque_nm.expect("stated"), 10.0 * 60.0 * 0.3);
    assert!(imported.notes.iter().any(|n| n.text.contains("differ by 123 mm")), "{:?}", imported.notes);
    assert_eq!(imported.spec.raycast_reference.expect("a ray-cast vehicle").roll_influence, 0.1);
}

/// Checks the notes on a car without drive and brakes. A script sets them, so the scene does not contain them.
#[test]
fn a_godot_car_without_drive_or_brake_is_told() {
    let lines = given!("car.tscn").lines();
    let text: Vec<&str> =
        lines.filter(|line| !line.starts_with("engine_force") && !line.starts_with("brake")).collect();
    let imported = import(Source::Godot, &text.join("\n"));
    assert_eq!(imported.spec.powertrain, Powertrain::None {});
    for word in ["no `engine_force`", "no `brake`"] {
        assert!(imported.notes.iter().any(|note| note.text.contains(word)), "{:?}", imported.notes);
    }
    let whole = import(Source::Godot, given!("car.tscn"));
    assert!(whole.notes.iter().all(|note| !note.text.contains("because a script sets it")), "{:?}", whole.notes);
}

/// Checks the ray of Godot, which starts a radius above the hard point. With 0.3 m of spring and 0.3 m of radius the spring is
/// compressed by (0.3 + 0.3) / (0.3 + 0.6) of the travel. 60 per kilogram of 1000 kg is therefore 40 kN/m, and a travel of
/// 0.2 m is 0.3 m.
#[test]
fn godot_springs_feel_part_of_the_travel() {
    let imported = import(Source::Godot, given!("car.tscn"));
    let [front, rear] = &imported.spec.axles[..] else { panic!("two axles") };
    near(rate(front), 40e3);
    let sag = 250.0 * 9.81 / 40e3;
    near(droop(front), sag);
    near(front.suspension.bump_travel_m, 0.3 - sag);
    // The hard point is 0.2 m above the centre of mass. Spring and radius are 0.3 m each, less the static deflection.
    near(imported.spec.chassis.centre_above_ground_m, 0.4 - sag);
    near(front.brake_torque_nm.expect("stated"), 5.0 * 60.0 * 0.3);
    assert_eq!(imported.spec.powertrain, Powertrain::Direct { wheel_torque_nm: vec![0.0, 240.0] });
    assert_eq!((front.steer_ratio, rear.steer_ratio), (1.0, 0.0));
    assert_eq!(imported.spec.chassis.hull.length_m, 4.0);
    let damp = imported.notes.iter().find(|n| n.key == "body.linear_damp").expect("told");
    assert_eq!((damp.line, damp.text.as_str()), (14, "is not imported"));
}

/// Checks rows C2, C4, C5, C6 and C11: the prefab with a body of 1500 kg on four default wheels is the shipped car, apart from
/// brakes and motor, which a script sets.
#[test]
fn c2_c11_unity5_default_is_the_shipped_car() {
    let imported = import(Source::Unity, given!("unity5_default.prefab"));
    let (mut spec, mut shipped) = (imported.spec, read("unity_default"));
    for axle in spec.axles.iter_mut().chain(&mut shipped.axles) {
        (axle.brake_torque_nm, axle.handbrake_torque_nm, axle.tyre) = (None, 0.0, "default".into());
    }
    let Some(RollingResistance::Linear { rise_s_per_m, .. }) = spec.axles[1].rolling_resistance else {
        panic!("linear")
    };
    near(rise_s_per_m, 0.25 / (0.25 * 375.0 * 9.81));
    let Some(RollingResistance::Linear { rise_s_per_m: stated, .. }) = shipped.rolling_resistance else {
        panic!("linear")
    };
    assert!((rise_s_per_m - stated).abs() < 1e-7);
    for axle in &mut spec.axles {
        axle.rolling_resistance = None;
    }
    assert_eq!(spec.axles, shipped.axles);
    assert_eq!(spec.tyres["front"], shipped.tyres["default"]);
    assert_eq!((spec.chassis.mass_kg, spec.chassis.hull), (1500.0, shipped.chassis.hull));
    assert_eq!(spec.chassis.boxes, shipped.chassis.boxes);
    near(spec.chassis.centre_above_ground_m, 0.8);
}

/// Checks row C9: forces 0.2 m above the ground leave 3/4 of the roll of a centre of mass 0.8 m above the ground.
#[test]
fn c9_force_application_point_is_told_and_kept_for_peers() {
    let text = given!("unity5_default.prefab").replace("m_ForceAppPointDistance: 0", "m_ForceAppPointDistance: 0.2");
    let imported = import(Source::Unity, &text);
    assert_eq!(imported.spec.raycast_reference.expect("stated").roll_influence, 0.75);
    assert!(imported.spec.axles.iter().all(|axle| axle.force_application_height_m == Some(0.2)));
    let note = imported.notes.iter().find(|n| n.key.ends_with("m_ForceAppPointDistance")).expect("told");
    assert!(note.line > 0 && note.text.contains("0.75"), "{note:?}");
}

/// Checks that angular damping under its name of Unity 6, and the rotations of boxes and wheels, add notes.
#[test]
fn damping_and_rotations_of_unity_are_told() {
    let whole = import(Source::Unity, given!("unity5_default.prefab"));
    assert!(!whole.notes.iter().any(|n| n.text.contains("turned") || n.key.contains("Damping")), "{:?}", whole.notes);
    // The rotation of the second object, which has a WheelCollider, and of the last one, which has the BoxCollider: 60°
    // about the vertical, and 10° about the lateral axis.
    let unturned = "m_LocalRotation: {x: 0, y: 0, z: 0, w: 1}";
    let text = given!("unity5_default.prefab").replacen("Rigidbody:\n", "Rigidbody:\n  m_AngularDamping: 0.05\n", 1);
    let (body, rest) = text.split_once(unturned).expect("a body");
    let rest = rest.replacen(unturned, "m_LocalRotation: {x: 0, y: 0.5, z: 0, w: 0.8660254}", 1);
    let (start, end) = rest.rsplit_once(unturned).expect("a box");
    let text = format!("{body}{unturned}{start}m_LocalRotation: {{x: 0.0871557, y: 0, z: 0, w: 0.9961947}}{end}");
    let imported = import(Source::Unity, &text);
    assert_eq!(imported.spec.chassis.boxes, whole.spec.chassis.boxes);
    for (key, part) in [
        ("body.m_AngularDamping", "drag proportional to speed"),
        ("wheels[0]", "rotated by 60.0°"),
        ("boxes[0]", "rotated by 10.0°"),
    ] {
        let note =
            imported.notes.iter().find(|n| n.key == key).unwrap_or_else(|| panic!("{key}: {:?}", imported.notes));
        assert!(note.line > 0 && note.text.contains(part), "{note:?}");
    }
}

/// Checks the target position, which is 0 at full droop and 1 at full bump: at 0.25 a quarter of the travel is left in extension.
#[test]
fn c5_target_position_runs_from_droop_to_bump() {
    let text = given!("unity5_default.prefab").replace("targetPosition: 0.5", "targetPosition: 0.25");
    let imported = import(Source::Unity, &text);
    let suspension = &imported.spec.axles[0].suspension;
    near(suspension.bump_travel_m, 0.225);
    near(suspension.droop_travel_m.expect("stated"), 0.075);
    near(imported.spec.chassis.centre_above_ground_m, 0.875);
}

/// Checks the measured car of the engine comparison: an effective mass of 353.5 kg at a wheel, 1.5 Hz with this mass, and the
/// height at which Jolt settled (0.61295 m, of which 0.1 mm is due to its body damping).
#[test]
fn jolt_frequency_is_of_the_effective_mass() {
    let imported = import(Source::Jolt, given!("jolt.toml"));
    let [front, rear] = &imported.spec.axles[..] else { panic!("two axles") };
    let mass = 1.0 / (1.0 / 1500.0 + 0.78f64.powi(2) / 450.0 + 1.35f64.powi(2) / 2250.0);
    assert!((mass - 353.5).abs() < 0.05);
    let k = mass * (std::f64::consts::TAU * 1.5).powi(2);
    near(rate(front), k);
    near(front.suspension.bump_damping_n_s_per_m.expect("stated"), (k * mass).sqrt());
    assert!((imported.spec.chassis.centre_above_ground_m - 0.61295).abs() < 2e-4);
    near(bar_rate(front), 1000.0);
    assert_eq!((bar_rate(rear), rear.handbrake_torque_nm, front.handbrake_torque_nm), (0.0, 4000.0, 0.0));
    let Tyre::SlipCurve { longitudinal, lateral, friction, .. } = &imported.spec.tyres["front"] else {
        panic!("a curve")
    };
    near(friction.longitudinal_friction, 1.2f64.sqrt());
    assert_eq!((longitudinal.extremum_slip, longitudinal.asymptote_slip), (0.06, 0.2));
    near(lateral.extremum_slip, 3f64.to_radians());
    near(longitudinal.sliding_force_ratio, (1.0 / 1.2f64).sqrt());
    let Powertrain::Engine { engine, gearbox, differential, .. } = &imported.spec.powertrain else {
        panic!("an engine")
    };
    let curve: Vec<(f64, f64)> = engine.torque_curve.iter().map(|p| (p.rpm, p.torque_nm)).collect();
    assert_eq!(curve, [(0.0, 400.0), (3960.0, 500.0), (6000.0, 400.0)]);
    assert_eq!((gearbox.final_drive, &differential.torque_split[..]), (3.42, &[0.0, 1.0][..]));
}

/// Checks the default friction of the ground in Jolt, 0.2, with which the tyres have a peak of √0.24.
#[test]
fn jolts_default_ground_is_slippery() {
    let imported = import(Source::Jolt, &given!("jolt.toml").replace("ground_mFriction = 1\n", ""));
    let Tyre::SlipCurve { friction, .. } = &imported.spec.tyres["front"] else { panic!("a curve") };
    near(friction.longitudinal_friction, 0.24f64.sqrt());
}

/// Checks that springs are unloaded at full droop: the front deflects by m g / k under its share of the mass, 1.6 / 3. The
/// centre of mass is 1.6 m ahead of the rear axle, the wheelbase is 3 m.
#[test]
fn physx_springs_are_slack_at_full_droop() {
    let imported = import(Source::Physx, given!("physx.toml"));
    let [front, rear] = &imported.spec.axles[..] else { panic!("two axles") };
    let load = |share: f64| 0.5 * 2014.4 * 9.81 * share;
    near(droop(front), load(1.6 / 3.0) / 32833.0);
    near(droop(rear), load(1.4 / 3.0) / 26049.0);
    near(front.suspension.bump_travel_m + droop(front), 0.221);
    let Tyre::Linear { slip_stiffness_n, cornering_stiffness_n_per_rad, .. } = imported.spec.tyres["front"] else {
        panic!("linear")
    };
    assert_eq!((slip_stiffness_n, cornering_stiffness_n_per_rad), (24525.0, 118700.0));
    assert!(imported.notes.iter().any(|n| n.key == "wheels[2].torqueRatio" && n.text.contains("only checks")));
    let Powertrain::Engine { gearbox, .. } = &imported.spec.powertrain else { panic!("an engine") };
    assert_eq!((&gearbox.forward[..], gearbox.reverse), (&[4.0, 2.0, 1.5, 1.1, 1.0][..], 4.0));
}

/// Checks that tyre forces act at the attachment of the suspension, a point of the body. Its height above the ground is the
/// bump travel plus a radius. In tables over jounce toe is positive to the left, camber with the top to the right.
#[test]
fn physx_tables_over_jounce_are_guidance_and_force_points() {
    let plain = import(Source::Physx, given!("physx.toml"));
    let bump = plain.spec.axles[0].suspension.bump_travel_m;
    near(plain.spec.axles[0].force_application_height_m.expect("kept"), bump + 0.343);
    assert_eq!((plain.spec.axles[0].toe_deg, &plain.spec.axles[0].kinematics), (0.0, &None));
    let wheel = |x: f64| format!("suspensionAttachment = [{x}, -0.4, 1.4]\n");
    let tables = |x: f64, side: f64| {
        let [toe, camber] = [[0.02, 0.0, -0.02], [0.01, 0.03, 0.0]].map(|angles| angles.map(|angle| side * angle));
        format!(
            "{}wheelToeAngle = [[0, {}], [0.5, {}], [1, {}]]\nwheelCamberAngle = [[0, {}], [0.5, {}], [1, {}]]\n\
             tireForceAppPoint = [[0, 0.1, -0.3, 0]]\n",
            wheel(x),
            toe[0],
            toe[1],
            toe[2],
            camber[0],
            camber[1],
            camber[2]
        )
    };
    let text = given!("physx.toml").replace(&wheel(0.8), &tables(0.8, -1.0)).replace(&wheel(-0.8), &tables(-0.8, 1.0));
    let imported = import(Source::Physx, &text);
    let front = &imported.spec.axles[0];
    let (droop, travel) = (droop(front), 0.221);
    near(front.force_application_height_m.expect("kept"), bump + 0.343 - 0.3);
    // Toe-in is 0.02 rad at full droop and −0.02 rad at full bump, linear in between.
    let kinematics = front.kinematics.as_ref().expect("it follows");
    near(front.toe_deg, (0.02 - 0.04 * droop / travel).to_degrees());
    near(kinematics.toe_deg_per_m, (-0.04 / travel).to_degrees());
    assert_eq!(kinematics.toe_deg_per_m2, 0.0);
    let camber = |z: f64| front.camber_deg + (kinematics.camber_deg_per_m + kinematics.camber_deg_per_m2 * z) * z;
    assert!((camber(-droop) - 0.01f64.to_degrees()).abs() < 1e-6, "{kinematics:?}");
    assert!(camber(bump).abs() < 1e-6, "{kinematics:?}");
    near(front.camber_deg, (0.06 - 0.06 * droop / travel).to_degrees());
    let told = |word: &str| imported.notes.iter().any(|n| n.text.contains(word));
    assert!(
        told("camber becomes a parabola") && !told("toe becomes a parabola") && told("only the height is imported")
    );
    let falling = text.replacen("[[0, -0.02], [0.5,", "[[0.6, -0.02], [0.5,", 1);
    let faults = Source::Physx.import("file", &falling, ImportOptions::default()).expect_err("falls");
    assert!(faults.render().contains("wheelToeAngle"), "{}", faults.render());
}

/// Checks the import against the shipped 320i, which was converted from the same set by hand.
#[test]
fn commonroad_2_is_the_shipped_320i() {
    let imported = import(Source::Commonroad, given!("commonroad_2.yaml"));
    let (spec, shipped) = (&imported.spec, read("bmw_320i_commonroad"));
    let close = |a: f64, b: f64, by: f64| assert!((a - b).abs() <= by * b.abs(), "{a} {b}");
    for (axle, by_hand) in spec.axles.iter().zip(&shipped.axles) {
        close(rate(axle), rate(by_hand), 1e-8);
        close(bar_rate(axle), bar_rate(by_hand), 1e-6);
        close(
            axle.unsprung.as_ref().expect("stated").mass_kg,
            by_hand.unsprung.as_ref().expect("stated").mass_kg,
            1e-5,
        );
        assert_eq!((axle.track_m, axle.wheel_radius_m), (by_hand.track_m, by_hand.wheel_radius_m));
        let total = 11.5 * 1093.2952334674046 * 0.344;
        let share = if by_hand.steer_ratio > 0.0 { 0.66 } else { 0.34 };
        close(axle.brake_torque_nm.expect("stated"), 0.5 * share * total, 1e-8);
    }
    assert!(spec.axles.iter().chain(&shipped.axles).all(|axle| axle.solid_axle));
    close(spec.axles[1].behind_front_axle_m, shipped.axles[1].behind_front_axle_m, 1e-7);
    let [own, by_hand] = [spec, &shipped].map(|s| s.chassis.inertia.clone().expect("stated"));
    close(own.roll_kg_m2, by_hand.roll_kg_m2, 1e-3);
    close(own.pitch_kg_m2, by_hand.pitch_kg_m2, 1e-3);
    assert_eq!(spec.tyres["front"], shipped.tyres["adams_235_60r16"]);
    let told: Vec<&str> = imported.notes.iter().map(|n| n.key.as_str()).filter(|k| !k.is_empty()).collect();
    assert_eq!(told, ["longitudinal.v_max", "K_lt", "D_f", "D_r"]);
}

/// Checks that springs and dampers between body and axles become lateral compliance, and that axles without a spring are rigid.
#[test]
fn side_guidance_of_commonroad_is_lateral_compliance() {
    let given = given!("commonroad_2.yaml");
    let found = |text: &str| import(Source::Commonroad, text).spec.axles.iter().map(lateral).collect::<Vec<_>>();
    fn lateral(axle: &Axle) -> Option<[f64; 2]> {
        axle.lateral_compliance.as_ref().map(|given| [given.lateral_stiffness_n_per_m, given.damping_n_s_per_m])
    }
    let both = found(given);
    assert_eq!(both[0], both[1]);
    let [rate, damping] = both[0].expect("stated");
    near(rate, 175_186.659_437);
    near(damping, 10_215.732_056);
    assert_eq!(found(&given.replacen("K_ras: 1", "K_ras: 0 # 1", 1)), [None, None]);
}

/// Checks that the heights of the roll axis become roll centres of the axles.
#[test]
fn roll_axes_of_commonroad_are_roll_centres() {
    let text =
        given!("commonroad_2.yaml").replacen("h_raf: 0.0", "h_raf: 0.12", 1).replacen("h_rar: 0.0", "h_rar: -0.03", 1);
    let imported = import(Source::Commonroad, &text);
    let heights: Vec<f64> = imported.spec.axles.iter().map(|axle| axle.roll_centre_height_m).collect();
    assert_eq!(heights, [0.12, -0.03]);
    let compiled = imported.spec.compile().expect("valid");
    assert!((compiled.link_slope(0) - 0.12 / (0.5 * 1.38684)).abs() < 1e-6);
}
