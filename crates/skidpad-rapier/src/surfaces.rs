//! What wheels may stand on in a user's world, and how it grips.

use rapier3d::prelude::*;
use skidpad_core::{Smooth, Texture};

/// What wheels stand on in a step. A `QueryFilter` turns into one on which every surface has the grip 1.
///
/// ```
/// use skidpad_rapier::{Met, Surfaces};
///
/// // The number of its material stands in the user data of each collider.
/// let grips = [1.0, 0.6, 0.1];
/// let of_material = |met: &Met| grips[met.collider.user_data as usize];
/// let ground = Surfaces { grip: Some(&of_material), ..Surfaces::default() };
/// ```
#[derive(Clone, Copy, Default)]
pub struct Surfaces<'a> {
    /// What wheels may meet. Groups in it take the place of the chassis'.
    pub filter: QueryFilter<'a>,
    /// Factor on the friction of a tyre on what its ray met, finite and ≥ 0, 1 being the surface the tyre was described on;
    /// without, 1 everywhere. Asked once per wheel and step of cars that are awake.
    ///
    /// Friction of colliders is no such factor: it is what Rapier gives bodywork, crates and walls, 0.5 by default.
    pub grip: Option<&'a dyn Fn(&Met) -> f32>,
    /// What a surface does to wheels beside that: rolling resistance and unevenness, along the vehicle-side axes x and y; without,
    /// nothing. Asked as the grip is.
    pub texture: Option<&'a dyn Fn(&Met) -> Texture>,
    /// How smooth the triangle of a mesh or a field of heights is that a wheel stands on, by its number in the shape (parry's
    /// sub-shape): normals along the vehicle-side world axes, corner by corner; without, it is as flat as it looks.
    pub smooth: Option<&'a dyn Fn(ColliderHandle, u32) -> Option<Smooth>>,
}

/// Where the ray of a wheel met a collider, in the world's axes.
#[derive(Clone, Copy)]
pub struct Met<'a> {
    /// Of the collider.
    pub handle: ColliderHandle,
    /// It.
    pub collider: &'a Collider,
    /// m.
    pub point: Vector,
    /// Unit normal of the surface.
    pub normal: Vector,
    /// Which face of the shape, such as the triangle of a mesh.
    pub feature: FeatureId,
}

impl Surfaces<'_> {
    pub(crate) fn grip_of(&self, met: &Met) -> f32 {
        self.grip.map_or(1.0, |grip| grip(met))
    }

    /// The texture of what was `met`, if it is sound.
    pub(crate) fn texture_of(&self, met: &Met) -> Texture {
        self.texture.map_or(Texture::NONE, |texture| texture(met))
    }
}

impl<'a> From<QueryFilter<'a>> for Surfaces<'a> {
    fn from(filter: QueryFilter<'a>) -> Self {
        Self { filter, ..Self::default() }
    }
}
