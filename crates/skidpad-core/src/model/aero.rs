//! What the air does.

use crate::Vec3;

/// Aerodynamic forces: each `C v²` with v the speed through the air.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Aero {
    /// Drag `½ ρ Cd A`, N s²/m², ≥ 0, along the air that meets the car, at `drag_point`.
    pub drag: f32,
    /// Vehicle frame, m.
    pub drag_point: Vec3,
    /// Side force `½ ρ A ∂Cy/∂(sin β)`, N s²/m², ≥ 0, beyond what drag gives sideways: against the air's lateral component,
    /// `C |v| v_y`, at `side_point`, whose distance from the centre of mass makes the yaw moment.
    pub side: f32,
    /// Vehicle frame, m.
    pub side_point: Vec3,
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
