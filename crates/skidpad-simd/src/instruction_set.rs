//! Selection of the instructions of a step: those of every processor of the target, or the widest of this processor.
//! Results have the same bits: compilers do not fuse multiplication and addition unless told to, so only the encoding
//! of operations differs.

/// Runs `kernel` (the computation of a step) once and returns its result. Selects the widest instructions of this
/// processor at run time: AVX-512, else AVX2, else those of the target (always on processors other than x86).
/// Instruction sets that `allowed_set_count` excludes are skipped. Functions that are not inlined into `kernel` use the
/// instructions of the target.
#[cfg(feature = "instruction_sets")]
#[inline(always)]
pub fn dispatch_simd<R>(kernel: impl FnOnce() -> R) -> R {
    #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
    {
        let level = fearless_simd::Level::new();
        // `allowed_set_count`: 0 allows only the target's own instructions, 1 also AVX2, 2 also AVX-512.
        if let Some(set) = level.as_avx512().filter(|_| allowed_set_count() > 1) {
            return fearless_simd::Simd::vectorize(set, kernel);
        }
        if let Some(set) = level.as_avx2().filter(|_| allowed_set_count() > 0) {
            return fearless_simd::Simd::vectorize(set, kernel);
        }
    }
    kernel()
}

/// Runs `kernel` of a step with the instructions of the target.
#[cfg(not(feature = "instruction_sets"))]
#[inline(always)]
pub fn dispatch_simd<R>(kernel: impl FnOnce() -> R) -> R {
    kernel()
}

/// Returns the number of instruction sets besides the target's own that a step may use: all.
#[cfg(all(feature = "instruction_sets", not(feature = "limited_instruction_sets")))]
#[inline(always)]
fn allowed_set_count() -> usize {
    usize::MAX
}

#[cfg(feature = "limited_instruction_sets")]
thread_local! {
    static ALLOWED_INSTRUCTION_SETS: core::cell::Cell<usize> = const { core::cell::Cell::new(usize::MAX) };
}

/// Returns the number of instruction sets that this thread allows; see [`allow_instruction_sets`].
#[cfg(feature = "limited_instruction_sets")]
fn allowed_set_count() -> usize {
    ALLOWED_INSTRUCTION_SETS.get()
}

/// Sets the number of instruction sets besides the target's own that steps of this thread may use: 0 none, 1 AVX2, 2
/// and more also AVX-512. For tests that compare the bits of all sets.
#[cfg(feature = "limited_instruction_sets")]
pub fn allow_instruction_sets(count: usize) {
    ALLOWED_INSTRUCTION_SETS.set(count);
}
