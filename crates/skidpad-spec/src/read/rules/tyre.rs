//! Rules of tyres, and the construction of their Magic Formula tyres.

use super::{Rules, join_key, nearest_word};
use crate::file_resolver::FileResolver;
use crate::spec::{Friction, NamedPoints, Sides, SlipCurve, Tyre, Version};
use crate::tir::plausibility;
use crate::warning::Warning;
use crate::{FaultKind, tir};
use skidpad_core::model::Side;
use skidpad_core::tyre::MagicFormula;
use skidpad_core::tyre::magic_formula::{self, Coefficients, ENTRIES, UseMode};
use std::collections::BTreeMap;

impl Rules<'_> {
    /// Checks the tyre at `path`. Simple tyres: load sensitivity needs a nominal load, slips rise. Brush: a nominal load
    /// of at most 1e6 N. TMeasy: points in order, for each direction and load. Magic Formula: exactly one of file and
    /// coefficients, which are read; with symmetric `sides` the formula is made symmetric. Returns a valid Magic Formula
    /// tyre, and `None` for any other tyre or after a fault.
    pub fn check_tyre(&mut self, path: &str, tyre: &Tyre, files: FileResolver<'_>) -> Option<MagicFormula> {
        match tyre {
            Tyre::Coulomb { friction, .. } | Tyre::Linear { friction, .. } | Tyre::LinearPerLoad { friction, .. } => {
                self.check_friction(path, friction);
            }
            Tyre::SlipCurve { along, across, friction, .. } => {
                self.check_friction(path, friction);
                self.check_slip_curve(&join_key(path, "along"), along);
                self.check_slip_curve(&join_key(path, "across"), across);
            }
            Tyre::Brush { friction, .. } => {
                let nominal = join_key(path, "nominal_load_n");
                let found = friction.nominal_load_n.map_or("missing".to_owned(), |load| format!("{load}"));
                let sound = friction.nominal_load_n.is_some_and(|load| load <= 1e6);
                let help = "stiffness and patch length of a brush hold at it";
                self.require(&nominal, &[], sound, found, "a load above 0, up to 1e6 N", help);
            }
            Tyre::TMeasy { along, across, along_at_double_load, across_at_double_load, .. } => {
                let curves = [
                    ("along", along),
                    ("across", across),
                    ("along_at_double_load", along_at_double_load),
                    ("across_at_double_load", across_at_double_load),
                ];
                for (key, points) in curves {
                    self.check_named_points(&join_key(path, key), points);
                }
                for [(at_one, one), (at_two, two)] in [[curves[0], curves[2]], [curves[1], curves[3]]] {
                    self.check_low_loads([&join_key(path, at_one), &join_key(path, at_two)], [one, two]);
                }
            }
            Tyre::MagicFormula { file, coefficients, version, sides, .. } => {
                self.require_exactly_one(path, ("file", file.is_some()), ("coefficients", coefficients.is_some()));
                let formula = match (file, coefficients) {
                    (Some(file), None) => self.read_tyre_file(&join_key(path, "file"), (file, *sides), files),
                    (None, Some(stated)) => {
                        self.tyre_from_coefficients(&join_key(path, "coefficients"), stated, *version)
                    }
                    _ => None,
                };
                return formula.map(|formula| if *sides == Sides::Symmetric { formula.symmetric() } else { formula });
            }
        }
        None
    }

    /// Checks that a load sensitivity other than 0 comes with a nominal load.
    fn check_friction(&mut self, path: &str, friction: &Friction) {
        let (sensitivity, nominal) = (join_key(path, "load_sensitivity"), join_key(path, "nominal_load_n"));
        let stated = friction.load_sensitivity == 0.0 || friction.nominal_load_n.is_some();
        let found = format!("{} without a nominal load", friction.load_sensitivity);
        self.require(&sensitivity, &[&nominal], stated, found, "together with `nominal_load_n`", "");
    }

    /// Checks that the asymptote is at a larger slip than the extremum.
    fn check_slip_curve(&mut self, path: &str, curve: &SlipCurve) {
        let rises = curve.asymptote_slip > curve.extremum_slip;
        let accepts = format!("above the `extremum_slip` of {}", curve.extremum_slip);
        let found = format!("{}", curve.asymptote_slip);
        self.require(&join_key(path, "asymptote_slip"), &[&join_key(path, "extremum_slip")], rises, found, accepts, "");
    }

    /// Checks the characteristic points of a TMeasy curve: the initial slope is at least twice the largest force over its
    /// slip, and full sliding has no larger force and a larger slip than the maximum.
    fn check_named_points(&mut self, path: &str, points: &NamedPoints) {
        let NamedPoints { slope_n, largest_n, largest_slip, sliding_n, sliding_slip } = *points;
        let key = |name: &str| join_key(path, name);
        // Single precision, in which the model checks these values.
        let least = 2.0 * largest_n as f32 / largest_slip as f32;
        let (found, accepts) =
            (format!("{slope_n}"), format!("at least {least}, twice the largest force over its slip"));
        let steep = slope_n as f32 >= least;
        self.require(&key("slope_n"), &[&key("largest_n"), &key("largest_slip")], steep, found, accepts, "");
        let (found, accepts) = (format!("{sliding_n}"), format!("up to the `largest_n` of {largest_n}"));
        let below = sliding_n as f32 <= largest_n as f32;
        self.require(&key("sliding_n"), &[&key("largest_n")], below, found, accepts, "");
        let (found, accepts) = (format!("{sliding_slip}"), format!("above the `largest_slip` of {largest_slip}"));
        let after = sliding_slip as f32 > largest_slip as f32;
        self.require(&key("sliding_slip"), &[&key("largest_slip")], after, found, accepts, "");
    }

    /// Checks that slope, largest force and sliding force at double load are less than four times the values at nominal
    /// load. Otherwise the parabolas over load are negative at low loads. The paths are those of nominal and double load.
    fn check_low_loads(&mut self, [at_one, at_two]: [&str; 2], [one, two]: [&NamedPoints; 2]) {
        for (name, one, two) in [
            ("slope_n", one.slope_n, two.slope_n),
            ("largest_n", one.largest_n, two.largest_n),
            ("sliding_n", one.sliding_n, two.sliding_n),
        ] {
            let (other, accepts) =
                (join_key(at_one, name), format!("less than {}, four times that of `{at_one}`", 4.0 * one));
            let help = "a parabola through both values and nothing at no load would be negative at low loads";
            let rises = (two as f32) < 4.0 * one as f32;
            self.require(&join_key(at_two, name), &[&other], rises, format!("{two}"), accepts, help);
        }
    }

    /// Reads the tyre file `file`, and adds its notes as warnings. With mirrored `sides` returns the tyre of the left
    /// side: a tyre that was measured on the right side is mirrored. Returns `None` after reporting a fault, and without
    /// a report if `path` holds a placeholder. Faults of the file itself are kept as a separate report.
    fn read_tyre_file(
        &mut self,
        path: &str,
        (file, sides): (&str, Sides),
        files: FileResolver<'_>,
    ) -> Option<MagicFormula> {
        if !self.are_valid(&[path]) {
            return None;
        }
        let span = self.collector.nearest_span(path);
        let found = format!("{file:?}");
        let text = match files.read_tyre(file) {
            Ok(text) => text,
            Err(why) => {
                let accepts = "the path of a tyre file, relative to this file";
                self.collector.add_fault(FaultKind::OutOfRange, path.to_owned(), span, found, accepts, Some(why));
                return None;
            }
        };
        match tir::read(file, &text) {
            Ok(tir::TyreFile { tyre, side, notes }) => {
                let lint = |note: &tir::Note| Warning::new(path, note.to_string());
                self.collector.warnings.extend(notes.iter().map(lint));
                let is_right = side == Some(Side::Right) && sides == Sides::Mirrored;
                Some(if is_right { tyre.mirrored() } else { tyre })
            }
            Err(faults) => {
                let help = Some(format!("{faults}, told below"));
                let accepts = "a tyre file without faults";
                self.collector.add_fault(FaultKind::OutOfRange, path.to_owned(), span, found, accepts, help);
                self.collector.file_faults.push(faults);
                None
            }
        }
    }

    /// Builds a tyre with combined slip from coefficients in the vehicle file (`stated`, by name, SI units), with
    /// defaults for all others. A valid tyre is returned with warnings about implausible values and about combined slip.
    /// Missing and impossible coefficients are reported with their meaning, and `None` is returned. Unknown names are
    /// reported as well and otherwise ignored.
    fn tyre_from_coefficients(
        &mut self,
        path: &str,
        stated: &BTreeMap<String, f64>,
        version: Version,
    ) -> Option<MagicFormula> {
        let mut all = Coefficients::default();
        for (name, value) in stated {
            match all.get_mut(name) {
                Some(place) => *place = *value as f32,
                None => self.report_unknown_coefficient(&join_key(path, name), name),
            }
        }
        let version = match version {
            Version::Mf52 => magic_formula::Version::Mf52,
            Version::Mf61 => magic_formula::Version::Mf61,
            Version::Mf62 => magic_formula::Version::Mf62,
        };
        let faults = match MagicFormula::new(all, version, UseMode::Combined) {
            Ok(formula) => {
                let implausible =
                    plausibility::implausible_coefficients(formula.coefficients(), |name| stated.contains_key(name));
                let lints = implausible.into_iter().map(|(name, text)| Warning::new(join_key(path, name), text));
                self.collector.warnings.extend(lints);
                self.collector
                    .warnings
                    .extend(plausibility::combined_slip_note(&formula).map(|text| Warning::new(path, text)));
                return Some(formula);
            }
            Err(faults) => faults,
        };
        for fault in faults {
            let inner = join_key(path, fault.name);
            if !self.are_valid(&[&inner]) {
                continue;
            }
            let span = self.collector.nearest_span(&inner);
            let meaning = ENTRIES.iter().find(|entry| entry.name == fault.name).map(|entry| entry.meaning.to_owned());
            let (kind, found) = match stated.get(fault.name) {
                Some(value) => (FaultKind::OutOfRange, format!("{value}")),
                None => (FaultKind::MissingKey, "missing".to_owned()),
            };
            self.collector.add_fault(kind, inner, span, found, fault.accepts, meaning);
        }
        None
    }

    /// Reports a coefficient that does not exist, with the most similar name as a suggestion.
    fn report_unknown_coefficient(&mut self, path: &str, name: &str) {
        let help = match nearest_word(name, ENTRIES.iter().map(|entry| entry.name)) {
            Some(like) => format!("did you mean `{like}`?"),
            None => "coefficients have the names and the capitals of `.tir` files".to_owned(),
        };
        let span = self.collector.nearest_span(path);
        let accepts = "not the name of a coefficient";
        self.collector.add_fault(FaultKind::UnknownKey, path.to_owned(), span, name, accepts, Some(help));
    }
}
