//! Rolling resistance and unevenness of a surface.

use bevy_math::DVec3;
use skidpad_simd::math;

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
        let Self { rolling_resistance, amplitude, wavelength } = *self;
        let are_numbers_valid =
            [rolling_resistance, amplitude, wavelength].iter().all(|number| *number >= 0.0 && number.is_finite());
        are_numbers_valid && (amplitude == 0.0 || wavelength > 0.0)
    }

    /// Returns the height of the profile at `point` (world, m), m, and its slopes ∂h/∂x and ∂h/∂y. The z coordinate has no effect. An amplitude of 0
    /// needs a wavelength > 0, too.
    pub fn profile(&self, point: DVec3) -> [f32; 3] {
        let sin_cos_at = |coordinate: f64| {
            let wave_count = coordinate / f64::from(self.wavelength);
            math::sin_cos(core::f32::consts::TAU * (wave_count - wave_count.floor()) as f32)
        };
        let ((sin_x, cos_x), (sin_y, cos_y)) = (sin_cos_at(point.x), sin_cos_at(point.y));
        let (half_amplitude, max_slope) =
            (0.5 * self.amplitude, 0.5 * self.amplitude * core::f32::consts::TAU / self.wavelength);
        [half_amplitude * (sin_x + sin_y), max_slope * cos_x, max_slope * cos_y]
    }
}
