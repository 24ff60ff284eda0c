//! Friction ellipse: the longitudinal and lateral friction limits of a tyre, which bound its combined force.

use skidpad_simd::lane::Lane;

/// Returns the utilisation of the friction ellipse by a force that uses the `used_shares` of the longitudinal and
/// lateral limits; 1 on the ellipse.
#[inline(always)]
pub fn utilisation<L: Lane>(used_shares: [L; 2]) -> L {
    (used_shares[0] * used_shares[0] + used_shares[1] * used_shares[1]).sqrt()
}

/// Returns the share of one limit that remains when the `used_share` of the other limit is used; 0 if `used_share` is 1
/// or more.
#[inline(always)]
pub fn remaining_share<L: Lane>(used_share: L) -> L {
    (L::splat(1.0) - used_share * used_share).at_least(L::splat(0.0)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a force on the ellipse has the utilisation 1, and that the share used in one direction reduces the
    /// other.
    #[test]
    fn what_is_left_beside_a_share_reaches_the_ellipse() {
        assert_eq!(remaining_share(0.6f32), 0.8);
        assert_eq!(utilisation([0.6f32, -0.8]), 1.0);
        assert_eq!([remaining_share(1.0f32), remaining_share(1.5f32)], [0.0, 0.0]);
    }
}
