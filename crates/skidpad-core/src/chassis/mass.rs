//! Inertia of boxes.

/// Returns the moments of inertia (kg m²) of a box of `mass` kg and full `size` (m) about its own centre.
pub fn box_inertia(mass: f64, size: [f64; 3]) -> [f64; 3] {
    let [x, y, z] = size.map(|s| s * s);
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
