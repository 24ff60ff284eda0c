//! Vectors of six components over SIMD lanes, and the only dense solve of a step: a symmetric positive definite system
//! in the six velocities of a rigid body.

use core::ops::{Add, Mul, Sub};

use crate::lane::{CarScalar, F32x4, Lane, Vec4Ops, WheelLanes};
use crate::vectors::{Mat3Lanes, Vec3Lanes};
use bevy_math::{Mat3, Vec3};

/// Spatial vector with a linear and an angular part: a twist (m/s, rad/s), an impulse (N s, N m s), or a row
/// (direction, and arm × direction in m).
///
/// In a step it is about the centre of mass, in vehicle axes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SpatialVector<L> {
    /// Velocity, impulse or direction.
    pub linear: Vec3Lanes<L>,
    /// Angular velocity, angular impulse or moment arm.
    pub angular: Vec3Lanes<L>,
}

impl<L: Lane> SpatialVector<L> {
    /// Builds a vector from its parts.
    #[inline(always)]
    pub fn new(linear: Vec3Lanes<L>, angular: Vec3Lanes<L>) -> Self {
        Self { linear, angular }
    }

    /// Returns the scalar product over all six components: for a row and a twist, the speed along the row (m/s).
    #[inline(always)]
    pub fn dot(self, other: Self) -> L {
        self.linear.dot(other.linear) + self.angular.dot(other.angular)
    }

    /// Returns `when_set` where `mask` is true, else `when_clear`.
    #[inline(always)]
    pub fn select(mask: L::Mask, when_set: Self, when_clear: Self) -> Self {
        Self::new(
            Vec3Lanes::select(mask, when_set.linear, when_clear.linear),
            Vec3Lanes::select(mask, when_set.angular, when_clear.angular),
        )
    }

    /// Returns the components: linear x, y, z, then angular x, y, z.
    #[inline(always)]
    fn to_array(self) -> [L; 6] {
        let (linear, angular) = (self.linear, self.angular);
        [linear.x, linear.y, linear.z, angular.x, angular.y, angular.z]
    }
}

impl SpatialVector<f32> {
    /// Builds a vector of single numbers from both parts.
    #[inline(always)]
    pub fn from_vec3s(linear: Vec3, angular: Vec3) -> Self {
        Self::new(Vec3Lanes::splat(linear), Vec3Lanes::splat(angular))
    }

    /// Returns the linear and the angular part.
    #[inline(always)]
    pub fn parts(self) -> (Vec3, Vec3) {
        let (linear, angular) = (self.linear, self.angular);
        (Vec3::new(linear.x, linear.y, linear.z), Vec3::new(angular.x, angular.y, angular.z))
    }
}

impl<C: Lane> SpatialVector<C> {
    /// Returns a car's vector at each of its wheels.
    #[inline(always)]
    pub fn broadcast_to_wheels<W: WheelLanes<Car = C>>(self) -> SpatialVector<W> {
        SpatialVector::new(self.linear.broadcast_to_wheels(), self.angular.broadcast_to_wheels())
    }
}

impl<W: WheelLanes> SpatialVector<W> {
    /// Returns the sum of `row_vector(row)` over the wheels of two axles of each car. `row_vector` is called once for
    /// each row (value of [`WheelLanes`] with one or four wheels). The two wheels of an axle are added first, so that a
    /// mirrored car has mirrored bits. The six components are summed in two groups of four; two of the sums are unused.
    #[inline(always)]
    pub fn sum_over_wheels(row_vector: impl FnMut(usize) -> Self) -> SpatialVector<W::Car> {
        let row_vectors = W::axle_pair_from_fn(row_vector);
        let parts = |k: usize| (row_vectors[k].linear, row_vectors[k].angular);
        // l: linear, a: angular.
        let [lx, ly, lz, ax] = W::sum_four_over_wheels(|k| {
            let (linear, angular) = parts(k);
            [linear.x, linear.y, linear.z, angular.x]
        });
        // The last two values only fill the array; their sums are dropped.
        let [ay, az, ..] = W::sum_four_over_wheels(|k| {
            let (_, angular) = parts(k);
            [angular.y, angular.z, angular.y, angular.z]
        });
        SpatialVector::new(Vec3Lanes::new(lx, ly, lz), Vec3Lanes::new(ax, ay, az))
    }

    /// Returns, in the place of each wheel, the vector of the wheel on the other side of its axle, component by
    /// component.
    #[inline(always)]
    pub fn opposite_wheels(vectors: W::AxlePairArray<Self>) -> W::AxlePairArray<Self> {
        let opposite_component =
            |component: fn(&Self) -> W| W::opposite(W::axle_pair_from_fn(|k| component(&vectors[k])));
        let [lx, ly, lz] = [
            opposite_component(|vector| vector.linear.x),
            opposite_component(|vector| vector.linear.y),
            opposite_component(|vector| vector.linear.z),
        ];
        let [ax, ay, az] = [
            opposite_component(|vector| vector.angular.x),
            opposite_component(|vector| vector.angular.y),
            opposite_component(|vector| vector.angular.z),
        ];
        W::axle_pair_from_fn(|k| Self::new(Vec3Lanes::new(lx[k], ly[k], lz[k]), Vec3Lanes::new(ax[k], ay[k], az[k])))
    }
}

impl SpatialVector<F32x4> {
    /// Returns at each wheel the sum of its vector and that of the opposite wheel, the same for both wheels of an axle.
    #[inline(always)]
    pub fn plus_opposite(self) -> Self {
        let [opposite] = Self::opposite_wheels([self]);
        self + opposite
    }

    /// Returns the sum of the lanes, added axle by axle.
    #[inline(always)]
    pub fn sum(self) -> SpatialVector<f32> {
        Self::sum_over_wheels(|_| self)
    }
}

impl<W: WheelLanes> SpatialVector<W> {
    /// Returns the vector of one lane.
    pub fn lane(self, lane: usize) -> SpatialVector<f32> {
        SpatialVector::from_vec3s(self.linear.lane(lane).into(), self.angular.lane(lane).into())
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

/// Number of entries that store the lower triangle of a symmetric 6 × 6 matrix, in the order of the elimination: six
/// quads of four. The first entry of each quad belongs to the upper left 3 × 3 block, the others to rows 3 to 5 of one
/// column. Three entries are unused.
const PACKED_ENTRIES: usize = 24;

/// Sum of weighted outer products `weight * row rowᵀ` of spatial vectors, separate for each lane (wheel).
#[derive(Clone, Copy, Debug)]
pub struct OuterProducts<W: WheelLanes = F32x4> {
    /// Packed lower triangle for each row of two axles.
    entries: W::AxlePairArray<[W; PACKED_ENTRIES]>,
}

impl<W: WheelLanes> OuterProducts<W> {
    /// Returns an empty sum.
    #[inline(always)]
    pub fn zero() -> Self {
        Self { entries: W::axle_pair_from_fn(|_| [W::default(); PACKED_ENTRIES]) }
    }

    /// Adds `weight * row rowᵀ` to the sum of the wheels in row `k` of two axles (see [`WheelLanes`]).
    #[inline(always)]
    pub fn add_to_row(&mut self, k: usize, weight: W, row: SpatialVector<W>) {
        add_outer_products(&mut self.entries[k], [(weight, row)]);
    }

    /// Builds the sum of `weight * row rowᵀ` over `TERMS` terms for the wheels of each row of two axles. `row_terms`
    /// returns the terms (weight, row) of row `k`, and is called once for each.
    #[inline(always)]
    pub fn from_terms<const TERMS: usize>(mut row_terms: impl FnMut(usize) -> [(W, SpatialVector<W>); TERMS]) -> Self {
        Self {
            entries: W::axle_pair_from_fn(
                #[inline(always)]
                |k| sum_outer_products(row_terms(k)),
            ),
        }
    }
}

/// Calls `entry` with row and column of each of the 21 entries of the lower triangle, and returns the results in packed
/// order, with `unused` for the three unused entries. The calls are written out: in a loop the compiler would first
/// zero the entries in memory.
#[inline(always)]
fn map_entries<T: Copy>(mut entry: impl FnMut(usize, usize) -> T, unused: T) -> [T; PACKED_ENTRIES] {
    #[rustfmt::skip]
    let entries = [
        entry(0, 0), entry(3, 0), entry(4, 0), entry(5, 0),
        entry(1, 1), entry(3, 1), entry(4, 1), entry(5, 1),
        entry(2, 2), entry(3, 2), entry(4, 2), entry(5, 2),
        entry(1, 0), entry(3, 3), entry(4, 3), entry(5, 3),
        entry(2, 0), unused, entry(4, 4), entry(5, 4),
        entry(2, 1), unused, unused, entry(5, 5),
    ];
    entries
}

/// Returns the packed index of the entry in row `i` and column `k`, for `k <= i < 6`; the inverse of the order of
/// [`map_entries`]. The upper left block (i < 3) has its diagonal at 0, 4, 8 and its entries (1,0), (2,0), (2,1) at 12,
/// 16, 20.
#[inline(always)]
const fn packed_index(i: usize, k: usize) -> usize {
    match i {
        0..3 if i == k => 4 * i,
        // (1,0), (2,0), (2,1): the first entries of the quads 3, 4 and 5.
        0..3 => 4 * (2 + i + k),
        // Rows 3 to 5: entries 1 to 3 of the quad of column k.
        _ => 4 * k + i - 2,
    }
}

/// Returns the packed entries of the sum of `weight * row rowᵀ` over the `terms` (weight, row), added to 0 in their
/// order. The three unused entries are 0.
#[inline(always)]
fn sum_outer_products<W: WheelLanes, const TERMS: usize>(terms: [(W, SpatialVector<W>); TERMS]) -> [W; PACKED_ENTRIES] {
    let (terms, zero) = (weight_rows(terms), W::default());
    map_entries(
        #[inline(always)]
        |i, k| terms.iter().fold(zero, |sum, (row, weighted)| sum + weighted[i] * row[k]),
        zero,
    )
}

/// Adds `weight * row rowᵀ` of each of the `terms` (weight, row), one after the other, to the packed `entries`.
#[inline(always)]
fn add_outer_products<W: WheelLanes, const TERMS: usize>(
    entries: &mut [W; PACKED_ENTRIES],
    terms: [(W, SpatialVector<W>); TERMS],
) {
    let terms = weight_rows(terms);
    map_entries(
        #[inline(always)]
        |i, k| {
            let entry = &mut entries[packed_index(i, k)];
            *entry = terms.iter().fold(*entry, |sum, (row, weighted)| sum + weighted[i] * row[k]);
        },
        // The closure changes the entries; its results `()` are dropped.
        (),
    );
}

/// Returns, for each of the `terms` (weight, row), the six components of the row, and of the row times its weight.
#[inline(always)]
fn weight_rows<W: WheelLanes, const TERMS: usize>(terms: [(W, SpatialVector<W>); TERMS]) -> [([W; 6], [W; 6]); TERMS] {
    terms.map(
        #[inline(always)]
        |(weight, row)| (row.to_array(), (row * weight).to_array()),
    )
}

impl OuterProducts {
    /// Returns the sum with each lane multiplied by its `share`.
    #[inline]
    pub fn scaled_by(mut self, share: F32x4) -> Self {
        self.entries.iter_mut().flatten().for_each(|entry| *entry = *entry * share);
        self
    }

    /// Adds `weight * row rowᵀ`.
    #[inline(always)]
    pub fn add(&mut self, weight: F32x4, row: SpatialVector<F32x4>) {
        self.add_terms([(weight, row)]);
    }

    /// Adds each `weight * row rowᵀ`, one after the other.
    #[inline(always)]
    pub fn add_terms<const TERMS: usize>(&mut self, terms: [(F32x4, SpatialVector<F32x4>); TERMS]) {
        add_outer_products(&mut self.entries[0], terms);
    }
}

/// Lower triangle of a symmetric 6 × 6 matrix.
///
/// Mirroring a car changes the sign of some components. Every operation here is a sum of products whose terms all
/// keep or all change their sign, so the solution of a mirrored system is mirrored bit for bit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Symmetric6<C: CarScalar = f32> {
    /// Entries in the order of [`OuterProducts`], four at a time.
    packed: [C::Vec4; PACKED_ENTRIES / 4],
}

impl<W: WheelLanes> OuterProducts<W> {
    /// Returns the sums over the wheels of each car of the four packed entries from index `k` on, as a quad.
    #[inline(always)]
    fn sum_entries(&self, k: usize) -> Vec4Of<W::Car> {
        let entries = &self.entries;
        Vec4Ops::from_array(W::sum_four_over_wheels(
            #[inline(always)]
            |row| [entries[row][k], entries[row][k + 1], entries[row][k + 2], entries[row][k + 3]],
        ))
    }
}

/// Four numbers of each car.
type Vec4Of<C> = <C as CarScalar>::Vec4;

/// Returns the first number of the quad.
#[inline(always)]
fn first_component<C: CarScalar>(quad: C::Vec4) -> C {
    let [first, ..] = quad.to_array();
    first
}

impl<C: CarScalar> Symmetric6<C> {
    /// Builds the matrix of each car: the sum of `products` over its wheels, plus `mass` (kg) on the diagonal of the
    /// linear block, plus `inertia` (kg m²) as the angular block.
    #[inline(always)]
    pub fn new<W: WheelLanes<Car = C>>(mass: f32, inertia: &Mat3, products: &OuterProducts<W>) -> Self {
        Self::from_lanes(C::splat(mass), &Mat3Lanes::from_mat3(inertia).map(C::splat), products)
    }

    /// Builds the matrix of [`Symmetric6::new`] with a `mass` (kg) and an `inertia` (kg m²) of its own for each car.
    /// Only the lower triangle of the inertia is used.
    #[inline(always)]
    pub fn from_lanes<W: WheelLanes<Car = C>>(mass: C, inertia: &Mat3Lanes<C>, products: &OuterProducts<W>) -> Self {
        let Mat3Lanes { x, y, z } = *inertia;
        let zero = C::splat(0.0);
        let (first, second, third) = (products.sum_entries(0), products.sum_entries(4), products.sum_entries(8));
        // Mass and inertia belong to the diagonal blocks; inertia x.y is the entry in row y and column x. The zeros are
        // at entries of the linear block and at unused ones.
        let quads = [
            first.with_x(first_component::<C>(first) + mass),
            second.with_x(first_component::<C>(second) + mass),
            third.with_x(first_component::<C>(third) + mass),
            products.sum_entries(12) + C::Vec4::from_array([zero, x.x, x.y, x.z]),
            products.sum_entries(16) + C::Vec4::from_array([zero, zero, y.y, y.z]),
            products.sum_entries(20) + C::Vec4::from_array([zero, zero, zero, z.z]),
        ];
        Self { packed: quads }
    }

    /// Returns the product of the matrix and the vector `x`. The upper triangle is the mirrored lower one.
    pub fn mul_vector(&self, x: SpatialVector<C>) -> SpatialVector<C> {
        let (x, quads) = (x.to_array(), self.packed.map(C::Vec4::to_array));
        let entry = |i: usize, k: usize| quads.as_flattened()[packed_index(i.max(k), i.min(k))];
        let [a, b, c, d, e, f] = core::array::from_fn(|i| (0..6).fold(C::default(), |sum, k| sum + entry(i, k) * x[k]));
        SpatialVector::new(Vec3Lanes::new(a, b, c), Vec3Lanes::new(d, e, f))
    }

    /// Returns x with `self * x == right`: for a mass matrix and an impulse, the change of velocity. The matrix must be
    /// positive definite. In each 3 × 3 block, the pivots after the first are at least the rounding error of their
    /// diagonal entry, so that the result is finite.
    ///
    /// The elimination uses two blocks of three (linear, then angular components), each factorised as LDLᵀ, written
    /// out: a third of the instructions of a loop. Cofactors would be cheaper, but lose all digits if a row is a
    /// thousand times stiffer than the mass.
    ///
    /// Steps: factorise the linear block; eliminate it from the angular block and the moments (Schur complement);
    /// factorise and solve the angular block; insert the angular velocities into the linear equations and solve these.
    /// Each linear equation is a quad: its force, then the three columns of the angular velocities.
    #[inline(always)]
    pub fn solve(&self, right: SpatialVector<C>) -> SpatialVector<C> {
        let (force, moment) = (right.linear, right.angular);
        // Quads of the columns x, y, z (linear) and of the columns x, y, z (angular), in packed order.
        let [first, second, third, fourth, fifth, sixth] = self.packed;
        // Written out, because a function that maps an array is not inlined, and closures may not be.
        // The other entries of the linear block, (1,0), (2,0), (2,1), are the first numbers of the last three quads.
        let (diagonal_x, diagonal_y, diagonal_z) =
            (first_component(first), first_component(second), first_component(third));
        let linear_factors = LdlFactors::factorise(
            diagonal_x,
            first_component(fourth),
            diagonal_y,
            first_component(fifth),
            first_component(sixth),
            diagonal_z,
        );
        // Forward substitution of the four right sides of the linear block: force, and the rows of its three columns.
        let x = first.with_x(force.x);
        let y = second.with_x(force.y) - C::Vec4::repeat(linear_factors.yx) * x;
        let z =
            third.with_x(force.z) - (C::Vec4::repeat(linear_factors.zx) * x + C::Vec4::repeat(linear_factors.zy) * y);
        let inverse_pivots = linear_factors.inverse_pivots;
        // Columns of the angular velocities over the pivots, without the force: `yx` is column y of row x.
        let [_, xx, yx, zx] = (x * C::Vec4::repeat(inverse_pivots.x)).to_array();
        let [_, xy, yy, zy] = (y * C::Vec4::repeat(inverse_pivots.y)).to_array();
        let [_, xz, yz, zz] = (z * C::Vec4::repeat(inverse_pivots.z)).to_array();
        // Moments (a, b, c) and angular block (ax to cz) less what the linear block contributes.
        let [a, ax, ay, az] = (fourth.with_x(moment.x) - combine_rows::<C>([x, y, z], [xx, xy, xz])).to_array();
        let [b, _, by, bz] = (fifth.with_x(moment.y) - combine_rows::<C>([x, y, z], [yx, yy, yz])).to_array();
        let [c, _, _, cz] = (sixth.with_x(moment.z) - combine_rows::<C>([x, y, z], [zx, zy, zz])).to_array();
        let angular_factors = LdlFactors::factorise(ax, ay, by, az, bz, cz);
        // Angular velocities.
        let angular_velocity = angular_factors.solve_lower_transposed(
            angular_factors.solve_lower(Vec3Lanes::new(a, b, c)).mul_components(angular_factors.inverse_pivots),
        );
        // Right sides of the linear equations, after forward substitution, with the angular velocities inserted.
        let force = Vec3Lanes::new(
            subtract_columns::<C>(x, angular_velocity),
            subtract_columns::<C>(y, angular_velocity),
            subtract_columns::<C>(z, angular_velocity),
        );
        SpatialVector::new(
            linear_factors.solve_lower_transposed(force.mul_components(inverse_pivots)),
            angular_velocity,
        )
    }
}

/// Returns the linear combination `a x + b y + c z` of three quads.
#[inline(always)]
fn combine_rows<C: CarScalar>([x, y, z]: [C::Vec4; 3], [a, b, c]: [C; 3]) -> C::Vec4 {
    x * C::Vec4::repeat(a) + y * C::Vec4::repeat(b) + z * C::Vec4::repeat(c)
}

/// Returns the right side of a linear equation after the `angular_velocity` is known. `row` is the equation as a quad:
/// the first number (force) less the other three (columns) times `angular_velocity`.
#[inline(always)]
fn subtract_columns<C: CarScalar>(row: C::Vec4, angular_velocity: Vec3Lanes<C>) -> C {
    let [force, x, y, z] = row.to_array();
    force - (x * angular_velocity.x + y * angular_velocity.y + z * angular_velocity.z)
}

/// Returns the solution x of six equations `matrix * x == right`, by Gaussian elimination with row pivoting. For each
/// column, swaps the row with the largest entry to the diagonal and eliminates the rows below; then substitutes
/// backwards. Returns `None` if a component of the result is not finite (singular matrix).
pub fn solve_dense(mut matrix: [[f32; 6]; 6], mut right: [f32; 6]) -> Option<[f32; 6]> {
    for k in 0..6 {
        let compare_pivots = |a: &usize, b: &usize| matrix[*a][k].abs().total_cmp(&matrix[*b][k].abs());
        // Row with the largest magnitude in column `k`.
        let pivot = (k..6).max_by(compare_pivots)?;
        matrix.swap(k, pivot);
        right.swap(k, pivot);
        for row in k + 1..6 {
            let factor = matrix[row][k] / matrix[k][k];
            let pivot_row = matrix[k]; // a copy, so that the row can be borrowed
            matrix[row].iter_mut().zip(pivot_row).for_each(|(entry, pivot_entry)| *entry -= factor * pivot_entry);
            right[row] -= factor * right[k];
        }
    }
    for k in (0..6).rev() {
        // Part of the equation with the components already known.
        let known_sum: f32 = (k + 1..6).map(|i| matrix[k][i] * right[i]).sum();
        right[k] = (right[k] - known_sum) / matrix[k][k];
    }
    right.iter().all(|x| x.is_finite()).then_some(right)
}

/// Factors `L D Lᵀ` of a symmetric 3 × 3 matrix.
struct LdlFactors<C> {
    /// Entry of L in row y and column x.
    yx: C,
    /// Entry of L in row z and column x.
    zx: C,
    /// Entry of L in row z and column y.
    zy: C,
    /// Reciprocals of the diagonal of D.
    inverse_pivots: Vec3Lanes<C>,
}

/// Least pivot as a share of its diagonal entry: the rounding error of that entry.
const MIN_PIVOT_SHARE: f32 = f32::EPSILON;

impl<C: Lane> LdlFactors<C> {
    /// Computes the factors `L D Lᵀ` (L with a unit diagonal) of the symmetric matrix with these entries, such as `xy`
    /// in row x and column y. The second and third pivot are at least [`MIN_PIVOT_SHARE`] of their diagonal entry. The
    /// first pivot is the entry `xx` itself, which must not be 0.
    #[inline(always)]
    fn factorise(xx: C, xy: C, yy: C, xz: C, yz: C, zz: C) -> Self {
        let (one, min_share) = (C::splat(1.0), C::splat(MIN_PIVOT_SHARE));
        let inverse_x = one / xx;
        let (yx, zx) = (xy * inverse_x, xz * inverse_x);
        let inverse_y = one / (yy - xy * yx).at_least(yy * min_share);
        // Entry yz after the first elimination.
        let reduced_yz = yz - xz * yx;
        let zy = reduced_yz * inverse_y;
        let inverse_z = one / (zz - (xz * zx + reduced_yz * zy)).at_least(zz * min_share);
        Self { yx, zx, zy, inverse_pivots: Vec3Lanes::new(inverse_x, inverse_y, inverse_z) }
    }

    /// Returns `L⁻¹ v`, by forward substitution.
    #[inline(always)]
    fn solve_lower(&self, v: Vec3Lanes<C>) -> Vec3Lanes<C> {
        let y = v.y - self.yx * v.x;
        Vec3Lanes::new(v.x, y, v.z - (self.zx * v.x + self.zy * y))
    }

    /// Returns `L⁻ᵀ v`, by backward substitution.
    #[inline(always)]
    fn solve_lower_transposed(&self, v: Vec3Lanes<C>) -> Vec3Lanes<C> {
        let y = v.y - self.zy * v.z;
        Vec3Lanes::new(v.x - (self.yx * y + self.zx * v.z), y, v.z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks [`solve_dense`] on a matrix with a zero diagonal, which needs pivots from other rows: the solution for
    /// the right side of a known vector is that vector. A singular matrix has the result `None`.
    #[test]
    fn solves_any_six_equations() {
        let matrix: [[f32; 6]; 6] = core::array::from_fn(|i| {
            core::array::from_fn(|k| if i == k { 0.0 } else { ((i * 5 + k * 3) % 7) as f32 - 2.0 })
        });
        let known = [1.0, -2.0, 3.0, 0.5, 0.0, -1.0];
        let right = matrix.map(|row| row.iter().zip(known).map(|(entry, x)| entry * x).sum());
        let found = solve_dense(matrix, right).expect("it has a solution");
        // Entries up to 4, condition number about 10.
        assert!(found.iter().zip(known).all(|(found, known)| (found - known).abs() < 1e-5), "{found:?}");
        assert_eq!(solve_dense([[1.0; 6]; 6], known), None);
    }

    /// Checks [`Symmetric6::solve`] and [`Symmetric6::mul_vector`] on a body with two stiff rows in different lanes:
    /// the solution for the right side of a known vector is that vector, and the product with the vector is the right
    /// side.
    #[test]
    fn solves_a_positive_definite_system() {
        let rows = [
            SpatialVector::from_vec3s(Vec3::Z, Vec3::new(0.8, -1.3, 0.0)),
            SpatialVector::from_vec3s(Vec3::new(0.1, 0.9, 0.2), Vec3::new(-0.8, 0.3, 1.4)),
        ];
        let mut products = OuterProducts::zero();
        products.add(F32x4::new([300.0, 0.0, 0.0, 0.0]), rows[0].broadcast_to_wheels());
        products.add(F32x4::new([0.0, 0.0, 300.0, 0.0]), rows[1].broadcast_to_wheels());
        let inertia = Vec3::new(480.0, 2350.0, 2500.0);
        let system = Symmetric6::new(1500.0, &Mat3::from_diagonal(inertia), &products);
        let (linear, angular) = (Vec3::new(1.0, -2.0, 0.5), Vec3::new(0.3, 0.2, -0.7));
        let wanted = SpatialVector::from_vec3s(linear, angular);
        // Right side by hand: mass and inertia times the wanted vector, plus both rows.
        let mut right = SpatialVector::from_vec3s(linear * 1500.0, angular * inertia);
        for row in rows {
            right = right + row * (300.0 * row.dot(wanted));
        }
        let error = system.solve(right) - wanted;
        // Six eliminations in f32 on a system of condition 5.
        assert!(error.dot(error) < 1e-10, "{error:?}");
        let missing = system.mul_vector(wanted) - right;
        // Sums of six products of up to 2e3 in 32 bits.
        assert!(missing.dot(missing) < 1e-5, "{missing:?}");
    }
}
