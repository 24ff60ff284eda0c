//! Rules between fields. Each rule names the keys that it reads, and is skipped if one of them holds a placeholder.

mod aero;
mod assists;
mod body;
mod dolly;
mod drive;
mod suspension;
mod tyre;

use super::Formulas;
use super::walk::quoted;
use crate::fault_collector::{FaultCollector, join};
use crate::file_resolver::FileResolver;
use crate::nearest::nearest;
use crate::{FaultKind, VehicleSpec};
use std::borrow::Cow;

/// Maximum number of tyres of a vehicle file: two for each axle that a vehicle may have.
const MAX_TYRES: usize = 64;

/// Reports every broken rule to `collector`, and returns the valid Magic Formula tyres.
pub(super) fn check(spec: &VehicleSpec, collector: &mut FaultCollector, files: FileResolver<'_>) -> Formulas {
    let mut rules = Rules { spec, collector, table: "", loads_known: true };
    rules.loads_known = rules.towing_is_known();
    rules.body();
    let mut formulas = Formulas::new();
    let count = spec.tyres.len();
    let accepts = format!("at most {MAX_TYRES}");
    rules.rule("tyres", &[], count <= MAX_TYRES, format!("{count} tyres"), accepts, "each of them may name a file");
    for (name, tyre) in spec.tyres.iter().take(MAX_TYRES) {
        formulas.extend(rules.tyre(&join("tyres", name), tyre, files).map(|formula| (name.clone(), formula)));
    }
    rules.steering();
    rules.brakes();
    rules.powertrain();
    rules.motors();
    rules.couplings();
    rules.aero();
    rules.assists();
    rules.dolly();
    formulas
}

/// State of the check of a vehicle.
struct Rules<'a> {
    spec: &'a VehicleSpec,
    collector: &'a mut FaultCollector,
    /// Table of the file that contains the vehicle: empty for the vehicle itself, or the table of its dolly.
    table: &'static str,
    /// Whether the keys that determine the loads on coupler and hitch are valid.
    loads_known: bool,
}

/// Key that every list of keys contains from which wheel loads follow.
const OF_LOADS: &str = "chassis.centre_behind_front_axle_m";

impl Rules<'_> {
    /// Checks chassis and axles of a vehicle or of a dolly.
    fn body(&mut self) {
        self.chassis();
        self.footprint();
        for i in 0..self.spec.axles.len() {
            self.axle(i);
        }
        self.sprung_inertia();
    }

    /// Returns true if none of `paths` holds a placeholder and, for paths of wheel loads, if the loads are known.
    fn sound<P: AsRef<str>>(&self, paths: &[P]) -> bool {
        let sound = |path: &str| !self.collector.is_broken(&self.at(path)) && (self.loads_known || path != OF_LOADS);
        paths.iter().all(|path| sound(path.as_ref()))
    }

    /// Returns the path in the file for the path of the vehicle. Tyres belong to the file, also those of a dolly.
    fn at<'p>(&self, path: &'p str) -> Cow<'p, str> {
        let own = !self.table.is_empty() && path != "tyres" && !path.starts_with("tyres.");
        if own { Cow::Owned(format!("{}.{path}", self.table)) } else { Cow::Borrowed(path) }
    }

    /// Reports a contradiction at `path` unless `holds` is true. `others` are the keys that it was compared with.
    /// Nothing is reported if one of all these keys holds a placeholder. The report also shows the other key if there
    /// is only one.
    fn rule(
        &mut self,
        path: &str,
        others: &[&str],
        holds: bool,
        found: String,
        accepts: impl Into<String>,
        help: &str,
    ) {
        if holds || !self.sound(&[path]) || !self.sound(others) {
            return;
        }
        let path = self.at(path).into_owned();
        let span = self.collector.place(&path);
        let help = (!help.is_empty()).then(|| help.to_owned());
        self.collector.fault(FaultKind::Contradiction, path, span, found, accepts, help);
        if let [other] = others {
            self.point_at(other);
        }
    }

    /// Adds the place of `other` to the last fault, if the file gives that key.
    fn point_at(&mut self, other: &str) {
        let against = self.collector.given(&self.at(other));
        if let Some(fault) = self.collector.last_fault() {
            fault.against = against;
        }
    }

    /// Reports a fault unless exactly one of two alternative keys of `table` is given. Each key is passed with whether
    /// it is given.
    fn exactly_one(&mut self, table: &str, first: (&str, bool), second: (&str, bool)) {
        let table = self.at(table).into_owned();
        self.collector.exactly_one(&table, first, second);
    }

    /// Returns the path `axles`, and the paths of `keys` in every axle.
    fn of_axles(&self, keys: &[&str]) -> Vec<String> {
        let axles = 0..self.spec.axles.len();
        let paths = axles.flat_map(|i| keys.iter().map(move |key| format!("axles[{i}].{key}")));
        std::iter::once("axles".to_owned()).chain(paths).collect()
    }
}
