//! Brake discs with a temperature, for one wheel or several.

use crate::model_error::{ModelError, check_not_negative, check_positive};
use skidpad_simd::lane::{F32x4, Lane};

/// Brake disc or drum: absorbs the work of the brake, cools in the air, and fades when hot. Temperatures are above that
/// of the air, K.
///
/// `C dT/dt = M |ω| − (h₀ + h₁ v) T`, one lumped thermal mass (Limpert, Brake Design and Safety, lumped temperature
/// analysis).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BrakeDisc {
    /// Heat capacity C, mass times specific heat, J/K, > 0.
    pub heat_capacity: f32,
    /// Cooling coefficients: h₀ at rest, W/K, and its increase with speed h₁, W s/(K m), each ≥ 0.
    pub cooling: [f32; 2],
    /// Temperatures at which fading starts and ends, K, increasing.
    pub fade_range: [f32; 2],
    /// Share of the torque of a fully faded brake, in [0, 1].
    pub min_torque_factor: f32,
}

impl BrakeDisc {
    /// Checks the values: heat capacity above 0, cooling and temperatures not negative, a rising range of fade, and a
    /// remaining torque of 0 to 1. `value_name` builds the name of a value in an error.
    ///
    /// # Errors
    /// The first violation: a [`ModelError`] with the name of the value, or with the rule.
    pub(crate) fn check(&self, value_name: impl Fn(&str) -> String) -> Result<(), ModelError> {
        check_positive(&value_name("heat capacity of the brake disc"), self.heat_capacity)?;
        check_not_negative(&value_name("cooling of the brake disc"), self.cooling[0])?;
        check_not_negative(&value_name("speed-dependent cooling of the brake disc"), self.cooling[1])?;
        check_not_negative(&value_name("temperature at which brake fade starts"), self.fade_range[0])?;
        check_positive(&value_name("temperature range of brake fade"), self.fade_range[1] - self.fade_range[0])?;
        check_not_negative(&value_name("remaining torque share of a faded brake"), self.min_torque_factor)?;
        check_not_negative(&value_name("1 - remaining torque share of a faded brake"), 1.0 - self.min_torque_factor)
    }

    /// Returns the share of the brake torque at `temperature` (K above the air): 1 up to the start of fading, then
    /// linearly down to `min_torque_factor` at its end.
    pub fn torque_factor(&self, temperature: f32) -> f32 {
        BrakeDiscLanes::from(self).torque_factor(temperature)
    }
}

/// Constants of [`BrakeDisc`] for several wheels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct BrakeDiscLanes<L = F32x4> {
    /// Heat capacity, J/K.
    heat_capacity: L,
    /// Cooling at rest, W/K, and its increase with speed, W s/(K m).
    cooling: [L; 2],
    /// Temperatures at which fading starts and ends, K.
    fade_range: [L; 2],
    /// Share of the torque of a fully faded brake, –.
    min_torque_factor: L,
}

impl From<&BrakeDisc> for BrakeDiscLanes<f32> {
    /// Copies the constants of one disc.
    #[inline(always)]
    fn from(disc: &BrakeDisc) -> Self {
        let BrakeDisc { heat_capacity, cooling, fade_range, min_torque_factor } = *disc;
        Self { heat_capacity, cooling, fade_range, min_torque_factor }
    }
}

impl BrakeDiscLanes {
    /// Builds the constants of four wheels; `None` if no wheel has a disc. A brake without a disc has infinite heat
    /// capacity and the factor 1: it stays cold and never fades.
    pub fn from_wheels(wheels: [Option<BrakeDisc>; 4]) -> Option<Self> {
        let no_disc = BrakeDisc {
            heat_capacity: f32::INFINITY,
            cooling: [0.0; 2],
            fade_range: [0.0, 1.0],
            min_torque_factor: 1.0,
        };
        let gather = |field: &dyn Fn(&BrakeDisc) -> f32| F32x4::new(wheels.map(|disc| field(&disc.unwrap_or(no_disc))));
        wheels.iter().any(Option::is_some).then(|| Self {
            heat_capacity: gather(&|disc| disc.heat_capacity),
            cooling: [0, 1].map(|k| gather(&|disc| disc.cooling[k])),
            fade_range: [0, 1].map(|k| gather(&|disc| disc.fade_range[k])),
            min_torque_factor: gather(&|disc| disc.min_torque_factor),
        })
    }
}

impl<L: Lane> BrakeDiscLanes<L> {
    /// Applies `convert` to each constant.
    #[cfg(feature = "simd_batch")]
    pub fn map<M>(&self, convert: impl Fn(L) -> M) -> BrakeDiscLanes<M> {
        BrakeDiscLanes {
            heat_capacity: convert(self.heat_capacity),
            cooling: self.cooling.map(&convert),
            fade_range: self.fade_range.map(&convert),
            min_torque_factor: convert(self.min_torque_factor),
        }
    }

    /// Number of constants.
    #[cfg(feature = "simd_batch")]
    pub const NUMBER_COUNT: usize = 6;

    /// Returns the constant with this index, below [`BrakeDiscLanes::NUMBER_COUNT`]; `None` for a larger index.
    #[cfg(feature = "simd_batch")]
    pub fn number_mut(&mut self, index: usize) -> Option<&mut L> {
        Some(match index {
            0 => &mut self.heat_capacity,
            1 | 2 => &mut self.cooling[index - 1],
            3 | 4 => &mut self.fade_range[index - 3],
            5 => &mut self.min_torque_factor,
            _ => return None,
        })
    }

    /// Returns the share of the brake torque at `temperature` (K above the air): 1 up to the start of fading, then
    /// linearly down to `min_torque_factor` at its end. A temperature of NaN gives 1.
    #[inline(always)]
    pub fn torque_factor(&self, temperature: L) -> L {
        let ([fade_start, fade_end], zero, one) = (self.fade_range, L::splat(0.0), L::splat(1.0));
        let fade_share = ((temperature - fade_start) / (fade_end - fade_start)).clamp_nan_to_low(zero, one);
        one - (one - self.min_torque_factor) * fade_share
    }

    /// Returns the temperature (K above the air, ≥ 0) after `dt` s in which the brake did `work` (J) at `speed` (m/s):
    /// `T₁ = (T₀ + W/C) / (1 + dt (h₀ + h₁ |v|) / C)`. Cooling is implicit: it uses the temperature at the end of the
    /// step, so that any step length is stable.
    #[inline(always)]
    pub fn next_temperature(&self, temperature: L, work: L, speed: L, dt: f32) -> L {
        let cooling_ratio = L::splat(dt) * (self.cooling[0] + self.cooling[1] * speed.abs()) / self.heat_capacity;
        let next_temperature = (temperature + work / self.heat_capacity) / (L::splat(1.0) + cooling_ratio);
        // Rounding can make the work of a brake torque near zero negative. The comparison keeps NaN.
        L::select(next_temperature.less(L::splat(0.0)), L::splat(0.0), next_temperature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the torque factors before, within and beyond the fade, and `C (T₁ − T₀) = W − dt (h₀ + h₁ |v|) T₁` for
    /// heating, cooling and both. One of four wheels has no disc: its brake stays cold and never fades. Negative work
    /// does not cool a disc below the air.
    #[test]
    fn discs_take_up_the_work_that_the_air_does_not_and_hold_less_when_hot() {
        let disc =
            BrakeDisc { heat_capacity: 1e4, cooling: [10.0, 2.0], fade_range: [300.0, 500.0], min_torque_factor: 0.5 };
        let discs = BrakeDiscLanes::from_wheels([Some(disc), Some(disc), Some(disc), None]).expect("three have one");
        let torque_factors = discs.torque_factor(F32x4::new([200.0, 400.0, 900.0, 0.0])).lanes();
        assert_eq!(torque_factors, [1.0, 0.75, 0.5, 1.0]);
        assert_eq!([200.0, 400.0, 900.0].map(|temperature| disc.torque_factor(temperature)), torque_factors[..3]);
        // Temperatures, K; work, J; speed, m/s; duration, s.
        let temperatures = discs.next_temperature(
            F32x4::new([0.0, 300.0, 300.0, 0.0]),
            F32x4::new([5e4, 0.0, 2e4, 7.0]),
            F32x4::splat(-20.0),
            0.5,
        );
        for (found, [start_temperature, work]) in
            temperatures.lanes().into_iter().zip([[0.0, 5e4], [300.0, 0.0], [300.0, 2e4]])
        {
            // 50 W/K: cooling at 20 m/s. f32 resolution at 3e6 J.
            assert!((1e4 * (found - start_temperature) - work + 0.5 * 50.0 * found).abs() < 1.0, "{found} K");
        }
        assert_eq!(temperatures.lanes()[3], 0.0);
        let cold_temperatures = discs.next_temperature(F32x4::splat(0.0), F32x4::splat(-1e-4), F32x4::splat(0.0), 0.5);
        assert_eq!(cold_temperatures.lanes(), [0.0; 4], "saved states take no disc colder than the air");
    }
}
