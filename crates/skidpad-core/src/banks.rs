//! Over how many banks of wheels the loops of a step run.

/// What a step takes of slices with one entry for each bank of its car.
pub(crate) trait Banks {
    fn of<T>(all: &[T]) -> &[T];

    fn of_mut<T>(all: &mut [T]) -> &mut [T];

    /// How many wheels cars abreast have, of `all` that a loop finds.
    #[cfg(feature = "abreast")]
    fn wheels(all: usize) -> usize;
}

/// One, of a car on two axles. As the compiler knows it, no loop counts.
pub(crate) enum One {}

/// As many as there are.
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
