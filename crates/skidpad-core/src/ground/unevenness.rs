//! Surface texture under wheels: the ground data of a contact, and the displacement of the contact by the unevenness.

use crate::port::texture::SurfaceTexture;
use crate::port::{Contact, Ground, Probe};
use bevy_math::Vec3;

impl SurfaceTexture {
    /// Returns `ground` with this texture. A hard and even texture returns `ground` unchanged, with the texture it had. `None` stands for ground at
    /// rest that is hard and even; a texture makes it ground of the static body at rest.
    pub fn apply_to_ground(self, ground: Option<Ground>) -> Option<Ground> {
        let static_ground =
            Ground { body: Ground::STATIC_BODY, start_velocity: Vec3::ZERO, velocity: Vec3::ZERO, texture: self };
        if self.is_hard_and_even() { ground } else { Some(Ground { texture: self, ..ground.unwrap_or(static_ground) }) }
    }
}

impl Contact {
    /// Returns the contact of `probe` with the unevenness of its surface applied; unchanged on even ground. Apply it once, to the final contact with
    /// all shapes.
    ///
    /// The contact point of a rim moves along the normal by the height h of the profile. The distance shrinks by h over the cosine between the
    /// reversed ray and the normal, but not if that cosine is at most 0.1. The normal tilts by the slopes of the profile in the surface. Grip and
    /// ground stay.
    #[must_use]
    pub fn with_unevenness(self, probe: &Probe) -> Self {
        let Some(texture) = self.ground.map(|ground| ground.texture).filter(|texture| texture.amplitude > 0.0) else {
            return self;
        };
        // Contact point relative to the centre of mass, m.
        let arm = self.point.unwrap_or(probe.offset + probe.direction * self.distance);
        let [height, along_x, along_y] = texture.profile(probe.position + arm.as_dvec3());
        let slopes = Vec3::new(along_x, along_y, 0.0);
        let tangential_slopes = slopes - self.normal * slopes.dot(self.normal);
        let incidence_cosine = -probe.direction.dot(self.normal); // cosine between the reversed ray and the normal
        // The distance to a surface nearly parallel to the ray stays unchanged: `height / incidence_cosine` would be unbounded.
        let distance_change = if incidence_cosine > MIN_INCIDENCE_COSINE { height / incidence_cosine } else { 0.0 };
        Self {
            distance: self.distance - distance_change,
            normal: (self.normal - tangential_slopes).normalize_or(self.normal),
            point: self.point.map(|point| point + self.normal * height),
            ..self
        }
    }
}

/// Cosine of the angle between the reversed ray and the normal up to which the profile does not change the ray distance.
const MIN_INCIDENCE_COSINE: f32 = 0.1;

#[cfg(test)]
mod tests {
    use super::*;
    use bevy_math::DVec3;
    use skidpad_simd::math;

    const GRAVEL_TEXTURE: SurfaceTexture =
        SurfaceTexture { rolling_resistance: 0.02, amplitude: 0.02, wavelength: 0.8 };

    /// Returns a vertical probe at `x` m and its contact with flat gravel 1 m below.
    fn probe_and_contact(x: f64) -> (Probe, Contact) {
        let (offset, direction) = (Vec3::ZERO, Vec3::NEG_Z);
        let probe = Probe { car: 0, position: DVec3::new(x, 0.4, 1.0), offset, direction, length: 2.0, rim: None };
        let ground = GRAVEL_TEXTURE.apply_to_ground(None);
        (probe, Contact { distance: 1.0, normal: Vec3::Z, grip: 1.0, point: None, ground })
    }

    /// Checks that the height is that of the sine, and that the normal is perpendicular to the profile.
    #[test]
    fn a_profile_lifts_and_leans() {
        let height = |x: f64| {
            let (probe, contact) = probe_and_contact(x);
            1.0 - contact.with_unevenness(&probe).distance
        };
        for x in [0.0, 0.13, 0.2, 0.55, 0.8, 800.2] {
            let (probe, contact) = probe_and_contact(x);
            let found = contact.with_unevenness(&probe);
            let (sin, _) = math::sin_cos(core::f32::consts::TAU * (x / 0.8).fract() as f32);
            assert!((height(x) - 0.01 * sin).abs() < 1e-6, "{x}: {}", height(x));
            let slope = (height(x + 1e-2) - height(x - 1e-2)) / 2e-2;
            // Tolerance of a difference quotient over 2.5 % of a wave.
            assert!((found.normal.x / found.normal.z + slope).abs() < 2e-4, "{x}: {:?} at {slope}", found.normal);
            assert!((found.normal.length() - 1.0).abs() < 1e-6);
        }
    }

    /// Checks that surfaces without unevenness leave a contact unchanged.
    #[test]
    fn what_is_hard_and_even_changes_nothing() {
        let (probe, contact) = probe_and_contact(0.3);
        let even_contact = Contact { ground: SurfaceTexture::NONE.apply_to_ground(None), ..contact };
        assert_eq!((even_contact.ground, even_contact.with_unevenness(&probe)), (None, even_contact));
        let soft = SurfaceTexture { amplitude: 0.0, ..GRAVEL_TEXTURE };
        let soft = Contact { ground: soft.apply_to_ground(None), ..contact };
        assert_eq!(soft.with_unevenness(&probe), soft);
    }
}
