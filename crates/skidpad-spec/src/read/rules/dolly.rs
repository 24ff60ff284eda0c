//! Rules of a full trailer. The dolly is a vehicle of its own, loaded by the mass on its turntable.

use super::{NO_OTHER_KEYS, RuleChecker};
use crate::FaultKind;
use crate::wheel_positions;

impl RuleChecker<'_> {
    /// Returns true if no key that determines the loads on coupler and hitch holds a placeholder. Absent keys count as
    /// known. Returns false for a trailer with a dolly but without a coupler.
    pub fn is_towing_known(&self) -> bool {
        let has_coupler = self.spec.dolly.is_none() || self.spec.coupler.is_some();
        has_coupler
            && self.are_valid(&["coupler.behind_front_axle_m", "coupler.left_m"])
            && self.are_valid(&["hitch.behind_front_axle_m", "hitch.left_m", "hitch.carried_mass_kg"])
    }

    /// Checks the dolly of a full trailer; does nothing for other vehicles. Reports a missing coupler of the trailer,
    /// and a centre of mass of the trailer that lifts the turntable instead of pressing on it. Then checks chassis and
    /// axles of the dolly by the rules of a vehicle, with `dolly.` before all paths, and that none of its axles is
    /// steered. Rules about wheel loads of the dolly are skipped unless the load on its turntable is known and not
    /// below 0.
    pub fn check_dolly(&mut self) {
        let Some(dolly_spec) = self.spec.dolly_vehicle() else { return };
        let has_coupler = self.spec.coupler.is_some();
        if !has_coupler && self.are_valid(&["dolly", "coupler"]) {
            let span = self.collector.nearest_span("dolly");
            let accepts = "set for a trailer with a dolly: the position of the turntable";
            self.collector.add_fault(FaultKind::MissingKey, "coupler".to_owned(), span, "missing", accepts, None); // no help
        }
        let axle_key_paths = self.axle_paths(&["track_m", "behind_front_axle_m"]);
        let load_paths = ["chassis.mass_kg", super::CENTRE_POSITION_PATH, "chassis.centre_left_m", "coupler"];
        // Whether the trailer has valid loads on its wheels and coupler.
        let has_valid_loads = self.are_valid(&axle_key_paths)
            && self.are_valid(&load_paths)
            && wheel_positions::wheel_load_shares(self.spec).is_some();
        if has_valid_loads && has_coupler {
            let coupler_mass = self.spec.coupler_mass_kg();
            let found = format!("the trailer pulls its turntable upward by {:.1} kg", -coupler_mass);
            let accepts = "between coupler and axles, so that the trailer loads its turntable";
            let help = "positions are measured from the first axle of the trailer; positions ahead of it are negative";
            self.require(
                super::CENTRE_POSITION_PATH,
                &["coupler.behind_front_axle_m"],
                coupler_mass >= 0.0,
                found,
                accepts,
                help,
            );
        }
        let turntable_paths = ["dolly.turntable.behind_front_axle_m", "dolly.drawbar_length_m"];
        let is_turntable_loaded = has_valid_loads && has_coupler && self.spec.coupler_mass_kg() >= 0.0;
        let has_known_loads = is_turntable_loaded && self.are_valid(&turntable_paths);
        let mut checker = RuleChecker { spec: &dolly_spec, collector: self.collector, table: "dolly", has_known_loads };
        checker.check_body();
        for (i, axle) in dolly_spec.axles.iter().enumerate() {
            let (path, steer_ratio) = (format!("axles[{i}].steer_ratio"), axle.steer_ratio);
            checker.require(
                &path,
                NO_OTHER_KEYS,
                steer_ratio == 0.0,
                format!("{steer_ratio}"),
                "absent or 0",
                "the drawbar steers a dolly",
            );
        }
    }
}
