//! Selection of the wheel banks over which the loops of a step run.

/// Access of a step to slices with an entry for each bank of its car. A bank contains the four wheels of two axles.
pub(crate) trait WheelGroups {
    /// Returns the entries of the banks over which loops run: the first, or all.
    fn slice<T>(all: &[T]) -> &[T];

    /// Returns the entries of [`WheelGroups::slice`] for changes.
    fn slice_mut<T>(all: &mut [T]) -> &mut [T];

    /// Returns the number of rows over which the loops of a batch run, with one row per wheel of a car: 4 for a single
    /// bank, otherwise `all`.
    #[cfg(feature = "abreast")]
    fn wheel_count(all: usize) -> usize;
}

/// Single bank of a car on two axles. The compiler knows this number, so loops disappear.
pub(crate) enum SingleGroup {}

/// Any number of banks.
pub(crate) enum ManyGroups {}

impl WheelGroups for SingleGroup {
    #[inline(always)]
    fn slice<T>(all: &[T]) -> &[T] {
        &all[..1]
    }

    #[inline(always)]
    fn slice_mut<T>(all: &mut [T]) -> &mut [T] {
        &mut all[..1]
    }

    #[cfg(feature = "abreast")]
    #[inline(always)]
    fn wheel_count(_: usize) -> usize {
        4
    }
}

impl WheelGroups for ManyGroups {
    #[inline(always)]
    fn slice<T>(all: &[T]) -> &[T] {
        all
    }

    #[inline(always)]
    fn slice_mut<T>(all: &mut [T]) -> &mut [T] {
        all
    }

    #[cfg(feature = "abreast")]
    #[inline(always)]
    fn wheel_count(all: usize) -> usize {
        all
    }
}
