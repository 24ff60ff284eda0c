//! Aerodynamic side force and maps: units, defaults, faults.

use skidpad_core::model::{Aero, BilinearTable};
use skidpad_spec::{FaultKind, LoadedVehicle, shipped};

/// Returns the text of a shipped car with the lines `aero` in its table of aerodynamics.
pub fn car(aero: &str) -> String {
    let text = shipped::find("unity_default").expect("shipped");
    format!("{text}\n[aero]\nfrontal_area_m2 = 2\ndrag_coefficient = 0.5\n{aero}")
}

fn with(aero: &str) -> Result<Aero, Vec<(FaultKind, String)>> {
    match LoadedVehicle::read("car.toml", &car(aero)) {
        Ok(loaded) => Ok(loaded.model.parts().aero.clone()),
        Err(faults) => Err(faults.list().iter().map(|fault| (fault.kind, fault.path.clone())).collect()),
    }
}

pub const MAPS: &str = "side_coefficient = 2\nside_point = { behind_front_axle_m = 1, above_ground_m = 0.5 }\n\
    [aero.height_map]\nfront_at_rest_m = 0.1\nrear_at_rest_m = 0.12\nfront_m = [0.05, 0.15]\nrear_m = [0.1]\ndrag = [[1.2], [1.0]]\n\
    [aero.yaw_map]\nangles_deg = [0, 90]\n\
    [[aero.surfaces]]\nlift_coefficient = -1\nyaw_factors = [1, 0.5]\npoint = { behind_front_axle_m = 1, above_ground_m = 0.5 }\n";

#[test]
fn maps_are_factors_on_drag_and_surfaces() {
    let plain = with("").expect("sound");
    assert_eq!((plain.side, plain.maps), (0.0, None));
    let aero = with(MAPS).expect("sound");
    assert!((aero.side - 0.5 * 1.225 * 2.0 * 2.0).abs() < 1e-5, "{}", aero.side);
    let maps = aero.maps.expect("given");
    assert_eq!(maps.at_rest, [0.1, 0.12]);
    assert!((maps.heights[0].evaluate([0.1, 3.0]) - 1.1).abs() < 1e-6);
    assert_eq!((&maps.heights[1], &maps.yaw[0]), (&BilinearTable::default(), &BilinearTable::default()));
    let half = std::f32::consts::FRAC_PI_4;
    assert!((maps.yaw[1].evaluate([half, 0.0]) - 0.75).abs() < 1e-6);
}

#[test]
fn faults_of_maps_are_told_at_their_places() {
    let bad = MAPS.replace("[0.05, 0.15]", "[0.15, 0.05]").replace("[[1.2], [1.0]]", "[[1.2, 3]]");
    let bad = bad
        .replace("yaw_factors = [1, 0.5]", "yaw_factors = [1]")
        .replace("side_coefficient = 2", "side_coefficient = 2\nside_n_s2_per_m2 = 1");
    let faults = with(&bad).expect_err("has faults");
    for path in
        ["aero.height_map.front_m", "aero.height_map.drag", "aero.surfaces[0].yaw_factors", "aero.side_n_s2_per_m2"]
    {
        assert!(faults.contains(&(FaultKind::Contradiction, path.into())), "{path}: {faults:?}");
    }
    assert_eq!(faults.len(), 4, "{faults:?}");
    let without = with(
        "[[aero.surfaces]]\nlift_coefficient = -1\nheight_factors = [[1]]\npoint = { behind_front_axle_m = 1, above_ground_m = 0.5 }\n",
    );
    let faults = without.expect_err("a map without heights");
    assert_eq!(faults[0].1, "aero.surfaces[0].height_factors");
}
