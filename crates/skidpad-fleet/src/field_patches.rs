//! Cells of a height field below the rays of a wheel of all cars, with the heights around them, in lanes.

use skidpad_core::block::BlockLanes;
use skidpad_core::simd::vectors::Vec3Lanes;
use skidpad_core::{CellPatch, HeightField};

/// Cells below the rays of a wheel, one lane per car. See [`CellPatch`].
#[derive(Clone, Debug)]
pub struct FieldPatches<W: BlockLanes> {
    /// Coordinates of the two grid lines around the cell from the start of the ray, m; shape (x or y, lower or upper
    /// line).
    lines: [[W::Array<f32>; 2]; 2],
    /// Heights of the corners from the start of the ray, m, anticlockwise from the corner of least x and y.
    corner_heights: [W::Array<f32>; 4],
    /// Heights from the origin of the field, m; rows along y and columns along x, from one before the cell to one
    /// behind.
    heights: [[W::Array<f32>; 4]; 4],
}

impl<W: BlockLanes> FieldPatches<W> {
    /// Creates patches of zeros.
    pub fn new() -> Self {
        let zeros = W::default().to_array();
        Self { lines: [[zeros; 2]; 2], corner_heights: [zeros; 4], heights: [[zeros; 4]; 4] }
    }

    /// Sets the patch of `car`.
    #[inline(always)]
    pub fn set_car(&mut self, car: usize, patch: &CellPatch) {
        // The remainder changes nothing, but spares checks of bounds.
        let car = car % W::LANE_COUNT;
        let CellPatch { cell, heights } = patch;
        let [x, y] = &mut self.lines;
        set_numbers(x, car, &cell.x);
        set_numbers(y, car, &cell.y);
        set_numbers(&mut self.corner_heights, car, &cell.z);
        for (arrays, row) in self.heights.iter_mut().zip(heights) {
            set_numbers(arrays, car, row);
        }
    }

    /// Returns x, y and z of the corners of the cells from the start of the ray, m, anticlockwise from the corner of
    /// least x and y.
    #[inline(always)]
    pub fn corners(&self) -> [[W::Array<f32>; 3]; 4] {
        let ([[x0, x1], [y0, y1]], [z0, z1, z2, z3]) = (self.lines, self.corner_heights);
        [[x0, y0, z0], [x1, y0, z1], [x1, y1, z2], [x0, y1, z3]]
    }

    /// Returns the upward unit normals (world axes) of the smooth surface at the corners of the cells, in the order of
    /// [`FieldPatches::corners`]. Bit-identical to [`HeightField::smooth_normals`]. Lanes without a patch are invalid.
    #[inline(always)]
    pub fn corner_normals(&self, field: &HeightField) -> [Vec3Lanes<W>; 4] {
        let [double_spacing_x, double_spacing_y] = field.spacing().map(|spacing| W::splat(2.0 * spacing));
        let height = |row: usize, column: usize| W::from_array(self.heights[row][column]);
        [[1, 1], [1, 2], [2, 2], [2, 1]].map(
            #[inline(always)]
            |[row, column]| {
                let change_x = height(row, column + 1) - height(row, column - 1);
                let change_y = height(row + 1, column) - height(row - 1, column);
                let normal =
                    Vec3Lanes::new(-(change_x / double_spacing_x), -(change_y / double_spacing_y), W::splat(1.0));
                normal * (W::splat(1.0) / normal.dot(normal).sqrt())
            },
        )
    }
}

/// Sets the number of `car` in each of `arrays`.
#[inline(always)]
fn set_numbers<A: AsMut<[f32]>, const N: usize>(arrays: &mut [A; N], car: usize, numbers: &[f32; N]) {
    for (array, number) in arrays.iter_mut().zip(numbers) {
        array.as_mut()[car] = *number;
    }
}
