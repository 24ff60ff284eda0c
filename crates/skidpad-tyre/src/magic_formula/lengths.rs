//! Relaxation lengths.

use super::{MagicFormula, SharedQuantities};
use crate::{MIN_RELAXATION_LENGTH_M, functions};
use skidpad_simd::lane::Lane;

/// Relaxation lengths of a tyre as functions of its load.
#[derive(Clone, Copy, Debug)]
pub struct RelaxationLengths {
    /// Longitudinal length.
    longitudinal: LengthLaw,
    /// Lateral length.
    lateral: LengthLaw,
}

/// Load dependence of a relaxation length.
#[derive(Clone, Copy, Debug)]
enum LengthLaw {
    /// MF 5.2, longitudinal: proportional to load, with a linear and an exponential factor of the deviation from
    /// nominal load.
    Proportional { size: f32, linear: f32, exponent: f32 },
    /// MF 5.2, lateral: rises with load up to a largest length.
    Rising { largest: f32, load: f32, camber: f32 },
    /// MF 6.1: slip stiffness over carcass stiffness of the standing tyre, which changes with load and pressure
    /// (paper).
    Carcass { stiffness: f32, linear: f32, square: f32, pressure: f32 },
    /// Length that does not depend on load, m.
    Constant(f32),
}

impl RelaxationLengths {
    /// Builds the load dependence for each direction from the coefficients of `tyre`. A coefficient PTX1 or PTY1 other
    /// than 0 selects the curve of PAC2002. Otherwise a stated longitudinal or lateral stiffness of the standing tyre
    /// selects that of version 6.1. If a file states neither, the longitudinal length is half the unloaded radius, and
    /// the lateral length is the unloaded radius.
    pub fn new(tyre: &MagicFormula) -> Self {
        let c = &tyre.c;
        let longitudinal = if c.ptx1 != 0.0 {
            let per_load = c.unloaded_radius / c.fnomin * c.lsgkp;
            LengthLaw::Proportional { size: c.ptx1 * per_load, linear: c.ptx2 * per_load, exponent: c.ptx3 }
        } else if c.longitudinal_stiffness > 0.0 {
            let stiffness = c.longitudinal_stiffness / c.lsgkp;
            LengthLaw::Carcass { stiffness, linear: c.pcfx1, square: c.pcfx2, pressure: c.pcfx3 }
        } else {
            LengthLaw::Constant(0.5 * c.unloaded_radius)
        };
        let lateral = if c.pty1 != 0.0 {
            let largest = c.pty1 * c.unloaded_radius * c.lfzo * c.lsgal;
            LengthLaw::Rising { largest, load: c.pty2 * tyre.nominal_load(), camber: c.pky3 * c.lgay }
        } else if c.lateral_stiffness > 0.0 {
            let stiffness = c.lateral_stiffness / c.lsgal;
            LengthLaw::Carcass { stiffness, linear: c.pcfy1, square: c.pcfy2, pressure: c.pcfy3 }
        } else {
            LengthLaw::Constant(c.unloaded_radius)
        };
        Self { longitudinal, lateral }
    }

    /// Returns the longitudinal and lateral lengths, m, for the slip `stiffness`, N per unit slip, clamped to
    /// [`MIN_RELAXATION_LENGTH_M`] and 100 m.
    #[inline(always)]
    pub fn lengths_at<L: Lane>(&self, shared: &SharedQuantities<L>, stiffness: [L; 2]) -> [L; 2] {
        [self.longitudinal.length_at(shared, stiffness[0]), self.lateral.length_at(shared, stiffness[1])]
            .map(|length| length.clamp_nan_to_low(L::splat(MIN_RELAXATION_LENGTH_M), L::splat(100.0)))
    }
}

impl LengthLaw {
    /// Returns the length, m, at the load, pressure and camber of `shared`, without limits, by the formula of the
    /// variant. `dfz` is the relative deviation of load, `dpi` that of pressure.
    ///
    /// - Proportional: `load (size + linear dfz) exp(−exponent dfz)`.
    /// - Rising: `largest sin(2 atan(load / load of the largest length))`, reduced by camber.
    /// - Carcass: `slip_stiffness` (N per unit slip) over the carcass stiffness, which is at least
    ///   [`MIN_CARCASS_SHARE`] of the stated one.
    /// - Constant: the stated length.
    #[inline(always)]
    fn length_at<L: Lane>(self, shared: &SharedQuantities<L>, slip_stiffness: L) -> L {
        let s = L::splat;
        let one = s(1.0);
        let &SharedQuantities { load, dfz, dpi, camber, .. } = shared;
        match self {
            LengthLaw::Proportional { size, linear, exponent } => {
                load * (s(size) + s(linear) * dfz) * functions::exp(-(s(exponent) * dfz))
            }
            LengthLaw::Rising { largest, load: peak_load, camber: camber_factor } => {
                let angle = functions::atan(load / s(peak_load));
                s(largest) * functions::sin(angle + angle) * (one - s(camber_factor) * camber.abs())
            }
            LengthLaw::Carcass { stiffness, linear, square, pressure } => {
                let load_factor = one + s(linear) * dfz + s(square) * dfz * dfz;
                let carcass_stiffness = s(stiffness) * load_factor * (one + s(pressure) * dpi);
                slip_stiffness / carcass_stiffness.at_least(s(MIN_CARCASS_SHARE * stiffness))
            }
            LengthLaw::Constant(length) => s(length),
        }
    }
}

/// Minimum carcass stiffness of the standing tyre, as a share of the stated stiffness, at any load.
const MIN_CARCASS_SHARE: f32 = 0.05;
