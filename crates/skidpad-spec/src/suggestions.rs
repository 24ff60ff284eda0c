//! Suggestions for misspelt words in fault reports ("did you mean").

/// Maximum length of a compared word, bytes. Time and memory of a comparison are proportional to the product of both
/// lengths.
const MAX_WORD_BYTES: usize = 100;

/// Maximum number of candidates that are compared with a word. A file may have a million materials.
const MAX_CANDIDATES: usize = 1000;

/// Returns the candidate with the smallest edit distance to `word` (of several the first in alphabetical order), or
/// `None` if no candidate is close enough. The largest distance is a third of the length of `word`, but at least 2, and
/// less than the length of the candidate. Words and candidates longer than `MAX_WORD_BYTES` and candidates beyond the
/// first `MAX_CANDIDATES` are not compared.
pub(crate) fn nearest_word<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    if word.len() > MAX_WORD_BYTES {
        return None;
    }
    let max_distance = (word.chars().count() / 3).max(2);
    candidates
        .into_iter()
        .take(MAX_CANDIDATES)
        .filter(|candidate| candidate.len() <= MAX_WORD_BYTES)
        .map(|candidate| (edit_distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= max_distance && *distance < candidate.chars().count())
        .min()
        .map(|(_, candidate)| candidate)
}

/// Synonyms of keys: a word, and the beginning of the key that it means.
const KEY_SYNONYMS: [(&str, &str); 16] = [
    ("weight", "mass"),
    ("stiffness", "rate"),
    ("spring", "rate"),
    ("spring_rate", "rate"),
    ("damping", "bump_damping"),
    ("damper", "bump_damping"),
    ("compression_damping", "bump_damping"),
    ("bump", "bump_damping"),
    ("rebound", "rebound_damping"),
    ("bias", "front_bias"),
    ("brake_bias", "front_bias"),
    ("handbrake", "handbrake_torque"),
    ("gears", "forward"),
    ("gear_ratios", "forward"),
    ("wheelbase", "behind_front_axle"),
    ("max_steer", "lock"),
];

/// Returns the candidate key that `word` means, or `None`. Tried in this order: a key that is `word`, or `word` and a
/// unit after `_`; a key that is a synonym of `word` ([`KEY_SYNONYMS`]), with or without a unit; the nearest spelling.
/// The first such candidate counts.
pub(crate) fn suggest_key<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let key_with_stem = |stem: &str| {
        // Whether the key is `stem`, or `stem` with a unit after `_`.
        let is_stem_with_unit =
            |key: &&str| key.strip_prefix(stem).is_some_and(|suffix| suffix.is_empty() || suffix.starts_with('_'));
        candidates.clone().into_iter().find(is_stem_with_unit)
    };
    let key_of_synonym =
        || KEY_SYNONYMS.iter().filter(|(synonym, _)| *synonym == word).find_map(|(_, stem)| key_with_stem(stem));
    key_with_stem(word).or_else(key_of_synonym).or_else(|| nearest_word(word, candidates.clone()))
}

/// Computes the optimal string alignment distance: the smallest number of insertions, deletions, substitutions and
/// swaps of adjacent characters that turn `a` into `b`. Fills a table of the distances between all prefixes of both.
/// Returns `usize::MAX` without the table if the lengths differ by more than 4 and by more than the length of `a`.
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    if a.len().abs_diff(b.len()) > a.len().max(4) {
        return usize::MAX;
    }
    // Distance between the first `i` characters of `a` and the first `j` of `b`.
    let mut distances = vec![vec![0; b.len() + 1]; a.len() + 1];
    // An empty text needs one insertion or deletion for each character.
    for (i, row) in distances.iter_mut().enumerate() {
        row[0] = i;
    }
    distances[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let substitution_distance = distances[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut min_distance = substitution_distance.min(distances[i - 1][j] + 1).min(distances[i][j - 1] + 1);
            // Swap of the last two characters.
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                min_distance = min_distance.min(distances[i - 2][j - 2] + 1);
            }
            distances[i][j] = min_distance;
        }
    }
    distances[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys are found without their unit, by synonyms and by a misspelling; an unrelated word has no suggestion.
    #[test]
    fn finds_keys_without_their_unit_and_other_words() {
        let keys =
            ["mass_kg", "rate_n_per_m", "bump_damping_n_s_per_m", "front_bias", "forward", "handbrake_torque_nm"];
        for (word, expected) in [
            ("mass", Some("mass_kg")),
            ("weight", Some("mass_kg")),
            ("stiffness", Some("rate_n_per_m")),
            ("damping", Some("bump_damping_n_s_per_m")),
            ("bias", Some("front_bias")),
            ("gears", Some("forward")),
            ("handbrake", Some("handbrake_torque_nm")),
            ("mas_kg", Some("mass_kg")),
            ("colour", None),
        ] {
            assert_eq!(suggest_key(word, keys), expected, "{word}");
        }
    }

    /// No word beyond the limit is compared, neither as the word nor as a candidate, and no candidate beyond the first
    /// ones.
    #[test]
    fn long_words_and_many_candidates_are_not_compared() {
        let long = "m".repeat(1_000_000);
        assert_eq!(nearest_word(&long, [long.as_str()]), None);
        assert_eq!(nearest_word("mass", [long.as_str()]), None);
        let far = (0..MAX_CANDIDATES).map(|_| "colour").chain(["mass_kg"]);
        assert_eq!(nearest_word("mas_kg", far), None);
    }

    /// A missing letter, an additional one and swapped ones are found; unrelated and very short words are not.
    #[test]
    fn finds_slips_and_leaves_strangers_alone() {
        for (word, expected) in [
            ("mas_kg", Some("mass_kg")),
            ("rate_n_per_mm", Some("rate_n_per_m")),
            ("radisu_m", Some("radius_m")),
            ("colour", None),
            ("x", None),
        ] {
            assert_eq!(nearest_word(word, ["mass_kg", "rate_n_per_m", "radius_m", "h"]), expected, "{word}");
        }
    }
}
