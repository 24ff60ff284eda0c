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

/// Where solvers may part: full throttle spins the driven wheels of this car, which has no drivetrain to end it, to a slip
/// of ten. No side force is left at the rear; own worlds stay straight to the bit, in Rapier's the last bit decides.
const UNSTABLE: [(&str, &str); 1] = [("bmw_320i_commonroad", "acceleration")];

/// Manoeuvres at the limit of friction, where 3 % are allowed: on dry friction the front wheels break away at once; a
/// driver holds spinning wheels at their limit.
const AT_THE_LIMIT: [(&str, &str); 2] = [("bullet_reference", "slalom"), ("bmw_320i_commonroad", "launch")];

/// Every figure of every shipped car in every manoeuvre, at 240 Hz.
#[test]
fn solvers_agree_within_two_percent() {
    let adjust = Adjust::default();
    let step = TimeStep::per_second(240.0).expect("a valid rate");
    let mut apart = Vec::new();
    for name in spec::shipped::names() {
        let model: Arc<_> = spec::load(name).expect("shipped").model;
        for entry in CATALOGUE.iter().filter(|entry| !UNSTABLE.contains(&(name, entry.name))) {
            let manoeuvre = entry.standard(&adjust);
            let allowed = if AT_THE_LIMIT.contains(&(name, entry.name)) { 3.0 } else { 2.0 };
            let comparison = compare(&crate::common::solvers(), &model, manoeuvre.as_ref(), &adjust, step, &|_| {});
            for row in comparison.rows() {
                if let Some(spread) = row.spread.percent().filter(|&spread| spread > allowed) {
                    apart.push(format!("{name} {} {}: {spread:.2} %: {:?}", entry.name, row.metric.name, row.texts));
                }
            }
        }
    }
    assert!(apart.is_empty(), "{apart:#?}");
}
