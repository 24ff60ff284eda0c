//! Vehicle units that are towed, and what they are called.

use std::sync::Arc;

use skidpad_core::Model;

/// A vehicle unit that is towed.
#[derive(Clone, Debug, PartialEq)]
pub struct Towed {
    /// What it is.
    pub model: Arc<Model>,
    /// Whether it is the dolly of the unit behind it, with which it makes one trailer.
    pub is_dolly: bool,
}

impl From<Arc<Model>> for Towed {
    fn from(model: Arc<Model>) -> Self {
        Self { model, is_dolly: false }
    }
}

/// Which part of a trailer a unit is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    Whole,
    /// The dolly of a full trailer.
    Dolly,
    /// What rests on that dolly.
    OnDolly,
}

/// Which unit of a train: trailers count from the front, a dolly with the trailer it carries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitName {
    /// Number of the trailer, from 1.
    pub trailer: usize,
    /// Which part of it.
    pub part: Part,
}

impl UnitName {
    /// Names of `towed`, from the front.
    pub fn of(towed: &[Towed]) -> Vec<Self> {
        let (mut trailer, mut on_dolly) = (1, false);
        let name = |unit: &Towed| {
            let part = match (unit.is_dolly, on_dolly) {
                (true, _) => Part::Dolly,
                (false, true) => Part::OnDolly,
                (false, false) => Part::Whole,
            };
            let name = Self { trailer, part };
            trailer += usize::from(!unit.is_dolly);
            on_dolly = unit.is_dolly;
            name
        };
        towed.iter().map(name).collect()
    }

    /// In names of columns and figures, like `trailer1` and `trailer1_dolly`.
    pub fn key(self) -> String {
        format!("trailer{}{}", self.trailer, if self.part == Part::Dolly { "_dolly" } else { "" })
    }

    /// In words, like "Trailer 1" and "Dolly of trailer 1".
    pub fn label(self) -> String {
        let number = self.trailer;
        match self.part {
            Part::Whole => format!("Trailer {number}"),
            Part::Dolly => format!("Dolly of trailer {number}"),
            Part::OnDolly => format!("Trailer {number} on its dolly"),
        }
    }

    /// What holds its coupler.
    pub(crate) fn hitch(self) -> &'static str {
        if self.part == Part::OnDolly { "turntable" } else { "hitch" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::model;

    #[test]
    fn a_dolly_counts_with_its_trailer() {
        let unit = |is_dolly| Towed { is_dolly, ..Towed::from(Arc::new(model())) };
        let names = UnitName::of(&[unit(false), unit(true), unit(false), unit(false)]);
        let keys: Vec<String> = names.iter().map(|name| name.key()).collect();
        assert_eq!(keys, ["trailer1", "trailer2_dolly", "trailer2", "trailer3"]);
        let labels: Vec<String> = names[1..].iter().map(|name| name.label()).collect();
        assert_eq!(labels, ["Dolly of trailer 2", "Trailer 2 on its dolly", "Trailer 3"]);
    }
}
