//! The one dense solve of a step: a symmetric positive definite system in the six velocities of a rigid body.

use bevy_math::{Mat3, Vec3};

/// Six components: linear, then angular.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Six {
    pub linear: Vec3,
    pub angular: Vec3,
}

impl Six {
    pub fn new(linear: Vec3, angular: Vec3) -> Self {
        Self { linear, angular }
    }

    pub fn dot(self, other: Self) -> f32 {
        self.linear.dot(other.linear) + self.angular.dot(other.angular)
    }

    fn to_array(self) -> [f32; 6] {
        let (l, a) = (self.linear, self.angular);
        [l.x, l.y, l.z, a.x, a.y, a.z]
    }
}

impl core::ops::Add for Six {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::new(self.linear + other.linear, self.angular + other.angular)
    }
}

impl core::ops::Sub for Six {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::new(self.linear - other.linear, self.angular - other.angular)
    }
}

impl core::ops::Mul<f32> for Six {
    type Output = Self;
    fn mul(self, factor: f32) -> Self {
        Self::new(self.linear * factor, self.angular * factor)
    }
}

/// Lower triangle of a symmetric 6 × 6 matrix.
///
/// Mirroring a car flips the sign of some components; every operation here is a sum of products whose terms all
/// keep or all flip their sign, so a mirrored system gives the mirrored solution bit for bit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Symmetric6 {
    rows: [[f32; 6]; 6],
}

impl Symmetric6 {
    /// The zero matrix, to add outer products to.
    pub fn zero() -> Self {
        Self { rows: [[0.0; 6]; 6] }
    }

    /// Adds `mass` (kg) on the linear and `inertia` (kg m²) on the angular diagonal block.
    pub fn add_mass(&mut self, mass: f32, inertia: &Mat3) {
        let (x, y, z) = (inertia.x_axis, inertia.y_axis, inertia.z_axis);
        for i in 0..3 {
            self.rows[i][i] += mass;
        }
        self.rows[3][3] += x.x;
        self.rows[4][3] += x.y;
        self.rows[5][3] += x.z;
        self.rows[4][4] += y.y;
        self.rows[5][4] += y.z;
        self.rows[5][5] += z.z;
    }

    /// Adds `left_weight * l lᵀ + right_weight * r rᵀ`, alike in every bit when left and right change places.
    #[inline]
    pub fn add_pair(&mut self, left_weight: f32, left: Six, right_weight: f32, right: Six) {
        let (l, wl) = (left.to_array(), (left * left_weight).to_array());
        let (r, wr) = (right.to_array(), (right * right_weight).to_array());
        for (i, row) in self.rows.iter_mut().enumerate() {
            for j in 0..=i {
                row[j] += wl[i] * l[j] + wr[i] * r[j];
            }
        }
    }

    /// Solution of `self * x == right`; needs a positive definite matrix.
    ///
    /// Elimination in blocks of three: the angular block's Schur complement, each inverted by cofactors. Straight-line
    /// code takes a third of the instructions of a looped LDLᵀ.
    #[inline]
    pub fn solve(&self, right: Six) -> Six {
        let r = &self.rows;
        let linear = Symmetric3::new(r[0][0], r[1][0], r[1][1], r[2][0], r[2][1], r[2][2]).inverse();
        // Columns of the coupling block: how each linear velocity enters the angular equations.
        let [cx, cy, cz] = [0, 1, 2].map(|k| Vec3::new(r[3][k], r[4][k], r[5][k]));
        let coupled = |v: Vec3| cx * v.x + cy * v.y + cz * v.z;
        let (wx, wy, wz) = (coupled(linear.x), coupled(linear.y), coupled(linear.z));
        let schur = Symmetric3::new(
            r[3][3] - (wx.x * cx.x + wy.x * cy.x + wz.x * cz.x),
            r[4][3] - (wx.y * cx.x + wy.y * cy.x + wz.y * cz.x),
            r[4][4] - (wx.y * cx.y + wy.y * cy.y + wz.y * cz.y),
            r[5][3] - (wx.z * cx.x + wy.z * cy.x + wz.z * cz.x),
            r[5][4] - (wx.z * cx.y + wy.z * cy.y + wz.z * cz.y),
            r[5][5] - (wx.z * cx.z + wy.z * cy.z + wz.z * cz.z),
        )
        .inverse();
        let reduced = right.angular - (wx * right.linear.x + wy * right.linear.y + wz * right.linear.z);
        let angular = schur.times(reduced);
        let coupling = Vec3::new(cx.dot(angular), cy.dot(angular), cz.dot(angular));
        Six::new(linear.times(right.linear - coupling), angular)
    }
}

/// A symmetric 3 × 3 matrix by columns.
struct Symmetric3 {
    x: Vec3,
    y: Vec3,
    z: Vec3,
}

impl Symmetric3 {
    fn new(xx: f32, xy: f32, yy: f32, xz: f32, yz: f32, zz: f32) -> Self {
        Self { x: Vec3::new(xx, xy, xz), y: Vec3::new(xy, yy, yz), z: Vec3::new(xz, yz, zz) }
    }

    fn inverse(&self) -> Self {
        let (x, y, z) = (self.y.cross(self.z), self.z.cross(self.x), self.x.cross(self.y));
        let scale = 1.0 / self.x.dot(x);
        Self { x: x * scale, y: y * scale, z: z * scale }
    }

    fn times(&self, v: Vec3) -> Vec3 {
        self.x * v.x + self.y * v.y + self.z * v.z
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_a_positive_definite_system() {
        let mut m = Symmetric6::zero();
        m.add_mass(1500.0, &Mat3::from_diagonal(Vec3::new(480.0, 2350.0, 2500.0)));
        let rows = [
            Six::new(Vec3::Z, Vec3::new(0.8, -1.3, 0.0)),
            Six::new(Vec3::new(0.1, 0.9, 0.2), Vec3::new(-0.8, 0.3, 1.4)),
        ];
        m.add_pair(300.0, rows[0], 300.0, rows[1]);
        let wanted = Six::new(Vec3::new(1.0, -2.0, 0.5), Vec3::new(0.3, 0.2, -0.7));
        let mut right = Six::new(wanted.linear * 1500.0, wanted.angular * Vec3::new(480.0, 2350.0, 2500.0));
        for row in rows {
            right = right + row * (300.0 * row.dot(wanted));
        }
        let error = m.solve(right) - wanted;
        // Six eliminations in f32 on a system of condition 5.
        assert!(error.dot(error) < 1e-10, "{error:?}");
    }
}
