//! Helpers and tricks a vehicle may have: none unless it asks for them.

use super::check::not_negative;
use super::{ModelError, ModelParts};
use crate::budget::Assist;

/// Assists of a vehicle, each off by default.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Assists {
    /// Rate at which every rotation of the chassis dies away by itself, 1/s, ≥ 0; 0 is off.
    pub angular_drag: f32,
}

impl Assists {
    pub(super) fn check(&self) -> Result<(), ModelError> {
        not_negative("angular drag", self.angular_drag)
    }
}

/// Those that can add anything to a car of `parts`, in the order of [`Assist::ALL`].
pub(super) fn used(parts: &ModelParts) -> Box<[Assist]> {
    let assists = &parts.assists;
    let uses = |assist: &Assist| match assist {
        Assist::AngularDrag => assists.angular_drag > 0.0,
    };
    Assist::ALL.iter().copied().filter(uses).collect()
}
