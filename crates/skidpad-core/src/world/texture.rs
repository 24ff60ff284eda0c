//! What a surface does to wheels beside its grip.

use crate::math;
use bevy_math::DVec3;

/// What a surface does to wheels beside its grip; one that is hard and even does nothing.
///
/// Its unevenness is a profile over the shape, `h = a/2 (sin 2πx/λ + sin 2πy/λ)` along the normal of the shape, in world coordinates: a
/// wheel along x or y feels one sine of amplitude a/2, and 0 on the mean. Hulls do not feel it. On a platform it counts from where
/// the platform was described.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Texture {
    /// What it adds to the coefficient of rolling resistance of every tyre, ≥ 0: rolled gravel 0.01, an unpaved road 0.04, a field 0.1
    /// to 0.3, beyond what asphalt has (J. Y. Wong, "Theory of Ground Vehicles"; T. D. Gillespie, "Fundamentals of Vehicle Dynamics").
    pub rolling: f32,
    /// Largest height a of the profile above the shape, m, ≥ 0; 0 is even.
    pub amplitude: f32,
    /// Length λ of its waves, m, > 0 where it is uneven.
    pub wavelength: f32,
}

impl Texture {
    /// Hard and even.
    pub const NONE: Self = Self { rolling: 0.0, amplitude: 0.0, wavelength: 0.0 };

    /// Whether it does nothing.
    pub fn is_none(&self) -> bool {
        self.rolling == 0.0 && self.amplitude == 0.0
    }

    /// Whether a wheel can drive on it: finite, nothing negative, and waves with a length where there are any.
    pub fn is_sound(&self) -> bool {
        let Self { rolling, amplitude, wavelength } = *self;
        let all = [rolling, amplitude, wavelength].iter().all(|number| *number >= 0.0 && number.is_finite());
        all && (amplitude == 0.0 || wavelength > 0.0)
    }

    /// Height of the profile at `place` (m), m, and its slopes along x and y.
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
