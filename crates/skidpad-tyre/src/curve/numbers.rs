//! Coefficients of a tyre with a simple curve one by one, for blocks of cars.

use super::CurveConstants;

impl<H: Copy> CurveConstants<H> {
    /// Applies `convert` to each coefficient.
    pub fn map<T>(&self, convert: impl Fn(H) -> T) -> CurveConstants<T> {
        CurveConstants {
            friction: self.friction.map(&convert),
            load_sensitivity: convert(self.load_sensitivity),
            peak_friction_load: convert(self.peak_friction_load),
            nominal_load: convert(self.nominal_load),
            per_nominal_load: convert(self.per_nominal_load),
            carcass_compliance: self.carcass_compliance.map(&convert),
            min_length: convert(self.min_length),
            relaxation_flag: convert(self.relaxation_flag),
            constant_stiffness: self.constant_stiffness.map(&convert),
            stiffness_per_load: self.stiffness_per_load.map(&convert),
            stiffness_per_limit: self.stiffness_per_limit.map(&convert),
            curve_flag: convert(self.curve_flag),
            per_slip: self.per_slip.map(&convert),
            fall_rate: self.fall_rate.map(&convert),
            sliding_loss: self.sliding_loss.map(&convert),
        }
    }

    /// Number of coefficients that can differ between tyres of one law.
    pub const NUMBER_COUNT: usize = 21;

    /// Returns the coefficient with this index, below [`CurveConstants::NUMBER_COUNT`]; `None` for a larger index.
    #[inline(always)]
    pub fn number_mut(&mut self, index: usize) -> Option<&mut H> {
        Some(match index {
            0 | 1 => &mut self.friction[index],
            2 | 3 => &mut self.carcass_compliance[index - 2],
            4 | 5 => &mut self.constant_stiffness[index - 4],
            6 | 7 => &mut self.stiffness_per_load[index - 6],
            8 | 9 => &mut self.stiffness_per_limit[index - 8],
            10 | 11 => &mut self.per_slip[index - 10],
            12 | 13 => &mut self.fall_rate[index - 12],
            14 | 15 => &mut self.sliding_loss[index - 14],
            16 => &mut self.load_sensitivity,
            17 => &mut self.peak_friction_load,
            18 => &mut self.nominal_load,
            19 => &mut self.per_nominal_load,
            20 => &mut self.min_length,
            _ => return None,
        })
    }
}
