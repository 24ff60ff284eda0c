//! Tyre sizes as printed on the sidewall.

/// Metric tyre size, for example `P275/40ZR18`, `245/45 R 17 98W`, `195/65R15`, `185 R14 C`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TyreSize {
    /// Section width, mm.
    pub width_mm: f64,
    /// Aspect ratio: section height over section width, %.
    pub aspect_percent: f64,
    /// Rim diameter, inches.
    pub rim_in: f64,
}

/// Rolling radius under the load of the car, as a share of the unloaded radius. Passenger cars have 0.96 to 0.98
/// (Gillespie, Fundamentals of Vehicle Dynamics, takes the rolling radius a few per cent below the free one).
const ROLLING_RADIUS_SHARE: f64 = 0.97;

/// Aspect ratio of a size that does not state it, %. The first radial tyres had 82 %, and sizes of vans and trailers
/// still omit it. Recent tyres have as little as 80 %, which is a radius 1 % smaller.
const DEFAULT_ASPECT_PERCENT: &str = "82";

impl TyreSize {
    /// Parses a size: optional leading letters such as `P` or `LT`, width, `/` and aspect ratio (82 % if absent), at
    /// least one letter of construction or speed, rim diameter. Blanks and hyphens may stand among the letters before
    /// the rim. Text after the rim is ignored, such as `C` or a load index. Returns `None` if a part is missing or is
    /// no number, and for sizes beyond those of road tyres (width 50 to 600 mm, aspect ratio 15 to 110 %, rim 4 to 30
    /// inches).
    pub fn parse(text: &str) -> Option<Self> {
        // Each step takes one part and leaves the text behind it in `rest`.
        let (width, rest) = split_leading_number(text.trim().trim_start_matches(|c: char| c.is_ascii_alphabetic()))?;
        let (aspect, rest) = match rest.trim_start().strip_prefix('/') {
            Some(rest) => split_leading_number(rest)?,
            None => (DEFAULT_ASPECT_PERCENT, rest),
        };
        let is_construction_character = |c: char| c.is_ascii_alphabetic() || c == '-' || c == ' ';
        let rim = rest.trim_start_matches(is_construction_character);
        // The letters are required, because they separate the aspect ratio from the rim.
        let construction = &rest[..rest.len() - rim.len()];
        let rim_length = rim.find(|c: char| !(c.is_ascii_digit() || c == '.')).unwrap_or(rim.len());
        let parse_number = |text: &str| text.trim().parse::<f64>().ok();
        let size = Self {
            width_mm: parse_number(width)?,
            aspect_percent: parse_number(aspect)?,
            rim_in: parse_number(&rim[..rim_length])?,
        };
        let is_road_tyre = construction.contains(|c: char| c.is_ascii_alphabetic())
            && (50.0..=600.0).contains(&size.width_mm)
            && (15.0..=110.0).contains(&size.aspect_percent)
            && (4.0..=30.0).contains(&size.rim_in);
        is_road_tyre.then_some(size)
    }

    /// Returns the unloaded radius, m: half the rim diameter plus the section height.
    pub fn unloaded_radius_m(&self) -> f64 {
        0.5 * self.rim_in * 0.0254 + self.width_mm * 1e-3 * self.aspect_percent * 0.01
    }

    /// Returns the radius of the tyre rolling under its car, m: 0.97 of the unloaded radius.
    pub fn rolling_radius_m(&self) -> f64 {
        ROLLING_RADIUS_SHARE * self.unloaded_radius_m()
    }
}

/// Splits a text into its leading number (digits and dots), which may be empty, and the rest. Returns `None` if nothing
/// follows the number.
fn split_leading_number(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    Some(text.split_at(text.find(|c: char| !(c.is_ascii_digit() || c == '.'))?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Row B14: P275/40ZR-18 is 338.6 mm unloaded. Other notations give their radii within 1 µm, also without an aspect
    /// ratio, and the rolling radius is 0.97 of them.
    #[test]
    fn b14_a_tyre_code_gives_its_radius() {
        for (code, radius) in [
            ("P275/40ZR-18", 0.3386),
            ("275/40 R18", 0.3386),
            ("245/45 R 17 98W", 0.326_15),
            ("195/65R15", 0.317_25),
            ("LT 265/70R17", 0.4014),
            ("315/80 R22.5", 0.537_75),
            ("185 R14 C", 0.3295),
            ("165R13", 0.3004),
        ] {
            let size = TyreSize::parse(code).unwrap_or_else(|| panic!("{code}"));
            assert!((size.unloaded_radius_m() - radius).abs() < 1e-6, "{code}: {}", size.unloaded_radius_m());
            assert!((size.rolling_radius_m() - 0.97 * radius).abs() < 1e-6);
        }
    }

    /// Texts without width, letters or rim, with impossible numbers or with a leading hyphen are no sizes.
    #[test]
    fn other_texts_are_no_sizes() {
        for text in [
            "",
            "275",
            "275/40",
            "275/R18",
            "/40R18",
            "275/4018",
            "185 14",
            "185 C",
            "R14",
            "9e9/40R18",
            "275/40R",
            "275/40R99",
            "é/ü",
            "-275/40R18",
        ] {
            assert_eq!(TyreSize::parse(text), None, "{text}");
        }
    }
}
