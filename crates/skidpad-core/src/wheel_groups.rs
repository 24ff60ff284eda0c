//! Selection of the wheel banks over which the loops of a step run.

/// Access of a step to slices with an entry for each bank of its car.
pub(crate) trait WheelGroups {
    fn slice<T>(all: &[T]) -> &[T];

    fn slice_mut<T>(all: &mut [T]) -> &mut [T];

    /// Returns the number of wheels per car of a batch. `all`: number of rows that a loop finds.
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
