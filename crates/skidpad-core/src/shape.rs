//! Boxes: collision box and inertia.

use bevy_math::Vec3;

/// Box that represents the body in collisions, aligned with the vehicle axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Hull {
    /// Centre in the vehicle frame (origin at the centre of mass), m.
    pub centre: Vec3,
    /// Half lengths of the edges, m, each > 0.
    pub half_extents: Vec3,
}

/// Returns the moments of inertia (kg m²) of a box of `mass` kg and full `size` (m) about its own centre.
pub fn box_inertia(mass: f64, size: [f64; 3]) -> [f64; 3] {
    let [x, y, z] = size.map(|length| length * length);
    [(y + z) * mass / 12.0, (x + z) * mass / 12.0, (x + y) * mass / 12.0]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inertia_of_a_box() {
        // Body of the Jolt and PhysX measurements: 1500 kg, 4.2 × 1.8 × 0.6 m, 450 / 2250 / 2610 kg m².
        assert_eq!(box_inertia(1500.0, [4.2, 1.8, 0.6]).map(f64::round), [450.0, 2250.0, 2610.0]);
    }
}
