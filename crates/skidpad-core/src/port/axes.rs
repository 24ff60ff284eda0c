//! World axes of the user.

use bevy_math::{DVec3, Quat, Vec3};

/// Axes of a user's world, and of the chassis bodies in it. Scenes, placements and states keep the axes of skidpad: x forward, y left, z
/// up.
///
/// Conversions exchange components of vectors and change signs, without rounding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorldAxes {
    /// Axes of skidpad with z up: a chassis has x forward and y to the left.
    #[default]
    ZUp,
    /// Axes with y up, as in most engines: world y is skidpad's z, and world z is skidpad's −y. A chassis has x forward, y up and z to the
    /// right.
    YUp,
    /// Axes with y up and −z forward, as in Bevy and Godot: world x is skidpad's −y, world y its z, and world z its −x. A chassis has −z
    /// forward, y up and x to the right.
    YUpMinusZForward,
}

impl WorldAxes {
    /// Converts a vector from skidpad's axes to world axes.
    pub fn to_world(self, vector: Vec3) -> Vec3 {
        match self {
            Self::ZUp => vector,
            Self::YUp => Vec3::new(vector.x, vector.z, -vector.y),
            Self::YUpMinusZForward => Vec3::new(-vector.y, vector.z, -vector.x),
        }
    }

    /// Converts a vector from world axes to skidpad's axes.
    pub fn from_world(self, vector: Vec3) -> Vec3 {
        match self {
            Self::ZUp => vector,
            Self::YUp => Vec3::new(vector.x, -vector.z, vector.y),
            Self::YUpMinusZForward => Vec3::new(-vector.z, -vector.x, vector.y),
        }
    }

    /// Converts a point from skidpad's axes to world axes.
    pub fn point_to_world(self, point: DVec3) -> DVec3 {
        match self {
            Self::ZUp => point,
            Self::YUp => DVec3::new(point.x, point.z, -point.y),
            Self::YUpMinusZForward => DVec3::new(-point.y, point.z, -point.x),
        }
    }

    /// Converts a point from world axes to skidpad's axes.
    pub fn point_from_world(self, point: DVec3) -> DVec3 {
        match self {
            Self::ZUp => point,
            Self::YUp => DVec3::new(point.x, -point.z, point.y),
            Self::YUpMinusZForward => DVec3::new(-point.z, -point.x, point.y),
        }
    }

    /// Converts the rotation of a body (body axes to world axes) from skidpad's axes to world axes, for both kinds of axes: converts the vector part
    /// and keeps the scalar part.
    pub fn rotation_to_world(self, rotation: Quat) -> Quat {
        let axis = self.to_world(Vec3::new(rotation.x, rotation.y, rotation.z));
        Quat::from_xyzw(axis.x, axis.y, axis.z, rotation.w)
    }

    /// Converts the rotation of a body from world axes to skidpad's axes, for both world and body: converts the vector part and keeps the scalar
    /// part.
    pub fn rotation_from_world(self, rotation: Quat) -> Quat {
        let axis = self.from_world(Vec3::new(rotation.x, rotation.y, rotation.z));
        Quat::from_xyzw(axis.x, axis.y, axis.z, rotation.w)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that conversion to world axes and back returns vectors, points and rotations exactly, for all three axes.
    #[test]
    fn there_and_back_is_the_same() {
        let (vector, rotation) = (Vec3::new(1.0, -2.0, 3.0), Quat::from_xyzw(0.1, 0.7, -0.5, 0.5));
        for axes in [WorldAxes::ZUp, WorldAxes::YUp, WorldAxes::YUpMinusZForward] {
            assert_eq!(axes.from_world(axes.to_world(vector)), vector);
            assert_eq!(axes.point_from_world(axes.point_to_world(vector.as_dvec3())), vector.as_dvec3());
            assert_eq!(axes.rotation_from_world(axes.rotation_to_world(rotation)), rotation);
        }
    }

    /// Checks that the exchange is a rotation: it keeps cross products, and a converted rotation turns converted vectors.
    #[test]
    fn up_is_up_and_left_is_left() {
        let (a, b) = (Vec3::new(1.0, -2.0, 3.0), Vec3::new(0.5, 4.0, -1.0));
        for axes in [WorldAxes::YUp, WorldAxes::YUpMinusZForward] {
            let to_world = |v| axes.to_world(v);
            assert_eq!(to_world(Vec3::Z), Vec3::Y);
            assert_eq!(to_world(a).cross(to_world(b)), to_world(a.cross(b)));
            let rotation = Quat::from_xyzw(0.1, 0.7, -0.5, 0.5).normalize();
            let (converted_rotated, rotated_converted) =
                (axes.rotation_to_world(rotation) * to_world(a), to_world(rotation * a));
            assert!(
                (converted_rotated - rotated_converted).length() < 1e-6,
                "{converted_rotated} is not {rotated_converted}"
            );
        }
        assert_eq!(WorldAxes::YUpMinusZForward.to_world(Vec3::X), Vec3::NEG_Z);
        assert_eq!(WorldAxes::YUpMinusZForward.to_world(Vec3::Y), Vec3::NEG_X);
    }
}
