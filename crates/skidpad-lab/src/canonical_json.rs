//! JSON text with the same bytes for equal contents, hashes of it, and the differences of two contents.

use std::fmt::Write as _;

use serde_json::Value;

/// Returns the same text for equal contents: keys in alphabetical order, no spaces, all digits of numbers. Characters
/// beyond ASCII are escaped. The text is that of `json.dumps(content, sort_keys=True, separators=(",", ":"))` in
/// Python.
pub fn canonical_text(content: &Value) -> String {
    let mut text = String::new();
    append_value(&mut text, content);
    text
}

/// Returns the SHA-256 of `bytes`, hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hmac_sha256::Hash::hash(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the SHA-256 of [`canonical_text`], hexadecimal.
pub fn hash_of(content: &Value) -> String {
    sha256(canonical_text(content).as_bytes())
}

/// Returns the differences of two contents, one text for each place, such as `rate: 60.0 there, 120.0 here`. Objects
/// are compared key by key, arrays of equal length element by element; other values count as one place. A key that one
/// of the contents lacks counts as `null`.
pub fn differences(there: &Value, here: &Value) -> Vec<String> {
    let mut texts = Vec::new();
    append_differences(&mut texts, there, here, "");
    texts
}

/// Appends the differences of `there` and `here`, which are at `place` of the contents (keys and indices separated by
/// points; empty for the whole contents). Keys that only `here` has follow those of `there`.
fn append_differences(texts: &mut Vec<String>, there: &Value, here: &Value, place: &str) {
    let inner = |key: &str| if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") };
    match (there, here) {
        (Value::Object(old), Value::Object(new)) => {
            let keys = old.keys().chain(new.keys().filter(|key| !old.contains_key(*key)));
            for key in keys {
                let entry = |map: &serde_json::Map<String, Value>| map.get(key).cloned().unwrap_or_default();
                append_differences(texts, &entry(old), &entry(new), &inner(key));
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            for (index, (old, new)) in old.iter().zip(new).enumerate() {
                append_differences(texts, old, new, &inner(&index.to_string()));
            }
        }
        _ if there == here => {}
        _ => texts.push(format!("{place}: {} there, {} here", canonical_text(there), canonical_text(here))),
    }
}

/// Appends a value.
fn append_value(text: &mut String, value: &Value) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => append_float(text, float),
            None => append_display(text, number),
        },
        Value::String(string) => append_string(text, string),
        Value::Array(items) => append_list(text, ['[', ']'], items, append_value),
        Value::Object(map) => {
            // The order of the map is that of the text only if no feature of serde_json keeps another order.
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by_key(|(key, _)| *key);
            append_list(text, ['{', '}'], entries, |text, (key, value)| {
                append_string(text, key);
                text.push(':');
                append_value(text, value);
            });
        }
    }
}

/// Appends `items` between two brackets, separated by commas.
fn append_list<T>(
    text: &mut String,
    brackets: [char; 2],
    items: impl IntoIterator<Item = T>,
    append: impl Fn(&mut String, T),
) {
    text.push(brackets[0]);
    for (index, item) in items.into_iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        append(text, item);
    }
    text.push(brackets[1]);
}

/// Appends a number as Python writes it: with a fraction, or with an exponent that has a sign and at least two digits.
fn append_float(text: &mut String, number: f64) {
    let digits = format!("{number:?}");
    let Some((mantissa, exponent)) = digits.split_once('e') else {
        text.push_str(&digits);
        return;
    };
    let (sign, magnitude) = exponent.strip_prefix('-').map_or(('+', exponent), |magnitude| ('-', magnitude));
    append_display(text, format_args!("{mantissa}e{sign}{magnitude:0>2}"));
}

/// Appends a text in quotes. Everything but printable ASCII is escaped, characters beyond `U+FFFF` as two escapes
/// (UTF-16).
fn append_string(text: &mut String, string: &str) {
    text.push('"');
    for character in string.chars() {
        match character {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\n' => text.push_str("\\n"),
            '\r' => text.push_str("\\r"),
            '\t' => text.push_str("\\t"),
            '\u{8}' => text.push_str("\\b"),
            '\u{c}' => text.push_str("\\f"),
            ' '..='~' => text.push(character),
            _ => {
                for unit in character.encode_utf16(&mut [0; 2]) {
                    append_display(text, format_args!("\\u{unit:04x}"));
                }
            }
        }
    }
    text.push('"');
}

/// Appends a value as text, which cannot fail.
fn append_display(text: &mut String, value: impl std::fmt::Display) {
    let result = write!(text, "{value}");
    debug_assert!(result.is_ok());
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// The expected text was written by Python 3.11.
    #[test]
    fn the_text_is_that_of_python() {
        let content = json!({
            "b": [1, 1.0, 1e-5, 1.5e-7, 1e16, 123456789012345680.0, 0.0001, -0.0, 1e300],
            "a": "\u{e9} \u{1f697} \"\\\n\u{1}\u{7f}",
            "c": { "d": null, "e": [true, false, []] },
        });
        let expected = [
            r#"{"a":"\u00e9 \ud83d\ude97 \"\\\n\u0001\u007f","#,
            r#""b":[1,1.0,1e-05,1.5e-07,1e+16,1.2345678901234568e+17,0.0001,-0.0,1e+300],"#,
            r#""c":{"d":null,"e":[true,false,[]]}}"#,
        ]
        .concat();
        assert_eq!(canonical_text(&content), expected);
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    /// Each place that differs has its text; keys and entries that are missing count.
    #[test]
    fn differences_name_their_places() {
        let [there, here] = [
            json!({ "a": [1, { "b": 2.0 }], "c": 3, "d": [1] }),
            json!({ "a": [1, { "b": 2.5 }], "d": [1, 2], "e": "x" }),
        ];
        let expected = [
            "a.1.b: 2.0 there, 2.5 here",
            "c: 3 there, null here",
            "d: [1] there, [1,2] here",
            "e: null there, \"x\" here",
        ];
        assert_eq!(differences(&there, &here), expected);
        assert!(differences(&there, &there).is_empty());
    }
}
