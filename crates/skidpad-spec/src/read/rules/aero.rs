//! Rules of aerodynamic maps over ride height and yaw angle.

use super::Rules;
use crate::spec::Aero;

impl Rules<'_> {
    /// Checks the maps of `aero`: the knots of each map rise; drag and every surface have one factor from 0 to 100 for
    /// each pair of ride heights and one factor for each yaw angle, or no factors. Without a map, factors are not
    /// accepted.
    pub fn check_aero_maps(&mut self, aero: &Aero) {
        let (mut heights, mut angles) = ([0; 2], 0);
        if let Some(map) = &aero.height_map {
            heights = [map.front_m.len(), map.rear_m.len()];
            self.check_rising("aero.height_map.front_m", &map.front_m, |height| height);
            self.check_rising("aero.height_map.rear_m", &map.rear_m, |height| height);
            self.check_grid("aero.height_map.drag", &map.drag, heights);
        }
        if let Some(map) = &aero.yaw_map {
            angles = map.angles_deg.len();
            self.check_rising("aero.yaw_map.angles_deg", &map.angles_deg, f64::to_radians);
            self.check_count("aero.yaw_map.drag", &map.drag, angles);
        }
        for (i, surface) in aero.surfaces.iter().enumerate() {
            self.check_grid(&format!("aero.surfaces[{i}].height_factors"), &surface.height_factors, heights);
            self.check_count(&format!("aero.surfaces[{i}].yaw_factors"), &surface.yaw_factors, angles);
        }
    }

    /// Checks that the numbers of `list` rise in the single precision of the model. `kept` converts them to the unit of
    /// the model.
    fn check_rising(&mut self, path: &str, list: &[f64], kept: fn(f64) -> f64) {
        let holds = list.windows(2).all(|pair| (kept(pair[0]) as f32) < kept(pair[1]) as f32);
        self.require(path, &[], holds, format!("{list:?}"), "numbers that rise", "");
    }

    /// Checks that `rows` is empty or has `front` rows of `rear` factors, each from 0 to 100.
    fn check_grid(&mut self, path: &str, rows: &[Vec<f64>], [front, rear]: [usize; 2]) {
        let fits = rows.is_empty() || rows.len() == front && rows.iter().all(|row| row.len() == rear);
        let lengths: Vec<usize> = rows.iter().map(Vec::len).collect();
        let others = ["aero.height_map.front_m", "aero.height_map.rear_m"];
        let accepts = format!("{front} lists of {rear} numbers, as `height_map` has heights");
        self.require(path, &others, fits, format!("lists of {lengths:?} numbers"), accepts, "");
        let sound = rows.iter().flatten().all(|factor| (0.0..=100.0).contains(factor));
        self.require(path, &[], !fits || sound, format!("{rows:?}"), "factors from 0 to 100", "");
    }

    /// Checks that `list` is empty or has `angles` numbers, one for each yaw angle.
    fn check_count(&mut self, path: &str, list: &[f64], angles: usize) {
        let fits = list.is_empty() || list.len() == angles;
        let accepts = format!("{angles}, as `yaw_map` has angles");
        self.require(path, &["aero.yaw_map.angles_deg"], fits, format!("{} numbers", list.len()), accepts, "");
    }
}
