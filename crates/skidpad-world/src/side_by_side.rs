//! A number of each of four things in a lane each, or of one.

use skidpad_core::lane::{Four, FourMask, Lane};

/// Numbers of `N` things side by side, or of one.
pub(crate) trait SideBySide<const N: usize>: Lane {
    /// One number of each.
    fn column(of: [f32; N]) -> Self;

    /// Four numbers of each as each number of all.
    fn columns(of: [[f32; 4]; N]) -> [Self; 4];

    /// Each of four numbers of all as the numbers of each.
    fn rows(of: [Self; 4]) -> [[f32; 4]; N];

    /// Thing by thing.
    fn each(mask: Self::Mask) -> [bool; N];
}

impl SideBySide<1> for f32 {
    #[inline(always)]
    fn column([of]: [f32; 1]) -> Self {
        of
    }

    #[inline(always)]
    fn columns([of]: [[f32; 4]; 1]) -> [Self; 4] {
        of
    }

    #[inline(always)]
    fn rows(of: [Self; 4]) -> [[f32; 4]; 1] {
        [of]
    }

    #[inline(always)]
    fn each(mask: bool) -> [bool; 1] {
        [mask]
    }
}

impl SideBySide<4> for Four {
    #[inline(always)]
    fn column(of: [f32; 4]) -> Self {
        Self::new(of)
    }

    #[inline(always)]
    fn columns([a, b, c, d]: [[f32; 4]; 4]) -> [Self; 4] {
        Self::transposed([Self::new(a), Self::new(b), Self::new(c), Self::new(d)])
    }

    #[inline(always)]
    fn rows(of: [Self; 4]) -> [[f32; 4]; 4] {
        let [a, b, c, d] = Self::transposed(of);
        [a.lanes(), b.lanes(), c.lanes(), d.lanes()]
    }

    #[inline(always)]
    fn each(mask: FourMask) -> [bool; 4] {
        mask.lanes()
    }
}

/// Four numbers of each thing as each number of all.
#[inline(always)]
pub(crate) fn columns<L: SideBySide<N>, const N: usize, T>(of: [&T; N], numbers: impl Fn(&T) -> [f32; 4]) -> [L; 4] {
    L::columns(of.map(numbers))
}

/// One number of each thing.
#[inline(always)]
pub(crate) fn column<L: SideBySide<N>, const N: usize, T>(of: [&T; N], number: impl Fn(&T) -> f32) -> L {
    L::column(of.map(number))
}
