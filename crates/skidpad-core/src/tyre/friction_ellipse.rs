//! The ellipse of a tyre's friction limits along and across, within which its force stays.

use crate::lane::Lane;

/// How far a force reaches that uses these shares of the limits along and across: 1 on the ellipse.
#[inline(always)]
pub(crate) fn reach<L: Lane>(used: [L; 2]) -> L {
    (used[0] * used[0] + used[1] * used[1]).sqrt()
}

/// Share of one limit that is left beside a share of the other that is `used`.
#[inline(always)]
pub(crate) fn left_beside<L: Lane>(used: L) -> L {
    (L::splat(1.0) - used * used).at_least(L::splat(0.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On the ellipse a force reaches 1; what one direction uses is not left to the other.
    #[test]
    fn what_is_left_beside_a_share_reaches_the_ellipse() {
        assert_eq!(left_beside(0.6f32), 0.8);
        assert_eq!(reach([0.6f32, -0.8]), 1.0);
        assert_eq!([left_beside(1.0f32), left_beside(1.5f32)], [0.0, 0.0]);
    }
}
