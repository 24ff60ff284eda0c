//! Rules between fields. Each rule names the keys that it reads, and is skipped if one of them holds a placeholder.

mod aero;
mod assists;
mod body;
mod dolly;
mod drive;
mod suspension;
mod tyre;

use super::MagicFormulas;
use super::schema_check::quote_names;
use crate::fault_collector::{FaultCollector, join_key};
use crate::file_resolver::FileResolver;
use crate::suggestions::nearest_word;
use crate::{FaultKind, VehicleSpec};
use std::borrow::Cow;

/// Maximum number of tyres of a vehicle file: two for each axle that a vehicle may have.
const MAX_TYRES: usize = 64;

/// Help text of a fault without a remedy.
const NO_HELP: &str = "";

/// Compared paths of a rule that reads a single key.
const NO_OTHER_KEYS: &[&str] = &[];

/// Checks all rules between fields, in this order: chassis and axles, number of tyres, each tyre with its file,
/// steering, brakes, powertrain, motors, couplings, aerodynamics, assists, dolly. Adds every fault and warning to
/// `collector`, and returns the valid Magic Formula tyres by name. More than [`MAX_TYRES`] tyres are a fault; only the
/// first ones in alphabetical order are then checked.
pub(super) fn check_vehicle(
    spec: &VehicleSpec,
    collector: &mut FaultCollector,
    files: FileResolver<'_>,
) -> MagicFormulas {
    let mut checker = RuleChecker {
        spec,
        collector,
        table: "", // the vehicle itself
        has_known_loads: true,
    };
    // `is_towing_known` needs the checker, which is therefore created with a preliminary value.
    checker.has_known_loads = checker.is_towing_known();
    checker.check_body();
    let mut formulas = MagicFormulas::new();
    let tyre_count = spec.tyres.len();
    let accepts = format!("at most {MAX_TYRES}");
    checker.require(
        "tyres",
        NO_OTHER_KEYS,
        tyre_count <= MAX_TYRES,
        format!("{tyre_count} tyres"),
        accepts,
        "each tyre may use a file",
    );
    for (name, tyre) in spec.tyres.iter().take(MAX_TYRES) {
        formulas
            .extend(checker.check_tyre(&join_key("tyres", name), tyre, files).map(|formula| (name.clone(), formula)));
    }
    checker.check_steering();
    checker.check_brakes();
    checker.check_powertrain();
    checker.check_motors();
    checker.check_couplings();
    checker.check_aero();
    checker.check_assists();
    checker.check_dolly();
    formulas
}

/// State of the check of a vehicle.
struct RuleChecker<'a> {
    /// Vehicle that is checked.
    spec: &'a VehicleSpec,
    /// Receiver of faults and warnings.
    collector: &'a mut FaultCollector,
    /// Table of the file that contains the vehicle: empty for the vehicle itself, or the table of its dolly.
    table: &'static str,
    /// Whether the keys that determine the loads on coupler and hitch are valid.
    has_known_loads: bool,
}

/// Key that every list of keys contains from which wheel loads follow.
const CENTRE_POSITION_PATH: &str = "chassis.centre_behind_front_axle_m";

impl RuleChecker<'_> {
    /// Checks chassis and axles of a vehicle or of a dolly: chassis, loads of the wheels, each axle, then the inertia
    /// without the unsprung masses.
    fn check_body(&mut self) {
        self.check_chassis();
        self.check_footprint();
        for i in 0..self.spec.axles.len() {
            self.check_axle(i);
        }
        self.check_sprung_inertia();
    }

    /// Returns true if none of `paths` holds a placeholder (a substitute for a wrong or missing value).
    /// [`CENTRE_POSITION_PATH`] is also not valid while the loads on coupler and hitch are unknown, so that rules about
    /// wheel loads are skipped.
    fn are_valid<P: AsRef<str>>(&self, paths: &[P]) -> bool {
        let is_valid = |path: &str| {
            !self.collector.has_placeholder(&self.path_in_file(path))
                && (self.has_known_loads || path != CENTRE_POSITION_PATH)
        };
        paths.iter().all(|path| is_valid(path.as_ref()))
    }

    /// Converts a path of the vehicle to a path of the file: adds the prefix `dolly.` if the vehicle is a dolly. Paths
    /// of tyres get no prefix, because a dolly uses the tyres of the file.
    fn path_in_file<'p>(&self, path: &'p str) -> Cow<'p, str> {
        let has_prefix = !self.table.is_empty() && path != "tyres" && !path.starts_with("tyres.");
        if has_prefix { Cow::Owned(format!("{}.{path}", self.table)) } else { Cow::Borrowed(path) }
    }

    /// Reports a contradiction at `path` unless `is_satisfied` is true. Nothing is reported if `path` or one of
    /// `compared_paths`, the keys that it was compared with, holds a placeholder. `found` and `accepts` describe the
    /// value found and the accepted ones; an empty `help` ([`NO_HELP`]) adds none. Paths are those of the vehicle; for
    /// a dolly the report has the prefix `dolly.`. The place is the nearest one that the file gives. If there is
    /// exactly one compared key, the report also shows that key.
    fn require(
        &mut self,
        path: &str,
        compared_paths: &[&str],
        is_satisfied: bool,
        found: String,
        accepts: impl Into<String>,
        help: &str,
    ) {
        if is_satisfied || !self.are_valid(&[path]) || !self.are_valid(compared_paths) {
            return;
        }
        let path = self.path_in_file(path).into_owned();
        let span = self.collector.nearest_span(&path);
        let help = (!help.is_empty()).then(|| help.to_owned());
        self.collector.add_fault(FaultKind::Contradiction, path, span, found, accepts, help);
        if let [compared_path] = compared_paths {
            self.set_contradicted_span(compared_path);
        }
    }

    /// Stores the place of `contradicted_path` in the last fault; `None` if the file does not give that key. Does
    /// nothing if the last fault was dropped because the list is full.
    fn set_contradicted_span(&mut self, contradicted_path: &str) {
        let contradicted_span = self.collector.given_span(&self.path_in_file(contradicted_path));
        if let Some(fault) = self.collector.last_fault() {
            fault.contradicted_span = contradicted_span;
        }
    }

    /// Reports a fault unless exactly one of two alternative keys of `table` is given. Each key is passed with whether
    /// it is given.
    fn require_exactly_one(&mut self, table: &str, first: (&str, bool), second: (&str, bool)) {
        let table = self.path_in_file(table).into_owned();
        self.collector.require_exactly_one(&table, first, second);
    }

    /// Returns the path `axles`, and the paths of `keys` in every axle, such as `axles[0].track_m`.
    fn axle_paths(&self, keys: &[&str]) -> Vec<String> {
        let axles = 0..self.spec.axles.len();
        let paths = axles.flat_map(|i| keys.iter().map(move |key| format!("axles[{i}].{key}")));
        std::iter::once("axles".to_owned()).chain(paths).collect()
    }
}
