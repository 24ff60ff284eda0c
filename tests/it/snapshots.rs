//! Rounded metrics of every manoeuvre on every solver.
//!
//! A change here is a change of physics: its commit says what moved and by how much.

use std::sync::Arc;

use skidpad::lab::manoeuvre::{Adjust, CATALOGUE};
use skidpad::lab::{compare::compare, run::TimeStep};
use skidpad::spec;

/// One snapshot per manoeuvre: a row per figure, a column per solver, the spread last.
#[cfg(all(feature = "rapier", feature = "impulse", feature = "constraint"))]
#[test]
fn metrics_of_every_manoeuvre_and_solver() {
    use std::fmt::Write;

    let model = spec::load("corvette_c5").expect("shipped").model;
    let adjust = Adjust::default();
    let step = TimeStep::per_second(240.0).expect("a valid rate");
    // The `bullet` peer is held to recorded runs instead.
    let backends: Vec<_> = skidpad::backends().into_iter().filter(|b| b.name != "bullet").collect();
    for entry in CATALOGUE {
        let manoeuvre = entry.standard(&adjust);
        let comparison = compare(&backends, &model, manoeuvre.as_ref(), &adjust, step, &|_| {});
        let mut table = format!("{}\n{}\n", comparison.manoeuvre, comparison.about);
        for row in comparison.rows() {
            writeln!(table, "{} [{}]: {}", row.metric.name, row.metric.unit, row.texts.join(" "))
                .expect("writing to a string");
        }
        insta::assert_snapshot!(format!("corvette_c5_{}", entry.name), table);
    }
}

/// The metrics of skidpad's own solvers agree at 240 Hz: the issue of every other test, at a glance.
#[test]
fn solvers_agree_within_two_percent() {
    let adjust = Adjust::default();
    let step = TimeStep::per_second(240.0).expect("a valid rate");
    let model: Arc<_> = spec::load("corvette_c5").expect("shipped").model;
    for entry in CATALOGUE {
        let manoeuvre = entry.standard(&adjust);
        let comparison = compare(&crate::common::solvers(), &model, manoeuvre.as_ref(), &adjust, step, &|_| {});
        for row in comparison.rows() {
            if let Some(spread) = row.spread.percent() {
                assert!(spread <= 2.0, "{} {}: {spread} % apart: {:?}", entry.name, row.metric.name, row.texts);
            }
        }
    }
}
