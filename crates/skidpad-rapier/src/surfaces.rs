//! Ground for wheels in a user's world: its colliders, grip, texture and smoothness.

use rapier3d::prelude::*;
use skidpad_core::{SmoothSurface, SurfaceTexture};

/// Ground for the wheels in a step. A `QueryFilter` converts into one on which every surface has grip 1.
///
/// ```
/// use skidpad_rapier::{SurfaceProperties, SurfaceQuery};
///
/// // The user data of each collider contains the index of its material.
/// let grips = [1.0, 0.6, 0.1];
/// let of_material = |query: &SurfaceQuery| grips[query.collider.user_data as usize];
/// let ground = SurfaceProperties { grip: Some(&of_material), ..SurfaceProperties::default() };
/// ```
#[derive(Clone, Copy, Default)]
pub struct SurfaceProperties<'a> {
    /// Filter for the colliders that wheels can touch. Groups in it replace the collision groups of the chassis.
    pub filter: QueryFilter<'a>,
    /// Factor on the friction of a tyre at a contact, finite and ≥ 0; 1 is the surface on which the tyre was measured.
    /// `None`: 1 everywhere. Called once per wheel and step for cars that are awake, and again for repeated probes of a
    /// wheel.
    ///
    /// The friction of colliders has no effect on tyres. Rapier uses it for bodywork, crates and walls; its default is
    /// 0.5.
    pub grip: Option<&'a dyn Fn(&SurfaceQuery) -> f32>,
    /// Texture of a surface: rolling resistance, and unevenness along the vehicle-side world axes x and y. `None`: no
    /// texture. Called as often as `grip`.
    pub texture: Option<&'a dyn Fn(&SurfaceQuery) -> SurfaceTexture>,
    /// Smooth normals of a triangle of a mesh or a height field, by its number in the shape (parry's sub-shape), corner
    /// by corner along the vehicle-side world axes. `None`: all triangles are flat.
    pub smooth_normals: Option<&'a dyn Fn(ColliderHandle, u32) -> Option<SmoothSurface>>,
}

/// Contact of a wheel with a collider, in world axes.
#[derive(Clone, Copy)]
pub struct SurfaceQuery<'a> {
    /// Handle of the collider.
    pub handle: ColliderHandle,
    /// Collider that the wheel touches.
    pub collider: &'a Collider,
    /// Contact point, m.
    pub point: Vector,
    /// Unit normal of the surface.
    pub normal: Vector,
    /// Feature of the shape, such as the triangle of a mesh. `FeatureId::Unknown` for contacts of rims with faces.
    pub feature: FeatureId,
}

impl SurfaceProperties<'_> {
    /// Returns the grip at a contact; 1 without a `grip` function.
    pub(crate) fn grip_of(&self, query: &SurfaceQuery) -> f32 {
        self.grip.map_or(1.0, |grip| grip(query))
    }

    /// Returns the texture at a contact; [`SurfaceTexture::NONE`] without a `texture` function.
    pub(crate) fn texture_of(&self, query: &SurfaceQuery) -> SurfaceTexture {
        self.texture.map_or(SurfaceTexture::NONE, |texture| texture(query))
    }
}

impl<'a> From<QueryFilter<'a>> for SurfaceProperties<'a> {
    /// Creates properties with `filter`, grip 1 everywhere, no texture and flat triangles.
    fn from(filter: QueryFilter<'a>) -> Self {
        Self { filter, ..Self::default() }
    }
}
