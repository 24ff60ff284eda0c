//! Numbers at random that are the same in every run.

/// A small generator with known constants (Marsaglia, "Xorshift RNGs", 2003), so that a failure repeats.
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

    /// Between two numbers above 0, as likely in any decade.
    pub fn scaled(&mut self, low: f32, high: f32) -> f32 {
        // In 64 bits of `libm`: functions of platforms differ in last digits, and the optimiser takes now this one, now that.
        let share = libm::pow((high / low).into(), self.between(0.0, 1.0).into());
        low * share as f32
    }

    /// As [`Random::scaled`], or infinite.
    pub fn or_infinite(&mut self, low: f32, high: f32) -> f32 {
        if self.chance(0.5) { f32::INFINITY } else { self.scaled(low, high) }
    }

    /// One of the numbers from 0 to below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        (self.next() >> 32) as usize % count
    }

    pub fn chance(&mut self, share: f32) -> bool {
        self.between(0.0, 1.0) < share
    }

    /// Mostly sensible, sometimes far out, sometimes not a number at all.
    pub fn wild(&mut self, low: f32, high: f32) -> f32 {
        match self.next() % 64 {
            0 => f32::NAN,
            1 => f32::INFINITY,
            2 => -1e30,
            _ => self.between(low, high),
        }
    }
}
