//! Random cars: a car that is valid in the source is valid after the import.

use proptest::prelude::*;
use skidpad_import::{BulletVehicle, BulletWheel, ImportOptions, Source};

/// Generates cars of Bullet that stand, with a static deflection of at most half their travel.
fn bullet() -> impl Strategy<Value = BulletVehicle> {
    let wheel = (0.15..0.6f64, 20.0..200.0f64, 0.0..12.0f64, 0.0..12.0f64, 0.3..2.0f64, 0.0..1.0f64);
    let body = (100.0..20_000.0f64, 0.4..1.2f64, 0.8..3.0f64, -0.2..0.2f64, 2usize..5, 0.0..0.6f64, 0.0..900.0f64);
    (body, wheel).prop_map(|((mass, half, base, shift, axles, steering, force), (radius, k, c, r, mu, roll))| {
        let x = |axle: usize| base * (axles as f64 - 1.0 - 2.0 * axle as f64) / 2.0 + shift * base;
        let wheel = |axle: usize, side: f64| BulletWheel {
            m_chassisConnectionPointCS: [side * half, 0.0, x(axle)],
            m_wheelDirectionCS: None,
            m_wheelAxleCS: None,
            m_suspensionRestLength1: 0.6,
            m_wheelsRadius: radius,
            m_suspensionStiffness: k,
            m_wheelsDampingCompression: c,
            m_wheelsDampingRelaxation: r,
            m_maxSuspensionTravelCm: 55.0,
            m_maxSuspensionForce: 1e6,
            m_frictionSlip: mu,
            m_rollInfluence: roll,
            m_steering: if axle == 0 { steering } else { 0.0 },
            m_engineForce: force,
            m_brake: 0.1 * force,
        };
        let wheels = (0..axles).flat_map(|axle| [wheel(axle, 1.0), wheel(axle, -1.0)]).collect();
        BulletVehicle {
            name: "Random".into(),
            mass,
            local_inertia: None,
            half_extents: Some([half + 0.2, 0.4, base * axles as f64 / 2.0]),
            box_centre: [0.0; 3],
            m_indexUpAxis: 1,
            m_indexForwardAxis: 2,
            wheels,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_stands_in_bullet_stands_here(car in bullet()) {
        let text = toml::to_string(&car).expect("finite");
        let imported = Source::Bullet.import("random", &text, ImportOptions::default());
        let imported = imported.map_err(|faults| TestCaseError::fail(faults.render()))?;
        let model = imported.spec.compile().map_err(|faults| TestCaseError::fail(faults.render()))?;
        prop_assert_eq!(model.wheels().len(), car.wheels.len());
        for (i, wheel) in model.wheels().iter().enumerate() {
            let rate = car.wheels[0].m_suspensionStiffness * car.mass;
            prop_assert!((f64::from(wheel.strut.rate) / rate - 1.0).abs() < 1e-6);
            let sag = f64::from(model.static_load(i)) / rate;
            prop_assert!((f64::from(wheel.strut.droop_travel) - sag.max(1e-3)).abs() < 1e-4 + 1e-4 * sag);
        }
    }
}
