//! Rules of driver assists.

use super::{NO_HELP, NO_OTHER_KEYS, RuleChecker};

impl RuleChecker<'_> {
    /// Checks that the lowered centre of mass stays at least 1 mm above the ground, that axles with select-low control
    /// exist, and that each speed range of stability control, counter-steer and speed-dependent steering rises in single
    /// precision. Absent tables are skipped.
    pub fn check_assists(&mut self) {
        let lowered_centre = self.spec.non_physical.as_ref().and_then(|aids| aids.lowered_centre.as_ref());
        if let Some(lowered_centre) = lowered_centre {
            let centre_height = self.spec.chassis.centre_above_ground_m;
            let is_above_ground = centre_height - lowered_centre.by_m >= 0.001;
            let accepts = format!("less than its height above ground of {centre_height} m");
            let compared_paths = ["chassis.centre_above_ground_m"];
            self.require(
                "non_physical.lowered_centre.by_m",
                &compared_paths,
                is_above_ground,
                format!("{} m", lowered_centre.by_m),
                accepts,
                NO_HELP,
            );
        }
        let Some(assists) = &self.spec.assists else {
            return;
        };
        let axle_count = self.spec.axles.len();
        for (i, number) in assists.abs.iter().flat_map(|abs| &abs.select_low_axles).enumerate() {
            self.require(
                &format!("assists.abs.select_low_axles[{i}]"),
                NO_OTHER_KEYS,
                (1..=axle_count).contains(&(*number as usize)),
                number.to_string(),
                format!("an axle from 1 to {axle_count}"),
                NO_HELP,
            );
        }
        let speed_ranges = [
            (
                "assists.stability.speed_range_mps",
                assists.stability.as_ref().map(|stability| stability.speed_range_mps),
            ),
            (
                "assists.counter_steer.speed_range_mps",
                assists.counter_steer.as_ref().map(|counter_steer| counter_steer.speed_range_mps),
            ),
            (
                "assists.speed_steering.speed_range_mps",
                assists.speed_steering.as_ref().map(|speed_steering| speed_steering.speed_range_mps),
            ),
        ];
        for (path, speed_range) in speed_ranges {
            if let Some([low, high]) = speed_range {
                let is_rising = (low as f32) < high as f32;
                self.require(
                    path,
                    NO_OTHER_KEYS,
                    is_rising,
                    format!("[{low}, {high}]"),
                    "two speeds, the second one greater",
                    NO_HELP,
                );
            }
        }
    }
}
