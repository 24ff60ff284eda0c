//! Vehicles that ship with the library: the embedded files of `vehicles/`.

/// Name and text of every shipped vehicle, in alphabetical order.
const SHIPPED_VEHICLES: [(&str, &str); 14] = [
    ("bmw_320i_commonroad", include_str!("../vehicles/bmw_320i_commonroad.toml")),
    ("bmw_320i_mf", include_str!("../vehicles/bmw_320i_mf.toml")),
    ("bullet_reference", include_str!("../vehicles/bullet_reference.toml")),
    ("corvette_c5", include_str!("../vehicles/corvette_c5.toml")),
    ("corvette_c5_mf", include_str!("../vehicles/corvette_c5_mf.toml")),
    ("corvette_c5_tmeasy", include_str!("../vehicles/corvette_c5_tmeasy.toml")),
    ("formula_car", include_str!("../vehicles/formula_car.toml")),
    ("honda_civic_2016", include_str!("../vehicles/honda_civic_2016.toml")),
    ("kart", include_str!("../vehicles/kart.toml")),
    ("tesla_model3_awd", include_str!("../vehicles/tesla_model3_awd.toml")),
    ("toyota_4runner", include_str!("../vehicles/toyota_4runner.toml")),
    ("truck_6x4", include_str!("../vehicles/truck_6x4.toml")),
    ("unity_default", include_str!("../vehicles/unity_default.toml")),
    ("vw_vanagon", include_str!("../vehicles/vw_vanagon.toml")),
];

/// Name and text of every shipped trailer, in alphabetical order. A trailer only drives behind one of the vehicles.
const SHIPPED_TRAILERS: [(&str, &str); 3] = [
    ("caravan", include_str!("../vehicles/trailers/caravan.toml")),
    ("semitrailer", include_str!("../vehicles/trailers/semitrailer.toml")),
    ("wagon", include_str!("../vehicles/trailers/wagon.toml")),
];

/// Returns the names of the shipped trailers, in alphabetical order.
pub fn trailers() -> impl ExactSizeIterator<Item = &'static str> {
    SHIPPED_TRAILERS.iter().map(|(name, _)| *name)
}

/// Returns the names of the shipped vehicles, in alphabetical order.
pub fn names() -> impl ExactSizeIterator<Item = &'static str> {
    SHIPPED_VEHICLES.iter().map(|(name, _)| *name)
}

/// Returns the text of the shipped vehicle or trailer called `name`, if it exists.
pub fn find(name: &str) -> Option<&'static str> {
    SHIPPED_VEHICLES
        .iter()
        .chain(&SHIPPED_TRAILERS)
        .find(|(shipped_name, _)| *shipped_name == name)
        .map(|(_, text)| *text)
}
