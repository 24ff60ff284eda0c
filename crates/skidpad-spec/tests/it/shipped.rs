//! Shipped vehicles, and the schema of vehicle files.

use skidpad_core::STANDARD_GRAVITY;
use skidpad_spec::{LoadError, LoadedVehicle, VehicleSpec, load, shipped};

fn read(name: &'static str) -> (&'static str, LoadedVehicle) {
    match load(name) {
        Ok(loaded) => (name, loaded),
        Err(LoadError::Faults(faults)) => panic!("{}", faults.render()),
        Err(error) => panic!("{name}: {error}"),
    }
}

fn every() -> impl Iterator<Item = (&'static str, LoadedVehicle)> {
    shipped::names().map(read)
}

#[test]
fn the_list_is_the_folder() {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vehicles")).expect("is there");
    let mut files: Vec<String> = folder
        .map(|entry| entry.expect("readable").file_name().to_string_lossy().into_owned())
        .filter_map(|name| name.strip_suffix(".toml").map(str::to_owned))
        .collect();
    files.sort();
    assert_eq!(files, shipped::names().collect::<Vec<_>>());
}

#[test]
fn trailers_are_towed_level() {
    let folder = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../vehicles/trailers")).expect("is there");
    assert_eq!(folder.count(), shipped::trailers().len());
    for (name, ahead) in shipped::trailers().zip(["toyota_4runner", "truck_6x4", "toyota_4runner"]) {
        let [trailer, ahead] = [name, ahead].map(|name| load(name).expect("shipped"));
        let train: Vec<_> = ahead.vehicle_units().chain(trailer.vehicle_units()).collect();
        for pair in train.windows(2) {
            let [ahead, behind] = [&pair[0], &pair[1]];
            let (hitch, coupler) = (ahead.parts().hitch.expect("tows"), behind.parts().coupler.expect("towed"));
            let heights =
                [(ahead, hitch.point), (behind, coupler.point)].map(|(of, point)| of.parts().centre_height + point.z);
            assert!((heights[0] - heights[1]).abs() < 0.05, "{name}: {heights:?}");
            assert!(behind.coupler_load() > 0.0, "{name}: {} N", behind.coupler_load());
        }
    }
}

/// Checks that a dolly carries the mass on its turntable: by moments, `m (L - d) / L` of the mass `m` of the trailer.
#[test]
fn a_dolly_carries_the_front_of_its_trailer() {
    let wagon = load("wagon").expect("shipped");
    let dolly = wagon.dolly.as_ref().expect("a full trailer");
    let [carried, known] = [f64::from(dolly.parts().hitch.expect("tows").carried_mass), 1750.0 * 1.25 / 2.6];
    // The tolerance covers f32 and an inverse with a regularisation of 1e-12.
    assert!((carried / known - 1.0).abs() < 1e-6, "{carried} kg for {known}");
    let wheels: f64 = dolly.carried_masses().iter().map(|mass| f64::from(*mass)).sum();
    let known = known + 250.0 * 1.65 / 1.9;
    assert!((wheels / known - 1.0).abs() < 1e-6, "{wheels} kg for {known}");
    assert_eq!(wagon.vehicle_units().count(), 2);
    assert!(load("caravan").expect("shipped").dolly.is_none());
}

/// Checks the static axle loads, `m g b / L` and `m g a / L` for two axles. For any axles the loads balance about the centre of mass.
#[test]
fn a14_static_loads_follow_the_lever_rule() {
    for (name, LoadedVehicle { spec, model, .. }) in every() {
        let weight = spec.chassis.mass_kg * f64::from(STANDARD_GRAVITY);
        let load = |i: usize| f64::from(model.static_load(i));
        let wheels = model.wheels().iter().enumerate();
        let total: f64 = (0..model.wheels().len()).map(load).sum();
        let moment: f64 = wheels.map(|(i, wheel)| load(i) * f64::from(wheel.contact.x)).sum();
        // Masses and places are f32: 1e-7 of each term.
        assert!((total / weight - 1.0).abs() < 1e-6, "{name}: {total} of {weight} N");
        assert!(moment.abs() < 1e-5 * weight, "{name}: {moment} N m");
        if let [_, rear] = &spec.axles[..] {
            let share = 1.0 - spec.chassis.centre_behind_front_axle_m / rear.behind_front_axle_m;
            let front = load(0) + load(1);
            assert!((front / (weight * share) - 1.0).abs() < 1e-6, "{name}: {front} N on the front axle");
        }
    }
}

/// Checks the roll gradient of a rigid car on its springs, `m g h / (K − m g h)` with the roll stiffness `K` of springs and bars.
#[test]
fn the_corvette_rolls_as_fitted() {
    let model = load("corvette_c5").expect("shipped").model;
    let parts = model.parts();
    let track = |wheel: usize| 2.0 * f64::from(parts.wheels[wheel].contact.y);
    let springs: f64 = [0, 2].map(|i| f64::from(parts.wheels[i].strut.rate) * 0.5 * track(i).powi(2)).iter().sum();
    let bars: f64 = parts.bars.iter().map(|bar| f64::from(bar.rate) * track(bar.wheels[0]).powi(2)).sum();
    let moment = f64::from(parts.mass * STANDARD_GRAVITY * parts.centre_height);
    let gradient = (moment / (springs + bars - moment)).to_degrees();
    assert!((2.5..3.0).contains(&gradient), "{gradient} deg/g");
}

/// Checks that the full pedal locks every wheel: its torque exceeds that of the tyre force at 1.1 g.
#[test]
fn the_corvette_can_lock_every_wheel() {
    let model = load("corvette_c5").expect("shipped").model;
    let parts = model.parts();
    let base = parts.wheels[0].contact.x - parts.wheels[2].contact.x;
    let transfer = parts.mass * STANDARD_GRAVITY * 1.1 * parts.centre_height / base;
    for (i, wheel) in parts.wheels.iter().enumerate() {
        let load = model.static_load(i) + if i < 2 { 0.5 } else { -0.5 } * transfer;
        assert!(wheel.brake_torque > 1.1 * load * wheel.radius, "wheel {i}");
    }
}

#[test]
fn a_description_survives_writing_and_reading() {
    for (name, LoadedVehicle { spec, model, .. }) in every().chain(shipped::trailers().map(read)) {
        let text = spec.to_toml().expect("finite");
        let again = VehicleSpec::read(name, &text).unwrap_or_else(|faults| panic!("{}", faults.render()));
        assert_eq!(again, spec, "{name}");
        assert_eq!(again.compile().expect("valid"), *model, "{name}");
    }
}

/// Checks that the cars that claim to be real, and no others, have published figures.
#[test]
fn references_are_given_for_real_cars() {
    for (name, LoadedVehicle { spec, .. }) in every() {
        let published = [
            "bmw_320i_commonroad",
            "bmw_320i_mf",
            "corvette_c5",
            "formula_car",
            "honda_civic_2016",
            "kart",
            "tesla_model3_awd",
            "toyota_4runner",
            "vw_vanagon",
        ];
        let real = published.contains(&name);
        assert_eq!(real, !spec.references.is_empty(), "{name}");
    }
}

#[test]
fn the_schema_is_the_published_one() {
    let schema = serde_json::to_string_pretty(&skidpad_spec::schema()).expect("JSON");
    insta::assert_snapshot!(schema);
}
