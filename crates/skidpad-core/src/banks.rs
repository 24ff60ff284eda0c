//! Selection of the wheel banks over which the loops of a step run.

/// Access of a step to slices with an entry for each bank of its car.
pub(crate) trait Banks {
    fn of<T>(all: &[T]) -> &[T];

    fn of_mut<T>(all: &mut [T]) -> &mut [T];

    /// Returns the number of wheels per car of a batch. `all`: number of rows that a loop finds.
    #[cfg(feature = "abreast")]
    fn wheels(all: usize) -> usize;
}

/// Single bank of a car on two axles. The compiler knows this number, so loops disappear.
pub(crate) enum One {}

/// Any number of banks.
pub(crate) enum Many {}

impl Banks for One {
    #[inline(always)]
    fn of<T>(all: &[T]) -> &[T] {
        &all[..1]
    }

    #[inline(always)]
    fn of_mut<T>(all: &mut [T]) -> &mut [T] {
        &mut all[..1]
    }

    #[cfg(feature = "abreast")]
    #[inline(always)]
    fn wheels(_: usize) -> usize {
        4
    }
}

impl Banks for Many {
    #[inline(always)]
    fn of<T>(all: &[T]) -> &[T] {
        all
    }

    #[inline(always)]
    fn of_mut<T>(all: &mut [T]) -> &mut [T] {
        all
    }

    #[cfg(feature = "abreast")]
    #[inline(always)]
    fn wheels(all: usize) -> usize {
        all
    }
}
