//! Rules of a full trailer. Its dolly is a vehicle of its own, loaded by the mass on its turntable.

use super::Rules;
use crate::FaultKind;
use crate::layout;

impl Rules<'_> {
    /// Returns true if the keys that determine the loads on coupler and hitch are valid. A trailer with a dolly needs a
    /// coupler.
    pub fn towing_is_known(&self) -> bool {
        let has_coupler = self.spec.dolly.is_none() || self.spec.coupler.is_some();
        has_coupler
            && self.sound(&["coupler.behind_front_axle_m", "coupler.left_m"])
            && self.sound(&["hitch.behind_front_axle_m", "hitch.left_m", "hitch.carried_mass_kg"])
    }

    /// Checks a dolly by the rules of all vehicles and by those of dollies. Does nothing for other vehicles.
    pub fn dolly(&mut self) {
        let Some(vehicle) = self.spec.dolly_vehicle() else { return };
        let has_coupler = self.spec.coupler.is_some();
        if !has_coupler && self.sound(&["dolly", "coupler"]) {
            let span = self.collector.place("dolly");
            let accepts = "given for a trailer with a dolly: where the turntable holds it";
            self.collector.fault(FaultKind::MissingKey, "coupler".to_owned(), span, "missing", accepts, None);
        }
        let keys = self.of_axles(&["track_m", "behind_front_axle_m"]);
        let own = ["chassis.mass_kg", super::OF_LOADS, "chassis.centre_left_m", "coupler"];
        let stands = self.sound(&keys) && self.sound(&own) && layout::shares(self.spec).is_some();
        if stands && has_coupler {
            let mass = self.spec.coupler_mass_kg();
            let found = format!("the trailer lifts its turntable by {:.1} kg", -mass);
            let accepts = "between coupler and axles, so that the trailer rests on its turntable";
            let help = "positions count from the trailer's own first axle: ahead of it they are negative";
            self.rule(super::OF_LOADS, &["coupler.behind_front_axle_m"], mass >= 0.0, found, accepts, help);
        }
        let turntable = ["dolly.turntable.behind_front_axle_m", "dolly.drawbar_length_m"];
        let rests = stands && has_coupler && self.spec.coupler_mass_kg() >= 0.0;
        let loads_known = rests && self.sound(&turntable);
        let mut rules = Rules { spec: &vehicle, collector: self.collector, table: "dolly", loads_known };
        rules.body();
        for (i, axle) in vehicle.axles.iter().enumerate() {
            let (path, ratio) = (format!("axles[{i}].steer_ratio"), axle.steer_ratio);
            rules.rule(&path, &[], ratio == 0.0, format!("{ratio}"), "absent or 0", "the drawbar steers a dolly");
        }
    }
}
