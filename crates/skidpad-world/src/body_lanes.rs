//! Packing of numbers of four bodies into SIMD lanes, or of one body into a scalar.

use skidpad_core::simd::lane::{F32x4, Lane, Mask32x4};

/// Numbers of `N` bodies side by side: one lane per body, or a scalar for one body.
pub(crate) trait BodyLanes<const N: usize>: Lane {
    /// Packs one number of each body.
    fn pack_one(numbers: [f32; N]) -> Self;

    /// Packs four numbers of each body, given body by body, into four lane vectors.
    fn pack_four(numbers: [[f32; 4]; N]) -> [Self; 4];

    /// Unpacks four lane vectors into four numbers of each body.
    fn unpack_four(lanes: [Self; 4]) -> [[f32; 4]; N];

    /// Unpacks a mask into one `bool` per body.
    fn unpack_mask(mask: Self::Mask) -> [bool; N];
}

impl BodyLanes<1> for f32 {
    #[inline(always)]
    fn pack_one([number]: [f32; 1]) -> Self {
        number
    }

    #[inline(always)]
    fn pack_four([numbers]: [[f32; 4]; 1]) -> [Self; 4] {
        numbers
    }

    #[inline(always)]
    fn unpack_four(numbers: [Self; 4]) -> [[f32; 4]; 1] {
        [numbers]
    }

    #[inline(always)]
    fn unpack_mask(mask: bool) -> [bool; 1] {
        [mask]
    }
}

impl BodyLanes<4> for F32x4 {
    #[inline(always)]
    fn pack_one(numbers: [f32; 4]) -> Self {
        Self::new(numbers)
    }

    #[inline(always)]
    fn pack_four([a, b, c, d]: [[f32; 4]; 4]) -> [Self; 4] {
        Self::transposed([Self::new(a), Self::new(b), Self::new(c), Self::new(d)])
    }

    #[inline(always)]
    fn unpack_four(lanes: [Self; 4]) -> [[f32; 4]; 4] {
        let [a, b, c, d] = Self::transposed(lanes);
        [a.lanes(), b.lanes(), c.lanes(), d.lanes()]
    }

    #[inline(always)]
    fn unpack_mask(mask: Mask32x4) -> [bool; 4] {
        mask.lanes()
    }
}

/// Packs four numbers of each body in `bodies`, chosen by `numbers`, into four lane vectors: vector k has number k of
/// every body.
#[inline(always)]
pub(crate) fn pack_four_of<L: BodyLanes<N>, const N: usize, T>(
    bodies: [&T; N],
    numbers: impl Fn(&T) -> [f32; 4],
) -> [L; 4] {
    L::pack_four(bodies.map(numbers))
}

/// Packs one number of each body in `bodies`, chosen by `number`.
#[inline(always)]
pub(crate) fn pack_one_of<L: BodyLanes<N>, const N: usize, T>(bodies: [&T; N], number: impl Fn(&T) -> f32) -> L {
    L::pack_one(bodies.map(number))
}
