//! Vectors over SIMD lanes, and the axes that transform between frames.

use core::ops::{Add, Mul, Sub};

use crate::lane::{Lane, WheelLanes};
use bevy_math::{Mat3, Vec3};

/// Vector with three components.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vec3Lanes<L> {
    /// Component along the first axis.
    pub x: L,
    /// Component along the second axis.
    pub y: L,
    /// Component along the third axis.
    pub z: L,
}

impl<L: Lane> Vec3Lanes<L> {
    /// Builds a vector from its components.
    #[inline(always)]
    pub fn new(x: L, y: L, z: L) -> Self {
        Self { x, y, z }
    }

    /// Returns `vector` in every lane.
    #[inline(always)]
    pub fn splat(vector: Vec3) -> Self {
        Self::new(L::splat(vector.x), L::splat(vector.y), L::splat(vector.z))
    }

    /// Returns the components.
    #[inline(always)]
    pub fn to_array(self) -> [L; 3] {
        [self.x, self.y, self.z]
    }

    /// Returns the magnitude of each component.
    #[inline(always)]
    pub fn abs(self) -> Self {
        Self::new(self.x.abs(), self.y.abs(), self.z.abs())
    }

    /// Returns the scalar product.
    #[inline(always)]
    pub fn dot(self, other: Self) -> L {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    /// Returns the vector product.
    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        Self::new(
            self.y * other.z - self.z * other.y,
            self.z * other.x - self.x * other.z,
            self.x * other.y - self.y * other.x,
        )
    }

    /// Returns the product component by component.
    #[inline(always)]
    pub fn mul_components(self, other: Self) -> Self {
        Self::new(self.x * other.x, self.y * other.y, self.z * other.z)
    }

    /// Returns the vector with `offset` added to its third component.
    #[inline(always)]
    pub fn with_z_added(self, offset: L) -> Self {
        Self::new(self.x, self.y, self.z + offset)
    }

    /// Returns the product `matrix · self`, with the same matrix in every lane.
    #[inline(always)]
    pub fn mul_mat(self, matrix: &Mat3) -> Self {
        Self::splat(matrix.x_axis) * self.x + Self::splat(matrix.y_axis) * self.y + Self::splat(matrix.z_axis) * self.z
    }

    /// Returns `when_set` where `mask` is true, else `when_clear`.
    #[inline(always)]
    pub fn select(mask: L::Mask, when_set: Self, when_clear: Self) -> Self {
        Self::new(
            L::select(mask, when_set.x, when_clear.x),
            L::select(mask, when_set.y, when_clear.y),
            L::select(mask, when_set.z, when_clear.z),
        )
    }
}

/// Axes of one frame in another, as the columns of a matrix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Mat3Lanes<L> {
    /// First axis.
    pub x: Vec3Lanes<L>,
    /// Second axis.
    pub y: Vec3Lanes<L>,
    /// Third axis.
    pub z: Vec3Lanes<L>,
}

impl Mat3Lanes<f32> {
    /// Returns the columns of `matrix`.
    #[inline(always)]
    pub fn from_mat3(matrix: &Mat3) -> Self {
        Self {
            x: Vec3Lanes::splat(matrix.x_axis),
            y: Vec3Lanes::splat(matrix.y_axis),
            z: Vec3Lanes::splat(matrix.z_axis),
        }
    }
}

impl<L: Lane> Mat3Lanes<L> {
    /// Returns the axes with `convert` applied to each of the nine numbers.
    #[inline(always)]
    pub fn map<M: Lane>(&self, convert: impl Fn(L) -> M) -> Mat3Lanes<M> {
        Mat3Lanes { x: self.x.map(&convert), y: self.y.map(&convert), z: self.z.map(&convert) }
    }

    /// Returns the columns of the rotation matrix of the unit quaternion (x, y, z, w), with the same bits as
    /// [`Mat3::from_quat`]. The length of the quaternion is not checked.
    #[inline(always)]
    pub fn from_quat([x, y, z, w]: [L; 4]) -> Self {
        let (one, x2, y2, z2) = (L::splat(1.0), x + x, y + y, z + z);
        let (xx, xy, xz) = (x * x2, x * y2, x * z2);
        let (yy, yz, zz) = (y * y2, y * z2, z * z2);
        let (wx, wy, wz) = (w * x2, w * y2, w * z2);
        Self {
            x: Vec3Lanes::new(one - (yy + zz), xy + wz, xz - wy),
            y: Vec3Lanes::new(xy - wz, one - (xx + zz), yz + wx),
            z: Vec3Lanes::new(xz + wy, yz - wx, one - (xx + yy)),
        }
    }

    /// Returns the transposed matrix: for axes of unit length, the inverse rotation.
    #[inline(always)]
    pub fn transposed(&self) -> Self {
        let Self { x, y, z } = *self;
        Self { x: Vec3Lanes::new(x.x, y.x, z.x), y: Vec3Lanes::new(x.y, y.y, z.y), z: Vec3Lanes::new(x.z, y.z, z.z) }
    }

    /// Returns the product of the matrix with these columns and `vector`: the vector in the frame to which the axes
    /// belong.
    #[inline(always)]
    pub fn mul_vector(&self, vector: Vec3Lanes<L>) -> Vec3Lanes<L> {
        self.x * vector.x + self.y * vector.y + self.z * vector.z
    }
}

impl Mat3Lanes<f32> {
    /// Returns the matrix with these columns.
    pub fn to_mat3(&self) -> Mat3 {
        let column = |Vec3Lanes { x, y, z }: Vec3Lanes<f32>| Vec3::new(x, y, z);
        Mat3::from_cols(column(self.x), column(self.y), column(self.z))
    }
}

impl<C: Lane> Mat3Lanes<C> {
    /// Returns, at each wheel, the product of the matrix of its car and the `vector` of the wheel.
    #[inline(always)]
    pub fn mul_wheel_vector<W: WheelLanes<Car = C>>(&self, vector: Vec3Lanes<W>) -> Vec3Lanes<W> {
        let [x, y, z] = [self.x.broadcast_to_wheels(), self.y.broadcast_to_wheels(), self.z.broadcast_to_wheels()];
        x * vector.x + y * vector.y + z * vector.z
    }
}

impl<L: Lane> Vec3Lanes<L> {
    /// Returns the vector with `convert` applied to each component.
    #[inline(always)]
    pub fn map<M: Lane>(self, convert: impl Fn(L) -> M) -> Vec3Lanes<M> {
        Vec3Lanes::new(convert(self.x), convert(self.y), convert(self.z))
    }
}

impl<C: Lane> Vec3Lanes<C> {
    /// Returns a car's vector at each of its wheels.
    #[inline(always)]
    pub fn broadcast_to_wheels<W: WheelLanes<Car = C>>(self) -> Vec3Lanes<W> {
        Vec3Lanes::new(W::broadcast_car(self.x), W::broadcast_car(self.y), W::broadcast_car(self.z))
    }
}

impl<L: Lane> Vec3Lanes<L> {
    /// Returns the components x, y, z of one lane.
    pub fn lane(self, lane: usize) -> [f32; 3]
    where
        L: WheelLanes,
    {
        [self.x.lane(lane), self.y.lane(lane), self.z.lane(lane)]
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

/// Returns the rotation (unit quaternion x, y, z, w; body to world axes) after it turns with `rate` (rad/s, in world
/// axes) for `dt` s. Multiplies the rotation from the left by the quaternion (rate · dt / 2, 1), and scales the result
/// to length 1.
///
/// This is the Cayley map of the rate: the axis is exact, the angle θ is too small by θ³/12, and no transcendental
/// function is needed.
#[inline(always)]
pub fn integrate_rotation<L: Lane>([x, y, z, w]: [L; 4], rate: Vec3Lanes<L>, dt: f32) -> [L; 4] {
    // Half of the rotation vector (rad).
    let half_turn = rate * L::splat(0.5 * dt);
    let [x, y, z, w] = [
        x + half_turn.x * w + half_turn.y * z - half_turn.z * y,
        y - half_turn.x * z + half_turn.y * w + half_turn.z * x,
        z + half_turn.x * y - half_turn.y * x + half_turn.z * w,
        w - half_turn.x * x - half_turn.y * y - half_turn.z * z,
    ];
    let inverse_length = L::splat(1.0) / (x * x + y * y + z * z + w * w).sqrt();
    [x * inverse_length, y * inverse_length, z * inverse_length, w * inverse_length]
}

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::Quat;

    /// Checks that the axes of a rotation and their transpose equal those of [`Mat3`], and that products with vectors
    /// have the same bits.
    #[test]
    fn axes_turn_as_matrices_do() {
        for rotation in [Quat::from_xyzw(0.1, -0.7, 0.4, 0.58).normalize(), Quat::IDENTITY] {
            let (axes, matrix) = (Mat3Lanes::from_quat(rotation.to_array()), Mat3::from_quat(rotation));
            assert_eq!(
                [axes, axes.transposed()],
                [Mat3Lanes::from_mat3(&matrix), Mat3Lanes::from_mat3(&matrix.transpose())]
            );
            for vector in [Vec3::new(0.3, -4.0, 1e-3), Vec3::new(-0.0, 7.5, -2.0)] {
                let turned = axes.mul_vector(Vec3Lanes::splat(vector));
                assert_eq!(
                    [turned.x, turned.y, turned.z].map(f32::to_bits),
                    (matrix * vector).to_array().map(f32::to_bits)
                );
            }
        }
    }

    /// Checks that a turn of θ about an axis keeps that axis, and that its angle is too small by θ³/12, within θ⁵/80.
    #[test]
    fn a_turn_keeps_its_axis_and_is_short_by_its_third_power() {
        let (axis, start) = (Vec3::new(0.6, 0.0, -0.8), Quat::from_xyzw(0.1, -0.7, 0.4, 0.58).normalize());
        for angle in [0.02f32, 0.2, 0.6] {
            let found = Quat::from_array(integrate_rotation(start.to_array(), Vec3Lanes::splat(axis * angle), 1.0));
            let turn = found * start.inverse();
            // The next term is θ⁵/80; f32 rounding is 1e-7.
            assert!((turn.xyz().normalize() - axis).length() < 1e-4);
            let shortfall = angle - 2.0 * crate::math::atan2(turn.xyz().length(), turn.w);
            let (squared, cubed) = (angle * angle, angle * angle * angle);
            assert!((shortfall - cubed / 12.0).abs() < cubed * squared / 80.0 + 1e-6, "{angle}: {shortfall}");
        }
    }
}
