//! Faults of files of other programs: all at once, with their places.

use super::given;
use skidpad_import::{ImportOptions, Source};

#[track_caller]
fn report(source: Source, text: &str) -> String {
    match source.import("car", text, ImportOptions::default()) {
        Err(faults) => {
            assert!(faults.list().iter().all(|f| f.line >= 1 && !f.accepts.is_empty()), "{:?}", faults.list());
            faults.render()
        }
        Ok(_) => panic!("passed"),
    }
}

#[test]
fn several_faults_of_each_source_at_once() {
    let bullet = given!("bullet.toml")
        .replacen("mass = 1500", "mass = -3", 1)
        .replacen("m_wheelsRadius = 0.33", "m_wheelRadius = 0.33", 1)
        .replacen("m_brake = 60", "m_brake = \"60 N\"", 1);
    insta::assert_snapshot!("bullet", report(Source::Bullet, &bullet));
    let godot = given!("car.tscn")
        .replacen("mass = 1000.0", "mass = 0", 1)
        .replacen("wheel_radius = 0.3", "wheel_radius = ", 1)
        .replacen("Transform3D(1, 0, 0, 0, 1, 0, 0, 0, 1, -0.8, 0, 1.5)", "Vector3(-0.8, 0, 1.5)", 1);
    insta::assert_snapshot!("godot", report(Source::Godot, &godot));
    let unity = given!("unity5_default.prefab")
        .replacen("m_Radius: 0.5", "m_Radius: -1", 1)
        .replacen("m_SuspensionDistance: 0.3\n", "", 1)
        .replacen("spring: 35000", "spring: stiff", 1);
    insta::assert_snapshot!("unity", report(Source::Unity, &unity));
    let commonroad =
        given!("commonroad_2.yaml").replacen("m: 1093.2952334674046", "m: heavy", 1).replacen("T_f: 1.38684\n", "", 1);
    insta::assert_snapshot!("commonroad", report(Source::Commonroad, &commonroad));
}

/// Checks row E12: with the default stiffness of Bullet the car needs more than its travel.
#[test]
fn e12_springs_that_cannot_carry_the_car_are_a_fault() {
    let weak = given!("bullet.toml").replace("m_suspensionStiffness = 40", "m_suspensionStiffness = 5.88");
    let report = report(Source::Bullet, &weak);
    // The static deflection g / (4 · 5.88) = 0.417 m exceeds the travel of 0.2 m.
    assert!(
        report.contains("springs cannot carry the car") && report.contains("0.417 m of the travel of 0.200 m"),
        "{report}"
    );
}

#[test]
fn broken_texts_say_where() {
    let reports = [
        (Source::Commonroad, "m: [1, 2\nb: }", "illegal placement"),
        (Source::Commonroad, "a: 1.8\nb: 1.8\n", "kinematic"),
        (Source::Commonroad, "- 1\n- 2\n", "must be a table"),
        (Source::Commonroad, "1093.3\n", "must be a table"),
        (Source::Unity, "nothing here", "no Rigidbody"),
        (Source::Godot, "[node name=\"A\"", "header"),
        (Source::Jolt, "mMass = ", "mMass"),
        (Source::Bullet, "mass = 1000\nwheels = []\n", "wheels"),
    ];
    for (source, text, word) in reports {
        let report = report(source, text);
        assert!(report.contains(word), "{source:?}: {report}");
    }
    let jolt = given!("jolt.toml").replace("mRightWheel = 3", "mRightWheel = 7");
    assert!(report(Source::Jolt, &jolt).contains("from 0 to 3"));
    let twins = given!("bullet.toml").replace("-0.05, -1.35]", "-0.05, 1.35]");
    assert!(report(Source::Bullet, &twins).contains("4 wheels within"));
}
