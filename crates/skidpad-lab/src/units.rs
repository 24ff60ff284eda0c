//! Towed vehicle units and their names.

use std::sync::Arc;

use skidpad_core::Model;
use skidpad_spec::LoadedVehicle;

/// Towed vehicle unit.
#[derive(Clone, Debug, PartialEq)]
pub struct TowedUnit {
    /// Model of the unit.
    pub model: Arc<Model>,
    /// Whether the unit is the dolly of the unit behind it. The two form one trailer.
    pub is_dolly: bool,
}

impl From<Arc<Model>> for TowedUnit {
    fn from(model: Arc<Model>) -> Self {
        Self { model, is_dolly: false }
    }
}

/// Reason why a vehicle cannot be towed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TowingError {
    /// Trailer behind a vehicle that cannot tow.
    #[error("`{}` is towed by a vehicle without a `[hitch]`", skidpad_spec::printable::one_line(name))]
    NoHitchAhead {
        /// Name of the trailer.
        name: String,
    },
    /// Vehicle that is no trailer.
    #[error("`{}` has no `[coupler]`", skidpad_spec::printable::one_line(name))]
    NoCoupler {
        /// Name of the vehicle.
        name: String,
    },
}

/// Returns `trailers`, which are ordered from the front and have a name each, as towed units behind `car`. A full
/// trailer is two units: its dolly, then the trailer.
///
/// # Errors
/// Returns an error with the name of the first trailer that is behind a vehicle without a hitch or has no coupler. If
/// both apply to it, the missing hitch is reported.
pub fn hitch_trailers<'a>(
    car: &Model,
    trailers: impl IntoIterator<Item = (&'a str, &'a LoadedVehicle)>,
) -> Result<Vec<TowedUnit>, TowingError> {
    let mut units: Vec<TowedUnit> = Vec::new();
    for (name, trailer) in trailers {
        let ahead = units.last().map_or(car, |unit| &unit.model);
        if ahead.parts().hitch.is_none() {
            return Err(TowingError::NoHitchAhead { name: name.to_owned() });
        }
        if trailer.model.parts().coupler.is_none() {
            return Err(TowingError::NoCoupler { name: name.to_owned() });
        }
        units.extend(trailer.dolly.clone().map(|model| TowedUnit { model, is_dolly: true }));
        units.push(Arc::clone(&trailer.model).into());
    }
    Ok(units)
}

/// Part of a trailer that a unit forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrailerPart {
    /// Complete trailer.
    Whole,
    /// Dolly of a full trailer.
    Dolly,
    /// Unit that rests on the dolly of a full trailer.
    OnDolly,
}

/// Name of a towed unit. Trailers are numbered from the front; a dolly has the number of the trailer it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitName {
    /// Number of the trailer, from 1.
    pub trailer: usize,
    /// Part of that trailer.
    pub part: TrailerPart,
}

impl UnitName {
    /// Returns the name of each unit of `towed`, which are ordered from the front. Trailers are numbered from 1. A
    /// dolly and the unit behind it have the same trailer number.
    pub fn name_all(towed: &[TowedUnit]) -> Vec<Self> {
        // Number of the current trailer, and whether the previous unit was a dolly.
        let (mut trailer, mut follows_dolly) = (1, false);
        let name_unit = |unit: &TowedUnit| {
            let part = match (unit.is_dolly, follows_dolly) {
                (true, _) => TrailerPart::Dolly,
                (false, true) => TrailerPart::OnDolly,
                (false, false) => TrailerPart::Whole,
            };
            let name = Self { trailer, part };
            // A dolly does not complete its trailer.
            trailer += usize::from(!unit.is_dolly);
            follows_dolly = unit.is_dolly;
            name
        };
        towed.iter().map(name_unit).collect()
    }

    /// Returns the key used in names of columns and metrics, such as `trailer1` or `trailer1_dolly`.
    pub fn key(self) -> String {
        format!("trailer{}{}", self.trailer, if self.part == TrailerPart::Dolly { "_dolly" } else { "" })
    }

    /// Returns the name in words, such as "Trailer 1" or "Dolly of trailer 1".
    pub fn label(self) -> String {
        let number = self.trailer;
        match self.part {
            TrailerPart::Whole => format!("Trailer {number}"),
            TrailerPart::Dolly => format!("Dolly of trailer {number}"),
            TrailerPart::OnDolly => format!("Trailer {number} on its dolly"),
        }
    }

    /// Returns the name of the joint in front of the unit: "turntable" on a dolly, otherwise "hitch".
    pub(crate) fn hitch(self) -> &'static str {
        if self.part == TrailerPart::OnDolly { "turntable" } else { "hitch" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::model;

    /// Keys and labels of a trailer, of a trailer on a dolly and of a further trailer.
    #[test]
    fn a_dolly_counts_with_its_trailer() {
        let unit = |is_dolly| TowedUnit { is_dolly, ..TowedUnit::from(Arc::new(model())) };
        let names = UnitName::name_all(&[unit(false), unit(true), unit(false), unit(false)]);
        let keys: Vec<String> = names.iter().map(|name| name.key()).collect();
        assert_eq!(keys, ["trailer1", "trailer2_dolly", "trailer2", "trailer3"]);
        let labels: Vec<String> = names[1..].iter().map(|name| name.label()).collect();
        assert_eq!(labels, ["Dolly of trailer 2", "Trailer 2 on its dolly", "Trailer 3"]);
    }
}
