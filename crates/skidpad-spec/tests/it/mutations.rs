//! Mutations of vehicle files: the reader does not panic, and returns a finite vehicle or a list of faults.

use proptest::prelude::*;
use skidpad_spec::shipped;

use crate::any_text::read_checked;

/// Replacements for numbers.
const VALUES: [&str; 24] = [
    "0",
    "-1",
    "1",
    "0.5",
    "1e-9",
    "1e9",
    "-1e9",
    "1e-30",
    "1e300",
    "-1e300",
    "1e999",
    "nan",
    "inf",
    "-inf",
    "0x7f",
    "99999999999999999999",
    "true",
    "\"x\"",
    "[]",
    "[1, 2]",
    "{}",
    "{ a = 1 }",
    "2026-01-01",
    "",
];

#[derive(Clone, Debug)]
pub enum Change {
    Delete(usize),
    Repeat(usize),
    Swap(usize, usize),
    Truncate(usize),
    Insert(usize, char),
    Remove(usize),
    Value(usize, &'static str),
}

pub fn change() -> impl Strategy<Value = Change> {
    let at = || any::<usize>();
    let odd = prop::sample::select(vec![
        '=', '[', ']', '{', '}', '"', '\'', ',', '.', '#', '\n', '\r', '\0', 'e', '-', '9', 'é', '🏎',
    ]);
    prop_oneof![
        2 => at().prop_map(Change::Delete),
        1 => at().prop_map(Change::Repeat),
        1 => (at(), at()).prop_map(|(a, b)| Change::Swap(a, b)),
        1 => at().prop_map(Change::Truncate),
        2 => (at(), odd).prop_map(|(a, c)| Change::Insert(a, c)),
        2 => at().prop_map(Change::Remove),
        8 => (at(), prop::sample::select(&VALUES[..])).prop_map(|(a, v)| Change::Value(a, v)),
    ]
}

pub fn apply(text: &str, change: &Change) -> String {
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut chars: Vec<char> = text.chars().collect();
    let (rows, length) = (lines.len().max(1), chars.len().max(1));
    match *change {
        _ if text.is_empty() => {}
        Change::Delete(at) => drop(lines.remove(at % rows)),
        Change::Repeat(at) => lines.insert(at % rows, lines[at % rows]),
        Change::Swap(a, b) => lines.swap(a % rows, b % rows),
        Change::Truncate(at) => return chars[..at % length].iter().collect(),
        Change::Insert(at, c) => {
            chars.insert(at % length, c);
            return chars.into_iter().collect();
        }
        Change::Remove(at) => {
            chars.remove(at % length);
            return chars.into_iter().collect();
        }
        Change::Value(at, value) => return with_value(text, at, value),
    }
    lines.concat()
}

/// Replaces number `at` (modulo the count of numbers) in `text` by `value`.
fn with_value(text: &str, at: usize, value: &str) -> String {
    let numeric = |c: char| c.is_ascii_digit() || "+-.eE".contains(c);
    let mut numbers = Vec::new();
    let mut from = 0;
    for word in text.split_inclusive(|c: char| " ,[]{}\n".contains(c)) {
        let body = word.trim_end_matches([' ', ',', '[', ']', '{', '}', '\n']);
        if body.starts_with(|c: char| c.is_ascii_digit() || c == '-') && body.chars().all(numeric) {
            numbers.push(from..from + body.len());
        }
        from += word.len();
    }
    match numbers.is_empty() {
        true => text.to_owned(),
        false => {
            let range = numbers[at % numbers.len()].clone();
            format!("{}{value}{}", &text[..range.start], &text[range.end..])
        }
    }
}

/// Adds options to `text` that most shipped vehicles do not have.
fn with_options(text: &str) -> String {
    let axle = "heave_spring = { rate_n_per_m = 1000, damping_n_s_per_m = 10 }\nforce_application_height_m = 0.1\n\
                kinematics = { toe_deg_per_m = 5, camber_deg_per_m = -20, camber_deg_per_m2 = 10 }\n\
                lateral_compliance = { lateral_stiffness_n_per_m = 10000000, damping_n_s_per_m = 1000 }\nwheel_radius_m";
    let suspension = "[axles.suspension]\nprogressive_rate_n_per_m2 = 1000";
    let assists = if text.contains("[assists.") { "" } else { crate::assists::ALL };
    // An axle has either a force point or a roll centre.
    text.replacen("wheel_radius_m", &axle.replace("force_application_height_m", "roll_centre_height_m"), 1)
        .replace("\nwheel_radius_m", &format!("\n{axle}"))
        .replace("[axles.suspension]", suspension)
        + assists
}

fn check(text: &str) {
    _ = read_checked(text);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutants_are_vehicles_or_have_faults(
        name in prop::sample::select(shipped::names().chain(shipped::trailers()).collect::<Vec<_>>()),
        changes in prop::collection::vec(change(), 1..5),
    ) {
        let text = with_options(shipped::find(name).expect("shipped"));
        check(&changes.iter().fold(text, |text, change| apply(&text, change)));
    }

    #[test]
    fn mutants_of_maps_are_vehicles_or_have_faults(changes in prop::collection::vec(change(), 1..5)) {
        let text = crate::aero::car(crate::aero::MAPS);
        check(&changes.iter().fold(text, |text, change| apply(&text, change)));
    }

    #[test]
    fn any_text_is_read(text in "(\\PC|\\n|[\\[\\]{}=\"',.#])*") {
        check(&text);
    }
}
