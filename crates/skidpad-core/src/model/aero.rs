//! What the air does.

use crate::Vec3;

/// Aerodynamic forces: each `C v²` with v the speed through the air.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Aero {
    /// Drag `½ ρ Cd A`, N s²/m², ≥ 0, against the velocity, at `drag_point`.
    pub drag: f32,
    /// Vehicle frame, m.
    pub drag_point: Vec3,
    /// Surfaces that press the car down.
    pub downforce: [Surface; 2],
}

/// A surface whose force points down in the vehicle frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surface {
    /// `½ ρ Cl A`, N s²/m², positive downwards.
    pub coefficient: f32,
    /// Vehicle frame, m.
    pub point: Vec3,
}
