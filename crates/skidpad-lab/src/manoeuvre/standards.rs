//! Standards that manoeuvres are based on.

/// Standards of the manoeuvres that are based on one: name of the manoeuvre, standard.
const STANDARDS: &[(&str, &str)] = &[
    ("braking", "ISO 21994"),
    ("threshold-braking", "ISO 21994"),
    ("split-mu", "ISO 14512"),
    ("road-load", "SAE J2263"),
    ("step-steer", "ISO 7401"),
    ("sine-steer", "ISO 7401"),
    ("random-steer", "ISO 7401"),
    ("swept-sine", "ISO 7401"),
    ("weave", "ISO 13674-1"),
    ("circle", "ISO 4138"),
    ("power-off-in-turn", "ISO 9816"),
    ("power-off-series", "ISO 9816"),
    ("braking-in-turn", "ISO 7975"),
    ("braking-series", "ISO 7975"),
    ("lane-change", "ISO 3888-1"),
    ("moose", "ISO 3888-2"),
    ("ride", "ISO 2631-1"),
    ("tilt-table", "SAE J2180"),
];

/// Returns the standard that the manoeuvre called `name` is based on; empty if there is none.
pub fn standard_of(name: &str) -> &'static str {
    STANDARDS.iter().find(|(manoeuvre, _)| *manoeuvre == name).map_or("", |(_, standard)| standard)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manoeuvre::by_name;

    #[test]
    fn every_name_is_that_of_a_manoeuvre() {
        for (name, standard) in STANDARDS {
            assert!(by_name(name).is_some() && standard_of(name) == *standard, "{name}");
        }
        assert_eq!(standard_of("slalom"), "");
    }
}
