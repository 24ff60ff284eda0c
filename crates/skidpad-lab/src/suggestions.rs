//! Suggestions for mistyped names.

/// Maximum length of a name that is compared, bytes. The time of a comparison grows with the length.
const MAX_NAME_BYTES: usize = 100;

/// Returns the known name with the smallest edit distance to `name`, the first of equals. Ignores case. Returns `None`
/// if the distance exceeds a third of the length of `name` and two edits, or if `name` is longer than 100 bytes.
pub fn nearest_name<'a>(name: &str, known_names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    // A third of the length, but at least two edits.
    let max_distance = (name.chars().count() / 3).max(2);
    known_names
        .into_iter()
        .map(|candidate| (edit_distance(&name.to_lowercase(), &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= max_distance)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Computes the Levenshtein distance of two words: the smallest number of insertions, deletions and replacements of
/// characters. Only one row of the table of distances between all prefixes is stored.
fn edit_distance(source: &str, target: &str) -> usize {
    let target: Vec<char> = target.chars().collect();
    // Distances of the current prefix of `source` to all prefixes of `target`.
    let mut row: Vec<usize> = (0..=target.len()).collect();
    for (i, a) in source.chars().enumerate() {
        // Distance of the previous prefix of `source` to the previous prefix of `target`.
        let mut diagonal = row[0];
        // The empty prefix of `target` needs only deletions.
        row[0] = i + 1;
        for (j, b) in target.iter().enumerate() {
            // Equal characters cost nothing.
            let replaced_distance = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            // Smallest of replacement, insertion and deletion.
            row[j + 1] = replaced_distance.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[target.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_are_counted() {
        for (a, b, count) in [("", "abc", 3), ("kitten", "sitting", 3), ("brake", "brake", 0), ("break", "brake", 2)] {
            assert_eq!(edit_distance(a, b), count, "{a} {b}");
        }
    }

    /// A name with few edits is suggested, also with other capital letters; a distant name and a too long one are not.
    #[test]
    fn only_near_names_are_suggested() {
        let known = ["step-steer", "slalom", "drop-settle"];
        assert_eq!(nearest_name("stepsteer", known), Some("step-steer"));
        assert_eq!(nearest_name("Slalon", known), Some("slalom"));
        assert_eq!(nearest_name("moose", known), None);
        let long = "s".repeat(MAX_NAME_BYTES + 1);
        assert_eq!(nearest_name(&long, [long.as_str()]), None);
    }
}
