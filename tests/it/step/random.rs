//! Random numbers that are identical in every run.

/// Small generator with known constants (Marsaglia, "Xorshift RNGs", 2003), so that a failure can be repeated.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * ((self.next() >> 40) as f32 / (1u64 << 24) as f32)
    }

    /// Returns a number between two numbers above 0, with equal probability in each decade.
    pub fn scaled(&mut self, low: f32, high: f32) -> f32 {
        // `libm` computes in 64 bits. Functions of platforms differ in last digits, and the optimiser may choose any of
        // them.
        let share = libm::pow((high / low).into(), self.between(0.0, 1.0).into());
        low * share as f32
    }

    /// Returns a number as [`Random::scaled`], or infinity with a probability of 0.5.
    pub fn or_infinite(&mut self, low: f32, high: f32) -> f32 {
        if self.chance(0.5) { f32::INFINITY } else { self.scaled(low, high) }
    }

    /// Returns a whole number from 0 to below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        (self.next() >> 32) as usize % count
    }

    pub fn chance(&mut self, share: f32) -> bool {
        self.between(0.0, 1.0) < share
    }

    /// Returns mostly a number between `low` and `high`, sometimes −1e30, infinity or NaN.
    pub fn wild(&mut self, low: f32, high: f32) -> f32 {
        match self.next() % 64 {
            0 => f32::NAN,
            1 => f32::INFINITY,
            2 => -1e30,
            _ => self.between(low, high),
        }
    }
}
