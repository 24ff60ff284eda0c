//! Packing of numbers of four bodies into SIMD lanes, or of one body into a scalar.

use skidpad_core::lane::{Four, FourMask, Lane};

/// Numbers of `N` bodies side by side: one lane per body, or a scalar for one body.
pub(crate) trait SideBySide<const N: usize>: Lane {
    /// Packs one number of each body.
    fn column(of: [f32; N]) -> Self;

    /// Packs four numbers of each body, given body by body, into four lane vectors.
    fn columns(of: [[f32; 4]; N]) -> [Self; 4];

    /// Unpacks four lane vectors into four numbers of each body.
    fn rows(of: [Self; 4]) -> [[f32; 4]; N];

    /// Unpacks a mask into one `bool` per body.
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

/// Packs four numbers of each body in `of`, chosen by `numbers`, into four lane vectors.
#[inline(always)]
pub(crate) fn columns<L: SideBySide<N>, const N: usize, T>(of: [&T; N], numbers: impl Fn(&T) -> [f32; 4]) -> [L; 4] {
    L::columns(of.map(numbers))
}

/// Packs one number of each body in `of`, chosen by `number`.
#[inline(always)]
pub(crate) fn column<L: SideBySide<N>, const N: usize, T>(of: [&T; N], number: impl Fn(&T) -> f32) -> L {
    L::column(of.map(number))
}
