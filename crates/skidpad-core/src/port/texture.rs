//! Rolling resistance and unevenness of a surface.

use crate::math;
use bevy_math::DVec3;

/// Rolling resistance and unevenness of a surface. A hard and even surface has neither.
///
/// The unevenness is a profile on the shape, `h = a/2 (sin 2πx/λ + sin 2πy/λ)` along the normal of the shape, with world coordinates x and
/// y. A wheel that rolls along x or y sees one sine of amplitude a/2; the mean height is 0. Contacts of hulls ignore the profile, and
/// platforms have no unevenness.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SurfaceTexture {
    /// Addition to the coefficient of rolling resistance of every tyre, ≥ 0, relative to asphalt: rolled gravel 0.01, an unpaved road 0.04,
    /// a field 0.1 to 0.3 (J. Y. Wong, "Theory of Ground Vehicles"; T. D. Gillespie, "Fundamentals of Vehicle Dynamics").
    pub rolling_resistance: f32,
    /// Largest height a of the profile above the shape, m, ≥ 0; 0 is even.
    pub amplitude: f32,
    /// Wavelength λ, m; > 0 if the amplitude is.
    pub wavelength: f32,
}

impl SurfaceTexture {
    /// Texture of a hard and even surface.
    pub const NONE: Self = Self { rolling_resistance: 0.0, amplitude: 0.0, wavelength: 0.0 };

    /// Returns true if the texture is hard and even.
    pub fn is_hard_and_even(&self) -> bool {
        self.rolling_resistance == 0.0 && self.amplitude == 0.0
    }

    /// Returns true if a wheel can drive on the texture: all numbers are finite and ≥ 0, and the wavelength of an uneven texture is > 0.
    pub fn is_valid(&self) -> bool {
        let Self { rolling_resistance: rolling, amplitude, wavelength } = *self;
        let all = [rolling, amplitude, wavelength].iter().all(|number| *number >= 0.0 && number.is_finite());
        all && (amplitude == 0.0 || wavelength > 0.0)
    }

    /// Returns the height of the profile at `place` (world, m), m, and its slopes ∂h/∂x and ∂h/∂y. The z coordinate has no effect. An amplitude of 0
    /// needs a wavelength > 0, too.
    pub fn profile(&self, place: DVec3) -> [f32; 3] {
        let turns = |at: f64| {
            let waves = at / f64::from(self.wavelength);
            math::sin_cos(core::f32::consts::TAU * (waves - waves.floor()) as f32)
        };
        let ((sin_x, cos_x), (sin_y, cos_y)) = (turns(place.x), turns(place.y));
        let (half, steepest) = (0.5 * self.amplitude, 0.5 * self.amplitude * core::f32::consts::TAU / self.wavelength);
        [half * (sin_x + sin_y), steepest * cos_x, steepest * cos_y]
    }
}
