//! Output of a vehicle file with comments that name the origin of the imported numbers.

use skidpad_spec::VehicleSpec;
use std::collections::BTreeMap;

/// Number of significant digits. More than single precision has, few enough to drop the noise of conversions.
const SIGNIFICANT_DIGITS: i32 = 9;

/// Vehicle description with comments on its keys.
#[derive(Clone, Debug)]
pub(crate) struct CommentedSpec {
    /// Vehicle description.
    pub spec: VehicleSpec,
    /// Comments by path of the key.
    pub comments: BTreeMap<String, String>,
}

/// Rounds `value` to nine significant digits.
pub(crate) fn round_digits(value: f64) -> f64 {
    format!("{value:.*e}", SIGNIFICANT_DIGITS as usize - 1).parse().unwrap_or(value)
}

impl CommentedSpec {
    /// Writes the vehicle file as TOML, with the comments as `  # …` at the end of the lines of their keys. Comments of
    /// keys that the file does not contain are dropped.
    ///
    /// # Errors
    /// A number is not finite or cannot be written.
    pub fn write(&self) -> Result<String, toml::ser::Error> {
        let mut text = String::new();
        let mut cursor = LineCursor::default();
        for line in self.spec.to_toml()?.lines() {
            text.push_str(line);
            if let Some(comment) = cursor.key_path(line).and_then(|path| self.comments.get(&path)) {
                text.push_str("  # ");
                text.push_str(&remove_control_characters(comment));
            }
            text.push('\n');
        }
        Ok(text)
    }
}

/// Replaces control characters by spaces, so that a comment stays on its line.
fn remove_control_characters(comment: &str) -> String {
    comment.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

/// Position of a line within the tables of the file.
#[derive(Debug, Default)]
struct LineCursor {
    /// Path of the current table; empty for the root.
    table: String,
    /// Number of tables read so far for each header in double brackets.
    counts: BTreeMap<String, usize>,
    /// Whether the line is within a list or text of several lines.
    is_continuation: bool,
}

impl LineCursor {
    /// Returns the path of the key that begins on `line`, with its table, such as `axles[1].track_m`. Returns `None`
    /// for headers, blank lines, and lines within a list or text of several lines. Stores the current table and whether
    /// a list or text continues. The lines of a file must be passed in order.
    fn key_path(&mut self, line: &str) -> Option<String> {
        if self.is_continuation {
            // The last line of the list or text ends the continuation.
            self.is_continuation = !(line.starts_with(']') || line.ends_with("\"\"\"") || line.ends_with("'''"));
            return None;
        }
        if let Some(name) = line.strip_prefix("[[").and_then(|rest| rest.strip_suffix("]]")) {
            // A repeated table such as `[[axles]]`.
            let count = self.counts.entry(name.to_owned()).or_insert(0);
            self.table = format!("{name}[{count}]");
            *count += 1;
            return None;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            // A single table such as `[chassis]`.
            self.table = self.numbered_table(name);
            return None;
        }
        let (key, value) = line.split_once(" = ")?;
        // A list or text of several lines begins.
        self.is_continuation = value == "[" || value == "\"\"\"" || value == "'''";
        Some(if self.table.is_empty() { key.to_owned() } else { format!("{}.{key}", self.table) })
    }

    /// Returns the path of the table `name`. A table within a repeated table belongs to the last one of these so far:
    /// `axles.suspension` becomes `axles[1].suspension` after two `[[axles]]`. Other names are returned unchanged. If
    /// several repeated tables enclose `name`, the first one in alphabetical order is used.
    fn numbered_table(&self, name: &str) -> String {
        let enclosing_table =
            self.counts.iter().find(|(header, _)| name.strip_prefix(*header).is_some_and(|rest| rest.starts_with('.')));
        match enclosing_table {
            Some((header, count)) => format!("{header}[{}]{}", count - 1, &name[header.len()..]),
            None => name.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that a written file reads back as the same description, and that each comment ends the line of its key,
    /// with its line break replaced by a space.
    #[test]
    fn remarks_stand_beside_their_keys_and_nowhere_else() {
        let text = skidpad_spec::shipped::find("corvette_c5").expect("shipped");
        let spec = VehicleSpec::read("c5", text).expect("valid");
        let remark = |path: &str| (path.to_owned(), format!("of {path}\nand more"));
        let paths =
            ["chassis.mass_kg", "axles[1].suspension.rate_n_per_m", "tyres.rear.longitudinal.extremum_slip", "name"];
        let described = CommentedSpec { spec: spec.clone(), comments: paths.iter().map(|p| remark(p)).collect() };
        let written = described.write().expect("finite");
        assert_eq!(VehicleSpec::read("again", &written).expect("valid"), spec);
        for path in paths {
            let line = written.lines().find(|l| l.ends_with(&format!("# of {path} and more")));
            let key = path.rsplit('.').next().expect("a key");
            assert!(line.is_some_and(|l| l.starts_with(key)), "{path}: {line:?}");
        }
    }

    #[test]
    fn numbers_lose_their_noise_only() {
        assert_eq!(round_digits(0.300_000_011_920_929), 0.300000012);
        assert_eq!(round_digits(60_000.000_000_01), 60_000.0);
        assert_eq!(round_digits(0.0), 0.0);
    }
}
