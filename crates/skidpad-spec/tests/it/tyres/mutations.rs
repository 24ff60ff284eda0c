//! Whatever happens to a tyre file, it is a sound tyre or a list of faults with places.

use proptest::prelude::*;
use skidpad_core::tyre::{Conditions, PreparedTyre, TyreModel};
use skidpad_spec::tir;

const VALUES: [&str; 22] = [
    "0",
    "-1",
    "1",
    "1e-9",
    "1e9",
    "-1e9",
    "1e300",
    "1e999",
    "nan",
    "inf",
    "",
    "'x'",
    "'",
    "1,5",
    "1D3",
    "+-1",
    "--",
    "e",
    "99999999999999999999",
    "1 2",
    "[X]",
    "é",
];

#[derive(Clone, Debug)]
enum Change {
    Delete(usize),
    Repeat(usize),
    Swap(usize, usize),
    Truncate(usize),
    Insert(usize, char),
    Value(usize, &'static str),
}

fn change() -> impl Strategy<Value = Change> {
    let at = || any::<usize>();
    let odd = vec!['=', '[', ']', '\'', '"', '$', '!', '\n', '\r', '\0', ' ', '9', '-', 'é', '🏎', '{'];
    prop_oneof![
        2 => at().prop_map(Change::Delete),
        1 => at().prop_map(Change::Repeat),
        1 => (at(), at()).prop_map(|(a, b)| Change::Swap(a, b)),
        1 => at().prop_map(Change::Truncate),
        3 => (at(), prop::sample::select(odd)).prop_map(|(a, c)| Change::Insert(a, c)),
        8 => (at(), prop::sample::select(&VALUES[..])).prop_map(|(a, v)| Change::Value(a, v)),
    ]
}

fn apply(text: &str, change: &Change) -> String {
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
    let mut chars: Vec<char> = text.chars().collect();
    let (rows, length) = (lines.len(), chars.len());
    if text.is_empty() {
        return String::new();
    }
    match *change {
        Change::Delete(at) => drop(lines.remove(at % rows)),
        Change::Repeat(at) => lines.insert(at % rows, lines[at % rows].clone()),
        Change::Swap(a, b) => lines.swap(a % rows, b % rows),
        Change::Truncate(at) => return chars[..at % length].iter().collect(),
        Change::Insert(at, c) => {
            chars.insert(at % length, c);
            return chars.into_iter().collect();
        }
        Change::Value(at, value) => {
            let with_value: Vec<usize> = (0..rows).filter(|&i| lines[i].contains('=')).collect();
            if let Some(&row) = with_value.get(at % with_value.len().max(1)) {
                let key = lines[row].split('=').next().unwrap_or_default();
                lines[row] = format!("{key}= {value}\n");
            }
        }
    }
    lines.concat()
}

fn check(text: &str) {
    match tir::read("mutant.tir", text) {
        Ok(file) => {
            let point = file.tyre.prepare(&Conditions::upright(4000.0f32, 20.0));
            let force = point.force([0.05, -0.03]).force;
            assert!(force.iter().all(|force| force.is_finite()), "{text}");
        }
        Err(faults) => {
            assert!(!faults.list().is_empty());
            for fault in faults.list() {
                assert!(text.get(fault.span.clone()).is_some(), "{fault:?}");
                assert!(fault.line > 0 && fault.column > 0 && !fault.accepts.is_empty(), "{fault:?}");
            }
            assert!(faults.render().contains("mutant.tir"));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn mutants_are_tyres_or_have_faults(
        name in prop::sample::select(tir::names().collect::<Vec<_>>()),
        changes in prop::collection::vec(change(), 1..6),
    ) {
        let text = tir::find(name).expect("shipped").to_owned();
        check(&changes.iter().fold(text, |text, change| apply(&text, change)));
    }

    #[test]
    fn any_text_is_read(text in "(\\PC|\\n|[\\[\\]='\"$!])*") {
        check(&text);
    }
}
