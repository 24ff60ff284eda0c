//! Which instructions a step is compiled to: those every processor of the target has, or the widest that this one has. The bits are the
//! same: compilers merge no multiplication with an addition unless told to, so only the encoding of the operations differs.

/// Does a part of a step, compiled to the widest instructions this processor has. What is not inlined into it is the target's.
#[cfg(feature = "instruction_sets")]
#[inline(always)]
pub fn widest<R>(part: impl FnOnce() -> R) -> R {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    {
        let level = fearless_simd::Level::new();
        if let Some(set) = level.as_avx512() {
            return fearless_simd::Simd::vectorize(set, part);
        }
        if let Some(set) = level.as_avx2() {
            return fearless_simd::Simd::vectorize(set, part);
        }
    }
    part()
}

/// Does a part of a step.
#[cfg(not(feature = "instruction_sets"))]
#[inline(always)]
pub fn widest<R>(part: impl FnOnce() -> R) -> R {
    part()
}
