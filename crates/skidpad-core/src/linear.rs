//! Vectors over lanes, and the one dense solve of a step: a symmetric positive definite system in the six velocities of
//! a rigid body.

use core::ops::{Add, Mul, Sub};

use crate::lane::{Four, Lane};
use bevy_math::{Mat3, Vec3};

/// Three components.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Vec3Lanes<L> {
    pub x: L,
    pub y: L,
    pub z: L,
}

impl<L: Lane> Vec3Lanes<L> {
    pub fn new(x: L, y: L, z: L) -> Self {
        Self { x, y, z }
    }

    /// `vector` in every lane.
    #[inline(always)]
    pub fn splat(vector: Vec3) -> Self {
        Self::new(L::splat(vector.x), L::splat(vector.y), L::splat(vector.z))
    }

    #[inline(always)]
    pub fn dot(self, other: Self) -> L {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        Self::new(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )
    }

    /// It, `by` higher.
    #[inline(always)]
    pub fn raised(self, by: L) -> Self {
        Self::new(self.x, self.y, self.z + by)
    }

    /// `matrix` times it.
    #[inline(always)]
    pub fn through(self, matrix: &Mat3) -> Self {
        Self::splat(matrix.x_axis) * self.x + Self::splat(matrix.y_axis) * self.y + Self::splat(matrix.z_axis) * self.z
    }

    #[inline(always)]
    pub fn select(mask: L::Mask, yes: Self, no: Self) -> Self {
        Self::new(L::select(mask, yes.x, no.x), L::select(mask, yes.y, no.y), L::select(mask, yes.z, no.z))
    }
}

impl Vec3Lanes<Four> {
    /// The vector of one lane.
    pub fn lane(self, lane: usize) -> [f32; 3] {
        [self.x, self.y, self.z].map(|v| v.lanes()[lane])
    }
}

impl<L: Lane> Add for Vec3Lanes<L> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::new(self.x + other.x, self.y + other.y, self.z + other.z)
    }
}

impl<L: Lane> Sub for Vec3Lanes<L> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self::new(self.x - other.x, self.y - other.y, self.z - other.z)
    }
}

impl<L: Lane> Mul<L> for Vec3Lanes<L> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: L) -> Self {
        Self::new(self.x * factor, self.y * factor, self.z * factor)
    }
}

/// Six components: linear, then angular.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct SpatialVector<L> {
    pub linear: Vec3Lanes<L>,
    pub angular: Vec3Lanes<L>,
}

impl<L: Lane> SpatialVector<L> {
    pub fn new(linear: Vec3Lanes<L>, angular: Vec3Lanes<L>) -> Self {
        Self { linear, angular }
    }

    #[inline(always)]
    pub fn dot(self, other: Self) -> L {
        self.linear.dot(other.linear) + self.angular.dot(other.angular)
    }

    fn to_array(self) -> [L; 6] {
        let (l, a) = (self.linear, self.angular);
        [l.x, l.y, l.z, a.x, a.y, a.z]
    }
}

impl SpatialVector<f32> {
    #[inline(always)]
    pub fn of(linear: Vec3, angular: Vec3) -> Self {
        Self::new(Vec3Lanes::splat(linear), Vec3Lanes::splat(angular))
    }

    /// The linear and the angular part.
    #[inline(always)]
    pub fn parts(self) -> (Vec3, Vec3) {
        let (l, a) = (self.linear, self.angular);
        (Vec3::new(l.x, l.y, l.z), Vec3::new(a.x, a.y, a.z))
    }

    /// It in every lane.
    #[inline(always)]
    pub fn wide(self) -> SpatialVector<Four> {
        let (linear, angular) = self.parts();
        SpatialVector::new(Vec3Lanes::splat(linear), Vec3Lanes::splat(angular))
    }
}

impl SpatialVector<Four> {
    /// Each lane's row less that of the wheel across.
    #[inline(always)]
    pub fn less_across(self) -> Self {
        let of = |t: Vec3Lanes<Four>| Vec3Lanes::new(t.x - t.x.across(), t.y - t.y.across(), t.z - t.z.across());
        Self::new(of(self.linear), of(self.angular))
    }

    /// Each lane's row and that of the wheel across.
    #[inline(always)]
    pub fn and_across(self) -> Self {
        let of = |t: Vec3Lanes<Four>| Vec3Lanes::new(t.x + t.x.across(), t.y + t.y.across(), t.z + t.z.across());
        Self::new(of(self.linear), of(self.angular))
    }

    /// The row of one lane.
    pub fn lane(self, lane: usize) -> SpatialVector<f32> {
        SpatialVector::of(self.linear.lane(lane).into(), self.angular.lane(lane).into())
    }

    /// Sum of the lanes, axle by axle.
    #[inline(always)]
    pub fn sum(self) -> SpatialVector<f32> {
        let (l, a) = (self.linear, self.angular);
        let [lx, ly, lz, ax] = Four::sums([l.x, l.y, l.z, a.x]);
        let [ay, az, ..] = Four::sums([a.y, a.z, a.y, a.z]);
        SpatialVector::new(Vec3Lanes::new(lx, ly, lz), Vec3Lanes::new(ax, ay, az))
    }
}

impl<L: Lane> Add for SpatialVector<L> {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self::new(self.linear + other.linear, self.angular + other.angular)
    }
}

impl<L: Lane> Sub for SpatialVector<L> {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self::new(self.linear - other.linear, self.angular - other.angular)
    }
}

impl<L: Lane> Mul<L> for SpatialVector<L> {
    type Output = Self;
    #[inline(always)]
    fn mul(self, factor: L) -> Self {
        Self::new(self.linear * factor, self.angular * factor)
    }
}

/// Entries of the lower triangle of a symmetric 6 × 6 matrix.
const ENTRIES: usize = 21;

/// Sum of weighted outer products of rows, still by lane.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OuterProducts {
    /// Row by row; three more than needed, for sums of four at a time.
    entries: [Four; ENTRIES + 3],
}

impl OuterProducts {
    /// None yet.
    #[inline(always)]
    pub fn none() -> Self {
        Self { entries: [Four::default(); ENTRIES + 3] }
    }

    /// Adds `weight * row rowᵀ`.
    #[inline(always)]
    pub fn add(&mut self, weight: Four, row: SpatialVector<Four>) {
        let (r, weighted) = (row.to_array(), (row * weight).to_array());
        let mut entries = self.entries.iter_mut();
        for (i, weighted) in weighted.into_iter().enumerate() {
            for (&r, entry) in r[..=i].iter().zip(&mut entries) {
                *entry += weighted * r;
            }
        }
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
    /// Sum over the lanes of `products`, plus `mass` (kg) on the linear and `inertia` (kg m²) on the angular diagonal
    /// block.
    #[inline(always)]
    pub fn new(mass: f32, inertia: &Mat3, products: &OuterProducts) -> Self {
        let mut sums = [0.0; ENTRIES + 3];
        for k in (0..ENTRIES).step_by(4) {
            let [a, b, c, d] = [0, 1, 2, 3].map(|n| products.entries[k + n]);
            sums[k..k + 4].copy_from_slice(&Four::sums([a, b, c, d]));
        }
        let mut rows = [[0.0; 6]; 6];
        let mut k = 0;
        for (i, row) in rows.iter_mut().enumerate() {
            row[..=i].copy_from_slice(&sums[k..=k + i]);
            k += i + 1;
        }
        let (x, y, z) = (inertia.x_axis, inertia.y_axis, inertia.z_axis);
        for (i, row) in rows.iter_mut().take(3).enumerate() {
            row[i] += mass;
        }
        rows[3][3] += x.x;
        rows[4][3] += x.y;
        rows[5][3] += x.z;
        rows[4][4] += y.y;
        rows[5][4] += y.z;
        rows[5][5] += z.z;
        Self { rows }
    }

    /// `self * x`.
    pub fn times(&self, x: SpatialVector<f32>) -> SpatialVector<f32> {
        let x = x.to_array();
        let entry = |i: usize, k: usize| if k <= i { self.rows[i][k] } else { self.rows[k][i] };
        let [a, b, c, d, e, f] = core::array::from_fn(|i| (0..6).fold(0.0, |sum, k| sum + entry(i, k) * x[k]));
        SpatialVector::of(Vec3::new(a, b, c), Vec3::new(d, e, f))
    }

    /// Solution of `self * x == right`; needs a positive definite matrix.
    ///
    /// Elimination in blocks of three, each as LDLᵀ, written out: a third of the instructions of a loop. Cofactors would be
    /// cheaper yet, but lose all digits where a row is a thousand times stiffer than the mass.
    #[inline]
    pub fn solve(&self, right: SpatialVector<f32>) -> SpatialVector<f32> {
        let r = &self.rows;
        let (force, moment) = right.parts();
        let linear = Factors::of(r[0][0], r[1][0], r[1][1], r[2][0], r[2][1], r[2][2]);
        // How each angular velocity enters the linear equations.
        let [x, y, z] = [3, 4, 5].map(|k| linear.down(Vec3::new(r[k][0], r[k][1], r[k][2])));
        let [dx, dy, dz] = [x, y, z].map(|column| column * linear.inverse_pivots);
        let angular = Factors::of(
            r[3][3] - x.dot(dx),
            r[4][3] - y.dot(dx),
            r[4][4] - y.dot(dy),
            r[5][3] - z.dot(dx),
            r[5][4] - z.dot(dy),
            r[5][5] - z.dot(dz),
        );
        let force = linear.down(force);
        let reduced = moment - Vec3::new(dx.dot(force), dy.dot(force), dz.dot(force));
        let turn = angular.up(angular.down(reduced) * angular.inverse_pivots);
        let shift = linear.up((force - (x * turn.x + y * turn.y + z * turn.z)) * linear.inverse_pivots);
        SpatialVector::of(shift, turn)
    }
}

/// `L D Lᵀ` of a symmetric 3 × 3 matrix.
struct Factors {
    /// Below the ones on the diagonal of L: yx, zx, zy.
    yx: f32,
    zx: f32,
    zy: f32,
    inverse_pivots: Vec3,
}

/// A pivot is not less than this share of its diagonal entry: what rounding leaves of it.
const LEAST_PIVOT: f32 = f32::EPSILON;

impl Factors {
    #[inline(always)]
    fn of(xx: f32, xy: f32, yy: f32, xz: f32, yz: f32, zz: f32) -> Self {
        let first = 1.0 / xx;
        let (yx, zx) = (xy * first, xz * first);
        let second = 1.0 / (yy - xy * yx).max(yy * LEAST_PIVOT);
        let between = yz - xz * yx;
        let zy = between * second;
        let third = 1.0 / (zz - (xz * zx + between * zy)).max(zz * LEAST_PIVOT);
        Self { yx, zx, zy, inverse_pivots: Vec3::new(first, second, third) }
    }

    /// `L⁻¹ v`.
    #[inline(always)]
    fn down(&self, v: Vec3) -> Vec3 {
        let y = v.y - self.yx * v.x;
        Vec3::new(v.x, y, v.z - (self.zx * v.x + self.zy * y))
    }

    /// `L⁻ᵀ v`.
    #[inline(always)]
    fn up(&self, v: Vec3) -> Vec3 {
        let y = v.y - self.zy * v.z;
        Vec3::new(v.x - (self.yx * y + self.zx * v.z), y, v.z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solves_a_positive_definite_system() {
        let rows = [
            SpatialVector::of(Vec3::Z, Vec3::new(0.8, -1.3, 0.0)),
            SpatialVector::of(Vec3::new(0.1, 0.9, 0.2), Vec3::new(-0.8, 0.3, 1.4)),
        ];
        let mut products = OuterProducts::none();
        products.add(Four::new([300.0, 0.0, 0.0, 0.0]), rows[0].wide());
        products.add(Four::new([0.0, 0.0, 300.0, 0.0]), rows[1].wide());
        let inertia = Vec3::new(480.0, 2350.0, 2500.0);
        let system = Symmetric6::new(1500.0, &Mat3::from_diagonal(inertia), &products);
        let (linear, angular) = (Vec3::new(1.0, -2.0, 0.5), Vec3::new(0.3, 0.2, -0.7));
        let wanted = SpatialVector::of(linear, angular);
        let mut right = SpatialVector::of(linear * 1500.0, angular * inertia);
        for row in rows {
            right = right + row * (300.0 * row.dot(wanted));
        }
        let error = system.solve(right) - wanted;
        // Six eliminations in f32 on a system of condition 5.
        assert!(error.dot(error) < 1e-10, "{error:?}");
    }
}
