//! Over how many banks of wheels the loops of a step run.

/// What a step takes of slices with one entry for each bank of its car.
pub(crate) trait Banks {
    fn of<T>(all: &[T]) -> &[T];

    fn of_mut<T>(all: &mut [T]) -> &mut [T];
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
}
