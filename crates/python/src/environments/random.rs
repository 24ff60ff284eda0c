//! Pseudo-random numbers of a car, which depend on its seed only.

/// Weyl increment of SplitMix64: 2⁶⁴ divided by the golden ratio.
const WEYL_INCREMENT: u64 = 0x9E37_79B9_7F4A_7C15;

/// Generator SplitMix64 (G. L. Steele, D. Lea, C. H. Flood: Fast splittable pseudorandom number generators, 2014).
#[derive(Clone, Copy, Debug, Default)]
pub struct Random {
    /// Counter whose hashes are the numbers.
    counter: u64,
}

impl Random {
    /// Creates the generator of `seed`. Neighbouring seeds give unrelated numbers.
    pub fn new(seed: u64) -> Self {
        Self { counter: hash(seed) }
    }

    /// Returns a number from 0 (included) to 1 (excluded) with 53 random bits.
    pub fn next_share(&mut self) -> f64 {
        self.counter = self.counter.wrapping_add(WEYL_INCREMENT);
        (hash(self.counter) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns a number from `low` (included) to `high` (excluded).
    pub fn next_between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.next_share()
    }
}

/// Returns the number of SplitMix64 for a counter: mixes the bits of the counter plus the increment.
fn hash(counter: u64) -> u64 {
    let mut bits = counter.wrapping_add(WEYL_INCREMENT);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    bits ^ (bits >> 31)
}
