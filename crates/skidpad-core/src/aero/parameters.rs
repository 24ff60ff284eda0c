//! What the air does.

use crate::model::error::{ModelError, finite, not_negative, positive};
use bevy_math::Vec3;

/// Aerodynamic forces: each `C v²` with v the speed through the air, of surfaces the part of it that comes from ahead.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Aero {
    /// Drag `½ ρ Cd A`, N s²/m², ≥ 0, along the air that meets the car, at `drag_point`.
    pub drag: f32,
    /// Vehicle frame, m.
    pub drag_point: Vec3,
    /// Side force `½ ρ A ∂Cy/∂(sin β)`, N s²/m², ≥ 0, beyond what drag gives sideways: against the air's lateral component,
    /// `C |v| v_y`, at `side_point`, whose distance from the centre of mass makes the yaw moment.
    pub side: f32,
    /// Vehicle frame, m.
    pub side_point: Vec3,
    /// Surfaces that press the car down.
    pub downforce: [Surface; 2],
    /// How drag and surfaces change with ride height and with the direction of the air; `None`: not at all.
    pub maps: Option<Box<AeroMaps>>,
}

/// A surface whose force points down in the vehicle frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Surface {
    /// `½ ρ Cl A`, N s²/m², positive downwards: times the square of the air's speed along the car, none from behind. With a
    /// yaw map of its own, times that of air from ahead and from the side together.
    pub coefficient: f32,
    /// Vehicle frame, m.
    pub point: Vec3,
}

/// Factors on drag and on each surface's coefficient, in this order: by ride height, times by yaw angle of the air.
#[derive(Clone, Debug, PartialEq)]
pub struct AeroMaps {
    /// Ride heights of the car at rest at its first and last axle, m.
    pub at_rest: [f32; 2],
    /// Over the ride heights at the first and the last axle, m.
    pub heights: [Table; 3],
    /// Over the angle between the vehicle's x axis and the air that meets it, by size, rad; second knots unused.
    pub yaw: [Table; 3],
}

/// A function of two numbers, bilinear between knots and constant beyond them.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    knots: [Box<[f32]>; 2],
    /// Row by row of the first knots.
    values: Box<[f32]>,
}

impl Default for Table {
    /// 1 everywhere.
    fn default() -> Self {
        Self { knots: [Box::from([0.0]), Box::from([0.0])], values: Box::from([1.0]) }
    }
}

impl Table {
    /// `values` at each pair of `knots`, row by row of the first.
    ///
    /// # Errors
    /// Knots that are missing, not finite or do not rise, or values that are not finite or not one for each pair.
    pub fn new(knots: [Vec<f32>; 2], values: Vec<f32>) -> Result<Self, &'static str> {
        let rises = |knots: &Vec<f32>| !knots.is_empty() && knots.windows(2).all(|pair| pair[0] < pair[1]);
        let finite = |list: &Vec<f32>| list.iter().all(|value| value.is_finite());
        if !knots.iter().all(|knots| rises(knots) && finite(knots)) {
            return Err("the knots of a table must be finite and rise");
        }
        if values.len() != knots[0].len() * knots[1].len() || !finite(&values) {
            return Err("a table needs one finite value for each pair of knots");
        }
        Ok(Self { knots: knots.map(Into::into), values: values.into() })
    }

    /// The value at a point.
    pub fn at(&self, point: [f32; 2]) -> f32 {
        let [(i, u), (j, v)] = [0, 1].map(|axis| place(&self.knots[axis], point[axis]));
        let width = self.knots[1].len();
        let value = |i: usize, j: usize| self.values[i.min(self.knots[0].len() - 1) * width + j.min(width - 1)];
        let mix = |a: f32, b: f32, share: f32| a + (b - a) * share;
        let along = |i: usize| if v == 0.0 { value(i, j) } else { mix(value(i, j), value(i, j + 1), v) };
        if u == 0.0 { along(i) } else { mix(along(i), along(i + 1), u) }
    }
}

/// The knot below `x`, and the share of the way to the next one; 0 at knots and beyond the ends.
fn place(knots: &[f32], x: f32) -> (usize, f32) {
    let above = knots.partition_point(|knot| *knot <= x);
    let (Some(low), Some(high)) = (above.checked_sub(1).map(|i| knots[i]), knots.get(above)) else {
        return (above.saturating_sub(1), 0.0);
    };
    (above - 1, (x - low) / (high - low))
}

impl AeroMaps {
    /// Factors on drag and on each surface's coefficient of a car that is lower by `mean_compression` at its first and last axle, m, in
    /// air that meets it at `angle`, rad.
    pub fn factors(&self, mean_compression: [f32; 2], angle: f32) -> [f32; 3] {
        let heights = [0, 1].map(|end| self.at_rest[end] - mean_compression[end]);
        [0, 1, 2].map(|i| self.heights[i].at(heights) * self.yaw[i].at([angle, 0.0]))
    }
}

impl Aero {
    pub(crate) fn check(&self) -> Result<(), ModelError> {
        not_negative("drag", self.drag)?;
        not_negative("side force", self.side)?;
        finite("point of the drag", self.drag_point)?;
        finite("point of the side force", self.side_point)?;
        for surface in &self.downforce {
            finite("point of a surface", surface.point)?;
            finite("downforce", Vec3::splat(surface.coefficient))?;
        }
        let Some(maps) = &self.maps else { return Ok(()) };
        for height in maps.at_rest {
            positive("ride height at rest", height)?;
        }
        for (what, tables) in [("height", &maps.heights), ("yaw", &maps.yaw)] {
            for value in tables.iter().flat_map(|table| &table.values) {
                not_negative(&format!("a factor of the {what} map"), *value)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_hits_its_knots_and_is_constant_beyond_them() {
        let table = Table::new([vec![0.02, 0.05, 0.1], vec![0.04, 0.08]], vec![1.0, 2.0, 3.0, 5.0, 0.5, 0.25]);
        let table = table.expect("sound");
        for (i, x) in [0.02, 0.05, 0.1].into_iter().enumerate() {
            for (j, y) in [0.04, 0.08].into_iter().enumerate() {
                assert_eq!(table.at([x, y]), [[1.0, 2.0], [3.0, 5.0], [0.5, 0.25]][i][j], "{x} {y}");
            }
        }
        assert!((table.at([0.035, 0.06]) - 2.75).abs() < 1e-5);
        assert_eq!(table.at([-1.0, 9.0]), 2.0);
        assert_eq!(table.at([9.0, -1.0]), 0.5);
        for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert!((0.25..=5.0).contains(&table.at([odd, odd])), "{odd}");
        }
        assert_eq!(Table::default().at([3.0, -2.0]), 1.0);
        assert!(Table::new([vec![0.0, 0.0], vec![0.0]], vec![1.0; 2]).is_err());
        assert!(Table::new([vec![0.0, 1.0], vec![0.0]], vec![1.0; 3]).is_err());
    }
}
