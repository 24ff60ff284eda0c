//! Brake discs with a temperature, for one wheel or several.

use crate::lane::{Four, Lane};

/// Brake disc or drum: absorbs the work of the brake, cools in the air, and fades when hot. Temperatures are above that of the
/// air, K.
///
/// `C dT/dt = M |ω| − (h₀ + h₁ v) T`, one lumped thermal mass (Limpert, Brake Design and Safety, lumped temperature analysis).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Disc {
    /// Heat capacity C, mass times specific heat, J/K, > 0.
    pub heat_capacity: f32,
    /// Cooling coefficients: h₀ at rest, W/K, and its increase with speed h₁, W s/(K m), each ≥ 0.
    pub cooling: [f32; 2],
    /// Temperatures at which fading starts and ends, K, increasing.
    pub fades: [f32; 2],
    /// Share of the torque of a fully faded brake, in [0, 1].
    pub least_share: f32,
}

impl Disc {
    /// Returns the share of the brake torque at `temperature` (K above the air), from 1 when cold to `least_share`.
    pub fn share_at(&self, temperature: f32) -> f32 {
        Discs::from(self).share_at(temperature)
    }
}

/// Constants of [`Disc`] for several wheels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Discs<L = Four> {
    heat_capacity: L,
    cooling: [L; 2],
    fades: [L; 2],
    least_share: L,
}

impl From<&Disc> for Discs<f32> {
    #[inline(always)]
    fn from(disc: &Disc) -> Self {
        let Disc { heat_capacity, cooling, fades, least_share } = *disc;
        Self { heat_capacity, cooling, fades, least_share }
    }
}

impl Discs {
    /// Builds the constants of four wheels; `None` if no wheel has a disc. A brake without a disc stays cold and never fades.
    pub fn of(wheels: [Option<Disc>; 4]) -> Option<Self> {
        let none = Disc { heat_capacity: f32::INFINITY, cooling: [0.0; 2], fades: [0.0, 1.0], least_share: 1.0 };
        let of = |number: &dyn Fn(&Disc) -> f32| Four::new(wheels.map(|disc| number(&disc.unwrap_or(none))));
        wheels.iter().any(Option::is_some).then(|| Self {
            heat_capacity: of(&|disc| disc.heat_capacity),
            cooling: [0, 1].map(|k| of(&|disc| disc.cooling[k])),
            fades: [0, 1].map(|k| of(&|disc| disc.fades[k])),
            least_share: of(&|disc| disc.least_share),
        })
    }
}

impl<L: Lane> Discs<L> {
    /// Applies `to` to every number.
    #[cfg(feature = "abreast")]
    pub fn map<M>(self, to: impl Fn(L) -> M + Copy) -> Discs<M> {
        let Self { heat_capacity, cooling, fades, least_share } = self;
        Discs {
            heat_capacity: to(heat_capacity),
            cooling: cooling.map(to),
            fades: fades.map(to),
            least_share: to(least_share),
        }
    }

    /// Returns the share of the brake torque at `temperature` (K above the air), from 1 when cold to `least_share`.
    #[inline(always)]
    pub fn share_at(&self, temperature: L) -> L {
        let ([from, to], zero, one) = (self.fades, L::splat(0.0), L::splat(1.0));
        let faded = ((temperature - from) / (to - from)).within(zero, one);
        one - (one - self.least_share) * faded
    }

    /// Returns the temperature (K above the air) after `dt` s in which the brake did `work` (J) at `speed` (m/s). Cooling is
    /// implicit: it uses the temperature at the end of the step, so that any step length is stable.
    #[inline(always)]
    pub fn warmed(&self, temperature: L, work: L, speed: L, dt: f32) -> L {
        let cooled = L::splat(dt) * (self.cooling[0] + self.cooling[1] * speed.abs()) / self.heat_capacity;
        let warmed = (temperature + work / self.heat_capacity) / (L::splat(1.0) + cooled);
        // Rounding can make the work of a brake torque near zero negative. The comparison keeps NaN.
        L::select(warmed.less(L::splat(0.0)), L::splat(0.0), warmed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks `C (T₁ − T₀) = W − dt (h₀ + h₁ v) T₁`; one of four wheels has no disc.
    #[test]
    fn discs_take_up_the_work_that_the_air_does_not_and_hold_less_when_hot() {
        let disc = Disc { heat_capacity: 1e4, cooling: [10.0, 2.0], fades: [300.0, 500.0], least_share: 0.5 };
        let discs = Discs::of([Some(disc), Some(disc), Some(disc), None]).expect("three have one");
        let shares = discs.share_at(Four::new([200.0, 400.0, 900.0, 0.0])).lanes();
        assert_eq!(shares, [1.0, 0.75, 0.5, 1.0]);
        assert_eq!([200.0, 400.0, 900.0].map(|temperature| disc.share_at(temperature)), shares[..3]);
        let warmed =
            discs.warmed(Four::new([0.0, 300.0, 300.0, 0.0]), Four::new([5e4, 0.0, 2e4, 7.0]), Four::splat(-20.0), 0.5);
        for (found, [before, work]) in warmed.lanes().into_iter().zip([[0.0, 5e4], [300.0, 0.0], [300.0, 2e4]]) {
            // f32 resolution at 3e6 J.
            assert!((1e4 * (found - before) - work + 0.5 * 50.0 * found).abs() < 1.0, "{found} K");
        }
        assert_eq!(warmed.lanes()[3], 0.0);
        let rounded = discs.warmed(Four::splat(0.0), Four::splat(-1e-4), Four::splat(0.0), 0.5);
        assert_eq!(rounded.lanes(), [0.0; 4], "saved states take no disc colder than the air");
    }
}
