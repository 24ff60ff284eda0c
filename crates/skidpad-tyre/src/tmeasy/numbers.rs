//! Coefficients of a TMeasy tyre one by one, for blocks of cars.

use super::TMeasyConstants;

/// Number of coefficients of a direction.
const NUMBERS_PER_DIRECTION: usize = 13;

impl<H: Copy> TMeasyConstants<H> {
    /// Applies `convert` to each coefficient.
    pub fn map<T: Copy>(&self, convert: impl Fn(H) -> T) -> TMeasyConstants<T> {
        Self::zip_tyres([self; 4], |[number, ..]| convert(number))
    }

    /// Number of coefficients.
    pub const NUMBER_COUNT: usize = 1 + 2 * NUMBERS_PER_DIRECTION;

    /// Returns the coefficient with this index, below [`TMeasyConstants::NUMBER_COUNT`]; `None` for a larger index.
    pub fn number_mut(&mut self, index: usize) -> Option<&mut H> {
        let Some(index) = index.checked_sub(1) else { return Some(&mut self.nominal_load) };
        let direction = self.directions.get_mut(index / NUMBERS_PER_DIRECTION)?;
        Some(match index % NUMBERS_PER_DIRECTION {
            0 => &mut direction.slope.linear,
            1 => &mut direction.slope.square,
            2 => &mut direction.largest.linear,
            3 => &mut direction.largest.square,
            4 => &mut direction.sliding.linear,
            5 => &mut direction.sliding.square,
            6 => &mut direction.largest_slip.nominal,
            7 => &mut direction.largest_slip.increase,
            8 => &mut direction.largest_slip.min,
            9 => &mut direction.sliding_slip.nominal,
            10 => &mut direction.sliding_slip.increase,
            11 => &mut direction.sliding_slip.min,
            _ => &mut direction.carcass_compliance,
        })
    }
}
