//! Cars converted to Bullet's terms and back, and cars imported from other programs.

use skidpad::core::{Controls, DVec3, Model};
use skidpad::peers::bullet::{Tuning, WheelTuning};
use skidpad::spec::import::{BulletVehicle, BulletWheel, ImportOptions, Source};

use crate::common::{Drive, close, mean, shipped, solvers};

/// Converts `tuning` to the description that the importer reads. Axes: x forward, z up.
fn described(tuning: &Tuning) -> BulletVehicle {
    let hull = tuning.hull.expect("a box");
    let wheel = |w: &WheelTuning| BulletWheel {
        m_chassisConnectionPointCS: w.hard_point.to_array(),
        m_wheelDirectionCS: Some(w.direction.to_array()),
        m_wheelAxleCS: Some(w.axle.to_array()),
        m_suspensionRestLength1: w.rest_length,
        m_wheelsRadius: w.radius,
        m_suspensionStiffness: w.stiffness,
        m_wheelsDampingCompression: w.damping_compression,
        m_wheelsDampingRelaxation: w.damping_relaxation,
        m_maxSuspensionTravelCm: 100.0 * w.max_travel,
        m_maxSuspensionForce: w.max_force.min(1e9),
        m_frictionSlip: w.friction_slip,
        m_rollInfluence: w.roll_influence,
        m_steering: 0.0,
        m_engineForce: 0.0,
        m_brake: 0.0,
    };
    BulletVehicle {
        name: "There and back".into(),
        mass: tuning.mass,
        local_inertia: Some([tuning.inertia.x_axis.x, tuning.inertia.y_axis.y, tuning.inertia.z_axis.z]),
        half_extents: Some(hull.half_extents.as_dvec3().to_array()),
        box_centre: hull.centre.as_dvec3().to_array(),
        m_indexUpAxis: 2,
        m_indexForwardAxis: 0,
        wheels: tuning.wheels.iter().map(wheel).collect(),
    }
}

fn back(tuning: &Tuning) -> Tuning {
    let text = toml::to_string(&described(tuning)).expect("finite");
    let imported = Source::Bullet.import("there", &text, ImportOptions::default());
    let imported = imported.unwrap_or_else(|faults| panic!("{}", faults.render()));
    Tuning::from_model(&imported.spec.compile().expect("valid"))
}

/// Export to Bullet's terms and import preserve every number that Bullet has, also for cars with parts that Bullet has no
/// place for.
#[test]
fn there_and_back_keeps_every_number_of_bullets() {
    // Models store f32. Vehicle files of importers have nine digits.
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-6 * b.abs().max(0.1);
    for name in ["corvette_c5", "bmw_320i_commonroad", "bullet_reference", "unity_default"] {
        let there = Tuning::from_model(&Model::new(shipped(name)).expect("valid"));
        let here = back(&there);
        assert!(near(here.mass, there.mass), "{name}");
        let hull = |t: &Tuning| t.hull.expect("a box");
        assert!((hull(&here).centre - hull(&there).centre).length() < 1e-6, "{name}");
        assert!((hull(&here).half_extents - hull(&there).half_extents).length() < 1e-6, "{name}");
        for axis in [DVec3::X, DVec3::Y, DVec3::Z] {
            assert!(near((here.inertia * axis).dot(axis), (there.inertia * axis).dot(axis)), "{name}");
        }
        for (a, b) in here.wheels.iter().zip(&there.wheels) {
            assert!((a.hard_point - b.hard_point).length() < 1e-6, "{name}: {a:?} {b:?}");
            assert_eq!((a.direction, a.axle), (b.direction, b.axle));
            let numbers = |w: &WheelTuning| {
                let springs =
                    [w.rest_length, w.radius, w.stiffness, w.damping_compression, w.damping_relaxation, w.max_travel];
                springs.into_iter().chain([w.friction_slip, w.roll_influence, w.max_force.min(1e9)])
            };
            for (a, b) in numbers(a).zip(numbers(b)) {
                let unbounded = a >= 1e9 && b >= 1e9;
                assert!(unbounded || near(a, b), "{name}: {a} {b}");
            }
        }
    }
}

/// A car imported from a Godot scene drives on every solver. At full throttle the driving force is 2 · 800 N.
#[test]
fn a_car_of_godot_drives_here() {
    let text = include_str!("../../../crates/skidpad-import/tests/it/files/car.tscn");
    let spec = Source::Godot.import("car.tscn", text, ImportOptions::default()).expect("valid").spec;
    let model = std::sync::Arc::new(spec.compile().expect("valid"));
    for solver in solvers() {
        let mut car = Drive::rolling(&solver, &model, 5.0, 120.0);
        let frames = car.run(4.0, |_| Controls { throttle: 1.0, ..Controls::default() });
        let last = &frames[frames.len() - 120..];
        close(solver.name, mean(last, |f| f.ax_mps2), 1.6, 0.01, "next to no wheel inertia");
    }
}
