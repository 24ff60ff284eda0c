//! Rules of tyres, and the construction of their Magic Formula tyres.

use super::{NO_HELP, NO_OTHER_KEYS, RuleChecker, join_key, nearest_word};
use crate::file_resolver::FileResolver;
use crate::spec::{Friction, NamedPoints, Sides, SlipCurve, Tyre, Version};
use crate::tir::plausibility;
use crate::warning::Warning;
use crate::{FaultKind, tir};
use skidpad_core::model::Side;
use skidpad_core::tyre::MagicFormula;
use skidpad_core::tyre::magic_formula::{self, Coefficients, ENTRIES, UseMode};
use std::collections::BTreeMap;

impl RuleChecker<'_> {
    /// Checks the tyre at `path` by its model. Coulomb, linear and slip curve: load sensitivity needs a nominal load,
    /// and slips rise. Brush: a nominal load above 0 and of at most 1e6 N. TMeasy: characteristic points in order, for
    /// each direction and load. Magic Formula: exactly one of file and coefficients, which are then read; symmetric
    /// `sides` make the formula symmetric. Returns a valid Magic Formula tyre, and `None` for any other tyre or after a
    /// fault.
    pub fn check_tyre(&mut self, path: &str, tyre: &Tyre, files: FileResolver<'_>) -> Option<MagicFormula> {
        match tyre {
            Tyre::Coulomb { friction, .. } | Tyre::Linear { friction, .. } | Tyre::LinearPerLoad { friction, .. } => {
                self.check_friction(path, friction);
            }
            Tyre::SlipCurve { longitudinal, lateral, friction, .. } => {
                self.check_friction(path, friction);
                self.check_slip_curve(&join_key(path, "longitudinal"), longitudinal);
                self.check_slip_curve(&join_key(path, "lateral"), lateral);
            }
            Tyre::Brush { friction, .. } => {
                let nominal_path = join_key(path, "nominal_load_n");
                let found = friction.nominal_load_n.map_or("missing".to_owned(), |load| format!("{load}"));
                let is_valid = friction.nominal_load_n.is_some_and(|load| load <= 1e6);
                let help = "stiffness and patch length of the brush model refer to it";
                self.require(&nominal_path, NO_OTHER_KEYS, is_valid, found, "a load above 0, up to 1e6 N", help);
            }
            Tyre::TMeasy { longitudinal, lateral, longitudinal_at_double_load, lateral_at_double_load, .. } => {
                let curves = [
                    ("longitudinal", longitudinal),
                    ("lateral", lateral),
                    ("longitudinal_at_double_load", longitudinal_at_double_load),
                    ("lateral_at_double_load", lateral_at_double_load),
                ];
                for (key, points) in curves {
                    self.check_named_points(&join_key(path, key), points);
                }
                // Nominal and double load: longitudinal, then lateral.
                for [(nominal_key, nominal), (double_key, double)] in [[curves[0], curves[2]], [curves[1], curves[3]]] {
                    self.check_low_loads(
                        [&join_key(path, nominal_key), &join_key(path, double_key)],
                        [nominal, double],
                    );
                }
            }
            Tyre::MagicFormula { file, coefficients, version, sides, .. } => {
                self.require_exactly_one(path, ("file", file.is_some()), ("coefficients", coefficients.is_some()));
                let formula = match (file, coefficients) {
                    (Some(file), None) => self.read_tyre_file(&join_key(path, "file"), (file, *sides), files),
                    (None, Some(stated_values)) => {
                        self.tyre_from_coefficients(&join_key(path, "coefficients"), stated_values, *version)
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
        let (sensitivity_path, nominal_path) = (join_key(path, "load_sensitivity"), join_key(path, "nominal_load_n"));
        let is_valid = friction.load_sensitivity == 0.0 || friction.nominal_load_n.is_some();
        let found = format!("{} without a nominal load", friction.load_sensitivity);
        self.require(&sensitivity_path, &[&nominal_path], is_valid, found, "together with `nominal_load_n`", NO_HELP);
    }

    /// Checks that the asymptote is at a larger slip than the extremum. `path` is that of the curve.
    fn check_slip_curve(&mut self, path: &str, curve: &SlipCurve) {
        let is_rising = curve.asymptote_slip > curve.extremum_slip;
        let accepts = format!("above `extremum_slip` ({})", curve.extremum_slip);
        let found = format!("{}", curve.asymptote_slip);
        self.require(
            &join_key(path, "asymptote_slip"),
            &[&join_key(path, "extremum_slip")],
            is_rising,
            found,
            accepts,
            NO_HELP,
        );
    }

    /// Checks the characteristic points of a TMeasy curve: the initial slope is at least `2 · peak force / peak slip`,
    /// the sliding force at most the peak force, and the sliding slip above the peak slip. Compares in single
    /// precision.
    fn check_named_points(&mut self, path: &str, points: &NamedPoints) {
        let NamedPoints { slope_n, peak_n, peak_slip, sliding_n, sliding_slip } = *points;
        let key_path = |name: &str| join_key(path, name);
        // Single precision, in which the model checks these values.
        let min_slope = 2.0 * peak_n as f32 / peak_slip as f32;
        let (found, accepts) =
            (format!("{slope_n}"), format!("at least {min_slope} (twice the maximum force divided by its slip)"));
        let is_steep_enough = slope_n as f32 >= min_slope;
        self.require(
            &key_path("slope_n"),
            &[&key_path("peak_n"), &key_path("peak_slip")],
            is_steep_enough,
            found,
            accepts,
            NO_HELP,
        );
        let (found, accepts) = (format!("{sliding_n}"), format!("at most `peak_n` ({peak_n})"));
        let is_below_largest = sliding_n as f32 <= peak_n as f32;
        self.require(&key_path("sliding_n"), &[&key_path("peak_n")], is_below_largest, found, accepts, NO_HELP);
        let (found, accepts) = (format!("{sliding_slip}"), format!("above `peak_slip` ({peak_slip})"));
        let is_after_largest = sliding_slip as f32 > peak_slip as f32;
        self.require(&key_path("sliding_slip"), &[&key_path("peak_slip")], is_after_largest, found, accepts, NO_HELP);
    }

    /// Checks that slope, largest force and sliding force at double load are less than four times the values at nominal
    /// load, in single precision. Otherwise the parabolas over load are negative at low loads. The paths are those of
    /// nominal and double load; faults are reported at double load.
    fn check_low_loads(&mut self, [nominal_path, double_path]: [&str; 2], [nominal, double]: [&NamedPoints; 2]) {
        for (name, nominal_value, double_value) in [
            ("slope_n", nominal.slope_n, double.slope_n),
            ("peak_n", nominal.peak_n, double.peak_n),
            ("sliding_n", nominal.sliding_n, double.sliding_n),
        ] {
            let (compared_path, accepts) = (
                join_key(nominal_path, name),
                format!("less than {} (four times `{nominal_path}`)", 4.0 * nominal_value),
            );
            let help = "the parabola through both values and the origin would be negative at low loads";
            let is_below_limit = (double_value as f32) < 4.0 * nominal_value as f32;
            self.require(
                &join_key(double_path, name),
                &[&compared_path],
                is_below_limit,
                format!("{double_value}"),
                accepts,
                help,
            );
        }
    }

    /// Reads the tyre file `file`, named by the key `path`, and adds its notes as warnings about that key. For mirrored
    /// `sides` returns the tyre of the left side: a tyre that was measured on the right side is mirrored. Returns
    /// `None` after reporting a fault at `path`; faults within the file are also added to `file_faults` as a separate
    /// report. Returns `None` without a report if `path` holds a placeholder.
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
            Err(reason) => {
                let accepts = "the path of a tyre file, relative to this file";
                self.collector.add_fault(FaultKind::OutOfRange, path.to_owned(), span, found, accepts, Some(reason));
                return None;
            }
        };
        match tir::read(file, &text) {
            Ok(tir::TyreFile { tyre, side, notes }) => {
                let to_warning = |note: &tir::Note| Warning::new(path, note.to_string());
                self.collector.warnings.extend(notes.iter().map(to_warning));
                let is_mirrored = side == Some(Side::Right) && sides == Sides::Mirrored;
                Some(if is_mirrored { tyre.mirrored() } else { tyre })
            }
            Err(faults) => {
                let help = Some(format!("{faults}, listed below"));
                let accepts = "a tyre file without faults";
                self.collector.add_fault(FaultKind::OutOfRange, path.to_owned(), span, found, accepts, help);
                self.collector.file_faults.push(faults);
                None
            }
        }
    }

    /// Builds a tyre with combined slip from coefficients in the vehicle file: `stated_values` by name, in SI units;
    /// all others have their defaults. Returns a valid tyre and adds warnings about implausible values and about
    /// combined slip. Otherwise reports each missing or impossible coefficient with its meaning, and returns `None`. An
    /// unknown name is reported in both cases and has no effect on the tyre.
    fn tyre_from_coefficients(
        &mut self,
        path: &str,
        stated_values: &BTreeMap<String, f64>,
        version: Version,
    ) -> Option<MagicFormula> {
        let mut coefficients = Coefficients::default();
        for (name, value) in stated_values {
            match coefficients.get_mut(name) {
                Some(coefficient) => *coefficient = *value as f32,
                None => self.report_unknown_coefficient(&join_key(path, name), name),
            }
        }
        let version = match version {
            Version::Mf52 => magic_formula::Version::Mf52,
            Version::Mf61 => magic_formula::Version::Mf61,
            Version::Mf62 => magic_formula::Version::Mf62,
        };
        // Returns a valid tyre; the rest of the function reports why there is none.
        let faults = match MagicFormula::new(coefficients, version, UseMode::Combined) {
            Ok(formula) => {
                let implausible = plausibility::implausible_coefficients(formula.coefficients(), |name| {
                    stated_values.contains_key(name)
                });
                let warnings = implausible.into_iter().map(|(name, text)| Warning::new(join_key(path, name), text));
                self.collector.warnings.extend(warnings);
                self.collector
                    .warnings
                    .extend(plausibility::combined_slip_note(&formula).map(|text| Warning::new(path, text)));
                return Some(formula);
            }
            Err(faults) => faults,
        };
        for fault in faults {
            let coefficient_path = join_key(path, fault.name);
            // A placeholder is reported already.
            if !self.are_valid(&[&coefficient_path]) {
                continue;
            }
            let span = self.collector.nearest_span(&coefficient_path);
            let meaning = ENTRIES.iter().find(|entry| entry.name == fault.name).map(|entry| entry.meaning.to_owned());
            let (kind, found) = match stated_values.get(fault.name) {
                Some(value) => (FaultKind::OutOfRange, format!("{value}")),
                None => (FaultKind::MissingKey, "missing".to_owned()),
            };
            self.collector.add_fault(kind, coefficient_path, span, found, fault.accepts, meaning);
        }
        None
    }

    /// Reports the coefficient `name`, which does not exist, at the nearest place of `path` that the file gives. The
    /// help suggests the most similar name; without one it states how coefficients are named.
    fn report_unknown_coefficient(&mut self, path: &str, name: &str) {
        let help = match nearest_word(name, ENTRIES.iter().map(|entry| entry.name)) {
            Some(similar_name) => format!("did you mean `{similar_name}`?"),
            None => "coefficients have the names of `.tir` files, in capitals".to_owned(),
        };
        let span = self.collector.nearest_span(path);
        // The text of an unknown key is the problem itself instead of the accepted values.
        let accepts = "unknown coefficient";
        self.collector.add_fault(FaultKind::UnknownKey, path.to_owned(), span, name, accepts, Some(help));
    }
}
