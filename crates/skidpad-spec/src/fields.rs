//! Fields of a TOML file by path, and changes of single values that keep comments and everything else of the text.

use crate::read::{Item, Node};
use crate::suggestions::nearest_word;
use std::fmt::{self, Display, Formatter};
use toml::de::{DeTable, DeValue};

/// Parts of which units in the names of keys consist, such as `n_per_m`, with their symbols.
const UNIT_PARTS: [(&str, &str); 20] = [
    ("kg", "kg"),
    ("m", "m"),
    ("m2", "m²"),
    ("m3", "m³"),
    ("n", "N"),
    ("nm", "N m"),
    ("s", "s"),
    ("s2", "s²"),
    ("rad", "rad"),
    ("deg", "deg"),
    ("per", "/"),
    ("w", "W"),
    ("kw", "kW"),
    ("k", "K"),
    ("j", "J"),
    ("rpm", "rpm"),
    ("mps", "m/s"),
    ("mps2", "m/s²"),
    ("hz", "Hz"),
    ("radps", "rad/s"),
];

/// Returns the symbol of a part of a unit; `None` for any other part of a key.
fn unit_symbol(part: &str) -> Option<&'static str> {
    UNIT_PARTS.iter().find(|(name, _)| *name == part).map(|(_, symbol)| *symbol)
}

/// Largest number of keys and numbers of the path of a field that is found or set.
pub const MAX_PATH_KEYS: usize = 32;

/// Path of a field: keys, and numbers of list entries from 0.
///
/// A path is written as in fault reports, such as `axles[0].track_m`; the form `axles.0.track_m` is read as well.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldPath(Vec<String>);

impl FieldPath {
    /// Reads a path from its text. Any text is a path; whether a file has the field is checked on use.
    pub fn new(text: &str) -> Self {
        let text = text.replace('[', ".").replace(']', "");
        Self(text.split('.').map(|part| part.trim().to_owned()).collect())
    }

    /// Returns the unit at the end of the last key, such as `N/m` for `rate_n_per_m`; `None` for a key without unit.
    pub fn unit(&self) -> Option<String> {
        let parts: Vec<&str> = self.last_key().split('_').collect();
        // The first part is never a unit. The unit begins at the first part from which on all parts are units.
        let first_symbol =
            (1..parts.len()).find(|&start| parts[start..].iter().all(|part| unit_symbol(part).is_some()))?;
        let symbols: Vec<&str> = parts[first_symbol..].iter().filter_map(|part| unit_symbol(part)).collect();
        Some(symbols.join(" ").replace(" / ", "/"))
    }

    /// Checks that the path has at most [`MAX_PATH_KEYS`] keys and numbers.
    ///
    /// # Errors
    /// Returns [`FieldError::TooDeep`] otherwise.
    fn check_depth(&self) -> Result<(), FieldError> {
        let count = self.0.len();
        if count <= MAX_PATH_KEYS {
            return Ok(());
        }
        // The first 40 characters show which path is meant.
        Err(FieldError::TooDeep { start: self.to_string().chars().take(40).collect(), count })
    }

    /// Returns the last key; empty for an empty path.
    fn last_key(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }
}

impl Display for FieldPath {
    /// Writes the path as in fault reports: list indices in brackets, keys separated by dots.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (i, part) in self.0.iter().enumerate() {
            match part.parse::<usize>() {
                Ok(number) => write!(f, "[{number}]")?,
                Err(_) if i == 0 => f.write_str(part)?,
                Err(_) => write!(f, ".{part}")?,
            }
        }
        Ok(())
    }
}

/// Reason why a field was not found or not changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FieldError {
    /// Text that is not TOML.
    #[error("the file is not valid TOML: {0}")]
    Syntax(String),
    /// Name of a field that the file does not have.
    #[error("unknown field `{}`{help}", crate::printable::one_line(name))]
    Unknown {
        /// Name or path that was given.
        name: String,
        /// Suggestion, or empty.
        help: String,
    },
    /// Name that several fields have.
    #[error("several fields are called `{}`: {}; use one of these paths", crate::printable::one_line(name), paths.join(", "))]
    Ambiguous {
        /// Name that was given.
        name: String,
        /// Paths of the fields with this name.
        paths: Vec<String>,
    },
    /// Path with more keys and numbers than [`MAX_PATH_KEYS`].
    #[error(
        "the path `{}…` has {count} keys, but at most {MAX_PATH_KEYS} are accepted",
        crate::printable::one_line(start)
    )]
    TooDeep {
        /// First characters of the path.
        start: String,
        /// Number of keys and numbers.
        count: usize,
    },
    /// Field that is not a number.
    #[error("`{path}` is not a number")]
    NotNumber {
        /// Path of the field.
        path: String,
    },
    /// Table whose text is more than one value.
    #[error("`{path}` is a table; set its fields one by one")]
    Table {
        /// Path of the table.
        path: String,
    },
    /// Value that is not a TOML value.
    #[error(
        "`{}` is not a value of `{path}`: numbers, true, false, lists, and texts in quotes are accepted",
        crate::printable::one_line(found)
    )]
    Value {
        /// Path of the field.
        path: String,
        /// Text that was given.
        found: String,
    },
}

/// Text of a TOML file, with the places of its fields.
#[derive(Clone, Debug)]
pub struct FileFields {
    text: String,
    tree: Node,
}

impl FileFields {
    /// Parses the text of a file.
    ///
    /// # Errors
    /// Returns an error if the text is not valid TOML. The keys and values are not checked.
    pub fn parse(text: &str) -> Result<Self, FieldError> {
        let tree = DeTable::parse(text).map_err(|error| FieldError::Syntax(error.message().to_owned()))?;
        Ok(Self { text: text.to_owned(), tree: Node::from(&tree) })
    }

    /// Returns the text with all changes.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the path of the field that `name` names. A name with several parts, or the name of a key of the file
    /// itself, is the path. Otherwise the field is the one with the fewest parts whose last key is `name`. If no key
    /// is, the unit of the key may be missing: `mass` is short for `chassis.mass_kg`.
    ///
    /// # Errors
    /// Returns an error if no field, or more than one, has the name, or if a path has more than [`MAX_PATH_KEYS`] parts.
    /// A shorter path with several parts is not checked.
    pub fn resolve(&self, name: &str) -> Result<FieldPath, FieldError> {
        let path = FieldPath::new(name);
        path.check_depth()?;
        if path.0.len() > 1 || self.tree.get(name).is_some() {
            return Ok(path);
        }
        let mut all_paths = Vec::new();
        collect_paths(&self.tree, &[], &mut all_paths);
        let mut found: Vec<&FieldPath> = all_paths.iter().filter(|path| path.last_key() == name).collect();
        if found.is_empty() {
            let has_name = |path: &&FieldPath| path.last_key().strip_prefix(name).is_some_and(is_unit);
            found = all_paths.iter().filter(has_name).collect();
        }
        // Of several fields, those in the outermost tables are meant.
        let least_depth = found.iter().map(|path| path.0.len()).min();
        found.retain(|path| Some(path.0.len()) == least_depth);
        match found[..] {
            [path] => Ok(path.clone()),
            [] => Err(unknown_field(name, all_paths.iter().map(FieldPath::last_key))),
            _ => {
                Err(FieldError::Ambiguous { name: name.into(), paths: found.iter().map(ToString::to_string).collect() })
            }
        }
    }

    /// Returns the number at `path`.
    ///
    /// # Errors
    /// Returns an error if there is no such field, or if it is not a number.
    pub fn number(&self, path: &FieldPath) -> Result<f64, FieldError> {
        let node = self.node(&path.0).ok_or_else(|| self.missing_field(path))?;
        node.number().ok_or_else(|| FieldError::NotNumber { path: path.to_string() })
    }

    /// Returns the node at the path with these `parts`, which are keys and list indices from the root; `None` if there
    /// is none.
    fn node(&self, parts: &[String]) -> Option<&Node> {
        parts.iter().try_fold(&self.tree, |node, part| match &node.item {
            Item::List(list) => list.get(part.parse::<usize>().ok()?),
            _ => node.get(part),
        })
    }

    /// Sets the field at `path` to `value`, a TOML value. A field that does not exist is added to its table. A table that
    /// does not exist is added in braces if the file has the first table of the path: `steering.kingpin.trail_m` adds
    /// `kingpin = { trail_m = … }` to `[steering]`. A new table at the top of the file is set as a whole, as
    /// `assists={ … }`. Whether the file then accepts the field is not checked here.
    ///
    /// # Errors
    /// Returns an error if the file does not have the first table of the path, if `value` is not a TOML value, if the
    /// field is a table with a header of its own, if a new key would need quotes, or if the path has more than
    /// [`MAX_PATH_KEYS`] parts. Nothing is changed then.
    pub fn set(&mut self, path: &FieldPath, value: &str) -> Result<(), FieldError> {
        path.check_depth()?;
        // A line break would end the value and begin another statement.
        if value.contains(['\n', '\r']) || DeValue::parse(value).is_err() {
            return Err(FieldError::Value { path: path.to_string(), found: value.to_owned() });
        }
        let text = match self.node(&path.0).map(|node| node.span.clone()) {
            Some(span) if self.is_value(&span) => {
                format!("{}{value}{}", &self.text[..span.start], &self.text[span.end..])
            }
            Some(_) => return Err(FieldError::Table { path: path.to_string() }),
            None => self.with_new_field(path, value).ok_or_else(|| self.missing_field(path))?,
        };
        *self = Self::parse(&text).map_err(|_| self.missing_field(path))?;
        Ok(())
    }

    /// Returns true if the bytes `span` are those of a value: not empty, not the header of a table, and after `=`, `,`,
    /// `[` or a line break.
    fn is_value(&self, span: &std::ops::Range<usize>) -> bool {
        let before = self.text[..span.start].trim_end_matches([' ', '\t']);
        !span.is_empty() && before.ends_with(['=', ',', '[', '\n']) && !self.is_header(span)
    }

    /// Returns true if the bytes `span` are the header of a table, such as `[chassis]`: a `[` at the start of a line.
    fn is_header(&self, span: &std::ops::Range<usize>) -> bool {
        let before = self.text[..span.start].trim_end_matches([' ', '\t']);
        self.text[span.clone()].starts_with('[') && (before.is_empty() || before.ends_with('\n'))
    }

    /// Returns the text with a new field in its table: after the header of the table, after the opening brace of an
    /// inline table, or at the start of the file for the root. Missing tables are added in braces; see [`Self::set`].
    /// Returns `None` if the first table of the path does not exist, if the table has no such place, if the key exists
    /// already, or if a key would need quotes.
    fn with_new_field(&self, path: &FieldPath, value: &str) -> Option<String> {
        let (key, parents) = path.0.split_last()?;
        let Some(table) = self.node(parents) else {
            // At least the first table of the path must exist, so that a misspelt name of a table is found.
            let is_missing_at_root = parents.len() < 2;
            let parent = FieldPath(parents.to_vec());
            return if is_missing_at_root || !is_bare_key(key) {
                None
            } else {
                self.with_new_field(&parent, &format!("{{ {key} = {value} }}"))
            };
        };
        let Item::Table(entries) = &table.item else { return None };
        if !is_bare_key(key) || entries.iter().any(|(existing, _)| existing.name == *key) {
            return None;
        }
        let (insert_offset, statement) = if parents.is_empty() {
            (0, format!("{key} = {value}\n"))
        } else if self.is_header(&table.span) {
            let line_end = self.text[table.span.end..].find('\n').map_or(self.text.len(), |i| table.span.end + i);
            (line_end, format!("\n{key} = {value}"))
        } else if self.text[table.span.clone()].starts_with('{') {
            let separator = if entries.is_empty() { " " } else { "," };
            (table.span.start + 1, format!(" {key} = {value}{separator}"))
        } else {
            return None;
        };
        Some(format!("{}{statement}{}", &self.text[..insert_offset], &self.text[insert_offset..]))
    }

    /// Returns the error for a field that cannot be added or found, with the most similar path of the file.
    fn missing_field(&self, path: &FieldPath) -> FieldError {
        let mut all_paths = Vec::new();
        collect_paths(&self.tree, &[], &mut all_paths);
        let names: Vec<String> = all_paths.iter().map(ToString::to_string).collect();
        unknown_field(&path.to_string(), names.iter().map(String::as_str))
    }
}

/// Returns whether `key` needs no quotes.
fn is_bare_key(key: &str) -> bool {
    !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

/// Returns the error for a `name` that is none of the `known` ones, with the most similar one.
fn unknown_field<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> FieldError {
    let help = nearest_word(name, known).map_or_else(String::new, |nearest| format!("; did you mean `{nearest}`?"));
    FieldError::Unknown { name: name.to_owned(), help }
}

/// Returns whether the rest of a key behind a name is a unit, such as `_kg` or `_n_per_m`.
fn is_unit(rest: &str) -> bool {
    rest.strip_prefix('_').is_some_and(|unit| unit.split('_').all(|part| unit_symbol(part).is_some()))
}

/// Appends the paths of all values of `node`, depth first, to `paths`. `path` is the path of `node` itself. Tables and
/// lists of tables are entered; a list without tables is one value.
fn collect_paths(node: &Node, path: &[String], paths: &mut Vec<FieldPath>) {
    let extended = |part: String| [path, &[part]].concat();
    match &node.item {
        Item::Table(entries) => {
            entries.iter().for_each(|(key, node)| collect_paths(node, &extended(key.name.clone()), paths));
        }
        Item::List(list) if list.iter().any(|entry| matches!(entry.item, Item::Table(_))) => {
            list.iter().enumerate().for_each(|(i, node)| collect_paths(node, &extended(i.to_string()), paths));
        }
        _ => paths.push(FieldPath(path.to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_end_with_their_units() {
        let unit = |path: &str| FieldPath::new(path).unit();
        assert_eq!(unit("axles[0].suspension.rate_n_per_m").as_deref(), Some("N/m"));
        assert_eq!(unit("axles[0].suspension.bump_n_s_per_m").as_deref(), Some("N s/m"));
        assert_eq!(unit("chassis.inertia_kg_m2").as_deref(), Some("kg m²"));
        assert_eq!([unit("drag"), unit("m"), unit("")], [None, None, None]);
    }
    use crate::{VehicleSpec, shipped};

    /// File with a header, a list of tables, a table in braces and comments.
    const TEXT: &str = "name = \"a\" # Name.\n[chassis] # Body.\nmass_kg = 900 # Weighed.\n\n[[axles]]\ntrack_m = 1.4\n\
                        bar = { rate = 1, speeds = [2, 3] }\n[[axles]]\ntrack_m = 1.5\n";

    /// Returns the text after the field with this path or name was set.
    fn set(name: &str, value: &str) -> Result<String, FieldError> {
        let mut fields = FileFields::parse(TEXT).expect("valid");
        let path = fields.resolve(name)?;
        fields.set(&path, value)?;
        Ok(fields.text().to_owned())
    }

    /// A changed value keeps comments and all other text; paths with brackets and with dots, and short names, name the
    /// same fields.
    #[test]
    fn a_change_keeps_everything_else() {
        let expected = TEXT.replace("900", "950.5");
        for name in ["chassis.mass_kg", "mass_kg", "mass"] {
            assert_eq!(set(name, "950.5").as_deref(), Ok(&*expected), "{name}");
        }
        for name in ["axles[1].track_m", "axles.1.track_m"] {
            assert_eq!(set(name, "1.6").as_deref(), Ok(&*TEXT.replace("1.5", "1.6")), "{name}");
        }
        assert_eq!(set("axles[0].bar.rate", "7").as_deref(), Ok(&*TEXT.replace("rate = 1", "rate = 7")));
        assert_eq!(set("axles[0].bar.speeds[1]", "9").as_deref(), Ok(&*TEXT.replace("[2, 3]", "[2, 9]")));
        assert_eq!(
            set("axles[0].bar", "{ rate = 2 }").as_deref().map(|t| t.contains("bar = { rate = 2 }\n")),
            Ok(true)
        );
    }

    /// A new field goes into its table, whether that has a header, is in braces or is the file.
    #[test]
    fn a_new_field_is_added_to_its_table() {
        assert_eq!(set("chassis.height_m", "1").as_deref(), Ok(&*TEXT.replace("# Body.", "# Body.\nheight_m = 1")));
        assert_eq!(
            set("axles[1].toe", "1").as_deref().map(|t| t.contains("[[axles]]\ntoe = 1\ntrack_m = 1.5")),
            Ok(true)
        );
        assert_eq!(set("axles[0].bar.gap", "1").as_deref(), Ok(&*TEXT.replace("{ rate", "{ gap = 1, rate")));
    }

    /// A path of very many keys is refused instead of filling the stack; the error shows only its start. A path with as
    /// many keys as are accepted can be set.
    #[test]
    fn deep_paths_are_refused() {
        let set_depth = |depth: usize| set(&format!("chassis{}", ".a".repeat(depth - 1)), "1");
        for depth in [MAX_PATH_KEYS + 1, 100_000] {
            let error = set_depth(depth).expect_err("too deep");
            assert!(matches!(&error, FieldError::TooDeep { count, .. } if *count == depth), "{error}");
            assert!(error.to_string().len() < 120, "{error}");
        }
        assert!(set_depth(MAX_PATH_KEYS).is_ok());
    }

    /// Missing tables are added with the field; the next field goes into the same table. The first table must exist.
    #[test]
    fn missing_tables_are_added() {
        let mut fields = FileFields::parse(TEXT).expect("valid");
        for (path, value) in [("chassis.a.b.c", "1"), ("chassis.a.d", "2")] {
            fields.set(&FieldPath::new(path), value).expect("the first table exists");
        }
        assert_eq!(fields.text(), TEXT.replace("# Body.", "# Body.\na = { d = 2, b = { c = 1 } }"));
        assert!(fields.set(&FieldPath::new("body.a.b"), "1").is_err());
    }

    /// Unknown and ambiguous names, tables that do not exist and values that are not TOML are refused.
    #[test]
    fn names_and_values_are_checked() {
        assert!(matches!(set("track_m", "1"), Err(FieldError::Ambiguous { paths, .. }) if paths.len() == 2));
        let message = |name| set(name, "1").expect_err("unknown").to_string();
        let fields = FileFields::parse(TEXT).expect("valid");
        assert_eq!(fields.number(&FieldPath::new("axles[1].track_m")), Ok(1.5));
        assert_eq!(fields.number(&FieldPath::new("name")), Err(FieldError::NotNumber { path: "name".into() }));
        assert!(matches!(fields.number(&FieldPath::new("axles[2].track_m")), Err(FieldError::Unknown { .. })));
        assert_eq!(message("mass_kgs"), "unknown field `mass_kgs`; did you mean `mass_kg`?");
        assert_eq!(message("chasis.mass_kg"), "unknown field `chasis.mass_kg`; did you mean `chassis.mass_kg`?");
        for path in ["axles[2].track_m", "axles[x].track_m", "name.first", "chassis.", ""] {
            assert!(set(path, "1").is_err(), "{path}");
        }
        for path in ["chassis", "axles", "axles[0]"] {
            assert_eq!(set(path, "{ a = 1 }"), Err(FieldError::Table { path: path.into() }));
        }
        for value in ["", "text", "1\nb = 2", "[1", "1 # one", "1, 2"] {
            let result = set("chassis.mass_kg", value);
            assert!(matches!(result, Err(FieldError::Value { .. })), "{value}: {result:?}");
        }
    }

    /// In every shipped vehicle, each number replaced by itself gives a description that reads as before.
    #[test]
    fn shipped_vehicles_keep_their_description() {
        for name in shipped::names() {
            let text = shipped::find(name).expect("shipped");
            let mut fields = FileFields::parse(text).expect("valid");
            let mut paths = Vec::new();
            collect_paths(&fields.tree, &[], &mut paths);
            for path in &paths {
                if let Ok(number) = fields.number(path) {
                    fields.set(path, &number.to_string()).expect("it exists");
                }
            }
            let read = |text| VehicleSpec::read(name, text).expect("valid");
            assert_eq!(read(fields.text()), read(text), "{name}");
        }
    }
}
