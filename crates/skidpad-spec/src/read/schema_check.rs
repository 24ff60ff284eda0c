//! Check of a tree against its schema: reports wrong keys, types and ranges, and replaces wrong values by placeholders.

use super::tree::{Item, Key, Node};
use crate::FaultKind;
use crate::fault_collector::{FaultCollector, join_key};
use crate::schema::{ResolvedSchema, Schema, describe_accepted};
use crate::suggestions::{nearest_word, suggest_key};
use std::ops::Range;
use toml::{Table, Value};

/// Accepted magnitudes of numbers other than 0. The arithmetic of the model is safe with their squares in single
/// precision.
const ACCEPTED_MAGNITUDES: std::ops::RangeInclusive<f64> = 1e-9..=1e9;

/// Checks `tree` against `schema` and returns it as a value that deserializes to the type of `schema`, also after
/// faults. Wrong and missing required values become placeholders (valid substitutes), wrong optional values are left
/// out. Faults are added to `collector`; `text` is the text that the tree was parsed from. A tree that is no table is a
/// wrong type and becomes a placeholder as a whole.
pub(super) fn check_tree(text: &str, tree: &Node, schema: &Schema, collector: &mut FaultCollector) -> Value {
    let root_schema = ResolvedSchema::root(schema);
    let mut checker = SchemaChecker { text, collector };
    let Item::Table(entries) = &tree.item else {
        checker.report_wrong_value(FaultKind::WrongType, root_schema, "", tree.span.clone());
        return root_schema.placeholder();
    };
    checker.check_table(root_schema, entries, "", tree.span.clone())
}

/// Maximum number of entries of a list whose schema has no maximum.
const MAX_LIST_ENTRIES: u64 = 1000;

/// Maximum number of entries of a table with free keys.
const MAX_TABLE_ENTRIES: usize = 1000;

/// State of the check of a tree.
struct SchemaChecker<'a> {
    /// Text of the tree.
    text: &'a str,
    /// Receiver of the faults.
    collector: &'a mut FaultCollector,
}

impl SchemaChecker<'_> {
    /// Checks the value of `node` at `path` against `schema`, which applies at this place. Returns the value, or `None`
    /// after reporting its fault and marking `path` as a placeholder. First stores the span of the first line of the
    /// value. Tables, lists, numbers and texts are passed to checks of their own; flags need none. Any other
    /// combination of type and value is a wrong type. A text in place of a number gets the hint to write the number
    /// without its unit.
    fn check_value(&mut self, schema: ResolvedSchema<'_>, node: &Node, path: &str) -> Option<Value> {
        let span = node.span.clone();
        let line_span = self.first_line_span(span.clone());
        self.collector.store_span(path, line_span);
        let checked_value = match (schema.kind(), &node.item) {
            ("object", Item::Table(table)) => return Some(self.check_table(schema, table, path, span)),
            ("array", Item::List(list)) => return self.check_list(schema, list, path, span),
            ("number" | "integer", Item::Number { value, whole: is_whole }) => {
                return self.check_number(schema, *value, *is_whole, path, span);
            }
            ("string", Item::Text(text)) => return self.check_text(schema, text, path, span),
            ("boolean", Item::Flag(flag)) => Some(Value::Boolean(*flag)),
            _ => None,
        };
        if checked_value.is_none() {
            self.report_wrong_value(FaultKind::WrongType, schema, path, span);
            if let ("number" | "integer", true, Some(fault)) =
                (schema.kind(), node.text().is_some(), self.collector.last_fault())
            {
                fault.help = Some("write the number without a unit; the unit is part of the key".into());
            }
        }
        checked_value
    }

    /// Reports that the value at `path` does not fit `schema`, and marks the path as a placeholder. The report shows
    /// the first line of the value, what is accepted and what the key means.
    fn report_wrong_value(&mut self, kind: FaultKind, schema: ResolvedSchema<'_>, path: &str, span: Range<usize>) {
        let span = self.first_line_span(span);
        let found = self.first_line_text(&span);
        self.collector.add_fault(kind, path.to_owned(), span, found, describe_accepted(schema), schema.description());
        self.collector.placeholder_paths.insert(path.to_owned());
    }

    /// Returns the number as an integer or a float, as `schema` requires. The number must be finite, within the range
    /// of `schema` and, if it is not 0, within [`ACCEPTED_MAGNITUDES`]; an integer must be written without a fraction
    /// (`is_written_whole`). Returns `None` after reporting the first violation and marking `path` as a placeholder.
    fn check_number(
        &mut self,
        schema: ResolvedSchema<'_>,
        number: f64,
        is_written_whole: bool,
        path: &str,
        span: Range<usize>,
    ) -> Option<Value> {
        let is_integer = schema.kind() == "integer";
        if is_integer && !is_written_whole {
            self.report_wrong_value(FaultKind::WrongType, schema, path, span);
            return None;
        }
        if !number.is_finite() || !schema.is_in_range(number) {
            self.report_wrong_value(FaultKind::OutOfRange, schema, path, span);
            return None;
        }
        if number != 0.0 && !ACCEPTED_MAGNITUDES.contains(&number.abs()) {
            let found = self.first_line_text(&span);
            let zero = if schema.is_in_range(0.0) { "0, or " } else { "" };
            let (least, greatest) = (ACCEPTED_MAGNITUDES.start(), ACCEPTED_MAGNITUDES.end());
            let accepts = format!("{zero}between {least:e} and {greatest:e} in magnitude");
            let help = schema.description();
            self.collector.add_fault(FaultKind::OutOfRange, path.to_owned(), span, found, accepts, help);
            self.collector.placeholder_paths.insert(path.to_owned());
            return None;
        }
        Some(if is_integer { Value::Integer(number as i64) } else { Value::Float(number) })
    }

    /// Returns the text if it is long enough (in characters) and one of the choices of `schema`, if there are any.
    /// Otherwise reports the text as out of range and returns `None`. The help is the most similar choice, otherwise
    /// the meaning of the key.
    fn check_text(&mut self, schema: ResolvedSchema<'_>, text: &str, path: &str, span: Range<usize>) -> Option<Value> {
        let choices = schema.choices();
        let is_known_choice = choices.is_empty() || choices.contains(&text);
        if is_known_choice && text.chars().count() as u64 >= schema.inner.min_length.unwrap_or(0) {
            return Some(text.into());
        }
        self.report_wrong_value(FaultKind::OutOfRange, schema, path, span);
        if let (Some(similar_choice), Some(fault)) = (nearest_word(text, choices), self.collector.last_fault()) {
            fault.help = Some(format!("did you mean `{similar_choice}`?"));
        }
        None
    }

    /// Returns the list with placeholders (valid substitutes) for wrong entries, so that the other entries keep their
    /// indices. Each entry is checked and reported by itself. The number of entries is checked afterwards: `None` is
    /// returned after reporting a wrong number. The maximum is that of `schema`, or [`MAX_LIST_ENTRIES`] if it states
    /// none; entries beyond the maximum are not checked.
    fn check_list(
        &mut self,
        schema: ResolvedSchema<'_>,
        list: &[Node],
        path: &str,
        span: Range<usize>,
    ) -> Option<Value> {
        let entry_count = list.len() as u64;
        let has_min_entries = schema.inner.min_items.is_none_or(|min_entries| entry_count >= min_entries);
        let is_within_limit = entry_count <= schema.inner.max_items.unwrap_or(MAX_LIST_ENTRIES);
        let entry_schema = schema.items();
        let max_entries = schema.inner.max_items.unwrap_or(MAX_LIST_ENTRIES);
        let mut entries = Vec::new();
        for (i, node) in list.iter().enumerate().take(max_entries as usize) {
            let entry = self.check_value(entry_schema, node, &format!("{path}[{i}]"));
            entries.push(entry.unwrap_or_else(|| entry_schema.placeholder()));
        }
        // The entries are checked and reported also if their number is wrong.
        if has_min_entries && is_within_limit {
            return Some(entries.into());
        }
        self.collector.placeholder_paths.insert(path.to_owned());
        let found = format!("a list of {entry_count}");
        let span = self.first_line_span(span);
        let accepts = match (has_min_entries, schema.inner.max_items) {
            // The schema has no maximum to describe.
            (true, None) => format!("a list of at most {MAX_LIST_ENTRIES} entries"),
            _ => describe_accepted(schema),
        };
        self.collector.add_fault(FaultKind::OutOfRange, path.to_owned(), span, found, accepts, schema.description());
        None
    }

    /// Returns the table with placeholders (valid substitutes) for wrong and for missing required entries. Wrong
    /// optional entries are left out, except in a table with free keys (any names). Steps: select the variant by its
    /// tag if the table has variants; check each known key and its value; report unknown keys; report missing required
    /// keys; check the number of entries. Returns a placeholder for the whole table if no variant is found, or if a
    /// table with free keys has more than [`MAX_TABLE_ENTRIES`].
    fn check_table(
        &mut self,
        schema: ResolvedSchema<'_>,
        table: &[(Key, Node)],
        path: &str,
        span: Range<usize>,
    ) -> Value {
        let span = self.first_line_span(span);
        let variant = match schema.tag() {
            Some(tag) => self.select_variant(schema, tag, table, path, span.clone()),
            None => Some(schema),
        };
        // After this statement, `schema` is the selected variant, or the table itself if it has no variants.
        let Some(schema) = variant else {
            self.collector.placeholder_paths.insert(path.to_owned());
            return schema.placeholder();
        };
        if schema.is_map() && table.len() > MAX_TABLE_ENTRIES {
            let (found, accepts) =
                (format!("a table of {}", table.len()), format!("a table of at most {MAX_TABLE_ENTRIES} entries"));
            self.collector.add_fault(
                FaultKind::OutOfRange,
                path.to_owned(),
                span,
                found,
                accepts,
                schema.description(),
            );
            self.collector.placeholder_paths.insert(path.to_owned());
            return schema.placeholder();
        }
        let mut checked_table = Table::new();
        let mut unknown_keys = Vec::new();
        for (key, node) in table {
            let name = key.name.as_str();
            let key_path = join_key(path, name);
            match schema.property(name) {
                Some(property) if schema.tag_value(name).is_some_and(|value| value != text_or_empty(node)) => {
                    // `select_variant` has reported the wrong tag and selected a variant.
                    checked_table.insert(name.to_owned(), property.placeholder());
                }
                Some(property) => {
                    if let Some(value) = self.check_value(property, node, &key_path) {
                        checked_table.insert(name.to_owned(), value);
                    } else if schema.is_required(name) || schema.is_map() {
                        checked_table.insert(name.to_owned(), property.placeholder());
                    }
                }
                None => unknown_keys.push((name.to_owned(), key_path, key.span.clone())),
            }
        }
        self.report_unknown_keys(schema, &unknown_keys, table, path);
        self.add_missing_keys(schema, &mut checked_table, path, span);
        self.check_entry_count(schema, checked_table.len() as u64, path);
        checked_table.into()
    }

    /// Reports a table that has fewer entries (`count`) than the minimum of `schema` as empty, and marks `path` as a
    /// placeholder. Does nothing without a minimum, or if `path` is a placeholder already.
    fn check_entry_count(&mut self, schema: ResolvedSchema<'_>, count: u64, path: &str) {
        if schema.inner.min_properties.is_some_and(|min_count| count < min_count)
            && !self.collector.has_placeholder(path)
        {
            let span = self.collector.nearest_span(path);
            let (accepts, help) = ("a table with at least one entry", schema.description());
            self.collector.add_fault(FaultKind::OutOfRange, path.to_owned(), span, "empty", accepts, help);
            self.collector.placeholder_paths.insert(path.to_owned());
        }
    }

    /// Reports each unknown key of a table. The help names the most similar missing key, otherwise lists all keys of
    /// the table. That missing key is marked as a placeholder, so that it is not reported as missing, too. Stops when
    /// the list of faults is full. If the collector skips unknown keys, they are only added to its `skipped_keys`.
    /// `unknown_keys` has name, path and span of each key; `path` is that of the table.
    fn report_unknown_keys(
        &mut self,
        schema: ResolvedSchema<'_>,
        unknown_keys: &[(String, String, Range<usize>)],
        table: &[(Key, Node)],
        path: &str,
    ) {
        let keys = schema.keys();
        // Keys of the table that the file does not give.
        let missing_keys: Vec<&str> =
            keys.iter().copied().filter(|key| !table.iter().any(|(given_key, _)| given_key.name == **key)).collect();
        if self.collector.skips_unknown_keys {
            let skipped = unknown_keys.iter().map(|(_, key_path, span)| (key_path.clone(), span.clone()));
            self.collector.skipped_keys.extend(skipped);
            return;
        }
        for (name, key_path, span) in unknown_keys {
            if self.collector.is_full() {
                return;
            }
            let help = match suggest_key(name, missing_keys.iter().copied()) {
                Some(similar_key) => {
                    self.collector.placeholder_paths.insert(join_key(path, similar_key));
                    format!("did you mean `{similar_key}`?")
                }
                None => format!("keys here: {}", keys.join(", ")),
            };
            let accepts = "unknown key of this table";
            self.collector.add_fault(FaultKind::UnknownKey, key_path.clone(), span.clone(), name, accepts, Some(help));
        }
    }

    /// Adds placeholders for the required keys that are missing in `checked_table`. Reports each of these keys at
    /// `span`, the place of the table, and marks its path as a placeholder, unless the path already holds one.
    fn add_missing_keys(
        &mut self,
        schema: ResolvedSchema<'_>,
        checked_table: &mut Table,
        path: &str,
        span: Range<usize>,
    ) {
        for name in schema.required() {
            if checked_table.contains_key(name) {
                continue;
            }
            let key_path = join_key(path, name);
            let property = schema.property(name).unwrap_or(schema);
            if !self.collector.has_placeholder(&key_path) {
                let (accepts, help) = (describe_accepted(property), property.description());
                self.collector.add_fault(
                    FaultKind::MissingKey,
                    key_path.clone(),
                    span.clone(),
                    "missing",
                    accepts,
                    help,
                );
                self.collector.placeholder_paths.insert(key_path);
            }
            checked_table.insert(name.to_owned(), property.placeholder());
        }
    }

    /// Returns the variant (one of the alternative schemas of a table) that the value of the key `tag` selects. A
    /// missing or invalid tag is reported at `tag`, and the path of the tag is marked as a placeholder. The check then
    /// continues with a guess: the variant whose name is most similar to an invalid tag, otherwise the variant that has
    /// most of the keys of the table. Returns `None` without such a variant. A missing tag is not reported again if its
    /// path is a placeholder already. Stores the span of a given tag. `span` is the place of the table.
    fn select_variant<'s>(
        &mut self,
        schema: ResolvedSchema<'s>,
        tag: &str,
        table: &[(Key, Node)],
        path: &str,
        span: Range<usize>,
    ) -> Option<ResolvedSchema<'s>> {
        let names = schema.variant_names(tag);
        let accepts = format!("one of {}", quote_names(&names));
        let tag_path = join_key(path, tag);
        let keys: Vec<&str> = table.iter().map(|(key, _)| key.name.as_str()).collect();
        // Name of the variant with most of the keys of the table.
        let name_by_keys = || schema.variant_with(&keys).and_then(|variant| variant.tag_value(tag));
        let Some((_, tag_node)) = table.iter().find(|(key, _)| key.name == tag) else {
            let similar_name = name_by_keys();
            if !self.collector.has_placeholder(&tag_path) {
                let help = similar_name.map(|similar_name| format!("the keys here are those of `{similar_name}`"));
                self.collector.add_fault(FaultKind::MissingKey, tag_path.clone(), span, "missing", accepts, help);
                self.collector.placeholder_paths.insert(tag_path);
            }
            return schema.variant(tag, similar_name?);
        };
        self.collector.store_span(&tag_path, tag_node.span.clone());
        let name = text_or_empty(tag_node);
        if let Some(variant) = schema.variant(tag, name) {
            return Some(variant);
        }
        let similar_name = nearest_word(name, names.iter().copied());
        let kind = if tag_node.text().is_some() { FaultKind::OutOfRange } else { FaultKind::WrongType };
        let found = self.first_line_text(&tag_node.span);
        let help =
            similar_name.map(|similar_name| format!("did you mean `{similar_name}`?")).or_else(|| schema.description());
        self.collector.add_fault(kind, tag_path.clone(), tag_node.span.clone(), found, accepts, help);
        self.collector.placeholder_paths.insert(tag_path);
        schema.variant(tag, similar_name.or_else(name_by_keys)?)
    }

    /// Returns the first line of the text at `span` without spaces around it, cut to 40 characters with an ellipsis.
    fn first_line_text(&self, span: &Range<usize>) -> String {
        let text = self.text.get(span.clone()).unwrap_or("");
        let line = text.lines().next().unwrap_or("").trim();
        match line.char_indices().nth(40) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line.to_owned(),
        }
    }

    /// Returns the part of `span` on its first line, without the line break.
    fn first_line_span(&self, span: Range<usize>) -> Range<usize> {
        let text = self.text.get(span.clone()).unwrap_or("");
        let length = text.find(['\n', '\r']).unwrap_or(text.len());
        span.start..span.start + length
    }
}

/// Returns the text of a node; an empty text for other values.
fn text_or_empty(node: &Node) -> &str {
    node.text().unwrap_or("")
}

/// Returns the names in backticks, separated by commas.
pub(super) fn quote_names(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
