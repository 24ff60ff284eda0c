//! Rules of tyres, and the construction of their Magic Formula tyres.

use super::{Rules, join, nearest};
use crate::file_resolver::FileResolver;
use crate::lint::Lint;
use crate::spec::{Friction, NamedPoints, Sides, SlipCurve, Tyre, Version};
use crate::tir::doubts;
use crate::{FaultKind, tir};
use skidpad_core::model::Side;
use skidpad_core::tyre::MagicFormula;
use skidpad_core::tyre::magic_formula::{self, Coefficients, ENTRIES, UseMode};
use std::collections::BTreeMap;

impl Rules<'_> {
    /// Checks the tyre at `path`. Returns it if it is a valid Magic Formula tyre, and `None` for any other tyre.
    pub fn tyre(&mut self, path: &str, tyre: &Tyre, files: FileResolver<'_>) -> Option<MagicFormula> {
        match tyre {
            Tyre::Coulomb { friction, .. } | Tyre::Linear { friction, .. } | Tyre::LinearPerLoad { friction, .. } => {
                self.friction(path, friction);
            }
            Tyre::SlipCurve { along, across, friction, .. } => {
                self.friction(path, friction);
                self.slip_curve(&join(path, "along"), along);
                self.slip_curve(&join(path, "across"), across);
            }
            Tyre::Brush { friction, .. } => {
                let nominal = join(path, "nominal_load_n");
                let found = friction.nominal_load_n.map_or("missing".to_owned(), |load| format!("{load}"));
                let sound = friction.nominal_load_n.is_some_and(|load| load <= 1e6);
                let help = "stiffness and patch length of a brush hold at it";
                self.rule(&nominal, &[], sound, found, "a load above 0, up to 1e6 N", help);
            }
            Tyre::TMeasy { along, across, along_at_double_load, across_at_double_load, .. } => {
                let curves = [
                    ("along", along),
                    ("across", across),
                    ("along_at_double_load", along_at_double_load),
                    ("across_at_double_load", across_at_double_load),
                ];
                for (key, points) in curves {
                    self.named_points(&join(path, key), points);
                }
                for [(at_one, one), (at_two, two)] in [[curves[0], curves[2]], [curves[1], curves[3]]] {
                    self.low_loads([&join(path, at_one), &join(path, at_two)], [one, two]);
                }
            }
            Tyre::MagicFormula { file, coefficients, version, sides, .. } => {
                self.exactly_one(path, ("file", file.is_some()), ("coefficients", coefficients.is_some()));
                let formula = match (file, coefficients) {
                    (Some(file), None) => self.tyre_file(&join(path, "file"), (file, *sides), files),
                    (None, Some(stated)) => self.coefficients(&join(path, "coefficients"), stated, *version),
                    _ => None,
                };
                return formula.map(|formula| if *sides == Sides::Symmetric { formula.symmetric() } else { formula });
            }
        }
        None
    }

    /// Checks that a load sensitivity comes with a nominal load.
    fn friction(&mut self, path: &str, friction: &Friction) {
        let (sensitivity, nominal) = (join(path, "load_sensitivity"), join(path, "nominal_load_n"));
        let stated = friction.load_sensitivity == 0.0 || friction.nominal_load_n.is_some();
        let found = format!("{} without a nominal load", friction.load_sensitivity);
        self.rule(&sensitivity, &[&nominal], stated, found, "together with `nominal_load_n`", "");
    }

    /// Checks that the asymptote is at a larger slip than the extremum.
    fn slip_curve(&mut self, path: &str, curve: &SlipCurve) {
        let rises = curve.asymptote_slip > curve.extremum_slip;
        let accepts = format!("above the `extremum_slip` of {}", curve.extremum_slip);
        let found = format!("{}", curve.asymptote_slip);
        self.rule(&join(path, "asymptote_slip"), &[&join(path, "extremum_slip")], rises, found, accepts, "");
    }

    /// Checks that the initial slope is at least twice the largest force over its slip, and that full sliding has no
    /// larger force and a larger slip than the maximum.
    fn named_points(&mut self, path: &str, points: &NamedPoints) {
        let NamedPoints { slope_n, largest_n, largest_slip, sliding_n, sliding_slip } = *points;
        let key = |name: &str| join(path, name);
        // Single precision, in which the model checks these values.
        let least = 2.0 * largest_n as f32 / largest_slip as f32;
        let (found, accepts) =
            (format!("{slope_n}"), format!("at least {least}, twice the largest force over its slip"));
        let steep = slope_n as f32 >= least;
        self.rule(&key("slope_n"), &[&key("largest_n"), &key("largest_slip")], steep, found, accepts, "");
        let (found, accepts) = (format!("{sliding_n}"), format!("up to the `largest_n` of {largest_n}"));
        let below = sliding_n as f32 <= largest_n as f32;
        self.rule(&key("sliding_n"), &[&key("largest_n")], below, found, accepts, "");
        let (found, accepts) = (format!("{sliding_slip}"), format!("above the `largest_slip` of {largest_slip}"));
        let after = sliding_slip as f32 > largest_slip as f32;
        self.rule(&key("sliding_slip"), &[&key("largest_slip")], after, found, accepts, "");
    }

    /// Checks that values at double load are less than four times the values at nominal load. Otherwise the parabolas
    /// over load are negative at low loads.
    fn low_loads(&mut self, [at_one, at_two]: [&str; 2], [one, two]: [&NamedPoints; 2]) {
        for (name, one, two) in [
            ("slope_n", one.slope_n, two.slope_n),
            ("largest_n", one.largest_n, two.largest_n),
            ("sliding_n", one.sliding_n, two.sliding_n),
        ] {
            let (other, accepts) =
                (join(at_one, name), format!("less than {}, four times that of `{at_one}`", 4.0 * one));
            let help = "a parabola through both values and nothing at no load would be negative at low loads";
            let rises = (two as f32) < 4.0 * one as f32;
            self.rule(&join(at_two, name), &[&other], rises, format!("{two}"), accepts, help);
        }
    }

    /// Reads the tyre file `file`, and adds its notes. With mirrored `sides` returns the tyre of the left side: a tyre that was measured on
    /// the right side is mirrored. Returns `None` after reporting a fault.
    fn tyre_file(&mut self, path: &str, (file, sides): (&str, Sides), files: FileResolver<'_>) -> Option<MagicFormula> {
        if !self.sound(&[path]) {
            return None;
        }
        let span = self.collector.place(path);
        let found = format!("{file:?}");
        let text = match files.tyre(file) {
            Ok(text) => text,
            Err(why) => {
                let accepts = "the path of a tyre file, relative to this file";
                self.collector.fault(FaultKind::OutOfRange, path.to_owned(), span, found, accepts, Some(why));
                return None;
            }
        };
        match tir::read(file, &text) {
            Ok(tir::TyreFile { tyre, side, notes }) => {
                let lint = |note: &tir::Note| Lint::new(path, note.to_string());
                self.collector.notes.extend(notes.iter().map(lint));
                let is_right = side == Some(Side::Right) && sides == Sides::Mirrored;
                Some(if is_right { tyre.mirrored() } else { tyre })
            }
            Err(faults) => {
                let help = Some(format!("{faults}, told below"));
                let accepts = "a tyre file without faults";
                self.collector.fault(FaultKind::OutOfRange, path.to_owned(), span, found, accepts, help);
                self.collector.files.push(faults);
                None
            }
        }
    }

    /// Builds a tyre from coefficients in the vehicle file, and adds warnings. Returns `None` after reporting faults.
    fn coefficients(&mut self, path: &str, stated: &BTreeMap<String, f64>, version: Version) -> Option<MagicFormula> {
        let mut all = Coefficients::default();
        for (name, value) in stated {
            match all.get_mut(name) {
                Some(place) => *place = *value as f32,
                None => self.unknown_coefficient(&join(path, name), name),
            }
        }
        let version = match version {
            Version::Mf52 => magic_formula::Version::Mf52,
            Version::Mf61 => magic_formula::Version::Mf61,
            Version::Mf62 => magic_formula::Version::Mf62,
        };
        let faults = match MagicFormula::new(all, version, UseMode::Combined) {
            Ok(formula) => {
                let implausible = doubts::implausible(formula.coefficients(), |name| stated.contains_key(name));
                let lints = implausible.into_iter().map(|(name, text)| Lint::new(join(path, name), text));
                self.collector.notes.extend(lints);
                self.collector.notes.extend(doubts::left_out(&formula).map(|text| Lint::new(path, text)));
                return Some(formula);
            }
            Err(faults) => faults,
        };
        for fault in faults {
            let inner = join(path, fault.name);
            if !self.sound(&[&inner]) {
                continue;
            }
            let span = self.collector.place(&inner);
            let meaning = ENTRIES.iter().find(|entry| entry.name == fault.name).map(|entry| entry.meaning.to_owned());
            let (kind, found) = match stated.get(fault.name) {
                Some(value) => (FaultKind::OutOfRange, format!("{value}")),
                None => (FaultKind::MissingKey, "missing".to_owned()),
            };
            self.collector.fault(kind, inner, span, found, fault.accepts, meaning);
        }
        None
    }

    /// Reports a coefficient that does not exist, with a suggestion.
    fn unknown_coefficient(&mut self, path: &str, name: &str) {
        let help = match nearest(name, ENTRIES.iter().map(|entry| entry.name)) {
            Some(like) => format!("did you mean `{like}`?"),
            None => "coefficients have the names and the capitals of `.tir` files".to_owned(),
        };
        let span = self.collector.place(path);
        let accepts = "not the name of a coefficient";
        self.collector.fault(FaultKind::UnknownKey, path.to_owned(), span, name, accepts, Some(help));
    }
}
