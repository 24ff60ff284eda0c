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
}
