//! Matrices that turn vectors, with the components of a vector side by side.

use crate::lane::{Four, Lane};
use bevy_math::{Mat3, Vec3};

/// The columns of a 3 × 3 matrix, a component in each lane: what [`Mat3`] does to a vector, and its bits, in half the instructions.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Columns {
    x: Four,
    y: Four,
    z: Four,
}

impl Columns {
    /// Those of `matrix`.
    #[inline(always)]
    pub fn of(matrix: &Mat3) -> Self {
        let [x, y, z] = [matrix.x_axis, matrix.y_axis, matrix.z_axis].map(side_by_side);
        Self { x, y, z }
    }

    /// Those of the transposed matrix.
    #[inline(always)]
    pub fn transposed(&self) -> Self {
        let [x, y, z, _] = Four::transposed([self.x, self.y, self.z, Four::default()]);
        Self { x, y, z }
    }

    /// The matrix times `vector`, whose last lane does not count.
    #[inline(always)]
    pub fn times(&self, vector: Four) -> Four {
        let [x, y, z, _] = vector.lanes().map(Four::splat);
        self.x * x + self.y * y + self.z * z
    }
}

/// A vector's components in lanes.
#[inline(always)]
pub fn side_by_side(vector: Vec3) -> Four {
    Four::new([vector.x, vector.y, vector.z, 0.0])
}

/// The vector whose components are in lanes.
#[inline(always)]
pub fn vector(lanes: Four) -> Vec3 {
    let [x, y, z, _] = lanes.lanes();
    Vec3::new(x, y, z)
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::Quat;

    #[test]
    fn columns_turn_vectors_as_matrices_do() {
        let turn = Mat3::from_quat(Quat::from_xyzw(0.1, -0.7, 0.4, 0.58).normalize());
        for matrix in [
            turn,
            Mat3::from_cols(Vec3::new(480.0, -3.0, 12.0), Vec3::new(-3.0, 2350.0, 0.5), Vec3::new(12.0, 0.5, 2500.0)),
        ] {
            for of in [Vec3::new(0.3, -4.0, 1e-3), Vec3::new(-0.0, 7.5, -2.0)] {
                let columns = Columns::of(&matrix);
                let found = [columns, columns.transposed()].map(|columns| vector(columns.times(side_by_side(of))));
                let bits = |v: Vec3| v.to_array().map(f32::to_bits);
                assert_eq!(found.map(bits), [matrix * of, matrix.transpose() * of].map(bits));
            }
        }
    }
}
