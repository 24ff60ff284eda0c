//! Aerodynamic parameters.

use crate::model_error::{ModelError, check_finite, check_not_negative, check_positive};
use bevy_math::Vec3;
use skidpad_simd::lane::Lane;

/// Aerodynamic forces `C v²`, with v the speed relative to the air; for surfaces, its part from ahead.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Aero {
    /// Drag coefficient `½ ρ Cd A` (N s²/m²), ≥ 0. Drag acts at `drag_point`, against the velocity relative to the air.
    pub drag: f32,
    /// Point of the drag, from the centre of mass, vehicle frame (m).
    pub drag_point: Vec3,
    /// Side-force coefficient `½ ρ A ∂Cy/∂(sin β)` (N s²/m²), ≥ 0, beyond the lateral part of drag. The force
    /// `C |v| v_y` acts at `side_point`, against the lateral velocity relative to the air. The distance of this point
    /// from the centre of mass makes the yaw moment.
    pub side: f32,
    /// Point of the side force, from the centre of mass, vehicle frame (m).
    pub side_point: Vec3,
    /// Surfaces with downforce.
    pub downforce: [AeroSurface; 2],
    /// Maps of drag and surfaces over ride height and direction of the air; `None` for constant coefficients.
    pub maps: Option<Box<AeroMaps>>,
}

/// Coefficients of [`Aero`], of one car or of several cars in SIMD lanes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AeroCoefficients<C> {
    /// Drag coefficient, N s²/m².
    pub drag: C,
    /// Side-force coefficient, N s²/m².
    pub side: C,
    /// Coefficients of the surfaces, N s²/m².
    pub downforce: [C; 2],
}

impl<C: Lane> AeroCoefficients<C> {
    /// Returns the coefficients of `aero`, the same for every car.
    #[inline(always)]
    pub fn of(aero: &Aero) -> Self {
        let [front, rear] = &aero.downforce;
        Self {
            drag: C::splat(aero.drag),
            side: C::splat(aero.side),
            downforce: [C::splat(front.coefficient), C::splat(rear.coefficient)],
        }
    }
}

/// Surface whose force points down in the vehicle frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AeroSurface {
    /// Coefficient `½ ρ Cl A` (N s²/m²), positive downwards. The coefficient multiplies the square of the longitudinal
    /// air speed; air from behind has no effect. If the surface has a yaw map, the coefficient multiplies the sum of
    /// the squares from ahead and from the side.
    pub coefficient: f32,
    /// Point of the force, from the centre of mass, vehicle frame (m).
    pub point: Vec3,
}

/// Factors on drag and on each surface's coefficient, in this order: by ride height, times by yaw angle of the air.
#[derive(Clone, Debug, PartialEq)]
pub struct AeroMaps {
    /// Ride heights of the car at rest at its first and last axle (m).
    pub at_rest: [f32; 2],
    /// Factors over the ride heights at the first and the last axle (m).
    pub heights: [BilinearTable; 3],
    /// Factors over the size of the angle between the vehicle's x axis and the velocity relative to the air (rad). The
    /// second knots are unused.
    pub yaw: [BilinearTable; 3],
}

/// Function of two variables, bilinear between knots and constant beyond them.
#[derive(Clone, Debug, PartialEq)]
pub struct BilinearTable {
    /// Increasing arguments of both variables at which values are given.
    knots: [Box<[f32]>; 2],
    /// Values, row by row of the first knots.
    values: Box<[f32]>,
}

impl Default for BilinearTable {
    /// Returns a table that is 1 everywhere.
    fn default() -> Self {
        Self { knots: [Box::from([0.0]), Box::from([0.0])], values: Box::from([1.0]) }
    }
}

impl BilinearTable {
    /// Creates a table with `values` at each pair of `knots`, row by row of the first.
    ///
    /// # Errors
    /// Returns an error if knots are missing, not finite or do not increase. Also returns an error if values are not
    /// finite, or are not one for each pair.
    pub fn new(knots: [Vec<f32>; 2], values: Vec<f32>) -> Result<Self, &'static str> {
        let are_increasing = |knots: &Vec<f32>| !knots.is_empty() && knots.windows(2).all(|pair| pair[0] < pair[1]);
        let are_finite = |list: &Vec<f32>| list.iter().all(|value| value.is_finite());
        if !knots.iter().all(|knots| are_increasing(knots) && are_finite(knots)) {
            return Err("the knots of a table must be finite and strictly increasing");
        }
        if values.len() != knots[0].len() * knots[1].len() || !are_finite(&values) {
            return Err("a table needs one finite value for each pair of knots");
        }
        Ok(Self { knots: knots.map(Into::into), values: values.into() })
    }

    /// Returns the value at a `point` (first and second variable): bilinear between the four knots around it, and
    /// constant beyond the first and last knots.
    pub fn evaluate(&self, point: [f32; 2]) -> f32 {
        // Knot below the point, and share of the way to the next knot, for each variable.
        let [(i, u), (j, v)] = [0, 1].map(|axis| locate_knot(&self.knots[axis], point[axis]));
        // Number of values in a row.
        let row_length = self.knots[1].len();
        let value =
            |i: usize, j: usize| self.values[i.min(self.knots[0].len() - 1) * row_length + j.min(row_length - 1)];
        // Linear interpolation.
        let interpolate = |a: f32, b: f32, share: f32| a + (b - a) * share;
        // Value in row `i`. At a share of 0 the next knot may be missing.
        let row_value = |i: usize| if v == 0.0 { value(i, j) } else { interpolate(value(i, j), value(i, j + 1), v) };
        if u == 0.0 { row_value(i) } else { interpolate(row_value(i), row_value(i + 1), u) }
    }
}

/// Returns the index of the knot at or below `x`, and the share of the way to the next one, 0 to 1. The share is 0 at
/// knots and beyond the ends; below the first knot the index is 0. NaN counts as below the first knot.
fn locate_knot(knots: &[f32], x: f32) -> (usize, f32) {
    // Index of the first knot above `x`.
    let above = knots.partition_point(|knot| *knot <= x);
    let (Some(low), Some(high)) = (above.checked_sub(1).map(|i| knots[i]), knots.get(above)) else {
        return (above.saturating_sub(1), 0.0);
    };
    (above - 1, (x - low) / (high - low))
}

impl AeroMaps {
    /// Returns the factors on drag and on each surface's coefficient: the value over the ride heights times the value
    /// over the yaw angle. The ride heights are those at rest less `mean_compression` at the first and last axle (m).
    /// `angle` is that between the vehicle's x axis and the air (rad, ≥ 0).
    pub fn factors(&self, mean_compression: [f32; 2], angle: f32) -> [f32; 3] {
        // At the first and the last axle, m.
        let heights = [0, 1].map(|end| self.at_rest[end] - mean_compression[end]);
        // 0.0: the second variable of the yaw tables is unused.
        [0, 1, 2].map(|i| self.heights[i].evaluate(heights) * self.yaw[i].evaluate([angle, 0.0]))
    }
}

impl Aero {
    /// Checks that drag and side coefficients are not negative, points and downforce coefficients finite, ride heights
    /// at rest positive, and all factors of the maps not negative.
    ///
    /// # Errors
    /// Returns the first violation.
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        check_not_negative("drag", self.drag)?;
        check_not_negative("aerodynamic side force", self.side)?;
        check_finite("application point of the drag", self.drag_point)?;
        check_finite("application point of the aerodynamic side force", self.side_point)?;
        for surface in &self.downforce {
            check_finite("application point of an aerodynamic surface", surface.point)?;
            check_finite("downforce", Vec3::splat(surface.coefficient))?;
        }
        let Some(maps) = &self.maps else { return Ok(()) };
        for height in maps.at_rest {
            check_positive("ride height at rest", height)?;
        }
        for (map_name, tables) in [("height", &maps.heights), ("yaw", &maps.yaw)] {
            for value in tables.iter().flat_map(|table| &table.values) {
                check_not_negative(&format!("a factor of the {map_name} map"), *value)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the values at the knots, between four of them, and beyond the first and last ones. Arguments that are not
    /// finite give a value of the table's range. The default is 1 everywhere. Knots that do not increase, and too many
    /// values, are refused.
    #[test]
    fn a_table_hits_its_knots_and_is_constant_beyond_them() {
        let table = BilinearTable::new([vec![0.02, 0.05, 0.1], vec![0.04, 0.08]], vec![1.0, 2.0, 3.0, 5.0, 0.5, 0.25]);
        let table = table.expect("sound");
        for (i, x) in [0.02, 0.05, 0.1].into_iter().enumerate() {
            for (j, y) in [0.04, 0.08].into_iter().enumerate() {
                assert_eq!(table.evaluate([x, y]), [[1.0, 2.0], [3.0, 5.0], [0.5, 0.25]][i][j], "{x} {y}");
            }
        }
        // Mean of the values 1, 2, 3 and 5 around the middle.
        assert!((table.evaluate([0.035, 0.06]) - 2.75).abs() < 1e-5);
        assert_eq!(table.evaluate([-1.0, 9.0]), 2.0);
        assert_eq!(table.evaluate([9.0, -1.0]), 0.5);
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert!((0.25..=5.0).contains(&table.evaluate([odd, odd])), "{odd}");
        }
        assert_eq!(BilinearTable::default().evaluate([3.0, -2.0]), 1.0);
        assert!(BilinearTable::new([vec![0.0, 0.0], vec![0.0]], vec![1.0; 2]).is_err());
        assert!(BilinearTable::new([vec![0.0, 1.0], vec![0.0]], vec![1.0; 3]).is_err());
    }
}
