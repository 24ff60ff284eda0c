//! Widths of the SIMD lanes of a fleet.

use skidpad_core::block::BlockLanes;
use skidpad_core::simd::lane::F32x8Pair;
#[cfg(all(feature = "instruction_sets", target_arch = "x86_64"))]
use skidpad_core::simd::lane::{F32x8, F32x16};

/// SIMD lanes of the blocks of a fleet. Results are bit-identical.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Lanes {
    /// Eight cars in two registers of four, on any processor.
    Eight,
    /// Eight cars in one register, on processors with AVX2.
    #[cfg(all(feature = "instruction_sets", target_arch = "x86_64"))]
    EightAvx2,
    /// Sixteen cars in one register, on processors with AVX-512.
    #[cfg(all(feature = "instruction_sets", target_arch = "x86_64"))]
    SixteenAvx512,
}

impl Lanes {
    /// All lanes of this build, the widest last.
    pub const ALL: &'static [Self] = &[
        Self::Eight,
        #[cfg(all(feature = "instruction_sets", target_arch = "x86_64"))]
        Self::EightAvx2,
        #[cfg(all(feature = "instruction_sets", target_arch = "x86_64"))]
        Self::SixteenAvx512,
    ];

    /// Returns whether this processor has the lanes.
    pub fn is_supported(self) -> bool {
        match self {
            Self::Eight => F32x8Pair::is_supported(),
            #[cfg(all(feature = "instruction_sets", target_arch = "x86_64"))]
            Self::EightAvx2 => F32x8::is_supported(),
            #[cfg(all(feature = "instruction_sets", target_arch = "x86_64"))]
            Self::SixteenAvx512 => F32x16::is_supported(),
        }
    }

    /// Returns the widest lanes that this processor has.
    pub fn widest() -> Self {
        Self::ALL.iter().copied().rfind(|lanes| lanes.is_supported()).unwrap_or(Self::Eight)
    }
}
