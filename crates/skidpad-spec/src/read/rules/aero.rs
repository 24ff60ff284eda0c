//! Rules of aerodynamic maps over ride height and yaw angle.

use super::{NO_HELP, NO_OTHER_KEYS, RuleChecker};
use crate::spec::Aero;

impl RuleChecker<'_> {
    /// Checks the maps of `aero`. The knots of each map rise. Drag and every surface have one factor from 0 to 100 for
    /// each pair of ride heights, or no factors; and one factor for each yaw angle, or no factors. Without a map, the
    /// expected number of factors is 0, so that factors are not accepted.
    pub fn check_aero_maps(&mut self, aero: &Aero) {
        let (mut height_counts, mut angle_count) = ([0; 2], 0);
        if let Some(map) = &aero.height_map {
            height_counts = [map.front_m.len(), map.rear_m.len()];
            self.check_rising("aero.height_map.front_m", &map.front_m, |height| height);
            self.check_rising("aero.height_map.rear_m", &map.rear_m, |height| height);
            self.check_grid("aero.height_map.drag", &map.drag, height_counts);
        }
        if let Some(map) = &aero.yaw_map {
            angle_count = map.angles_deg.len();
            self.check_rising("aero.yaw_map.angles_deg", &map.angles_deg, f64::to_radians);
            self.check_count("aero.yaw_map.drag", &map.drag, angle_count);
        }
        for (i, surface) in aero.surfaces.iter().enumerate() {
            self.check_grid(&format!("aero.surfaces[{i}].height_factors"), &surface.height_factors, height_counts);
            self.check_count(&format!("aero.surfaces[{i}].yaw_factors"), &surface.yaw_factors, angle_count);
        }
    }

    /// Checks that each number of `values` exceeds the one before in the single precision of the model. `to_model_unit`
    /// converts them to the unit of the model before they are rounded.
    fn check_rising(&mut self, path: &str, values: &[f64], to_model_unit: fn(f64) -> f64) {
        let is_rising = values.windows(2).all(|pair| (to_model_unit(pair[0]) as f32) < to_model_unit(pair[1]) as f32);
        self.require(path, NO_OTHER_KEYS, is_rising, format!("{values:?}"), "increasing numbers", NO_HELP);
    }

    /// Checks that `factor_rows` is empty or has `front_count` rows of `rear_count` factors. If the shape is right,
    /// also checks that each factor is from 0 to 100.
    fn check_grid(&mut self, path: &str, factor_rows: &[Vec<f64>], [front_count, rear_count]: [usize; 2]) {
        let has_grid_shape = factor_rows.is_empty()
            || factor_rows.len() == front_count && factor_rows.iter().all(|row| row.len() == rear_count);
        let row_lengths: Vec<usize> = factor_rows.iter().map(Vec::len).collect();
        let compared_paths = ["aero.height_map.front_m", "aero.height_map.rear_m"];
        let accepts = format!("{front_count} lists of {rear_count} numbers, one per height of `height_map`");
        self.require(
            path,
            &compared_paths,
            has_grid_shape,
            format!("lists of {row_lengths:?} numbers"),
            accepts,
            NO_HELP,
        );
        let has_valid_factors = factor_rows.iter().flatten().all(|factor| (0.0..=100.0).contains(factor));
        self.require(
            path,
            NO_OTHER_KEYS,
            !has_grid_shape || has_valid_factors,
            format!("{factor_rows:?}"),
            "factors from 0 to 100",
            NO_HELP,
        );
    }

    /// Checks that `factors` is empty or has `angle_count` numbers, one for each yaw angle.
    fn check_count(&mut self, path: &str, factors: &[f64], angle_count: usize) {
        let has_valid_count = factors.is_empty() || factors.len() == angle_count;
        let accepts = format!("{angle_count}, one per angle of `yaw_map`");
        self.require(
            path,
            &["aero.yaw_map.angles_deg"],
            has_valid_count,
            format!("{} numbers", factors.len()),
            accepts,
            NO_HELP,
        );
    }
}
