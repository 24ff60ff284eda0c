//! Uneven roads of the classes of ISO 8608. A seed produces the same road on every target.

use crate::ground::terrain::{HeightField, TerrainFault};
use bevy_math::DVec3;
use core::f32::consts::{FRAC_PI_2, TAU};
use skidpad_simd::math;

/// Roughness class of a road (ISO 8608, "Road surface profiles", classes by the geometric mean of the displacement
/// spectrum).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RoadClass {
    /// New motorway.
    A,
    /// Old motorway.
    B,
    /// Worn road.
    C,
    /// Bad road, or gravel.
    D,
    /// Field track.
    E,
    /// Rough ground.
    F,
    /// Very rough ground.
    G,
    /// Roughest ground.
    H,
}

impl RoadClass {
    /// All classes, from smooth to rough.
    pub const ALL: [Self; 8] = [Self::A, Self::B, Self::C, Self::D, Self::E, Self::F, Self::G, Self::H];

    /// Returns the one-sided spectrum of the displacement at 0.1 cycles/m, m³: 16e-6 for class A, four times as much
    /// for each rougher class.
    pub fn spectral_density(self) -> f32 {
        16e-6 * [1.0, 4.0, 16.0, 64.0, 256.0, 1024.0, 4096.0, 16384.0][self as usize]
    }

    /// Returns the parameters of the coherence of two tracks, the share of the variance that both have in common: the
    /// angular spatial frequency Ω_p, rad/m, and the exponent p. At the angular frequency Ω and the distance T (m) of
    /// the tracks the coherence is `(1 + (Ω T / Ω_p)²)^−p`. Classes rougher than E use the values of class E.
    fn coherence(self) -> [f32; 2] {
        [[8.5, 3.5], [5.3, 2.2], [3.0, 1.3], [1.6, 0.8], [0.8, 0.5]][(self as usize).min(4)]
    }
}

/// A road of one class, with unevenness between two wavelengths.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Road {
    /// Roughness class.
    pub class: RoadClass,
    /// Seed of the random phases. Different seeds produce different roads of the class.
    pub seed: u64,
    /// Shortest and longest wavelength, m, > 0, in ascending order. A longest wavelength of 20 m rolls no car over.
    pub wavelengths: [f32; 2],
    /// Corner of least x and y, world, m; z is the mean height.
    pub corner: DVec3,
    /// Length along x and width along y, m, > 0.
    pub size: [f32; 2],
    /// Spacing of the grid, m, > 0 and less than half of the shortest wavelength.
    pub spacing: f32,
    /// Factor on the friction of every tyre, ≥ 0.
    pub grip: f32,
}

/// Number of waves of a profile.
const WAVES_PER_PROFILE: usize = 100;

/// Reference spatial frequency n₀ of the spectra, cycles/m.
const REFERENCE_CYCLES_PER_M: f32 = 0.1;

impl Road {
    /// Returns the variance of the height, m²: the integral of `G (n₀/n)²` over the spatial frequencies of the road,
    /// `G n₀² (λ₂ − λ₁)`.
    pub fn height_variance(&self) -> f32 {
        self.class.spectral_density()
            * REFERENCE_CYCLES_PER_M
            * REFERENCE_CYCLES_PER_M
            * (self.wavelengths[1] - self.wavelengths[0])
    }

    /// Returns the road as a smooth height field. A profile is a sum of 100 waves along x with random phases, each with
    /// the variance of its share of the spectrum. The left and the right side have one profile in common, whose share
    /// of the variance is the coherence of the class. Each side has an additional profile. Across the width the right
    /// one is weighted by the cosine and the left one by the sine of an angle from 0 (right) to a quarter turn (left),
    /// so that the variance is constant. The first row (least y) is the right side. Length and width are rounded to
    /// whole grid spacings.
    ///
    /// # Errors
    /// Invalid spacing; wavelengths not ascending or not finite, or the shortest at most twice the spacing; more than
    /// 25 million heights, or a size that is not a number; then those of [`HeightField::new`].
    pub fn height_field(&self) -> Result<HeightField, TerrainFault> {
        let [shortest, longest] = self.wavelengths;
        if !(self.spacing > 0.0 && self.spacing.is_finite()) {
            return Err(TerrainFault::InvalidSpacing(self.spacing));
        }
        if !(self.spacing < 0.5 * shortest && shortest < longest && longest.is_finite()) {
            return Err(TerrainFault::InvalidWavelengths { spacing: self.spacing, wavelengths: self.wavelengths });
        }
        let line_counts = self.size.map(|size| (size / self.spacing).round() + 1.0); // grid lines along x and y
        let height_count = line_counts[0] * line_counts[1];
        if height_count.is_nan() || height_count > MAX_HEIGHT_COUNT {
            return Err(TerrainFault::TooManyHeights(height_count));
        }
        let counts = line_counts.map(|count| count as usize);
        let profiles = self.profiles(counts[0]);
        let mut heights = Vec::with_capacity(counts[0] * counts[1]);
        for row in 0..counts[1] {
            let (left_weight, right_weight) = math::sin_cos(FRAC_PI_2 * row as f32 / (counts[1] - 1).max(1) as f32);
            heights.extend(
                profiles.iter().map(|[common, right, left]| common + right * right_weight + left * left_weight),
            );
        }
        HeightField::new(self.corner, [self.spacing; 2], counts, heights, true, self.grip) // smooth normals
    }

    /// Returns three heights at each of `line_count` grid lines along x, m: the height common to both sides, the
    /// additional height of the right side and that of the left side. The spectrum from the longest to the shortest
    /// wavelength is divided into 100 shares of equal frequency ratio. Each share adds one cosine per profile with the
    /// variance `G n₀² (λ₂ − λ₁)` times the coherence γ (common) or `1 − γ` (sides), and a phase that depends on the
    /// seed.
    fn profiles(&self, line_count: usize) -> Vec<[f32; 3]> {
        let mut profiles = vec![[0.0; 3]; line_count];
        let [shortest, longest] = self.wavelengths;
        // The shares of the spectrum have equal frequency ratios.
        let frequency_ratio = math::exp(math::ln(longest / shortest) / WAVES_PER_PROFILE as f32);
        let mut wavelength = longest; // longest wavelength of the share, m
        for wave in 0..WAVES_PER_PROFILE {
            let next_wavelength = wavelength / frequency_ratio; // shortest wavelength of the share, m
            let variance = self.class.spectral_density()
                * REFERENCE_CYCLES_PER_M
                * REFERENCE_CYCLES_PER_M
                * (wavelength - next_wavelength);
            // At the middle of the share, for its coherence, rad/m.
            let frequency = TAU * frequency_ratio.sqrt() / wavelength;
            // Each profile has its own frequency within the share. Waves of equal frequency would add up or cancel
            // along the whole road.
            let frequencies =
                [0.5, 0.2, 0.8].map(|position| TAU * math::exp(position * math::ln(frequency_ratio)) / wavelength);
            let [reference_frequency, exponent] = self.class.coherence(); // Ω_p and p
            let coherence_argument = frequency * self.size[1] / reference_frequency; // Ω T / Ω_p over the width T
            let coherence = math::exp(-exponent * math::ln(1.0 + coherence_argument * coherence_argument)); // γ
            // A cosine of amplitude A has the variance A²/2.
            let amplitudes = [coherence, 1.0 - coherence, 1.0 - coherence].map(|share| (2.0 * variance * share).sqrt());
            // One random number per wave and profile.
            let phases = [0, 1, 2].map(|profile| TAU * unit_random(self.seed, (3 * wave + profile) as u64));
            for (column, heights) in profiles.iter_mut().enumerate() {
                // The phase is computed in 64 bits and reduced to one turn, because a long road has many turns.
                let x = f64::from(self.spacing) * column as f64;
                for (profile, height) in heights.iter_mut().enumerate() {
                    let turns = f64::from(frequencies[profile]) * x / core::f64::consts::TAU;
                    let angle = (turns - turns.floor()) as f32 * TAU;
                    *height += amplitudes[profile] * math::sin_cos(angle + phases[profile]).1; // `.1`: cosine
                }
            }
            wavelength = next_wavelength;
        }
        profiles
    }
}

/// Maximum number of heights of a road; they take 100 MB.
const MAX_HEIGHT_COUNT: f32 = 25e6;

/// Returns a pseudorandom number from 0 to 1 (exclusive, 24 bits) that depends on `seed` and `number` alone: output
/// `number` of the generator SplitMix64 with the state `seed` (Steele, Lea and Flood, "Fast Splittable Pseudorandom
/// Number Generators"). The upper 24 bits are used.
fn unit_random(seed: u64, number: u64) -> f32 {
    let mut bits = seed.wrapping_add(number.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) >> 40) as f32 / (1u64 << 24) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a road of 6 km by 1.4 m with waves of 0.3 to 20 m.
    fn road(class: RoadClass, seed: u64) -> Road {
        let corner = DVec3::ZERO;
        Road { class, seed, wavelengths: [0.3, 20.0], corner, size: [6000.0, 1.4], spacing: 0.14, grip: 1.0 }
    }

    /// Checks the standard deviation of the heights of three rows (both sides and the middle) against a table of σ_z
    /// for waves of 0.3 to 20 m, within 3 %: 1.8 mm for class A, and twice as much for each rougher class.
    /// [`Road::height_variance`] must agree with the table within 2 %.
    #[test]
    fn heights_have_the_deviation_of_their_class() {
        for (class, expected) in RoadClass::ALL.into_iter().zip([1.8, 3.6, 7.1, 14.2, 28.4, 56.8, 113.6, 227.3]) {
            let road = road(class, 11);
            let field = road.height_field().expect("a road");
            let [columns, rows] = field.counts();
            for row in [0, rows / 2, rows - 1] {
                let heights = (0..columns).map(|column| f64::from(field.height(column, row)));
                let (sum, squares) = heights.fold((0.0, 0.0), |(sum, squares), z| (sum + z, squares + z * z));
                let mean = sum / columns as f64;
                let deviation = 1e3 * (squares / columns as f64 - mean * mean).sqrt();
                // The 6 km have 300 of the longest waves, and the table has two digits.
                assert!((deviation / expected - 1.0).abs() < 0.03, "{class:?}: {deviation} mm instead of {expected}");
            }
            assert!((1e3 * f64::from(road.height_variance().sqrt()) / expected - 1.0).abs() < 0.02);
        }
    }

    /// Checks that equal seeds return equal heights and different seeds different ones.
    #[test]
    fn a_seed_is_a_road_and_others_are_others() {
        let height = |seed: u64| road(RoadClass::C, seed).height_field().expect("a road").height(777, 3);
        assert_eq!(height(1), height(1));
        assert_ne!(height(1), height(2));
    }

    /// Checks the correlation of both sides of a road of class C: above 0.9 for waves of 10 to 20 m, below 0.2 for
    /// waves of 0.3 to 1 m.
    #[test]
    fn long_waves_are_common_to_both_sides_and_short_ones_are_not() {
        // Correlation coefficient of the first and the last row, whose means are 0.
        let correlation = |wavelengths: [f32; 2]| {
            let field = Road { wavelengths, ..road(RoadClass::C, 5) }.height_field().expect("a road");
            let [columns, rows] = field.counts();
            let sum = |term: &dyn Fn(usize) -> f64| (0..columns).map(term).sum::<f64>();
            let z = |column: usize, row: usize| f64::from(field.height(column, row));
            let covariance = sum(&|c| z(c, 0) * z(c, rows - 1));
            covariance / (sum(&|c| z(c, 0) * z(c, 0)) * sum(&|c| z(c, rows - 1) * z(c, rows - 1))).sqrt()
        };
        let (long, short) = (correlation([10.0, 20.0]), correlation([0.3, 1.0]));
        assert!(long > 0.9 && short < 0.2, "{long}, {short}");
    }

    /// Checks the errors of a road with too many heights and of a grid spacing above half of the shortest wavelength.
    #[test]
    fn a_grid_too_wide_for_its_waves_is_refused() {
        let endless = Road { size: [1e9, 1e9], ..road(RoadClass::A, 1) };
        assert!(matches!(endless.height_field(), Err(TerrainFault::TooManyHeights(_))));
        let wide_grid = Road { spacing: 0.2, ..road(RoadClass::A, 1) };
        assert_eq!(
            wide_grid.height_field(),
            Err(TerrainFault::InvalidWavelengths { spacing: 0.2, wavelengths: wide_grid.wavelengths })
        );
    }
}
