//! Selection of the wheel groups over which the loops of a step run.

/// Selection of the wheel groups of a car over which the loops of a step run. A group contains the four wheels of two
/// axles. A step stores slices with one entry for each group.
pub trait WheelGroups {
    /// Returns the entries of the groups over which loops run: the first, or all.
    fn slice<T>(entries: &[T]) -> &[T];

    /// Returns the entries of [`WheelGroups::slice`] for changes.
    fn slice_mut<T>(entries: &mut [T]) -> &mut [T];

    /// Returns the number of rows over which the loops of a batch run, with one row per wheel of a car: 4 for a single
    /// group, otherwise `row_count`.
    #[cfg(feature = "simd_batch")]
    fn wheel_count(row_count: usize) -> usize;
}

/// Single group of a car on two axles. The compiler knows this number, so loops disappear.
pub enum SingleGroup {}

/// Any number of groups.
pub enum ManyGroups {}

impl WheelGroups for SingleGroup {
    #[inline(always)]
    fn slice<T>(entries: &[T]) -> &[T] {
        &entries[..1]
    }

    #[inline(always)]
    fn slice_mut<T>(entries: &mut [T]) -> &mut [T] {
        &mut entries[..1]
    }

    #[cfg(feature = "simd_batch")]
    #[inline(always)]
    fn wheel_count(_: usize) -> usize {
        4
    }
}

impl WheelGroups for ManyGroups {
    #[inline(always)]
    fn slice<T>(entries: &[T]) -> &[T] {
        entries
    }

    #[inline(always)]
    fn slice_mut<T>(entries: &mut [T]) -> &mut [T] {
        entries
    }

    #[cfg(feature = "simd_batch")]
    #[inline(always)]
    fn wheel_count(row_count: usize) -> usize {
        row_count
    }
}
