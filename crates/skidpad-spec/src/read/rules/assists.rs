//! Rules of driver assists.

use super::Rules;

impl Rules<'_> {
    /// Checks that the lowered centre of mass stays at least 1 mm above the ground, and that each speed range of
    /// stability control, counter-steer and speed-dependent steering rises. Does nothing without assists.
    pub fn check_assists(&mut self) {
        let Some(own) = &self.spec.assists else {
            return;
        };
        if let Some(lowered) = &own.lowered_centre {
            let height = self.spec.chassis.centre_above_ground_m;
            let fits = height - lowered.by_m >= 0.001;
            let accepts = format!("less than the {height} m it lies above ground");
            let others = ["chassis.centre_above_ground_m"];
            self.require("assists.lowered_centre.by_m", &others, fits, format!("{} m", lowered.by_m), accepts, "");
        }
        let ranges = [
            ("assists.stability.fades_in_mps", own.stability.as_ref().map(|own| own.fades_in_mps)),
            ("assists.counter_steer.fades_in_mps", own.counter_steer.as_ref().map(|own| own.fades_in_mps)),
            ("assists.speed_steering.between_mps", own.speed_steering.as_ref().map(|own| own.between_mps)),
        ];
        for (path, range) in ranges {
            if let Some([low, high]) = range {
                let fits = (low as f32) < high as f32;
                self.require(path, &[], fits, format!("[{low}, {high}]"), "two speeds, the second greater", "");
            }
        }
    }
}
