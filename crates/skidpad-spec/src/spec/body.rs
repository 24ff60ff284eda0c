//! Free bodies of a scene file: boxes that can be pushed.

use crate::spec::terrain::full_grip;
use serde::{Deserialize, Serialize};
use skidpad_core::model::box_inertia;
use skidpad_core::{BODYWORK_FRICTION, BodyMotion, DVec3, FixedBox, FreeBody, Mat3, Vec3, model::Hull};

/// Rigid box that can be pushed. It falls, rests and slides, collides with cars and other bodies, and supports
/// wheels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct DynamicBoxSpec {
    /// Mass, kg.
    #[cfg_attr(feature = "schema", schemars(range(min = 0.1, max = 1e7)))]
    pub mass_kg: f64,
    /// Full size along the body's own x, y and z axes, m.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 0.01, max = 1000))))]
    pub size_m: [f64; 3],
    /// Position of the centre of the box at the start: x, y and z in the world, m.
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -1e6, max = 1e6))))]
    pub centre_m: [f64; 3],
    /// Yaw at the start: rotation to the left about the vertical, degrees. It is the first of the three rotations.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -360, max = 360)))]
    pub yaw_deg: f64,
    /// Pitch at the start: rotation about the body's y axis after the yaw, degrees, positive with the +x end down.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -360, max = 360)))]
    pub pitch_deg: f64,
    /// Roll at the start: rotation about the body's x axis after yaw and pitch, degrees, positive with the −y side
    /// down.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = -360, max = 360)))]
    pub roll_deg: f64,
    /// Velocity of the centre of mass at the start: x, y and z in the world, m/s.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -200, max = 200))))]
    pub velocity_mps: [f64; 3],
    /// Angular velocity at the start about the world's x, y and z axes, degrees per second, by the right-hand rule.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -3600, max = 3600))))]
    pub angular_velocity_deg_per_s: [f64; 3],
    /// Moments of inertia about the centre of mass along the body's own x, y and z axes, kg m². Absent: those of a
    /// solid box.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 1e-6, max = 1e12))))]
    pub inertia_kg_m2: Option<[f64; 3]>,
    /// Position of the centre of mass relative to the centre of the box, along the body's own axes, m. It lies within
    /// the box.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = -500, max = 500))))]
    pub centre_of_mass_m: [f64; 3],
    /// Factor on the friction of every tyre on the body.
    #[serde(default = "full_grip")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub grip: f64,
    /// Coefficient of friction on ground of grip 1; on other ground it is multiplied by the grip. Between two bodies,
    /// and between a body and a car, the product of both coefficients applies. The bodywork of cars has 0.5.
    #[serde(default = "bodywork_friction")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = 10)))]
    pub friction: f64,
}

/// Returns the default friction of a body: that of the bodywork of cars.
fn bodywork_friction() -> f64 {
    BODYWORK_FRICTION.into()
}

/// Converts a vector to single precision.
fn vector(numbers: [f64; 3]) -> Vec3 {
    Vec3::from_array(numbers.map(|number| number as f32))
}

impl DynamicBoxSpec {
    /// Returns the moments of inertia, kg m²: the given ones, or those of a solid box.
    pub(crate) fn moments(&self) -> [f64; 3] {
        self.inertia_kg_m2.unwrap_or_else(|| box_inertia(self.mass_kg, self.size_m))
    }

    /// Returns the body with its motion at the start, SI units: mass, inertia about its centre of mass, collision box,
    /// grip and friction. The box is turned by yaw, pitch and roll about its centre. The position of the motion is that
    /// of the centre of mass, and the centre of the collision box is relative to it. Angles and turn rates become rad.
    pub(crate) fn free_body(&self) -> FreeBody {
        let [yaw, pitch, roll] = [self.yaw_deg, self.pitch_deg, self.roll_deg].map(|deg| deg.to_radians() as f32);
        let size = vector(self.size_m);
        let rotated_box = FixedBox::axis_aligned(DVec3::from_array(self.centre_m), size).rotated(yaw, pitch, roll);
        let centre_of_mass_offset = vector(self.centre_of_mass_m);
        FreeBody {
            mass: self.mass_kg as f32,
            inertia: Mat3::from_diagonal(vector(self.moments())),
            hull: Hull { centre: -centre_of_mass_offset, half_extents: rotated_box.half_extents },
            grip: self.grip as f32,
            friction: self.friction as f32,
            motion: BodyMotion {
                position: rotated_box.centre + (rotated_box.rotation * centre_of_mass_offset).as_dvec3(),
                rotation: rotated_box.rotation,
                velocity: vector(self.velocity_mps),
                angular_velocity: vector(self.angular_velocity_deg_per_s.map(f64::to_radians)),
            },
        }
    }
}
