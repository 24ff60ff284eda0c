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
use crate::{FaultKind, SceneSpec, VehicleSpec};

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

/// Reports every field of heights and mesh of a scene that is none.
pub(super) fn check_scene(spec: &SceneSpec, survey: &mut Survey) {
    let fields = spec.height_fields.iter().map(|of| of.field().err());
    let meshes = spec.meshes.iter().map(|of| of.mesh().err());
    let fields = fields.enumerate().map(|(i, fault)| (format!("height_field[{i}]"), "heights_m", fault));
    let roads = spec.roads.iter().map(|of| of.field().err()).enumerate();
    let roads = roads.map(|(i, fault)| (format!("road[{i}]"), "spacing_m", fault));
    let meshes = meshes.enumerate().map(|(i, fault)| (format!("mesh[{i}]"), "triangles", fault));
    for (table, key, fault) in fields.chain(roads).chain(meshes) {
        let within = |broken: &String| broken.starts_with(&table);
        let (Some(fault), false) = (fault, survey.broken.iter().any(within)) else { continue };
        let accepts = match key {
            "heights_m" => "lists of as many heights each, two lists of two at least",
            "spacing_m" => "above 0, less than half the shortest of rising wavelengths, and at most 25 million heights",
            _ => "numbers of corners that are there, and a triangle with an area",
        };
        let path = join(&table, key);
        let span = survey.place(&path);
        survey.fault(FaultKind::Contradiction, path, span, fault.to_string(), accepts, None);
    }
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
        let ((first, has_first), (second, has_second)) = (first, second);
        let (a, b) = (join(table, first), join(table, second));
        if !self.sound(&[&a, &b]) || has_first != has_second {
            return;
        }
        let span = self.survey.place(if has_first { &b } else { &a });
        if has_first {
            let found = format!("given as well as `{first}`");
            let accepts = format!("the only one of `{first}` and `{second}`");
            self.survey.fault(FaultKind::Contradiction, b, span, found, accepts, Some("remove one of them".into()));
            self.point_at(&a);
        } else {
            let accepts = format!("given, or `{second}` instead");
            self.survey.fault(FaultKind::MissingKey, a, span, "missing", accepts, None);
        }
    }

    /// Paths of `keys` in every axle.
    fn of_axles(&self, keys: &[&str]) -> Vec<String> {
        let axles = 0..self.spec.axles.len();
        let paths = axles.flat_map(|i| keys.iter().map(move |key| format!("axles[{i}].{key}")));
        std::iter::once("axles".to_owned()).chain(paths).collect()
    }
}
