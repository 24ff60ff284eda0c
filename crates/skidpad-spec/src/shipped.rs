//! The vehicles that ship with the library: the files of `vehicles/`, embedded.

/// Name and text of every shipped vehicle, by name.
const FILES: [(&str, &str); 10] = [
    ("bmw_320i_commonroad", include_str!("../vehicles/bmw_320i_commonroad.toml")),
    ("bmw_320i_mf", include_str!("../vehicles/bmw_320i_mf.toml")),
    ("bullet_reference", include_str!("../vehicles/bullet_reference.toml")),
    ("corvette_c5", include_str!("../vehicles/corvette_c5.toml")),
    ("corvette_c5_mf", include_str!("../vehicles/corvette_c5_mf.toml")),
    ("corvette_c5_tmeasy", include_str!("../vehicles/corvette_c5_tmeasy.toml")),
    ("tesla_model3_awd", include_str!("../vehicles/tesla_model3_awd.toml")),
    ("toyota_4runner", include_str!("../vehicles/toyota_4runner.toml")),
    ("truck_6x4", include_str!("../vehicles/truck_6x4.toml")),
    ("unity_default", include_str!("../vehicles/unity_default.toml")),
];

/// The same of trailers, which drive behind one of the vehicles only.
const TRAILERS: [(&str, &str); 3] = [
    ("caravan", include_str!("../vehicles/trailers/caravan.toml")),
    ("semitrailer", include_str!("../vehicles/trailers/semitrailer.toml")),
    ("wagon", include_str!("../vehicles/trailers/wagon.toml")),
];

/// Names of the shipped trailers, in alphabetical order.
pub fn trailers() -> impl ExactSizeIterator<Item = &'static str> {
    TRAILERS.iter().map(|(name, _)| *name)
}

/// Names of the shipped vehicles, in alphabetical order.
pub fn names() -> impl ExactSizeIterator<Item = &'static str> {
    FILES.iter().map(|(name, _)| *name)
}

/// Text of the shipped vehicle or trailer called `name`.
pub fn find(name: &str) -> Option<&'static str> {
    FILES.iter().chain(&TRAILERS).find(|(known, _)| *known == name).map(|(_, text)| *text)
}
