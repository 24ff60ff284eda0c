//! Rules between fields. Each names the keys it reads and is left out if one of them holds a placeholder.

mod aero;
mod assists;
mod body;
mod drive;
mod suspension;
mod tyre;

use super::walk::{join, quoted};
use super::{Formulas, Survey, nearest};
use crate::beside::Beside;
use crate::{FaultKind, VehicleSpec};

/// Reports every broken rule to `survey`; the Magic Formula tyres that are sound.
pub(super) fn check(spec: &VehicleSpec, survey: &mut Survey, beside: Beside<'_>) -> Formulas {
    let mut rules = Rules { spec, survey };
    rules.chassis();
    rules.footprint();
    for i in 0..spec.axles.len() {
        rules.axle(i);
    }
    let mut formulas = Formulas::new();
    for (name, tyre) in &spec.tyres {
        formulas.extend(rules.tyre(&join("tyres", name), tyre, beside).map(|formula| (name.clone(), formula)));
    }
    rules.steering();
    rules.brakes();
    rules.powertrain();
    rules.motors();
    rules.couplings();
    rules.aero();
    rules.assists();
    formulas
}

struct Rules<'a> {
    spec: &'a VehicleSpec,
    survey: &'a mut Survey,
}

impl Rules<'_> {
    /// Whether all of `paths` hold what the file says.
    fn sound<P: AsRef<str>>(&self, paths: &[P]) -> bool {
        paths.iter().all(|path| !self.survey.is_broken(path.as_ref()))
    }

    /// Unless `holds`, reports that `path` contradicts one of the keys it was compared with (`others`).
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
        let span = self.survey.place(path);
        let help = (!help.is_empty()).then(|| help.to_owned());
        self.survey.fault(FaultKind::Contradiction, path.to_owned(), span, found, accepts, help);
        if let [other] = others {
            self.point_at(other);
        }
    }

    /// Lets the last fault point at `other` too, if it stands in the text.
    fn point_at(&mut self, other: &str) {
        let against = self.survey.places.0.get(other).cloned();
        if let Some(fault) = self.survey.faults.last_mut() {
            fault.against = against;
        }
    }

    /// Of two keys that say the same thing in `table`, one must be there.
    fn exactly_one(&mut self, table: &str, first: (&str, bool), second: (&str, bool)) {
        self.survey.exactly_one(table, first, second);
    }

    /// Paths of `keys` in every axle.
    fn of_axles(&self, keys: &[&str]) -> Vec<String> {
        let axles = 0..self.spec.axles.len();
        let paths = axles.flat_map(|i| keys.iter().map(move |key| format!("axles[{i}].{key}")));
        std::iter::once("axles".to_owned()).chain(paths).collect()
    }
}
